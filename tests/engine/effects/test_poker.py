"""Poker hand detection, against a slow and obvious reference."""

import random
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from ante.catalog.hands import HANDS
from ante.engine.core.state import Place
from ante.engine.effects.poker import find_hand
from ante.engine.run import new_run
from ante.verification.recorded_hands import put_card
from tests.support.table import own

# Best first, in the game's order.
ORDER = (
    "Flush Five",
    "Flush House",
    "Five of a Kind",
    "Straight Flush",
    "Four of a Kind",
    "Full House",
    "Flush",
    "Straight",
    "Three of a Kind",
    "Two Pair",
    "Pair",
    "High Card",
)
JOKERS = ("j_four_fingers", "j_shortcut", "j_smeared", "j_splash")
SUITS = "SHCD"
RANKS = "23456789TJQKA"
Answer = tuple[str, set[str], set[int]]


def value(card: str) -> int:
    return RANKS.index(card[2]) + 2


def is_stone(card: str) -> bool:
    return ":m_stone" in card


def suits_of(card: str, smeared: bool) -> str:
    """Return the suits of a card in a flush."""
    if is_stone(card):
        return ""
    if ":m_wild" in card and not card.endswith("!"):
        return SUITS
    if smeared:
        return "SC" if card[0] in "SC" else "HD"
    return card[0]


def flush_of(cards: list[str], needed: int, smeared: bool) -> set[int]:
    for suit in SUITS:
        found = {i for i, card in enumerate(cards) if suit in suits_of(card, smeared)}
        if len(found) >= needed:
            return found
    return set()


def straight_of(cards: list[str], needed: int, step: int) -> set[int]:
    """Return the cards of the longest sequence of ranks, at most `step` apart; the Ace is 1 or 14."""
    shown = [value(card) for card in cards if not is_stone(card)]
    ranks = sorted(set(shown) | ({1} if 14 in shown else set()))
    for n in range(len(ranks), needed - 1, -1):
        for chosen in combinations(ranks, n):
            if all(high - low <= step for low, high in pairwise(chosen)):
                wanted = {14 if rank == 1 else rank for rank in chosen}
                return {i for i, card in enumerate(cards) if not is_stone(card) and value(card) in wanted}
    return set()


def reference(cards: list[str], owned: tuple[str, ...]) -> Answer:
    """Return the best hand, all hands found, and the positions of the scored cards."""
    needed = 4 if "j_four_fingers" in owned else 5
    flush = flush_of(cards, needed, "j_smeared" in owned)
    straight = straight_of(cards, needed, 2 if "j_shortcut" in owned else 1)
    counts = Counter(value(card) for card in cards if not is_stone(card))
    ranks = sorted(counts, key=lambda rank: (-counts[rank], -rank))  # most frequent first, then highest
    most = counts[ranks[0]] if ranks else 0
    second = counts[ranks[1]] if len(ranks) > 1 else 0

    def of_rank(*places: int) -> set[int]:
        wanted = {ranks[place] for place in places}
        return {i for i, card in enumerate(cards) if not is_stone(card) and value(card) in wanted}

    found: dict[str, set[int]] = {"High Card": {i for i in of_rank(0) if most == 1} if ranks else set()}
    if most >= 2:
        found["Pair"] = of_rank(0)
    if most >= 2 and second >= 2:
        found["Two Pair"] = of_rank(0, 1)
    if most >= 3:
        found["Three of a Kind"] = of_rank(0)
    if straight:
        found["Straight"] = straight
    if flush:
        found["Flush"] = flush
    if most >= 3 and second >= 2:
        found["Full House"] = of_rank(0, 1)
    if most >= 4:
        found["Four of a Kind"] = of_rank(0)
    if straight and flush:
        found["Straight Flush"] = straight | flush
    if most >= 5:
        found["Five of a Kind"] = of_rank(0)
    if "Full House" in found and flush:
        found["Flush House"] = of_rank(0, 1)
    if most >= 5 and flush:
        found["Flush Five"] = of_rank(0)
    best = next(name for name in ORDER if name in found)
    scoring = set(range(len(cards))) if "j_splash" in owned else found[best]
    return best, set(found), scoring | {i for i, card in enumerate(cards) if is_stone(card)}


def table(owned: tuple[str, ...]) -> Any:
    s = new_run("TESTSEED")
    own(s, *owned)
    return s


def engine(s: Any, texts: str) -> Answer:
    """Return the result of find_hand for these played cards."""
    s.n_cards, cards = 0, texts.split()
    for i, card in enumerate(cards):
        s.played[i] = put_card(s, card, Place.PLAYED)
    s.n_played = len(cards)
    find_hand(s)
    bits = int(s.contains)
    contains = {row.name for row in HANDS if bits >> row.hand & 1}
    scoring = set(np.flatnonzero(s.scoring[: len(cards)]).tolist())
    assert s.n_scoring == len(scoring)
    return HANDS[s.hand_type].name, contains, scoring


