"""A gamestate of the protocol as a visible position (page "File formats"), for players that know only the gamestate.

Words of both dialects and both modes are read. What the protocol does not contain is left out or estimated: cards played
or discarded this round, the history of bosses, what the mod writes only as text except the current value of jokers and
extra chips of cards, and in dialect 1.5 tags and the last consumable.
"""

import re
from collections.abc import Mapping
from typing import Any

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.cards import EDITIONS, ENHANCEMENTS, SEALS
from ante.catalog.constants import REROLL_BASE, SHOP_PACKS
from ante.catalog.decks import DECKS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS, PackKind
from ante.catalog.shop import LOWEST_PRICE, SELL_DIVISOR
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.run import new_run
from ante.errors import BalatroError, shown
from ante.serve.balatrobot.dialects import (
    DECK_NUMBERS,
    EDITION_NUMBERS,
    ENHANCEMENT_NUMBERS,
    SEAL_NUMBERS,
    STAKE_NUMBERS,
)
from ante.serve.balatrobot.session import STATES

PANELS = ("small", "big", "boss")
PHASES = {name: phase.name.lower() for phase, name in STATES.items()}
KINDS = {
    "TAROT": PackKind.ARCANA,
    "PLANET": PackKind.CELESTIAL,
    "SPECTRAL": PackKind.SPECTRAL,
    "JOKER": PackKind.BUFFOON,
}
BLIND_KEYS = {row.name: row.key for row in BLINDS}
TAG_KEYS = {row.name: row.key for row in TAGS}
EXTRA_CHIPS = re.compile(r"\+(\d{1,6}) extra chips")
CURRENT = re.compile(r"\([Cc]urrently [+X$]?(\d{1,12}(?:\.\d{1,6})?)")
HAND_SIZES = {row.key: row.hand_size or 0 for row in JOKERS}  # the size of Turtle Bean is only in its text


class BadGamestate(BalatroError, ValueError):
    """A gamestate that is not one of a game in play."""


def form_of(state: Any) -> dict[str, Any]:
    """Return the visible position of a gamestate, both as JSON values. Raises BadGamestate."""
    try:
        return translated(state)
    except BalatroError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise BadGamestate(f"not a gamestate of BalatroBot: {type(error).__name__} {shown(str(error))}") from None


def translated(state: Any) -> dict[str, Any]:
    """Return the visible position; other values than expected raise the errors of Python."""
    if state["state"] not in PHASES or state["state"] == "GAME_OVER":
        raise BadGamestate(f"the gamestate is {shown(state['state'])}: no run waits for a decision")
    start: dict[str, Any] = {"challenge": state["challenge"]} if "challenge" in state else {}
    if not start:
        start = {"deck": DECKS[DECK_NUMBERS[state["deck"]]].key, "stake": STAKE_NUMBERS[state["stake"]]}
    phase, round_of = PHASES[state["state"]], state["round"]
    vouchers = list(state["used_vouchers"])
    found = {
        **start,
        "phase": phase,
        "ante": state["ante_num"],
        "highest_ante": max(1, state["ante_num"]),
        "round_number": state["round_num"],
        "first_shop_made": int(state["round_num"] > 0),
        "dollars": state["money"],
        "won": int(state["won"]),
        "vouchers": vouchers,
        **run_sums(start, vouchers),
        "base_hand_size": base_hand_size(state),
        **{name: round_of[name] for name in ("hands_left", "hands_played", "discards_left", "discards_used", "chips")},
        "hands_played_run": sum(hand["played"] for hand in state["hands"].values()),
        **{to: {k: hand[name] for k, hand in state["hands"].items()} for to, name in HAND_COUNTS.items()},
        **blinds(state, phase),
        **keyed(state),
        **cards(state),
    }
    for name, limit in (("jokers", "joker_slots"), ("consumables", "consumable_slots")):
        found |= {name: [item(each) for each in state[name]["cards"]], limit: slots(state[name])}
    return found | (shop(state, vouchers) if "shop" in state else {}) | (pack(state) if "pack" in state else {})


