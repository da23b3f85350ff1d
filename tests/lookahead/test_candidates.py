"""Candidate actions: every listed one is legal, achieves its estimate, and reveals no hidden state."""

import math
import os

import numpy as np
import pytest

from ante.agents.baselines import best_hand
from ante.catalog.cards import Enhancement
from ante.catalog.consumables import Consumable
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, Joker
from ante.engine.actions import Verb, is_legal, pack_action
from ante.engine.core.state import Kind, Phase, new_states
from ante.engine.drivers.random_play import fuzz
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.games import Games
from ante.env.observe import REORDER_NONE
from ante.lookahead.candidates import CandidateLister, decision_of, decisions_of, list_candidates
from ante.lookahead.card_sets import hand_facts_t, read_hand
from ante.lookahead.consumables import cards_for
from ante.lookahead.describe import describe_candidate
from ante.lookahead.determinised import N_COPIES, score_of
from ante.lookahead.records import (
    BEATS_BLIND,
    LEGAL,
    MAX_CANDIDATES,
    N_JOKER_GAINS,
    PADDED,
    PLAY,
    PURPOSE_SWAP,
    candidates_t,
)
from ante.lookahead.reference_hands import (
    FIRST_REFERENCE_HAND,
    N_REFERENCE_HANDS,
    N_TESTED_HANDS,
    gains_with_joker,
    gains_without_joker,
    most_common_suit,
    write_strengths,
)
from tests.env.test_observe import shuffle_what_is_hidden
from tests.support.hidden import hide_more

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
PAIR = int(Hand.PAIR) - FIRST_REFERENCE_HAND


def facts_of(s: np.record) -> np.record:
    """Return the facts of a game's hand, without unseen cards."""
    facts = np.zeros(1, dtype=hand_facts_t).view(np.recarray)[0]
    read_hand(s, np.zeros((4, 13), dtype=np.int8), facts)
    return facts


def some_games(n: int, seed: int, one_chip: int) -> np.recarray:
    """Return games of all decks and stakes, stopped at random steps."""
    states = new_states(n)
    fuzz(states, n * (20 + seed % 60), seed, one_chip, np.zeros(4, dtype=np.int64))
    return states


def in_round(*jokers: Joker, seed: str = "TESTSEED") -> np.record:
    """Return a game in its first round that owns these jokers."""
    s = new_run(seed)
    step(s, pack_action(Verb.SELECT_BLIND, 0, 0, 0))
    for i, joker in enumerate(jokers):
        s.jokers[i].kind, s.jokers[i].id = Kind.JOKER, joker
    s.n_jokers = len(jokers)
    return s


@pytest.mark.parametrize(("seed", "one_chip"), [(1, 0), (2, 1), (3, 1), (40, 0)])
def test_what_is_marked_legal_is_and_nothing_is_listed_twice(seed: int, one_chip: int) -> None:
    states = some_games(300 if COMPILED else 12, seed, one_chip)
    phases = set()
    for s, r in zip(states, list_candidates(states), strict=True):
        entries = r.entries[: r.n]
        decisions = decisions_of(np.repeat(r.entries[None], r.n, axis=0), np.arange(r.n))
        legal = (entries["flag_bits"] & LEGAL) != 0
        assert [bool(is_legal(s, int(d))) for d in decisions] == legal.tolist()
        swaps = entries["purpose"] == PURPOSE_SWAP
        assert len(set(decisions[~swaps].tolist())) == (~swaps).sum()
        assert legal.any() == (s.phase != Phase.OVER)
        assert not r.entries[r.n :].view(np.uint8).any() if r.n < MAX_CANDIDATES else True
        phases.add(int(s.phase))
    assert phases >= {Phase.PLAY, Phase.BLIND_SELECT, Phase.SHOP} if COMPILED else phases


def test_a_game_played_by_the_list_never_meets_a_refusal() -> None:
    games = Games(32 if COMPILED else 2, discrete=False, reorder="jokers", flat=False, reward="blinds")
    games.reset()
    rng, lists = np.random.default_rng(3), CandidateLister()
    out = np.zeros(games.n, dtype=candidates_t).view(np.recarray)
    ended = 0
    for _ in range(300 if COMPILED else 15):
        lists.write(games, out)
        legal = (out["entries"]["flag_bits"] & LEGAL) != 0
        actions = decisions_of(out["entries"], (rng.random(legal.shape) * legal).argmax(axis=1))
        assert games.refused(actions) == -1
        games.step(actions)
        over = np.flatnonzero(games.outcome)
        ended += len(over)
        games.reset(over)
    assert ended > 0 or not COMPILED


