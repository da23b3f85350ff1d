"""One played hand, stage by stage.

Order: the boss may refuse or weaken it; jokers as the hand begins; scoring cards left to right, each with its
triggers; held cards; jokers left to right; Observatory; the deck; then what breaks, and what melts.
"""

from ante.catalog.cards import Edition, Enhancement, Seal
from ante.catalog.challenges import Modifier
from ante.catalog.consumables import Set
from ante.catalog.decks import Deck
from ante.catalog.jokers import Joker
from ante.catalog.vouchers import Voucher
from ante.engine.arithmetic import floor_of
from ante.engine.bosses import hand_allowed, weaken_hand
from ante.engine.jokers.copying import resolve
from ante.engine.jokers.dispatch import (
    fire_boss_triggered,
    fire_card_held,
    fire_card_scored,
    fire_hand_begins,
    fire_hand_destroys,
    fire_hand_scored,
    fire_repeat_held,
    fire_repeat_scored,
    joker_scored,
    other_joker_scored,
)
from ante.engine.jokers.lineup import answer_additions
from ante.engine.numbers import C_HAND, C_SET, HAND_CHIPS, HAND_CHIPS_STEP, HAND_MULT, HAND_MULT_STEP, RANK_CHIPS
from ante.engine.poker import find_hand
from ante.engine.rng import Stream, chance
from ante.engine.rule import rule
from ante.engine.state import Place
from ante.engine.verbs import destroy_card

BONUS_CHIPS, STONE_CHIPS, FOIL_CHIPS = 30.0, 50.0, 50.0
MULT_CARD, LUCKY_MULT, HOLO_MULT = 4.0, 20.0, 10.0
GLASS_FACTOR, STEEL_FACTOR, POLYCHROME_FACTOR, OBSERVATORY_FACTOR = 2.0, 1.5, 1.5, 1.5
LUCKY_DOLLARS, GOLD_SEAL_DOLLARS = 20, 3
LUCKY_MULT_ODDS, LUCKY_MONEY_ODDS, GLASS_ODDS = 5.0, 15.0, 4.0


@rule
def score_hand(s):
    """The cards in s.played are scored and their total counts for the blind.

    The caller has taken them from the hand and counted the hand as used; breaking cards are destroyed here.
    """
    find_hand(s)
    hand = int(s.hand_type)
    s.last_hand = hand
    s.score_chips = 0.0
    s.score_mult = 0.0
    s.plays[hand] += 1
    s.plays_round[hand] += 1
    s.hands_played_run += 1
    s.hand_refused = 0 if hand_allowed(s) else 1
    if s.n_jokers:
        take_tally(s)
    if not s.hand_refused:
        evaluate(s)
    s.hand_total = floor_of(s.score_chips * s.score_mult)
    s.chips += s.hand_total
    if s.boss_triggered or s.hand_refused:
        fire_boss_triggered(s, 0)
    if not s.hand_refused:
        break_cards(s)
    fire_hand_scored(s, 0)
    wear_cards(s)
    count_for_loyalty(s)


@rule
def count_for_loyalty(s):
    """Every Loyalty Card has seen one more hand, a debuffed one too."""
    for slot in range(s.n_jokers):
        if s.jokers[slot].id == Joker.LOYALTY_CARD:
            s.jokers[slot].count += 1


@rule
def take_tally(s):
    """Counts over the full deck as they stand before the hand; jokers that count cards do not see it change."""
    s.tally_steel, s.tally_stone, s.tally_enhanced, s.tally_nines = 0, 0, 0, 0
    for i in range(s.n_cards):
        c = s.cards[i]
        if c.place != Place.GONE:
            s.tally_steel += c.enhancement == Enhancement.STEEL
            s.tally_stone += c.enhancement == Enhancement.STONE
            s.tally_enhanced += c.enhancement != Enhancement.NONE
            s.tally_nines += c.rank == 9 and c.enhancement != Enhancement.STONE


@rule
def evaluate(s):
    """Chips and mult of a hand that the boss lets pass."""
    weaken_hand(s, True)
    s.money_in_hand = s.dollars
    fire_hand_begins(s, 0)
    answer_additions(s)
    hand = int(s.hand_type)
    levels = float(s.levels[hand] - 1)
    s.score_chips = HAND_CHIPS[hand] + HAND_CHIPS_STEP[hand] * levels
    s.score_mult = HAND_MULT[hand] + HAND_MULT_STEP[hand] * levels
    cap_chips(s)
    weaken_hand(s, False)
    for i in range(s.n_played):
        if s.scoring[i]:
            score_card(s, int(s.played[i]))
    for i in range(s.n_hand):
        hold_card(s, int(s.hand[i]))
    for slot in range(s.n_jokers):
        score_joker(s, slot)
    if s.vouchers[Voucher.OBSERVATORY]:
        observe_planets(s)
    cap_chips(s)
    if s.deck_id == Deck.PLASMA:
        half = floor_of((s.score_chips + s.score_mult) / 2.0)
        s.score_chips = half
        s.score_mult = half


