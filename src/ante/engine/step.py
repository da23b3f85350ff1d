"""One decision: check its legality, then apply it."""

from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ante.catalog.packs import PackKind
from ante.engine import actions
from ante.engine.actions import (
    Verb,
    cards_of,
    is_legal,
    target_of,
    to_macro,
    to_of,
    verb_of,
)
from ante.engine.cards import draw_cards, draw_to_hand_size, return_hand_under_deck, select_forced, sort_hand
from ante.engine.core.rule import rule
from ante.engine.core.state import Kind, Phase, Status
from ante.engine.core.tables import PACK_KIND
from ante.engine.effects.active_boss import disable_boss, hand_limit
from ante.engine.effects.boss_dispatch import boss_joker_sold
from ante.engine.effects.consumable_dispatch import consumable_used
from ante.engine.items.card_array import add_card_item, put_in_deck
from ante.engine.items.making import remove_item
from ante.engine.items.owned import (
    add_consumable_from_item,
    add_joker_from_item,
    release,
    remove_consumable,
    remove_joker,
)
from ante.engine.items.packs import close_pack, open_pack_contents
from ante.engine.items.pools import draw_boss
from ante.engine.items.prices import inflate, sell_value, shop_price
from ante.engine.items.vouchers import boss_reroll_price
from ante.engine.jokers.dispatch import (
    fire_card_sold,
    fire_consumable_used,
    fire_pack_opened,
    fire_pack_skipped,
    fire_self_sold,
    fire_shop_rerolled,
)
from ante.engine.jokers.lineup import refresh_lineup, settle
from ante.engine.rounds import (
    cash_out,
    discard_cards,
    enter_blind_select,
    lose,
    next_round,
    play_cards,
    select_blind,
    skip_blind,
)
from ante.engine.shop import fill_row, pack_price, redeem, reroll_shop, row_size, voucher_price


@rule
def step(s, action):
    """Take one macro decision in one game. Returns the Status; ILLEGAL changes nothing.

    s       one record, changed in place
    action  int64 of actions.pack_action
    """
    if not is_legal(s, action):
        return int(Status.ILLEGAL)
    verb = verb_of(action)
    status = int(Status.PLAYING)
    if verb == Verb.SELECT:
        s.selected |= 1 << target_of(action)
    elif verb == Verb.CLEAR:
        select_forced(s)
    else:
        s.decisions += 1
        limit = hand_limit(s)
        status = decide(s, verb, target_of(action), to_of(action), cards_of(action))
        if s.lineup_stale:
            refresh_lineup(s)
        if verb >= Verb.USE:
            draw_growth(s, limit)
    return status


@rule
def draw_growth(s, before):
    """Draw as many cards as selling or using something in a round has added to the hand size."""
    if s.phase == Phase.PLAY and s.n_hand > 0 and hand_limit(s) > before:
        draw_cards(s, hand_limit(s) - before)


@rule
def decide(s, verb, target, to, cards):
    """Apply a legal decision other than a selection. Returns the Status."""
    if verb == Verb.PLAY:
        return play_cards(s, cards)
    if verb == Verb.DISCARD:
        return discard_cards(s, cards)
    if verb == Verb.SELECT_BLIND:
        return select_blind(s)
    if verb == Verb.SKIP_BLIND:
        skip_blind(s)
        open_queued_pack(s)
    elif verb == Verb.REROLL_BOSS:
        reroll_boss(s)
    elif verb == Verb.CASH_OUT:
        cash_out(s)
    elif verb == Verb.REROLL:
        reroll_shop(s)
        fire_shop_rerolled(s, 0)
    elif verb == Verb.NEXT_ROUND:
        next_round(s)
        open_queued_pack(s)
    elif verb == Verb.SKIP_PACK:
        fire_pack_skipped(s, 0)
        finish_pack(s)
    else:
        return decide_on_slot(s, verb, target, to, cards)
    return int(Status.PLAYING)


@rule
def decide_on_slot(s, verb, target, to, cards):
    """Apply a legal decision about one slot. Returns the Status."""
    if verb == Verb.SORT_HAND:
        s.sort_by_suit = to
        sort_hand(s)
    elif verb == Verb.BUY:
        buy(s, target)
    elif verb == Verb.BUY_AND_USE:
        buy_and_use(s, target)
    elif verb == Verb.BUY_VOUCHER:
        buy_voucher(s, target)
    elif verb == Verb.OPEN_PACK:
        buy_pack(s, target)
    elif verb == Verb.PICK:
        pick(s, target, cards)
    elif verb == Verb.USE:
        use_held(s, target, cards)
    elif verb == Verb.SELL_CONSUMABLE:
        sell_consumable(s, target)
    elif verb == Verb.SELL_JOKER:
        sell_joker(s, target)
    elif verb == Verb.MOVE_JOKER:
        move_joker(s, target, to)
    else:
        move_card(s, target, to)
    return int(Status.PLAYING) if refill_empty_hand(s) else lose(s)


@rule
def refill_empty_hand(s):
    """Draw a new hand if a round continues after its last cards were destroyed. Returns whether it has cards."""
    if s.phase != Phase.PLAY or s.n_hand > 0:
        return True
    draw_to_hand_size(s, False)
    return s.n_hand > 0


@rule
def reroll_boss(s):
    """Pay for a boss reroll and draw another boss for this ante."""
    s.dollars -= boss_reroll_price(s)
    s.boss_rerolled = 1
    s.boss = draw_boss(s)


@rule
def take_row_card(s, slot):
    """Remove the card in this slot from the shop row and close the gap."""
    remove_item(s.row, slot, int(s.n_row))
    s.n_row -= 1