def test_without_jokers_the_first_play_is_the_best() -> None:
    """The reference tries all sets of up to five cards."""
    copies = new_states(2)
    for k in range(40 if COMPILED else 3):
        s = in_round(seed=f"SHORT{k + 111}")
        r = list_candidates(states_of(s))[0]
        _, most = best_hand(s, copies)
        first = next(e for e in r.entries if e["verb"] == Verb.PLAY)
        assert score_of(s, copies, int(first["cards"])) == most
        assert first["estimates"][PLAY.score] == math.floor(20 * math.log10(most) + 0.5)
        assert bool(first["flag_bits"] & BEATS_BLIND) == (most >= s.target)


@pytest.mark.skipif(not COMPILED, reason="many hands")
def test_the_first_play_is_close_to_the_best_with_any_jokers() -> None:
    """Cards are weighed without their jokers' effects; over random line-ups this costs little."""
    rng, copies = np.random.default_rng(5), new_states(2)
    shares = []
    for k in range(120):
        jokers = [Joker(int(j)) for j in rng.choice(np.arange(1, len(JOKERS)), 4, replace=False)]
        s = in_round(*jokers, seed=f"LINEUP{k + 11}")
        r = list_candidates(states_of(s))[0]
        _, most = best_hand(s, copies)
        top = max(score_of(s, copies, int(e["cards"])) for e in r.entries[: r.n] if e["verb"] == Verb.PLAY)
        assert top <= most
        shares.append(top / most if most else 1.0)
    assert np.mean(shares) > 0.95
    assert np.mean(np.array(shares) == 1.0) > 0.6


def states_of(s: np.record) -> np.recarray:
    """Return a batch of this one game."""
    states = new_states(1)
    states[0] = s
    return states


@pytest.mark.parametrize(("seed", "one_chip"), [(11, 0), (12, 1), (13, 1)])
def test_nothing_hidden_is_listed(seed: int, one_chip: int) -> None:
    rng = np.random.default_rng(seed)
    states = some_games(60 if COMPILED else 6, seed, one_chip)
    hide_more(states)
    listed = list_candidates(states).tobytes()
    for s in states:
        shuffle_what_is_hidden(s, rng)
        s.seed[:4] = rng.integers(65, 78, 4)
    assert list_candidates(states).tobytes() == listed


def test_strengths_follow_the_rules() -> None:
    """Computed by hand: base chips and mult of each hand, and the chips of the scored cards."""
    strengths, copies = np.zeros(N_REFERENCE_HANDS), new_states(N_COPIES)
    write_strengths(in_round(), copies, 0, strengths)
    by_hand = {
        Hand.STRAIGHT_FLUSH: (100 + 35) * 8,
        Hand.FOUR_OF_A_KIND: (60 + 32) * 7,
        Hand.FULL_HOUSE: (40 + 44) * 4,
        Hand.FLUSH: (35 + 10 + 10 + 9 + 6 + 3) * 4,
        Hand.STRAIGHT: (30 + 35) * 4,
        Hand.THREE_OF_A_KIND: (30 + 27) * 3,
        Hand.TWO_PAIR: (20 + 32) * 2,
        Hand.PAIR: (10 + 20) * 2,
        Hand.HIGH_CARD: 5 + 11,
    }
    assert strengths.tolist() == [pytest.approx(math.log10(by_hand[hand])) for hand in sorted(by_hand)]


def test_gains_and_losses_of_a_joker_are_those_of_the_rules() -> None:
    strengths, gains, copies = np.zeros(N_REFERENCE_HANDS), np.zeros(N_TESTED_HANDS), new_states(N_COPIES)
    s = in_round()
    item = in_round(Joker.JOKER).jokers[0]
    write_strengths(s, copies, most_common_suit(s), strengths)
    gains_with_joker(copies, 0, strengths, item, -1, gains)
    assert gains[3] == pytest.approx(math.log10(30 * 6 / 60))  # a pair with +4 Mult
    owner = in_round(Joker.JOKER)
    write_strengths(owner, copies, 0, strengths)
    assert strengths[PAIR] == pytest.approx(math.log10(30 * 6))
    gains_without_joker(copies, 0, strengths, 0, gains)
    assert gains[3] == pytest.approx(math.log10(60 / (30 * 6)))
    assert owner.n_jokers == 1


