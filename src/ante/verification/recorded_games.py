"""Comparison with recorded games: conversion of their decisions, and of a record's visible state to their format.

tests/golden/README.md describes the format. `replay(run)` plays one recorded game and returns the first difference.
"""

from typing import Any

import numpy as np

from ante.catalog.blinds import BLINDS
from ante.catalog.cards import Edition
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import by_key as deck_by_key
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb, pack_action
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.state import Kind, Phase, Status
from ante.engine.items.prices import sell_value, shop_price
from ante.engine.run import new_run
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.engine.step import step
from ante.verification.difference import Difference

PHASES = {
    Phase.BLIND_SELECT: "blind_select",
    Phase.PLAY: "play",
    Phase.ROUND_END: "round_end",
    Phase.SHOP: "shop",
    Phase.PACK: "pack",
    Phase.OVER: "over",
}
SUITS = "SHCD"
RANKS = dict(enumerate("??23456789TJQKA"))
ENHANCEMENTS = ["", "m_bonus", "m_mult", "m_wild", "m_glass", "m_steel", "m_stone", "m_gold", "m_lucky"]
EDITIONS = ["", "foil", "holo", "polychrome", "negative"]
SEALS = ["", "Gold", "Red", "Blue", "Purple"]


def number(x: float) -> Any:
    """Return a number in the format of the recordings."""
    if abs(x) > 1e15:
        return f"{x:.5e}"
    return int(x) if x == int(x) else round(x, 6)


def card_text(c: Any) -> str:
    """Return a playing card as text, such as `S_A:m_glass/foil=Red+h5`."""
    text = f"{SUITS[c.suit]}_{RANKS[int(c.rank)]}"
    if c.enhancement:
        text += ":" + ENHANCEMENTS[c.enhancement]
    if c.edition:
        text += "/" + EDITIONS[c.edition]
    if c.seal:
        text += "=" + SEALS[c.seal]
    if "bonus" in c.dtype.names and c.bonus:
        text += f"+h{c.bonus}"
    return text


def item_text(item: Any, owned: bool) -> str:
    """Return a joker, consumable or shop card as text; owned ones end in `$` and their sell value."""
    if item.kind == Kind.PLAYING_CARD:
        return card_text(item)
    key = JOKERS[item.id].key if item.kind == Kind.JOKER else CONSUMABLES[item.id].key
    if item.edition:
        key += "/" + EDITIONS[item.edition]
    for bit, letter in ((1, "E"), (2, "P"), (4, "R")):
        if item.stickers & bit:
            key += "+" + letter
    return f"{key}${sell_value(item)}" if owned else key


def visible(s: Any) -> dict[str, Any]:
    """Return all fields that recordings may contain, with this record's values."""
    coming = s.phase == Phase.BLIND_SELECT or (s.phase == Phase.PACK and s.pack_return == Phase.BLIND_SELECT)
    blind = blind_on_deck(s) if coming else int(s.blind)
    negative = sum(1 for i in range(s.n_jokers) if s.jokers[i].edition == Edition.NEGATIVE)
    negative_consumables = sum(1 for i in range(s.n_consumables) if s.consumables[i].edition == Edition.NEGATIVE)
    hand = [s.cards[s.hand[i]] for i in range(s.n_hand)]
    return {
        "phase": PHASES[Phase(int(s.phase))],
        "ante": int(s.ante),
        "round": int(s.round_number),
        "blind": BLINDS[blind].key if blind else None,
        "target": number(blind_target(s, blind) if coming else float(s.target)),
        "boss": BLINDS[s.boss].key,
        "skip_tag": TAGS[s.skip_tags[s.blind_on_deck]].key if s.blind_on_deck < 2 else None,
        "chips": number(float(s.chips)),
        "dollars": int(s.dollars),
        "hands_left": int(s.hands_left),
        "discards_left": int(s.discards_left),
        "hand": [card_text(c) for c in hand],
        "forced": [i for i, c in enumerate(hand) if c.forced],
        "deck_left": int(s.n_deck),
        "jokers": [item_text(s.jokers[i], True) for i in range(s.n_jokers)],
        "consumables": [item_text(s.consumables[i], False) for i in range(s.n_consumables)],
        "vouchers": sorted(VOUCHERS[v].key for v in range(1, 33) if s.vouchers[v]),
        "tags": [TAGS[s.tags[i]].key for i in range(s.n_tags)],
        "levels": {HANDS[h].name: int(s.levels[h]) for h in range(12) if s.levels[h] != 1},
        "row": [[item_text(s.row[i], False), int(shop_price(s.row[i]))] for i in range(s.n_row)],
        "shop_vouchers": [
            [VOUCHERS[v].key, int(voucher_price(s, v))] for v in s.shop_vouchers[: s.n_shop_vouchers] if v
        ],
        "packs": [[PACKS[p].key, int(pack_price(s, i))] for i, p in enumerate(s.packs) if p >= 0],
        "reroll_cost": int(reroll_price(s)) if s.phase == Phase.SHOP else None,
        "pack": [item_text(s.pack[i], False) for i in range(s.n_pack)],
        "picks_left": int(s.picks_left),
        "hand_size": int(s.hand_size),
        "joker_slots": int(s.joker_slots) + negative,
        "consumable_slots": int(s.consumable_slots) + negative_consumables,
    }