def random_cards(rng: random.Random) -> list[str]:
    """Return one to five cards of few ranks and suits, so that all hands occur."""
    n = rng.choice((1, 2, 3, 4, 4, 5, 5, 5, 5, 5))
    low, near = rng.randrange(13), rng.choice((1, 2, 3, 5, 6, 7, 13))
    row = [RANKS[(low + i) % 13] for i in range(near)]
    ranks = rng.sample(row, n) if near >= n and rng.random() < 0.5 else rng.choices(row, k=n)
    suits = rng.choice((rng.choice(SUITS), rng.sample(SUITS, 2), SUITS))
    marks = rng.choice((("",), ("", "", "", ":m_wild", ":m_stone", "!", ":m_wild!", ":m_glass")))
    return [f"{rng.choice(suits)}_{rank}{rng.choice(marks)}" for rank in ranks]


ALL_SETS = [owned for n in range(5) for owned in combinations(JOKERS, n)]


@pytest.mark.parametrize("owned", ALL_SETS, ids=lambda owned: "+".join(key[2:] for key in owned) or "none")
def test_find_hand_agrees_with_the_twin(owned: tuple[str, ...]) -> None:
    rng, s, seen = random.Random(f"poker {owned}"), table(owned), set()
    for _ in range(800):
        cards = random_cards(rng)
        expected = reference(cards, owned)
        assert engine(s, " ".join(cards)) == expected, (cards, owned)
        seen.add(expected[0])
    assert seen == set(ORDER)


@pytest.mark.parametrize(
    ("cards", "hand"),
    [
        ("S_7 S_7 S_7 S_7 S_7", "Flush Five"),
        ("S_7 S_7 S_7 S_4 S_4", "Flush House"),
        ("S_7 H_7 S_7 S_7 S_7", "Five of a Kind"),
        ("D_T D_J D_Q D_K D_A", "Straight Flush"),
        ("S_7 H_7 C_7 D_7 S_2", "Four of a Kind"),
        ("S_7 H_7 C_7 D_2 S_2", "Full House"),
        ("C_2 C_5 C_7 C_9 C_K", "Flush"),
        ("S_A H_2 C_3 D_4 S_5", "Straight"),
        ("S_7 H_7 C_7 D_3 S_2", "Three of a Kind"),
        ("S_7 H_7 C_3 D_3 S_2", "Two Pair"),
        ("S_7 H_7 C_4 D_3 S_2", "Pair"),
        ("S_Q H_K C_A D_2 S_3", "High Card"),  # no wrap around the Ace
    ],
)
def test_each_hand_by_example(cards: str, hand: str) -> None:
    assert engine(table(()), cards)[0] == hand


def test_four_fingers_makes_flushes_and_straights_of_four() -> None:
    s = table(("j_four_fingers",))
    assert engine(s, "S_2 S_5 S_9 S_K")[0] == "Flush"
    assert engine(s, "S_2 H_3 S_4 S_5 D_K")[::2] == ("Straight", {0, 1, 2, 3})
    assert engine(s, "S_2 H_3 S_4 S_5 S_K")[::2] == ("Straight Flush", {0, 1, 2, 3, 4})
    assert engine(s, "S_2 S_5 S_9")[0] == "High Card"


def test_shortcut_leaves_out_single_ranks() -> None:
    s = table(("j_shortcut",))
    assert engine(s, "S_2 H_4 S_6 S_8 D_T")[0] == "Straight"
    assert engine(s, "S_A H_3 S_4 S_6 D_7")[0] == "Straight"
    assert engine(s, "S_2 H_5 S_6 S_7 D_8")[0] == "High Card"
    assert engine(s, "S_Q H_K S_A S_2 D_3")[0] == "High Card"


def test_smeared_makes_one_suit_of_each_colour() -> None:
    s = table(("j_smeared",))
    assert engine(s, "S_2 C_4 S_6 C_8 S_T")[0] == "Flush"
    assert engine(s, "H_2 D_4 H_6 D_8 H_T")[0] == "Flush"
    assert engine(s, "H_2 D_4 H_6 D_8 S_T")[0] == "High Card"


def test_a_wild_card_joins_every_flush_unless_it_is_debuffed() -> None:
    s = table(())
    assert engine(s, "S_2 S_4 S_6 S_8 H_T:m_wild")[0] == "Flush"
    assert engine(s, "S_2 S_4 S_6 S_8 H_T:m_wild!")[0] == "High Card"
    assert engine(s, "S_2 S_4 S_6 S_8 S_T:m_wild!")[0] == "Flush"


def test_a_stone_card_shows_nothing_and_always_scores() -> None:
    s = table(())
    assert engine(s, "S_A:m_stone H_A")[::2] == ("High Card", {0, 1})
    assert engine(s, "S_A H_A S_K:m_stone D_2")[::2] == ("Pair", {0, 1, 2})
    assert engine(s, "S_A:m_stone S_2 S_3 S_4 S_5")[::2] == ("High Card", {0, 4})
    assert engine(s, "S_A:m_stone")[::2] == ("High Card", {0})


def test_splash_scores_every_card() -> None:
    assert engine(table(("j_splash",)), "S_A H_A S_K D_2")[::2] == ("Pair", {0, 1, 2, 3})
