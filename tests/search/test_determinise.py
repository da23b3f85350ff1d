"""Determinised copies: everything seen is kept, nothing unseen is, and the copies are playable games."""

import numpy as np
import pytest

from ante.catalog.blinds import Blind
from ante.catalog.cards import Sticker
from ante.catalog.jokers import Joker
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import Phase, Place, copy_states, new_states
from ante.engine.drivers.random_play import fuzz
from ante.engine.effects.verbs import is_face
from ante.engine.invariants import Broken, broken
from ante.engine.run import new_run, set_seed
from ante.engine.step import step
from ante.env.layout import new_observations
from ante.env.observe import observe_all
from ante.search.determinise import determinised
from tests.env.test_observe import COMPILED, round_with_jokers
from tests.support.hidden import change_fronts_and_order, hide_more
from tests.support.perturb import fingerprint

SEED = np.array([12345], dtype=np.uint64)


def some_games(seed: int, one_chip: int, n: int = 60 if COMPILED else 6) -> np.recarray:
    """Return games of all decks and stakes, stopped at random steps, with much that is hidden."""
    states = new_states(n)
    fuzz(states, n * (20 + seed % 60), seed, one_chip, np.zeros(4, dtype=np.int64))
    hide_more(states)
    return states


def copies_of(states: np.recarray, seed: int = 7) -> np.recarray:
    """Return one copy of each game; the seeds of the copies follow from `seed`."""
    seeds = np.random.default_rng(seed).integers(1, 1 << 62, len(states)).astype(np.uint64)
    return determinised(states, np.arange(len(states)), seeds)


def observed(states: np.recarray) -> bytes:
    """Return the observations of games as bytes."""
    out = new_observations(len(states))
    observe_all(states, out, 2)
    return out.tobytes()


def change_what_is_hidden(s: np.record, rng: np.random.Generator) -> None:
    """Give a game another hidden state that agrees with what its player has seen."""
    set_seed(s, "".join(chr(c) for c in rng.integers(65, 79, 8)))
    s.seed_hash = rng.random()
    s.stream_states[:] = rng.random(s.stream_states.shape)
    s.deck[: s.n_deck] = rng.permutation(s.deck[: s.n_deck])
    s.order[:] = rng.permutation(s.order)
    s.made = s.row[0]
    if s.round_number == 0 or (s.phase == Phase.ROUND_END and s.beat_boss):
        s.voucher_this_ante = 1 + int(s.voucher_this_ante) % 30
    change_fronts_and_order(s, rng)
    targeted = (Joker.IDOL, Joker.MAIL, Joker.ANCIENT, Joker.CASTLE)
    if not any(s.jokers[i].id in targeted for i in range(s.n_jokers)):
        if s.phase in (Phase.PLAY, Phase.BLIND_SELECT, Phase.ROUND_END):
            s.idol_rank, s.idol_suit, s.mail_rank, s.ancient_suit, s.castle_suit = 9, 2, 5, 1, 3
    exchange_face_down(s, rng)


def exchange_face_down(s: np.record, rng: np.random.Generator) -> None:
    """Exchange each face-down card of the hand with a card of the draw pile."""
    for i in range(s.n_hand):
        down = int(s.hand[i])
        if s.cards[down].face_down and s.n_deck:
            at = rng.integers(s.n_deck)
            other = int(s.deck[at])
            s.hand[i], s.deck[at] = other, down
            for name in ("place", "face_down", "forced"):
                s.cards[down][name], s.cards[other][name] = s.cards[other][name], s.cards[down][name]


@pytest.mark.parametrize(("seed", "one_chip"), [(1, 0), (2, 1), (3, 1), (40, 0), (55, 1)])
def test_everything_seen_stays(seed: int, one_chip: int) -> None:
    states = some_games(seed, one_chip)
    before = states.tobytes()
    copies = copies_of(states)
    assert observed(copies) == observed(states)
    assert states.tobytes() == before


@pytest.mark.parametrize(("seed", "one_chip"), [(11, 0), (12, 1), (13, 1), (44, 1)])
def test_games_that_agree_in_what_is_seen_have_equal_copies(seed: int, one_chip: int) -> None:
    states = some_games(seed, one_chip)
    rng = np.random.default_rng(seed)
    others = copy_states(states)
    for s in others:
        change_what_is_hidden(s, rng)
    assert observed(others) == observed(states)
    for one, other in zip(copies_of(states), copies_of(others), strict=True):
        assert fingerprint(one) == fingerprint(other)


def test_another_seed_draws_another_world() -> None:
    states = some_games(5, 0)
    one, other = copies_of(states, 1), copies_of(states, 2)
    for s, a, b in zip(states, one, other, strict=True):
        assert a.seed.tobytes() != b.seed.tobytes()
        if s.n_deck > 20:
            assert a.deck[: a.n_deck].tolist() != b.deck[: b.n_deck].tolist()
            assert sorted(a.deck[: a.n_deck]) == sorted(s.deck[: s.n_deck]) or any(
                s.cards[s.hand[i]].face_down for i in range(s.n_hand)
            )


