"""`step` accepts every candidate marked legal: in games of random play, and with extreme hands, debts and lists."""

import os
from collections.abc import Callable

import numpy as np
import pytest

from ante.catalog.consumables import Consumable
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import MAX_HAND, MAX_JOKERS, Kind, Phase, Place, Status, new_states
from ante.engine.run import new_run
from ante.engine.step import step
from ante.lookahead.candidates import decision_of, list_candidates
from ante.lookahead.records import INTEREST_LOST, LEGAL, MAX_CANDIDATES, MONEY_LEFT, PADDED, PURPOSE_SWAP
from tests.lookahead.test_candidates import in_round, some_games

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"


def with_hand_of(n: int, seed: str = "TESTSEED") -> np.record:
    """Return a game in its first round with n cards in hand, the leftmost of the highest rank."""
    s = in_round(seed=seed)
    while s.n_hand < n:
        s.n_deck -= 1
        s.hand[s.n_hand] = s.deck[s.n_deck]
        s.cards[s.deck[s.n_deck]].place = Place.HAND
        s.n_hand += 1
    s.hand[:n] = sorted(s.hand[:n], key=lambda card: -int(s.cards[card].rank))
    return s


def hidden(s: np.record, positions: range) -> np.record:
    """Return the same game with these hand positions face down."""
    for i in positions:
        s.cards[s.hand[i]].face_down = 1
    return s


def forced(s: np.record, position: int) -> np.record:
    """Return the same game with this hand position forced."""
    s.cards[s.hand[position]].forced = 1
    return s


def in_shop(*jokers: Joker) -> np.record:
    """Return a game in an empty shop that owns these jokers."""
    s = in_round(*jokers)
    s.phase, s.n_row, s.n_shop_vouchers, s.reroll_base, s.reroll_raise = Phase.SHOP, 0, 0, 5, 0
    s.packs[:] = -1
    return s


def refused(s: np.record) -> list[int]:
    """Return the indices of a game's candidates that are marked legal but refused by `step`."""
    found = list_candidates(s)[0]
    legal = [k for k in range(found.n) if found.entries[k]["flag_bits"] & LEGAL]
    assert legal or s.phase == Phase.OVER
    wrong = []
    for k in legal:
        copy = new_states(1)
        copy[0] = s
        if step(copy[0], decision_of(found.entries[k])) == Status.ILLEGAL:
            wrong.append(k)
    return wrong


HANDS: dict[str, Callable[[], np.record]] = {
    "17 cards": lambda: with_hand_of(17),
    "24 cards": lambda: with_hand_of(MAX_HAND),
    "leftmost 10 of 24 face down": lambda: hidden(with_hand_of(MAX_HAND), range(10)),
    "all 8 face down": lambda: hidden(with_hand_of(8), range(8)),
    "all 24 face down": lambda: hidden(with_hand_of(MAX_HAND), range(MAX_HAND)),
    "forced at 0": lambda: forced(with_hand_of(8), 0),
    "forced at 16": lambda: forced(with_hand_of(20), 16),
    "forced at 23": lambda: forced(with_hand_of(MAX_HAND), MAX_HAND - 1),
    "forced at 20, all face down": lambda: forced(hidden(with_hand_of(MAX_HAND), range(MAX_HAND)), 20),
    "one card": lambda: with_one_card(),
}


def with_one_card() -> np.record:
    """Return a game in its first round with one card in hand."""
    s = with_hand_of(8)
    s.n_hand = 1
    return s


@pytest.mark.parametrize(("seed", "one_chip"), [(4, 0), (51, 1)])
def test_step_accepts_what_is_legal_in_random_games(seed: int, one_chip: int) -> None:
    for s in some_games(200 if COMPILED else 8, seed, one_chip):
        assert refused(s) == []


@pytest.mark.parametrize("name", HANDS)
def test_step_accepts_what_is_legal_with_any_hand(name: str) -> None:
    s = HANDS[name]()
    assert refused(s) == []
    found = list_candidates(s)[0]
    plays = [e for e in found.entries[: found.n] if e["verb"] == Verb.PLAY]
    assert plays, "a hand can always be played"
    assert all(e["cards"] >> int(s.n_hand) == 0 for e in plays)


