"""Cards as objects of the protocol: playing cards, jokers, consumables, vouchers and packs.

Identifiers are unique among all cards of a game and stay with a card when it is bought. Those of vouchers and packs are
new in each shop.
"""

from collections import namedtuple
from functools import lru_cache
from typing import Any

from ante.catalog.cards import (
    EDITIONS,
    ENHANCEMENTS,
    RANK_CHIPS,
    RANK_LETTERS,
    SEALS,
    SUIT_LETTERS,
    Enhancement,
    Sticker,
)
from ante.catalog.consumables import CONSUMABLES, Set
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.shop import LOWEST_PRICE, SELL_DIVISOR
from ante.catalog.vouchers import VOUCHERS
from ante.engine.core.state import FREE, Kind, card_t, item_t
from ante.engine.shop import pack_price, voucher_price
from ante.env.story import target_words
from ante.serve.balatrobot.dialects import Dialect

Json = dict[str, Any]
Item = namedtuple("Item", item_t.names or ())  # type: ignore[misc]
Card = namedtuple("Card", card_t.names or ())  # type: ignore[misc]

FIRST_ITEM, FIRST_OFFER = 1 << 20, 1 << 40  # identifiers of items, and of vouchers and packs; those of cards are lower
OFFERS = 16  # identifiers of a shop
CARD_COST = 1
SETS = {Set.TAROT: "TAROT", Set.PLANET: "PLANET", Set.SPECTRAL: "SPECTRAL"}


def rows(kind: Any, records: Any) -> list[Any]:
    """Return records as tuples with names.

    SPEED: reading a field of a record takes a microsecond, so that a whole deck would take longer than the request.
    """
    return [kind._make(row) for row in records.tolist()]


def or_list(found: Json) -> Json | list[Any]:
    """Return an object; an empty one as a list, since the mod's encoder cannot distinguish them."""
    return found or []


def sentence(text: str) -> str:
    """Return a text of the catalogue as the game writes them, without the full stop."""
    return text.removesuffix(".")


