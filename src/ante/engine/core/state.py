"""The record of one game, and nothing that acts on it.

A game is one fixed-size record: copying it saves the game, a batch is an array of them, equality is equality of
bytes. Attribute access works compiled and uncompiled because the arrays are `np.recarray`.
"""

from enum import IntEnum

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.consumables import Consumable
from ante.catalog.hands import Hand
from ante.catalog.jokers import Joker
from ante.catalog.locks import N_LOCKS
from ante.catalog.vouchers import Voucher

MAX_SEED = 16  # letters of a seed
MAX_CARDS = 128  # playing cards of one run, destroyed ones are packed away at round end
MAX_HAND = 24
MAX_JOKERS = 16
MAX_CONSUMABLES = 32
SHOWN_CONSUMABLES = 16  # the leftmost ones, which observations show and the discrete view can name
MAX_ROW = 5
MAX_SHOP_VOUCHERS = 4
MAX_PACKS = 2
MAX_PACK = 5
MAX_TAGS = 24
MAX_PLAYED = 5
N_PANELS = 3  # blinds of an ante: Small, Big, Boss
STREAM_SLOTS = 256
LOCK_BYTES = (N_LOCKS + 7) // 8
N_HANDS = len(Hand)
CONSUMABLE_KEYS = len(Joker)  # used set: Joker j has index j, Consumable c has index CONSUMABLE_KEYS + c
VERSION = 4  # raised whenever a record of an older version can no longer be read


class Phase(IntEnum):
    """The decision that the player faces."""

    BLIND_SELECT = 0
    PLAY = 1
    ROUND_END = 2  # the cash-out screen
    SHOP = 3
    PACK = 4
    OVER = 5


class Status(IntEnum):
    """What one step returns."""

    PLAYING = 0
    WON = 1  # the boss of the win ante was beaten in this step; the run may continue in endless mode
    LOST = 2
    ILLEGAL = 3  # nothing was changed


class Kind(IntEnum):
    """What an item is."""

    NONE = 0
    JOKER = 1
    CONSUMABLE = 2
    PLAYING_CARD = 3


class Place(IntEnum):
    """Where a playing card is."""

    DECK = 0
    HAND = 1
    PLAYED = 2  # on the table while its hand is scored
    DISCARD = 3  # played or discarded this round
    GONE = 4  # destroyed


class Table(IntEnum):
    """A table of fixed size in the record; `s.overflows` counts by table what found no room."""

    CARDS = 0  # playing cards that were not added
    HAND = 1  # cards that were not drawn, or went to the draw pile instead
    JOKERS = 2  # jokers that were not added
    CONSUMABLES = 3  # consumables that were not added
    TAGS = 4  # tags that were not kept
    VOUCHERS = 5  # shops in which a Voucher Tag stayed unused
    RESAMPLES = 6  # resampled draws whose random stream was not stored: drawn again, it starts afresh
    STREAMS = 7  # the same of other draws, for which the last slots are kept


class Rule(IntEnum):
    """Bits of `s.rules`, set by jokers held and working (Moment.WHILE_HELD); rules code tests the bit."""

    FOUR_FINGERS = 1
    SHORTCUT = 2
    SMEARED = 4
    SPLASH = 8
    PAREIDOLIA = 16
    SHOWMAN = 32
    ASTRONOMER = 64


class Debuff(IntEnum):
    """What keeps a playing card or a joker from working: `debuffed` of either."""

    NONE = 0
    LASTING = 1  # a card that the boss debuffs or that is worn, a joker that has perished
    DOOMED = 2  # a joker that the next settle() destroys
    CRIMSON_HEART = 3  # a joker that Crimson Heart disables until the next hand


FREE = 8  # bit of item.stickers beside the catalogue's: a shop card that a tag has made free of charge

