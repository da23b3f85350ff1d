"""Each tag: the reward for skipping a blind, and its moment."""

from typing import Any

import pytest

from ante.catalog.jokers import JOKERS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb
from ante.engine.core.state import Kind, Phase, Status
from ante.engine.items.pools import draw_tag
from ante.engine.items.prices import shop_price
from ante.engine.notation import item_text
from ante.engine.run import new_run
from tests.support.table import (
    act,
    consumables,
    discard,
    facing,
    give,
    jokers,
    own,
    play,
    select,
    skip_for,
    to_shop,
    win,
)

FROM_ANTE_2 = {
    "tag_negative",
    "tag_standard",
    "tag_meteor",
    "tag_buffoon",
    "tag_handy",
    "tag_garbage",
    "tag_ethereal",
    "tag_top_up",
    "tag_orbital",
}
EDITION_TAGS = [
    ("tag_foil", "foil"),
    ("tag_holo", "holo"),
    ("tag_polychrome", "polychrome"),
    ("tag_negative", "negative"),
]
SEEDS = [f"PLAIN{n}" for n in range(9)]  # no early shop joker of these seeds has an edition


def skip(*tags: str, seed: str = "TESTSEED") -> Any:
    """Return a run whose first blinds were skipped for these tags."""
    return skip_for(new_run(seed), *tags)


def shop_after(*tags: str, seed: str = "TESTSEED") -> Any:
    """Return the first shop after the Small Blind was skipped, entered with these tags."""
    s = skip(tags[0], seed=seed)
    for tag in tags[1:]:
        s.tags[s.n_tags] = next(row.tag for row in TAGS if row.key == tag)
        s.n_tags += 1
    to_shop(select(s, "bl_big"))
    s.dollars = 100
    return s


def next_shop(s: Any, blind: str) -> Any:
    """Return the shop after one more blind."""
    act(s, Verb.NEXT_ROUND)
    return to_shop(select(s, blind))


def tags(s: Any) -> list[str]:
    return [TAGS[s.tags[i]].key for i in range(s.n_tags)]


def row(s: Any) -> list[Any]:
    return [s.row[i] for i in range(s.n_row)]


def shop_jokers(s: Any) -> list[Any]:
    return [item for item in row(s) if item.kind == Kind.JOKER]


def paid_for(s: Any, verb: Verb, slot: int = 0) -> int:
    """Return the dollars that a decision cost."""
    before = int(s.dollars)
    assert act(s, verb, slot) == Status.PLAYING
    return before - int(s.dollars)


def test_a_tag_is_offered_from_its_first_ante_on() -> None:
    first, later = set(), set()
    for n in range(150):
        s = new_run(f"OFFER{n}")
        first |= {TAGS[tag].key for tag in s.skip_tags}
        s = to_shop(facing("bl_hook", seed=f"OFFER{n}"))
        later |= {TAGS[tag].key for tag in s.skip_tags}
    assert later == {tag.key for tag in TAGS[1:]}
    assert first == later - FROM_ANTE_2


@pytest.mark.parametrize(("tag", "rarity"), [("tag_uncommon", 2), ("tag_rare", 3)])
@pytest.mark.parametrize("seed", SEEDS)
def test_uncommon_and_rare_put_a_free_joker_into_the_shop(tag: str, rarity: int, seed: str) -> None:
    s = shop_after(tag, seed=seed)
    first = row(s)[0]
    assert (first.kind, JOKERS[first.id].rarity, shop_price(first)) == (Kind.JOKER, rarity, 0)
    assert s.n_row == 2
    assert shop_price(row(s)[1]) > 0
    assert tags(s) == []
    assert paid_for(s, Verb.BUY) == 0


def test_uncommon_and_rare_together_fill_the_row() -> None:
    s = shop_after("tag_rare", "tag_uncommon")
    assert [JOKERS[item.id].rarity for item in row(s)] == [3, 2]


