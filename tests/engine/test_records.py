"""The record of a game and its tables: streams of sources, keys of the used set, copies of cards, read-only access."""

import os
import subprocess
import sys
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from ante.catalog.consumables import Consumable
from ante.catalog.jokers import Joker
from ante.engine.core.rng import KEYS, Stream
from ante.engine.core.state import MAX_CARDS, Kind, Phase, card_t, item_t, new_states
from ante.engine.effects.verbs import copy_card
from ante.engine.invariants import Broken, broken
from ante.engine.items import sources
from ante.engine.items.card_array import add_card, add_card_item, put_in_deck
from ante.engine.items.making import begin_item, make_joker, make_planet, make_playing_card, make_spectral, make_tarot
from ante.engine.items.sources import CardSource, JokerSource, PlanetSource, SpectralSource, TarotSource, streams_of
from ante.engine.run import new_run, restart
from tests.support.table import begin, facing, to_shop


def drawn(make: Any, *args: Any) -> set[str]:
    """Return the texts of the keys from which a maker draws, without resampling."""
    s = new_run("TESTSEED")
    s.stream_ids[:] = 0
    s.n_streams = 0
    make(s, *args)
    ids = [int(identity) for identity in s.stream_ids if identity and identity >> 20 == 0]
    return {"".join(KEYS[Stream((identity - 1) & 255).name][:2]) for identity in ids}


def text(source: IntEnum) -> str:
    return "8ba" if source == TarotSource.EIGHT_BALL and isinstance(source, TarotSource) else source.name.lower()


@pytest.mark.parametrize("source", JokerSource)
def test_a_joker_of_each_source_draws_from_its_own_streams(source: JokerSource) -> None:
    keys = drawn(make_joker, int(source), False, False)
    legendary = source == JokerSource.SOU
    named = {"Joker4"} if legendary else {f"Joker{rarity}{text(source)}" for rarity in (1, 2, 3)}
    assert len(keys & named) == 1
    rarity = {f"rarity{text(source)}"} if text(source) in ("sho", "buf", "jud", "sou") else set()
    assert keys - named - {"to_do"} == rarity | {f"edi{text(source)}"}


@pytest.mark.parametrize("source", [*TarotSource, *PlanetSource, *SpectralSource])
def test_a_consumable_of_each_source_draws_from_its_own_stream(source: IntEnum) -> None:
    make, name = {
        TarotSource: (make_tarot, "Tarot"),
        PlanetSource: (make_planet, "Planet"),
        SpectralSource: (make_spectral, "Spectral"),
    }[type(source)]
    assert drawn(make, int(source), False) == {name + text(source)}


@pytest.mark.parametrize("source", CardSource)
def test_a_playing_card_of_each_source_draws_from_its_own_streams(source: CardSource) -> None:
    assert drawn(make_playing_card, int(source), True) == {f"Enhanced{text(source)}", f"front{text(source)}"}


def test_a_source_without_a_declared_stream_is_an_error() -> None:
    moon = IntEnum("moon", {"SHO": 0, "MOON": 1})
    with pytest.raises(KeyError, match="TAROT_MOON"):
        streams_of("TAROT", moon)
    tables = [table for name, table in vars(sources).items() if name.endswith("_STREAM")]
    assert len(tables) == 8
    assert all((table >= 0).all() and (table < len(KEYS)).all() for table in tables)


def test_every_item_has_a_key_of_its_own_in_the_used_set() -> None:
    s = new_run("TESTSEED")
    keys = []
    for kind, numbers in ((Kind.JOKER, range(1, len(Joker))), (Kind.CONSUMABLE, range(1, len(Consumable)))):
        for number in numbers:
            s.used[:] = 0
            begin_item(s, int(kind), number)
            keys += np.flatnonzero(s.used).tolist()
    assert len(set(keys)) == len(keys) == len(Joker) - 1 + len(Consumable) - 1


@pytest.mark.parametrize("kind", [Kind.JOKER, Kind.CONSUMABLE, Kind.PLAYING_CARD])
def test_a_new_item_has_nothing_of_the_previous_one(kind: Kind) -> None:
    s = new_run("TESTSEED")
    for name in item_t.names:
        s.made[name] = 1
    s.created, s.cards_made = 20, 60
    begin_item(s, int(kind), 7)
    created = {Kind.PLAYING_CARD: 61}.get(kind, 21)
    assert {name: s.made[name] for name in item_t.names if s.made[name]} == {"kind": kind, "id": 7, "created": created}
    assert (s.created, s.cards_made) == ((20, 61) if kind == Kind.PLAYING_CARD else (21, 60))


