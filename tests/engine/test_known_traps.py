"""Errors of other engines, each detected by comparison with the seed's random streams.

The expected cards are from a second, slow implementation of the streams and from the recorded lists of the rules.
Errors with tests in other files are listed in ELSEWHERE.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from ante.catalog.cards import RANK_LETTERS, SUIT_LETTERS, Edition, card_key
from ante.catalog.consumables import by_key as consumable_by_key
from ante.catalog.hands import HANDS, by_name
from ante.catalog.jokers import JOKERS
from ante.catalog.jokers import by_key as joker_by_key
from ante.catalog.packs import PACKS
from ante.catalog.packs import by_key as pack_by_key
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS, Voucher
from ante.engine.actions import Verb
from ante.engine.core.rng import Stream, drop_dead_streams, roll
from ante.engine.core.state import CONSUMABLE_KEYS, Kind, Phase, Status
from ante.engine.items.making import make_given_joker
from ante.engine.items.prices import sell_value
from ante.engine.notation import card_text, item_text
from ante.engine.run import new_run
from tests.engine.effects import test_bosses, test_tags
from tests.engine.jokers import test_growing
from tests.env import test_observe
from tests.reference.scorer import TEXT
from tests.reference.streams import Streams
from tests.support.table import (
    act,
    begin,
    consumables,
    deal,
    discard,
    facing,
    full_deck,
    give,
    in_hand,
    jokers,
    own,
    redeal,
    select,
    to_shop,
    use,
    win,
)

SEEDS = [f"TRAP{n}" for n in range(30)]
TAROTS, PLANETS = ([row["key"] for row in TEXT[name]] for name in ("tarots", "planets"))
SPECTRALS = [row["key"] for row in TEXT["spectrals"]]
FRONTS = TEXT["playing_cards_sorted"]
POOLS = {rarity: TEXT["joker_pools"][str(rarity)] for rarity in (1, 2, 3)}
SECRET_PLANETS = {"c_planet_x", "c_ceres", "c_eris"}
GATES = {"j_steel_joker": 5, "j_stone": 6, "j_lucky_cat": 8, "j_ticket": 7, "j_glass": 4}
CLOSED = {*GATES, "j_cavendish"}
PERISHABLE, ORANGE = 2, 7
ELSEWHERE: dict[str, Callable[..., None]] = {
    "The Goad debuffs Spades": test_bosses.test_club_goad_window_and_head_debuff_their_suit,
    "Lucky Cat": test_growing.test_lucky_cat_grows_by_lucky_hits,
    "Uncommon and Rare Tag": test_tags.test_uncommon_and_rare_put_a_free_joker_into_the_shop,
    "edition tags": test_tags.test_negative_foil_holo_and_polychrome_change_the_next_shop_joker,
    "Voucher Tag": test_tags.test_voucher_adds_a_voucher_to_the_next_shop,
    "Coupon Tag": test_tags.test_coupon_makes_the_first_cards_and_packs_free,
    "D6 Tag": test_tags.test_d_six_starts_rerolls_at_nothing,
    "Boss Tag": test_tags.test_boss_draws_another_boss,
    "Investment Tag": test_tags.test_investment_pays_25_after_the_next_boss,
    "face-down cards": test_observe.test_nothing_hidden_is_told,
    "a discarded face-down card": test_observe.test_a_discarded_face_down_card_stays_unknown,
}


@pytest.mark.parametrize("trap", ELSEWHERE)
def test_other_traps_have_tests_of_their_own_that_run(trap: str) -> None:
    test = ELSEWHERE[trap]
    assert test.__name__.startswith("test_")
    assert {mark.name for mark in getattr(test, "pytestmark", [])} <= {"parametrize"}


def seed_with(key: str, low: float, high: float = 1.0) -> str:
    """Return a seed whose first draw on this key is above `low` and below `high`."""
    return next(seed for seed in (f"DRAW{n}" for n in count()) if low < Streams(seed).draw(key) < high)


def seal(u: float) -> str:
    """Return the seal for a number in [0, 1)."""
    return "Red" if u > 0.75 else "Blue" if u > 0.5 else "Gold" if u > 0.25 else "Purple"


def edition(u: float) -> str:
    """Return the edition suffix of a joker's text for a number in [0, 1)."""
    for above, name in ((0.997, "negative"), (0.994, "polychrome"), (0.98, "holo"), (0.96, "foil")):
        if u > above:
            return f"/{name}"
    return ""


