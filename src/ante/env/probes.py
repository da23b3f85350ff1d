"""What a hand would score, tried in a copy of the game: the cards at hand, or a typical hand of each kind.

The copy's random streams are replaced, so that no roll of the real run is looked at, and jokers that lie face down are
put in an order of their own. What is learned is what a player with a pencil could work out.
"""

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.hands import Hand
from ante.engine.arithmetic import log10_of
from ante.engine.jokers.lineup import refresh_lineup
from ante.engine.rounds import score_cards
from ante.engine.rule import rule
from ante.engine.state import MAX_CARDS, STREAM_SLOTS, Phase, Place
from ante.env.observe import jokers_hidden

OTHER_STREAMS = 0.4142135623730951  # a seed hash of no run in play
DEALT = 8  # cards of a typical hand, played and held ones
FIRST_DEALT = MAX_CARDS - DEALT

# A typical hand of each kind from Straight Flush on: how many of its cards are played, and each card's rank and suit,
# which is counted from the deck's commonest suit.
FIRST_POWER = int(Hand.STRAIGHT_FLUSH)
_TYPICAL = (
    (5, ((9, 0), (8, 0), (7, 0), (6, 0), (5, 0), (13, 1), (3, 2), (2, 3))),
    (4, ((8, 0), (8, 1), (8, 2), (8, 3), (13, 1), (10, 0), (5, 2), (3, 3))),
    (5, ((12, 0), (12, 1), (12, 2), (7, 0), (7, 3), (10, 1), (4, 2), (3, 3))),
    (5, ((13, 0), (11, 0), (9, 0), (6, 0), (3, 0), (12, 1), (7, 2), (4, 3))),
    (5, ((9, 0), (8, 1), (7, 2), (6, 0), (5, 3), (13, 1), (3, 2), (2, 0))),
    (3, ((9, 0), (9, 1), (9, 3), (13, 1), (12, 2), (6, 0), (4, 2), (2, 3))),
    (4, ((11, 0), (11, 1), (6, 2), (6, 0), (13, 1), (9, 3), (4, 2), (3, 0))),
    (2, ((10, 0), (10, 1), (13, 2), (9, 3), (7, 0), (5, 1), (4, 2), (2, 3))),
    (1, ((14, 0), (12, 1), (10, 2), (9, 3), (7, 0), (5, 1), (4, 2), (2, 3))),
)
N_POWERS = len(_TYPICAL)
TYPICAL = np.array([cards for _, cards in _TYPICAL], dtype=np.int64)
TYPICAL_PLAYED = np.array([(1 << played) - 1 for played, _ in _TYPICAL], dtype=np.int64)
# The kinds that a joker's worth is asked with: Full House, Flush, Straight, Pair.
ASKED = np.array([int(hand) - FIRST_POWER for hand in (Hand.FULL_HOUSE, Hand.FLUSH, Hand.STRAIGHT, Hand.PAIR)])
N_ASKED = len(ASKED)
LEAST = 1.0  # chips; a score below counts as this one


@rule
def forget_streams(s):
    """No roll of this copy is one that the run will see: its seed is another one, the same for all."""
    s.seed_length = 0
    s.seed_hash = OTHER_STREAMS
    s.n_streams = 0
    for i in range(STREAM_SLOTS):
        s.stream_ids[i] = 0


@rule
def swap_jokers(s, one, other):
    """The jokers in these two slots change places, in a copy: the card made last serves as scratch."""
    s.made = s.jokers[one]
    s.jokers[one] = s.jokers[other]
    s.jokers[other] = s.made


@rule
def copy_to_try(s, copy):
    """`copy`, equal to the game, becomes what its player knows of it: other rolls, no card that lies face down, and
    jokers that do so in the order of their numbers.
    """
    forget_streams(copy)
    n = 0
    for i in range(s.n_hand):
        if not s.cards[s.hand[i]].face_down:
            copy.hand[n] = s.hand[i]
            n += 1
    copy.n_hand = n
    if jokers_hidden(s):
        for i in range(1, copy.n_jokers):
            for j in range(i, 0, -1):
                if copy.jokers[j].id < copy.jokers[j - 1].id:
                    swap_jokers(copy, j, j - 1)


@rule
def open_positions(s, cards):
    """The same card set by positions among the cards that do not lie face down."""
    found, n = 0, 0
    for i in range(s.n_hand):
        if not s.cards[s.hand[i]].face_down:
            found |= ((cards >> i) & 1) << n
            n += 1
    return found


