"""Decisions of the engine as calls of the protocol."""

from typing import Any

from ante.engine.actions import Verb, cards_of, target_of, to_of, verb_of
from ante.engine.core.state import Phase
from ante.serve.balatrobot.dialects import Dialect
from ante.serve.balatrobot.shop import for_sale

Call = tuple[str, dict[str, Any]]
PLAIN = {
    Verb.SELECT_BLIND: "select",
    Verb.SKIP_BLIND: "skip",
    Verb.CASH_OUT: "cash_out",
    Verb.REROLL: "reroll",
    Verb.NEXT_ROUND: "next_round",
}
BUYS = {Verb.BUY: "card", Verb.BUY_VOUCHER: "voucher", Verb.OPEN_PACK: "pack"}


def call_of(s: Any, action: int, dialect: Dialect) -> Call | None:
    """Return the call that takes a legal macro decision; None if the protocol has none for it in this state."""
    verb, target = Verb(int(verb_of(action))), int(target_of(action))
    cards = [i for i in range(int(s.n_hand)) if (int(cards_of(action)) >> i) & 1]
    if verb in PLAIN:
        return PLAIN[verb], {}
    if verb in (Verb.PLAY, Verb.DISCARD):
        return verb.name.lower(), {"cards": cards}
    if verb in BUYS:
        return "buy", {BUYS[verb]: for_sale(s, BUYS[verb]).index(target)}
    if verb == Verb.PICK:
        return "pack", {"card": target} | ({"targets": cards} if cards else {})
    if verb == Verb.SKIP_PACK:
        return "pack", {"skip": True}
    return call_about_owned(s, verb, target, int(to_of(action)), cards, dialect)


def call_about_owned(s: Any, verb: Verb, target: int, to: int, cards: list[int], dialect: Dialect) -> Call | None:
    """Return the call for a decision about owned items or the order of cards, or one that only dialect 2.0 has."""
    in_pack = s.phase == Phase.PACK
    if s.phase not in (Phase.PLAY, Phase.SHOP) and not in_pack:
        return ("reroll_boss", {}) if verb == Verb.REROLL_BOSS and dialect.keyed else None
    if verb == Verb.MOVE_JOKER:
        return "rearrange", {"jokers": moved(int(s.n_jokers), target, to)}
    if verb == Verb.MOVE_CARD:
        return "rearrange", {"hand": moved(int(s.n_hand), target, to)}
    if in_pack and not dialect.keyed:
        return None
    if verb == Verb.USE:
        return "use", {"consumable": target} | ({"cards": cards} if cards else {})
    if verb in (Verb.SELL_JOKER, Verb.SELL_CONSUMABLE):
        return "sell", {"joker" if verb == Verb.SELL_JOKER else "consumable": target}
    if not dialect.keyed or in_pack:
        return None
    if verb == Verb.SORT_HAND:
        return "sort", {"by": "suit" if to else "rank"}
    return ("buy_and_use", {"card": for_sale(s, "card").index(target)}) if verb == Verb.BUY_AND_USE else None


def moved(n: int, source: int, to: int) -> list[int]:
    """Return the order of n cards after moving one."""
    order = list(range(n))
    order.insert(to, order.pop(source))
    return order
