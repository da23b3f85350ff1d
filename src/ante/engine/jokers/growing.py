"""Jokers with counters: their value grows or shrinks with events; some reset it, some are destroyed at the end.

`value` is the displayed number: it begins at `start` of the row and changes by `growth` or `loss`. `count` counts down.
"""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement, Sticker
from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ante.catalog.hands import HANDS
from ante.catalog.jokers import Joker
from ante.engine.core.rng import Stream
from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff
from ante.engine.core.tables import (
    J_CARDS,
    J_COUNT,
    J_EVERY,
    J_GROWTH,
    J_HAND,
    J_LOSS,
    J_REPEATS,
    J_START,
    J_XMULT,
)
from ante.engine.effects.moments import Moment, effect_of, on
from ante.engine.effects.verbs import (
    add_chips,
    add_mult,
    doom,
    is_face,
    is_suit,
    retrigger,
    set_enhancement,
    times_mult,
)
from ante.engine.items.owned import pick_joker
from ante.engine.items.prices import sell_value
from ante.engine.jokers.ranks import shows_rank_of

N_HANDS = len(HANDS)


# Contributions in the joker's own turn. The functions that change the values follow below.
@on(
    Moment.JOKER_SCORED,
    Joker.CEREMONIAL,
    Joker.RIDE_THE_BUS,
    Joker.GREEN_JOKER,
    Joker.RED_CARD,
    Joker.FLASH,
    Joker.POPCORN,
    Joker.TROUSERS,
)
def shown_mult(s, me, joker, card):
    """Add `value` to mult."""
    add_mult(s, s.jokers[me].value)


@on(Moment.JOKER_SCORED, Joker.RUNNER, Joker.ICE_CREAM, Joker.SQUARE, Joker.CASTLE, Joker.WEE)
def shown_chips(s, me, joker, card):
    """Add `value` to chips."""
    add_chips(s, s.jokers[me].value)


@on(
    Moment.JOKER_SCORED,
    Joker.CONSTELLATION,
    Joker.MADNESS,
    Joker.VAMPIRE,
    Joker.HOLOGRAM,
    Joker.OBELISK,
    Joker.LUCKY_CAT,
    Joker.RAMEN,
    Joker.CAMPFIRE,
    Joker.GLASS,
    Joker.HIT_THE_ROAD,
    Joker.CAINO,
    Joker.YORICK,
)
def shown_factor(s, me, joker, card):
    """Multiply mult by `value`."""
    if s.jokers[me].value > 1.0:
        times_mult(s, s.jokers[me].value)


# Flash Card: grows with each reroll of a shop. Red Card: grows with each pack skipped.
@on(Moment.SHOP_REROLLED, Joker.FLASH, copied=False)
@on(Moment.PACK_SKIPPED, Joker.RED_CARD, copied=False)
def grows(s, me, joker, card):
    """Grow by one step."""
    s.jokers[me].value += J_GROWTH[joker]


# Hologram: grows with each playing card added to the deck. Canio: with each face card destroyed. Glass Joker: with each
# Glass card destroyed.
@on(Moment.CARDS_ADDED, Joker.HOLOGRAM, copied=False)
@on(Moment.FACE_DESTROYED, Joker.CAINO, copied=False)
@on(Moment.GLASS_DESTROYED, Joker.GLASS, copied=False)
def grows_per_card(s, me, joker, card):
    """Grow by one step per card."""
    s.jokers[me].value += J_GROWTH[joker] * card


# Runner: grows if the hand contains a Straight. Spare Trousers: if it contains Two Pair.
@on(Moment.HAND_BEGINS, Joker.RUNNER, Joker.TROUSERS, copied=False)
def grows_with_hand(s, me, joker, card):
    """Grow by one step if the played cards contain the joker's hand."""
    if (s.contains >> J_HAND[joker]) & 1:
        s.jokers[me].value += J_GROWTH[joker]


# Green Joker: grows with each hand played and shrinks with each discard, never below nothing.
@on(Moment.HAND_BEGINS, Joker.GREEN_JOKER, copied=False)
def green_grows(s, me, joker, card):
    """Grow by one step."""
    s.jokers[me].value += J_GROWTH[joker]


@on(Moment.DISCARD_BEGINS, Joker.GREEN_JOKER, copied=False)
def green_shrinks(s, me, joker, card):
    """Shrink by one step."""
    s.jokers[me].value = max(0.0, s.jokers[me].value - J_LOSS[joker])