@pytest.mark.parametrize("n", [8, 17, MAX_HAND])
def test_padding_of_a_play_is_kept_in_hands_of_any_size(n: int) -> None:
    """Padding uses the least valuable cards, which are at the right end: beyond bit 16 of a large hand."""
    found = list_candidates(with_hand_of(n))[0]
    padded = [e for e in found.entries[: found.n] if e["flag_bits"] & PADDED]
    assert padded
    assert all(int(e["cards"]).bit_count() == 5 for e in padded)
    assert any(int(e["cards"]) >> (n - 1) for e in padded)


def test_discards_reach_the_whole_of_a_large_hand() -> None:
    found = list_candidates(with_hand_of(MAX_HAND))[0]
    assert any(e["verb"] == Verb.DISCARD and int(e["cards"]) >> 16 for e in found.entries[: found.n])


@pytest.mark.parametrize(("dollars", "free", "offered"), [(-15, 1, True), (-15, 0, False), (4, 0, False), (5, 0, True)])
def test_a_reroll_is_listed_where_it_can_be_paid(dollars: int, free: int, offered: bool) -> None:
    s = in_shop()
    s.dollars, s.free_rerolls = dollars, free
    found = list_candidates(s)[0]
    assert (Verb.REROLL in found.entries["verb"][: found.n]) == offered
    copy = new_states(1)
    copy[0] = s
    assert (step(copy[0], pack_action(Verb.REROLL, 0, 0, 0)) != Status.ILLEGAL) == offered
    assert refused(s) == []


def test_a_swap_for_a_free_joker_is_listed_in_debt() -> None:
    """A joker in a pack is free, so selling another joker for it does not depend on money."""
    s = in_round(*(5 * [Joker.GOLDEN]))
    s.phase, s.pack_return, s.n_pack, s.picks_left, s.dollars = Phase.PACK, Phase.SHOP, 1, 1, -30
    s.pack[0].kind, s.pack[0].id = Kind.JOKER, Joker.CAVENDISH
    found = list_candidates(s)[0]
    assert PURPOSE_SWAP in found.entries["purpose"][: found.n]
    assert refused(s) == []


def test_candidates_without_room_are_counted_and_none_is_overwritten() -> None:
    s = in_shop(*(MAX_JOKERS * [Joker.GOLDEN]))
    s.dollars = 100
    s.n_consumables = 8
    for i in range(8):
        s.consumables[i].kind, s.consumables[i].id = Kind.CONSUMABLE, Consumable.PLUTO
    found = list_candidates(s)[0]
    expected = [(Verb.NEXT_ROUND, 0), (Verb.REROLL, 0), *((Verb.SELL_JOKER, i) for i in range(MAX_JOKERS))]
    for i in range(8):
        expected += [(Verb.USE, i), (Verb.SELL_CONSUMABLE, i)]
    assert [(int(e["verb"]), int(e["target"])) for e in found.entries[: found.n]] == expected[:MAX_CANDIDATES]
    assert (found.n, found.dropped) == (MAX_CANDIDATES, len(expected) - MAX_CANDIDATES)
    assert refused(s) == []
    assert list_candidates(new_run("TESTSEED"))[0].dropped == 0


def test_a_swap_that_brings_money_is_listed_with_the_interest_gained() -> None:
    """Selling for $2 with $3 reaches $5, which yield one dollar of interest: 40 below 0, modulo 256."""
    s = in_round(*(5 * [Joker.GOLDEN]))
    s.phase, s.pack_return, s.n_pack, s.picks_left, s.dollars = Phase.PACK, Phase.SHOP, 1, 1, 3
    s.pack[0].kind, s.pack[0].id = Kind.JOKER, Joker.CAVENDISH
    for joker in s.jokers[:5]:
        joker.cost = 4
    found = list_candidates(s)[0]
    (swap,) = [e for e in found.entries[: found.n] if e["purpose"] == PURPOSE_SWAP]
    assert (swap["price"], swap["estimates"][MONEY_LEFT], swap["estimates"][INTEREST_LOST]) == (0, 25, 256 - 40)
