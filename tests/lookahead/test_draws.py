"""Future draws: the kinds of hand in a sample, by brute force, and probabilities, by counting."""

import os
from itertools import combinations

import numpy as np
import pytest

from ante.catalog.hands import Hand
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import MAX_CARDS, MAX_HAND
from ante.engine.run import new_run
from ante.engine.step import step
from ante.lookahead.draws import best_strength, chance_of, draws_t, list_unseen, remainder, sample_draws, with_card
from ante.lookahead.reference_hands import FIRST_REFERENCE_HAND, N_REFERENCE_HANDS
from tests.lookahead.test_candidates import facts_of

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
Card = tuple[int, int]


def hand_of(cards: tuple[Card, ...]) -> Hand:
    """Return the poker hand of up to five cards by definition; five of a kind counts as four of a kind."""
    ranks = sorted((rank for rank, _ in cards), reverse=True)
    groups = sorted((ranks.count(rank) for rank in set(ranks)), reverse=True)
    flush = len(cards) == 5 and len({suit for _, suit in cards}) == 1
    low = sorted(1 if rank == 14 else rank for rank in ranks)
    straight = len(set(ranks)) == 5 and (ranks[0] - ranks[4] == 4 or low[4] - low[0] == 4)
    if groups[0] >= 4:
        return Hand.FOUR_OF_A_KIND
    if groups[:2] == [3, 2]:
        return Hand.FULL_HOUSE
    if flush:
        return Hand.FLUSH
    if straight:
        return Hand.STRAIGHT
    if groups[0] == 3:
        return Hand.THREE_OF_A_KIND
    if groups[:2] == [2, 2]:
        return Hand.TWO_PAIR
    return Hand.PAIR if groups[0] == 2 else Hand.HIGH_CARD


def as_set(cards: list[Card]) -> tuple[int, ...]:
    """Return a set of cards as `best_strength` takes it."""
    found = 0, 0, 0, 0, 0
    for rank, suit in cards:
        found = with_card(*found, 4 * (rank - 2) + suit)
    return found


@pytest.mark.parametrize("seed", range(60 if COMPILED else 4))
def test_the_best_kind_is_the_best_of_all_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    deck = [(rank, suit) for rank in range(2, 15) for suit in range(4)]
    if seed % 3 == 0:
        deck = [card for card in deck if card[0] > 9 or card[1] == 0]  # so that straights and flushes occur
    strengths = rng.random(N_REFERENCE_HANDS) * 4
    for _ in range(20):
        cards = [deck[i] for i in rng.permutation(len(deck))[: rng.integers(1, 10)]]
        sets = [each for size in range(1, 6) for each in combinations(cards, size)]
        best = max(strengths[hand_of(each) - FIRST_REFERENCE_HAND] for each in sets)
        assert best_strength(*as_set(cards), strengths) == best


def test_probabilities_of_draws_equal_those_of_counting() -> None:
    """Four Hearts are kept: 9 of 44 unseen cards are Hearts, so three draws complete the flush in 51 of 100 cases."""
    s = new_run("TESTSEED")
    step(s, pack_action(Verb.SELECT_BLIND, 0, 0, 0))
    for i, card in enumerate(s.hand[: s.n_hand]):
        s.cards[card].rank, s.cards[card].suit = (3 + 2 * i, 1) if i < 4 else (2 + i, 2)
    unknown = np.zeros((4, 13), dtype=np.int8)
    unknown[1, [0, 2, 4, 6, 8, 9, 10, 11, 12]] = 1
    unknown[0] = 13 * [1]
    unknown[2:, :11] = 1
    strengths = np.zeros(N_REFERENCE_HANDS)
    strengths[Hand.FLUSH - FIRST_REFERENCE_HAND] = 2.0
    d = np.zeros(1, dtype=draws_t).view(np.recarray)[0]
    list_unseen(unknown, d)
    assert d.n_unseen == 44
    total, enough, runs = 0.0, 0.0, 2000 if COMPILED else 20
    for _ in range(runs):
        sample_draws(s, 0b1111, 3, strengths, 1.5, facts_of(s), d)
        total, enough = total + d.mean_strength / runs, enough + d.success_rate / runs
    exact = 1 - (35 * 34 * 33) / (44 * 43 * 42)
    assert total == pytest.approx(2 * enough)
    assert enough == pytest.approx(exact, abs=0.015 if COMPILED else 0.25)


def test_all_unseen_cards_can_be_drawn_and_no_more() -> None:
    s = new_run("TESTSEED")
    step(s, pack_action(Verb.SELECT_BLIND, 0, 0, 0))
    unknown = np.zeros((4, 13), dtype=np.int8)
    unknown[:, 5] = 1
    d = np.zeros(1, dtype=draws_t).view(np.recarray)[0]
    list_unseen(unknown, d)
    strengths = np.zeros(N_REFERENCE_HANDS)
    strengths[Hand.FOUR_OF_A_KIND - FIRST_REFERENCE_HAND] = 3.0
    sample_draws(s, 0, 5, strengths, 2.5, facts_of(s), d)
    assert (d.mean_strength, d.success_rate) == (3.0, 1.0)
    sample_draws(s, 0, 3, strengths, 2.5, facts_of(s), d)
    assert (d.mean_strength, d.success_rate) == (0.0, 0.0)
    assert s.n_hand <= MAX_HAND


@pytest.mark.parametrize(
    ("outs", "pile", "draws", "needed"), [(9, 44, 3, 1), (13, 44, 5, 2), (4, 20, 5, 4), (2, 3, 5, 2)]
)
def test_chances_are_those_of_counting(outs: int, pile: int, draws: int, needed: int) -> None:
    drawn = list(combinations(range(pile), min(draws, pile)))
    hits = sum(sum(card < outs for card in cards) >= needed for cards in drawn)
    assert chance_of(outs, pile, min(draws, pile), needed) == pytest.approx(hits / len(drawn))


def test_remainders_without_a_division_are_exact() -> None:
    rng = np.random.default_rng(1)
    for n in range(1, MAX_CARDS + 1):
        near = [k * n + d for k in rng.integers(1, (1 << 31) // n, 20) for d in (-1, 0, 1)]
        for x in (0, 1, (1 << 31) - 1, *near):
            assert remainder(int(x), n) == x % n
