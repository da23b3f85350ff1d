"""Replays: a written replay is read back, changes are located, and illegal decisions are refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ante.agents.baselines import Baseline
from ante.engine.actions import Verb, pack_action, verb_of
from ante.engine.core.state import Phase, Status
from ante.engine.options import legal_decisions
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.games import Games
from ante.env.replay import (
    BadReplay,
    Heading,
    RefusedDecision,
    action_text,
    check_replay,
    read_decision,
    read_file,
    read_replay,
    state_at,
    write_replay,
)
from ante.errors import UnknownDeck, UnknownSeed, UnknownStake

REPLAYS = Path(__file__).parent.parent / "golden" / "replays"
TEXT = read_file(REPLAYS / "greedy-b_red-1-PKXK3L4T.txt")
RICH = read_file(REPLAYS / "restless-b_anaglyph-1-92DM6LUE.txt")
PLAYED = (("b_yellow", 1, 9), ("b_yellow", 1, 22), ("b_zodiac", 1, 22), ("b_plasma", 8, 3))  # deck, stake, luck
DECIDING = [verb for verb in Verb if verb > Verb.CLEAR]


def restless_game(heading: Heading, luck: int, decisions: int = 160) -> list[int]:
    """Return legal decisions of one game: greedy in most of a round, otherwise a random verb and decision."""
    rng = np.random.default_rng(luck)
    games = Games(1, heading.deck, heading.stake, heading.seed, discrete=False)
    games.reset()
    s, out, player, one = games.states[0], np.zeros(8192, dtype=np.int64), Baseline("greedy"), np.ones(1, dtype=bool)
    taken: list[int] = []
    while s.phase != Phase.OVER and len(taken) < decisions:
        if s.phase == Phase.PLAY and rng.random() < 0.8:
            action = int(player.choose(games, one)[0])
        else:
            legal = out[: legal_decisions(s, out)]
            verbs = legal & 63
            action = int(rng.choice(legal[verbs == rng.choice(np.unique(verbs))]))
        assert step(s, np.int64(action)) != Status.ILLEGAL
        taken.append(action)
    return taken


@settings(deadline=None)  # the very first decision loads compiled code
@given(
    st.sampled_from([verb for verb in DECIDING if verb not in (Verb.USE, Verb.PICK)]),
    st.tuples(st.integers(0, 23), st.integers(0, 23), st.integers(1, (1 << 24) - 1)),
)
def test_every_decision_is_read_as_it_was_written(verb: Verb, numbers: tuple[int, int, int]) -> None:
    target, to, cards = numbers
    two = verb in (Verb.MOVE_JOKER, Verb.MOVE_CARD)
    action = pack_action(
        verb,
        target if verb >= Verb.BUY else 0,
        to if two else (to % 2 if verb == Verb.SORT_HAND else 0),
        cards if verb in (Verb.PLAY, Verb.DISCARD) else 0,
    )
    assert read_decision(f"{action_text(action)} # and words", 1) == action


@given(st.sampled_from([Verb.USE, Verb.PICK]), st.integers(0, 15), st.integers(0, (1 << 24) - 1))
def test_cards_are_named_for_what_may_take_them(verb: Verb, target: int, cards: int) -> None:
    action = pack_action(verb, target, 0, cards)
    assert (" on " in action_text(action)) == bool(cards)
    assert read_decision(action_text(action), 1) == action


@pytest.fixture(scope="module")
def random_games() -> list[tuple[Heading, list[int]]]:
    """Return games that together contain every verb."""
    headings = [Heading(f"LUCK{luck}", deck, stake) for deck, stake, luck in PLAYED]
    return [(heading, restless_game(heading, luck)) for heading, (_, _, luck) in zip(headings, PLAYED, strict=True)]


def test_random_games_are_read_as_they_were_written(random_games: list[tuple[Heading, list[int]]]) -> None:
    for heading, actions in random_games:
        text = write_replay(heading, actions)
        assert read_replay(text) == (heading, actions)
        assert check_replay(text) is None
        assert text.isascii()
    assert {verb_of(action) for _, actions in random_games for action in actions} == set(DECIDING)


def test_a_replay_leads_to_the_same_bytes_as_its_decisions(random_games: list[tuple[Heading, list[int]]]) -> None:
    heading, actions = random_games[0]
    text = write_replay(heading, actions)
    s = new_run(heading.seed, heading.deck, heading.stake)
    for action in actions:
        step(s, np.int64(action))
    assert state_at(text, len(text.splitlines())).tobytes() == s.tobytes()


def test_a_line_precedes_its_decision() -> None:
    first = TEXT.splitlines().index("select-blind      # Small Blind 300") + 1
    assert state_at(TEXT, first).phase == Phase.BLIND_SELECT
    assert state_at(TEXT, first + 1).phase == Phase.PLAY


def test_selections_are_left_out() -> None:
    select = [pack_action(Verb.SELECT_BLIND, 0, 0, 0)]
    chosen = [*select, pack_action(Verb.SELECT, 1, 0, 0), pack_action(Verb.CLEAR, 0, 0, 0)]
    assert write_replay(Heading("TESTSEED"), chosen) == write_replay(Heading("TESTSEED"), select)


def test_a_line_tells_the_hand_its_score_and_the_money() -> None:
    """Checked by hand: the chips of cards and hands, the payout, prices."""
    lines = TEXT.splitlines()
    for line in (
        "-- ante 1, $4: Small Blind 300 or Rare Tag, Big Blind 450 or Holographic Tag, The Window 600",
        "play 1,2,5,6,7    # QD JD 7D 6D 2D; Flush (level 1) 70 x 4 = 280, 280 of 300",
        "play 0,1,2        # AH AC AD; Three of a Kind (level 1) 63 x 3 = 189, 469 of 300; "
        "payout $5 with 2 hands and 3 discards left, $4 held",
        "  Buffoon Pack, take 1: 0 Delayed Gratification | 1 Ancient Joker",
        "buy 0             # Bootstraps $7; $11 -> $4; + Bootstraps",
        "select-blind      # The Window 600, Diamonds are debuffed",
        "  4 hands 3 discards: 7H 7C 7D! 6S 6H 6C 4D! 2D! | deck 40",
    ):
        assert line in lines


def test_a_line_tells_tags_vouchers_sales_and_added_cards() -> None:
    lines = RICH.splitlines()
    for words in (
        "skip-blind        # Orbital Tag (Flush); - tag Double Tag; Flush level 1 -> 7",
        "buy-voucher 0     # Paint Brush $10; $10 -> $0; hand size 8 -> 9; + voucher Paint Brush",
        "sell-joker 1      # Bootstraps for $3; $0 -> $3; - Bootstraps",
        "pick 0            # 5H(red seal); + 5H(red seal)",
        "pick 0            # 3S; - tag Standard Tag; + 3S",
    ):
        assert words in lines


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("QD JD 7D 6D 2D; Flush (level 1) 70 x 4", "QD JD 7D 6D 2D; Flush (level 1) 71 x 4", "71 x 4"),
        ("play 0,1,2        # AH AC AD", "play 0,1          # AH AC AD", "63 x 3"),
        ("  row 0 Bootstraps $7", "  row 0 Bootstraps $8", "Bootstraps $8"),
        ("end lost in ante 8 with $270", "end lost in ante 8 with $271", "$271"),
    ],
)
def test_a_changed_line_is_named_by_its_number(old: str, new: str, wanted: str) -> None:
    assert TEXT.count(old) == 1
    number = TEXT[: TEXT.index(old)].count("\n") + 1
    found = check_replay(TEXT.replace(old, new))
    assert found is not None
    assert found.line == number
    assert wanted in found.wanted
    assert wanted not in found.got


def test_a_decision_that_is_not_allowed_is_named() -> None:
    changed = TEXT.replace("buy 0             # Bootstraps", "buy 4             # Bootstraps")
    found = check_replay(changed)
    assert found is not None
    assert found.got == "buy 4 # refused"
    with pytest.raises(RefusedDecision, match=rf"^line {found.line} of replay PKXK3L4T is illegal in its state: buy 4"):
        write_replay(*read_replay(changed))
    with pytest.raises(RefusedDecision, match=rf"^line {found.line} "):
        state_at(changed, found.line + 1)


def test_a_truncated_replay_is_refused() -> None:
    for cut in (len(TEXT) - 10, len(TEXT) // 2, TEXT.index("\nend ")):
        with pytest.raises(BadReplay, match="is not the last line of a game"):
            read_replay(TEXT[:cut])
    lines = TEXT.splitlines()
    lines.remove("next-round")
    with pytest.raises(BadReplay, match=rf"^line {len(lines)}: expected 178 decisions, found 177"):
        read_replay("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: '' should be 'ante replay 1'"),
        ("ante replay 2\nseed A\n", "line 1: 'ante replay 2' should be 'ante replay 1'"),
        ("ante replay 1\n\n", "line 2: the heading has no seed"),
        ("ante replay 1\nseed A\ncolour red\n\n", "line 3: 'colour red' is not a line of the heading"),
        ("ante replay 1\nseed A\nstake high\n\n", "line 3: 'stake high' is not a line of the heading"),
        (f"ante replay 1\nseed A\nstake {'9' * 5000}\n\n", "line 3: 'stake 999"),
        (f"ante replay 1\nseed A\n\nend lost in ante 1 with $1 after {'9' * 5000} decisions\n", "line 4: 'end lost"),
        ("ante replay 1\nseed A\nseed B\n\n", "line 3: 'seed B' is not a line of the heading"),
        ("ante replay 1\nseed A\n\ndance 1\nend", "line 4: 'dance' is not a decision"),
        ("ante replay 1\nseed A\n\nplay\nend", "line 4: 'play' should have the form 'play 0,3,4'"),
        ("ante replay 1\nseed A\n\nplay 1,1\nend", "line 4: hand positions '1,1' must increase"),
        ("ante replay 1\nseed A\n\nplay 0,24\nend", "line 4: hand positions '0,24' must increase"),
        ("ante replay 1\nseed A\n\nsort-hand 2\nend", "line 4: 'sort-hand 2' should have the form 'sort-hand 0|1'"),
        ("ante replay 1\nseed A\n\nbuy 0 on 1\nend", "line 4: 'buy 0 on 1' should have the form 'buy SLOT'"),
    ],
)
def test_a_bad_file_is_refused_with_the_number_of_its_line(text: str, message: str) -> None:
    with pytest.raises(BadReplay) as refused:
        read_replay(text)
    assert str(refused.value).startswith(message)


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ante replay 1\nseed \xff\n")
    for name in ("a.txt", "none.txt"):
        with pytest.raises(BadReplay, match=f"cannot read .*{name}"):
            read_file(tmp_path / name)


@pytest.mark.parametrize(
    ("heading", "error"),
    [(Heading("?"), UnknownSeed), (Heading("A", "b_gost"), UnknownDeck), (Heading("A", "b_red", 9), UnknownStake)],
)
def test_a_heading_of_no_game_is_refused(heading: Heading, error: type[Exception]) -> None:
    with pytest.raises(error):
        write_replay(heading, [])


def test_a_heading_is_written_as_the_game_names_it() -> None:
    heading, actions = read_replay(write_replay(Heading("testseed", "red"), []))
    assert (heading, actions) == (Heading("TESTSEED", "b_red", 1), [])