def costs(buy: int, extra: int = 0) -> Json:
    """Return the prices of a card whose price is `buy`."""
    return {"sell": max(LOWEST_PRICE, buy // SELL_DIVISOR) + extra, "buy": buy}


@lru_cache(1 << 14)
def playing_card(card: Any, dialect: Dialect, hidden: bool, highlighted: bool) -> Json:
    """Return a playing card, a Card or an Item.

    hidden       masked: nothing identifies it
    highlighted  a boss forces its selection
    """
    if hidden:
        card_back = masked("DEFAULT", "Base Card")
        return card_back | {"state": {"hidden": True, "highlight": True}} if highlighted else card_back
    face = f"{SUIT_LETTERS[card.suit]}_{RANK_LETTERS[card.rank]}"
    face_down = bool(getattr(card, "face_down", 0))
    state = {"debuff": bool(card.debuffed), "hidden": face_down, "highlight": highlighted}
    return {
        "id": card.created,
        "key": face,
        "set": "ENHANCED" if card.enhancement else "DEFAULT",
        "label": enhancement_name(card.enhancement) or "Base Card",
        "value": {"suit": face[0], "rank": face[2], "effect": card_effect(card)},
        "modifier": or_list(modifier(card, dialect)),
        "state": or_list({name: True for name, is_so in state.items() if is_so}),
        "cost": costs(CARD_COST + EDITIONS[card.edition].extra_cost),
    }


def masked(set: str, label: str) -> Json:
    """Return a card that is face down, for a client that must not know it."""
    value = {"effect": ""}
    return {
        "id": 0,
        "key": "",
        "set": set,
        "label": label,
        "value": value,
        "modifier": [],
        "state": {"hidden": True},
        "cost": costs(CARD_COST),
    }


def enhancement_name(enhancement: int) -> str:
    """Return the name of an enhanced card, `Glass Card`."""
    name = ENHANCEMENTS[enhancement].name
    return f"{name.removesuffix(' Card')} Card" if name else ""


def card_effect(card: Any) -> str:
    """Return the text of a playing card: its chips and the effects of its enhancement, edition and seal."""
    bonus = getattr(card, "bonus", 0)
    parts = [] if card.enhancement == Enhancement.STONE else [f"+{RANK_CHIPS[card.rank]} chips"]
    parts += [f"+{bonus} extra chips"] if bonus else []
    effects = ENHANCEMENTS[card.enhancement].effect, EDITIONS[card.edition].effect, SEALS[card.seal].effect
    return " ".join([*parts, *(sentence(text) for text in effects if text)])


def modifier(card: Any, dialect: Dialect) -> Json:
    """Return seal, edition, enhancement and stickers of a card or an item; absent ones are left out."""
    found: Json = {}
    if card.seal:
        found["seal"] = dialect.seals[card.seal]
    if card.edition:
        found["edition"] = dialect.editions[card.edition]
    if card.enhancement:
        found["enhancement"] = dialect.enhancements[card.enhancement]
    stickers = getattr(card, "stickers", 0)
    if stickers & Sticker.ETERNAL:
        found["eternal"] = True
    if stickers & Sticker.PERISHABLE and card.rounds > 0:
        found["perishable"] = card.rounds
    if stickers & Sticker.RENTAL:
        found["rental"] = True
    return found


def item(v: Any, found: Any, dialect: Dialect) -> Json:
    """Return an item of the shop, of a pack, or owned.

    v  the fields of the game's record
    """
    if found.kind == Kind.PLAYING_CARD:
        card = playing_card(found, dialect, False, False)
        return {**card, "cost": costs(0 if found.stickers & FREE else found.cost)}
    joker = found.kind == Kind.JOKER
    row: Any = JOKERS[found.id] if joker else CONSUMABLES[found.id]
    return {
        "id": FIRST_ITEM + found.created,
        "key": row.key,
        "set": "JOKER" if joker else SETS[row.set],
        "label": row.name,
        "value": {"effect": joker_effect(v, found) if joker else consumable_effect(v, row)},
        "modifier": or_list(modifier(found, dialect)),
        "state": or_list({"debuff": True} if found.debuffed else {}),
        "cost": {
            "sell": costs(found.cost, found.extra_sell)["sell"],
            "buy": 0 if found.stickers & FREE else found.cost,
        },
    }


def joker_effect(v: Any, joker: Any) -> str:
    """Return the text of a joker with its current target and the value it has grown to."""
    words = [sentence(JOKERS[joker.id].effect)]
    target = target_words(v, joker)
    words += [f"(now {target})"] if target else []
    words += [f"(currently {joker.value:g})"] if joker.value else []
    return " ".join(words)


def consumable_effect(v: Any, row: Any) -> str:
    """Return the text of a consumable; that of a Planet with the level of its hand and what it adds."""
    if row.set != Set.PLANET:
        return sentence(row.effect)
    hand = HANDS[row.hand]
    level, mult, chips = v.levels[hand.hand], hand.mult_per_level, hand.chips_per_level
    return f"(lvl.{level}) Level up {hand.name} +{mult} Mult and +{chips} chips"


def voucher(s: Any, number: int, id: int) -> Json:
    """Return a voucher of the shop."""
    row = VOUCHERS[number]
    return offer(id, row.key, "VOUCHER", row.name, sentence(row.effect), int(voucher_price(s, number)))


def pack(s: Any, slot: int, number: int, id: int) -> Json:
    """Return a pack of the shop."""
    row = PACKS[number]
    about = f"Choose {row.choose} of {row.size} {row.kind.name.title()} cards"
    return offer(id, row.key, "BOOSTER", row.name, about, int(pack_price(s, slot)))


def offer(id: int, key: str, set: str, label: str, effect: str, price: int) -> Json:
    """Return a voucher or a pack."""
    return {
        "id": id,
        "key": key,
        "set": set,
        "label": label,
        "value": {"effect": effect},
        "modifier": [],
        "state": [],
        "cost": costs(price),
    }