def card_bits(cards: list[list[Any]]) -> int:
    """Return the hand positions of [text, index] pairs as bits."""
    return sum(1 << index for _, index in cards)


def filled_slot(slots: Any, n: int, index: int, empty: int) -> int:
    """Return the index-th filled slot, or the illegal slot `n` if there are fewer; recordings skip empty slots."""
    filled = [i for i in range(n) if slots[i] != empty]
    return filled[index] if index < len(filled) else n


def decision(s: Any, do: list[Any]) -> int:
    """Return the macro decision that corresponds to a recorded one in this state."""
    plain = {
        "select": Verb.SELECT_BLIND,
        "skip": Verb.SKIP_BLIND,
        "cash_out": Verb.CASH_OUT,
        "skip_pack": Verb.SKIP_PACK,
        "reroll": Verb.REROLL,
        "next_round": Verb.NEXT_ROUND,
    }
    name = do[0]
    if name in plain:
        return pack_action(plain[name], 0, 0, 0)
    if name in ("play", "discard"):
        return pack_action(Verb.PLAY if name == "play" else Verb.DISCARD, 0, 0, card_bits(do[1]))
    if name == "buy" and do[1] == "row":
        return pack_action(Verb.BUY, do[2], 0, 0)
    if name == "buy":
        return pack_action(Verb.BUY_VOUCHER, filled_slot(s.shop_vouchers, s.n_shop_vouchers, do[2], 0), 0, 0)
    if name == "open":
        return pack_action(Verb.OPEN_PACK, filled_slot(s.packs, 2, do[1], -1), 0, 0)
    if name in ("pick", "use"):
        return pack_action(Verb.PICK if name == "pick" else Verb.USE, do[1], 0, card_bits(do[2]))
    if name == "sell":
        return pack_action(Verb.SELL_JOKER if do[1] == "joker" else Verb.SELL_CONSUMABLE, do[2], 0, 0)
    assert name == "move_joker", do
    return pack_action(Verb.MOVE_JOKER, do[1], do[2], 0)


def same_pack(got: str, wanted: str) -> bool:
    """Return whether pack keys agree up to the number of their picture, which does not depend on the seed."""
    return got.rsplit("_", 1)[0] == wanted.rsplit("_", 1)[0]


def difference(s: Any, wanted: dict[str, Any]) -> Difference | None:
    """Return the first field that differs."""
    got = visible(s)
    for field, value in wanted.items():
        mine = got.get(field)
        if field == "facing_unknown" or mine == value:
            continue
        if field == "packs" and isinstance(mine, list) and len(mine) == len(value):
            if all(same_pack(a[0], b[0]) and a[1] == b[1] for a, b in zip(mine, value, strict=True)):
                continue
        return Difference(field, mine, value)
    return None


def replay(run: dict[str, Any]) -> tuple[int, Difference] | None:
    """Play a recorded run. Returns (step, difference) of the first difference, or None.

    Step -1 is the start of the run.
    """
    s = new_run(run["seed"], deck_by_key[run["deck"]], run["stake"])
    found = difference(s, run["start"])
    if found:
        return -1, found
    for index, recorded in enumerate(run["steps"]):
        do = recorded["do"]
        if do[0] == "set_dollars":
            s.dollars = do[1]
        elif step(s, np.int64(decision(s, do))) == Status.ILLEGAL:
            return index, Difference("decision", "refused", do)
        found = difference(s, recorded["after"])
        if found:
            return index, found
    return None


def compare_run(run: dict[str, Any]) -> Difference | None:
    """Return the first difference of a recorded run, with seed and step."""
    found = replay(run)
    return found and found[1].at(f"{run['seed']} {run['deck']} stake {run['stake']} step {found[0]}")
