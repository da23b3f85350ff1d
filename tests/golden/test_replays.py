"""Replays of whole games, equal line by line to the recorded ones; their money agrees with the text of the rules."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ante.env.replay import check_replay, read_file, read_replay

FILES = sorted((Path(__file__).parent / "replays").glob("*.txt"))
TARGETS = {  # of the Small Blind in antes 0 to 8: White and Red, Green to Blue, Purple to Gold
    1: (100, 300, 800, 2000, 5000, 11000, 20000, 35000, 50000),
    3: (100, 300, 900, 2600, 8000, 20000, 36000, 60000, 100000),
    6: (100, 300, 1000, 3200, 9000, 25000, 60000, 110000, 200000),
}
TIMES = {"Small Blind": 1, "Big Blind": 1.5, "The Wall": 4, "The Needle": 1, "Violet Vessel": 6}
# Jokers and tags that pay at the end of a round, or change the interest.
EARNERS = (
    "Golden Joker",
    "Rocket",
    "Cloud 9",
    "Satellite",
    "Delayed Gratification",
    "To the Moon",
    "tag Investment Tag",
    "voucher Seed Money",
    "Mr. Bones",
)
REWARD = {"Small Blind": 3, "Big Blind": 4}
START_MONEY = {"b_yellow": 14, "c_rich_1": 100, "c_golden_needle_1": 10}
UNPAID = {"c_omelette_1": {"Small Blind", "Big Blind", "boss"}, "c_cruelty_1": {"Small Blind", "Big Blind"}}
FRUGAL = ("c_omelette_1", "c_mad_world_1")  # neither remaining hands nor interest pay
SHOWDOWN = ("Amber Acorn", "Verdant Leaf", "Violet Vessel", "Crimson Heart", "Cerulean Bell")
SCORE = re.compile(
    r"; (?P<hand>[A-Z][A-Za-z ]+) \(level (?P<level>\d+)\)(?P<refused> refused by the boss)? (?P<chips>\S+) x (?P<mult>\S+) = (?P<total>\S+), (?P<sum>\S+) of (?P<target>[^\s;]+)"
)
PAYOUT = re.compile(
    r"payout \$(?P<payout>\d+) with (?P<hands>\d+) hands and (?P<discards>\d+) discards left, \$(?P<held>-?\d+) held"
)
AHEAD = re.compile(r"^-- ante (?P<ante>-?\d+), \$-?\d+: (?P<blinds>.*)$")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_line_is_told_as_it_was_recorded(file: Path) -> None:
    assert check_replay(read_file(file)) is None


def test_every_deck_stake_and_challenge_is_there_in_whole_games() -> None:
    headings = [read_replay(read_file(file))[0] for file in FILES]
    ends = [read_file(file).splitlines()[-1].split()[1] for file in FILES]
    assert len({heading.deck for heading in headings}) == 15
    assert len({heading.challenge for heading in headings} - {None}) == 20
    assert {heading.stake for heading in headings} == set(range(1, 9))
    assert len(FILES) >= 30
    assert set(ends) == {"won", "lost"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scores_are_chips_times_mult_and_add_up_to_the_blind(file: Path) -> None:
    scored = 0.0
    for line in read_file(file).splitlines():
        if line.startswith("select-blind"):
            scored = 0.0
        found = SCORE.search(line) if line.startswith("play") else None
        assert found or not line.startswith("play")
        if found:
            total = float(found["total"])
            assert math.floor(float(found["chips"]) * float(found["mult"])) == total
            scored += total
            assert float(found["sum"]) == scored
            if float(found["sum"]) >= float(found["target"]):
                assert "payout" in line


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_money_agrees_from_line_to_line(file: Path) -> None:
    heading = read_replay(read_file(file))[0]
    money, payout = START_MONEY.get(heading.challenge or heading.deck, 4), 0
    for number, line in enumerate(read_file(file).splitlines(), 1):
        for money_shown in re.findall(r"^-- .*?\$(-?\d+)", line):
            assert int(money_shown) == money, number
        change = re.search(r"; \$(-?\d+) -> \$(-?\d+)| # \$(-?\d+) -> \$(-?\d+)", line)
        before = money
        if change:
            old, money = (int(part) for part in change.groups() if part is not None)
            assert old == before, number
        if line.startswith("cash-out"):
            assert money - before == payout, number
        found = PAYOUT.search(line)
        payout = int(found["payout"]) if found else payout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_blinds_ask_for_what_ante_stake_and_deck_say(file: Path) -> None:
    heading = read_replay(read_file(file))[0]
    table = TARGETS[max(least for least in TARGETS if least <= heading.stake)]
    for line in read_file(file).splitlines():
        found = AHEAD.match(line)
        for panel in found["blinds"].split(", ") if found else []:
            name, target = panel.partition(" or ")[0].rsplit(" ", 1)
            wanted = table[int(found["ante"])] * TIMES.get(name, 2) * (2 if heading.deck == "b_plasma" else 1)
            assert float(target) == wanted, line


def plain_payouts(file: Path) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield blind and payout of each round of a game, until the first item that pays more."""
    blind = ""
    for line in read_file(file).splitlines():
        if any(
            f"+ {earner}" in line or line.startswith(f"  jokers 0 Constellation (eternal) [1] | 1 {earner}")
            for earner in EARNERS
        ):
            return
        begun = re.match(r"select-blind +# ([^\d,;]+) \d", line)
        blind = begun[1] if begun else blind
        found = PAYOUT.search(line)
        if found:
            yield blind, found


def test_a_payout_is_reward_hands_and_interest() -> None:
    compared = 0
    for file in FILES:
        heading = read_replay(read_file(file))[0]
        green = heading.deck == "b_green"
        for blind, found in plain_payouts(file):
            reward = REWARD.get(blind, 8 if blind in SHOWDOWN else 5)
            kind = blind if blind in REWARD else "boss"
            if (kind == "Small Blind" and heading.stake >= 2) or kind in UNPAID.get(heading.challenge or "", ()):
                reward = 0
            hands, discards, held = (int(found[name]) for name in ("hands", "discards", "held"))
            left = 2 * hands + discards if green else hands * (heading.challenge not in FRUGAL)
            most = 0 if green or heading.challenge in FRUGAL else 20 if heading.challenge == "c_rich_1" else 5
            interest = min(most, max(0, held) // 5)
            assert int(found["payout"]) == reward + left + interest, (file.name, found[0])
            compared += 1
    assert compared > 300
