"""Statistics of a player: facts against the replay's text, rates and lifts against games made by hand."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from ante.agents.baselines import Baseline
from ante.agents.record import record_game
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.cli import main
from ante.engine.actions import Verb, pack_action
from ante.env.replay import Heading, RefusedDecision, read_file, read_replay
from ante.stats.facts import Facts, NoGames, Round, facts_of, facts_of_all
from ante.stats.plot import draw_money, draw_pairs, draw_profile
from ante.stats.profile import profile_of

REPLAYS = Path(__file__).parents[1] / "golden" / "replays"
FILES = [REPLAYS / name for name in ("greedy-b_red-1-PKXK3L4T.txt", "restless-b_anaglyph-1-92DM6LUE.txt")]
JOKER_NAMES = {row.name for row in JOKERS[1:]}


def facts_and_text(file: Path) -> tuple[Facts, str]:
    text = read_file(file)
    return facts_of(*read_replay(text)), text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_facts_agree_with_the_replay(file: Path) -> None:
    facts, text = facts_and_text(file)
    words = re.findall(r"^play .*# .*?; ([A-Z][A-Za-z ]+) \(level \d+\) .* = ([\d,]+)", text, re.M)
    played = Counter(name for name, _ in words)
    assert {row.name: facts.hands[row.hand] for row in HANDS if facts.hands[row.hand]} == played
    assert facts.best >= max(int(total.replace(",", "")) for _, total in words) > 0
    verbs = Counter(re.findall(r"^([a-z][a-z-]*)(?= |$)", text.partition("\n\n")[2], re.M)) - Counter({"end": 1})
    assert {Verb(verb).name.lower().replace("_", "-"): n for verb, n in facts.verbs.items()} == verbs
    assert sum(each.hands for each in facts.rounds) == verbs["play"]
    assert sum(each.discards for each in facts.rounds) == verbs["discard"]
    assert sum(each.beaten for each in facts.rounds) == facts.blinds == text.count("; payout ")
    ante, dollars = (
        re.search(r"^end \w+ in ante (\d+)", text, re.M)[1],
        re.findall(r"^cash-out .*-> \$(-?\d+)", text, re.M),
    )
    assert (facts.ante, facts.money) == (int(ante), [int(each) for each in dollars])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_gained_jokers_agree_with_the_replay(file: Path) -> None:
    facts, text = facts_and_text(file)
    came = {name for name in re.findall(r"; \+ ([^;\n(\[]+?)(?: \(.*?\)| \[.*?\])?(?=;|$)", text, re.M)} & JOKER_NAMES
    assert {JOKERS[joker].name for joker in facts.gained} == came
    assert set(facts.chosen) <= set(facts.gained)
    for one, other in facts.pairs:
        assert one < other and {one, other} <= set(facts.gained)
        assert facts.pairs[one, other][1] >= max(facts.gained[one][1], facts.gained[other][1])
    for joker in facts.chosen:
        assert any(JOKERS[joker].name in line for line in text.splitlines() if line.startswith("  "))
        assert facts.offered[joker] <= facts.chosen[joker]


JUDGEMENT_FROM_A_PACK = """\
ante replay 1
seed J27

