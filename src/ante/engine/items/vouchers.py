"""The effects of vouchers: a comment with the voucher's text, then the functions through which the rules read it.

In most pairs the second tier replaces the first; `better_of` returns the effective one.
"""

from ante.catalog.cards import Edition
from ante.catalog.constants import INTEREST_CAP_FIELD
from ante.catalog.consumables import Set
from ante.catalog.shop import ILLUSION_EDITION_ABOVE, ILLUSION_ENHANCED_ABOVE
from ante.catalog.vouchers import Voucher
from ante.engine.core.rng import Stream, roll
from ante.engine.core.rule import rule
from ante.engine.core.tables import (
    C_HAND,
    C_SET,
    EDITION_ILLUSION_ABOVE,
    PLANET_RATE,
    PLAYING_CARD_RATE,
    TAROT_RATE,
    V_ANTE,
    V_BOSS_REROLL,
    V_CONSUMABLE_SLOTS,
    V_DISCARDS,
    V_EDITION_TIMES,
    V_HAND_SIZE,
    V_HANDS,
    V_INTEREST_CAP,
    V_JOKER_SLOTS,
    V_PERCENT_OFF,
    V_PLAYING_CARD_RATE,
    V_RATE_TIMES,
    V_REROLL_DISCOUNT,
    V_SHOP_SLOTS,
    V_SPECTRAL_ABOVE,
    V_X_MULT,
)


# Grabber, Nacho Tong: more hands. Wasteful, Recyclomancy: more discards. Paint Brush, Palette: a larger hand. Crystal
# Ball: a consumable slot. Antimatter: a joker slot. Hieroglyph, Petroglyph: back an ante, for a hand or a discard. Blank:
# does nothing.
@rule
def take_voucher(s, voucher):
    """Redeem a voucher and add the numbers of its row to those of the run."""
    s.vouchers[voucher] = 1
    s.ante += V_ANTE[voucher]
    s.hands_each_round += V_HANDS[voucher]
    s.discards_each_round += V_DISCARDS[voucher]
    s.base_hand_size += V_HAND_SIZE[voucher]
    s.joker_slots += V_JOKER_SLOTS[voucher]
    s.consumable_slots += V_CONSUMABLE_SLOTS[voucher]


@rule
def better_of(s, second, first):
    """Return the effective one of two vouchers, NONE if neither is redeemed. The row of NONE changes nothing."""
    if s.vouchers[second]:
        return int(second)
    return int(first) if s.vouchers[first] else int(Voucher.NONE)


# Overstock, Overstock Plus: one more card slot in the shop each.
@rule
def more_row_slots(s):
    """Return the number of slots added to the shop row."""
    first = V_SHOP_SLOTS[Voucher.OVERSTOCK_NORM] * int(s.vouchers[Voucher.OVERSTOCK_NORM])
    return first + V_SHOP_SLOTS[Voucher.OVERSTOCK_PLUS] * int(s.vouchers[Voucher.OVERSTOCK_PLUS])


# Clearance Sale, Liquidation: lower prices.
@rule
def percent_off(s):
    """Return the percentage taken off every price."""
    return int(V_PERCENT_OFF[better_of(s, Voucher.LIQUIDATION, Voucher.CLEARANCE_SALE)])


# Hone, Glow Up: Foil, Holographic and Polychrome appear more often.
@rule
def edition_rate(s):
    """Return the factor on the rate of editions."""
    return V_EDITION_TIMES[better_of(s, Voucher.GLOW_UP, Voucher.HONE)]


# Reroll Surplus, Reroll Glut: rerolls cost less, each by as much.
@rule
def reroll_discount(s):
    """Return the discount on a reroll in dollars."""
    first = V_REROLL_DISCOUNT[Voucher.REROLL_SURPLUS] * int(s.vouchers[Voucher.REROLL_SURPLUS])
    return first + V_REROLL_DISCOUNT[Voucher.REROLL_GLUT] * int(s.vouchers[Voucher.REROLL_GLUT])


