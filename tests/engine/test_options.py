"""The structured view of legal decisions, against brute force over all packed decisions."""

import os
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from ante.catalog.cards import Edition
from ante.catalog.consumables import Consumable
from ante.catalog.packs import by_key as pack_by_key
from ante.engine.actions import (
    DISCRETE,
    N_DISCRETE,
    N_VERBS,
    Verb,
    cards_of,
    is_legal,
    legal_mask,
    pack_action,
    target_of,
    verb_of,
)
from ante.engine.core.state import MAX_HAND, MAX_PLAYED, SHOWN_CONSUMABLES, Phase, Status, new_states
from ante.engine.drivers.random_play import fuzz
from ante.engine.items.making import make_given_consumable
from ante.engine.items.owned import add_consumable_from_item
from ante.engine.options import cards_wanted, legal_decisions, legal_targets
from ante.engine.run import new_run
from ante.engine.step import step
from tests.support.table import act, begin, deal, give, to_shop

needs_jit = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
CARD_VERBS = {Verb.PLAY, Verb.DISCARD, Verb.USE, Verb.PICK}
LONGEST_HAND = 9  # keeps the brute force short


def small_games() -> list[np.record]:
    """Return a round, a pack and a shop."""
    in_round = deal("S_2 S_3 H_K", "j_joker", "j_egg")
    give(in_round, "c_hanged_man", "c_mars", "c_death")
    in_pack = to_shop(begin("j_joker", "j_egg"))
    in_pack.packs[0], in_pack.dollars, in_pack.hand_size = pack_by_key["p_arcana_normal_1"], 4, 3
    assert act(in_pack, Verb.OPEN_PACK, 0) == Status.PLAYING
    return [in_round, in_pack, to_shop(begin("j_joker"))]


def games() -> list[np.record]:
    """Return games of all decks and stakes, stopped at random steps, a few in each phase."""
    states = new_states(480)
    fuzz(states, len(states) * 37, 11, 1, np.zeros(4, dtype=np.int64))
    chosen: dict[int, list[np.record]] = {}
    for s in states:
        if s.n_hand <= LONGEST_HAND:
            chosen.setdefault(int(s.phase), []).append(s)
    assert set(chosen) >= {Phase.BLIND_SELECT, Phase.PLAY, Phase.SHOP, Phase.PACK}
    return [s for group in chosen.values() for s in group[:4]]


@cache
def legal_decisions_of(games: Callable[[], list[np.record]]) -> list[tuple[np.record, set[int]]]:
    """Return the games and all legal decisions of each."""
    return [(s, every_legal_decision(s)) for s in games()]


FEW_AND_MANY = pytest.mark.parametrize("games", [small_games, pytest.param(games, marks=[pytest.mark.slow, needs_jit])])


def every_legal_decision(s: np.record) -> set[int]:
    """Return all legal decisions, each checked individually."""
    sets = [cards for cards in range(1 << int(s.n_hand)) if cards.bit_count() <= MAX_PLAYED]
    found = set()
    for verb in Verb:
        if verb in (Verb.SELECT, Verb.CLEAR):
            continue
        for target in range(MAX_HAND):
            seconds = range(MAX_HAND) if verb in (Verb.MOVE_CARD, Verb.MOVE_JOKER, Verb.SORT_HAND) else (0,)
            for to in seconds:
                for cards in sets if verb in CARD_VERBS else (0,):
                    action = int(pack_action(verb, target, to, cards))
                    if is_legal(s, np.int64(action)):
                        found.add(action)
    # A verb without targets gives the same result for all of them; the view uses target 0.
    plain = {Verb.PLAY, Verb.DISCARD, Verb.SORT_HAND, *(v for v in Verb if Verb.SELECT_BLIND <= v <= Verb.SKIP_PACK)}
    found = {a for a in found if int(verb_of(a)) not in plain or target_of(a) == 0}
    # If no card is needed, selected ones are ignored; the view uses the empty set.
    return {a for a in found if not cards_of(a) or (a & ((1 << 22) - 1)) not in found}


@FEW_AND_MANY
def test_the_enumeration_is_what_brute_force_finds(games: Callable[[], list[np.record]]) -> None:
    for s, expected in legal_decisions_of(games):
        out = np.full(100_000, -1, dtype=np.int64)
        n = legal_decisions(s, out)
        assert n == len(set(out[:n].tolist()))
        assert set(out[:n].tolist()) == expected
        assert legal_decisions(s, np.zeros(0, dtype=np.int64)) == n
        assert (out[n:] == -1).all()


def test_discrete_actions_are_143_decisions_and_only_moves_and_sorting_have_a_second_target() -> None:
    assert N_DISCRETE == len(set(map(tuple, DISCRETE.tolist()))) == 143
    assert all(verb in (Verb.SORT_HAND, Verb.MOVE_JOKER, Verb.MOVE_CARD) for verb, _, to in DISCRETE if to)


def test_every_set_of_up_to_five_cards_can_be_played() -> None:
    s, out = deal("S_2 S_3 H_K D_4 D_5 C_6"), np.zeros(1000, dtype=np.int64)
    played = [int(cards_of(a)) for a in out[: legal_decisions(s, out)] if verb_of(a) == Verb.PLAY]
    assert sorted(played) == [cards for cards in range(1, 1 << 6) if cards.bit_count() <= MAX_PLAYED]


@FEW_AND_MANY
def test_targets_and_card_numbers_agree_with_the_enumeration(games: Callable[[], list[np.record]]) -> None:
    for s, actions in legal_decisions_of(games):
        expected = np.zeros((N_VERBS, MAX_HAND), dtype=np.uint8)
        for action in actions:
            verb, target, n_cards = int(verb_of(action)), int(target_of(action)), int(cards_of(action)).bit_count()
            expected[verb, target] = 1
            if verb in CARD_VERBS:
                least, most = cards_wanted(s, verb, target)
                assert least <= n_cards <= most
        out = np.ones((N_VERBS, MAX_HAND), dtype=np.uint8)
        legal_targets(s, out)
        assert np.array_equal(out, expected)


def test_counting_leaves_a_short_buffer_whole() -> None:
    s = small_games()[0]
    out = np.full(2, -7, dtype=np.int64)
    n = legal_decisions(s, out[:1])
    assert n > 1 or out[0] == -7 or n == 1
    assert out[1] == -7


def test_consumables_beyond_the_shown_ones_are_macro_decisions_only() -> None:
    s = new_run("TESTSEED")
    for _ in range(20):
        make_given_consumable(s, Consumable.PLUTO)
        s.made.edition = Edition.NEGATIVE
        add_consumable_from_item(s, s.made)
    room = np.zeros(1000, dtype=np.int64)
    offered = set(room[: legal_decisions(s, room)].tolist())
    for verb in (Verb.USE, Verb.SELL_CONSUMABLE):
        assert {target_of(a) for a in offered if verb_of(a) == verb} == set(range(20))
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    legal_mask(s, mask)
    named = {(int(verb), int(slot)) for (verb, slot, _), legal in zip(DISCRETE, mask, strict=True) if legal}
    assert {slot for verb, slot in named if verb == Verb.USE} == set(range(SHOWN_CONSUMABLES))
    assert step(s, np.int64(pack_action(Verb.USE, 19, 0, 0))) == Status.PLAYING
    assert (s.levels[11], s.n_consumables) == (2, 19)  # High Card is the last hand
