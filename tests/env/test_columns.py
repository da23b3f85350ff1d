"""Every named column has the meaning of its name: observations against values computed from the game's record.

`reading` uses names and the record, not the order of columns; `flat_reading` concatenates the parts of the flat view in
the documented order.
"""

import math
import os
from typing import Any

import numpy as np
import pytest

from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.consumables import Consumable
from ante.catalog.hands import HANDS
from ante.catalog.jokers import Joker
from ante.catalog.packs import PACKS
from ante.catalog.tags import Tag
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.state import FREE, Kind, Phase, Place
from ante.engine.effects.active_boss import hand_limit
from ante.engine.items.prices import sell_value, shop_price
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.env.flat import flatten
from ante.env.layout import AT, FIELDS, FLAT, FLAT_SIZE, SCALAR_SCALES, new_observations
from ante.env.observe import observe, selected_hand
from tests.env.test_observe import played, round_with_jokers

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
COLUMNS = {f.name: f.columns for f in FIELDS}


def states_to_read() -> list[np.record]:
    """Return games of random play, and games that fill columns which random play leaves empty."""
    states = [s for seed in (3, 18, 37) for s in played(seed, games=80 if COMPILED else 6)]
    for s in states[::3]:
        if s.phase == Phase.PLAY and s.n_hand > 3:
            first, second, third = (s.cards[card] for card in s.hand[:3])
            first.face_down, first.forced = 1, 1
            second.enhancement, second.seal, second.edition, second.bonus = Enhancement.GLASS, 3, Edition.FOIL, 10
            third.enhancement, third.debuffed = Enhancement.STONE, 1
            s.selected = 0b1010
    owner = round_with_jokers(Joker.IDOL, Joker.TODO_LIST, Joker.CASTLE, Joker.MAIL, Joker.ANCIENT)
    for i, joker in enumerate(owner.jokers[:5]):
        joker.edition, joker.stickers, joker.rounds, joker.debuffed = i, (1, 2, 4, 7, 0)[i], i, i == 3
        joker.value, joker.count, joker.hand, joker.extra_sell = 1.5 * i, 10 + i, 4, i
    owner.n_consumables = 2
    for i, number in enumerate((Consumable.PLUTO, Consumable.AURA)):
        owner.consumables[i].kind, owner.consumables[i].id, owner.consumables[i].cost = Kind.CONSUMABLE, number, 3 + i
    owner.consumables[1].edition = Edition.NEGATIVE
    owner.skip_tags[:], owner.skip_tag_hands[:2] = (Tag.ORBITAL, Tag.RARE), (5, 6)
    owner.blind, owner.eye_hands, owner.selected = Blind.EYE, 0b100100, 0b11
    owner.vouchers[[2, 31]], owner.n_tags = 1, 3
    owner.tags[:3] = 7, 7, 24
    over = round_with_jokers()
    over.phase = Phase.OVER
    return [*states, owner, over, stocked(Phase.SHOP), stocked(Phase.PACK)]


def stocked(phase: Phase) -> np.record:
    """Return a game in a shop, or in a pack opened there, whose items fill every column."""
    s = round_with_jokers(Joker.EGG)
    s.phase, s.pack_return, s.free_rerolls, s.picks_left, s.pack_id, s.challenge = phase, Phase.SHOP, 1, 2, 3, 4
    s.boss_disabled, s.boss_rerolled = 1, 1
    s.n_row, s.n_pack = 3, 3
    for items in (s.row, s.pack):
        for item in items[:3]:
            item.kind, item.rank, item.suit = Kind.PLAYING_CARD, 9, 2
            item.enhancement, item.edition, item.seal = Enhancement.GLASS, Edition.FOIL, 2
        items[0].kind, items[0].id, items[0].hand, items[0].stickers = Kind.JOKER, Joker.TODO_LIST, 6, 7
        items[1].enhancement = Enhancement.STONE
    s.n_shop_vouchers, s.shop_vouchers[0], s.packs[:] = 1, 5, (3, 31)
    return s


