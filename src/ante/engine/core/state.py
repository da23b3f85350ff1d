"""The record of one game, without functions that act on it.

A game is one fixed-size record: copying it saves the game, a batch is an array of records, and equal games have equal
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
from ante.engine.core.records import record_type

MAX_SEED = 16  # characters of a seed
SEED_LENGTH = 8  # characters of a random seed
MAX_CARDS = 128  # playing cards of one run; destroyed ones are removed from the array at the end of a round
MAX_HAND = 24
MAX_JOKERS = 16
MAX_CONSUMABLES = 32
SHOWN_CONSUMABLES = 16  # the leftmost ones: those that observations contain and discrete actions can select
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
CONSUMABLE_KEYS = len(Joker)  # index in the set of used items: j for Joker j, CONSUMABLE_KEYS + c for Consumable c
VERSION = 4  # incremented when a record of an older version can no longer be loaded


class Phase(IntEnum):
    """The decision that the player faces."""

    BLIND_SELECT = 0
    PLAY = 1
    ROUND_END = 2  # the cash-out screen
    SHOP = 3
    PACK = 4
    OVER = 5


class Status(IntEnum):
    """The result of one step."""

    PLAYING = 0
    WON = 1  # the boss of the win ante was beaten in this step; the run may continue in endless mode
    LOST = 2
    ILLEGAL = 3  # nothing changed


class Kind(IntEnum):
    """The kind of an item."""

    NONE = 0
    JOKER = 1
    CONSUMABLE = 2
    PLAYING_CARD = 3


class Place(IntEnum):
    """The location of a playing card."""

    DECK = 0
    HAND = 1
    PLAYED = 2  # on the table while its hand is scored
    DISCARD = 3  # played or discarded this round
    GONE = 4  # destroyed


class Table(IntEnum):
    """A table of fixed size in the record; `s.overflows` counts by table the entries that did not fit."""

    CARDS = 0  # playing cards that were not added
    HAND = 1  # cards that were not drawn, or that were added to the draw pile instead
    JOKERS = 2  # jokers that were not added
    CONSUMABLES = 3  # consumables that were not added
    TAGS = 4  # tags that were not added
    VOUCHERS = 5  # shops in which a Voucher Tag stayed unused
    RESAMPLES = 6  # resampled draws whose random stream was not stored: the next draw starts it again
    STREAMS = 7  # the same for other draws, for which the last slots are reserved


class Rule(IntEnum):
    """Bits of `s.rules`, set by jokers held and working (Moment.WHILE_HELD). Rules test the bit, not the joker."""

    FOUR_FINGERS = 1
    SHORTCUT = 2
    SMEARED = 4
    SPLASH = 8
    PAREIDOLIA = 16
    SHOWMAN = 32
    ASTRONOMER = 64


class Debuff(IntEnum):
    """Why a playing card or a joker does not work: values of `debuffed` of both."""

    NONE = 0
    LASTING = 1  # a card debuffed by the boss or worn, a joker that has perished
    DOOMED = 2  # a joker that the next settle() destroys
    CRIMSON_HEART = 3  # a joker that Crimson Heart disables until the next hand


FREE = 8  # bit of item.stickers in addition to the catalogue's: a shop card that a tag has made free

# A joker, a consumable, or a card in the shop row or a pack.
item_t = np.dtype(
    [
        ("kind", "i1"),  # Kind
        ("edition", "i1"),
        ("stickers", "i1"),  # bits of catalog Sticker, and FREE
        ("debuffed", "i1"),  # Debuff
        ("enhancement", "i1"),  # playing cards only
        ("seal", "i1"),  # playing cards only
        ("rank", "i1"),  # of a playing card; the ranks of Mail-In Rebate and the like are in s
        ("suit", "i1"),
        ("id", "i2"),  # Joker or Consumable number
        ("cost", "i2"),  # current price, which determines the sell value; a FREE card costs nothing
        ("extra_sell", "i2"),  # added to the sell value (Egg, Gift Card)
        ("rounds", "i1"),  # Perishable: rounds left
        ("hand", "i1"),  # To Do List: listed Hand
        ("created", "i4"),  # creation number
        ("count", "i4"),  # second counter of a joker (hands, rounds, cards)
        ("value", "f8"),  # first counter of a joker: the mult, chips or X it has grown to
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
        ("worn", "i1"),  # debuffed permanently by the challenge Double or Nothing
        ("created", "i2"),  # creation number among playing cards, including those in packs
        ("bonus", "i2"),  # chips added permanently by Hiker
    ],
    align=True,
)

state_t = np.dtype(
    [
        # kept when a run is restarted (run.py)
        ("seed", "u1", (MAX_SEED,)),  # ASCII, not padded
        ("seed_length", "i4"),
        ("locked", "u1", (LOCK_BYTES,)),  # bits of the items that the profile has not unlocked (catalog locks)
        # random streams (rng.py)
        ("stream_ids", "i4", (STREAM_SLOTS,)),  # 0 = free
        ("stream_states", "f8", (STREAM_SLOTS,)),
        ("n_streams", "i4"),
        ("seed_hash", "f8"),
        # capacity
        ("overflows", "i4", (len(Table),)),  # by Table: number of entries that did not fit
        # the run
        ("deck_id", "i4"),  # catalog Deck
        ("stake", "i4"),  # 1..8
        ("challenge", "i4"),  # catalog Challenge, 0 for none
        ("modifiers", "i4"),  # bits of catalog Modifier, from the challenge
        ("restricted", "i4"),  # 1 = the challenge or the profile excludes items
        ("inflation", "i4"),  # dollars that the challenge Inflation has added to every price
        ("phase", "i4"),
        ("won", "i4"),  # 1 after the boss of the win ante was beaten
        ("ante", "i4"),
        ("highest_ante", "i4"),
        ("round_number", "i4"),  # blinds selected so far
        ("decisions", "i4"),  # macro decisions taken
        ("dollars", "i4"),
        ("debt_allowed", "i4"),  # Credit Card: 20 each
        ("created", "i4"),  # number of creation numbers used
        ("one_chip_blinds", "i4"),  # benchmark option: every target is 1 chip
        # blinds
        ("blind_on_deck", "i4"),  # 0 Small, 1 Big, 2 Boss
        ("blind", "i4"),  # catalog Blind in play, 0 outside of a round
        ("boss", "i4"),  # catalog Blind of this ante
        ("boss_disabled", "i4"),
        ("boss_rerolled", "i4"),  # 1 = Director's Cut was used this ante
        ("boss_uses", "i2", (len(Blind),)),
        ("skip_tags", "i1", (N_PANELS - 1,)),  # tags for skipping Small and Big
        ("skip_tag_hands", "i1", (N_PANELS,)),  # hand of an Orbital Tag, by panel
        ("target", "f8"),
        ("chips", "f8"),  # scored in this blind
        ("hands_left", "i4"),
        ("discards_left", "i4"),
        ("hands_played", "i4"),  # this round
        ("discards_used", "i4"),  # this round
        ("last_hand", "i4"),  # last Hand played, -1 for none
        ("eye_hands", "i4"),  # The Eye: bits of the Hands used; The Mouth: 1 << the only Hand
        ("ox_hand", "i4"),  # The Ox: most played Hand when the ante began, -1 for none
        ("fish_down", "i4"),  # The Fish: cards drawn now are face down
        ("hands_each_round", "i4"),
        ("discards_each_round", "i4"),
        ("base_hand_size", "i4"),  # without jokers
        ("round_hand_size", "i4"),  # only for this round: Juggle Tag, The Manacle
        ("hand_size", "i4"),  # current value
        ("joker_slots", "i4"),  # without Negative editions
        ("consumable_slots", "i4"),  # without Negative editions
        # lasting effects of jokers, refreshed with the line-up
        ("rules", "i4"),  # bits of Rule
        ("oops", "i4"),  # number of working Oops! All 6s
        ("joker_hand_size", "i4"),
        ("joker_hands", "i4"),
        ("joker_discards", "i4"),
        ("free_rerolls_held", "i4"),  # Chaos the Clown
        ("lineup_stale", "i4"),  # 1 = refresh before the next read
        # cards
        ("cards", card_t, (MAX_CARDS,)),
        ("n_cards", "i4"),
        ("cards_made", "i4"),  # number of creation numbers of playing cards used
        ("deck", "i2", (MAX_CARDS,)),  # card indices, drawn from the end
        ("n_deck", "i4"),
        ("hand", "i2", (MAX_HAND,)),  # card indices, left to right
        ("n_hand", "i4"),
        ("selected", "i4"),  # bits of hand positions, used only by discrete actions
        ("sort_by_suit", "i4"),
        ("starting_deck_size", "i4"),
        # owned items
        ("jokers", item_t, (MAX_JOKERS,)),
        ("n_jokers", "i4"),
        ("joker_buffer", "i4"),  # slots that Ceremonial Dagger has freed and whose jokers are not yet removed
        ("consumables", item_t, (MAX_CONSUMABLES,)),
        ("n_consumables", "i4"),
        ("vouchers", "i1", (len(Voucher),)),  # by Voucher number, 1 = redeemed
        ("tags", "i1", (MAX_TAGS,)),  # oldest first
        ("tag_hands", "i1", (MAX_TAGS,)),  # hand of an Orbital Tag
        ("n_tags", "i4"),
        (
            "used",
            "u1",
            (CONSUMABLE_KEYS + len(Consumable),),
        ),  # set of used items, by Joker number or CONSUMABLE_KEYS + Consumable number
        # counters of the run
        ("levels", "i2", (N_HANDS,)),
        ("plays", "i4", (N_HANDS,)),
        ("plays_round", "i2", (N_HANDS,)),
        ("hands_played_run", "i4"),
        ("unused_discards_run", "i4"),
        ("blinds_skipped", "i4"),
        ("tarots_used", "i4"),
        ("planets_used", "i4"),  # one bit per planet, in pool order
        ("last_consumable", "i4"),  # last Tarot or Planet used, 0 for none
        ("ectoplasms", "i4"),
        ("gros_michel_extinct", "i4"),
        ("first_shop_made", "i4"),
        # targets of jokers
        ("idol_rank", "i4"),
        ("idol_suit", "i4"),
        ("mail_rank", "i4"),
        ("ancient_suit", "i4"),
        ("castle_suit", "i4"),
        # shop
        ("row", item_t, (MAX_ROW,)),  # kind NONE = an empty slot
        ("n_row", "i4"),  # slots of the row, including empty ones
        ("voucher_this_ante", "i4"),  # drawn for the ante, 0 once redeemed
        ("shop_vouchers", "i1", (MAX_SHOP_VOUCHERS,)),  # 0 = an empty slot
        ("n_shop_vouchers", "i4"),
        ("packs", "i1", (MAX_PACKS,)),  # index into catalog PACKS, -1 = an empty slot
        ("reroll_cost", "i4"),  # price of the next reroll
        ("reroll_raise", "i4"),  # increase by the paid rerolls of this shop
        ("reroll_base", "i4"),  # D6 Tag sets 0 for one shop
        ("free_rerolls", "i4"),  # left in this shop
        ("couponed", "i4"),  # Coupon Tag: initial cards and packs are free
        # open pack
        ("pack", item_t, (MAX_PACK,)),
        ("n_pack", "i4"),
        ("pack_id", "i4"),  # index into catalog PACKS
        ("picks_left", "i4"),
        ("pack_return", "i4"),  # Phase after the pack
        ("queued_pack", "i4"),  # 1 + index into catalog PACKS of the pack that a tag opens next, 0 for none
        ("made", item_t),  # the last card that items/making.py made
        ("moved_card", card_t),  # scratch space of items/card_array.py
        # cash-out
        ("payout", "i4"),  # dollars listed on the cash-out screen
        ("beat_boss", "i4"),  # the blind just beaten was a boss
        # one played hand, during its scoring
        ("score_chips", "f8"),
        ("score_mult", "f8"),
        ("played", "i2", (MAX_PLAYED,)),  # card indices, left to right
        ("n_played", "i4"),
        ("scoring", "i1", (MAX_PLAYED,)),  # 1 = that played card scores
        ("n_scoring", "i4"),
        ("hand_type", "i4"),
        ("contains", "i4"),  # bits of the Hands contained in the played cards
        ("repeats", "i4"),  # result of the REPEAT moments
        ("acting", "i4"),  # slot of the acting joker; for a copy, the slot of the copying joker
        ("copying", "i4"),  # 1 while Blueprint or Brainstorm acts
        ("boss_triggered", "i4"),
        ("lucky_hit", "i4"),  # the last trigger of the current Lucky card was a hit
        ("hand_refused", "i4"),
        ("money_in_hand", "i4"),  # dollars when the hand began; what the hand earns is added later
        ("tally_steel", "i4"),  # counts over the whole deck, taken before the hand
        ("tally_stone", "i4"),
        ("tally_enhanced", "i4"),
        ("tally_nines", "i4"),  # unused; kept so that saved games stay readable until the next VERSION
        ("hand_total", "f8"),  # chips x mult of the last hand, floored
        # events to be handled by settle()
        ("pending_added", "i4"),
        ("pending_faces", "i4"),
        ("pending_glass", "i4"),
        ("order", "i2", (MAX_CARDS,)),
    ],
    align=True,
)


def new_states(n: int) -> np.recarray:
    """Return blank records of n games, shape (n,). `run.start_run` starts games in them."""
    return np.zeros(n, dtype=record_type(state_t)).view(np.recarray)


def copy_states(states: np.recarray) -> np.recarray:
    """Return an independent copy of a batch, (n,).

    SPEED: copied as bytes, 40 times as fast as `states.copy()`, which NumPy performs field by field.
    """
    found = new_states(len(states))
    restore_states(found, states)
    return found


def restore_states(states: np.recarray, saved: np.recarray) -> None:
    """Restore a batch from a copy `saved` of it; both are (n,)."""
    states.view(np.uint8, np.ndarray)[:] = saved.view(np.uint8, np.ndarray)


def save_state(s: np.record) -> bytes:
    """Return one game as bytes: the text `ante-state`, the version, the record's size, then the record."""
    return b"ante-state" + np.array([VERSION, state_t.itemsize], dtype="<u4").tobytes() + s.tobytes()


def load_state(data: bytes) -> np.record:
    """Return the game that `save_state` wrote. Raises ValueError if the bytes are not a record of this version."""
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
