"""Methods about a round: blinds, hands, discards, cash-out, and the order of cards."""

from collections.abc import Sequence
from typing import Any

from ante.catalog.vouchers import Voucher
from ante.engine.actions import Verb
from ante.engine.core.state import MAX_PLAYED, Phase
from ante.engine.items.vouchers import boss_can_be_rerolled, boss_reroll_price
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.protocol import Params, Refused
from ante.serve.balatrobot.session import Session

BOSS_PANEL = 2


def select(session: Session, _: Params) -> Any:
    """Start the next blind."""
    session.act(Verb.SELECT_BLIND)
    return gamestate(session)


def skip(session: Session, _: Params) -> Any:
    """Skip the next blind and gain its tag."""
    if session.s.blind_on_deck == BOSS_PANEL:
        raise Refused("Cannot skip Boss blind", "NOT_ALLOWED")
    session.act(Verb.SKIP_BLIND)
    return gamestate(session)


def reroll_boss(session: Session, _: Params) -> Any:
    """Draw another boss for this ante."""
    session.act(Verb.REROLL_BOSS, otherwise=refused_reroll(session.s))
    return gamestate(session)


def refused_reroll(s: Any) -> Refused:
    """Return why the boss cannot be rerolled, if it cannot."""
    if not s.vouchers[Voucher.RETCON] and not s.vouchers[Voucher.DIRECTORS_CUT]:
        return Refused("Reroll Boss Blind requires the Director's Cut or Retcon voucher", "NOT_ALLOWED")
    if not boss_can_be_rerolled(s):
        return Refused("Director's Cut allows one Reroll Boss Blind per ante; already used", "NOT_ALLOWED")
    has = int(s.dollars) + int(s.debt_allowed)
    return Refused(
        f"Not enough dollars to reroll boss. Available: {has}, Required: {int(boss_reroll_price(s))}", "NOT_ALLOWED"
    )


def play(session: Session, params: Params) -> Any:
    """Play cards of the hand."""
    s, chosen = session.s, params["cards"]
    if not chosen:
        raise Refused("Must provide at least one card to play")
    bits = chosen_cards(s, chosen, "play")
    session.act(Verb.PLAY, cards=bits, otherwise=Refused("No hands left", "NOT_ALLOWED"))
    return gamestate(session)


def discard(session: Session, params: Params) -> Any:
    """Discard cards of the hand."""
    s, chosen = session.s, params["cards"]
    if not chosen:
        raise Refused("Must provide at least one card to discard")
    if s.discards_left <= 0:
        raise Refused("No discards left. Play cards using `play` instead.")
    session.act(Verb.DISCARD, cards=chosen_cards(s, chosen, "discard"))
    return gamestate(session)


def chosen_cards(s: Any, chosen: Sequence[int], verb: str) -> int:
    """Return hand positions as bits. Raises Refused, also if a card that the boss forces is not among them."""
    if len(chosen) > MAX_PLAYED:
        raise Refused(f"You can only {verb} {MAX_PLAYED} cards. Provide fewer card indices.")
    bits = positions(s, chosen, "Invalid card index: {}")
    for i in range(int(s.n_hand)):
        if s.cards[s.hand[i]].forced and not (bits >> i) & 1:
            raise Refused(f"Card at index {i} is forced-selected by the boss blind. Include it in your {verb}.")
    return bits


def positions(s: Any, chosen: Sequence[int], outside: str) -> int:
    """Return hand positions as bits. Raises Refused.

    outside  message for a position without a card, with a place for the number
    """
    bits = 0
    for index in chosen:
        if not 0 <= index < s.n_hand:
            raise Refused(outside.format(index))
        if (bits >> index) & 1:
            raise Refused(f"Duplicate card index: {index}")
        bits |= 1 << index
    return bits


def cash_out(session: Session, _: Params) -> Any:
    """Collect the payout and enter the shop."""
    session.act(Verb.CASH_OUT)
    return gamestate(session)


def next_round(session: Session, _: Params) -> Any:
    """Leave the shop."""
    session.act(Verb.NEXT_ROUND)
    return gamestate(session)


def sort(session: Session, params: Params) -> Any:
    """Sort the hand by rank or by suit."""
    by = params["by"]
    if by not in ("rank", "suit"):
        raise Refused(f'Sort \'by\' must be "rank" or "suit", got "{by[:80]}"')
    session.act(Verb.SORT_HAND, to=int(by == "suit"))
    return gamestate(session)


def rearrange(session: Session, params: Params) -> Any:
    """Put the hand, the jokers or the consumables in another order."""
    if not params:
        raise Refused("Must provide exactly one of: hand, jokers, or consumables")
    if len(params) > 1:
        raise Refused("Can only rearrange one type at a time")
    s, (what, order) = session.s, next(iter(params.items()))
    if what == "hand":
        check_hand(s)
    check_order(order, int({"hand": s.n_hand, "jokers": s.n_jokers, "consumables": s.n_consumables}[what]), what)
    if what == "consumables":
        s.consumables[: len(order)] = s.consumables[: len(order)][order].copy()
    else:
        move_into(session, Verb.MOVE_CARD if what == "hand" else Verb.MOVE_JOKER, order)
    return gamestate(session)


def check_hand(s: Any) -> None:
    """Raise Refused if there is no hand to rearrange."""
    if s.phase not in (Phase.PLAY, Phase.PACK):
        raise Refused("Can only rearrange hand during hand selection", "INVALID_STATE")
    if s.phase == Phase.PACK and s.n_hand == 0:
        why = "No cards to rearrange. You can only rearrange hand in Arcana and Spectral packs."
        raise Refused(why, "NOT_ALLOWED")


def check_order(order: Sequence[int], n: int, what: str) -> None:
    """Raise Refused unless the indices are a permutation."""
    if len(order) != n:
        raise Refused(f"Must provide exactly {n} indices for {what}")
    seen = set()
    for index in order:
        if not 0 <= index < n:
            raise Refused(f"Index out of range for {what}: {index}")
        if index in seen:
            raise Refused(f"Duplicate index in {what}: {index}")
        seen.add(index)


def move_into(session: Session, verb: Verb, order: Sequence[int]) -> None:
    """Move cards until they have this order of their present positions. Raises Refused if a joker is pinned."""
    now = list(range(len(order)))
    for place, wanted in enumerate(order):
        at = now.index(wanted)
        if at != place:
            session.act(verb, at, place, otherwise=Refused("A pinned joker stays leftmost", "NOT_ALLOWED"))
            now.insert(place, now.pop(at))