def reading(s: Any) -> dict[str, Any]:
    """Return the named columns of one game: {field: {column: value}} or {field: [{column: value}]}."""
    jokers, consumables = s.jokers[: s.n_jokers], s.consumables[: s.n_consumables]
    return {
        "phase": {phase.name.lower(): s.phase == phase for phase in Phase},
        "run": run_reading(s),
        "scalars": scalars_reading(s),
        "hand": [card_reading(s, i) for i in range(s.n_hand)],
        "jokers": [joker_reading(s, item) for item in jokers],
        "joker_values": [{"value": item.value, "count": item.count} for item in jokers],
        "consumables": [
            {"id": c.id, "negative": c.edition == Edition.NEGATIVE, "sell_value": sell_value(c)}
            for c in consumables[:16]
        ],
        **shop_reading(s),
        "pack": [item_reading(item, 0) for item in s.pack[: s.n_pack]] if s.phase == Phase.PACK else [],
        "skip_tags": [
            {"tag": tag, "orbital_hand_plus_1": 1 + hand if tag == Tag.ORBITAL else 0}
            for tag, hand in zip(s.skip_tags, s.skip_tag_hands[:2], strict=True)
        ],
        "targets": targets_reading(s),
    }


def run_reading(s: Any) -> dict[str, Any]:
    """Return the columns of the run."""
    return {
        "deck": s.deck_id,
        "stake": s.stake,
        "blind": s.blind,
        "boss": s.boss,
        "blind_on_deck": s.blind_on_deck if s.blind_on_deck < 3 else 0,
        "boss_disabled": s.boss_disabled,
        "boss_rerolled": s.boss_rerolled,
        "open_pack": 1 + PACKS[s.pack_id].kind if s.phase == Phase.PACK else 0,
        "last_consumable": s.last_consumable,
        "sort_by_suit": s.sort_by_suit,
        "last_hand": 1 + s.last_hand,
        "challenge": s.challenge,
        "selected_hand": int(selected_hand(s)),
    }


def log_score(chips: Any) -> float:
    """Return the logarithm in which scores are observed."""
    return math.log10(1 + max(0.0, float(chips)))


def selected_base(s: Any) -> float:
    """Return chips times mult of the selected hand without its cards; 0 without a selection."""
    hand = int(selected_hand(s))
    if not hand:
        return 0.0
    row, level = HANDS[hand - 1], int(s.levels[hand - 1]) - 1
    return float((row.chips + level * row.chips_per_level) * (row.mult + level * row.mult_per_level))


def scalars_reading(s: Any) -> dict[str, Any]:
    """Return the columns of plain numbers."""
    target = float(s.target) if s.phase in (Phase.PLAY, Phase.OVER) else blind_target(s, blind_on_deck(s))
    alive = [c for c in s.cards[: s.n_cards] if c.place != Place.GONE]
    unknown = [c for c in alive if c.place == Place.DECK or c.face_down]
    shop, pack = s.phase == Phase.SHOP, s.phase == Phase.PACK
    jokers, consumables = s.jokers[: s.n_jokers], s.consumables[: s.n_consumables]
    return {
        "ante": s.ante,
        "round": s.round_number,
        "dollars": s.dollars,
        "debt_allowed": s.debt_allowed,
        "log_chips": log_score(s.chips),
        "log_target": log_score(target),
        "progress": min(1.0, log_score(s.chips) / log_score(target)) if target > 0 else 0,
        "log_selected": math.log10(1 + selected_base(s)),
        "hands_left": s.hands_left,
        "discards_left": s.discards_left,
        "hands_each_round": s.hands_each_round,
        "discards_each_round": s.discards_each_round,
        "hands_played": s.hands_played,
        "discards_used": s.discards_used,
        "hand_size": hand_limit(s),
        "cards_in_hand": s.n_hand,
        "cards_unknown": len(unknown),
        "cards_of_run": len(alive),
        "stones_unknown": sum(c.enhancement == Enhancement.STONE for c in unknown),
        "jokers": s.n_jokers,
        "joker_slots": s.joker_slots + sum(j.edition == Edition.NEGATIVE for j in jokers),
        "consumables": s.n_consumables,
        "consumable_slots": s.consumable_slots + sum(c.edition == Edition.NEGATIVE for c in consumables),
        "reroll_price": reroll_price(s) if shop else 0,
        "free_rerolls": s.free_rerolls if shop else 0,
        "picks_left": s.picks_left if pack else 0,
        "payout": s.payout if s.phase == Phase.ROUND_END else 0,
        "blinds_skipped": s.blinds_skipped,
        "tarots_used": s.tarots_used,
        "hands_played_run": s.hands_played_run,
    }


