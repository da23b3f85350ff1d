"""Candidates of the shop and of an open pack: purchases and picks.

Items that are unaffordable or that do not fit are also listed, without the flag LEGAL.
"""

from ante.engine.actions import Verb, can_buy, can_buy_and_use, can_buy_voucher, can_open_pack, can_pick
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PACKS, Kind
from ante.engine.core.tables import PACK_KIND
from ante.engine.items.prices import shop_price
from ante.engine.shop import pack_price, voucher_price
from ante.env.entities.ids import BOOSTER_BASE, VOUCHER_BASE
from ante.lookahead.consumables import cards_for
from ante.lookahead.items import list_item, list_swap, write_price
from ante.lookahead.records import LEGAL, add_candidate


@rule
def list_shop(s, copies, w, out, suit, weakest):
    """List the shop's cards, vouchers and booster packs."""
    for slot in range(s.n_row):
        if s.row[slot].kind != Kind.NONE:
            list_shop_card(s, copies, w, out, slot, suit, weakest)
    for slot in range(s.n_shop_vouchers):
        voucher = int(s.shop_vouchers[slot])
        if voucher:
            flags = LEGAL if can_buy_voucher(s, slot) else 0
            k = add_candidate(out, Verb.BUY_VOUCHER, slot, 0, VOUCHER_BASE + voucher, flags)
            if k >= 0:
                write_price(s, out.entries[k], int(voucher_price(s, voucher)))
    for slot in range(MAX_PACKS):
        if s.packs[slot] >= 0:
            flags = LEGAL if can_open_pack(s, slot) else 0
            k = add_candidate(out, Verb.OPEN_PACK, slot, 0, BOOSTER_BASE + int(PACK_KIND[s.packs[slot]]), flags)
            if k >= 0:
                write_price(s, out.entries[k], int(pack_price(s, slot)))


@rule
def list_shop_card(s, copies, w, out, slot, suit, weakest):
    """List one card of the shop: to buy, to swap for the weakest joker, and to use immediately."""
    item = s.row[slot]
    price = int(shop_price(item))
    k = list_item(s, copies, w, out, Verb.BUY, slot, 0, item, LEGAL if can_buy(s, slot) else 0, suit, weakest)
    if k >= 0:
        write_price(s, out.entries[k], price)
    if item.kind == Kind.JOKER:
        list_swap(s, out, k, item, price, weakest)
    if can_buy_and_use(s, slot):
        k = list_item(s, copies, w, out, Verb.BUY_AND_USE, slot, 0, item, LEGAL, suit, weakest)
        if k >= 0:
            write_price(s, out.entries[k], price)


@rule
def list_pack(s, copies, w, out, suit, weakest):
    """List the cards of the open pack."""
    for slot in range(s.n_pack):
        item = s.pack[slot]
        if item.kind != Kind.NONE:
            cards = cards_for(s, w.hand, int(item.id)) if item.kind == Kind.CONSUMABLE else 0
            flags = LEGAL if can_pick(s, slot, cards) else 0
            k = list_item(s, copies, w, out, Verb.PICK, slot, cards, item, flags, suit, weakest)
            if item.kind == Kind.JOKER:
                list_swap(s, out, k, item, 0, weakest)