@rule
def cap_chips(s):
    """Rich get Richer: the chips are at most the dollars held as the hand began.

    Chips are only ever added after the hand's own, so a cap at the end is a cap at each addition.
    """
    if s.modifiers & Modifier.CHIPS_CAP:
        s.score_chips = min(s.score_chips, float(max(0, int(s.money_in_hand))))


@rule
def wear_cards(s):
    """Double or Nothing: what has scored is debuffed for good."""
    if s.modifiers & Modifier.WEAR:
        for i in range(s.n_played):
            if s.scoring[i]:
                s.cards[s.played[i]].worn = 1
                s.cards[s.played[i]].debuffed = 1


@rule
def score_card(s, card):
    """One scoring card with all its triggers. A debuffed one gives nothing."""
    c = s.cards[card]
    if c.debuffed:
        s.boss_triggered = 1
        return
    s.repeats = 1 if c.seal == Seal.RED else 0
    fire_repeat_scored(s, card)
    for _ in range(1 + int(s.repeats)):
        trigger_card(s, card)
        fire_card_scored(s, card)


@rule
def trigger_card(s, card):
    """What the card itself gives each time it triggers: chips, mult, money, its edition."""
    c = s.cards[card]
    kind = c.enhancement
    s.score_chips += STONE_CHIPS if kind == Enhancement.STONE else RANK_CHIPS[c.rank]
    s.score_chips += c.bonus
    if kind == Enhancement.BONUS:
        s.score_chips += BONUS_CHIPS
    elif kind == Enhancement.MULT:
        s.score_mult += MULT_CARD
    elif kind == Enhancement.LUCKY:
        trigger_lucky(s)
    if c.seal == Seal.GOLD:
        s.dollars += GOLD_SEAL_DOLLARS
    if kind == Enhancement.GLASS:
        s.score_mult *= GLASS_FACTOR
    if c.edition == Edition.FOIL:
        s.score_chips += FOIL_CHIPS
    elif c.edition == Edition.HOLO:
        s.score_mult += HOLO_MULT
    elif c.edition == Edition.POLYCHROME:
        s.score_mult *= POLYCHROME_FACTOR


@rule
def trigger_lucky(s):
    """A Lucky card's two rolls; Lucky Cat learns of each trigger that hit."""
    hit = False
    if chance(s, Stream.LUCKY_MULT, LUCKY_MULT_ODDS):
        s.score_mult += LUCKY_MULT
        hit = True
    if chance(s, Stream.LUCKY_MONEY, LUCKY_MONEY_ODDS):
        s.dollars += LUCKY_DOLLARS
        hit = True
    s.lucky_hit = 1 if hit else 0


@rule
def hold_card(s, card):
    """One card held in hand with all its triggers."""
    c = s.cards[card]
    if c.debuffed:
        return
    if c.enhancement != Enhancement.STEEL and s.n_jokers == 0:
        return
    s.repeats = 1 if c.seal == Seal.RED else 0
    fire_repeat_held(s, card)
    for _ in range(1 + int(s.repeats)):
        if c.enhancement == Enhancement.STEEL:
            s.score_mult *= STEEL_FACTOR
        fire_card_held(s, card)


@rule
def score_joker(s, slot):
    """One joker's turn: Foil or Holographic, its own effect, the others' answer, Polychrome."""
    item = s.jokers[slot]
    if not item.debuffed:
        if item.edition == Edition.FOIL:
            s.score_chips += FOIL_CHIPS
        elif item.edition == Edition.HOLO:
            s.score_mult += HOLO_MULT
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            joker_scored(s, me, int(s.jokers[me].id), 0)
    for other in range(s.n_jokers):
        me = resolve(s, other)
        if me >= 0:
            s.acting = other
            s.copying = 1 if me != other else 0
            other_joker_scored(s, me, int(s.jokers[me].id), slot)
    if not item.debuffed and item.edition == Edition.POLYCHROME:
        s.score_mult *= POLYCHROME_FACTOR


@rule
def observe_planets(s):
    """Observatory: each held planet of the played hand multiplies."""
    for i in range(s.n_consumables):
        consumable = s.consumables[i].id
        if C_SET[consumable] == Set.PLANET and C_HAND[consumable] == s.hand_type:
            s.score_mult *= OBSERVATORY_FACTOR


@rule
def break_cards(s):
    """After scoring, in scored order: jokers that destroy a card, then Glass cards that break."""
    for i in range(s.n_played):
        card = int(s.played[i])
        if not s.scoring[i]:
            continue
        fire_hand_destroys(s, card)
        c = s.cards[card]
        if c.enhancement == Enhancement.GLASS and not c.debuffed:
            if chance(s, Stream.GLASS, GLASS_ODDS):  # rolled for a card that is gone already, too
                destroy_card(s, card)
