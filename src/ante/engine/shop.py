"""The shop: its row, its voucher, two packs, rerolls and prices."""

from ante.catalog.challenges import Modifier
from ante.catalog.constants import REROLL_BASE, REROLL_STEP, SHOP_PACKS, SHOP_SLOTS
from ante.catalog.locks import PACK_LOCKS
from ante.catalog.packs import PackKind
from ante.catalog.packs import by_key as pack_number
from ante.engine.core.rng import Stream, roll
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PACKS, MAX_SHOP_VOUCHERS, Rule
from ante.engine.core.tables import (
    DECK_SPECTRAL_RATE,
    JOKER_RATE,
    PACK_COST,
    PACK_KIND,
    PACK_WEIGHT,
    PACK_WEIGHTS_TOTAL,
    SPECTRAL_RATE,
    V_COST,
    V_PERCENT_OFF,
)
from ante.engine.effects.tags import (
    tag_frees_shop,
    tag_gives_edition,
    tag_lowers_rerolls,
    tag_makes_row_card,
    tags_add_vouchers,
)
from ante.engine.items.making import clear_item, make_joker, make_planet, make_playing_card, make_spectral, make_tarot
from ante.engine.items.owned import release
from ante.engine.items.pools import barred
from ante.engine.items.prices import discounted, price, reprice_all
from ante.engine.items.sources import CardSource, JokerSource, PlanetSource, SpectralSource, TarotSource
from ante.engine.items.vouchers import (
    illusion_edition,
    illusion_enhances,
    more_row_slots,
    planet_rate,
    playing_card_rate,
    reroll_discount,
    take_voucher,
    tarot_rate,
)

FIRST_BUFFOON = pack_number["p_buffoon_normal_1"]
N_PACKS = len(PACK_WEIGHT)


@rule
def row_size(s):
    """Return the number of slots of the shop row."""
    return SHOP_SLOTS + more_row_slots(s)


@rule
def make_row_card(s):
    """Draw the next card of the row into s.made."""
    if tag_makes_row_card(s):
        tag_gives_edition(s)
        return
    jokers = 0.0 if s.modifiers & Modifier.NO_SHOP_JOKERS else JOKER_RATE
    tarot, planet = tarot_rate(s), planet_rate(s)
    playing = playing_card_rate(s)
    spectral = SPECTRAL_RATE + DECK_SPECTRAL_RATE[s.deck_id]
    enhanced = illusion_enhances(s)
    p = roll(s, Stream.CDT) * (jokers + tarot + planet + playing + spectral)
    if p <= jokers:
        make_joker(s, int(JokerSource.SHO), True, False)
    elif p <= jokers + tarot:
        make_tarot(s, int(TarotSource.SHO), False)
    elif p <= jokers + tarot + planet:
        make_planet(s, int(PlanetSource.SHO), False)
    elif p <= jokers + tarot + planet + playing:
        make_playing_card(s, int(CardSource.SHO), enhanced)
        s.made.edition = illusion_edition(s)
        price(s, s.made)
    else:
        make_spectral(s, int(SpectralSource.SHO), False)
    tag_gives_edition(s)


@rule
def fill_row(s):
    """Make cards for the empty slots of the row, left to right."""
    while s.n_row < row_size(s):
        make_row_card(s)
        s.row[s.n_row] = s.made
        s.n_row += 1


@rule
def empty_row(s):
    """Remove all cards of the row and make their keys available."""
    for i in range(s.n_row):
        kind, number = int(s.row[i].kind), int(s.row[i].id)
        clear_item(s.row[i])
        release(s, kind, number)
    s.n_row = 0


@rule
def draw_pack(s):
    """Return the next pack for sale. The first one of a run is always a normal Buffoon Pack, without a draw."""
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
    """Return the total weight of all packs that can be for sale."""
    if not s.restricted:
        return PACK_WEIGHTS_TOTAL
    total = 0.0
    for pack in range(N_PACKS):
        if not barred(s, PACK_LOCKS + pack):
            total += PACK_WEIGHT[pack]
    return total


@rule
def enter_shop(s):
    """Open the shop: row, voucher, packs, then the tags that act on it."""
    s.reroll_raise = 0
    s.free_rerolls = s.free_rerolls_held
    s.couponed = 0
    s.reroll_base = REROLL_BASE
    tag_lowers_rerolls(s)
    s.n_row = 0
    fill_row(s)
    s.n_shop_vouchers = 0
    if s.voucher_this_ante:
        s.shop_vouchers[0] = s.voucher_this_ante
        s.n_shop_vouchers = 1
    tags_add_vouchers(s)
    for slot in range(SHOP_PACKS):
        s.packs[slot] = draw_pack(s)
    tag_frees_shop(s)


@rule
def reroll_price(s):
    """Return the price of the next reroll in dollars."""
    if s.free_rerolls > 0:
        return 0
    return max(0, int(s.reroll_base) - reroll_discount(s)) + int(s.reroll_raise)


@rule
def reroll_shop(s):
    """Pay for the reroll and draw a full new row from the same streams."""
    s.dollars -= reroll_price(s)
    if s.free_rerolls > 0:
        s.free_rerolls -= 1
    else:
        s.reroll_raise += REROLL_STEP
    empty_row(s)
    fill_row(s)


@rule
def redeem(s, voucher):
    """Redeem a voucher and update prices. The caller fills a shop row that has become longer."""
    take_voucher(s, voucher)
    s.lineup_stale = 1
    if V_PERCENT_OFF[voucher]:
        reprice_all(s)


@rule
def voucher_price(s, voucher):
    """Return the price of a voucher in dollars."""
    return discounted(s, int(V_COST[voucher]))


@rule
def pack_price(s, slot):
    """Return the price of the pack in this slot in dollars."""
    pack = s.packs[slot]
    if s.couponed or (PACK_KIND[pack] == PackKind.CELESTIAL and s.rules & Rule.ASTRONOMER):
        return 0
    return discounted(s, int(PACK_COST[pack]))


@rule
def leave_shop(s):
    """Remove everything for sale and make the keys of unsold cards available."""
    empty_row(s)
    for i in range(MAX_SHOP_VOUCHERS):
        s.shop_vouchers[i] = 0
    s.n_shop_vouchers = 0
    for slot in range(MAX_PACKS):
        s.packs[slot] = -1
    s.couponed = 0
