"""Methods that change a game outside its rules, for tests of bots: add a card, set a number."""

from collections.abc import Callable
from typing import Any

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.blinds import by_key as blind_numbers
from ante.catalog.cards import RANK_LETTERS, SUIT_LETTERS, Sticker
from ante.catalog.consumables import by_key as consumable_numbers
from ante.catalog.jokers import by_key as joker_numbers
from ante.catalog.packs import by_key as pack_numbers
from ante.catalog.vouchers import by_key as voucher_numbers
from ante.engine.core.state import (
    MAX_CARDS,
    MAX_CONSUMABLES,
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACKS,
    MAX_SHOP_VOUCHERS,
    Phase,
)
from ante.engine.effects.active_boss import debuff_card
from ante.engine.items.card_array import add_card, put_in_hand
from ante.engine.items.making import make_given_consumable, make_given_joker
from ante.engine.items.owned import add_consumable_from_item, add_joker_from_item
from ante.engine.items.prices import price
from ante.engine.jokers.lineup import refresh_lineup
from ante.engine.shop import enter_shop, leave_shop
from ante.engine.validation import COUNT_8, COUNT_16, COUNT_32
from ante.serve.balatrobot.dialects import EDITION_NUMBERS, ENHANCEMENT_NUMBERS, SEAL_NUMBERS, Dialect
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.protocol import Params, Refused
from ante.serve.balatrobot.session import Session

PREFIXES = {"j_": "joker", "c_": "consumable", "v_": "voucher", "p_": "pack"}
KEY_FORMAT = "joker (j_*), consumable (c_*), voucher (v_*),{} or playing card (SUIT_RANK)"
PLACES = {
    "playing_card": ("Playing cards", "SELECTING_HAND"),
    "voucher": ("Vouchers", "SHOP"),
    "pack": ("Packs", "SHOP"),
}
LARGEST = {
    "money": COUNT_32,
    "chips": 1 << 53,
    "ante": 1000,
    "round": COUNT_32,
    "hands": COUNT_16,
    "discards": COUNT_16,
}
FIELDS = {
    "money": "dollars",
    "chips": "chips",
    "ante": "ante",
    "round": "round_number",
    "hands": "hands_left",
    "discards": "discards_left",
}


def add(session: Session, params: Params) -> Any:
    """Add a card to the game."""
    kind = kind_of(params["key"], session.dialect)
    check_place(session, kind)
    check_modifiers(kind, params)
    ADD[kind](session.s, params)
    return gamestate(session)


def kind_of(key: str, dialect: Dialect) -> str:
    """Return the kind of a card by its key. Raises Refused."""
    if key[:2] in PREFIXES:
        return PREFIXES[key[:2]]
    if len(key) == 3 and key[0] in SUIT_LETTERS and key[1] == "_" and key[2] in RANK_LETTERS[2:]:
        return "playing_card"
    raise Refused(f"Invalid card key format. Expected: {KEY_FORMAT.format(' pack (p_*),' if dialect.keyed else '')}")


def check_place(session: Session, kind: str) -> None:
    """Raise Refused if a card of this kind has no place in this state."""
    if kind in PLACES and session.state != PLACES[kind][1]:
        what, where = PLACES[kind]
        raise Refused(f"{what} can only be added in {where} state", "INVALID_STATE")
    if kind == "pack" and (session.s.packs >= 0).all():
        raise Refused("Cannot add pack, shop booster slots are full", "NOT_ALLOWED")


def check_modifiers(kind: str, params: Params) -> None:
    """Raise Refused for a modifier that a card of this kind cannot have, or that does not exist."""
    playing, joker = kind == "playing_card", kind == "joker"
    if kind == "pack" and params["key"] not in pack_numbers:
        raise Refused(f"Pack key not found: {params['key'][:80]}")
    if "seal" in params:
        require(playing, "Seal can only be applied to playing cards")
        require(params["seal"] in SEAL_NUMBERS, "Invalid seal value. Expected: RED, BLUE, GOLD, or PURPLE")
    if "edition" in params:
        edition = EDITION_NUMBERS.get(params["edition"])
        require(kind not in ("voucher", "pack"), f"Edition cannot be applied to {kind}s")
        negative = edition == EDITION_NUMBERS["NEGATIVE"]
        require(kind != "consumable" or negative, "Consumables can only have NEGATIVE edition")
        require(edition is not None, "Invalid edition value. Expected: HOLO, FOIL, POLYCHROME, or NEGATIVE")
    if "enhancement" in params:
        known = "BONUS, MULT, WILD, GLASS, STEEL, STONE, GOLD, or LUCKY"
        require(playing, "Enhancement can only be applied to playing cards")
        require(params["enhancement"] in ENHANCEMENT_NUMBERS, f"Invalid enhancement value. Expected: {known}")
    require(joker or not params.get("eternal"), "Eternal can only be applied to jokers")
    if "perishable" in params:
        require(joker, "Perishable can only be applied to jokers")
        require(params["perishable"] >= 1, "Perishable must be a positive integer (>= 1)")
        require(params["perishable"] <= COUNT_8, f"Perishable must be at most {COUNT_8}")
    require(joker or not params.get("rental"), "Rental can only be applied to jokers")


