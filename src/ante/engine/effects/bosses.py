"""The effects of bosses: a comment with the boss's text, then its functions, registered by moment.

`boss_dispatch.py` calls them for the active boss; `active_boss.py` contains the rules common to all bosses.
"""

from ante.catalog.blinds import BOSS_MULT, Blind
from ante.catalog.cards import Enhancement
from ante.engine.core.arithmetic import floor_of
from ante.engine.core.rng import Stream, chance, pick, shuffle
from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff, Place
from ante.engine.core.tables import (
    BLIND_CARDS,
    BLIND_DISCARDS,
    BLIND_DOLLARS,
    BLIND_FACTOR,
    BLIND_HAND_SIZE,
    BLIND_HANDS,
    BLIND_LEVELS,
    BLIND_MULT,
    BLIND_ODDS,
    BLIND_SHUFFLES,
    BLIND_SUIT,
)
from ante.engine.effects.moments import BossMoment, on
from ante.engine.effects.verbs import drop_from, is_face, level_up, same_suit
from ante.engine.items.owned import keep_pinned_left, pick_joker


@rule
def active_boss(s):
    """Return the Blind whose ability is active, or NONE outside bosses and if it is disabled."""
    if s.boss_disabled or s.blind <= Blind.BIG:
        return int(Blind.NONE)
    return int(s.blind)


@rule
def nth_oldest_of_hand(s, k):
    """Return the k-th card of the hand by creation number, from 0."""
    for i in range(s.n_cards):
        if s.cards[i].place == Place.HAND:
            if k == 0:
                return i
            k -= 1
    return int(s.hand[0])


# The Hook: discards random cards from the hand with each hand played.
@on(BossMoment.CARDS_PLAYED, Blind.HOOK)
def hook(s, boss, card):
    """Move random cards, drawn by creation number, from the hand to s.order. Returns their number."""
    n = 0
    while n < BLIND_CARDS[boss] and s.n_hand > 0:
        taken = nth_oldest_of_hand(s, pick(s, Stream.HOOK, int(s.n_hand)))
        drop_from(s.hand, s.n_hand, taken)
        s.n_hand -= 1
        s.cards[taken].place = Place.DISCARD
        s.order[n] = taken
        n += 1
    if n:
        s.boss_triggered = 1
    return n


# The Ox: playing the run's most played hand, fixed as the ante starts, sets money to $0.
@on(BossMoment.HAND_BEGINS, Blind.OX)
def ox(s, boss, card):
    """Take all money for the named hand."""
    if s.hand_type == s.ox_hand:
        s.dollars = 0
        s.boss_triggered = 1


# The House: the first hand is drawn face down. The Wheel: each drawn card may be face down. The Fish: cards drawn after
# each hand played are face down. The Mark: face cards are drawn face down.
@on(BossMoment.TURNS_CARD, Blind.HOUSE)
def house(s, boss, card):
    """Turn cards face down until the first hand or discard."""
    return s.hands_played == 0 and s.discards_used == 0


@on(BossMoment.TURNS_CARD, Blind.WHEEL)
def wheel(s, boss, card):
    """Turn 1 card in `odds` face down."""
    return chance(s, Stream.WHEEL, BLIND_ODDS[boss])


@on(BossMoment.HAND_PLAYED, Blind.FISH)
def fish_begins(s, boss, card):
    """Turn the cards of the next draw face down."""
    s.fish_down = 1


@on(BossMoment.TURNS_CARD, Blind.FISH)
def fish(s, boss, card):
    """Turn the cards of the draw after a played hand face down."""
    return s.fish_down != 0


@on(BossMoment.HAND_DRAWN, Blind.FISH)
def fish_ends(s, boss, card):
    """Stop turning cards face down."""
    s.fish_down = 0


@on(BossMoment.TURNS_CARD, Blind.MARK)
def mark(s, boss, card):
    """Turn face cards face down."""
    return is_face(s, card)


@on(BossMoment.GIVES_BACK, Blind.HOUSE, Blind.WHEEL, Blind.FISH, Blind.MARK)
def turn_cards_up(s, boss, card):
    """Turn every card face up."""
    for i in range(s.n_cards):
        s.cards[i].face_down = 0