def is_in_shop(s: Any) -> bool:
    """Return whether the shop is open, also behind a pack."""
    return bool(s.phase == Phase.SHOP or (s.phase == Phase.PACK and s.pack_return == Phase.SHOP))


def shop_reading(s: Any) -> dict[str, Any]:
    """Return the columns of the shop; empty outside of it."""
    if not is_in_shop(s):
        return {"row": [], "shop_vouchers": [], "packs": []}
    vouchers = s.shop_vouchers[: s.n_shop_vouchers]
    return {
        "row": [item_reading(item, shop_price(item)) for item in s.row[: s.n_row]],
        "shop_vouchers": [{"id": v, "price": voucher_price(s, int(v)) if v else 0} for v in vouchers],
        "packs": [booster_reading(s, i) for i in range(2)],
    }


def targets_reading(s: Any) -> dict[str, Any]:
    """Return the columns that visible jokers refer to."""
    row = s.row[: s.n_row] if is_in_shop(s) else []
    pack = s.pack[: s.n_pack] if s.phase == Phase.PACK else []
    in_sight = {int(j.id) for j in s.jokers[: s.n_jokers]}
    in_sight |= {int(item.id) for item in (*row, *pack) if item.kind == Kind.JOKER}
    return {
        "idol_rank": s.idol_rank if Joker.IDOL in in_sight else 0,
        "idol_suit_plus_1": 1 + s.idol_suit if Joker.IDOL in in_sight else 0,
        "mail_rank": s.mail_rank if Joker.MAIL in in_sight else 0,
        "ancient_suit_plus_1": 1 + s.ancient_suit if Joker.ANCIENT in in_sight else 0,
        "castle_suit_plus_1": 1 + s.castle_suit if Joker.CASTLE in in_sight else 0,
    }


def card_reading(s: Any, i: int) -> dict[str, Any]:
    """Return the columns of one hand card."""
    c = s.cards[s.hand[i]]
    common = {"present": 1, "selected": (s.selected >> i) & 1, "forced": c.forced, "face_down": c.face_down}
    if c.face_down:
        return common
    front = {} if c.enhancement == Enhancement.STONE else {"rank": c.rank, "suit": 1 + c.suit}
    return {**common, **front, **{name: c[name] for name in ("enhancement", "edition", "seal", "debuffed", "bonus")}}


def sticker_reading(item: Any) -> dict[str, Any]:
    """Return the columns of an item's stickers."""
    assert not set(Sticker) & {FREE}
    return {
        each.name.lower(): bool(item.stickers & each) for each in (Sticker.ETERNAL, Sticker.PERISHABLE, Sticker.RENTAL)
    }


def joker_reading(s: Any, item: Any) -> dict[str, Any]:
    """Return the columns of one joker."""
    hidden = s.phase == Phase.PLAY and s.blind == Blind.FINAL_ACORN and not s.boss_disabled
    plain = {name: item[name] for name in ("id", "edition", "rounds")}
    listed = 1 + item.hand if item.id == Joker.TODO_LIST else 0
    rest = {"debuffed": item.debuffed != 0, "face_down": hidden, "sell_value": sell_value(item), "hand": listed}
    return {**plain, **sticker_reading(item), **rest}