# A joker, a consumable, or a card in the shop row or a pack.
item_t = np.dtype(
    [
        ("kind", "i1"),  # Kind
        ("edition", "i1"),
        ("stickers", "i1"),  # bits of catalog Sticker, and FREE
        ("debuffed", "i1"),  # Debuff
        ("enhancement", "i1"),  # playing cards only
        ("seal", "i1"),  # playing cards only
        ("rank", "i1"),  # playing card's rank; Mail-In and the like keep theirs in s
        ("suit", "i1"),
        ("id", "i2"),  # Joker or Consumable number
        ("cost", "i2"),  # present price, which sets the sell value; a FREE card is had for nothing
        ("extra_sell", "i2"),  # added to the sell value (Egg, Gift Card)
        ("rounds", "i1"),  # Perishable: rounds left
        ("hand", "i1"),  # To Do List: listed Hand
        ("created", "i4"),  # creation number
        ("count", "i4"),  # second memory of a joker (hands, rounds, cards)
        ("value", "f8"),  # first memory of a joker: mult, chips or X it has grown to
    ],
    align=True,
)

# One playing card of the run. The array is kept in creation order.
card_t = np.dtype(
    [
        ("rank", "i1"),  # 2..14
        ("suit", "i1"),  # catalog Suit
        ("first_suit", "i1"),  # at creation; breaks ties when the hand is sorted
        ("enhancement", "i1"),
        ("edition", "i1"),
        ("seal", "i1"),
        ("debuffed", "i1"),  # Debuff
        ("face_down", "i1"),
        ("place", "i1"),  # Place
        ("played_this_ante", "i1"),
        ("forced", "i1"),  # Cerulean Bell: always selected
        ("worn", "i1"),  # debuffed for good by the challenge Double or Nothing
        ("created", "i2"),  # creation number among playing cards, those in packs included
        ("bonus", "i2"),  # chips added for good by Hiker
    ],
    align=True,
)