select-blind
play 0,1,2,3
discard 0,1,2,7
play 0,2,3,4,6
cash-out
open-pack 1
pick 2  # Judgement; + Misprint
end unfinished in ante 1 with $3 after 7 decisions
"""


def test_a_joker_made_by_a_picked_card_is_gained_but_was_not_taken_from_an_offer() -> None:
    facts = facts_of(*read_replay(JUDGEMENT_FROM_A_PACK))
    assert [JOKERS[joker].name for joker in facts.gained] == ["Misprint"]
    assert facts.chosen == {}
    assert {JOKERS[joker].name for joker in facts.offered} == {"Walkie Talkie", "Ride the Bus"}


@pytest.mark.parametrize("file", sorted(REPLAYS.glob("greedy-c_*.txt")), ids=lambda file: file.stem)
def test_a_challenge_that_starts_with_jokers_has_a_profile(file: Path) -> None:
    facts, _ = facts_and_text(file)
    assert {joker for pair in facts.pairs for joker in pair} <= set(facts.gained)
    rows = profile_of("one game", [facts], fewest=1).jokers
    assert {row.joker for row in rows} == {JOKERS[joker].name for joker in facts.gained}


def test_a_pair_held_together_again_in_an_ante_without_first_gains_has_no_row() -> None:
    made = game(1, 12, False, {1: (1, 1), 2: (2, 4)})
    made.pairs[1, 2] = (3, 7)
    found = profile_of("made up", [made], fewest=1)
    assert (len(found.jokers), found.pairs) == (2, ())


def game(number: int, blinds: int, won: bool, gained: dict[int, tuple[int, int]], pair: bool = False) -> Facts:
    """Return made-up facts of a game; jokers 1 and 2 together if `pair`."""
    rounds = [Round(1, 0, 2, 1, True), Round(1, 1, 4, 0, won)]
    pairs = {(1, 2): max(gained[1], gained[2])} if pair else {}
    offered = {1: (1, 1), **gained}
    hands = [0] * 11 + [3]
    return Facts(
        f"G{number}", won, 1, blinds, rounds, [number], hands, 10.0, Counter({2: 3}), offered, gained, gained, pairs
    )


def test_a_lift_is_beyond_what_gains_of_that_ante_have() -> None:
    """Computed by hand: joker 1 comes in ante 1 after 1 blind, joker 2 in ante 2 after 4, joker 3 in ante 1 after 1."""
    both = [game(i, 12, True, {1: (1, 1), 2: (2, 4)}, pair=True) for i in range(10)]
    alone = [game(i, 6, False, {3: (1, 1)}) for i in range(10, 30)]
    late = [game(i, 6, False, {4: (2, 4)}) for i in range(30, 40)]
    found = profile_of("made up", [*both, *alone, *late], fewest=10)
    rows = {row.joker: row for row in found.jokers}
    # ante 1: 10 gains with 11 blinds after and a win, 20 with 5 and none: 7 blinds and a third of a win on average
    assert rows[JOKERS[1].name].blinds.value == pytest.approx(4.0)
    assert rows[JOKERS[1].name].wins.value == pytest.approx(2 / 3)
    assert rows[JOKERS[3].name].blinds.value == pytest.approx(-2.0)
    # ante 2: 10 gains with 8 after and a win, 10 with 2 and none: 5 and a half on average
    assert rows[JOKERS[2].name].blinds.value == pytest.approx(3.0)
    (pair,) = found.pairs
    assert (pair.one, pair.other, pair.games, pair.won) == (JOKERS[1].name, JOKERS[2].name, 10, 10)
    assert (pair.blinds.value, pair.wins.value) == pytest.approx((3.0, 0.5))
    assert pair.beyond == pytest.approx(3.0 - 4.0 - 3.0)
    assert rows[JOKERS[1].name].picked.hits == 10
    assert rows[JOKERS[1].name].picked.trials == 40
    assert found.wins.hits == 10
    assert found.hands_per_blind == pytest.approx((40 * 2 + 10 * 4) / 50)


def test_nothing_is_said_about_jokers_of_few_games() -> None:
    games = [game(i, 3, False, {1: (1, 1)}) for i in range(5)]
    assert profile_of("few", games, fewest=6).jokers == ()
    assert len(profile_of("few", games, fewest=5).jokers) == 1


def test_chance_alone_makes_no_synergy() -> None:
    rng = np.random.default_rng(1)
    games = []
    for i in range(400):
        gained = {int(joker): (1, 1) for joker in rng.choice(np.arange(1, 9), 2, replace=False)}
        one, other = sorted(gained)
        made = game(i, int(rng.integers(1, 20)), bool(rng.random() < 0.2), gained)
        made.pairs[one, other] = (1, 1)
        games.append(made)
    found = profile_of("chance", games, fewest=10)
    surely = [row for row in found.pairs if row.blinds.low > 0 or row.blinds.high < 0]
    assert len(found.pairs) > 20
    assert len(surely) <= 0.2 * len(found.pairs)


def test_a_profile_is_drawn_and_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [facts_of(*read_replay(read_file(file))) for file in FILES]
    assert draw_profile(profile_of("two", games, 2), tmp_path / "two.png").read_bytes()[:4] == b"\x89PNG"

    def run(words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["ante", "stats", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    for file in FILES:
        (tmp_path / "games").mkdir(exist_ok=True)
        (tmp_path / "games" / file.name).write_text(read_file(file))
    code, out, _ = run(f"{tmp_path / 'games'} --json --fewest 2")
    found = json.loads(out)
    assert (code, found["games"]) == (0, 2)
    assert found["blinds"]["value"] == np.mean([each.blinds for each in games])
    said = run(str(tmp_path / "games"))[1]
    assert "beaten when played" in said and "nan" not in said
    assert "jokers: none was held in 20 games: play more --games" in said
    assert "there is no player 'gredy'" in run("gredy")[2]
    assert "contains no replays" in run(str(tmp_path))[2]


def test_games_without_a_beaten_blind_have_dashes_and_a_reason_in_each_empty_plot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["ante", "stats", "random", "--games", "3", "--plot", str(tmp_path / "lost.png")])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().out
    assert ended.value.code == 0 and "no shop was reached" in said and "nan" not in said
    profile = profile_of("random", [facts_of(*read_replay(record_game(Baseline("random"), Heading("TESTSEED"))))], 2)
    for draw in (draw_money, draw_pairs):
        axes = Figure().subplots()
        draw(axes, profile)
        assert [text.get_text() for text in axes.texts]


def test_illegal_games_are_refused() -> None:
    with pytest.raises(RefusedDecision, match="decision 0 of game TESTSEED"):
        facts_of(Heading("TESTSEED"), [int(pack_action(Verb.CASH_OUT, 0, 0, 0))])
    with pytest.raises(NoGames):
        facts_of_all([])