def test_copies_are_sound_games_with_the_streams_of_a_new_seed() -> None:
    copies = copies_of(some_games(30, 1))
    for s in copies:
        assert broken(s) == Broken.NOTHING
        fresh = new_run("".join(chr(c) for c in s.seed[: s.seed_length]))
        assert fresh.seed_hash == s.seed_hash
        assert s.n_streams == np.count_nonzero(s.stream_ids) < 20  # targets, hands of tags, a voucher with resamples


def test_every_order_of_the_pile_is_equally_likely() -> None:
    """The card on top of the pile: 44 unseen cards, each drawn about as often as the others."""
    s = new_run("TESTSEED")
    step(s, pack_action(Verb.SELECT_BLIND, 0, 0, 0))
    n = 4400 if COMPILED else 440
    seeds = np.random.default_rng(1).integers(1, 1 << 62, n).astype(np.uint64)
    copies = determinised(np.atleast_1d(s).view(np.recarray), np.zeros(n, dtype=np.int64), seeds)
    tops = copies["deck"][:, s.n_deck - 1]
    counts = np.bincount(tops, minlength=52)[np.sort(s.deck[: s.n_deck])]
    expected = n / 44
    assert ((counts - expected) ** 2 / expected).sum() < 80  # chi-square, 43 degrees of freedom, p < 0.001


def test_face_down_cards_of_the_mark_stay_face_cards() -> None:
    s = new_run("TESTSEED")
    step(s, pack_action(Verb.SELECT_BLIND, 0, 0, 0))
    s.blind = Blind.MARK
    for i in range(s.n_hand):
        s.cards[s.hand[i]].face_down = 1 if is_face(s, int(s.hand[i])) else 0
    down = [i for i in range(s.n_hand) if s.cards[s.hand[i]].face_down]
    assert down
    held = set()
    for seed in range(1, 30):
        (copy,) = determinised(np.atleast_1d(s).view(np.recarray), np.zeros(1, np.int64), SEED + np.uint64(seed << 40))
        for i in down:
            assert is_face(copy, int(copy.hand[i]))
            assert copy.cards[copy.hand[i]].face_down
            assert copy.cards[copy.hand[i]].place == Place.HAND
            held.add(int(copy.hand[i]))
    assert len(held) > 4


def test_amber_acorn_hides_the_order_from_copies() -> None:
    s = round_with_jokers(Joker.JOKER, Joker.EGG, Joker.IDOL, Joker.JOLLY)
    for i in range(4):
        s.jokers[i].created = 10 + i
    s.blind = Blind.FINAL_ACORN
    orders = set()
    for seed in range(1, 20):
        one = copies_of(np.atleast_1d(s).view(np.recarray), seed)[0]
        orders.add(tuple(one.jokers["id"][:4]))
        other = s.copy()
        other.jokers[:4] = other.jokers[:4][[2, 0, 3, 1]]
        assert fingerprint(copies_of(np.atleast_1d(other).view(np.recarray), seed)[0]) == fingerprint(one)
    assert len(orders) > 8


def test_amber_acorn_shows_which_slots_can_be_sold() -> None:
    """An Eternal joker cannot be sold: the mask of legal actions shows its slot, and a copy has one there, too."""
    s = round_with_jokers(Joker.JOKER, Joker.EGG, Joker.IDOL, Joker.JOLLY, Joker.BARON)
    for i in range(5):
        s.jokers[i].created = 10 + i
    s.jokers[1].stickers = s.jokers[3].stickers = Sticker.ETERNAL
    s.blind = Blind.FINAL_ACORN
    states, orders = np.atleast_1d(s).view(np.recarray), set()
    for seed in range(1, 40):
        copies = copies_of(states, seed)
        assert observed(copies) == observed(states)
        orders.add(tuple(copies[0].jokers["id"][:5]))
        other = s.copy()
        other.jokers[:5] = other.jokers[:5][[4, 3, 0, 1, 2]]
        assert observed(np.atleast_1d(other).view(np.recarray)) == observed(states)
        assert fingerprint(copies_of(np.atleast_1d(other).view(np.recarray), seed)[0]) == fingerprint(copies[0])
    assert len(orders) == 12  # 2! orders of the Eternal ones, 3! of the others


def test_the_voucher_is_redrawn_only_until_a_shop_shows_it() -> None:
    s = new_run("TESTSEED")
    states = np.atleast_1d(s).view(np.recarray)
    assert len({int(copies_of(states, seed)[0].voucher_this_ante) for seed in range(20)}) > 5
    s.round_number, s.phase = 1, Phase.SHOP
    states = np.atleast_1d(s).view(np.recarray)
    assert {int(copies_of(states, seed)[0].voucher_this_ante) for seed in range(20)} == {int(s.voucher_this_ante)}