# ---- created items ----


@pytest.mark.parametrize("seed", SEEDS)
def test_purple_seal_creates_the_tarots_of_its_stream(seed: str) -> None:
    s, streams = deal("S_8=Purple H_8=Purple", seed=seed, dollars=0), Streams(seed)
    discard(s, 0, 1)
    first = streams.pick("Tarot8ba1", TAROTS)
    assert consumables(s) == [first, streams.pick("Tarot8ba1", TAROTS, {first})]
    assert [act(s, Verb.SELL_CONSUMABLE, 0), act(s, Verb.SELL_CONSUMABLE, 0)] == [Status.PLAYING] * 2
    assert s.dollars == 2  # a tarot costs 3 and sells for 1


@pytest.mark.parametrize("seed", SEEDS)
def test_cartomancer_creates_the_tarot_of_its_stream(seed: str) -> None:
    s = begin("j_cartomancer", seed=seed)
    assert consumables(s) == [Streams(seed).pick("Tarotcar1", TAROTS)]
    s.dollars = 0
    assert act(s, Verb.SELL_CONSUMABLE, 0) == Status.PLAYING
    assert s.dollars == 1


@pytest.mark.parametrize("seed", [*SEEDS, seed_with("edirif1", 0.997)])
def test_riff_raff_creates_the_common_jokers_of_its_stream(seed: str) -> None:
    s, streams = begin("j_riff_raff", seed=seed), Streams(seed)
    made: list[str] = []
    for _ in range(2):
        made.append(streams.pick("Joker1rif1", POOLS[1], {"j_riff_raff", *made} | CLOSED))
    assert jokers(s).split() == ["j_riff_raff", *(key + edition(streams.draw("edirif1")) for key in made)]
    for slot, key in enumerate(made, 1):
        joker = s.jokers[slot].copy()
        make_given_joker(s, int(joker_by_key[key]))
        assert (joker["value"], joker["count"], joker["kind"]) == (s.made.value, s.made.count, Kind.JOKER)
        assert sell_value(s.jokers[slot]) >= 1
    assert act(s, Verb.SELL_JOKER, 2) == Status.PLAYING
    assert s.n_jokers == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_certificate_creates_the_card_of_its_streams(seed: str) -> None:
    s, streams = begin("j_certificate", seed=seed), Streams(seed)
    wanted = f"{streams.pick('cert_fr', FRONTS)}={seal(streams.draw('certsl'))}"
    assert [card_text(card) for card in in_hand(s) if card.seal] == [wanted]
    assert (len(in_hand(s)), len(full_deck(s))) == (9, 53)
    win(s)
    assert (s.n_deck, [card_text(card) for card in full_deck(s) if card.seal]) == (53, [wanted])


# ---- targets ----


def targets(s: Any) -> list[str]:
    """Return the card of The Idol, the rank of Mail-In Rebate, and the suits of Ancient Joker and Castle."""
    idol = card_key(int(s.idol_suit), int(s.idol_rank))
    return [idol, RANK_LETTERS[s.mail_rank], SUIT_LETTERS[s.ancient_suit], SUIT_LETTERS[s.castle_suit]]


def next_targets(streams: Streams, ancient: str = "") -> list[str]:
    """Return the targets that the streams select after this suit of Ancient Joker, "" at the start of a run."""
    idol, mail = streams.pick("idol1", FRONTS), streams.pick("mail1", FRONTS)
    suit = streams.pick("anc1", [suit for suit in SUIT_LETTERS if suit != ancient])
    return [idol, mail[2], suit, streams.pick("cas1", FRONTS)[0]]