HAND_COUNTS = {"levels": "level", "plays": "played", "plays_round": "played_this_round"}


def run_sums(start: Mapping[str, Any], vouchers: list[str]) -> dict[str, int]:
    """Return hands and discards of each round, with those that vouchers have added."""
    s, rows = new_run("1", **start), {row.key: row for row in VOUCHERS[1:]}
    bought = [rows[key] for key in vouchers if not s.vouchers[rows[key].voucher]]
    return {
        "hands_each_round": int(s.hands_each_round) + sum(row.hands for row in bought),
        "discards_each_round": int(s.discards_each_round) + sum(row.discards for row in bought),
    }


def base_hand_size(state: Any) -> int:
    """Return the hand size without jokers."""
    working = [each["key"] for each in state["jokers"]["cards"] if not is_set(each, "debuff")]
    return int(state["hand"]["limit"] - sum(HAND_SIZES.get(key, 0) for key in working))


def blinds(state: Any, phase: str) -> dict[str, Any]:
    """Return the blinds of the ante, the one in play and what it has met."""
    rows = [state["blinds"][panel] for panel in PANELS]
    passed = sum(row["status"] in ("DEFEATED", "SKIPPED") for row in rows)
    boss = rows[2].get("key") or BLIND_KEYS[rows[2]["name"]]
    named = ["bl_small", "bl_big", boss]
    found: dict[str, Any] = {"boss": boss, "blind_on_deck": min(passed, 2), "skip_tags": [tag(row) for row in rows[:2]]}
    if phase == "play":
        found |= {"blind": named[passed], "target": rows[passed]["score"]}
        if boss in (BLINDS[Blind.EYE].key, BLINDS[Blind.MOUTH].key) and passed == 2:
            found["eye_hands"] = [name for name, hand in state["hands"].items() if hand["played_this_round"]]
    if phase == "round_end":
        found |= {"blind": named[passed - 1], "beat_boss": int(passed == len(PANELS))}
        found["blind_on_deck"] = passed % len(PANELS)
    return found


def tag(row: Any) -> str:
    """Return the key of a blind's tag."""
    return str(row["tag"]["key"] if "tag" in row else TAG_KEYS[row["tag_name"]])


def keyed(state: Any) -> dict[str, Any]:
    """Return what only dialect 2.0 contains."""
    found: dict[str, Any] = {}
    if "tags" in state:
        found = {"tags": [each["key"] for each in state["tags"]], "tag_hands": [None] * len(state["tags"])}
    if "most_played_hand" in state["round"]:
        found["ox_hand"] = state["round"]["most_played_hand"]
    if "last_tarot_planet" in state:
        found["last_consumable"] = state["last_tarot_planet"]
    if "starting_deck_size" in state:
        found["starting_deck_size"] = state["starting_deck_size"]
    return found


def cards(state: Any) -> dict[str, Any]:
    """Return hand and unseen cards. A face-down card whose key the server reveals is put among the unseen ones."""
    pile, held = state["cards"]["cards"], state["hand"]["cards"]
    order = {id: 1 + i for i, id in enumerate(sorted({int(each["id"]) for each in [*pile, *held]}))}
    hand, unseen = [], [card(each, order) for each in pile]
    for each in held:
        forced = {"forced": 1} if is_set(each, "highlight") else {}
        if is_set(each, "hidden"):
            hand.append({"face_down": True} | forced)
            unseen += [card(each, order)] if each["key"] else []
        else:
            hand.append(card(each, order) | forced)
    return {"hand": hand, "unseen": unseen}


def is_set(each: Any, name: str) -> bool:
    """Return whether a card has a flag; without flags its state is an empty list."""
    return bool(each["state"]) and bool(each["state"].get(name))


