"""Jokers, consumables, vouchers, packs and cards for sale, as rows with key, name, price and text."""

from dataclasses import dataclass
from typing import Any

from ante.catalog.cards import EDITIONS, Edition
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS, PackKind
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import can_pay
from ante.engine.core.state import Kind
from ante.engine.items.prices import sell_value, shop_price
from ante.engine.shop import pack_price, voucher_price
from ante.env.observe_items import jokers_hidden
from ante.env.story import target_words
from ante.env.text import item_name
from ante.terminal.bindings import SLOTS
from ante.terminal.faces import Symbols, card_effects, card_text

KIND_STYLES = {Kind.JOKER: "bold bright_blue", Kind.CONSUMABLE: "bold magenta", Kind.PLAYING_CARD: "bold"}
CONTENTS = {
    PackKind.ARCANA: "Tarot cards",
    PackKind.CELESTIAL: "Planet cards",
    PackKind.STANDARD: "playing cards",
    PackKind.BUFFOON: "jokers",
    PackKind.SPECTRAL: "Spectral cards",
}


@dataclass(frozen=True)
class Item:
    """One row of a list.

    key    the key of its slot
    money  price or sell value, `$4`
    text   its effect
    dear   whether the money does not cover the price
    """

    key: str
    name: str
    money: str
    text: str
    style: str = ""
    dear: bool = False


def jokers(s: Any) -> list[Item]:
    """Return the jokers; those that Amber Acorn hides without their order."""
    items = [s.jokers[i] for i in range(int(s.n_jokers))]
    if jokers_hidden(s):
        names = sorted(item_name(item) for item in items)
        return [Item(SLOTS[i], "face down", "", f"one of: {', '.join(names)}") for i in range(len(items))]
    return [
        Item(SLOTS[i], joker_name(s, item), f"${sell_value(item)}", item_effect(item), KIND_STYLES[Kind.JOKER])
        for i, item in enumerate(items)
    ]


def joker_name(s: Any, item: Any) -> str:
    """Return a joker with its counter and its current target: `Green Joker [3]`, `The Idol <KS>`."""
    grown = f" [{item.value:g}]" if item.value else ""
    target = target_words(s, item)
    return item_name(item) + grown + (f" <{target}>" if target else "")


def item_effect(item: Any) -> str:
    """Return the text of a joker, consumable or playing card, with that of its edition."""
    if item.kind == Kind.PLAYING_CARD:
        return "; ".join(card_effects(item)) or "a playing card for your deck"
    row: Any = JOKERS[item.id] if item.kind == Kind.JOKER else CONSUMABLES[item.id]
    parts = [row.effect]
    if item.edition:
        parts.append(f"{EDITIONS[item.edition].key.capitalize()}: {edition_effect(item)}.")
    if item.rounds:
        parts.append(f"Perishes in {item.rounds} rounds.")
    return " ".join(parts)


def edition_effect(item: Any) -> str:
    """Return what the edition of a joker or consumable does."""
    if item.edition == Edition.NEGATIVE:
        return "+1 joker slot" if item.kind == Kind.JOKER else "+1 consumable slot"
    return EDITIONS[item.edition].effect


def consumables(s: Any) -> list[Item]:
    """Return the consumables held."""
    return [
        Item(SLOTS[i], item_name(item), f"${sell_value(item)}", item_effect(item), KIND_STYLES[Kind.CONSUMABLE])
        for i, item in enumerate(s.consumables[: s.n_consumables])
    ]


def for_sale(s: Any) -> list[Item]:
    """Return the cards for sale."""
    return [
        Item(SLOTS[i], joker_name(s, item), f"${shop_price(item)}", item_effect(item), *look_of(s, item))
        if item.kind
        else sold(i)
        for i, item in enumerate(s.row[: s.n_row])
    ]


def look_of(s: Any, item: Any) -> tuple[str, bool]:
    """Return the style of a card for sale, and whether it is too expensive."""
    return KIND_STYLES[Kind(int(item.kind))], not can_pay(s, int(shop_price(item)))


def sold(slot: int) -> Item:
    """Return an empty slot."""
    return Item(SLOTS[slot], "sold out", "", "", "", True)


def vouchers(s: Any) -> list[Item]:
    """Return the vouchers of the shop."""
    found = []
    for i in range(int(s.n_shop_vouchers)):
        voucher = int(s.shop_vouchers[i])
        if not voucher:
            found.append(sold(i))
            continue
        price = int(voucher_price(s, voucher))
        row = VOUCHERS[voucher]
        found.append(Item(SLOTS[i], row.name, f"${price}", row.effect, "bold yellow", not can_pay(s, price)))
    return found


def packs(s: Any) -> list[Item]:
    """Return the packs of the shop."""
    found = []
    for i, pack in enumerate(s.packs):
        if pack < 0:
            found.append(sold(i))
            continue
        price = int(pack_price(s, i))
        found.append(Item(SLOTS[i], PACKS[pack].name, f"${price}", pack_words(pack), "bold", not can_pay(s, price)))
    return found


def pack_words(pack: int) -> str:
    """Return the contents of a pack."""
    row = PACKS[pack]
    return f"take {row.choose} of {row.size} {CONTENTS[row.kind]}"


def pack_title(s: Any) -> str:
    """Return the open pack, how many cards may be taken, and the keys."""
    cards = "" if s.n_hand == 0 else "; cards that act on your hand use the selected cards"
    return f"{PACKS[s.pack_id].name}: take {s.picks_left} more with t{cards}"


def pack_cards(s: Any, symbols: Symbols) -> list[Item]:
    """Return the cards of the open pack."""
    found = []
    for i, item in enumerate(s.pack[: s.n_pack]):
        name = card_text(item, symbols).plain if item.kind == Kind.PLAYING_CARD else joker_name(s, item)
        found.append(Item(SLOTS[i], name, "", item_effect(item), KIND_STYLES[Kind(int(item.kind))]))
    return found