state_t = np.dtype(
    [
        # kept when a run starts again (run.py)
        ("seed", "u1", (MAX_SEED,)),  # ASCII, not padded
        ("seed_length", "i4"),
        ("locked", "u1", (LOCK_BYTES,)),  # bits of what the profile has not unlocked (catalog locks)
        # random streams (rng.py)
        ("stream_ids", "i4", (STREAM_SLOTS,)),  # 0 = free
        ("stream_states", "f8", (STREAM_SLOTS,)),
        ("n_streams", "i4"),
        ("seed_hash", "f8"),
        # capacity
        ("overflows", "i4", (len(Table),)),  # by Table: how often a full table lost something
        # the run
        ("deck_id", "i4"),  # catalog Deck
        ("stake", "i4"),  # 1..8
        ("challenge", "i4"),  # catalog Challenge, 0 none
        ("modifiers", "i4"),  # bits of catalog Modifier, from the challenge
        ("restricted", "i4"),  # 1 = the challenge or the profile bars items
        ("inflation", "i4"),  # dollars that the challenge Inflation has put on every price
        ("phase", "i4"),
        ("won", "i4"),  # 1 once the win ante's boss has fallen
        ("ante", "i4"),
        ("highest_ante", "i4"),
        ("round_number", "i4"),  # blinds selected so far
        ("decisions", "i4"),  # macro decisions taken
        ("dollars", "i4"),
        ("debt_allowed", "i4"),  # Credit Card: 20 a piece
        ("created", "i4"),  # creation numbers given out
        ("one_chip_blinds", "i4"),  # benchmark switch: every target is 1 chip
        # blinds
        ("blind_on_deck", "i4"),  # 0 Small, 1 Big, 2 Boss
        ("blind", "i4"),  # catalog Blind in play, 0 outside
        ("boss", "i4"),  # catalog Blind of this ante
        ("boss_disabled", "i4"),
        ("boss_rerolled", "i4"),  # Director's Cut used this ante
        ("boss_uses", "i2", (len(Blind),)),
        ("skip_tags", "i1", (N_PANELS - 1,)),  # tag for skipping Small, Big
        ("skip_tag_hands", "i1", (N_PANELS,)),  # Orbital Tag's hand for each panel
        ("target", "f8"),
        ("chips", "f8"),  # scored in this blind
        ("hands_left", "i4"),
        ("discards_left", "i4"),
        ("hands_played", "i4"),  # this round
        ("discards_used", "i4"),  # this round
        ("last_hand", "i4"),  # Hand played last, -1 none
        ("eye_hands", "i4"),  # The Eye: bits of Hand used; The Mouth: 1 << the only Hand
        ("ox_hand", "i4"),  # The Ox: most played Hand when the ante began, -1 none
        ("fish_down", "i4"),  # The Fish: cards drawn now come face down
        ("hands_each_round", "i4"),
        ("discards_each_round", "i4"),
        ("base_hand_size", "i4"),  # without jokers
        ("round_hand_size", "i4"),  # this round only: Juggle Tag, The Manacle
        ("hand_size", "i4"),  # in force
        ("joker_slots", "i4"),  # without Negative editions
        ("consumable_slots", "i4"),  # without Negative editions
        # jokers' standing effects, refreshed with the line-up
        ("rules", "i4"),  # bits of Rule
        ("oops", "i4"),  # working Oops! All 6s
        ("joker_hand_size", "i4"),
        ("joker_hands", "i4"),
        ("joker_discards", "i4"),
        ("free_rerolls_held", "i4"),  # Chaos the Clown
        ("lineup_stale", "i4"),  # 1 = refresh before the next read
        # cards
        ("cards", card_t, (MAX_CARDS,)),
        ("n_cards", "i4"),
        ("cards_made", "i4"),  # creation numbers of playing cards given out
        ("deck", "i2", (MAX_CARDS,)),  # card indices, drawn from the end
        ("n_deck", "i4"),
        ("hand", "i2", (MAX_HAND,)),  # card indices, left to right
        ("n_hand", "i4"),
        ("selected", "i4"),  # bits of hand positions, discrete view only
        ("sort_by_suit", "i4"),
        ("starting_deck_size", "i4"),
        # owned
        ("jokers", item_t, (MAX_JOKERS,)),
        ("n_jokers", "i4"),
        ("joker_buffer", "i4"),  # places that Ceremonial Dagger has freed and whose jokers are still to go
        ("consumables", item_t, (MAX_CONSUMABLES,)),
        ("n_consumables", "i4"),
        ("vouchers", "i1", (len(Voucher),)),  # by Voucher number, 1 = redeemed
        ("tags", "i1", (MAX_TAGS,)),  # oldest first
        ("tag_hands", "i1", (MAX_TAGS,)),  # Orbital Tag's hand
        ("n_tags", "i4"),
        (
            "used",
            "u1",
            (CONSUMABLE_KEYS + len(Consumable),),
        ),  # used set: Joker number, or CONSUMABLE_KEYS + Consumable number
        # counters of the run
        ("levels", "i2", (N_HANDS,)),
        ("plays", "i4", (N_HANDS,)),
        ("plays_round", "i2", (N_HANDS,)),
        ("hands_played_run", "i4"),
        ("unused_discards_run", "i4"),
        ("blinds_skipped", "i4"),
        ("tarots_used", "i4"),
        ("planets_used", "i4"),  # bit per planet, in pool order
        ("last_consumable", "i4"),  # last Tarot or Planet used, 0 none
        ("ectoplasms", "i4"),
        ("gros_michel_extinct", "i4"),
        ("first_shop_made", "i4"),
        # targets that jokers look at
        ("idol_rank", "i4"),
        ("idol_suit", "i4"),
        ("mail_rank", "i4"),
        ("ancient_suit", "i4"),
        ("castle_suit", "i4"),
        # shop
        ("row", item_t, (MAX_ROW,)),  # kind NONE = a hole
        ("n_row", "i4"),  # slots of the row, holes included
        ("voucher_this_ante", "i4"),  # drawn for the ante, 0 once redeemed
        ("shop_vouchers", "i1", (MAX_SHOP_VOUCHERS,)),  # 0 = a hole
        ("n_shop_vouchers", "i4"),
        ("packs", "i1", (MAX_PACKS,)),  # index into catalog PACKS, -1 = a hole
        ("reroll_cost", "i4"),  # next reroll's price
        ("reroll_raise", "i4"),  # what paid rerolls of this shop added
        ("reroll_base", "i4"),  # D6 Tag sets 0 for one shop
        ("free_rerolls", "i4"),  # left in this shop
        ("couponed", "i4"),  # Coupon Tag: initial cards and packs are free
        # open pack
        ("pack", item_t, (MAX_PACK,)),
        ("n_pack", "i4"),
        ("pack_id", "i4"),  # index into catalog PACKS
        ("picks_left", "i4"),
        ("pack_return", "i4"),  # Phase to go back to
        ("queued_pack", "i4"),  # 1 + index into catalog PACKS of the pack that a tag opens next, 0 for none
        ("made", item_t),  # the card that items/making.py made last
        ("moved_card", card_t),  # scratch of items/card_array.py
        # cash-out
        ("payout", "i4"),  # dollars waiting on the cash-out screen
        ("beat_boss", "i4"),  # the blind just beaten was a boss
        # one played hand, while it is scored
        ("score_chips", "f8"),
        ("score_mult", "f8"),
        ("played", "i2", (MAX_PLAYED,)),  # card indices, left to right
        ("n_played", "i4"),
        ("scoring", "i1", (MAX_PLAYED,)),  # 1 = that played card scores
        ("n_scoring", "i4"),
        ("hand_type", "i4"),
        ("contains", "i4"),  # bits of Hand found in the played cards
        ("repeats", "i4"),  # answer of the REPEAT moments
        ("acting", "i4"),  # slot of the joker that acts, a copier's own slot included
        ("copying", "i4"),  # 1 while Blueprint or Brainstorm acts
        ("boss_triggered", "i4"),
        ("lucky_hit", "i4"),  # the Lucky card in question hit with its last trigger
        ("hand_refused", "i4"),
        ("money_in_hand", "i4"),  # dollars when the hand began; what it earns comes later
        ("tally_steel", "i4"),  # whole-deck counts, taken before the hand
        ("tally_stone", "i4"),
        ("tally_enhanced", "i4"),
        ("tally_nines", "i4"),  # not used; the next VERSION drops it, until then saved games stay readable
        ("hand_total", "f8"),  # chips x mult of the last hand, floored
        # events that wait for settle()
        ("pending_added", "i4"),
        ("pending_faces", "i4"),
        ("pending_glass", "i4"),
        ("order", "i2", (MAX_CARDS,)),
    ],
    align=True,
)