# Omen Globe: cards of Arcana packs may be Spectral.
@rule
def arcana_gives_spectral(s):
    """Return whether the next card of an Arcana pack is a Spectral; rolls only if the voucher is redeemed."""
    return s.vouchers[Voucher.OMEN_GLOBE] != 0 and roll(s, Stream.OMEN_GLOBE) > V_SPECTRAL_ABOVE[Voucher.OMEN_GLOBE]


# Telescope: the first card of a Celestial pack is the Planet of the most played hand.
@rule
def telescope_works(s, place):
    """Return whether the card at this place of a Celestial pack is the Planet of the most played hand."""
    return place == 0 and s.vouchers[Voucher.TELESCOPE] != 0


# Observatory: each Planet held multiplies mult for its hand.
@rule
def observe_planets(s):
    """Multiply the mult of the hand being scored."""
    if s.vouchers[Voucher.OBSERVATORY]:
        for i in range(s.n_consumables):
            consumable = s.consumables[i].id
            if C_SET[consumable] == Set.PLANET and C_HAND[consumable] == s.hand_type:
                s.score_mult *= V_X_MULT[Voucher.OBSERVATORY]


# Tarot Merchant, Tarot Tycoon: Tarots appear more often in the shop.
@rule
def tarot_rate(s):
    """Return the weight of Tarots in the shop row."""
    return TAROT_RATE * V_RATE_TIMES[better_of(s, Voucher.TAROT_TYCOON, Voucher.TAROT_MERCHANT)]


# Planet Merchant, Planet Tycoon: Planets appear more often in the shop.
@rule
def planet_rate(s):
    """Return the weight of Planets in the shop row."""
    return PLANET_RATE * V_RATE_TIMES[better_of(s, Voucher.PLANET_TYCOON, Voucher.PLANET_MERCHANT)]


# Seed Money, Money Tree: more money earns interest.
@rule
def interest_cap(s):
    """Return the maximum amount of money that earns interest."""
    return max(INTEREST_CAP_FIELD, int(V_INTEREST_CAP[better_of(s, Voucher.MONEY_TREE, Voucher.SEED_MONEY)]))


# Magic Trick: playing cards can appear in the shop.
@rule
def playing_card_rate(s):
    """Return the weight of playing cards in the shop row."""
    return V_PLAYING_CARD_RATE[Voucher.MAGIC_TRICK] if s.vouchers[Voucher.MAGIC_TRICK] else PLAYING_CARD_RATE


# Illusion: playing cards in the shop may have an enhancement and an edition.
@rule
def illusion_enhances(s):
    """Return whether a playing card as the next shop card is enhanced; rolls only if the voucher is redeemed."""
    return s.vouchers[Voucher.ILLUSION] != 0 and roll(s, Stream.ILLUSION) > ILLUSION_ENHANCED_ABOVE


@rule
def illusion_edition(s):
    """Return the edition of a playing card in the shop row."""
    if not s.vouchers[Voucher.ILLUSION] or roll(s, Stream.ILLUSION) <= ILLUSION_EDITION_ABOVE:
        return int(Edition.NONE)
    u = roll(s, Stream.ILLUSION)
    if u > EDITION_ILLUSION_ABOVE[Edition.POLYCHROME]:
        return int(Edition.POLYCHROME)
    return int(Edition.HOLO) if u > EDITION_ILLUSION_ABOVE[Edition.HOLO] else int(Edition.FOIL)


# Director's Cut: the boss can be rerolled once an ante. Retcon: any number of times.
@rule
def boss_can_be_rerolled(s):
    """Return whether the boss can be rerolled now."""
    if s.vouchers[Voucher.RETCON]:
        return True
    return s.vouchers[Voucher.DIRECTORS_CUT] != 0 and s.boss_rerolled == 0


@rule
def boss_reroll_price(s):
    """Return the price of a boss reroll in dollars."""
    if s.vouchers[Voucher.RETCON]:
        return int(V_BOSS_REROLL[Voucher.RETCON])
    return int(V_BOSS_REROLL[Voucher.DIRECTORS_CUT])
