"""Methods about items: buying, packs, rerolls, selling and using."""

from collections.abc import Sequence
from typing import Any

from ante.catalog.cards import Edition
from ante.catalog.consumables import CONSUMABLES, Consumable, ConsumableRow
from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb
from ante.engine.core.state import Kind, Phase
from ante.engine.items.owned import negatives
from ante.engine.items.prices import shop_price
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.protocol import Params, Refused
from ante.serve.balatrobot.rounds import positions
from ante.serve.balatrobot.session import Session

EMPTY = {
    "card": "No jokers/consumables/cards in the shop. {}",
    "voucher": "No vouchers to redeem. Defeat boss blind to restock.",
    "pack": "No packs to open. Use `next_round` to advance to the next blind and restock the shop.",
}
RESTOCK = {"1.5": "Reroll to restock the shop", "2.0": "Use `reroll` to restock the shop."}
BUYS = {"card": Verb.BUY, "voucher": Verb.BUY_VOUCHER, "pack": Verb.OPEN_PACK}
NO_TARGETS = (0, 0)


def buy(session: Session, params: Params) -> Any:
    """Buy a card, redeem a voucher or open a pack."""
    if not params:
        raise Refused("Invalid arguments. You must provide one of: card, voucher, pack")
    if len(params) > 1:
        raise Refused("Invalid arguments. Cannot provide more than one of: card, voucher, or pack")
    s, (what, index) = session.s, next(iter(params.items()))
    slot = slot_of(s, what, index, EMPTY[what].format(RESTOCK[session.dialect.name]))
    check_money(s, price_of(s, what, slot))
    if what == "card":
        check_room(s, s.row[slot], "Cannot purchase {} card, {} slots are full.", "BAD_REQUEST")
    session.act(BUYS[what], slot)
    return gamestate(session)


def buy_and_use(session: Session, params: Params) -> Any:
    """Buy a consumable and use it at once."""
    if "card" not in params:
        raise Refused("Invalid arguments. You must provide: card")
    s = session.s
    slot = slot_of(s, "card", params["card"], f"No consumables in the shop. {RESTOCK['2.0']}")
    check_money(s, price_of(s, "card", slot))
    name = item_name(s.row[slot])
    refused = Refused(f"Consumable '{name}' cannot be buy-and-used at this time.", "NOT_ALLOWED")
    session.act(Verb.BUY_AND_USE, slot, otherwise=refused)
    return gamestate(session)


def for_sale(s: Any, what: str) -> list[int]:
    """Return the slots of the shop that are not empty."""
    if what == "card":
        return [i for i, kind in enumerate(s.row["kind"][: int(s.n_row)].tolist()) if kind]
    if what == "voucher":
        return [i for i, number in enumerate(s.shop_vouchers.tolist()) if number]
    return [i for i, number in enumerate(s.packs.tolist()) if number >= 0]


def slot_of(s: Any, what: str, index: int, empty: str) -> int:
    """Return the slot of the card at this index of an area. Raises Refused, with `empty` if the area is empty."""
    slots = for_sale(s, what)
    if not slots:
        raise Refused(empty)
    if not 0 <= index < len(slots):
        available = "Available cards" if what == "card" else "Available"
        raise Refused(f"{what.title()} index out of range. Index: {index}, {available}: {len(slots)}")
    return slots[index]


def price_of(s: Any, what: str, slot: int) -> int:
    """Return the price of what is for sale in a slot."""
    if what == "card":
        return int(shop_price(s.row[slot]))
    return int(voucher_price(s, int(s.shop_vouchers[slot])) if what == "voucher" else pack_price(s, slot))


def money(s: Any) -> int:
    """Return the dollars that can be spent, with the debt that Credit Card allows."""
    return int(s.dollars) + int(s.debt_allowed)


def check_money(s: Any, price: int) -> None:
    """Raise Refused if the money does not cover a price."""
    if price > 0 and price > money(s):
        raise Refused(f"Card is not affordable. Cost: {price}, Available money: {money(s)}")


def check_room(s: Any, item: Any, message: str, name: str) -> None:
    """Raise Refused if no slot is free for an item that is not Negative; the message has places for its kind."""
    if item.edition == Edition.NEGATIVE or item.kind == Kind.PLAYING_CARD:
        return
    joker = item.kind == Kind.JOKER
    kind, held, slots = (
        ("joker", s.jokers, s.joker_slots) if joker else ("consumable", s.consumables, s.consumable_slots)
    )
    count = int(s.n_jokers if joker else s.n_consumables)
    limit = int(slots) + int(negatives(held, count))
    if count >= limit:
        way_out = (
            "Sell a joker using `sell` to free a slot."
            if joker
            else "Use `use` to activate a consumable or `sell` to remove one."
        )
        raise Refused(f"{message.format(kind, kind)} Current: {count}, Limit: {limit}. {way_out}", name)


def reroll(session: Session, _: Params) -> Any:
    """Pay for new cards in the shop."""
    s = session.s
    required, has = int(reroll_price(s)), money(s)
    if required > 0 and has < required:
        raise Refused(f"Not enough dollars to reroll. Available: {has}, Required: {required}", "NOT_ALLOWED")
    session.act(Verb.REROLL)
    return gamestate(session)


