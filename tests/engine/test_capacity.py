"""Tables of fixed size: entries lost in a full table are counted, and the random streams continue as in the game."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ante.catalog.tags import Tag
from ante.catalog.tags import by_key as tag_by_key
from ante.engine.actions import Verb
from ante.engine.core.rng import RESAMPLE_ROOM, Stream, roll, roll_resample
from ante.engine.core.state import (
    MAX_CARDS,
    MAX_CONSUMABLES,
    MAX_HAND,
    MAX_JOKERS,
    MAX_SHOP_VOUCHERS,
    MAX_TAGS,
    STREAM_SLOTS,
    Place,
    Status,
    Table,
)
from ante.engine.effects.tags import gain_tag
from ante.engine.invariants import Broken, broken
from ante.engine.items.card_array import add_card
from ante.engine.items.owned import create_joker
from ante.engine.items.sources import JokerSource
from ante.engine.run import new_run
from ante.env.games import Games
from tests.support.table import act, begin, deal, give, own, select, to_shop, use


def lost(s: Any) -> dict[Table, int]:
    """Return the number of entries that full tables lost."""
    return {table: int(s.overflows[table]) for table in Table if s.overflows[table]}


def same_streams(one: Any, other: Any) -> bool:
    """Return whether two games have drawn the same random numbers."""
    return bool(
        np.array_equal(one.stream_ids, other.stream_ids) and np.array_equal(one.stream_states, other.stream_states)
    )


def fill_cards(s: Any, count: int) -> None:
    """Fill the full deck to this many cards; the new ones are in no list."""
    while s.n_cards < count:
        add_card(s, 2, 0, 0, 0, 0)
    s.pending_added = 0


def with_jokers(count: int) -> Any:
    s = new_run("TESTSEED")
    s.joker_slots = 30
    own(s, *["j_egg"] * count)
    return s


def test_a_joker_that_finds_no_place_is_drawn_all_the_same() -> None:
    full, roomy = with_jokers(MAX_JOKERS), with_jokers(MAX_JOKERS - 1)
    for s in (full, roomy):
        create_joker(s, int(JokerSource.JUD))
    assert (lost(full), lost(roomy)) == ({Table.JOKERS: 1}, {})
    assert full.n_jokers == roomy.n_jokers == MAX_JOKERS
    assert same_streams(full, roomy)
    joker = roomy.jokers[MAX_JOKERS - 1].id
    assert (full.used[joker], roomy.used[joker]) == (0, 1)
    assert full.jokers[MAX_JOKERS - 1].id == full.jokers[0].id


def test_a_lost_copy_leaves_the_key_of_the_joker_that_is_still_owned() -> None:
    s = with_jokers(MAX_JOKERS - 1)
    own(s, "j_invisible")
    s.jokers[MAX_JOKERS - 1].count = 2
    assert act(s, Verb.SELL_JOKER, MAX_JOKERS - 1) == Status.PLAYING
    assert lost(s) == {Table.JOKERS: 1}
    assert s.used[s.jokers[0].id] == 1
    assert broken(s) == Broken.NOTHING


def shop_with_perkeo(consumables: int) -> Any:
    s = to_shop(begin("j_perkeo"))
    give(s, *["c_pluto"] * consumables)
    assert act(s, Verb.NEXT_ROUND) == Status.PLAYING
    return s


def test_perkeo_draws_whether_or_not_there_is_a_place() -> None:
    full, roomy = shop_with_perkeo(MAX_CONSUMABLES), shop_with_perkeo(MAX_CONSUMABLES - 1)
    assert (lost(full), lost(roomy)) == ({Table.CONSUMABLES: 1}, {})
    assert full.n_consumables == roomy.n_consumables == MAX_CONSUMABLES
    assert same_streams(full, roomy)
    assert broken(full) == Broken.NOTHING


def test_the_emperor_draws_both_tarots_whether_or_not_there_is_a_place() -> None:
    full, roomy = new_run("TESTSEED"), new_run("TESTSEED")
    for s, held in ((full, MAX_CONSUMABLES - 1), (roomy, 0)):
        s.consumable_slots = 40
        give(s, *["c_pluto"] * held)
        assert use(s, "c_emperor") == Status.PLAYING
    assert (lost(full), lost(roomy)) == ({Table.CONSUMABLES: 1}, {})
    assert full.n_consumables == MAX_CONSUMABLES
    assert same_streams(full, roomy)


def test_a_card_that_finds_no_place_is_drawn_all_the_same() -> None:
    games = []
    for count in (MAX_CARDS, MAX_CARDS - 1):
        s = new_run("TESTSEED")
        own(s, "j_marble")
        fill_cards(s, count)
        games.append(select(s, "bl_small"))
    full, roomy = games
    assert (lost(full), lost(roomy)) == ({Table.CARDS: 1}, {})
    assert full.n_cards == roomy.n_cards == MAX_CARDS
    drawn = [game.stream_states[game.stream_ids == 1 + Stream.MARB_FR].tolist() for game in games]
    assert drawn[0] == drawn[1] != []


def test_a_hand_holds_24_cards() -> None:
    s = new_run("TESTSEED")
    s.base_hand_size = MAX_HAND + 6
    assert act(s, Verb.SELECT_BLIND) == Status.PLAYING
    assert s.n_hand == MAX_HAND
    assert s.n_deck == 52 - MAX_HAND
    assert lost(s) == {Table.HAND: 6}
    assert use(s, "c_cryptid", 0) == Status.PLAYING  # its two copies are put under the draw pile
    assert (s.n_hand, s.n_deck) == (MAX_HAND, 52 - MAX_HAND + 2)
    assert lost(s) == {Table.HAND: 6 + 2}
    assert broken(s) == Broken.NOTHING


def test_a_draw_pile_that_ends_with_the_hand_full_loses_nothing() -> None:
    s = deal("S_2", held="S_3")
    s.hand_size = MAX_HAND + 6
    while s.n_deck > MAX_HAND - 1:
        s.n_deck -= 1
        s.cards[s.deck[s.n_deck]].place = Place.GONE
    assert act(s, Verb.DISCARD, cards=(0,)) == Status.PLAYING
    assert (s.n_hand, s.n_deck, lost(s)) == (MAX_HAND, 0, {})


def test_the_25th_tag_is_lost() -> None:
    s = new_run("TESTSEED")
    for _ in range(MAX_TAGS):
        gain_tag(s, int(Tag.JUGGLE), -1)
    assert lost(s) == {}
    gain_tag(s, int(Tag.COUPON), -1)
    assert (s.n_tags, lost(s)) == (MAX_TAGS, {Table.TAGS: 1})
    assert tag_by_key["tag_coupon"] not in s.tags
    assert broken(s) == Broken.NOTHING


def test_a_voucher_tag_without_room_stays_held() -> None:
    s = begin()
    for _ in range(MAX_SHOP_VOUCHERS):  # the voucher of the ante uses one of the places
        gain_tag(s, int(Tag.VOUCHER), -1)
    s = to_shop(s)
    assert (s.n_shop_vouchers, s.n_tags) == (MAX_SHOP_VOUCHERS, 1)
    assert act(s, Verb.BUY_VOUCHER, MAX_SHOP_VOUCHERS) == Status.ILLEGAL
    assert lost(s) == {Table.VOUCHERS: 1}
    assert broken(s) == Broken.NOTHING


def test_a_resample_beyond_192_streams_is_counted_and_starts_afresh() -> None:
    s = new_run("TESTSEED")
    depth = 2
    while s.n_streams < RESAMPLE_ROOM:
        roll_resample(s, int(Stream.TAG), depth)
        depth += 1
    assert (lost(s), broken(s)) == ({}, Broken.NOTHING)
    assert roll_resample(s, int(Stream.TAG), depth) == roll_resample(s, int(Stream.TAG), depth)
    assert lost(s) == {Table.RESAMPLES: 2}
    assert broken(s) == Broken.NOTHING


def test_other_streams_are_stored_up_to_the_last_slot() -> None:
    s = new_run("TESTSEED")
    depth = 2
    while s.n_streams < RESAMPLE_ROOM:
        roll_resample(s, int(Stream.TAG), depth)
        depth += 1
    unused = [stream for stream in Stream if not np.any((s.stream_ids - 1) & 255 == stream)]
    for stream in unused[: STREAM_SLOTS - 1 - RESAMPLE_ROOM]:
        assert roll(s, int(stream)) != roll(s, int(stream))
    assert (s.n_streams, lost(s)) == (STREAM_SLOTS - 1, {})
    last = int(unused[STREAM_SLOTS - 1 - RESAMPLE_ROOM])
    assert roll(s, last) == roll(s, last)
    assert lost(s) == {Table.STREAMS: 2}
    assert broken(s) == Broken.STREAMS


COUNTED: dict[Table, Callable[[], None]] = {
    Table.CARDS: test_a_card_that_finds_no_place_is_drawn_all_the_same,
    Table.HAND: test_a_hand_holds_24_cards,
    Table.JOKERS: test_a_joker_that_finds_no_place_is_drawn_all_the_same,
    Table.CONSUMABLES: test_perkeo_draws_whether_or_not_there_is_a_place,
    Table.TAGS: test_the_25th_tag_is_lost,
    Table.VOUCHERS: test_a_voucher_tag_without_room_stays_held,
    Table.RESAMPLES: test_a_resample_beyond_192_streams_is_counted_and_starts_afresh,
    Table.STREAMS: test_other_streams_are_stored_up_to_the_last_slot,
}


def test_every_table_is_filled_by_a_test() -> None:
    assert set(COUNTED) == set(Table)


@pytest.mark.parametrize("table", Table)
def test_a_count_below_zero_is_an_invariant_broken(table: Table) -> None:
    s = new_run("TESTSEED")
    s.overflows[table] = -1
    assert broken(s) == Broken.OVERFLOWS


def test_info_shows_what_full_tables_lost() -> None:
    games = Games(2)
    games.reset()
    assert games.info()["overflows"].tolist() == [0, 0]
    games.states[1].overflows[Table.TAGS] = 2
    games.states[1].overflows[Table.HAND] = 3
    assert games.info()["overflows"].tolist() == [0, 5]