def card(each: Any, order: Mapping[int, int]) -> dict[str, Any]:
    """Return a playing card of the deck; `order` has the places of the identifiers, which can be large numbers."""
    extra = EXTRA_CHIPS.search(each["value"]["effect"])
    found = front(each) | {"created": order[int(each["id"])]} | ({"bonus": int(extra[1])} if extra else {})
    return found | ({"debuffed": 1} if is_set(each, "debuff") else {})


def front(each: Any) -> dict[str, Any]:
    """Return suit, rank, enhancement, edition and seal of a playing card."""
    marks = each["modifier"] or {}
    found = {"suit": each["key"][0], "rank": each["key"][2]}
    found |= (
        {"enhancement": ENHANCEMENTS[ENHANCEMENT_NUMBERS[marks["enhancement"]]].key} if "enhancement" in marks else {}
    )
    found |= {"seal": SEALS[SEAL_NUMBERS[marks["seal"]]].key} if "seal" in marks else {}
    return found | edition(marks)


def edition(marks: Any) -> dict[str, Any]:
    """Return the edition of a card."""
    return {"edition": EDITIONS[EDITION_NUMBERS[marks["edition"]]].key} if "edition" in marks else {}


def item(each: Any) -> dict[str, Any]:
    """Return a joker, a consumable, or a playing card for sale."""
    buy, sell = each["cost"]["buy"], each["cost"]["sell"]
    price = {"cost": buy, "extra_sell": sell - max(LOWEST_PRICE, buy // SELL_DIVISOR)} if buy else {"cost": 2 * sell}
    if each["set"] in ("DEFAULT", "ENHANCED"):
        return front(each) | {"cost": buy}
    if not each["key"]:
        raise BadGamestate("a joker lies face down and has no key: remember the jokers, and send their keys")
    marks = each["modifier"] or {}
    found = {"key": each["key"], **price, **edition(marks)}
    names = [name for name in ("eternal", "perishable", "rental") if name in marks]
    found |= {"stickers": names + (["free"] if not buy else [])} if names or not buy else {}
    found |= {"rounds": marks["perishable"]} if "perishable" in marks else {}
    now = CURRENT.search(each["value"]["effect"])
    found |= {"value": float(now[1])} if now else {}
    return found | ({"debuffed": 1} if is_set(each, "debuff") else {})


def slots(area: Any) -> int:
    """Return the slots of an area without those that Negative items add."""
    marks = [each["modifier"] or {} for each in area["cards"]]
    return int(area["limit"] - sum(str(each.get("edition")).upper().endswith("NEGATIVE") for each in marks))


def shop(state: Any, vouchers: list[str]) -> dict[str, Any]:
    """Return what is for sale, and the price of a reroll."""
    price = state["round"]["reroll_cost"]
    base = max(0, REROLL_BASE - sum(row.reroll_discount for row in VOUCHERS if row.key in vouchers))
    offered = [each["key"] for each in state["vouchers"]["cards"]]
    packs = [each["key"] for each in state["packs"]["cards"]][:SHOP_PACKS]
    return {
        "row": [item(each) for each in state["shop"]["cards"]],
        "shop_vouchers": offered,
        "voucher_this_ante": offered[0] if offered else None,
        "packs": packs + [None] * (SHOP_PACKS - len(packs)),
        "reroll_base": REROLL_BASE,
        "reroll_raise": max(0, price - base),
        "free_rerolls": int(price == 0 and base > 0),
    }


def pack(state: Any) -> dict[str, Any]:
    """Return the open pack; its kind follows from its cards."""
    left, size = state["pack"]["cards"], state["pack"]["limit"]
    kinds = [KINDS.get(each["set"], PackKind.STANDARD) for each in left]
    kind = max(kinds, key=kinds.count, default=PackKind.STANDARD)
    fits = [row for row in PACKS if row.kind == kind and row.size == size] or [row for row in PACKS if row.kind == kind]
    return {
        "pack": [item(each) for each in left],
        "pack_id": fits[0].key,
        "picks_left": max(1, fits[0].choose - (fits[0].size - len(left))),
        "pack_return": "shop" if "shop" in state else "blind_select",
    }