@pytest.mark.parametrize(("tag", "edition"), EDITION_TAGS)
@pytest.mark.parametrize("seed", SEEDS)
def test_negative_foil_holo_and_polychrome_change_the_next_shop_joker(tag: str, edition: str, seed: str) -> None:
    s = shop_after(tag, seed=seed)
    while not shop_jokers(s):
        assert tags(s) == [tag]
        assert act(s, Verb.REROLL) == Status.PLAYING
    first, *others = shop_jokers(s)
    assert item_text(first).endswith(f"/{edition}")
    assert shop_price(first) == 0
    assert all(item.edition == 0 and shop_price(item) > 0 for item in others)
    assert tags(s) == []
    act(s, Verb.REROLL)
    assert all(shop_price(item) > 0 for item in row(s))


def test_foil_leaves_a_joker_that_has_an_edition_alone() -> None:
    left_alone = 0
    for n in range(200):
        plain = [item_text(item) for item in row(shop_after("tag_skip", seed=f"EDITION{n}"))]
        if "/" in plain[0] and plain[0].startswith("j_"):
            s = shop_after("tag_foil", seed=f"EDITION{n}")
            assert item_text(row(s)[0]) == plain[0]
            assert shop_price(row(s)[0]) > 0
            left_alone += 1
    assert left_alone > 0


def test_investment_pays_25_after_the_next_boss() -> None:
    s = select(skip("tag_investment"), "bl_big")
    s.dollars = 0
    win(s)
    assert s.payout == 4 + 3
    act(s, Verb.CASH_OUT)
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_hook")
    s.dollars = 0
    win(s)
    assert s.payout == 5 + 3 + 25
    assert tags(s) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_voucher_adds_a_voucher_to_the_next_shop(seed: str) -> None:
    s = shop_after("tag_voucher", seed=seed)
    shown = [VOUCHERS[s.shop_vouchers[i]] for i in range(s.n_shop_vouchers)]
    assert len({voucher.key for voucher in shown}) == 2
    assert all(voucher.requires == () for voucher in shown)
    assert s.shop_vouchers[0] == s.voucher_this_ante
    assert paid_for(s, Verb.BUY_VOUCHER, 1) == 10
    assert s.vouchers[shown[1].voucher] == 1
    assert next_shop(s, "bl_hook").n_shop_vouchers == 1


def test_boss_draws_another_boss() -> None:
    s = new_run("TESTSEED")
    before = int(s.boss)
    skip_for(s, "tag_boss")
    assert s.boss != before
    assert tags(s) == []


@pytest.mark.parametrize(
    ("tag", "size", "picks", "kind"),
    [
        ("tag_standard", 5, 2, Kind.PLAYING_CARD),
        ("tag_charm", 5, 2, Kind.CONSUMABLE),
        ("tag_meteor", 5, 2, Kind.CONSUMABLE),
        ("tag_buffoon", 4, 2, Kind.JOKER),
        ("tag_ethereal", 2, 1, Kind.CONSUMABLE),
    ],
)
def test_standard_charm_meteor_buffoon_and_ethereal_open_a_free_pack(
    tag: str, size: int, picks: int, kind: Kind
) -> None:
    s = skip(tag)
    assert (s.phase, s.n_pack, s.picks_left, s.dollars) == (Phase.PACK, size, picks, 4)
    assert all(s.pack[i].kind == kind for i in range(size))
    assert tags(s) == []
    act(s, Verb.SKIP_PACK)
    assert (s.phase, s.blind_on_deck) == (Phase.BLIND_SELECT, 1)


@pytest.mark.parametrize(
    ("tag", "first", "last"), [("tag_charm", 1, 22), ("tag_meteor", 23, 34), ("tag_ethereal", 35, 52)]
)
def test_charm_meteor_and_ethereal_show_tarots_planets_and_spectrals(tag: str, first: int, last: int) -> None:
    for seed in SEEDS:
        s = skip(tag, seed=seed)
        assert all(first <= s.pack[i].id <= last or s.pack[i].id in (51, 52) for i in range(s.n_pack))


def test_charm_deals_a_hand_and_meteor_does_not() -> None:
    assert skip("tag_charm").n_hand == 8
    assert skip("tag_meteor").n_hand == 0