@rule
def buy(s, slot):
    """Buy the shop card in this slot."""
    item = s.row[slot]
    s.dollars -= shop_price(item)
    if item.kind == Kind.JOKER:
        add_joker_from_item(s, item)
    elif item.kind == Kind.CONSUMABLE:
        add_consumable_from_item(s, item)
    else:
        add_playing_card(s, item)
    take_row_card(s, slot)
    inflate(s)
    settle(s)


@rule
def add_playing_card(s, item):
    """Put a card from the shop or a pack under the draw pile."""
    put_in_deck(s, add_card_item(s, item))


@rule
def buy_and_use(s, slot):
    """Buy the consumable in this slot and use it immediately."""
    item = s.row[slot]
    consumable = int(item.id)
    s.dollars -= shop_price(item)
    take_row_card(s, slot)
    inflate(s)
    use_and_count(s, consumable, 0)


@rule
def buy_voucher(s, slot):
    """Buy and redeem the voucher in this slot."""
    voucher = int(s.shop_vouchers[slot])
    s.dollars -= voucher_price(s, voucher)
    s.shop_vouchers[slot] = 0
    inflate(s)
    size = row_size(s)
    redeem(s, voucher)
    if row_size(s) > size:
        fill_row(s)
    if s.voucher_this_ante == voucher:
        s.voucher_this_ante = 0


@rule
def buy_pack(s, slot):
    """Buy and open the pack in this slot."""
    pack = int(s.packs[slot])
    s.dollars -= pack_price(s, slot)
    s.packs[slot] = -1
    open_pack(s, pack, Phase.SHOP)


@rule
def open_pack(s, pack, back):
    """Open a pack; for Arcana and Spectral packs, draw a hand as their targets."""
    s.pack_return = back
    s.phase = Phase.PACK
    inflate(s)
    open_pack_contents(s, pack)
    fire_pack_opened(s, 0)
    settle(s)
    kind = PACK_KIND[pack]
    if kind == PackKind.ARCANA or kind == PackKind.SPECTRAL:
        draw_cards(s, hand_limit(s))


@rule
def open_queued_pack(s):
    """Open the next pack of a tag, if one is queued."""
    if s.phase == Phase.BLIND_SELECT and s.queued_pack:
        pack = int(s.queued_pack) - 1
        s.queued_pack = 0
        open_pack(s, pack, Phase.BLIND_SELECT)


@rule
def pick(s, slot, cards):
    """Take one card of the open pack; use a consumable immediately."""
    item = s.pack[slot]
    kind, number = int(item.kind), int(item.id)
    if kind == Kind.JOKER:
        add_joker_from_item(s, item)
    elif kind == Kind.PLAYING_CARD:
        add_playing_card(s, item)
    remove_item(s.pack, slot, int(s.n_pack))
    s.n_pack -= 1
    if kind == Kind.CONSUMABLE:
        use_and_count(s, number, cards)
    settle(s)
    s.picks_left -= 1
    if s.picks_left <= 0 or s.n_pack == 0:
        finish_pack(s)


@rule
def finish_pack(s):
    """Close the pack, put its hand under the draw pile, and return to the previous phase."""
    close_pack(s)
    settle(s)
    if s.n_hand > 0:
        return_hand_under_deck(s)
    s.phase = s.pack_return
    if s.phase == Phase.BLIND_SELECT:
        enter_blind_select(s)
        open_queued_pack(s)


@rule
def use_held(s, slot, cards):
    """Use the consumable held in this slot.

    Its slot is free during the effect; its key stays in the set of used items until afterwards.
    """
    consumable = int(s.consumables[slot].id)
    remove_item(s.consumables, slot, int(s.n_consumables))
    s.n_consumables -= 1
    use_and_count(s, consumable, cards)


@rule
def use_and_count(s, consumable, cards):
    """Apply a consumable, count it and remove its key from the set of used items."""
    consumable_used(s, consumable, cards, 0)
    settle(s)
    if consumable < FIRST_PLANET:
        s.tarots_used += 1
    elif consumable < FIRST_SPECTRAL:
        s.planets_used |= 1 << (consumable - FIRST_PLANET)
    if consumable < FIRST_SPECTRAL:
        s.last_consumable = consumable
    release(s, Kind.CONSUMABLE, consumable)
    fire_consumable_used(s, consumable)
    settle(s)
    if s.phase == Phase.PLAY or s.phase == Phase.PACK:
        select_forced(s)


@rule
def sell_consumable(s, slot):
    """Sell the consumable in this slot."""
    s.dollars += sell_value(s.consumables[slot])
    remove_consumable(s, slot)
    fire_card_sold(s, -1)
    settle(s)


@rule
def sell_joker(s, slot):
    """Sell the joker in this slot, after its own last effect and the effects of the others."""
    s.dollars += sell_value(s.jokers[slot])
    fire_self_sold(s, slot)
    fire_card_sold(s, slot)
    remove_joker(s, slot)
    settle(s)
    if boss_joker_sold(s, 0):
        disable_boss(s)


@rule
def move_joker(s, source, to):
    """Move the joker at `source` to `to`."""
    s.made = s.jokers[source]
    direction = 1 if to > source else -1
    i = source
    while i != to:
        s.jokers[i] = s.jokers[i + direction]
        i += direction
    s.jokers[to] = s.made
    s.lineup_stale = 1


@rule
def move_card(s, source, to):
    """Move the hand card at `source` to `to` and select only forced cards."""
    card = s.hand[source]
    direction = 1 if to > source else -1
    i = source
    while i != to:
        s.hand[i] = s.hand[i + direction]
        i += direction
    s.hand[to] = card
    select_forced(s)


@rule
def step_discrete(s, index):
    """Take one discrete action. Returns the Status."""
    if index < 0 or index >= actions.N_DISCRETE:
        return int(Status.ILLEGAL)
    return step(s, to_macro(s, index))
