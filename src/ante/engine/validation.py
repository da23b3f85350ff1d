"""Validation of records from outside, before compiled code, which checks no index, plays them.

`invariants` checks whether the rules kept a game consistent and relies on counts and indices in range. This module
relies on no field: it checks first the range of every field, then their consistency, then the invariants.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.cards import ACE, N_SUITS, TWO, Edition, Enhancement, Seal, Sticker
from ante.catalog.challenges import Challenge, Modifier
from ante.catalog.consumables import Consumable
from ante.catalog.decks import Deck, Stake
from ante.catalog.jokers import Joker
from ante.catalog.locks import FRESH, LOCKS
from ante.catalog.packs import PACKS
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher
from ante.engine.actions import N_DISCRETE, legal_mask
from ante.engine.core.records import as_records
from ante.engine.core.rng import seed_hash
from ante.engine.core.state import (
    FREE,
    LOCK_BYTES,
    MAX_CARDS,
    MAX_CONSUMABLES,
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PLAYED,
    MAX_ROW,
    MAX_SEED,
    MAX_SHOP_VOUCHERS,
    MAX_TAGS,
    N_HANDS,
    N_PANELS,
    STREAM_SLOTS,
    Debuff,
    Kind,
    Phase,
    Place,
    Rule,
    state_t,
)
from ante.engine.invariants import Broken, broken
from ante.engine.run import SEED_LETTERS
from ante.errors import BalatroError

COUNT_32 = 1_000_000_000  # a count that can still be incremented in 32 bits
COUNT_16 = 10_000  # the same in 16 bits
COUNT_8 = 100  # in 8 bits; also slots, hands, discards and hand sizes; far above the values of a game
FLAG = (0, 1)
HAND, HAND_OR_NONE = (0, N_HANDS - 1), (-1, N_HANDS - 1)
CARD = (0, MAX_CARDS - 1)  # an index into s.cards
SCORE = (0.0, np.inf)
ANTE = (-2, 4000)  # range of the ante in a stream's number
STICKERS = 2 * max(FREE, *Sticker) - 1  # all bits

Ranges = Mapping[str, tuple[float, float]]

# All slots of an array, including free ones, which are blank or contain an earlier value.
ITEM_RANGES: Ranges = {
    "kind": (0, max(Kind)),
    "edition": (0, max(Edition)),
    "stickers": (0, STICKERS),
    "debuffed": (0, max(Debuff)),
    "enhancement": (0, max(Enhancement)),
    "seal": (0, max(Seal)),
    "rank": (0, ACE),
    "suit": (0, N_SUITS - 1),
    "id": (0, max(Joker)),
    "cost": (-COUNT_16, COUNT_16),
    "extra_sell": (-COUNT_16, COUNT_16),
    "rounds": (-COUNT_8, COUNT_8),
    "hand": HAND_OR_NONE,
    "created": (0, COUNT_32),
    "count": (-COUNT_32, COUNT_32),
    "value": (-1e300, 1e300),
}
CARD_RANGES: Ranges = {
    "rank": (0, ACE),
    "suit": (0, N_SUITS - 1),
    "first_suit": (0, N_SUITS - 1),
    "enhancement": (0, max(Enhancement)),
    "edition": (0, max(Edition)),
    "seal": (0, max(Seal)),
    "debuffed": (0, max(Debuff)),
    "face_down": FLAG,
    "place": (0, max(Place)),
    "played_this_ante": FLAG,
    "forced": FLAG,
    "worn": FLAG,
    "created": (0, COUNT_16),
    "bonus": (0, COUNT_16),
}
RANGES: Ranges = {
    "seed": (0, 127),
    "seed_length": (1, MAX_SEED),
    "locked": (0, 255),
    "stream_ids": (0, 2**31 - 1),
    "n_streams": (0, STREAM_SLOTS - 1),
    "overflows": (0, COUNT_32),
    "deck_id": (0, max(Deck)),
    "stake": (min(Stake), max(Stake)),
    "challenge": (0, max(Challenge)),
    "modifiers": (0, 2 * max(Modifier) - 1),
    "restricted": FLAG,
    "inflation": (0, COUNT_16),
    "phase": (min(Phase), max(Phase)),
    "won": FLAG,
    "ante": ANTE,
    "highest_ante": ANTE,
    "round_number": (0, COUNT_32),
    "decisions": (0, COUNT_32),
    "dollars": (-COUNT_32, COUNT_32),
    "debt_allowed": (0, COUNT_32),
    "created": (0, COUNT_32),
    "one_chip_blinds": FLAG,
    "blind_on_deck": (0, N_PANELS - 1),
    "blind": (0, max(Blind)),
    "boss": (1, max(Blind)),
    "boss_disabled": FLAG,
    "boss_rerolled": FLAG,
    "boss_uses": (0, COUNT_16),
    "skip_tags": (1, max(Tag)),
    "skip_tag_hands": HAND,
    "chips": SCORE,
    "hands_left": (0, COUNT_16),
    "discards_left": (0, COUNT_16),
    "hands_played": (0, COUNT_32),
    "discards_used": (0, COUNT_32),
    "last_hand": HAND_OR_NONE,
    "eye_hands": (0, (1 << N_HANDS) - 1),
    "ox_hand": HAND_OR_NONE,
    "fish_down": FLAG,
    "hands_each_round": (-COUNT_16, COUNT_16),
    "discards_each_round": (-COUNT_16, COUNT_16),
    "base_hand_size": (-COUNT_16, COUNT_16),
    "round_hand_size": (-COUNT_16, COUNT_16),
    "hand_size": (-COUNT_16, COUNT_16),
    "joker_slots": (-COUNT_8, COUNT_8),
    "consumable_slots": (-COUNT_8, COUNT_8),
    "rules": (0, 2 * max(Rule) - 1),
    "oops": (0, MAX_JOKERS),
    "joker_hand_size": (-COUNT_16, COUNT_16),
    "joker_hands": (-COUNT_16, COUNT_16),
    "joker_discards": (-COUNT_16, COUNT_16),
    "free_rerolls_held": (0, MAX_JOKERS),
    "lineup_stale": FLAG,
    "n_cards": (1, MAX_CARDS),
    "cards_made": (0, COUNT_16),
    "deck": CARD,
    "n_deck": (0, MAX_CARDS),
    "hand": CARD,
    "n_hand": (0, MAX_HAND),
    "selected": (0, (1 << MAX_HAND) - 1),
    "sort_by_suit": FLAG,
    "starting_deck_size": (0, MAX_CARDS),
    "n_jokers": (0, MAX_JOKERS),
    "joker_buffer": (0, MAX_JOKERS),
    "n_consumables": (0, MAX_CONSUMABLES),
    "vouchers": FLAG,
    "tags": (0, max(Tag)),
    "tag_hands": HAND_OR_NONE,
    "n_tags": (0, MAX_TAGS),
    "used": FLAG,
    "levels": (1, COUNT_16),
    "plays": (0, COUNT_32),
    "plays_round": (0, COUNT_16),
    "hands_played_run": (0, COUNT_32),
    "unused_discards_run": (0, COUNT_32),
    "blinds_skipped": (0, COUNT_32),
    "tarots_used": (0, COUNT_32),
    "planets_used": (0, (1 << N_HANDS) - 1),
    "last_consumable": (0, max(Consumable)),
    "ectoplasms": (0, COUNT_16),
    "gros_michel_extinct": FLAG,
    "first_shop_made": FLAG,
    "idol_rank": (TWO, ACE),
    "idol_suit": (0, N_SUITS - 1),
    "mail_rank": (TWO, ACE),
    "ancient_suit": (0, N_SUITS - 1),
    "castle_suit": (0, N_SUITS - 1),
    "n_row": (0, MAX_ROW),
    "voucher_this_ante": (0, max(Voucher)),
    "shop_vouchers": (0, max(Voucher)),
    "n_shop_vouchers": (0, MAX_SHOP_VOUCHERS),
    "packs": (-1, len(PACKS) - 1),
    "reroll_cost": (0, COUNT_16),
    "reroll_raise": (0, COUNT_32),
    "reroll_base": (-COUNT_16, COUNT_16),
    "free_rerolls": (-COUNT_16, COUNT_16),
    "couponed": FLAG,
    "n_pack": (0, MAX_PACK),
    "pack_id": (0, len(PACKS) - 1),
    "picks_left": (0, MAX_PACK),
    "pack_return": (min(Phase), max(Phase)),
    "queued_pack": (0, len(PACKS)),
    "payout": (-COUNT_32, COUNT_32),
    "beat_boss": FLAG,
    "score_chips": SCORE,
    "score_mult": SCORE,
    "played": CARD,
    "n_played": (0, MAX_PLAYED),
    "scoring": FLAG,
    "n_scoring": (0, MAX_PLAYED),
    "hand_type": HAND,
    "contains": (0, (1 << N_HANDS) - 1),
    "repeats": (0, COUNT_16),
    "acting": (-1, MAX_JOKERS - 1),
    "copying": FLAG,
    "boss_triggered": FLAG,
    "lucky_hit": FLAG,
    "hand_refused": FLAG,
    "money_in_hand": (-COUNT_32, COUNT_32),
    "tally_steel": (0, MAX_CARDS),
    "tally_stone": (0, MAX_CARDS),
    "tally_enhanced": (0, MAX_CARDS),
    "tally_nines": (0, MAX_CARDS),
    "hand_total": SCORE,
    "pending_added": (0, 0),
    "pending_faces": (0, 0),
    "pending_glass": (0, 0),
    "order": (-1, MAX_CARDS - 1),
}
CHECKED_SEPARATELY = ("stream_states", "seed_hash", "target")  # may be NaN; see `inconsistency`
NESTED: Mapping[str, Ranges] = {
    **dict.fromkeys(("jokers", "consumables", "row", "pack", "made"), ITEM_RANGES),
    **dict.fromkeys(("cards", "moved_card"), CARD_RANGES),
}
assert {*RANGES, *CHECKED_SEPARATELY, *NESTED} == set(state_t.names or ())

LOCKABLE = np.zeros(LOCK_BYTES, dtype=np.uint8)
for _key in FRESH:
    LOCKABLE[LOCKS[_key] >> 3] |= 1 << (LOCKS[_key] & 7)


class BadState(BalatroError, ValueError):
    """A record that is not a valid game; the message names the field and its value."""


def validate_states(states: np.ndarray) -> None:
    """Check that every record, (n,) state_t, is a playable game. Raises BadState for the first that is not."""
    plain = states.view(np.ndarray).reshape(-1)
    for name, (low, high) in RANGES.items():
        check_range(plain[name], name, low, high)
    for name, ranges in NESTED.items():
        for field, (low, high) in ranges.items():
            check_range(plain[name][field], f"{name}.{field}", low, high)
    for number, s in enumerate(as_records(states).reshape(-1)):
        if why := inconsistency(s):
            record = f"record {1 + number} is not a valid game" if len(plain) > 1 else "not a valid game"
            raise BadState(f"{record}: {why}")


def check_range(values: np.ndarray, name: str, low: float, high: float) -> None:
    """Check that every value (n, ...) of a field is in its range. Raises BadState."""
    wrong = ~((values >= low) & (values <= high))  # NaN is in no range
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        slots = "".join(f"[{i}]" for i in at[1:])
        record = f"record {1 + at[0]} is not a valid game" if len(values) > 1 else "not a valid game"
        raise BadState(f"{record}: {name}{slots} is {values[at]}, expected {low:g} to {high:g}")


def inconsistency(s: Any) -> str:
    """Return the first inconsistency of a record whose fields are in range, or an empty string."""
    return (
        check_seed(s)
        or check_streams(s)
        or check_items(s)
        or check_cards(s)
        or check_phase(s)
        or (f"invariant {Broken(int(found)).name} is broken" if (found := broken(s)) else "")
        or no_legal_decision(s)
    )


def check_seed(s: Any) -> str:
    """Check the seed, its hash and the locked items."""
    letters = bytes(s.seed[: int(s.seed_length)])
    if any(chr(letter) not in SEED_LETTERS for letter in letters):
        return f"seed is {letters!r}, expected letters A-Z and digits"
    own = float(seed_hash(s))
    if own != s.seed_hash and not (np.isnan(own) and np.isnan(s.seed_hash)):
        return f"seed_hash is {s.seed_hash}, expected {own} for this seed"
    if (np.asarray(s.locked) & ~LOCKABLE).any():
        return "locked contains items that every profile has"
    return ""


def check_streams(s: Any) -> str:
    """Check the table of random streams: their number and values."""
    taken = np.asarray(s.stream_ids) != 0
    if int(taken.sum()) != s.n_streams:
        return f"n_streams is {s.n_streams}, but stream_ids contains {int(taken.sum())}"
    states = np.asarray(s.stream_states)[taken]
    if not ((np.isnan(states)) | ((states >= 0) & (states <= 1))).all():
        return f"stream_states contains {states[~((states >= 0) & (states <= 1))][0]}, expected 0 to 1"
    return ""


def check_items(s: Any) -> str:
    """Check the numbers and ranks of the cards in the shop, in packs and of owned items."""
    for name in ("row", "pack", "made", "jokers", "consumables"):
        items = np.asarray(s[name]).reshape(-1)
        for kind, most in ((Kind.JOKER, max(Joker)), (Kind.CONSUMABLE, max(Consumable))):
            wrong = (items["kind"] == kind) & ((items["id"] < 1) | (items["id"] > most))
            if wrong.any():
                return f"{name}.id is {items['id'][wrong][0]}, expected 1 to {int(most)}"
        wrong = (items["kind"] == Kind.PLAYING_CARD) & (items["rank"] < TWO)
        if wrong.any():
            return f"{name}.rank is {items['rank'][wrong][0]}, expected {TWO} to {ACE}"
    return ""


def check_cards(s: Any) -> str:
    """Check that each card of the draw pile and the hand is in the deck and is listed there once."""
    for name, count in (("deck", int(s.n_deck)), ("hand", int(s.n_hand))):
        listed = np.asarray(s[name])[:count]
        if count and (listed >= s.n_cards).any():
            return f"{name} contains card {int(listed.max())}, but n_cards is {s.n_cards}"
        if len(np.unique(listed)) < count:
            return f"{name} contains a card twice"
    if (np.asarray(s.tags)[: int(s.n_tags)] < 1).any():
        return f"tags contains an empty slot, but n_tags is {s.n_tags}"
    return ""


def check_phase(s: Any) -> str:
    """Check that the game has the state that its phase requires."""
    if s.phase in (Phase.PLAY, Phase.ROUND_END) and s.blind < 1:
        return f"blind is {s.blind} in phase {Phase(int(s.phase)).name}"
    if s.phase == Phase.PLAY and (s.n_hand < 1 or s.hands_left < 1):
        return f"phase is PLAY with n_hand {s.n_hand} and hands_left {s.hands_left}"
    if s.phase == Phase.PACK and s.pack_return not in (Phase.BLIND_SELECT, Phase.SHOP):
        return f"pack_return is {s.pack_return} in phase PACK"
    return ""


def no_legal_decision(s: Any) -> str:
    """Check that a game that is not over has a legal decision."""
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    legal_mask(s, mask)
    return "" if mask.any() or s.phase == Phase.OVER else "no decision is legal"