def test_a_joker_without_room_is_offered_for_the_weakest() -> None:
    """Five jokers, one of which has no effect on typical hands: it should be sold for Cavendish."""
    s = in_round(Joker.JOKER, Joker.JOLLY, Joker.GOLDEN, Joker.STUNTMAN, Joker.SLY)
    s.phase, s.dollars, s.n_row = Phase.SHOP, 20, 1
    s.row[0].kind, s.row[0].id, s.row[0].cost = Kind.JOKER, Joker.CAVENDISH, 4
    r = list_candidates(states_of(s))[0]
    (swap,) = [e for e in r.entries[: r.n] if e["purpose"] == PURPOSE_SWAP]
    (buy,) = [e for e in r.entries[: r.n] if e["verb"] == Verb.BUY]
    assert (swap["verb"], swap["target"], swap["item_id"]) == (Verb.SELL_JOKER, 2, buy["item_id"])
    assert not buy["flag_bits"] & LEGAL
    assert swap["estimates"][:N_JOKER_GAINS].tolist() == [128 + round(50 * math.log10(3))] * N_JOKER_GAINS
    step(s, int(decisions_of(r.entries[None], np.flatnonzero(r.entries["purpose"] == PURPOSE_SWAP))[0]))
    bought = list_candidates(states_of(s))[0]
    (buy,) = [e for e in bought.entries[: bought.n] if e["verb"] == Verb.BUY]
    assert buy["flag_bits"] & LEGAL


def test_a_better_order_of_jokers_is_listed_as_a_move() -> None:
    """X3 Mult before +4 Mult scores less than after it."""
    for jokers, wanted in (((Joker.CAVENDISH, Joker.JOKER), [0]), ((Joker.JOKER, Joker.CAVENDISH), [])):
        s = new_run("TESTSEED")
        for i, joker in enumerate(jokers):
            s.jokers[i].kind, s.jokers[i].id = Kind.JOKER, joker
        s.n_jokers = 2
        r = list_candidates(states_of(s))[0]
        assert [int(e["target"]) for e in r.entries[: r.n] if e["verb"] == Verb.MOVE_JOKER] == wanted
        fixed = list_candidates(states_of(s), REORDER_NONE)[0]
        assert Verb.MOVE_JOKER not in fixed.entries["verb"][: fixed.n]


def test_consumables_are_used_on_fitting_cards() -> None:
    s = in_round()
    for i, (rank, suit) in enumerate([(14, 0), (13, 1), (9, 0), (7, 2), (5, 3), (4, 0), (3, 1), (2, 2)]):
        s.cards[s.hand[i]].rank, s.cards[s.hand[i]].suit = rank, suit
    assert cards_for(s, facts_of(s), int(Consumable.HANGED_MAN)) == 0b11000000
    assert cards_for(s, facts_of(s), int(Consumable.MAGICIAN)) == 0b00000011
    assert cards_for(s, facts_of(s), int(Consumable.WORLD)) == 0b00011010  # the best that are not Spades
    s.cards[s.hand[7]].enhancement = Enhancement.GLASS
    assert cards_for(s, facts_of(s), int(Consumable.DEATH)) == 0b11000000  # the 3 becomes a Glass card
    assert cards_for(s, facts_of(s), int(Consumable.PLUTO)) == 0


def test_the_purpose_of_a_play_is_the_hand_that_it_makes() -> None:
    """The play is made in a copy, which reports its poker hand."""
    for s in some_games(60 if COMPILED else 6, 7, 0):
        if s.phase != Phase.PLAY:
            continue
        r = list_candidates(s)[0]
        for e in r.entries[: r.n]:
            if e["verb"] == Verb.PLAY and e["purpose"] and not e["flag_bits"] & PADDED:
                copy = states_of(s)
                step(copy[0], decision_of(e))
                assert copy[0].last_hand == e["purpose"] - 1


def test_one_game_is_listed_as_in_a_batch() -> None:
    states = some_games(6, 12, 1)
    together = list_candidates(states)
    for s, r in zip(states, together, strict=True):
        assert list_candidates(s).tobytes() == states_like(r).tobytes()
        for k in range(r.n):
            assert decision_of(r.entries[k]) == decisions_of(r.entries[None], np.array([k]))[0]


def states_like(r: np.record) -> np.recarray:
    """Return a batch of this one list."""
    out = np.zeros(1, dtype=candidates_t).view(np.recarray)
    out[0] = r
    return out


def test_a_candidate_is_described_in_words() -> None:
    s = in_round()
    for i, (rank, suit) in enumerate([(14, 0), (14, 1), (13, 1), (9, 0), (7, 2), (5, 3), (4, 0), (3, 1)]):
        s.cards[s.hand[i]].rank, s.cards[s.hand[i]].suit = rank, suit
    r = list_candidates(s)[0]
    words = [describe_candidate(s, e) for e in r.entries[: r.n]]
    assert any(
        each.startswith("play AS AH (Pair, scores about 63,") for each in words
    )  # 64, known to a twentieth of a decade
    assert any(each.startswith("discard") and "for a flush" in each for each in words)
    assert len(set(words)) == len(words)
