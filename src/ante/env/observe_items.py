"""Jokers, consumables, the shop and the open pack in the observation record."""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.jokers import Joker
from ante.engine.core.rule import rule
from ante.engine.core.state import (
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    SHOWN_CONSUMABLES,
    Kind,
    Phase,
)
from ante.engine.core.tables import PACK_CHOOSE, PACK_KIND, PACK_SIZE
from ante.engine.items.prices import sell_value, shop_price
from ante.engine.shop import pack_price, voucher_price
from ante.env.layout import BIG, BOOSTER, CONSUMABLE, I2, ITEM, JOKER, JOKER_VALUE, TARGET, VOUCHER

N_JOKER_COLUMNS, N_ITEM_COLUMNS, N_JOKER_VALUES = len(JOKER), len(ITEM), len(JOKER_VALUE)
SHOWS_IDOL, SHOWS_MAIL, SHOWS_ANCIENT, SHOWS_CASTLE = 1, 2, 4, 8  # visible jokers whose text contains a target


@rule
def short(x):
    """Clip an integer to the range of 16 bits."""
    return max(-I2, min(I2, int(x)))


@rule
def in_shop(s):
    """Return whether the shop's items are visible: in the shop, or behind a pack bought there."""
    return s.phase == Phase.SHOP or (s.phase == Phase.PACK and s.pack_return == Phase.SHOP)


@rule
def jokers_hidden(s):
    """Return whether Amber Acorn has turned the jokers face down."""
    return s.phase == Phase.PLAY and s.blind == Blind.FINAL_ACORN and s.boss_disabled == 0


@rule
def write_stickers(rows, i, eternal, perishable, rental, stickers):
    """Write the stickers of row i into the three given columns."""
    rows[i, eternal] = 1 if stickers & Sticker.ETERNAL else 0
    rows[i, perishable] = 1 if stickers & Sticker.PERISHABLE else 0
    rows[i, rental] = 1 if stickers & Sticker.RENTAL else 0


@rule
def listed_hand(item):
    """Return 1 + the Hand that To Do List lists, 0 for every other card."""
    return 1 + int(item.hand) if item.kind == Kind.JOKER and item.id == Joker.TODO_LIST else 0


@rule
def write_jokers(s, o):
    """Write the jokers; under Amber Acorn in the order of their numbers."""
    j, v = o.jokers, o.joker_values
    for i in range(MAX_JOKERS):
        for k in range(N_JOKER_COLUMNS):
            j[i, k] = 0
        v[i, JOKER_VALUE.value] = 0.0
        v[i, JOKER_VALUE.count] = 0.0
    hidden = jokers_hidden(s)
    for i in range(s.n_jokers):
        item = s.jokers[i]
        j[i, JOKER.id] = item.id
        j[i, JOKER.edition] = item.edition
        write_stickers(j, i, JOKER.eternal, JOKER.perishable, JOKER.rental, int(item.stickers))
        j[i, JOKER.rounds] = item.rounds
        j[i, JOKER.debuffed] = 1 if item.debuffed else 0  # the record contains the cause, the observation does not
        j[i, JOKER.face_down] = 1 if hidden else 0
        j[i, JOKER.sell_value] = short(sell_value(item))
        j[i, JOKER.hand] = listed_hand(item)
        v[i, JOKER_VALUE.value] = max(-BIG, min(BIG, float(item.value)))
        v[i, JOKER_VALUE.count] = float(item.count)
    if hidden:
        hide_order(s, o)


@rule
def comes_before(o, a, b):
    """Return whether row a of the jokers sorts before row b by all visible columns."""
    for k in range(N_JOKER_COLUMNS):
        if o.jokers[a, k] != o.jokers[b, k]:
            return o.jokers[a, k] < o.jokers[b, k]
    for k in range(N_JOKER_VALUES):
        if o.joker_values[a, k] != o.joker_values[b, k]:
            return o.joker_values[a, k] < o.joker_values[b, k]
    return False


@rule
def hide_order(s, o):
    """Sort the rows of the jokers, so that they do not reveal positions."""
    for i in range(1, s.n_jokers):
        k = i
        while k > 0 and comes_before(o, k, k - 1):
            for c in range(N_JOKER_COLUMNS):
                o.jokers[k, c], o.jokers[k - 1, c] = o.jokers[k - 1, c], o.jokers[k, c]
            for c in range(N_JOKER_VALUES):
                o.joker_values[k, c], o.joker_values[k - 1, c] = o.joker_values[k - 1, c], o.joker_values[k, c]
            k -= 1