def test_buffoon_gives_two_of_its_jokers() -> None:
    s = skip("tag_buffoon")
    shown = [item_text(s.pack[i]) for i in range(4)]
    act(s, Verb.PICK, 3)
    act(s, Verb.PICK, 0)
    assert s.phase == Phase.BLIND_SELECT
    assert jokers(s).split() == [shown[3], shown[0]]


def test_handy_pays_a_dollar_for_each_hand_played() -> None:
    s = facing("bl_small")
    play(s, 0)
    play(s, 0)
    to_shop(s)  # with a third hand
    act(s, Verb.NEXT_ROUND)
    s.dollars = 10
    skip_for(s, "tag_handy")
    assert s.dollars == 10 + 3


def test_garbage_pays_a_dollar_for_each_discard_left_over() -> None:
    s = facing("bl_small")
    discard(s, 0)
    to_shop(s)  # three of four discards left
    act(s, Verb.NEXT_ROUND)
    s.dollars = 10
    skip_for(s, "tag_garbage")
    assert s.dollars == 10 + 3


def test_coupon_makes_the_first_cards_and_packs_free() -> None:
    s = shop_after("tag_coupon")
    s.joker_slots = s.consumable_slots = 9
    assert [paid_for(s, Verb.BUY), paid_for(s, Verb.BUY)] == [0, 0]
    for slot in range(2):
        assert paid_for(s, Verb.OPEN_PACK, slot) == 0
        act(s, Verb.SKIP_PACK)
    assert paid_for(s, Verb.BUY_VOUCHER) == 10
    assert paid_for(s, Verb.REROLL) == 5
    assert all(shop_price(item) > 0 for item in row(s))
    assert all(shop_price(item) > 0 for item in row(next_shop(s, "bl_hook")))


def test_double_copies_the_next_tag() -> None:
    s = skip("tag_double", "tag_investment")
    assert tags(s) == ["tag_investment"] * 2


def test_double_doubles_what_acts_at_once() -> None:
    s = new_run("TESTSEED")
    s.dollars = 3
    skip_for(s, "tag_double", "tag_economy")
    assert s.dollars == 3 * 2 * 2


def test_double_does_not_copy_itself() -> None:
    s = skip("tag_double", "tag_double")
    assert tags(s) == ["tag_double", "tag_double"]
    to_shop(select(s, "bl_hook"))
    act(s, Verb.NEXT_ROUND)
    skip_for(s, "tag_investment")
    assert tags(s) == ["tag_investment"] * 3


def test_double_opens_two_packs_one_after_the_other() -> None:
    s = skip("tag_double", "tag_meteor")
    for _ in range(2):
        assert (s.phase, s.n_pack) == (Phase.PACK, 5)
        act(s, Verb.SKIP_PACK)
    assert s.phase == Phase.BLIND_SELECT


def test_juggle_adds_three_cards_of_hand_size_for_one_round() -> None:
    s = select(skip("tag_juggle"), "bl_big")
    assert (s.n_hand, s.hand_size) == (11, 11)
    discard(s, 0, 1)
    assert s.n_hand == 11
    to_shop(s)
    act(s, Verb.NEXT_ROUND)
    assert select(s, "bl_hook").n_hand == 8


def test_d_six_starts_rerolls_at_nothing() -> None:
    s = shop_after("tag_d_six")
    assert [paid_for(s, Verb.REROLL) for _ in range(3)] == [0, 1, 2]
    assert paid_for(next_shop(s, "bl_hook"), Verb.REROLL) == 5


@pytest.mark.parametrize(("owned", "made"), [(0, 2), (4, 1), (5, 0)])
def test_top_up_makes_common_jokers_as_far_as_there_is_room(owned: int, made: int) -> None:
    s = new_run("TESTSEED")
    own(s, *["j_joker"] * owned)
    skip_for(s, "tag_top_up")
    assert s.n_jokers == owned + made
    assert all(JOKERS[s.jokers[i].id].rarity == 1 for i in range(s.n_jokers))