@rule
def score_of(s, scratch, cards):
    """Chips that these hand positions, none of them face down, would score now.

    scratch (2,) state_t is changed: scratch[0] is the game after that hand.
    """
    scratch[0] = s
    copy_to_try(s, scratch[0])
    return score_in_copy(scratch[0], open_positions(s, cards))


@rule
def score_in_copy(copy, cards):
    """Chips that these hand positions score in this copy, which is changed."""
    copy.hand_total = 0.0
    score_cards(copy, cards)
    return float(copy.hand_total)


@rule
def set_table(s, scratch):
    """scratch[1] is a copy of the game in the middle of a plain round, with eight cards to be named.

    They are none of the deck's, so that what jokers count there stays as it is.
    """
    scratch[1] = s
    t = scratch[1]
    copy_to_try(s, t)
    t.phase = Phase.PLAY
    t.blind = Blind.NONE
    t.boss_disabled = 0
    t.hands_left = 3
    t.hands_played = 1
    t.discards_left = 2
    t.n_hand = DEALT
    t.n_cards = min(FIRST_DEALT, int(t.n_cards))
    for i in range(DEALT):
        c = t.cards[FIRST_DEALT + i]
        c.enhancement = 0
        c.edition = 0
        c.seal = 0
        c.debuffed = 0
        c.bonus = 0
        c.face_down = 0
        c.forced = 0
        c.worn = 0
        c.played_this_ante = 0
        c.place = Place.HAND
        t.hand[i] = FIRST_DEALT + i


@rule
def power_of(scratch, which, suit):
    """log10 of what the typical hand `which` scores on the table of scratch[1]. scratch[0] is changed."""
    t = scratch[1]
    for i in range(DEALT):
        t.cards[FIRST_DEALT + i].rank = TYPICAL[which, i, 0]
        t.cards[FIRST_DEALT + i].suit = (TYPICAL[which, i, 1] + suit) & 3
    scratch[0] = t
    return log10_of(max(LEAST, score_in_copy(scratch[0], TYPICAL_PLAYED[which])))


@rule
def commonest_suit(s):
    """The suit of most cards of the deck; the first of equals."""
    best, most = 0, -1
    for suit in range(4):
        n = 0
        for i in range(s.n_cards):
            n += 1 if s.cards[i].suit == suit and s.cards[i].place != Place.GONE else 0
        if n > most:
            best, most = suit, n
    return best


@rule
def write_powers(s, scratch, suit, powers):
    """log10 of what each typical hand scores with the jokers and levels at hand: powers (N_POWERS,), overwritten.

    Afterwards scratch[1] is the table, for `gain_of_joker` and its like.
    """
    set_table(s, scratch)
    for which in range(N_POWERS):
        powers[which] = power_of(scratch, which, suit)


@rule
def write_gains(scratch, suit, powers, gains):
    """How much more than `powers` the table of scratch[1] scores now, log10: gains (N_ASKED,), overwritten."""
    for k in range(N_ASKED):
        gains[k] = power_of(scratch, ASKED[k], suit) - powers[ASKED[k]]


@rule
def gains_of_joker(s, scratch, suit, powers, item, leaving, gains):
    """What one more joker would change: gains (N_ASKED,), overwritten.

    item     an item of the shop or a pack
    leaving  the slot of the joker that makes room for it, -1 where there is room
    """
    set_table(s, scratch)
    t = scratch[1]
    if leaving >= 0:
        take_out(t, leaving)
    t.jokers[t.n_jokers] = item
    t.n_jokers += 1
    refresh_lineup(t)
    write_gains(scratch, suit, powers, gains)


@rule
def take_out(t, slot):
    """The joker in this slot is gone, in a copy; those right of it move up."""
    for i in range(slot, t.n_jokers - 1):
        t.jokers[i] = t.jokers[i + 1]
    t.n_jokers -= 1


@rule
def losses_of_joker(s, scratch, suit, powers, slot, gains):
    """What the line-up without the joker in this slot would change: gains (N_ASKED,), overwritten."""
    set_table(s, scratch)
    take_out(scratch[1], slot)
    refresh_lineup(scratch[1])
    write_gains(scratch, suit, powers, gains)


@rule
def gains_of_move(s, scratch, suit, powers, slot, gains):
    """What changing places with the right neighbour would change: gains (N_ASKED,), overwritten."""
    set_table(s, scratch)
    swap_jokers(scratch[1], slot, slot + 1)
    refresh_lineup(scratch[1])
    write_gains(scratch, suit, powers, gains)