@pytest.mark.parametrize("seed", [*SEEDS[:5], seed_with("anc1", 0.0, 0.25), seed_with("cas1", 0.0, 1 / 52)])
def test_the_targets_of_jokers_are_those_of_their_streams(seed: str) -> None:
    s, streams = begin(seed=seed), Streams(seed)
    first = next_targets(streams)
    assert targets(s) == first
    win(s)
    assert targets(s) == next_targets(streams, first[2])


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_orbital_tags_and_to_do_list_choose_visible_hands(seed: str) -> None:
    visible = [row["name"] for row in TEXT["poker_hands"] if row["visible_at_start"]]
    s, streams = begin("j_todo_list", seed=seed), Streams(seed)
    assert [HANDS[hand].name for hand in s.skip_tag_hands] == [streams.pick("orbital", visible) for _ in range(3)]
    listed = streams.pick("to_do", visible)
    assert HANDS[s.jokers[0].hand].name == listed
    s.plays[by_name["Flush Five"]] = 1
    win(s)
    others = [name for name in ("Flush Five", *visible) if name != listed]
    assert HANDS[s.jokers[0].hand].name == streams.pick("to_do", others)


# ---- Madness ----


@pytest.mark.parametrize("seed", SEEDS)
def test_madness_spares_itself(seed: str) -> None:
    s = begin("j_madness", seed=seed)
    assert (jokers(s), s.jokers[0].value) == ("j_madness", 1.5)
    s = begin("j_egg", "j_madness", "j_joker", "j_baron", seed=seed)
    others = ["j_egg", "j_joker", "j_baron"]
    others.remove(Streams(seed).pick("madness", others))
    assert [key for key in jokers(s).split() if key != "j_madness"] == others
    assert "j_madness" in jokers(s)


# ---- pools ----


def test_a_key_is_free_again_when_its_last_copy_goes() -> None:
    s = begin()
    s.consumable_slots = 16
    visible = [key for key in PLANETS if key not in SECRET_PLANETS]
    give(s, *visible, "c_mars")
    made = []
    for sold in (None, "c_mars", "c_mars"):
        if sold:
            assert act(s, Verb.SELL_CONSUMABLE, consumables(s).index(sold)) == Status.PLAYING
        before = consumables(s)
        assert use(s, "c_high_priestess") == Status.PLAYING
        made.append(consumables(s)[len(before) :])
    # If no planet is left, Pluto is drawn.
    assert made == [["c_pluto", "c_pluto"], ["c_pluto", "c_pluto"], ["c_mars", "c_pluto"]]


@pytest.mark.parametrize(("sold", "egg"), [(0, False), (1, False), (2, True)])
def test_a_joker_can_be_offered_again_when_its_last_copy_is_sold(sold: int, egg: bool) -> None:
    seed = seed_where(lambda streams: streams.pick("Joker1rif1", POOLS[1]) == "j_egg")
    s = begin("j_egg", "j_egg", seed=seed)
    to_shop(s)
    for _ in range(sold):
        act(s, Verb.SELL_JOKER, 0)
    own(s, "j_riff_raff")
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    made = jokers(s).split()[3 - sold :]
    assert (made[0].partition("/")[0] == "j_egg") == egg


def seed_where(holds: Callable[[Streams], bool]) -> str:
    """Return the first of a sequence of seeds whose fresh streams satisfy the condition."""
    return next(seed for n in count() if holds(Streams(seed := f"SEARCH{n}")))


def only(s: Any, *keys: str) -> None:
    """Allow only these jokers of their rarity to be offered."""
    rarities = {JOKERS[joker_by_key[key]].rarity for key in keys}
    for row in JOKERS[1:]:
        if row.rarity in rarities and row.key not in keys:
            s.used[row.joker] = 1


def rerolled(s: Any, times: int) -> list[Any]:
    """Return the jokers of this many rerolls."""
    shown = []
    for _ in range(times):
        s.dollars, s.reroll_raise = 100, 0
        assert act(s, Verb.REROLL) == Status.PLAYING
        shown += [s.row[i].copy() for i in range(s.n_row) if s.row[i].kind == Kind.JOKER]
    return shown


@pytest.mark.parametrize("joker", ["j_hologram", "j_glass"])
def test_hologram_and_glass_joker_are_never_perishable(joker: str) -> None:
    s = to_shop(facing("bl_small", stake=ORANGE))
    s.cards[0].enhancement = GATES["j_glass"]
    only(s, joker)
    shown = rerolled(s, 400)
    its_own = [item for item in shown if JOKERS[item["id"]].key == joker]
    others = [item for item in shown if JOKERS[item["id"]].key != joker]
    assert len(its_own) > 40
    assert not any(item["stickers"] & PERISHABLE for item in its_own)
    assert sum(bool(item["stickers"] & PERISHABLE) for item in others) > 40