def pack(session: Session, params: Params) -> Any:
    """Take a card of the open pack, or skip the rest."""
    skips = params.get("skip", False)
    if "card" not in params and not skips:
        raise Refused("Invalid arguments. You must provide one of: card, skip")
    if "card" in params and skips:
        raise Refused("Invalid arguments. Cannot provide both card and skip")
    if skips:
        session.act(Verb.SKIP_PACK)
    else:
        pick(session, params["card"], params.get("targets", []))
    return gamestate(session)


def pick(session: Session, index: int, targets: Sequence[int]) -> None:
    """Take a card of the open pack; a consumable is used on the targets. Raises Refused."""
    s = session.s
    bits = positions(s, targets, f"Target card index out of range. Index: {{}}, Hand size: {int(s.n_hand)}")
    if not 0 <= index < s.n_pack:
        raise Refused(f"Card index out of range. Index: {index}, Available cards: {int(s.n_pack)}")
    item = s.pack[index]
    if item.kind == Kind.JOKER:
        check_room(s, item, "Cannot select {}, {} slots are full.", "NOT_ALLOWED")
    if item.kind != Kind.CONSUMABLE:
        session.act(Verb.PICK, index)
        return
    row = CONSUMABLES[item.id]
    if row.consumable == Consumable.ANKH and s.n_jokers == 0:
        raise Refused(f"Card '{row.key}' requires at least 1 joker. Current: 0", "NOT_ALLOWED")
    least, most = targets_of(row)
    if not least <= len(targets) <= most and most:
        wanted = f"exactly {least}" if least == most else f"{least}-{most}"
        raise Refused(f"Card '{row.key}' requires {wanted} target card(s). Provided: {len(targets)}")
    session.act(Verb.PICK, index, cards=bits if most else 0, otherwise=unusable(row))


def targets_of(row: ConsumableRow) -> tuple[int, int]:
    """Return the least and the greatest number of hand cards that a consumable acts on."""
    return (row.min_highlighted, row.max_highlighted) if row.max_highlighted else NO_TARGETS


def unusable(row: ConsumableRow) -> Refused:
    """Return the error for a consumable that cannot be used now."""
    return Refused(f"Consumable '{row.name}' cannot be used at this time", "NOT_ALLOWED")


def item_name(item: Any) -> str:
    """Return the name of a joker or a consumable."""
    if item.kind == Kind.PLAYING_CARD:
        return "Base Card"
    return JOKERS[item.id].name if item.kind == Kind.JOKER else CONSUMABLES[item.id].name


def use(session: Session, params: Params) -> Any:
    """Use a consumable that is held."""
    s, index = session.s, params["consumable"]
    if not 0 <= index < s.n_consumables:
        raise Refused(f"Consumable index out of range: {index}")
    row = CONSUMABLES[s.consumables[index].id]
    bits = 0
    if targets_of(row) != NO_TARGETS:
        bits = targets(session, row, params.get("cards", []))
    session.act(Verb.USE, index, cards=bits, otherwise=unusable(row))
    return gamestate(session)


def targets(session: Session, row: ConsumableRow, chosen: Sequence[int]) -> int:
    """Return the hand cards on which a consumable is used, as bits. Raises Refused."""
    s, about = session.s, f"Consumable '{row.name}' requires"
    if s.phase not in (Phase.PLAY, Phase.PACK):
        where = "SELECTING_HAND or SMODS_BOOSTER_OPENED state." if session.dialect.keyed else "SELECTING_HAND state"
        raise Refused(f"{about} card selection and can only be used in {where}", "INVALID_STATE")
    if not chosen:
        raise Refused(f"{about} card selection. Provide target cards via the `cards` parameter.")
    bits = positions(s, chosen, "Card index out of range: {}")
    least, most = targets_of(row)
    count = len(chosen)
    if not least <= count <= most:
        bound, wanted = ("at least", least) if count < least else ("at most", most)
        bound = "exactly" if least == most else bound
        raise Refused(f"{about} {bound} {wanted} card{'' if wanted == 1 else 's'} (provided: {count})")
    return bits


def sell(session: Session, params: Params) -> Any:
    """Sell a joker or a consumable."""
    if not params:
        raise Refused("Must provide exactly one of: joker or consumable")
    if len(params) > 1:
        raise Refused("Can only sell one item at a time")
    s, (what, index) = session.s, next(iter(params.items()))
    count = int(s.n_jokers if what == "joker" else s.n_consumables)
    if not count:
        raise Refused(f"No {what}s available to sell", "NOT_ALLOWED")
    if not 0 <= index < count:
        raise Refused(f"Index out of range for {what}: {index}")
    verb = Verb.SELL_JOKER if what == "joker" else Verb.SELL_CONSUMABLE
    session.act(verb, index, otherwise=Refused("An eternal joker cannot be sold", "NOT_ALLOWED"))
    return gamestate(session)