def item_reading(item: Any, price: int) -> dict[str, Any]:
    """Return the columns of one card of the shop or of a pack."""
    if item.kind == Kind.NONE:
        return {}
    found = {"kind": item.kind, "edition": item.edition, "price": price, **sticker_reading(item)}
    if item.kind != Kind.PLAYING_CARD:
        listed = 1 + item.hand if item.kind == Kind.JOKER and item.id == Joker.TODO_LIST else 0
        return {**found, "id": item.id, "hand": listed}
    front = {} if item.enhancement == Enhancement.STONE else {"rank": item.rank, "suit": 1 + item.suit}
    return {**found, **front, "enhancement": item.enhancement, "seal": item.seal}


def booster_reading(s: Any, i: int) -> dict[str, Any]:
    """Return the columns of one booster pack for sale."""
    if s.packs[i] < 0:
        return {}
    pack = PACKS[s.packs[i]]
    return {"kind_plus_1": 1 + pack.kind, "size": pack.size, "choose": pack.choose, "price": pack_price(s, i)}


def observed(s: Any) -> Any:
    """Return the observation of one game."""
    out = new_observations(1)
    observe(s, out[0], 2)
    return out[0]


def test_every_named_column_matches_its_name() -> None:
    filled: dict[tuple[str, str], set[float]] = {}
    for s in states_to_read():
        o, found = observed(s), reading(s)
        assert set(found) == {name for name, names in COLUMNS.items() if names}
        for field, names in COLUMNS.items():
            if not names or (field in ("jokers", "joker_values") and s.blind == Blind.FINAL_ACORN):
                continue  # Amber Acorn reorders the jokers
            value = np.asarray(o[field])
            rows = [found[field]] if value.ndim == 1 else found[field]
            table = value.reshape(-1, len(names))
            assert not table[len(rows) :].any(), field
            for row, wanted in zip(table, rows, strict=False):
                assert set(wanted) <= set(names), field
                for name, number in zip(names, row, strict=True):
                    assert number == pytest.approx(float(wanted.get(name, 0)), rel=1e-5), (field, name)
                    filled.setdefault((field, name), set()).add(float(number))
    constant = {key for key, values in filled.items() if len(values) == 1}
    allowed = {("hand", "present"), ("pack", "price"), ("jokers", "face_down")}  # 1, 0, and 1 under Amber Acorn only
    assert not COMPILED or constant <= allowed, "these games must fill all other columns"


def test_counts_by_number_are_those_of_the_record() -> None:
    for s in states_to_read():
        o = observed(s)
        assert o.vouchers.tolist() == s.vouchers[1:].tolist()
        assert o.tags.tolist() == [s.tags[: s.n_tags].tolist().count(tag) for tag in range(1, len(Tag))]
        assert (o.levels.tolist(), o.plays.tolist()) == (s.levels.tolist(), s.plays.tolist())
        unknown = [c for c in s.cards[: s.n_cards] if c.place == Place.DECK or (c.face_down and c.place != Place.GONE)]
        plain = [(int(c.suit), int(c.rank)) for c in unknown if c.enhancement != Enhancement.STONE]
        assert o.unknown.tolist() == [[plain.count((suit, rank)) for rank in range(2, 15)] for suit in range(4)]
        for name, counts in (
            ("enhancement", o.unknown_enhancements),
            ("edition", o.unknown_editions),
            ("seal", o.unknown_seals),
        ):
            numbers = [int(c[name]) for c in unknown]
            assert counts.tolist() == [0, *(numbers.count(n) for n in range(1, len(counts)))]


def bits(number: int, n: int) -> list[float]:
    """Return the lowest n bits of a number, lowest first."""
    return [float((int(number) >> k) & 1) for k in range(n)]


def one_hot(number: int, n: int) -> list[float]:
    """Return 1 at a number from 1 to n; all 0 for 0."""
    return [float(number == k) for k in range(1, n + 1)]