# The Wall: a much larger requirement. Violet Vessel: a very large one. `mult` of their rows sets it.
@on(BossMoment.GIVES_BACK, Blind.WALL, Blind.FINAL_VESSEL)
def lower_target(s, boss, card):
    """Set the target to that of an ordinary boss."""
    s.target /= BLIND_MULT[boss] / BOSS_MULT


# The Arm: lowers the level of the played hand.
@on(BossMoment.HAND_BEGINS, Blind.ARM)
def arm(s, boss, card):
    """Lower the level before the hand's chips and mult are set."""
    if s.levels[s.hand_type] > 1:
        level_up(s, int(s.hand_type), BLIND_LEVELS[boss])
        s.boss_triggered = 1


# The Club, The Goad, The Window, The Head: debuff the cards of a suit. Wild cards count as every suit, Stone cards as none.
@on(BossMoment.DEBUFFS_CARD, Blind.CLUB, Blind.GOAD, Blind.WINDOW, Blind.HEAD)
def debuff_suit(s, boss, card):
    """Debuff the suit of the boss."""
    c = s.cards[card]
    if c.enhancement == Enhancement.STONE:
        return False
    return c.enhancement == Enhancement.WILD or same_suit(s, c.suit, BLIND_SUIT[boss])


# The Plant: debuffs face cards.
@on(BossMoment.DEBUFFS_CARD, Blind.PLANT)
def plant(s, boss, card):
    """Debuff face cards."""
    return is_face(s, card)


# The Pillar: debuffs cards played earlier this ante.
@on(BossMoment.DEBUFFS_CARD, Blind.PILLAR)
def pillar(s, boss, card):
    """Debuff cards that were played."""
    return s.cards[card].played_this_ante != 0


# The Psychic: hands must have a fixed number of cards.
@on(BossMoment.HAND_ALLOWED, Blind.PSYCHIC)
def psychic(s, boss, card):
    """Allow only hands of the boss's number of cards."""
    return s.n_played == BLIND_CARDS[boss]


# The Eye: no hand type repeats in a round.
@on(BossMoment.HAND_ALLOWED, Blind.EYE)
def eye(s, boss, card):
    """Allow only hand types not yet played."""
    bit = 1 << int(s.hand_type)
    allowed = not s.eye_hands & bit
    s.eye_hands |= bit
    return allowed


# The Mouth: only one hand type in a round.
@on(BossMoment.HAND_ALLOWED, Blind.MOUTH)
def mouth(s, boss, card):
    """Allow only the hand type played first."""
    bit = 1 << int(s.hand_type)
    if s.eye_hands == 0:
        s.eye_hands = bit
    return s.eye_hands == bit


# The Water: the round starts without discards.
@on(BossMoment.SELECTED, Blind.WATER)
def water(s, boss, card):
    """Set the number of discards."""
    s.discards_left = BLIND_DISCARDS[boss]


@on(BossMoment.GIVES_BACK, Blind.WATER)
def water_ends(s, boss, card):
    """Restore all discards."""
    s.discards_left = max(0, int(s.discards_each_round) + int(s.joker_discards))


# The Needle: only one hand.
@on(BossMoment.SELECTED, Blind.NEEDLE)
def needle(s, boss, card):
    """Set the number of hands."""
    s.hands_left = BLIND_HANDS[boss]


@on(BossMoment.GIVES_BACK, Blind.NEEDLE)
def needle_ends(s, boss, card):
    """Restore the removed hands."""
    s.hands_left += max(1, int(s.hands_each_round) + int(s.joker_hands)) - BLIND_HANDS[boss]


# The Manacle: a smaller hand.
@on(BossMoment.SELECTED, Blind.MANACLE)
def manacle(s, boss, card):
    """Change the hand size for the round."""
    s.round_hand_size += BLIND_HAND_SIZE[boss]
    s.lineup_stale = 1


@on(BossMoment.GIVES_BACK, Blind.MANACLE)
def manacle_ends(s, boss, card):
    """Restore the hand size."""
    s.round_hand_size -= BLIND_HAND_SIZE[boss]


