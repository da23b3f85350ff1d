"""What each boss does, at the moment it does it."""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement, Suit
from ante.catalog.challenges import FLIPPED_ODDS, HAND_TAX_DOLLARS, Modifier
from ante.engine.arithmetic import floor_of
from ante.engine.create import keep_pinned_left
from ante.engine.rng import Stream, chance, pick, roll, shuffle
from ante.engine.rule import rule
from ante.engine.state import Place
from ante.engine.verbs import is_face, level_up, same_suit

WHEEL_ODDS = 7.0
HEART_DEBUFF = 3  # value of item.debuffed: disabled by Crimson Heart for this hand


@rule
def active_boss(s):
    """The Blind whose ability works now, NONE outside bosses or where it is disabled."""
    if s.boss_disabled or s.blind <= Blind.BIG:
        return int(Blind.NONE)
    return int(s.blind)


@rule
def boss_on_select(s):
    """What a boss does the moment its round begins, before any joker answers."""
    boss = active_boss(s)
    if boss == Blind.WATER:
        s.discards_left = 0
    elif boss == Blind.NEEDLE:
        s.hands_left = 1
    elif boss == Blind.MANACLE:
        s.round_hand_size -= 1
        s.lineup_stale = 1
    elif boss == Blind.FINAL_ACORN:
        shuffle_jokers(s)


@rule
def shuffle_jokers(s):
    """Amber Acorn: the jokers change places three times; each shuffle begins from their creation order."""
    if s.n_jokers < 2:
        return
    for _ in range(3):
        sort_jokers_by_age(s)
        for i in range(s.n_jokers):
            s.order[i] = i
        shuffle(s, Stream.AAJK, s.order, int(s.n_jokers))
    n = int(s.n_jokers)
    # s.order[i] names the joker, by age, that stands at i; apply it cycle by cycle through s.made.
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
    """The jokers stand in creation order."""
    for i in range(1, s.n_jokers):
        j = i
        while j > 0 and s.jokers[j - 1].created > s.jokers[j].created:
            s.made = s.jokers[j]
            s.jokers[j] = s.jokers[j - 1]
            s.jokers[j - 1] = s.made
            j -= 1


@rule
def debuff_cards(s):
    """Every playing card is debuffed exactly if the boss says so.

    Decided as the round begins; afterwards only for cards that come new or change suit or rank. A card that is turned
    into another kind keeps its debuff, and a copy takes over the debuff of what it copies.
    """
    for i in range(s.n_cards):
        debuff_card(s, i)


@rule
def debuff_card(s, card):
    """One playing card is debuffed exactly if the boss says so, or it is worn."""
    boss = active_boss(s)
    s.cards[card].debuffed = 0
    if boss != Blind.NONE:
        s.cards[card].debuffed = 1 if is_debuffed_by(s, boss, card) else 0
    s.cards[card].debuffed |= s.cards[card].worn


@rule
def is_debuffed_by(s, boss, card):
    """Whether a boss debuffs this card. Wild cards count as every suit, Stone cards as none."""
    if boss == Blind.CLUB:
        return counts_as(s, card, int(Suit.CLUBS))
    if boss == Blind.GOAD:
        return counts_as(s, card, int(Suit.SPADES))
    if boss == Blind.WINDOW:
        return counts_as(s, card, int(Suit.DIAMONDS))
    if boss == Blind.HEAD:
        return counts_as(s, card, int(Suit.HEARTS))
    if boss == Blind.PLANT:
        return is_face(s, card)
    if boss == Blind.PILLAR:
        return s.cards[card].played_this_ante != 0
    return boss == Blind.FINAL_LEAF


@rule
def counts_as(s, card, suit):
    """Whether a card has a suit in a suit boss's eyes."""
    c = s.cards[card]
    if c.enhancement == Enhancement.STONE:
        return False
    return c.enhancement == Enhancement.WILD or same_suit(s, c.suit, suit)


@rule
def comes_face_down(s, card):
    """Whether a card that is being drawn comes face down: the boss may say so, then X-ray Vision may."""
    face_down = card_face_down_on_draw(s, card)
    if s.modifiers & Modifier.FLIPPED_CARDS and roll(s, Stream.FLIPPED_CARD) < 1.0 / FLIPPED_ODDS:
        return True
    return face_down


@rule
def card_face_down_on_draw(s, card):
    """Whether the boss turns a card that is being drawn face down."""
    boss = active_boss(s)
    if boss == Blind.WHEEL:
        return chance(s, Stream.WHEEL, WHEEL_ODDS)
    if boss == Blind.MARK:
        return is_face(s, card)
    if boss == Blind.HOUSE:
        return s.hands_played == 0 and s.discards_used == 0
    return boss == Blind.FISH and s.fish_down != 0


@rule
def boss_after_draw(s, after_play):
    """What a boss does once the hand is full: Cerulean Bell forces a card, Crimson Heart disables a joker."""
    s.fish_down = 0
    boss = active_boss(s)
    if boss == Blind.FINAL_BELL:
        force_card(s)
    elif boss == Blind.FINAL_HEART and after_play and s.n_jokers:
        disable_joker(s)


@rule
def boss_after_play(s):
    """What a boss prepares between a played hand and the next draw: The Fish turns the cards to come."""
    if active_boss(s) == Blind.FISH:
        s.fish_down = 1