def require(holds: bool, message: str, name: str = "BAD_REQUEST") -> None:
    """Raise Refused if a condition does not hold."""
    if not holds:
        raise Refused(message, name)


def known(numbers: Any, key: str) -> int:
    """Return the number of a key. Raises Refused."""
    require(key in numbers, f"Failed to add card: {key[:80]}")
    return int(numbers[key])


def check_space(count: int, most: int, what: str) -> None:
    """Raise Refused if a table of the engine is full."""
    require(count < most, f"Cannot add card: the game holds at most {most} {what}", "NOT_ALLOWED")


def add_joker(s: Any, params: Params) -> None:
    """Add a joker, also beyond the slots."""
    number = known(joker_numbers, params["key"])
    check_space(int(s.n_jokers), MAX_JOKERS, "jokers")
    make_given_joker(s, number)
    made = s.made
    made.edition = EDITION_NUMBERS.get(params.get("edition", ""), 0)
    for name, sticker in (("eternal", Sticker.ETERNAL), ("perishable", Sticker.PERISHABLE), ("rental", Sticker.RENTAL)):
        if params.get(name):
            made.stickers |= int(sticker)
    made.rounds = params.get("perishable", 0)
    price(s, made)
    add_joker_from_item(s, made)
    refresh_lineup(s)


def add_consumable(s: Any, params: Params) -> None:
    """Add a consumable, also beyond the slots."""
    number = known(consumable_numbers, params["key"])
    check_space(int(s.n_consumables), MAX_CONSUMABLES, "consumables")
    make_given_consumable(s, number)
    s.made.edition = EDITION_NUMBERS.get(params.get("edition", ""), 0)
    price(s, s.made)
    add_consumable_from_item(s, s.made)


def add_voucher(s: Any, params: Params) -> None:
    """Add a voucher to the shop."""
    number = known(voucher_numbers, params["key"])
    check_space(int(s.n_shop_vouchers), MAX_SHOP_VOUCHERS, "vouchers")
    s.shop_vouchers[int(s.n_shop_vouchers)] = number
    s.n_shop_vouchers += 1


def add_pack(s: Any, params: Params) -> None:
    """Add a pack to the shop."""
    s.packs[next(i for i in range(MAX_PACKS) if s.packs[i] < 0)] = pack_numbers[params["key"]]


def add_playing_card(s: Any, params: Params) -> None:
    """Add a card at the right of the hand; no joker acts on it, as in the mod."""
    check_space(int(s.n_cards), MAX_CARDS, "playing cards")
    check_space(int(s.n_hand), MAX_HAND, "cards in the hand")
    suit, rank = SUIT_LETTERS.index(params["key"][0]), RANK_LETTERS.index(params["key"][2])
    enhancement = ENHANCEMENT_NUMBERS.get(params.get("enhancement", ""), 0)
    edition, seal = EDITION_NUMBERS.get(params.get("edition", ""), 0), SEAL_NUMBERS.get(params.get("seal", ""), 0)
    card = int(add_card(s, rank, suit, enhancement, edition, seal))
    s.pending_added = 0
    debuff_card(s, card)
    put_in_hand(s, card)


ADD: dict[str, Callable[[Any, Params], None]] = {
    "joker": add_joker,
    "consumable": add_consumable,
    "voucher": add_voucher,
    "pack": add_pack,
    "playing_card": add_playing_card,
}


def set_values(session: Session, params: Params) -> Any:
    """Set numbers of the game, restock the shop, or choose the boss. Nothing changes if one value is refused."""
    s = session.s
    require(s is not None, "Can only set during an active run", "INVALID_STATE")
    require(bool(params), "Must provide at least one field to set")
    if "boss" in params:
        check_boss(session, params)
    for name, largest in LARGEST.items():
        value = params.get(name, 0)
        require(value >= 0, f"{name.title()} must be a positive integer")
        require(value <= largest, f"{name.title()} must be at most {largest}")
    if params.get("shop"):
        require(s.phase == Phase.SHOP, "Can re-stock shop only in SHOP state", "NOT_ALLOWED")
    for name, field in FIELDS.items():
        if name in params:
            s[field] = params[name]
    if params.get("shop"):
        leave_shop(s)
        enter_shop(s)
        session.shops += 1
    if "boss" in params:
        s.boss = blind_numbers[params["boss"]]
    return gamestate(session)


def check_boss(session: Session, params: Params) -> None:
    """Raise Refused if the boss of this ante cannot be replaced by the given one."""
    s, key = session.s, params["boss"]
    require(not params.get("shop"), "Cannot set boss and shop at the same time")
    where = "Can only set boss blind during blind selection (BLIND_SELECT state)"
    require(s.phase == Phase.BLIND_SELECT, where, "INVALID_STATE")
    status = session.statuses()[-1].title()
    require(status == "Upcoming", f"Boss blind is not selectable (current state: {status})", "INVALID_STATE")
    require(key in blind_numbers, f"Unknown boss blind key: {key[:80]}")
    require(BLINDS[blind_numbers[key]].blind > Blind.BIG, f"Not a boss blind: {key}")
