"""The record of a candidate action and of a list of them: fields, flags, purposes, and encodings of estimates."""

import numpy as np

from ante.catalog.hands import Hand
from ante.catalog.tags import Tag
from ante.engine.actions import N_VERBS, Verb
from ante.engine.core.rule import rule
from ante.env.entities.ids import N_ITEM_IDS
from ante.env.layout import columns
from ante.lookahead.reference_hands import N_REFERENCE_HANDS, N_TESTED_HANDS

MAX_CANDIDATES = 25
N_ESTIMATES = 6
TAG_BASE = N_ITEM_IDS  # + Tag: item ids beyond those of env/entities/ids.py
N_CANDIDATE_ITEMS = N_ITEM_IDS + len(Tag)

# Flags of a candidate.
LEGAL, BEATS_BLIND, PADDED, ETERNAL, PERISHABLE, RENTAL, OWNED = FLAGS = tuple(1 << i for i in range(7))
N_FLAGS = len(FLAGS)

# Purpose of a discard, or of selling a joker. Lower numbers are the poker hand of a play, 1 + Hand.
N_HANDS = len(Hand)
(
    PURPOSE_FLUSH,
    PURPOSE_STRAIGHT,
    PURPOSE_PAIRS,  # keep all cards of ranks that are held twice or more
    PURPOSE_MOST_OF_A_RANK,  # keep the rank that is held most often
    PURPOSE_BEST_PLAY,  # keep the cards of the best play
    PURPOSE_LEAST_VALUABLE,  # replace the least valuable cards
    PURPOSE_SWAP,
) = range(N_HANDS + 1, N_HANDS + 8)
N_PURPOSES = N_HANDS + 8

# Columns of `estimates`, by verb. Encodings: log 20 per decade (`log_byte`), ratio 50 per decade around 128
# (`ratio_byte`), chance 250 for 1 (`chance_byte`), count 50 per card.
PLAY = columns(
    "PLAY",
    "score",  # log: chips of the play
    "score_to_needed",  # ratio
    "all_hands_to_needed",  # ratio: if every hand left scores as much
    "cards",  # count
    "next_beats",  # chance that the next hand beats the blind, if this one does not
    "next_to_needed",  # ratio: mean next hand
)
DISCARD = columns(
    "DISCARD",
    "next",  # log: mean strength after the draw
    "next_to_needed",  # ratio
    "success",  # chance that its purpose is achieved
    "cards",  # count
    "next_beats",  # chance that the hand after the draw beats the blind
    "gain",  # ratio: mean strength after the draw to the strength of the current hand
)
BYTES_PER_CARD = 50
N_JOKER_GAINS = N_TESTED_HANDS  # of jokers, the first estimates: ratio, gain of each tested reference hand
HELD_VALUE = 4  # of jokers held: 128 + the joker's value
PLANET = columns("PLANET", "strength", "level", "plays")  # log; 10 per level; 4 per play
MONEY_LEFT, INTEREST_LOST = 4, 5  # of purchases: dollars left + 20; 40 per dollar, modulo 256

# Kinds of candidates, by verb: candidates of a kind share the meaning of their estimates.
KIND_OF_VERB = np.zeros(N_VERBS, dtype=np.int64)
KIND_OF_VERB[Verb.PLAY], KIND_OF_VERB[Verb.DISCARD] = 1, 2
KIND_OF_VERB[[Verb.BUY, Verb.BUY_AND_USE, Verb.PICK, Verb.USE]] = 3
KIND_OF_VERB[[Verb.SELL_JOKER, Verb.MOVE_JOKER]] = 4
N_KINDS = 5

candidate_t = np.dtype(
    [
        ("cards", "<u4"),  # hand positions as bits, leftmost is bit 0
        (
            "item_id",
            "u2",
        ),  # bought, taken, used, sold or gained item: item id (env/entities/ids.py) or TAG_BASE + Tag
        ("verb", "u1"),  # engine Verb
        ("target", "u1"),  # slot
        ("trait", "u1"),  # edition, enhancement and seal of the item (env/entities/ids.py)
        ("purpose", "u1"),  # of a play 1 + Hand, of a discard and a swap PURPOSE_*, else 0
        ("price", "u1"),  # price in dollars, or sell value
        ("flag_bits", "u1"),
        ("estimates", "u1", (N_ESTIMATES,)),
    ]
)
candidates_t = np.dtype(
    [
        ("strengths", "<i2", (N_REFERENCE_HANDS,)),  # thousandths of log10 of the score of each reference hand
        ("needed", "<i2"),  # hundredths of log10 of the missing chips
        ("n", "u1"),  # entries
        ("dropped", "u1"),  # candidates that did not fit into the list
        ("spare", "u1", (4,)),  # makes the size a multiple of 4
        ("entries", candidate_t, (MAX_CANDIDATES,)),
    ]
)


@rule
def as_byte(x):
    """Round and clip a number to 8 bits."""
    return int(max(0.0, min(255.0, x + 0.5)))


@rule
def log_byte(x):
    """Encode a log10 from 0 to 12.75 in twentieths."""
    return as_byte(20.0 * x)


@rule
def ratio_byte(x):
    """Encode the log10 of a ratio in fiftieths around 128, from -2.56 to 2.54."""
    return as_byte(128.0 + 50.0 * x)


@rule
def chance_byte(x):
    """Encode a probability in 250ths."""
    return as_byte(250.0 * x)


@rule
def add_candidate(out, verb, target, cards, item_id, flags):
    """Append a candidate, without price and estimates. Returns its index, or -1 if the list is full."""
    k = int(out.n)
    if k == MAX_CANDIDATES:
        out.dropped = min(255, int(out.dropped) + 1)
        return -1
    e = out.entries[k]
    clear_candidate(e)
    e.verb = verb
    e.target = target
    e.cards = cards
    e.item_id = item_id
    e.flag_bits = flags
    out.n = k + 1
    return k


@rule
def clear_candidate(e):
    """Set every field to 0."""
    e.cards = 0
    e.item_id = 0
    e.verb = 0
    e.target = 0
    e.trait = 0
    e.purpose = 0
    e.price = 0
    e.flag_bits = 0
    for i in range(N_ESTIMATES):
        e.estimates[i] = 0
