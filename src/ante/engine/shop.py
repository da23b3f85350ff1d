"""The shop: its row, the voucher on display, two packs, rerolls and prices."""

from ante.catalog.cards import Edition
from ante.catalog.challenges import Modifier
from ante.catalog.decks import Deck
from ante.catalog.locks import PACK_LOCKS
from ante.catalog.packs import PackKind
from ante.catalog.packs import by_key as pack_number
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher
from ante.engine.create import (
    Source,
    clear_item,
    discounted,
    make_joker,
    make_planet,
    make_playing_card,
    make_spectral,
    make_tarot,
    price,
    release,
)
from ante.engine.numbers import PACK_COST, PACK_KIND, PACK_WEIGHT, PACK_WEIGHTS_TOTAL, V_COST
from ante.engine.pools import barred
from ante.engine.rng import Stream, roll
from ante.engine.rule import rule
from ante.engine.state import FREE, MAX_PACKS, MAX_SHOP_VOUCHERS, Rule
from ante.engine.tags import tag_gives_edition, tag_makes_row_card, tags_add_vouchers, take_tag

FIRST_BUFFOON = pack_number["p_buffoon_normal_1"]
N_PACKS = len(PACK_WEIGHT)
JOKER_RATE = 20.0
ENHANCED_ABOVE = 0.6
EDITION_ABOVE = 0.8


@rule
def row_size(s):
    """Slots of the shop row."""
    return 2 + int(s.vouchers[Voucher.OVERSTOCK_NORM]) + int(s.vouchers[Voucher.OVERSTOCK_PLUS])


@rule
def tarot_rate(s):
    """Weight of tarots in the row."""
    if s.vouchers[Voucher.TAROT_TYCOON]:
        return 32.0
    return 9.6 if s.vouchers[Voucher.TAROT_MERCHANT] else 4.0


@rule
def planet_rate(s):
    """Weight of planets in the row."""
    if s.vouchers[Voucher.PLANET_TYCOON]:
        return 32.0
    return 9.6 if s.vouchers[Voucher.PLANET_MERCHANT] else 4.0


@rule
def make_row_card(s):
    """The next card of the row stands in s.made."""
    if tag_makes_row_card(s):
        tag_gives_edition(s)
        return
    jokers = 0.0 if s.modifiers & Modifier.NO_SHOP_JOKERS else JOKER_RATE
    tarot, planet = tarot_rate(s), planet_rate(s)
    playing = 4.0 if s.vouchers[Voucher.MAGIC_TRICK] else 0.0
    spectral = 2.0 if s.deck_id == Deck.GHOST else 0.0
    illusion = s.vouchers[Voucher.ILLUSION] != 0
    enhanced = illusion and roll(s, Stream.ILLUSION) > ENHANCED_ABOVE
    p = roll(s, Stream.CDT) * (jokers + tarot + planet + playing + spectral)
    source = int(Source.SHO)
    if p <= jokers:
        make_joker(s, source, True, False)
    elif p <= jokers + tarot:
        make_tarot(s, source, False)
    elif p <= jokers + tarot + planet:
        make_planet(s, source, False)
    elif p <= jokers + tarot + planet + playing:
        make_playing_card(s, source, enhanced)
        if illusion:
            give_illusion_edition(s)
    else:
        make_spectral(s, source, False)
    tag_gives_edition(s)


@rule
def give_illusion_edition(s):
    """The playing card in s.made may carry an edition."""
    if roll(s, Stream.ILLUSION) > EDITION_ABOVE:
        u = roll(s, Stream.ILLUSION)
        s.made.edition = int(Edition.POLYCHROME) if u > 0.85 else (int(Edition.HOLO) if u > 0.5 else int(Edition.FOIL))
        price(s, s.made)


@rule
def fill_row(s):
    """The row is full: cards are made left to right for what is missing."""
    while s.n_row < row_size(s):
        make_row_card(s)
        s.row[s.n_row] = s.made
        s.n_row += 1


@rule
def empty_row(s):
    """No card is on show; the keys of those that stood there are free again."""
    for i in range(s.n_row):
        kind, number = int(s.row[i].kind), int(s.row[i].id)
        clear_item(s.row[i])
        release(s, kind, number)
    s.n_row = 0


@rule
def draw_pack(s):
    """The next pack for sale. The first one of a run is always a normal Buffoon Pack, without a draw."""
    if not s.first_shop_made and not barred(s, PACK_LOCKS + FIRST_BUFFOON):
        s.first_shop_made = 1
        return FIRST_BUFFOON
    p = roll(s, Stream.SHOP_PACK) * offered_weight(s)
    total = 0.0
    last = 0
    for pack in range(N_PACKS):
        if not barred(s, PACK_LOCKS + pack):
            total += PACK_WEIGHT[pack]
            last = pack
            if total >= p:
                return pack
    return last


@rule
def offered_weight(s):
    """Weight of all packs that can be for sale."""
    if not s.restricted:
        return PACK_WEIGHTS_TOTAL
    total = 0.0
    for pack in range(N_PACKS):
        if not barred(s, PACK_LOCKS + pack):
            total += PACK_WEIGHT[pack]
    return total


@rule
def enter_shop(s):
    """The shop is open: row, voucher, packs, then the tags that act on it."""
    s.reroll_raise = 0
    s.free_rerolls = s.free_rerolls_held
    s.couponed = 0
    s.reroll_base = 5
    if take_tag(s, int(Tag.D_SIX)):
        s.reroll_base = 0
    s.n_row = 0
    fill_row(s)
    s.n_shop_vouchers = 0
    if s.voucher_this_ante:
        s.shop_vouchers[0] = s.voucher_this_ante
        s.n_shop_vouchers = 1
    tags_add_vouchers(s)
    for slot in range(MAX_PACKS):
        s.packs[slot] = draw_pack(s)
    if take_tag(s, int(Tag.COUPON)):
        s.couponed = 1
        for i in range(s.n_row):
            s.row[i].stickers |= FREE


@rule
def reroll_price(s):
    """Dollars that the next reroll costs."""
    if s.free_rerolls > 0:
        return 0
    base = int(s.reroll_base)
    base -= 2 * (int(s.vouchers[Voucher.REROLL_SURPLUS]) + int(s.vouchers[Voucher.REROLL_GLUT]))
    return max(0, base) + int(s.reroll_raise)


@rule
def reroll_shop(s):
    """The reroll is paid for and a full new row stands there, drawn from the same streams."""
    s.dollars -= reroll_price(s)
    if s.free_rerolls > 0:
        s.free_rerolls -= 1
    else:
        s.reroll_raise += 1
    empty_row(s)
    fill_row(s)


@rule
def voucher_price(s, voucher):
    """Dollars that a voucher costs."""
    return discounted(s, int(V_COST[voucher]))


@rule
def pack_price(s, slot):
    """Dollars that the pack in this slot costs."""
    pack = s.packs[slot]
    if s.couponed or (PACK_KIND[pack] == PackKind.CELESTIAL and s.rules & Rule.ASTRONOMER):
        return 0
    return discounted(s, int(PACK_COST[pack]))


@rule
def leave_shop(s):
    """Nothing is on sale any more, and no unsold card blocks its key."""
    empty_row(s)
    for i in range(MAX_SHOP_VOUCHERS):
        s.shop_vouchers[i] = 0
    s.n_shop_vouchers = 0
    for slot in range(MAX_PACKS):
        s.packs[slot] = -1
    s.couponed = 0
