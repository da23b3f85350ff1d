"""Which poker hand the played cards make, which hands they contain, and which of them score."""

from ante.catalog.cards import Enhancement
from ante.catalog.hands import Hand
from ante.engine.rule import rule
from ante.engine.state import Rule
from ante.engine.verbs import flush_suit

ACE = 14


@rule
def rank_counts(s):
    """How many played cards show each rank, four bits a rank.

    SPEED: one pass and one number instead of a pass for each rank.
    """
    counts = 0
    for i in range(s.n_played):
        card = s.cards[s.played[i]]
        if card.enhancement != Enhancement.STONE:
            counts += 1 << (4 * int(card.rank))
    return counts


@rule
def same_rank_bits(s, counts, n, above):
    """Played positions of the highest rank below `above` that exactly n cards show, as bits; 0 where there is none."""
    for rank in range(above - 1, 1, -1):
        if (counts >> (4 * rank)) & 15 == n:
            return rank_bits(s, rank)
    return 0


@rule
def rank_bits(s, rank):
    """Played positions that show a rank, as bits."""
    bits = 0
    for i in range(s.n_played):
        card = s.cards[s.played[i]]
        if card.rank == rank and card.enhancement != Enhancement.STONE:
            bits |= 1 << i
    return bits


@rule
def flush_bits(s, needed):
    """Played positions of a flush of at least `needed` cards as bits, suits tried from Spades on; 0 where there is none."""
    for suit in range(4):
        bits = 0
        n = 0
        for i in range(s.n_played):
            if flush_suit(s, s.played[i], suit):
                bits |= 1 << i
                n += 1
        if n >= needed:
            return bits
    return 0


@rule
def straight_bits(s, counts, needed, skip):
    """Played positions of a straight of at least `needed` ranks as bits; 0 where there is none.

    skip  True lets single ranks be left out between two others (Shortcut). The Ace stands low and high.
    """
    length = 0
    missing = 0
    bits = 0
    for rank in range(1, ACE + 1):
        shown = ACE if rank == 1 else rank
        if (counts >> (4 * shown)) & 15:
            length += 1
            bits |= rank_bits(s, shown)
            missing = 0
        elif skip and missing == 0 and rank != ACE:
            missing = 1
        else:
            if length >= needed:
                return bits
            length = 0
            missing = 0
            bits = 0
    return bits if length >= needed else 0


@rule
def find_hand(s):
    """s.hand_type, s.contains and the scoring flags describe the played cards."""
    needed = 4 if s.rules & Rule.FOUR_FINGERS else 5
    counts = rank_counts(s)
    fives, fours = same_rank_bits(s, counts, 5, ACE + 1), same_rank_bits(s, counts, 4, ACE + 1)
    threes = same_rank_bits(s, counts, 3, ACE + 1)
    pair = same_rank_bits(s, counts, 2, ACE + 1)
    second = second_pair(s, counts, pair)
    flush = flush_bits(s, needed) if s.n_played >= needed else 0
    straight = straight_bits(s, counts, needed, s.rules & Rule.SHORTCUT != 0) if s.n_played >= needed else 0
    hand, bits = best_hand(s, fives, fours, threes, pair, second, flush, straight)
    s.hand_type = hand
    s.contains = contained(fives, fours, threes, pair, second, flush, straight)
    mark_scoring(s, bits)


@rule
def second_pair(s, counts, pair):
    """Played positions of a pair below the highest one as bits, 0 where there is none."""
    if pair == 0:
        return 0
    for i in range(s.n_played):
        if (pair >> i) & 1:
            return same_rank_bits(s, counts, 2, int(s.cards[s.played[i]].rank))
    return 0


@rule
def best_hand(s, fives, fours, threes, pair, second, flush, straight):
    """The best Hand, and its scoring positions as bits."""
    every = (1 << int(s.n_played)) - 1
    if fives and flush:
        return int(Hand.FLUSH_FIVE), fives
    if threes and pair and flush:
        return int(Hand.FLUSH_HOUSE), threes | pair
    if fives:
        return int(Hand.FIVE_OF_A_KIND), fives
    if flush and straight:
        return int(Hand.STRAIGHT_FLUSH), flush | straight
    if fours:
        return int(Hand.FOUR_OF_A_KIND), fours
    if threes and pair:
        return int(Hand.FULL_HOUSE), threes | pair
    if flush:
        return int(Hand.FLUSH), flush
    if straight:
        return int(Hand.STRAIGHT), straight
    if threes:
        return int(Hand.THREE_OF_A_KIND), threes
    if pair and second:
        return int(Hand.TWO_PAIR), pair | second
    if pair:
        return int(Hand.PAIR), pair
    return int(Hand.HIGH_CARD), highest_bit(s) & every


@rule
def highest_bit(s):
    """Position of the first card of the highest rank, as a bit; 0 where only Stone cards were played."""
    best = 0
    bits = 0
    for i in range(s.n_played):
        card = s.cards[s.played[i]]
        if card.enhancement != Enhancement.STONE and card.rank > best:
            best = int(card.rank)
            bits = 1 << i
    return bits


@rule
def contained(fives, fours, threes, pair, second, flush, straight):
    """Every Hand found in the played cards, as bits."""
    found = 1 << int(Hand.HIGH_CARD)
    three = fives or fours or threes
    two = three or pair
    if fives:
        found |= 1 << int(Hand.FIVE_OF_A_KIND)
        if flush:
            found |= 1 << int(Hand.FLUSH_FIVE)
    if fives or fours:
        found |= 1 << int(Hand.FOUR_OF_A_KIND)
    if three:
        found |= 1 << int(Hand.THREE_OF_A_KIND)
    if two:
        found |= 1 << int(Hand.PAIR)
    if threes and pair:
        found |= (1 << int(Hand.FULL_HOUSE)) | (1 << int(Hand.TWO_PAIR))
        if flush:
            found |= 1 << int(Hand.FLUSH_HOUSE)
    if pair and second:
        found |= 1 << int(Hand.TWO_PAIR)
    if flush:
        found |= 1 << int(Hand.FLUSH)
    if straight:
        found |= 1 << int(Hand.STRAIGHT)
    if flush and straight:
        found |= 1 << int(Hand.STRAIGHT_FLUSH)
    return found


@rule
def mark_scoring(s, bits):
    """Set the scoring flags: the hand's own cards, Stone cards, and all of them with Splash."""
    s.n_scoring = 0
    for i in range(s.n_played):
        stone = s.cards[s.played[i]].enhancement == Enhancement.STONE
        scores = (bits >> i) & 1 or stone or s.rules & Rule.SPLASH
        s.scoring[i] = 1 if scores else 0
        if scores:
            s.n_scoring += 1
