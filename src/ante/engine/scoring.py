"""Scoring of one played hand, stage by stage.

Order: the boss may refuse or weaken the hand; jokers at its beginning; scoring cards left to right with all their
triggers; held cards; jokers left to right; Observatory; the deck; then destroyed cards and counters.
"""

from ante.catalog.cards import Edition, Enhancement, Seal
from ante.catalog.challenges import Modifier
from ante.catalog.decks import Deck
from ante.engine.core.arithmetic import floor_of
from ante.engine.core.rng import Stream, chance
from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff
from ante.engine.core.tables import (
    EDITION_CHIPS,
    EDITION_MULT,
    EDITION_X_MULT,
    ENHANCEMENT_BREAK_ODDS,
    ENHANCEMENT_CHIPS,
    ENHANCEMENT_DOLLARS,
    ENHANCEMENT_DOLLARS_ODDS,
    ENHANCEMENT_HELD_X_MULT,
    ENHANCEMENT_MULT,
    ENHANCEMENT_MULT_ODDS,
    ENHANCEMENT_X_MULT,
    HAND_CHIPS,
    HAND_CHIPS_STEP,
    HAND_MULT,
    HAND_MULT_STEP,
    RANK_CHIPS,
    SEAL_DOLLARS,
    SEAL_RETRIGGERS,
)
from ante.engine.effects.boss_dispatch import boss_hand_allowed, boss_hand_begins, boss_hand_valued
from ante.engine.effects.moments import Moment
from ante.engine.effects.poker import find_hand
from ante.engine.effects.verbs import destroy_card
from ante.engine.items.vouchers import observe_planets
from ante.engine.jokers.copying import resolve
from ante.engine.jokers.dispatch import (
    fire_boss_triggered,
    fire_card_held,
    fire_card_scored,
    fire_deck_counted,
    fire_hand_begins,
    fire_hand_destroys,
    fire_hand_scored,
    fire_other_joker_scored,
    fire_repeat_held,
    fire_repeat_scored,
    joker_scored,
    lineup_moments,
)
from ante.engine.jokers.growing import count_for_loyalty
from ante.engine.jokers.lineup import fire_additions


@rule
def score_hand(s):
    """Score the cards in s.played and add their total to the blind's chips.

    The caller has removed them from the hand and counted the hand as used; cards that break are destroyed here.
    """
    moments = value_hand(s)
    s.chips += s.hand_total
    if s.boss_triggered or s.hand_refused:
        fire_boss_triggered(s, 0)
    if not s.hand_refused:
        break_cards(s, moments)
    if moments & 1 << int(Moment.HAND_SCORED):
        fire_hand_scored(s, 0)
    wear_cards(s)
    count_for_loyalty(s)


@rule
def value_hand(s):
    """Write the total of the cards in s.played to s.hand_total, without what follows. Returns `lineup_moments`."""
    find_hand(s)
    hand = int(s.hand_type)
    s.last_hand = hand
    s.score_chips = 0.0
    s.score_mult = 0.0
    s.plays[hand] += 1
    s.plays_round[hand] += 1
    s.hands_played_run += 1
    s.hand_refused = 0 if boss_hand_allowed(s, 0) else 1
    moments = lineup_moments(s)
    if moments & 1 << int(Moment.DECK_COUNTED):
        fire_deck_counted(s, 0)
    if not s.hand_refused:
        evaluate(s, moments)
    s.hand_total = floor_of(s.score_chips * s.score_mult)
    return moments


@rule
def evaluate(s, moments):
    """Compute chips and mult of a hand that the boss allows.

    SPEED: most line-ups act at few of the moments that come once per card: those are fired only if a joker acts then.
    moments  those of `lineup_moments`; no effect of these moments adds a joker
    """
    boss_hand_begins(s, 0)
    s.money_in_hand = s.dollars
    if moments & 1 << int(Moment.HAND_BEGINS):
        fire_hand_begins(s, 0)
    fire_additions(s)
    hand = int(s.hand_type)
    levels = float(s.levels[hand] - 1)
    s.score_chips = HAND_CHIPS[hand] + HAND_CHIPS_STEP[hand] * levels
    s.score_mult = HAND_MULT[hand] + HAND_MULT_STEP[hand] * levels
    cap_chips(s)
    boss_hand_valued(s, 0)
    for i in range(s.n_played):
        if s.scoring[i]:
            score_card(s, int(s.played[i]), moments)
    for i in range(s.n_hand):
        hold_card(s, int(s.hand[i]), moments)
    for slot in range(s.n_jokers):
        score_joker(s, slot, moments)
    observe_planets(s)
    cap_chips(s)
    if s.deck_id == Deck.PLASMA:
        half = floor_of((s.score_chips + s.score_mult) / 2.0)
        s.score_chips = half
        s.score_mult = half


@rule
def cap_chips(s):
    """Rich get Richer: limit the chips to the dollars at the beginning of the hand.

    Chips are only added after the hand's own, so a limit at the end equals a limit at each addition.
    """
    if s.modifiers & Modifier.CHIPS_CAP:
        s.score_chips = min(s.score_chips, float(max(0, int(s.money_in_hand))))


