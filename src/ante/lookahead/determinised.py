"""Determinised copies of a game: they contain only visible information, and hands can be scored in them.

Random streams are replaced, so that no roll of the real run is used; face-down cards are removed; face-down jokers are
sorted by id and age; Stone cards in hand have a constant rank and suit. A score thus uses no more information than a
player has. `search.determinise` draws copies for playing on, in which hidden things are random instead.
"""

from ante.catalog.cards import Enhancement, Suit
from ante.engine.core.rule import rule
from ante.engine.core.state import STREAM_SLOTS
from ante.engine.rounds import put_on_table
from ante.engine.scoring import value_hand
from ante.env.layout import FIRST_RANK
from ante.env.observe_items import jokers_hidden

# Scratch copies of a game: one in which a hand is scored, the position before it, and the round of the reference hands.
# SPEED: copying a record costs a quarter of scoring a hand, so each hand is scored in a copy of a prepared record.
N_COPIES = 3
SCORED, BASE, ROUND = range(N_COPIES)
OTHER_STREAMS = 0.4142135623730951  # a seed hash that no run has


@rule
def replace_streams(copy):
    """Replace the random streams of a copy, equally for every game, and remove its seed."""
    copy.seed_length = 0
    copy.seed_hash = OTHER_STREAMS
    copy.n_streams = 0
    for i in range(STREAM_SLOTS):
        copy.stream_ids[i] = 0


@rule
def swap_jokers(copy, one, other):
    """Swap the jokers of two slots in a copy, with `made` as scratch space."""
    copy.made = copy.jokers[one]
    copy.jokers[one] = copy.jokers[other]
    copy.jokers[other] = copy.made


@rule
def is_before(one, other):
    """Return whether a face-down joker precedes another one in a copy: by id, then by age."""
    return one.id < other.id or (one.id == other.id and one.created < other.created)


@rule
def determinise(s, copy):
    """Remove all hidden information from `copy`, which is equal to the game `s`."""
    replace_streams(copy)
    n = 0
    for i in range(s.n_hand):
        if not s.cards[s.hand[i]].face_down:
            copy.hand[n] = s.hand[i]
            n += 1
            card = copy.cards[s.hand[i]]
            if card.enhancement == Enhancement.STONE:  # Vampire would turn it into an ordinary card
                card.rank, card.suit = FIRST_RANK, Suit.SPADES
    copy.n_hand = n
    if jokers_hidden(s):
        for i in range(1, copy.n_jokers):
            for j in range(i, 0, -1):
                if is_before(copy.jokers[j], copy.jokers[j - 1]):
                    swap_jokers(copy, j, j - 1)


@rule
def positions_in_copy(s, cards):
    """Return the same card set by positions in the determinised hand, which has no face-down cards."""
    found, n = 0, 0
    for i in range(s.n_hand):
        if not s.cards[s.hand[i]].face_down:
            found |= ((cards >> i) & 1) << n
            n += 1
    return found


@rule
def score_of(s, copies, cards):
    """Return the chips that these hand positions, none of them face down, would score now.

    copies  (2,) state_t, changed: copies[0] is the game with that hand on the table
    """
    copies[0] = s
    determinise(s, copies[0])
    return score_in_copy(copies[0], positions_in_copy(s, cards))


@rule
def score_in_copy(copy, cards):
    """Return the chips that these hand positions score in a copy, which is changed."""
    put_on_table(copy, cards)
    value_hand(copy)
    return float(copy.hand_total)
