"""From a key to a macro decision: which are legal now, and why others are not."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ante.catalog.cards import EDITIONS, Sticker
from ante.catalog.consumables import CONSUMABLES
from ante.engine.actions import Verb, can_pay, has_hand, has_room, is_legal, pack_action
from ante.engine.core.state import MAX_PACKS, MAX_PLAYED, Kind, Phase
from ante.engine.items.prices import shop_price
from ante.engine.items.vouchers import boss_can_be_rerolled, boss_reroll_price
from ante.engine.options import has_set
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.env.text import PHASES, item_name
from ante.messages import number_of
from ante.terminal.bindings import HAND_WORDS, Binding, Group, places
from ante.terminal.session import Session

NEEDS_CARDS = "select 1 to 5 cards first (keys 1 to 0, or the cursor and space)"


def action_of(session: Session, binding: Binding, slot: int = 0) -> int:
    """Return the macro decision of a key, and of the slot chosen after it, counted from 0."""
    assert binding.verb is not None
    cards = session.selected if binding.cards else 0
    if binding.verb in (Verb.USE, Verb.PICK) and not wants_cards(session.s, binding.verb, slot):
        cards = 0
    if binding.verb == Verb.MOVE_CARD:
        slot, to = session.cursor, session.cursor + (1 if binding.key == "." else -1)
        return int(pack_action(binding.verb, slot, to, 0)) if to >= 0 else -1
    to = slot + binding.to if binding.verb == Verb.MOVE_JOKER else binding.to
    return int(pack_action(binding.verb, slot, to, cards)) if to >= 0 else -1


def wants_cards(s: Any, verb: Verb, slot: int) -> bool:
    """Return whether this consumable acts on selected cards."""
    return cards_wanted(s, verb, slot)[1] > 0


def cards_wanted(s: Any, verb: Verb, slot: int) -> tuple[int, int]:
    """Return the least and the most cards that a consumable held or in the open pack takes; (0, 0) if none."""
    items, n = (s.pack, s.n_pack) if verb == Verb.PICK else (s.consumables, s.n_consumables)
    if slot >= n or items[slot].kind != Kind.CONSUMABLE:
        return 0, 0
    row = CONSUMABLES[items[slot].id]
    return (max(1, row.min_highlighted), row.max_highlighted) if row.max_highlighted else (0, 0)


class Use(IntEnum):
    """Whether a key acts now."""

    NO = 0
    WITH_CARDS = 1  # if other cards are selected
    YES = 2


def use_of(session: Session, binding: Binding) -> Use:
    """Return whether a key acts now, for some slot if it requires one."""
    s, verb = session.s, binding.verb
    if s.phase not in binding.phases:
        return Use.NO
    if verb is None:
        return Use.YES if binding.group != Group.CARDS or has_hand(s) else Use.NO
    slots = range(n_slots(s, binding))
    if any(is_legal(s, action_of(session, binding, slot)) for slot in slots):
        return Use.YES
    return Use.WITH_CARDS if binding.cards and any(has_set(s, int(verb), slot) for slot in slots) else Use.NO


COUNTS: dict[Verb, Callable[[Any], int]] = {
    Verb.BUY: lambda s: int(s.n_row),
    Verb.BUY_AND_USE: lambda s: int(s.n_row),
    Verb.BUY_VOUCHER: lambda s: int(s.n_shop_vouchers),
    Verb.OPEN_PACK: lambda s: MAX_PACKS,
    Verb.PICK: lambda s: int(s.n_pack),
    Verb.USE: lambda s: int(s.n_consumables),
    Verb.SELL_CONSUMABLE: lambda s: int(s.n_consumables),
    Verb.SELL_JOKER: lambda s: int(s.n_jokers),
    Verb.MOVE_JOKER: lambda s: int(s.n_jokers),
}


def n_slots(s: Any, binding: Binding) -> int:
    """Return the number of slots that a key can be followed by; 1 if it requires none."""
    return COUNTS[binding.verb](s) if binding.slot and binding.verb is not None else 1


def why_not(session: Session, binding: Binding, slot: int = 0) -> str:
    """Return why a key does nothing now, in one sentence."""
    s, verb = session.s, binding.verb
    if s.phase not in binding.phases:
        return f"you can {binding.about} {places(binding)}; now: {PHASES[Phase(int(s.phase))]}"
    if binding.slot and not 0 <= slot < n_slots(s, binding):
        return f"there is no {binding.slot}{f' {slot + 1}' if n_slots(s, binding) else ''}"
    if verb in REASONS:
        return REASONS[verb](session, binding, slot)
    return f"you cannot {binding.about} now"


def why_not_play(session: Session, binding: Binding, _: int) -> str:
    """Return why the selected cards cannot be played or discarded."""
    s, cards = session.s, session.selected
    left = int(s.hands_left if binding.verb == Verb.PLAY else s.discards_left)
    if left <= 0:
        return f"no {'hands' if binding.verb == Verb.PLAY else 'discards'} are left in this round"
    if not cards:
        return NEEDS_CARDS
    return f"at most {MAX_PLAYED} cards, and those that Cerulean Bell forces"


def why_not_buy(session: Session, binding: Binding, slot: int) -> str:
    """Return why a card for sale cannot be bought, or bought and used."""
    s, item = session.s, session.s.row[slot]
    if item.kind == Kind.NONE:
        return f"slot {slot + 1} is sold out"
    if not can_pay(s, shop_price(item)):
        return too_expensive(s, int(shop_price(item)))
    if binding.verb == Verb.BUY_AND_USE:
        if item.kind != Kind.CONSUMABLE:
            return f"{item_name(item)} is not a consumable: buy it with b"
        return f"{item_name(item)} cannot be used now, {condition(int(item.id))}: buy it with b"
    return no_room(s, item) if not has_room(s, item) else f"{item_name(item)} cannot be bought now"


def no_room(s: Any, item: Any) -> str:
    """Return that there is no free slot for an item."""
    if item.kind == Kind.JOKER:
        return f"joker slots are full ({s.n_jokers} of {joker_slots(s)}): sell a joker with x first"
    if item.kind == Kind.CONSUMABLE:
        return (
            f"consumable slots are full ({s.n_consumables} of {consumable_slots(s)}): use one with u or sell one with X"
        )
    return "the deck is full"


def joker_slots(s: Any) -> int:
    """Return the number of joker slots, with those of Negative jokers."""
    return int(s.joker_slots) + negative_slots(s.jokers[: s.n_jokers])


def consumable_slots(s: Any) -> int:
    """Return the number of consumable slots, with those of Negative consumables."""
    return int(s.consumable_slots) + negative_slots(s.consumables[: s.n_consumables])


def negative_slots(items: Any) -> int:
    """Return the number of slots that the Negative ones among these items add."""
    return sum(EDITIONS[item.edition].slots for item in items)


def too_expensive(s: Any, price: int) -> str:
    """Return that the money does not cover a price."""
    debt = f" and may owe ${s.debt_allowed}" if s.debt_allowed else ""
    return f"it costs ${price}, and you have ${s.dollars}{debt}"


def why_not_voucher(session: Session, _: Binding, slot: int) -> str:
    """Return why a voucher cannot be redeemed."""
    s = session.s
    voucher = int(s.shop_vouchers[slot])
    return too_expensive(s, int(voucher_price(s, voucher))) if voucher else f"voucher {slot + 1} is sold out"


def why_not_pack(session: Session, _: Binding, slot: int) -> str:
    """Return why a pack cannot be bought."""
    s = session.s
    return too_expensive(s, int(pack_price(s, slot))) if s.packs[slot] >= 0 else f"pack {slot + 1} is sold out"


def why_not_pick(session: Session, binding: Binding, slot: int) -> str:
    """Return why a card of the pack cannot be taken."""
    s, item = session.s, session.s.pack[slot]
    if item.kind == Kind.CONSUMABLE:
        return why_not_use(session, binding, slot)
    return no_room(s, item)


def why_not_use(session: Session, binding: Binding, slot: int) -> str:
    """Return why a consumable cannot be used on the selected cards."""
    s, verb = session.s, binding.verb
    assert verb is not None
    item = s.pack[slot] if verb == Verb.PICK else s.consumables[slot]
    least, most = cards_wanted(s, verb, slot)
    chosen = session.selected.bit_count()
    if most and not has_hand(s):
        return f"{item_name(item)} acts on hand cards: use it {HAND_WORDS}"
    if most and not least <= chosen <= most:
        wanted = f"{least} to {most} cards" if least < most else number_of(most, "card")
        return f"{item_name(item)} takes {wanted}: {chosen} {'is' if chosen == 1 else 'are'} selected"
    return f"{item_name(item)} has no effect now, {condition(int(item.id))}"


def condition(consumable: int) -> str:
    """Return the text of a consumable as a reason."""
    effect = CONSUMABLES[consumable].effect.removesuffix(".")
    return f"its text is: {effect}"


def why_not_sell(session: Session, _: Binding, slot: int) -> str:
    """Return why a joker cannot be sold."""
    eternal = session.s.jokers[slot].stickers & Sticker.ETERNAL
    return f"{item_name(session.s.jokers[slot])} cannot be sold" + (": it is Eternal" if eternal else "")


def why_not_move(session: Session, binding: Binding, slot: int) -> str:
    """Return why a joker cannot be moved."""
    s, to = session.s, slot + binding.to
    if not 0 <= to < s.n_jokers:
        return f"joker {slot + 1} is the {'first' if binding.to < 0 else 'last'}"
    return "a pinned joker stays leftmost"


def why_not_move_card(session: Session, binding: Binding, _: int) -> str:
    """Return why the card at the cursor cannot be moved."""
    if not has_hand(session.s):
        return "there is no hand to move cards in"
    return f"the cursor is at the {'right' if binding.key == '.' else 'left'} end of the hand"


def why_not_boss(session: Session, _: Binding, __: int) -> str:
    """Return why the boss cannot be rerolled."""
    s = session.s
    if not boss_can_be_rerolled(s):
        return "rerolling a boss requires Director's Cut, once an ante, or Retcon (vouchers)"
    return too_expensive(s, int(boss_reroll_price(s)))


REASONS: dict[Verb | None, Callable[[Session, Binding, int], str]] = {
    Verb.PLAY: why_not_play,
    Verb.DISCARD: why_not_play,
    Verb.BUY: why_not_buy,
    Verb.BUY_AND_USE: why_not_buy,
    Verb.BUY_VOUCHER: why_not_voucher,
    Verb.OPEN_PACK: why_not_pack,
    Verb.PICK: why_not_pick,
    Verb.USE: why_not_use,
    Verb.SELL_JOKER: why_not_sell,
    Verb.MOVE_JOKER: why_not_move,
    Verb.MOVE_CARD: why_not_move_card,
    Verb.REROLL_BOSS: why_not_boss,
    Verb.SKIP_BLIND: lambda session, *_: "the boss cannot be skipped: enter it with e",
    Verb.REROLL: lambda session, *_: too_expensive(session.s, int(reroll_price(session.s))),
    Verb.SORT_HAND: lambda *_: "there is no hand to sort",
}
