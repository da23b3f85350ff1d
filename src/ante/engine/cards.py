"""The location of the playing cards: draw pile, hand, their order, and discard pile."""

from ante.catalog.cards import ACE, N_SUITS, Enhancement, Seal
from ante.engine.core.rng import shuffle
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_CARDS, MAX_HAND, Place, Table
from ante.engine.effects.active_boss import cards_to_draw, comes_face_down
from ante.engine.effects.boss_dispatch import boss_hand_drawn
from ante.engine.items.owned import create_tarot
from ante.engine.items.sources import TarotSource
from ante.engine.jokers.dispatch import fire_card_discarded, fire_discard_begins

AGES = MAX_CARDS  # number of places in the card array
STONE_LAST = 1 << 30  # greater than every value
RANKS = ACE + 2  # base in which sort_value encodes ranks and the value before them


@rule
def sort_value(s, card):
    """Return the sort key of a card in the displayed hand; the largest is leftmost.

    By rank: Ace to 2, then Spades, Hearts, Clubs, Diamonds, then the suit at creation, then the older card. Stone
    cards come last, Diamonds first among them.
    """
    c = s.cards[card]
    rank, suit, first, age = int(c.rank), int(c.suit), int(c.first_suit), AGES - 1 - int(card)
    if c.enhancement == Enhancement.STONE:
        return (((suit * RANKS + rank) * N_SUITS + first) * AGES + age) - STONE_LAST
    if s.sort_by_suit:
        return (((N_SUITS - 1 - suit) * RANKS + rank) * N_SUITS + N_SUITS - 1 - first) * AGES + age
    return ((rank * N_SUITS + N_SUITS - 1 - suit) * N_SUITS + N_SUITS - 1 - first) * AGES + age


@rule
def sort_hand(s):
    """Sort the hand for display, the highest card leftmost, and select only forced cards."""
    for i in range(1, s.n_hand):
        card = int(s.hand[i])
        value = sort_value(s, card)
        j = i - 1
        while j >= 0 and sort_value(s, int(s.hand[j])) < value:
            s.hand[j + 1] = s.hand[j]
            j -= 1
        s.hand[j + 1] = card
    select_forced(s)


@rule
def select_forced(s):
    """Select only the cards that Cerulean Bell forces."""
    s.selected = 0
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].forced:
            s.selected |= 1 << i


@rule
def collect_deck(s):
    """Move every card that is not destroyed to the draw pile, oldest first."""
    n = 0
    for i in range(s.n_cards):
        card = s.cards[i]
        if card.place != Place.GONE:
            card.place = Place.DECK
            card.face_down = 0
            card.forced = 0
            s.deck[n] = i
            n += 1
    s.n_deck = n
    s.n_hand = 0
    s.selected = 0


@rule
def shuffle_deck(s, stream):
    """Shuffle the whole deck with `stream`.

    The shuffle sorts by creation number first, so its result does not depend on the previous order.
    """
    collect_deck(s)
    shuffle(s, stream, s.deck, int(s.n_deck))


@rule
def draw_cards(s, n):
    """Draw up to n cards from the end of the draw pile into the hand, then sort the hand.

    Cards that do not fit into the table of the hand stay in the draw pile, and `s.overflows` counts them.
    """
    drawn = 0
    while drawn < n and s.n_deck > 0 and s.n_hand < MAX_HAND:
        s.n_deck -= 1
        card = int(s.deck[s.n_deck])
        s.cards[card].place = Place.HAND
        s.cards[card].face_down = 1 if comes_face_down(s, card) else 0
        s.hand[s.n_hand] = card
        s.n_hand += 1
        drawn += 1
    if s.n_hand >= MAX_HAND:
        s.overflows[Table.HAND] += max(0, min(n - drawn, int(s.n_deck)))
    sort_hand(s)


@rule
def draw_to_hand_size(s, after_play):
    """Fill the hand from the draw pile and apply the boss to the new hand."""
    draw_cards(s, cards_to_draw(s))
    boss_hand_drawn(s, after_play)
    select_forced(s)


@rule
def take_from_hand(s, positions):
    """Move the cards at the `positions` bits out of the hand into s.order, left to right. Returns their number."""
    taken = 0
    kept = 0
    for i in range(s.n_hand):
        card = int(s.hand[i])
        if (positions >> i) & 1:
            s.order[taken] = card
            taken += 1
        else:
            s.hand[kept] = card
            kept += 1
    s.n_hand = kept
    s.selected = 0
    return taken


@rule
def discard_taken(s, n, hooked):
    """Discard the first n cards of s.order and apply the effects of their seals and of jokers to each.

    The cards are in s.played during the call, so that effects can read the whole discard; its contents are restored.
    hooked  True if The Hook discards, not the player
    """
    held0, held1, held2, held3, held4 = s.played[0], s.played[1], s.played[2], s.played[3], s.played[4]
    held_n = int(s.n_played)
    s.n_played = n
    for i in range(n):
        card = s.cards[s.order[i]]
        s.played[i] = s.order[i]
        card.forced = 0
        card.place = Place.DISCARD  # a face-down card stays face down
    fire_discard_begins(s, 0 if hooked else n)
    for i in range(n):
        card = int(s.played[i])
        if s.cards[card].seal == Seal.PURPLE and not s.cards[card].debuffed:
            create_tarot(s, int(TarotSource.EIGHT_BALL))
        fire_card_discarded(s, card)
    s.played[0], s.played[1], s.played[2], s.played[3], s.played[4] = held0, held1, held2, held3, held4
    s.n_played = held_n


@rule
def return_hand_under_deck(s):
    """Put the hand drawn for a pack under the draw pile: further packs of this shop draw the cards above it."""
    n = int(s.n_hand)
    for i in range(s.n_deck - 1, -1, -1):
        s.deck[i + n] = s.deck[i]
    for i in range(n):
        card = int(s.hand[i])
        s.cards[card].place = Place.DECK
        s.deck[n - 1 - i] = card
    s.n_deck += n
    s.n_hand = 0
    s.selected = 0


@rule
def remove_destroyed_cards(s):
    """Remove destroyed cards from the array; the others keep their order. Requires an empty hand and draw pile."""
    kept = 0
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE:
            if kept != i:
                s.cards[kept] = s.cards[i]
            kept += 1
    s.n_cards = kept
