"""The shortlist: what is listed is legal, scores what it says, and tells nothing hidden."""

import math
import os
from itertools import combinations

import numpy as np
import pytest

from ante.agents.baselines import best_hand
from ante.catalog.cards import Enhancement
from ante.catalog.consumables import Consumable
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, Joker
from ante.engine.actions import Verb, is_legal, pack_action
from ante.engine.play import fuzz
from ante.engine.run import new_run
from ante.engine.state import Kind, Phase, new_states
from ante.engine.step import step
from ante.env.games import Games
from ante.env.layout import new_observations
from ante.env.observe import REORDER_JOKERS, REORDER_NONE, observe
from ante.env.plays import AIM_SWAP, chance_of
from ante.env.probes import (
    FIRST_POWER,
    N_ASKED,
    N_POWERS,
    commonest_suit,
    gains_of_joker,
    losses_of_joker,
    score_of,
    write_powers,
)
from ante.env.shortlist import (
    ENOUGH,
    LEGAL,
    MAX_ENTRIES,
    Shortlists,
    cards_for,
    decisions_of,
    shortlist_t,
)
from tests.env.test_observe import shuffle_what_is_hidden

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
PAIR = int(Hand.PAIR) - FIRST_POWER


class Few:
    """Just what `Shortlists.write` asks of games."""

    def __init__(self, states: np.recarray, reorder: int) -> None:
        self.reorder = reorder
        self.states, self.observations = states, new_observations(len(states))
        for s, o in zip(states, self.observations, strict=True):
            observe(s, o, 1)


def listed(states: np.recarray, reorder: int = REORDER_JOKERS) -> np.recarray:
    """The lists of these games."""
    out = np.zeros(len(states), dtype=shortlist_t).view(np.recarray)
    Shortlists().write(Few(states, reorder), out)  # type: ignore[arg-type]
    return out


def some_games(n: int, seed: int, one_chip: int) -> np.recarray:
    """Games of all decks and stakes, stopped somewhere."""
    states = new_states(n)
    fuzz(states, n * (20 + seed % 60), seed, one_chip, np.zeros(4, dtype=np.int64))
    return states


def in_round(*jokers: Joker, seed: str = "TESTSEED") -> np.record:
    """A game in its first round that owns these jokers."""
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
    for s, r in zip(states, listed(states), strict=True):
        entries = r.entries[: r.n]
        decisions = decisions_of(np.repeat(r.entries[None], r.n, axis=0), np.arange(r.n))
        legal = (entries["marks"] & LEGAL) != 0
        assert [bool(is_legal(s, int(d))) for d in decisions] == legal.tolist()
        swaps = entries["aim"] == AIM_SWAP
        assert len(set(decisions[~swaps].tolist())) == (~swaps).sum()
        assert legal.any() == (s.phase != Phase.OVER)
        assert not r.entries[r.n :].view(np.uint8).any() if r.n < MAX_ENTRIES else True
        phases.add(int(s.phase))
    assert phases >= {Phase.PLAY, Phase.BLIND_SELECT, Phase.SHOP} if COMPILED else phases


def test_a_game_played_by_the_list_never_meets_a_refusal() -> None:
    games = Games(32 if COMPILED else 2, discrete=False, reorder="jokers", flat=False, reward="blinds")
    games.reset()
    rng, lists = np.random.default_rng(3), Shortlists()
    out = np.zeros(games.n, dtype=shortlist_t).view(np.recarray)
    ended = 0
    for _ in range(300 if COMPILED else 15):
        lists.write(games, out)
        legal = (out["entries"]["marks"] & LEGAL) != 0
        actions = decisions_of(out["entries"], (rng.random(legal.shape) * legal).argmax(axis=1))
        assert games.refused(actions) == -1
        games.step(actions)
        over = np.flatnonzero(games.outcome)
        ended += len(over)
        games.reset(over)
    assert ended > 0 or not COMPILED


def test_the_first_play_is_the_best_there_is_without_jokers() -> None:
    """Of all sets of up to five cards, tried one by one."""
    scratch = new_states(2)
    for k in range(40 if COMPILED else 3):
        s = in_round(seed=f"SHORT{k + 111}")
        r = listed(states_of(s))[0]
        _, most = best_hand(s, scratch)
        first = next(e for e in r.entries if e["verb"] == Verb.PLAY)
        assert score_of(s, scratch, int(first["cards"])) == most
        assert first["numbers"][0] == math.floor(20 * math.log10(most) + 0.5)
        assert bool(first["marks"] & ENOUGH) == (most >= s.target)


@pytest.mark.skipif(not COMPILED, reason="many hands")
def test_the_first_play_is_close_to_the_best_with_any_jokers() -> None:
    """The list weighs cards without asking jokers; over random line-ups that costs little."""
    rng, scratch = np.random.default_rng(5), new_states(2)
    shares = []
    for k in range(120):
        jokers = [Joker(int(j)) for j in rng.choice(np.arange(1, len(JOKERS)), 4, replace=False)]
        s = in_round(*jokers, seed=f"LINEUP{k + 11}")
        r = listed(states_of(s))[0]
        _, most = best_hand(s, scratch)
        top = max(score_of(s, scratch, int(e["cards"])) for e in r.entries[: r.n] if e["verb"] == Verb.PLAY)
        assert top <= most
        shares.append(top / most if most else 1.0)
    assert np.mean(shares) > 0.95
    assert np.mean(np.array(shares) == 1.0) > 0.6


def states_of(s: np.record) -> np.recarray:
    """A batch of this one game."""
    states = new_states(1)
    states[0] = s
    return states