@rule
def write_consumables(s, o):
    """Write the consumables held."""
    for i in range(SHOWN_CONSUMABLES):
        held = i < s.n_consumables
        o.consumables[i, CONSUMABLE.id] = s.consumables[i].id if held else 0
        o.consumables[i, CONSUMABLE.negative] = 1 if held and s.consumables[i].edition == Edition.NEGATIVE else 0
        o.consumables[i, CONSUMABLE.sell_value] = short(sell_value(s.consumables[i])) if held else 0


@rule
def write_item(item, rows, i, price):
    """Write one card of the shop row or a pack."""
    kind = int(item.kind)
    rows[i, ITEM.kind] = kind
    rows[i, ITEM.id] = item.id if kind == Kind.JOKER or kind == Kind.CONSUMABLE else 0
    front = kind == Kind.PLAYING_CARD and item.enhancement != Enhancement.STONE
    rows[i, ITEM.rank] = item.rank if front else 0
    rows[i, ITEM.suit] = 1 + int(item.suit) if front else 0
    rows[i, ITEM.enhancement] = item.enhancement if kind == Kind.PLAYING_CARD else 0
    rows[i, ITEM.edition] = item.edition
    rows[i, ITEM.seal] = item.seal if kind == Kind.PLAYING_CARD else 0
    write_stickers(rows, i, ITEM.eternal, ITEM.perishable, ITEM.rental, int(item.stickers))
    rows[i, ITEM.hand] = listed_hand(item)
    rows[i, ITEM.price] = short(price)


@rule
def no_item(rows, i):
    """Clear a slot of the shop row or a pack."""
    for k in range(N_ITEM_COLUMNS):
        rows[i, k] = 0


@rule
def write_shop(s, o):
    """Write the cards, vouchers and packs for sale while the shop is visible."""
    shop = in_shop(s)
    for i in range(MAX_ROW):
        if shop and i < s.n_row and s.row[i].kind != Kind.NONE:
            write_item(s.row[i], o.row, i, shop_price(s.row[i]))
        else:
            no_item(o.row, i)
    for i in range(MAX_SHOP_VOUCHERS):
        voucher = int(s.shop_vouchers[i]) if shop and i < s.n_shop_vouchers else 0
        o.shop_vouchers[i, VOUCHER.id] = voucher
        o.shop_vouchers[i, VOUCHER.price] = voucher_price(s, voucher) if voucher else 0
    for i in range(MAX_PACKS):
        pack = int(s.packs[i]) if shop else -1
        o.packs[i, BOOSTER.kind_plus_1] = 1 + PACK_KIND[pack] if pack >= 0 else 0
        o.packs[i, BOOSTER.size] = PACK_SIZE[pack] if pack >= 0 else 0
        o.packs[i, BOOSTER.choose] = PACK_CHOOSE[pack] if pack >= 0 else 0
        o.packs[i, BOOSTER.price] = pack_price(s, i) if pack >= 0 else 0


@rule
def write_pack(s, o):
    """Write the cards of the open pack."""
    for i in range(MAX_PACK):
        if s.phase == Phase.PACK and i < s.n_pack and s.pack[i].kind != Kind.NONE:
            write_item(s.pack[i], o.pack, i, 0)
        else:
            no_item(o.pack, i)


@rule
def target_bit(number):
    """Return the target in a joker's text as one of the SHOWS bits; 0 for every other joker."""
    if number == Joker.IDOL:
        return SHOWS_IDOL
    if number == Joker.MAIL:
        return SHOWS_MAIL
    if number == Joker.ANCIENT:
        return SHOWS_ANCIENT
    return SHOWS_CASTLE if number == Joker.CASTLE else 0


@rule
def write_targets(s, o):
    """Write the targets of The Idol, Mail-In Rebate, Ancient Joker and Castle, if one of these jokers is visible."""
    seen = 0
    for i in range(s.n_jokers):
        seen |= target_bit(int(s.jokers[i].id))
    if in_shop(s):
        for i in range(s.n_row):
            if s.row[i].kind == Kind.JOKER:
                seen |= target_bit(int(s.row[i].id))
    if s.phase == Phase.PACK:
        for i in range(s.n_pack):
            if s.pack[i].kind == Kind.JOKER:
                seen |= target_bit(int(s.pack[i].id))
    o.targets[TARGET.idol_rank] = s.idol_rank if seen & SHOWS_IDOL else 0
    o.targets[TARGET.idol_suit_plus_1] = 1 + s.idol_suit if seen & SHOWS_IDOL else 0
    o.targets[TARGET.mail_rank] = s.mail_rank if seen & SHOWS_MAIL else 0
    o.targets[TARGET.ancient_suit_plus_1] = 1 + s.ancient_suit if seen & SHOWS_ANCIENT else 0
    o.targets[TARGET.castle_suit_plus_1] = 1 + s.castle_suit if seen & SHOWS_CASTLE else 0