@pytest.mark.parametrize(("joker", "enhancement"), GATES.items())
def test_lucky_cat_and_its_like_wait_for_a_card_of_their_kind(joker: str, enhancement: int) -> None:
    s = to_shop(facing("bl_small"))
    only(s, joker)

    def is_offered() -> bool:
        return any(JOKERS[item["id"]].key == joker for item in rerolled(s, 60))

    assert not is_offered()
    for other in set(GATES.values()) - {enhancement}:
        s.cards[other].enhancement = other
    assert not is_offered()
    s.cards[0].enhancement = enhancement
    assert is_offered()
    s.cards[0].enhancement = 0
    assert not is_offered()


@pytest.mark.parametrize("seed", SEEDS)
def test_resampling_begins_at_resample2(seed: str) -> None:
    missed = Streams(seed).pick("Tarotcar1", TAROTS)
    streams = Streams(seed)
    wanted = streams.pick("Tarotcar1", TAROTS, {missed})
    s = begin("j_cartomancer", seed=seed, held=(missed,))
    assert consumables(s) == [missed, wanted]
    assert {"Tarotcar1", "Tarotcar1_resample2"} <= set(streams.states)


def test_a_tag_that_is_not_allowed_twice_is_drawn_on_resample3() -> None:
    late = {row["key"] for row in TEXT["tags"] if row["min_ante"] == 2}
    keys = [row["key"] for row in TEXT["tags"]]
    for number in count():
        streams = Streams(f"TAG{number}")
        wanted = [streams.pick("Tag1", keys, late) for _ in range(2)]
        if "Tag1_resample4" in streams.states:
            break
    s = new_run(f"TAG{number}")
    assert [TAGS[tag].key for tag in s.skip_tags[:2]] == wanted


def test_a_stream_of_an_ante_below_0_has_the_minus_sign_in_its_key() -> None:
    s, streams = begin(seed="MINUS"), Streams("MINUS")
    for ante in (0, -1, -10):
        s.ante = ante
        assert [roll(s, int(Stream.CDT)) for _ in range(2)] == [streams.draw(f"cdt{ante}") for _ in range(2)]


def test_the_streams_of_an_ante_that_vouchers_can_return_to_are_kept() -> None:
    s, streams = begin(seed="BACK"), Streams("BACK")
    wanted = [streams.draw("cdt1") for _ in range(4)]
    found = [roll(s, int(Stream.CDT))]
    s.ante = 3
    drop_dead_streams(s)
    s.ante = 1  # Hieroglyph and Petroglyph
    found.append(roll(s, int(Stream.CDT)))
    s.ante, s.vouchers[Voucher.HIEROGLYPH] = 2, 1
    drop_dead_streams(s)
    s.ante = 1
    found.append(roll(s, int(Stream.CDT)))
    s.vouchers[Voucher.PETROGLYPH] = 1
    drop_dead_streams(s)
    found.append(roll(s, int(Stream.CDT)))
    s.ante = 2
    drop_dead_streams(s)
    assert found == wanted
    assert not any((int(stream) >> 8 & 0xFFF) - 16 == 1 for stream in s.stream_ids if stream)


def test_aura_never_gives_negative() -> None:
    s = begin(seed=seed_with("aura", 0.997))
    assert use(s, "c_aura", 0) == Status.PLAYING
    assert in_hand(s)[0].edition == Edition.POLYCHROME


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_resampling_goes_on_until_something_is_free(seed: str) -> None:
    streams = Streams(seed)
    held = TAROTS[: len(TAROTS) - 8]
    wanted = streams.pick("Tarotcar1", TAROTS, set(held))
    s = begin(seed=seed)
    s.consumable_slots = 15
    give(s, *held)
    to_shop(s)
    own(s, "j_cartomancer")
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_big")
    assert consumables(s) == [*held, wanted]