@rule
def hand_limit(s):
    """Cards that the hand holds when it is full: Luxury Tax takes one for each $5, and a debt gives as much."""
    if s.modifiers & Modifier.HAND_TAX:
        return max(0, int(s.hand_size) - int(s.dollars) // HAND_TAX_DOLLARS)
    return int(s.hand_size)


@rule
def cards_to_draw(s):
    """How many cards are drawn now: what the hand lacks, or always three once The Serpent's round has begun."""
    if active_boss(s) == Blind.SERPENT and (s.hands_played > 0 or s.discards_used > 0):
        return 3
    return max(0, hand_limit(s) - int(s.n_hand))


@rule
def force_card(s):
    """Cerulean Bell: if no card of the hand is forced yet, one is, drawn by creation number."""
    if s.n_hand == 0:
        return
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].forced:
            return
    k = pick(s, Stream.CERULEAN_BELL, int(s.n_hand))
    s.cards[nth_oldest_of_hand(s, k)].forced = 1


@rule
def nth_oldest_of_hand(s, k):
    """The k-th card of the hand by creation number, from 0."""
    for i in range(s.n_cards):
        if s.cards[i].place == Place.HAND:
            if k == 0:
                return i
            k -= 1
    return int(s.hand[0])


@rule
def disable_joker(s):
    """Crimson Heart: one joker other than the last one is disabled until the next hand."""
    n = 0
    for i in range(s.n_jokers):
        if s.jokers[i].debuffed != HEART_DEBUFF or s.n_jokers == 1:
            n += 1
    k = pick(s, Stream.CRIMSON_HEART, n)
    chosen = -1
    last = -1
    # by creation number: repeatedly the oldest one younger than the last seen
    while k >= 0:
        best = -1
        for i in range(s.n_jokers):
            if s.jokers[i].debuffed == HEART_DEBUFF and s.n_jokers > 1:
                continue
            if s.jokers[i].created > last and (best < 0 or s.jokers[i].created < s.jokers[best].created):
                best = i
        if best < 0:
            break
        chosen = best
        last = int(s.jokers[best].created)
        k -= 1
    enable_jokers(s)
    if chosen >= 0 and s.jokers[chosen].debuffed == 0:
        s.jokers[chosen].debuffed = HEART_DEBUFF
    s.lineup_stale = 1


@rule
def enable_jokers(s):
    """What Crimson Heart disabled works again."""
    for i in range(s.n_jokers):
        if s.jokers[i].debuffed == HEART_DEBUFF:
            s.jokers[i].debuffed = 0
            s.lineup_stale = 1


@rule
def hand_allowed(s):
    """Whether the boss lets the hand in s.hand_type score: The Psychic, The Eye and The Mouth may not."""
    boss = active_boss(s)
    if boss == Blind.PSYCHIC:
        return s.n_played == 5
    bit = 1 << int(s.hand_type)
    if boss == Blind.EYE:
        allowed = not s.eye_hands & bit
        s.eye_hands |= bit
        return allowed
    if boss == Blind.MOUTH:
        if s.eye_hands == 0:
            s.eye_hands = bit
        return s.eye_hands == bit
    return True


@rule
def weaken_hand(s, before):
    """What a boss takes from a hand: The Arm's level and The Ox's money before it begins, The Flint's half after."""
    boss = active_boss(s)
    if before:
        if boss == Blind.ARM and s.levels[s.hand_type] > 1:
            level_up(s, int(s.hand_type), -1)
            s.boss_triggered = 1
        elif boss == Blind.OX and s.hand_type == s.ox_hand:
            s.dollars = 0
            s.boss_triggered = 1
    elif boss == Blind.FLINT:
        s.score_chips = floor_of(s.score_chips * 0.5 + 0.5)
        s.score_mult = max(1.0, floor_of(s.score_mult * 0.5 + 0.5))
        s.boss_triggered = 1


@rule
def boss_on_joker_sold(s):
    """Verdant Leaf gives up when a joker is sold."""
    if active_boss(s) == Blind.FINAL_LEAF:
        disable_boss(s)


@rule
def disable_boss(s):
    """The boss's ability is off for this round, and what it took is given back."""
    boss = active_boss(s)
    if boss == Blind.NONE:
        return
    s.boss_disabled = 1
    if boss == Blind.WATER:
        s.discards_left = max(0, int(s.discards_each_round) + int(s.joker_discards))
    elif boss == Blind.NEEDLE:
        s.hands_left += max(1, int(s.hands_each_round) + int(s.joker_hands)) - 1
    elif boss == Blind.MANACLE:
        s.round_hand_size += 1
    elif boss == Blind.WALL:
        s.target /= 2.0
    elif boss == Blind.FINAL_VESSEL:
        s.target /= 3.0
    turns_cards = boss == Blind.HOUSE or boss == Blind.WHEEL or boss == Blind.FISH or boss == Blind.MARK
    for i in range(s.n_cards):
        s.cards[i].debuffed = s.cards[i].worn
        if turns_cards:
            s.cards[i].face_down = 0
        s.cards[i].forced = 0
    enable_jokers(s)
    s.lineup_stale = 1


@rule
def end_boss(s):
    """The round is over: no card stays turned or forced, nor debuffed if it is not worn."""
    for i in range(s.n_cards):
        s.cards[i].debuffed = s.cards[i].worn
        s.cards[i].face_down = 0
        s.cards[i].forced = 0
    enable_jokers(s)
    s.fish_down = 0
