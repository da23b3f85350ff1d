"""The preview of selected cards: the score that the engine then counts, or a range if it is random."""

import numpy as np
import pytest

from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import Phase, Status, new_states
from ante.engine.step import step
from ante.terminal.preview import Preview, preview_of, preview_text
from tests.support.table import deal, facing, own
from tests.terminal.made import random_games


def bits(n: int) -> int:
    return (1 << n) - 1


def of(s: object, cards: int) -> Preview:
    found = preview_of(s, cards)
    assert found is not None
    return found


def played(s: object, cards: int) -> tuple[float, float, float]:
    """Return chips, mult and score of these cards, played in a copy of the game."""
    states = new_states(1)
    states[0] = s
    assert step(states[0], np.int64(pack_action(Verb.PLAY, 0, 0, cards))) != Status.ILLEGAL
    return float(states[0].score_chips), float(states[0].score_mult), float(states[0].hand_total)


@pytest.mark.slow
def test_the_preview_of_hundreds_of_random_hands_is_the_engines_score() -> None:
    """Games of all decks, stakes and challenges, each with two more jokers of the catalogue; random scores are left out."""
    rng, exact, refused, owned = np.random.default_rng(5), 0, 0, set()
    for seed, one_chip in ((2, True), (3, True), (41, False)):
        for s in random_games(400, seed, one_chip):
            if s.phase != Phase.PLAY:
                continue
            own(s, *(JOKERS[int(joker)].key for joker in rng.integers(1, len(JOKERS), size=2)))
            n = int(s.n_hand)
            for _ in range(2):
                chosen = rng.choice(n, size=min(n, int(rng.integers(1, 6))), replace=False)
                cards = sum(1 << int(i) for i in chosen)
                found = preview_of(s, cards)
                if found is None or not found.exact:
                    continue
                exact, refused = exact + 1, refused + found.refused
                owned |= {int(item.id) for item in s.jokers[: s.n_jokers]}
                assert (found.chips, found.mult, found.mean) == played(s, cards), preview_text(s, found)
    assert exact > 500 and refused > 3 and len(owned) > 140, (exact, refused, len(owned))


def test_a_pair_as_text() -> None:
    s = deal("S_A H_A", target=300.0)
    found = of(s, bits(2))
    assert preview_text(s, found) == "Pair (level 1): 32 x 2 = 64, 236 short of the blind"
    s.target = 64.0
    assert preview_text(s, of(s, bits(2))).endswith("= 64, beats the blind")


def test_the_preview_leaves_the_game_as_it_is() -> None:
    s = deal("S_A H_A:m_lucky", "j_misprint")
    before = s.tobytes()
    of(s, bits(2))
    assert s.tobytes() == before


def test_misprint_is_a_range_that_contains_every_score() -> None:
    s = deal("S_A H_A", "j_misprint", target=800.0)
    found = of(s, bits(2))
    assert found.random == ("Misprint",) and not found.exact
    assert (found.low, found.high) == (32 * 2, 32 * 25)  # Misprint adds 0 to 23 mult
    assert found.mean == pytest.approx(32 * 13.5, rel=0.1)
    assert preview_text(s, found).startswith("Pair (level 1): about ")
    assert "from 64 to 800 in 256 draws (Misprint), may beat the blind" in preview_text(s, found)


@pytest.mark.parametrize(
    ("cards", "owned", "held", "source"),
    [
        ("H_A:m_lucky H_K", (), "", "Lucky cards"),
        ("H_A H_K", ("j_bloodstone",), "", "Bloodstone"),
        ("H_A H_K", ("j_space",), "", "Space Joker"),
    ],
)
def test_what_draws_random_numbers_is_named(cards: str, owned: tuple[str, ...], held: str, source: str) -> None:
    s = deal(cards, *owned, held=held)
    found = of(s, bits(2))
    assert found.random == (source,)
    assert found.low <= played(s, bits(2))[2] <= found.high


def test_draws_that_cannot_change_the_score_leave_it_exact() -> None:
    """A Glass card breaks after it is scored; Business Card earns money."""
    s = deal("H_K:m_glass H_Q", "j_business")
    found = of(s, bits(2))
    assert found.exact and found.mean == played(s, bits(2))[2]


def test_the_hook_discards_held_cards_before_the_hand_is_scored() -> None:
    s = facing("bl_hook", "S_2 S_K:m_steel H_K:m_steel C_3 D_4")
    assert of(s, 0b1).random == ("The Hook",)
    s = facing("bl_hook", "S_2 S_3 H_4")
    assert of(s, 0b1).exact


def test_a_refused_hand_scores_nothing() -> None:
    s = facing("bl_psychic", "S_A H_A S_2")
    found = of(s, bits(2))
    assert found.refused and preview_text(s, found) == "Pair (level 1): refused by The Psychic, it scores nothing"


def test_what_is_face_down_is_unknown() -> None:
    s = deal("S_A H_A S_2")
    s.cards[s.hand[1]].face_down = 1
    assert preview_text(s, of(s, 0b011)) == "The score is unknown: a selected card is face down."
    found = of(s, 0b001)
    assert not found.exact and "about, cards held face down are not counted" in preview_text(s, found)


def test_hidden_jokers_are_said() -> None:
    s = facing("bl_final_acorn", "S_A H_A", owned=("j_joker", "j_duo"), ante=8)
    found = of(s, bits(2))
    assert not found.exact and "the order of the jokers is hidden" in preview_text(s, found)


def test_there_is_no_preview_of_cards_that_cannot_be_played() -> None:
    s = deal("S_A H_A")
    assert preview_of(s, 0) is None
    s.hands_left = 0
    assert preview_of(s, 1) is None