def test_skip_speed_tag_pays_5_for_each_blind_skipped() -> None:
    s = new_run("TESTSEED")
    s.dollars = 0
    skip_for(s, "tag_skip")
    assert s.dollars == 5
    skip_for(s, "tag_skip")
    assert s.dollars == 5 + 10


def test_orbital_raises_the_listed_hand_by_three_levels() -> None:
    s = new_run("TESTSEED")
    s.skip_tag_hands[0] = 6  # Flush
    skip_for(s, "tag_orbital")
    assert s.levels.tolist() == [1] * 6 + [4] + [1] * 5


def test_orbital_lists_only_visible_hands() -> None:
    listed = {int(hand) for n in range(100) for hand in new_run(f"ORBIT{n}").skip_tag_hands}
    assert listed == set(range(3, 12))  # no Flush Five, Flush House or Five of a Kind


@pytest.mark.parametrize(("dollars", "after"), [(7, 14), (40, 80), (100, 140), (0, 0), (-6, -6)])
def test_economy_doubles_money_up_to_40(dollars: int, after: int) -> None:
    s = new_run("TESTSEED")
    s.dollars = dollars
    skip_for(s, "tag_economy")
    assert s.dollars == after


def test_pack_tags_leave_what_is_owned_alone() -> None:
    s = new_run("TESTSEED")
    give(s, "c_pluto")
    skip_for(s, "tag_charm")
    assert consumables(s) == ["c_pluto"]


@pytest.mark.parametrize("tag", ["tag_uncommon", "tag_rare"])
def test_a_free_joker_sells_for_half_of_its_ordinary_price(tag: str) -> None:
    s = shop_after(tag)
    joker = JOKERS[row(s)[0].id]
    assert paid_for(s, Verb.BUY) == 0
    before = int(s.dollars)
    act(s, Verb.SELL_JOKER, 0)
    assert s.dollars - before == max(1, joker.cost // 2)


def test_a_free_negative_joker_sells_for_half_of_its_price_with_the_edition() -> None:
    s = shop_after("tag_negative", seed=SEEDS[0])
    while not shop_jokers(s):
        act(s, Verb.REROLL)
    first = shop_jokers(s)[0]
    slot = next(i for i in range(s.n_row) if s.row[i].created == first.created)
    cost = JOKERS[first.id].cost + 5
    assert paid_for(s, Verb.BUY, slot) == 0
    before = int(s.dollars)
    act(s, Verb.SELL_JOKER, 0)
    assert s.dollars - before == cost // 2


def test_a_free_card_stays_free_when_prices_change() -> None:
    s = shop_after("tag_uncommon")
    s.shop_vouchers[0], s.n_shop_vouchers = next(v.voucher for v in VOUCHERS if v.key == "v_clearance_sale"), 1
    act(s, Verb.BUY_VOUCHER, 0)
    assert paid_for(s, Verb.BUY) == 0


def test_an_edition_tag_takes_the_joker_that_an_uncommon_tag_made() -> None:
    for order in (("tag_uncommon", "tag_negative"), ("tag_negative", "tag_uncommon")):
        s = shop_after(*order)
        assert JOKERS[row(s)[0].id].rarity == 2
        assert item_text(row(s)[0]).endswith("/negative")
        assert tags(s) == []


def test_boss_tag_uses_up_directors_cut_for_its_ante() -> None:
    s = new_run("TESTSEED")
    s.vouchers[next(v.voucher for v in VOUCHERS if v.key == "v_directors_cut")] = 1
    s.dollars = 50
    skip_for(s, "tag_boss")
    assert act(s, Verb.REROLL_BOSS) == Status.ILLEGAL


@pytest.mark.parametrize("ante", [-1, 0, 1])
def test_antes_below_the_first_offer_its_tags(ante: int) -> None:
    """Hieroglyph and Petroglyph in one ante lead to these; a boss beaten in ante -1 draws the tags of ante 0."""
    s = new_run("TESTSEED")
    s.ante = ante
    assert all(TAGS[draw_tag(s)].min_ante <= 1 for _ in range(20))
