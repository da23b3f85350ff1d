"""The array of playing cards of a run, in creation order."""

from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_CARDS, MAX_HAND, Place, Table


@rule
def add_card(s, rank, suit, enhancement, edition, seal):
    """Add a new playing card to the full deck, but to no list yet. Returns its index.

    If the table is full, the card is lost, `s.overflows` counts it, and -1 is returned.
    """
    if s.n_cards >= MAX_CARDS:
        s.overflows[Table.CARDS] += 1
        return -1
    index = int(s.n_cards)
    s.n_cards += 1
    card = s.cards[index]
    card.rank = rank
    card.suit = suit
    card.first_suit = suit
    card.enhancement = enhancement
    card.edition = edition
    card.seal = seal
    card.debuffed = 0
    card.face_down = 0
    card.played_this_ante = 0
    card.forced = 0
    card.worn = 0
    card.bonus = 0
    card.place = Place.GONE
    s.cards_made += 1
    card.created = s.cards_made
    s.pending_added += 1
    return index


@rule
def add_card_item(s, item):
    """Add a card from the shop or a pack to the full deck, by age. Returns its index, or -1 if the table is full.

    Cards of one pack may be taken in another order than they were made; all lists of cards are updated.
    """
    index = add_card(s, int(item.rank), int(item.suit), int(item.enhancement), int(item.edition), int(item.seal))
    if index < 0:
        return -1
    s.cards[index].created = item.created
    while index > 0 and s.cards[index - 1].created > s.cards[index].created:
        index -= 1
        swap_cards(s, index)
    return index


@rule
def swap_cards(s, index):
    """Swap a card with the next one of the card array and update all lists."""
    s.moved_card = s.cards[index]
    s.cards[index] = s.cards[index + 1]
    s.cards[index + 1] = s.moved_card
    swap_places(s.deck, s.n_deck, index)
    swap_places(s.hand, s.n_hand, index)


@rule
def swap_places(order, n, index):
    """Swap `index` and `index + 1` in a list of card indices."""
    for i in range(n):
        if order[i] == index:
            order[i] = index + 1
        elif order[i] == index + 1:
            order[i] = index


@rule
def put_in_deck(s, card):
    """Put a card under the draw pile."""
    for i in range(s.n_deck - 1, -1, -1):
        s.deck[i + 1] = s.deck[i]
    s.deck[0] = card
    s.n_deck += 1
    s.cards[card].place = Place.DECK


@rule
def put_in_hand(s, card):
    """Add a card at the right of the hand; if the table is full, under the draw pile, and `s.overflows` counts it."""
    if s.n_hand >= MAX_HAND:
        s.overflows[Table.HAND] += 1
        put_in_deck(s, card)
        return
    s.hand[s.n_hand] = card
    s.n_hand += 1
    s.cards[card].place = Place.HAND