@rule
def wear_cards(s):
    """Double or Nothing: debuff scored cards permanently."""
    if s.modifiers & Modifier.WEAR:
        for i in range(s.n_played):
            if s.scoring[i]:
                s.cards[s.played[i]].worn = 1
                s.cards[s.played[i]].debuffed = Debuff.LASTING


@rule
def score_card(s, card, moments):
    """Score one card with all its triggers; moments as in `evaluate`. A debuffed card has no effect."""
    c = s.cards[card]
    if c.debuffed:
        s.boss_triggered = 1
        return
    s.repeats = SEAL_RETRIGGERS[c.seal]
    if moments & 1 << int(Moment.REPEAT_SCORED):
        fire_repeat_scored(s, card)
    for _ in range(1 + int(s.repeats)):
        trigger_card(s, card)
        if moments & 1 << int(Moment.CARD_SCORED):
            fire_card_scored(s, card)


@rule
def trigger_card(s, card):
    """Apply the card's own effects of one trigger: chips, mult, money, edition."""
    c = s.cards[card]
    kind = c.enhancement
    s.score_chips += ENHANCEMENT_CHIPS[Enhancement.STONE] if kind == Enhancement.STONE else RANK_CHIPS[c.rank]
    s.score_chips += c.bonus
    if kind == Enhancement.BONUS:
        s.score_chips += ENHANCEMENT_CHIPS[Enhancement.BONUS]
    elif kind == Enhancement.MULT:
        s.score_mult += ENHANCEMENT_MULT[Enhancement.MULT]
    elif kind == Enhancement.LUCKY:
        trigger_lucky(s)
    if c.seal == Seal.GOLD:
        s.dollars += SEAL_DOLLARS[Seal.GOLD]
    if kind == Enhancement.GLASS:
        s.score_mult *= ENHANCEMENT_X_MULT[Enhancement.GLASS]
    if c.edition == Edition.FOIL:
        s.score_chips += EDITION_CHIPS[Edition.FOIL]
    elif c.edition == Edition.HOLO:
        s.score_mult += EDITION_MULT[Edition.HOLO]
    elif c.edition == Edition.POLYCHROME:
        s.score_mult *= EDITION_X_MULT[Edition.POLYCHROME]


@rule
def trigger_lucky(s):
    """Roll twice for a Lucky card; Lucky Cat counts each trigger with a hit."""
    hit = False
    if chance(s, Stream.LUCKY_MULT, ENHANCEMENT_MULT_ODDS[Enhancement.LUCKY]):
        s.score_mult += ENHANCEMENT_MULT[Enhancement.LUCKY]
        hit = True
    if chance(s, Stream.LUCKY_MONEY, ENHANCEMENT_DOLLARS_ODDS[Enhancement.LUCKY]):
        s.dollars += ENHANCEMENT_DOLLARS[Enhancement.LUCKY]
        hit = True
    s.lucky_hit = 1 if hit else 0


@rule
def hold_card(s, card, moments):
    """Apply one card held in hand with all its triggers; moments as in `evaluate`."""
    c = s.cards[card]
    fires = moments & 1 << int(Moment.CARD_HELD) != 0
    if c.debuffed or (c.enhancement != Enhancement.STEEL and not fires):
        return
    s.repeats = SEAL_RETRIGGERS[c.seal]
    if moments & 1 << int(Moment.REPEAT_HELD):
        fire_repeat_held(s, card)
    for _ in range(1 + int(s.repeats)):
        if c.enhancement == Enhancement.STEEL:
            s.score_mult *= ENHANCEMENT_HELD_X_MULT[Enhancement.STEEL]
        if fires:
            fire_card_held(s, card)


@rule
def score_joker(s, slot, moments):
    """Apply one joker: Foil or Holographic, its effect, the effects of other jokers on it, Polychrome.

    moments  as in `evaluate`
    """
    item = s.jokers[slot]
    if not item.debuffed:
        if item.edition == Edition.FOIL:
            s.score_chips += EDITION_CHIPS[Edition.FOIL]
        elif item.edition == Edition.HOLO:
            s.score_mult += EDITION_MULT[Edition.HOLO]
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            joker_scored(s, me, int(s.jokers[me].id), 0)
    if moments & 1 << int(Moment.OTHER_JOKER_SCORED):
        fire_other_joker_scored(s, slot)
    if not item.debuffed and item.edition == Edition.POLYCHROME:
        s.score_mult *= EDITION_X_MULT[Edition.POLYCHROME]


@rule
def break_cards(s, moments):
    """Destroy cards after scoring, in scoring order: by jokers, then Glass cards that break; moments as in `evaluate`."""
    for i in range(s.n_played):
        card = int(s.played[i])
        if not s.scoring[i]:
            continue
        if moments & 1 << int(Moment.HAND_DESTROYS):
            fire_hand_destroys(s, card)
        c = s.cards[card]
        if c.enhancement == Enhancement.GLASS and not c.debuffed:
            if chance(
                s, Stream.GLASS, ENHANCEMENT_BREAK_ODDS[Enhancement.GLASS]
            ):  # also rolled for a card that is already destroyed
                destroy_card(s, card)