# Ride the Bus: grows with each hand in a row without a scoring face card; one starts it over.
@on(Moment.HAND_BEGINS, Joker.RIDE_THE_BUS, copied=False)
def ride_the_bus(s, me, joker, card):
    """Grow by one step or reset."""
    for i in range(s.n_played):
        if s.scoring[i] and is_face(s, int(s.played[i])):
            s.jokers[me].value = J_START[joker]
            return
    s.jokers[me].value += J_GROWTH[joker]


# Square Joker: grows with each hand of exactly four cards.
@on(Moment.HAND_BEGINS, Joker.SQUARE, copied=False)
def square(s, me, joker, card):
    """Grow by one step for the exact number of played cards."""
    if s.n_played == J_CARDS[joker]:
        s.jokers[me].value += J_GROWTH[joker]


# Vampire: grows with each scored enhanced card and takes the enhancement away.
@on(Moment.HAND_BEGINS, Joker.VAMPIRE, copied=False)
def vampire(s, me, joker, card):
    """Remove enhancements of scoring cards before they score; grow by one step for each. Skips debuffed cards."""
    enhanced = 0
    for i in range(s.n_played):
        c = s.cards[s.played[i]]
        if s.scoring[i] and c.enhancement != Enhancement.NONE and not c.debuffed:
            enhanced += 1
            set_enhancement(s, int(s.played[i]), int(Enhancement.NONE))
    s.jokers[me].value += J_GROWTH[joker] * enhanced  # one addition: adding card by card would round differently


# Obelisk: grows with each hand in a row that is not the most played one; a most played hand starts it over.
@on(Moment.HAND_BEGINS, Joker.OBELISK, copied=False)
def obelisk(s, me, joker, card):
    """Grow by one step or reset."""
    for hand in range(N_HANDS):
        if hand != s.hand_type and s.plays[hand] >= s.plays[s.hand_type]:
            s.jokers[me].value += J_GROWTH[joker]
            return
    s.jokers[me].value = J_START[joker]


# Wee Joker: grows with each scored two.
@on(Moment.CARD_SCORED, Joker.WEE, copied=False)
def wee(s, me, joker, card):
    """Grow by one step for a card of the ranks."""
    if shows_rank_of(s, card, joker):
        s.jokers[me].value += J_GROWTH[joker]


# Lucky Cat: grows each time a Lucky card triggers.
@on(Moment.CARD_SCORED, Joker.LUCKY_CAT, copied=False)
def lucky_cat(s, me, joker, card):
    """Grow by one step for a Lucky card that hit."""
    if s.cards[card].enhancement == Enhancement.LUCKY and s.lucky_hit:
        s.jokers[me].value += J_GROWTH[joker]


# Castle: grows with each discarded card of a suit that changes every round.
@on(Moment.CARD_DISCARDED, Joker.CASTLE, copied=False)
def castle(s, me, joker, card):
    """Grow by one step for a card of the round's suit."""
    if is_suit(s, card, int(s.castle_suit)):
        s.jokers[me].value += J_GROWTH[joker]


# Hit the Road: grows with each Jack discarded in the round, and starts over every round.
@on(Moment.CARD_DISCARDED, Joker.HIT_THE_ROAD, copied=False)
def hit_the_road(s, me, joker, card):
    """Grow by one step for a card of the ranks."""
    if shows_rank_of(s, card, joker) and not s.cards[card].debuffed:
        s.jokers[me].value += J_GROWTH[joker]


@on(Moment.ROUND_ENDS, Joker.HIT_THE_ROAD, copied=False)
def hit_the_road_starts_over(s, me, joker, card):
    """Reset."""
    s.jokers[me].value = J_START[joker]


# Yorick: grows after every n discarded cards.
@on(Moment.CARD_DISCARDED, Joker.YORICK, copied=False)
def yorick(s, me, joker, card):
    """Count down by one; at zero, grow one step and restart the counter."""
    s.jokers[me].count -= 1
    if s.jokers[me].count <= 0:
        s.jokers[me].count = J_COUNT[joker]
        s.jokers[me].value += J_GROWTH[joker]


# Campfire: grows with each card sold, and starts over when a boss is beaten.
@on(Moment.CARD_SOLD, Joker.CAMPFIRE, copied=False)
def campfire(s, me, joker, card):
    """Grow by one step; its own sale does not count."""
    if me != card:
        s.jokers[me].value += J_GROWTH[joker]


@on(Moment.ROUND_ENDS, Joker.CAMPFIRE, copied=False)
def campfire_starts_over(s, me, joker, card):
    """Reset after a boss."""
    if card > Blind.BIG:
        s.jokers[me].value = J_START[joker]


# Constellation: grows with each Planet used.
@on(Moment.CONSUMABLE_USED, Joker.CONSTELLATION, copied=False)
def constellation(s, me, joker, card):
    """Grow by one step for a Planet."""
    if FIRST_PLANET <= card < FIRST_SPECTRAL:
        s.jokers[me].value += J_GROWTH[joker]


