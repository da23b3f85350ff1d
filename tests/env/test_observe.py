"""Observations contain everything that the player sees and no hidden state."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ante.catalog.blinds import Blind
from ante.catalog.jokers import Joker
from ante.engine.core.state import Debuff, Kind, Phase, Place, new_states
from ante.engine.drivers.random_play import fuzz
from ante.engine.run import new_run
from ante.engine.step import step_discrete
from ante.env.flat import flatten, observe_flat
from ante.env.layout import (
    AT,
    FIELDS,
    FLAT,
    FLAT_LIMIT,
    FLAT_SIZE,
    RUN,
    as_text,
    dict_space,
    new_observations,
    observation_t,
)
from ante.env.observe import observe, observe_all
from ante.env.text import action_name, describe
from tests.support.hidden import change_fronts_and_order, hide_more

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
GAMES = 120 if COMPILED else 15


def played(seed: int, one_chip: int = 1, games: int = GAMES) -> np.recarray:
    """Return games of all decks and stakes, stopped at random steps."""
    states = new_states(games)
    fuzz(states, games * (10 + seed % 50), seed, one_chip, np.zeros(4, dtype=np.int64))
    return states


def seen(s: np.record) -> tuple[bytes, str]:
    """Return everything that the player sees of one game: observation and text."""
    out = new_observations(1)
    observe(s, out[0], 2)
    return out.tobytes(), describe(s)


def test_fields_are_as_documented() -> None:
    for f in FIELDS:
        assert observation_t[f.name].shape == f.shape
        assert observation_t[f.name].base == np.dtype(f.dtype)
        if f.columns:
            assert f.shape[-1] == len(f.columns), f.name
    assert sum(width for _, width, _ in FLAT) == FLAT_SIZE < 1200
    assert str(FLAT_SIZE) in as_text()


@pytest.mark.parametrize("one_chip", [0, 1])
def test_every_observation_lies_in_its_space(one_chip: int) -> None:
    states = played(40, one_chip)
    out = new_observations(len(states))
    flat = np.full((len(states), FLAT_SIZE), np.nan, dtype=np.float32)
    observe_flat(states, out, flat, 2)
    space = dict_space()
    for o in out:
        assert space.contains({name: np.asarray(o[name]) for name in observation_t.names})
    assert np.isfinite(flat).all()
    assert np.abs(flat).max() <= FLAT_LIMIT
    again = new_observations(len(states))
    observe_all(states, again, 2)
    assert again.tobytes() == out.tobytes()


def test_looking_changes_nothing() -> None:
    states = played(33)
    for s in states:
        if s.phase == Phase.PLAY:
            s.selected |= 0b101
    before = states.tobytes()
    observe_all(states, new_observations(len(states)), 2)
    for s in states:
        describe(s)
    assert states.tobytes() == before


@settings(max_examples=20 if COMPILED else 2, deadline=None)
@given(seed=st.integers(0, 10_000), one_chip=st.integers(0, 1))
def test_nothing_hidden_is_told(seed: int, one_chip: int) -> None:
    rng = np.random.default_rng(seed)
    states = played(seed, one_chip, 30 if COMPILED else 6)
    hide_more(states)
    for s in states:
        observed = seen(s)
        shuffle_what_is_hidden(s, rng)
        assert seen(s) == observed


def shuffle_what_is_hidden(s: np.record, rng: np.random.Generator) -> None:
    """Change the hidden state of a game: draw order, face-down cards, random streams, future items."""
    n = int(s.n_deck)
    s.deck[:n] = rng.permutation(s.deck[:n])
    s.stream_states[:] = rng.random(s.stream_states.shape)
    s.seed_hash = rng.random()
    s.used[:] = rng.integers(0, 2, s.used.shape)
    s.boss_uses[:] = 1
    s.voucher_this_ante = 1 + (int(s.voucher_this_ante) + 1) % 32
    s.order[:] = rng.permutation(s.order)
    if not any(s.jokers[i].id in (Joker.IDOL, Joker.MAIL, Joker.ANCIENT, Joker.CASTLE) for i in range(s.n_jokers)):
        if s.phase in (Phase.PLAY, Phase.BLIND_SELECT, Phase.ROUND_END):
            s.idol_rank, s.idol_suit, s.mail_rank, s.ancient_suit, s.castle_suit = 9, 2, 5, 1, 3
    if s.phase not in (Phase.SHOP, Phase.PACK):
        s.row[0] = s.jokers[0]
        s.pack[0] = s.jokers[0]
    swap_face_down(s, rng)
    change_fronts_and_order(s, rng)


def swap_face_down(s: np.record, rng: np.random.Generator) -> None:
    """Swap each face-down card with a card of the draw pile; editions stay, since Aura depends on them."""
    for i in range(s.n_hand):
        down = s.cards[s.hand[i]]
        if not down.face_down or s.n_deck == 0:
            continue
        other = s.cards[s.deck[rng.integers(s.n_deck)]]
        if down.edition or other.edition:
            continue
        for name in ("rank", "suit", "first_suit", "enhancement", "seal", "bonus", "debuffed"):
            down[name], other[name] = other[name], down[name]


def test_amber_acorn_hides_the_order_of_the_jokers() -> None:
    s = round_with_jokers(Joker.JOKER, Joker.EGG, Joker.IDOL, Joker.JOKER)
    s.jokers[3].value = 7.0
    s.blind = Blind.FINAL_ACORN
    observed = seen(s)
    for order in ([3, 2, 1, 0], [1, 3, 0, 2]):
        s.jokers[:4] = s.jokers[:4][order]
        assert seen(s) == observed
    s.boss_disabled = 1
    assert seen(s) != observed


def test_a_joker_that_crimson_heart_disables_looks_like_any_disabled_one() -> None:
    s = round_with_jokers(Joker.JOKER, Joker.EGG)
    s.jokers[0].debuffed = 1
    plain = seen(s)
    s.jokers[0].debuffed = Debuff.CRIMSON_HEART
    assert seen(s) == plain


def round_with_jokers(*jokers: Joker) -> np.record:
    """Return a game in its first round that owns these jokers."""
    s = new_run("TESTSEED")
    step_discrete(s, 27)
    for i, joker in enumerate(jokers):
        s.jokers[i].kind = Kind.JOKER
        s.jokers[i].id = joker
    s.n_jokers = len(jokers)
    return s


def test_a_discarded_face_down_card_stays_unknown() -> None:
    s = new_run("TESTSEED")
    step_discrete(s, 27)
    out = new_observations(1)[0]
    s.cards[s.hand[0]].face_down = 1
    observe(s, out, 2)
    assert out.unknown.sum() == 45
    step_discrete(s, 0)
    step_discrete(s, 26)
    observe(s, out, 2)
    assert out.unknown.sum() == 44
    assert [c.place for c in s.cards[:52]].count(Place.DECK) == 43


def test_the_selected_hand_is_shown() -> None:
    s = new_run("TESTSEED")
    step_discrete(s, 27)
    out = new_observations(1)[0]
    observe(s, out, 2)
    assert out.run[RUN.selected_hand] == 0
    step_discrete(s, 0)
    observe(s, out, 2)
    assert out.run[RUN.selected_hand] == 12  # High Card
    flat = np.zeros(FLAT_SIZE, dtype=np.float32)
    flatten(out, flat)
    assert flat[AT.selected_hand + 11] == 1.0
    s.cards[s.hand[0]].face_down = 1
    observe(s, out, 2)
    assert out.run[RUN.selected_hand] == 0


def test_what_jokers_look_at_is_told_only_with_the_joker() -> None:
    out = new_observations(1)[0]
    s = round_with_jokers(Joker.JOKER)
    observe(s, out, 2)
    assert not out.targets.any()
    s = round_with_jokers(Joker.IDOL, Joker.CASTLE)
    observe(s, out, 2)
    assert out.targets.tolist() == [s.idol_rank, 1 + s.idol_suit, 0, 0, 1 + s.castle_suit]


def test_every_action_has_words() -> None:
    for s in played(25, games=15):
        for index in range(-1, 144):
            assert action_name(s, index)