@pytest.mark.parametrize(("seed", "one_chip"), [(11, 0), (12, 1), (13, 1)])
def test_nothing_hidden_is_listed(seed: int, one_chip: int) -> None:
    rng = np.random.default_rng(seed)
    states = some_games(60 if COMPILED else 6, seed, one_chip)
    for s in states:
        if s.phase == Phase.PLAY and s.n_hand > 2:
            s.cards[s.hand[1]].face_down = 1
            s.cards[s.hand[2]].face_down = 1
    told = listed(states).tobytes()
    for s in states:
        shuffle_what_is_hidden(s, rng)
        s.seed[:4] = rng.integers(65, 78, 4)
    assert listed(states).tobytes() == told


def test_powers_are_what_the_rules_say() -> None:
    """Worked out by hand: base chips and mult of each hand, and the chips of the cards that score."""
    powers, scratch = np.zeros(N_POWERS), new_states(2)
    write_powers(in_round(), scratch, 0, powers)
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
    assert powers.tolist() == [pytest.approx(math.log10(by_hand[hand])) for hand in sorted(by_hand)]


def test_gains_and_losses_of_a_joker_are_those_of_the_rules() -> None:
    powers, gains, scratch = np.zeros(N_POWERS), np.zeros(N_ASKED), new_states(2)
    s = in_round()
    item = in_round(Joker.JOKER).jokers[0]
    write_powers(s, scratch, commonest_suit(s), powers)
    gains_of_joker(s, scratch, 0, powers, item, -1, gains)
    assert gains[3] == pytest.approx(math.log10(30 * 6 / 60))  # a pair with +4 Mult
    owner = in_round(Joker.JOKER)
    write_powers(owner, scratch, 0, powers)
    assert powers[PAIR] == pytest.approx(math.log10(30 * 6))
    losses_of_joker(owner, scratch, 0, powers, 0, gains)
    assert gains[3] == pytest.approx(math.log10(60 / (30 * 6)))
    assert owner.n_jokers == 1


def test_a_joker_without_room_is_offered_for_the_weakest() -> None:
    """Five jokers, one of which does nothing for typical hands: it is the one to sell for Cavendish."""
    s = in_round(Joker.JOKER, Joker.JOLLY, Joker.GOLDEN, Joker.STUNTMAN, Joker.SLY)
    s.phase, s.dollars, s.n_row = Phase.SHOP, 20, 1
    s.row[0].kind, s.row[0].id, s.row[0].cost = Kind.JOKER, Joker.CAVENDISH, 4
    r = listed(states_of(s))[0]
    (swap,) = [e for e in r.entries[: r.n] if e["aim"] == AIM_SWAP]
    (buy,) = [e for e in r.entries[: r.n] if e["verb"] == Verb.BUY]
    assert (swap["verb"], swap["target"], swap["thing"]) == (Verb.SELL_JOKER, 2, buy["thing"])
    assert not buy["marks"] & LEGAL
    assert swap["numbers"][:N_ASKED].tolist() == [128 + round(50 * math.log10(3))] * N_ASKED
    step(s, int(decisions_of(r.entries[None], np.flatnonzero(r.entries["aim"] == AIM_SWAP))[0]))
    bought = listed(states_of(s))[0]
    (buy,) = [e for e in bought.entries[: bought.n] if e["verb"] == Verb.BUY]
    assert buy["marks"] & LEGAL


def test_a_better_order_of_jokers_is_listed_as_a_move() -> None:
    """X3 Mult before +4 Mult is worse than after it."""
    for jokers, wanted in (((Joker.CAVENDISH, Joker.JOKER), [0]), ((Joker.JOKER, Joker.CAVENDISH), [])):
        s = new_run("TESTSEED")
        for i, joker in enumerate(jokers):
            s.jokers[i].kind, s.jokers[i].id = Kind.JOKER, joker
        s.n_jokers = 2
        r = listed(states_of(s))[0]
        assert [int(e["target"]) for e in r.entries[: r.n] if e["verb"] == Verb.MOVE_JOKER] == wanted
        fixed = listed(states_of(s), REORDER_NONE)[0]
        assert Verb.MOVE_JOKER not in fixed.entries["verb"][: fixed.n]


@pytest.mark.parametrize(
    ("outs", "pile", "draws", "needed"), [(9, 44, 3, 1), (13, 44, 5, 2), (4, 20, 5, 4), (2, 3, 5, 2)]
)
def test_chances_are_those_of_counting(outs: int, pile: int, draws: int, needed: int) -> None:
    drawn = list(combinations(range(pile), min(draws, pile)))
    hits = sum(sum(card < outs for card in cards) >= needed for cards in drawn)
    assert chance_of(outs, pile, min(draws, pile), needed) == pytest.approx(hits / len(drawn))


def test_consumables_are_used_on_fitting_cards() -> None:
    s = in_round()
    for i, (rank, suit) in enumerate([(14, 0), (13, 1), (9, 0), (7, 2), (5, 3), (4, 0), (3, 1), (2, 2)]):
        s.cards[s.hand[i]].rank, s.cards[s.hand[i]].suit = rank, suit
    assert cards_for(s, int(Consumable.HANGED_MAN)) == 0b11000000
    assert cards_for(s, int(Consumable.MAGICIAN)) == 0b00000011
    assert cards_for(s, int(Consumable.WORLD)) == 0b00011010  # the best that are no Spades
    s.cards[s.hand[7]].enhancement = Enhancement.GLASS
    assert cards_for(s, int(Consumable.DEATH)) == 0b11000000  # the 3 becomes a Glass card
    assert cards_for(s, int(Consumable.PLUTO)) == 0