# Ceremonial Dagger: destroys the joker to its right when a blind is selected, and gains mult for its sell value.
@on(Moment.BLIND_CHOSEN, Joker.CEREMONIAL, copied=False)
def ceremonial(s, me, joker, card):
    """Destroy the joker to the right, if it is not Eternal, and grow by one step per dollar of its sell value."""
    right = me + 1
    if right < s.n_jokers and can_be_destroyed(s, right):
        s.jokers[me].value += J_GROWTH[joker] * sell_value(s.jokers[right])
        doom(s, right)
        s.joker_buffer += 1  # reserves the slot for the joker that is made next


# Madness: grows when a Small or Big Blind is selected, and destroys a random other joker.
@on(Moment.BLIND_CHOSEN, Joker.MADNESS, copied=False)
def madness(s, me, joker, card):
    """Grow by one step and destroy a random other joker that is not Eternal, except against bosses."""
    if card > Blind.BIG:
        return
    s.jokers[me].value += J_GROWTH[joker]
    victim = pick_victim(s, int(Stream.MADNESS), me)
    if victim >= 0:
        doom(s, victim)


@rule
def pick_victim(s, stream, without):
    """Return the slot of a random joker that can be destroyed, except `without`, by creation number; -1 if none can."""
    slots = 0
    for i in range(s.n_jokers):
        if i != without and can_be_destroyed(s, i):
            slots |= 1 << i
    return pick_joker(s, stream, slots)


@rule
def can_be_destroyed(s, slot):
    """Return whether a joker can be destroyed: not Eternal, not already marked for destruction."""
    return not s.jokers[slot].stickers & Sticker.ETERNAL and s.jokers[slot].debuffed != Debuff.DOOMED


# Ice Cream: chips, fewer with each hand played; melts at nothing. Popcorn: mult, less with each round; eaten at nothing.
@on(Moment.HAND_SCORED, Joker.ICE_CREAM, copied=False)
@on(Moment.ROUND_ENDS, Joker.POPCORN, copied=False)
def shrinks(s, me, joker, card):
    """Shrink by one step; destroy the joker at 0."""
    s.jokers[me].value -= J_LOSS[joker]
    if s.jokers[me].value <= 0.0:
        doom(s, me)


# Ramen: X mult, less with each card discarded; eaten at X1.
@on(Moment.CARD_DISCARDED, Joker.RAMEN, copied=False)
def ramen(s, me, joker, card):
    """Shrink by one step; destroy the joker at X1."""
    s.jokers[me].value -= J_LOSS[joker]
    if s.jokers[me].value <= 1.0:
        doom(s, me)


# Seltzer: retriggers all scored cards for some hands.
@on(Moment.REPEAT_SCORED, Joker.SELZER)
def seltzer(s, me, joker, card):
    """Retrigger a scored card."""
    retrigger(s, J_REPEATS[joker])


@on(Moment.HAND_SCORED, Joker.SELZER, copied=False)
def seltzer_empties(s, me, joker, card):
    """Count down the remaining hands."""
    s.jokers[me].count -= 1
    if s.jokers[me].count <= 0:
        doom(s, me)


# Turtle Bean: hand size, less with each round; gone at nothing.
@on(Moment.WHILE_HELD, Joker.TURTLE_BEAN, copied=False)
def turtle_bean(s, me, joker, card):
    """Add the remaining hand size."""
    s.joker_hand_size += s.jokers[me].count


@on(Moment.ROUND_ENDS, Joker.TURTLE_BEAN, copied=False)
def turtle_bean_shrinks(s, me, joker, card):
    """Shrink by one step; destroy the joker at 0."""
    s.jokers[me].count -= int(J_LOSS[joker])
    s.lineup_stale = 1
    if s.jokers[me].count <= 0:
        doom(s, me)


# Loyalty Card: X mult on every sixth hand since it was acquired.
@on(Moment.JOKER_SCORED, Joker.LOYALTY_CARD)
def loyalty_card(s, me, joker, card):
    """Multiply mult on every hand that completes the count."""
    if (int(s.jokers[me].count) + 1) % J_EVERY[joker] == 0:
        times_mult(s, J_XMULT[joker])


@effect_of(Joker.LOYALTY_CARD)
def count_for_loyalty(s):
    """Count a hand for every Loyalty Card, including debuffed ones, for which no moment fires."""
    for slot in range(s.n_jokers):
        if s.jokers[slot].id == Joker.LOYALTY_CARD:
            s.jokers[slot].count += 1