@pytest.mark.parametrize(
    ("joker", "cards", "key", "pool", "left"),
    [
        ("j_vagabond", "S_8", "Tarotvag1", TAROTS, "c_strength"),
        ("j_sixth_sense", "S_6", "Spectralsixth1", SPECTRALS, "c_incantation"),
    ],
)
def test_where_nothing_is_left_strength_and_incantation_answer_and_a_draw_is_gone(
    joker: str, cards: str, key: str, pool: list[str], left: str
) -> None:
    for seed in SEEDS[:10]:
        s, streams = deal(cards, joker, seed=seed, dollars=0), Streams(seed)
        for name in pool:
            s.used[CONSUMABLE_KEYS + consumable_by_key[name]] = 1
        assert act(s, Verb.PLAY, cards=(0,)) == Status.PLAYING
        assert consumables(s) == [left]
        s.used[CONSUMABLE_KEYS:] = 0
        s.n_consumables = s.hands_played = 0
        redeal(s, cards)
        assert act(s, Verb.PLAY, cards=(0,)) == Status.PLAYING
        streams.draw(key)
        assert consumables(s) == [streams.pick(key, pool, {"c_soul", "c_black_hole"})]


# ---- the shop after a boss ----


def shop_row(streams: Streams, ante: int) -> list[str]:
    """Return the first two shop cards of an ante if no owned item changes them."""
    row: list[str] = []
    for _ in range(2):
        p = streams.draw(f"cdt{ante}") * (20 + 4 + 4)
        if p <= 20:
            u = streams.draw(f"rarity{ante}sho")
            rarity = 3 if u > 0.95 else 2 if u > 0.7 else 1
            row.append(streams.pick(f"Joker{rarity}sho{ante}", POOLS[rarity], {*row} | CLOSED))
        elif p <= 24:
            row.append(streams.pick(f"Tarotsho{ante}", TAROTS, row))
        else:
            row.append(streams.pick(f"Planetsho{ante}", PLANETS, {*row} | SECRET_PLANETS))
    return row


def second_pack(streams: Streams, ante: int) -> str:
    """Return the second pack of the run's first shop, without its picture number."""
    left = streams.draw(f"shop_pack{ante}") * 22.42
    for row in TEXT["boosters"]:
        left -= row["weight"]
        if left <= 1e-12:
            break
    return str(row["key"]).rpartition("_")[0]


@pytest.mark.parametrize(("blind", "ante"), [("bl_small", 1), ("bl_hook", 2)])
def test_the_shop_after_a_boss_is_drawn_from_the_next_ante(blind: str, ante: int) -> None:
    second_tiers = {row["key"] for row in TEXT["vouchers"] if row["requires"]}
    vouchers = [row["key"] for row in TEXT["vouchers"]]
    for seed in SEEDS:
        s, streams = to_shop(facing(blind, seed=seed)), Streams(seed)
        assert [item_text(s.row[i]).partition("/")[0] for i in range(2)] == shop_row(streams, ante)
        assert VOUCHERS[s.shop_vouchers[0]].key == streams.pick(f"Voucher{ante}", vouchers, second_tiers)
        packs = [PACKS[pack].key.rpartition("_")[0] for pack in s.packs]
        assert packs == ["p_buffoon_normal", second_pack(streams, ante)]


# ---- The Soul ----


def arcana(s: Any) -> list[str]:
    """Return the contents of a normal Arcana Pack of this shop."""
    s.packs[0], s.dollars = pack_by_key["p_arcana_normal_1"], 10
    assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
    shown = [item_text(s.pack[i]) for i in range(s.n_pack)]
    act(s, Verb.SKIP_PACK)
    assert s.phase == Phase.SHOP
    return shown


def test_no_roll_for_the_soul_while_there_is_one() -> None:
    seed = seed_where(lambda streams: streams.draw("soul_Tarot1") > 0.997)
    assert arcana(to_shop(facing("bl_small", seed=seed)))[0] == "c_soul"
    s, streams = to_shop(facing("bl_small", seed=seed)), Streams(seed)
    give(s, "c_soul")
    taken = [item_text(s.row[i]) for i in range(s.n_row)]
    wanted: list[str] = []
    for _ in range(3):
        wanted.append(streams.pick("Tarotar11", TAROTS, [*taken, *wanted]))
    assert arcana(s) == wanted
    act(s, Verb.SELL_CONSUMABLE, 0)
    assert arcana(s)[0] == "c_soul"  # the skipped roll is made now
