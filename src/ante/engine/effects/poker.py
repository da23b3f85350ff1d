"""Find the poker hand of cards, the hands they contain, and the cards that score."""

from ante.catalog.cards import ACE, N_SUITS, TWO, Enhancement
from ante.catalog.hands import Hand
from ante.catalog.jokers import Joker
from ante.engine.core.rule import rule
from ante.engine.core.state import Rule
from ante.engine.core.tables import J_CARDS
from ante.engine.effects.verbs import flush_suit

SAME_RANKS = sum(14 << (4 * rank) for rank in range(TWO, ACE + 1))  # bits of rank_counts set by two or more equal ranks


@rule
def packed(cards, card, place):
    """Return `cards` with this card at this place: card indices packed into one integer, eight bits each."""
    return cards | (int(card) << (8 * place))


@rule
def card_at(cards, place):
    """Return the card index at a place of a packed list."""
    return (cards >> (8 * place)) & 255


@rule
def rank_counts(s, cards, n):
    """Return the number of cards of each rank, four bits per rank.

    SPEED: one pass and one integer instead of a pass for each rank.
    """
    counts = 0
    for i in range(n):
        card = s.cards[card_at(cards, i)]
        if card.enhancement != Enhancement.STONE:
            counts += 1 << (4 * int(card.rank))
    return counts


@rule
def same_rank_bits(s, cards, n, counts, wanted, above):
    """Return the places of the highest rank below `above` with exactly `wanted` cards, as bits; 0 if there is none."""
    for rank in range(above - 1, 1, -1):
        if (counts >> (4 * rank)) & 15 == wanted:
            return rank_bits(s, cards, n, rank)
    return 0


@rule
def rank_bits(s, cards, n, rank):
    """Return the places of a rank, as bits."""
    bits = 0
    for i in range(n):
        card = s.cards[card_at(cards, i)]
        if card.rank == rank and card.enhancement != Enhancement.STONE:
            bits |= 1 << i
    return bits


@rule
def flush_bits(s, cards, n, needed):
    """Return the places of a flush of at least `needed` cards as bits, trying suits from Spades on; 0 if none."""
    for suit in range(N_SUITS):
        bits = 0
        count = 0
        for i in range(n):
            if flush_suit(s, card_at(cards, i), suit):
                bits |= 1 << i
                count += 1
        if count >= needed:
            return bits
    return 0


@rule
def straight_bits(s, cards, n, counts, needed, skip):
    """Return the places of a straight of at least `needed` ranks as bits; 0 if there is none.

    skip  allow gaps of one rank (Shortcut). The Ace counts low and high.
    """
    length = 0
    missing = 0
    bits = 0
    for rank in range(1, ACE + 1):
        shown = ACE if rank == 1 else rank
        if (counts >> (4 * shown)) & 15:
            length += 1
            bits |= rank_bits(s, cards, n, shown)
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
    """Set s.hand_type, s.contains and the scoring flags for the played cards."""
    cards = 0
    for i in range(s.n_played):
        cards = packed(cards, s.played[i], i)
    hand, contains, bits = hand_of(s, cards, int(s.n_played))
    s.hand_type = hand
    s.contains = contains
    mark_scoring(s, bits)


@rule
def hand_of(s, cards, n):
    """Return the poker hand of n cards, one to five. The game is not changed.

    cards  card indices, left to right, as `packed` writes them

    Returns the Hand, the contained Hands as bits, and the places of the cards of the hand as bits.
    """
    needed = J_CARDS[Joker.FOUR_FINGERS] if s.rules & Rule.FOUR_FINGERS else 5
    counts = rank_counts(s, cards, n)
    fives, fours, threes, pair, second = 0, 0, 0, 0, 0
    if counts & SAME_RANKS:  # SPEED: most sets that are tried have no two cards of a rank
        fives = same_rank_bits(s, cards, n, counts, 5, ACE + 1)
        fours = same_rank_bits(s, cards, n, counts, 4, ACE + 1)
        threes = same_rank_bits(s, cards, n, counts, 3, ACE + 1)
        pair = same_rank_bits(s, cards, n, counts, 2, ACE + 1)
        second = second_pair(s, cards, n, counts, pair)
    flush = flush_bits(s, cards, n, needed) if n >= needed else 0
    straight = straight_bits(s, cards, n, counts, needed, s.rules & Rule.SHORTCUT != 0) if n >= needed else 0
    hand, bits = best_hand(fives, fours, threes, pair, second, flush, straight)
    if hand == Hand.HIGH_CARD:
        bits = highest_bit(s, cards, n)
    return hand, contained(fives, fours, threes, pair, second, flush, straight), bits


@rule
def second_pair(s, cards, n, counts, pair):
    """Return the places of a pair below the highest one as bits; 0 if there is none."""
    for i in range(n):
        if (pair >> i) & 1:
            return same_rank_bits(s, cards, n, counts, 2, int(s.cards[card_at(cards, i)].rank))
    return 0


@rule
def best_hand(fives, fours, threes, pair, second, flush, straight):
    """Return the best Hand and the places of its cards as bits, which are 0 for High Card."""
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
    return int(Hand.HIGH_CARD), 0


@rule
def highest_bit(s, cards, n):
    """Return the place of the first card of the highest rank as a bit; 0 if all are Stone cards."""
    best = 0
    bits = 0
    for i in range(n):
        card = s.cards[card_at(cards, i)]
        if card.enhancement != Enhancement.STONE and card.rank > best:
            best = int(card.rank)
            bits = 1 << i
    return bits


@rule
def contained(fives, fours, threes, pair, second, flush, straight):
    """Return every Hand contained in the played cards, as bits."""
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
    """Set the scoring flags: the cards of the hand, Stone cards, and all cards with Splash."""
    s.n_scoring = 0
    for i in range(s.n_played):
        stone = s.cards[s.played[i]].enhancement == Enhancement.STONE
        scores = (bits >> i) & 1 or stone or s.rules & Rule.SPLASH
        s.scoring[i] = 1 if scores else 0
        if scores:
            s.n_scoring += 1