def flat_reading(o: Any) -> dict[str, list[float]]:
    """Return the parts of the flat view, each as `layout.FLAT` documents it."""
    named = {name: [dict(zip(names, row, strict=True)) for row in np.asarray(o[name]).reshape(-1, len(names))]
             for name, names in COLUMNS.items() if names}  # fmt: skip
    run, scalars, targets = named["run"][0], named["scalars"][0], named["targets"][0]
    hand, jokers, items = [], [], []
    for c in named["hand"][:13]:
        hand += one_hot(c["rank"] - 1 if c["rank"] else 0, 13) + one_hot(c["suit"], 4)
        hand += [c["selected"], c["debuffed"], c["face_down"]]
        hand += bits(c["enhancement"], 4) + bits(c["edition"], 2) + bits(c["seal"], 3)
    for i, j in enumerate(named["jokers"][:8]):
        value = float(o.joker_values[i, 0])
        jokers += [float(i < scalars["jokers"]), *bits(j["id"], 8), *one_hot(j["edition"], 4)]
        jokers += [j["debuffed"], j["eternal"], j["rounds"] / 5 if j["perishable"] else 0, j["rental"]]
        jokers += [math.log10(1 + value) / 2 if value > 0 else 0, j["sell_value"] / 10]
    for item in named["row"][:4] + named["pack"]:
        front = 13 * (item["suit"] - 1) + item["rank"] - 1 if item["rank"] else 0
        number = {0: 0, 1: item["id"], 2: 150 + item["id"], 3: front}[int(item["kind"])]
        items += one_hot(item["kind"], 3) + bits(number, 8) + one_hot(item["edition"], 4)
        items += [float(item["enhancement"] > 0), float(item["seal"] > 0)]
        items += [item["eternal"], item["perishable"], item["rental"], item["price"] / 10]
    packs = []
    for pack in named["packs"]:
        packs += [*one_hot(pack["kind_plus_1"], 5), pack["size"] / 5, pack["choose"] / 2, pack["price"] / 10]
    consumables = [x for c in named["consumables"][:4] for x in [float(c["id"] > 0), *bits(c["id"], 6), c["negative"]]]
    traits = [*o.unknown_enhancements[1:], *o.unknown_editions[1:4], *o.unknown_seals[1:]]
    hands = [
        x
        for level, plays, barred in zip(o.levels, o.plays, o.barred, strict=True)
        for x in (math.log2(max(1, level)) / 4, math.log10(1 + plays) / 2, barred)
    ]
    return {
        "phase": list(o.phase),
        "scalars": [scalars[name] / scale for name, scale in SCALAR_SCALES],
        "hand": hand,
        "unknown": [n / 4 for n in o.unknown.ravel()],
        "unknown_traits": [n / 4 for n in traits],
        "joker_ids": [sum(j["id"] == number for j in named["jokers"]) for number in range(1, 151)],
        "jokers": jokers,
        "consumables": consumables,
        "items": items,
        "vouchers": list(o.vouchers),
        "shop_vouchers": [bit for v in named["shop_vouchers"][:2] for bit in bits(v["id"], 6)],
        "packs": packs,
        "open_pack": one_hot(run["open_pack"], 5),
        "blind": [*one_hot(run["boss"] - 2, 28), *one_hot(run["blind_on_deck"] + 1, 3), run["boss_disabled"]],
        "tags": list(o.tags),
        "skip_tags": [bit for tag in named["skip_tags"] for bit in bits(tag["tag"], 5)],
        "hands": hands,
        "targets": [
            targets["idol_rank"] / 14,
            targets["idol_suit_plus_1"] / 4,
            targets["mail_rank"] / 14,
            targets["ancient_suit_plus_1"] / 4,
            targets["castle_suit_plus_1"] / 4,
        ],
        "selected_hand": one_hot(run["selected_hand"], 12),
    }


def test_the_flat_view_is_its_documented_parts_end_to_end() -> None:
    flat = np.zeros(FLAT_SIZE, dtype=np.float32)
    for s in states_to_read():
        o = observed(s)
        flatten(o, flat)
        parts = flat_reading(o)
        assert list(parts) == [name for name, _, _ in FLAT]
        for name, wanted in parts.items():
            at = getattr(AT, name)
            np.testing.assert_allclose(flat[at : at + len(wanted)], np.clip(wanted, -2, 2), rtol=1e-5, err_msg=name)
        assert sum(len(wanted) for wanted in parts.values()) == FLAT_SIZE