def test_a_card_goes_under_the_draw_pile() -> None:
    s = new_run("TESTSEED")
    pile = s.deck[:52].tolist()
    for _ in range(52, MAX_CARDS):
        put_in_deck(s, add_card(s, 2, 0, 0, 0, 0))
    assert s.deck[: s.n_deck].tolist() == [*range(MAX_CARDS - 1, 51, -1), *pile]


def test_a_restarted_run_is_equal_to_a_new_one_and_leaves_its_neighbour_alone() -> None:
    states = new_states(2)
    states[0] = states[1] = to_shop(begin("j_egg", held=("c_pluto",)))
    neighbour = states[1].tobytes()
    restart(states[0], 0, 1, 0)
    assert states[0].tobytes() == new_run("TESTSEED").tobytes()
    assert states[1].tobytes() == neighbour


def test_a_copied_card_keeps_its_age_its_place_and_what_the_hand_gave_it() -> None:
    s = new_run("TESTSEED")
    for name in card_t.names:
        s.cards[0][name], s.cards[1][name] = 3, 5
    copy_card(s, 0, 1)
    kept = {name for name in card_t.names if s.cards[1][name] == 5}
    assert kept == {"first_suit", "created", "place", "face_down", "forced"}
    assert all(s.cards[0][name] == 3 for name in card_t.names)


def test_a_card_that_is_older_than_others_goes_before_them_with_everything_it_is() -> None:
    s = new_run("TESTSEED")
    item = s.made
    begin_item(s, int(Kind.PLAYING_CARD), 7)
    item.rank, item.suit, item.enhancement, item.edition, item.seal = 9, 2, 3, 1, 4
    younger = [add_card(s, 4 + i, i, i, 0, 0) for i in range(3)]
    for i, index in enumerate(younger):
        s.cards[index].bonus, s.cards[index].worn = 10 + i, i & 1
        put_in_deck(s, index)
    before = [s.cards[index].tobytes() for index in younger]
    below = s.deck[:3].tolist()
    index = add_card_item(s, item)
    assert index == younger[0]
    assert [s.cards[index + 1 + i].tobytes() for i in range(3)] == before
    assert s.deck[:3].tolist() == [card + 1 for card in below]
    card = s.cards[index]
    assert [int(card[name]) for name in ("rank", "suit", "enhancement", "edition", "seal", "bonus", "worn")] == [
        *(9, 2, 3, 1, 4),
        *(0, 0),
    ]


@pytest.mark.parametrize("phase", [min(Phase) - 1, max(Phase) + 1])
def test_a_phase_that_does_not_exist_is_broken(phase: int) -> None:
    s = facing("bl_small")
    s.phase = phase
    assert broken(s) == Broken.PHASE


@pytest.mark.parametrize(("ante", "nan"), [(38, False), (39, True), (60, True)])
def test_late_antes_ask_for_a_number_that_is_none(ante: int, nan: bool) -> None:
    s = facing("bl_small", ante=ante)
    assert (s.target != s.target) == nan
    assert broken(s) == Broken.NOTHING


def test_a_target_that_is_none_is_broken_in_an_ante_that_has_one() -> None:
    s = facing("bl_small", ante=8)
    s.target = float("nan")
    assert broken(s) == Broken.ROUND
    s.target = 0.0
    assert broken(s) == Broken.ROUND


LOOK = """
import numpy as np
from ante.catalog.consumables import Consumable
from ante.engine.actions import N_DISCRETE, legal_mask
from ante.engine.core.state import new_states
from ante.engine.drivers.random_play import fuzz
from ante.engine.items.owned import create_given_consumable
from ante.env.layout import new_observations
from ante.env.observe import REORDER_ALL, observe
states = new_states(6)
fuzz(states, 150, 3, 1, np.zeros(4, dtype=np.int64))
for s in states:
    s.selected = 0b111 if s.n_hand >= 3 else 0
    create_given_consumable(s, int(Consumable.EMPEROR))
states.setflags(write=False)
try:
    states[0].dollars = 1
except ValueError:
    print("read-only")
for s in states:
    legal_mask(s, np.zeros(N_DISCRETE, dtype=np.uint8))
    observe(s, new_observations(1)[0], REORDER_ALL)
print(sum(int(s.selected > 0) for s in states), sum(int(s.n_consumables) for s in states))
"""


def test_observing_writes_nothing_even_temporarily() -> None:
    """Uncompiled, since compiled code does not check whether an array may be written."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", LOOK], env=environment, capture_output=True, text=True, check=True)
    refused, seen = done.stdout.splitlines()
    assert refused == "read-only"
    assert min(int(number) for number in seen.split()) > 0