# The Serpent: after playing or discarding, always draws the same number of cards.
@on(BossMoment.CARDS_TO_DRAW, Blind.SERPENT)
def serpent(s, boss, card):
    """Return the fixed number after the first hand or discard."""
    return int(BLIND_CARDS[boss]) if s.hands_played > 0 or s.discards_used > 0 else -1


# The Tooth: takes money for each card played.
@on(BossMoment.CARDS_PLAYED, Blind.TOOTH)
def tooth(s, boss, card):
    """Take the money. Returns 0: it discards no cards."""
    s.dollars += BLIND_DOLLARS[boss] * int(s.n_played)
    s.boss_triggered = 1
    return 0


# The Flint: halves the hand's own chips and mult, rounded.
@on(BossMoment.HAND_VALUED, Blind.FLINT)
def flint(s, boss, card):
    """Multiply both by `factor`, with mult at least 1."""
    s.score_chips = floor_of(s.score_chips * BLIND_FACTOR[boss] + 0.5)
    s.score_mult = max(1.0, floor_of(s.score_mult * BLIND_FACTOR[boss] + 0.5))
    s.boss_triggered = 1


# Amber Acorn: shuffles the jokers.
@on(BossMoment.SELECTED, Blind.FINAL_ACORN)
def acorn(s, boss, card):
    """Shuffle the jokers several times, each time from their creation order."""
    if s.n_jokers < 2:
        return
    for _ in range(BLIND_SHUFFLES[boss]):
        sort_jokers_by_age(s)
        for i in range(s.n_jokers):
            s.order[i] = i
        shuffle(s, Stream.AAJK, s.order, int(s.n_jokers))
    n = int(s.n_jokers)
    # s.order[i] is the rank by age of the joker at position i; apply it cycle by cycle through s.made.
    for start in range(n):
        if s.order[start] < 0 or s.order[start] == start:
            continue
        s.made = s.jokers[start]
        at = start
        while True:
            source = int(s.order[at])
            s.order[at] = -1
            if source == start:
                s.jokers[at] = s.made
                break
            s.jokers[at] = s.jokers[source]
            at = source
    keep_pinned_left(s)


@rule
def sort_jokers_by_age(s):
    """Sort the jokers by creation number."""
    for i in range(1, s.n_jokers):
        j = i
        while j > 0 and s.jokers[j - 1].created > s.jokers[j].created:
            s.made = s.jokers[j]
            s.jokers[j] = s.jokers[j - 1]
            s.jokers[j - 1] = s.made
            j -= 1


# Verdant Leaf: all cards are debuffed until a joker is sold.
@on(BossMoment.DEBUFFS_CARD, Blind.FINAL_LEAF)
@on(BossMoment.JOKER_SOLD, Blind.FINAL_LEAF)
def leaf(s, boss, card):
    """Debuff every card. Selling any joker disables the boss."""
    return True


# Crimson Heart: disables one random joker each hand.
@on(BossMoment.HAND_DRAWN, Blind.FINAL_HEART)
def heart(s, boss, card):
    """Disable one joker other than the last one until the next hand."""
    if not card or not s.n_jokers:
        return
    others = 0
    for i in range(s.n_jokers):
        if s.jokers[i].debuffed != Debuff.CRIMSON_HEART or s.n_jokers == 1:
            others |= 1 << i
    chosen = pick_joker(s, Stream.CRIMSON_HEART, others)
    enable_jokers(s)
    if chosen >= 0 and s.jokers[chosen].debuffed == Debuff.NONE:
        s.jokers[chosen].debuffed = Debuff.CRIMSON_HEART
    s.lineup_stale = 1


@rule
def enable_jokers(s):
    """Enable the joker that Crimson Heart disabled."""
    for i in range(s.n_jokers):
        if s.jokers[i].debuffed == Debuff.CRIMSON_HEART:
            s.jokers[i].debuffed = Debuff.NONE
            s.lineup_stale = 1


# Cerulean Bell: forces one random card to always be selected.
@on(BossMoment.HAND_DRAWN, Blind.FINAL_BELL)
def bell(s, boss, card):
    """Force a card, drawn by creation number, unless a card of the hand is already forced."""
    if s.n_hand == 0:
        return
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].forced:
            return
    k = pick(s, Stream.CERULEAN_BELL, int(s.n_hand))
    s.cards[nth_oldest_of_hand(s, k)].forced = 1