def new_states(n: int) -> np.recarray:
    """Blank records for n games, shape (n,). `run.start_run` makes games of them."""
    return np.zeros(n, dtype=state_t).view(np.recarray)


def copy_states(states: np.recarray) -> np.recarray:
    """An independent copy of a batch, (n,).

    SPEED: as bytes, forty times as fast as `states.copy()`, which NumPy carries out field by field.
    """
    return states.view(np.uint8).copy().view(state_t).view(np.recarray)


def restore_states(states: np.recarray, saved: np.recarray) -> None:
    """A batch stands again as it stood when `saved` was copied from it; both are (n,)."""
    states.view(np.uint8)[:] = saved.view(np.uint8)


def save_state(s: np.record) -> bytes:
    """One game as bytes: the text `ante-state`, the version, the record's size, then the record."""
    return b"ante-state" + np.array([VERSION, state_t.itemsize], dtype="<u4").tobytes() + s.tobytes()


def load_state(data: bytes) -> np.record:
    """The game that `save_state` wrote. Raises ValueError where the bytes are not a whole record of this version."""
    if data[:10] != b"ante-state" or len(data) < 18:
        raise ValueError("not a saved game: the bytes do not begin with 'ante-state'")
    version, size = (int(x) for x in np.frombuffer(data[10:18], dtype="<u4"))
    if version != VERSION or size != state_t.itemsize:
        raise ValueError(
            f"saved game of version {version} ({size} bytes); this engine reads version {VERSION} ({state_t.itemsize} bytes)"
        )
    if len(data) != 18 + size:
        raise ValueError(f"truncated saved game: {len(data) - 18} of {size} bytes")
    states = new_states(1)
    states.view(np.uint8)[:] = np.frombuffer(data[18:], dtype=np.uint8)
    return states[0]
