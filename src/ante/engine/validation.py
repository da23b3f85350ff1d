"""Validation of records from outside, before compiled code, which checks no index, plays them.

`invariants` checks whether rules kept a game whole; it relies on counts and indices in range. Here nothing is relied
on: first every field's range, then what must agree, then the invariants.
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

MANY = 1_000_000_000  # a count that can still grow in 32 bits
SOME = 10_000  # the same in 16 bits
FEW = 100  # in 8 bits; also slots, hands, discards and hand sizes, far above what a game reaches
FLAG = (0, 1)
HAND, HAND_OR_NONE = (0, N_HANDS - 1), (-1, N_HANDS - 1)
CARD = (0, MAX_CARDS - 1)  # an index into s.cards
SCORE = (0.0, np.inf)
ANTE = (-2, 4000)  # what a stream's number has room for
STICKERS = 2 * max(FREE, *Sticker) - 1  # all bits

Ranges = Mapping[str, tuple[float, float]]

# Contents of every slot of an array, free ones included: these are blank or hold an earlier value.
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
    "cost": (-SOME, SOME),
    "extra_sell": (-SOME, SOME),
    "rounds": (-FEW, FEW),
    "hand": HAND_OR_NONE,
    "created": (0, MANY),
    "count": (-MANY, MANY),
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
    "created": (0, SOME),
    "bonus": (0, SOME),
}
RANGES: Ranges = {
    "seed": (0, 127),
    "seed_length": (1, MAX_SEED),
    "locked": (0, 255),
    "stream_ids": (0, 2**31 - 1),
    "n_streams": (0, STREAM_SLOTS - 1),
    "overflows": (0, MANY),
    "deck_id": (0, max(Deck)),
    "stake": (min(Stake), max(Stake)),
    "challenge": (0, max(Challenge)),
    "modifiers": (0, 2 * max(Modifier) - 1),
    "restricted": FLAG,
    "inflation": (0, SOME),
    "phase": (min(Phase), max(Phase)),
    "won": FLAG,
    "ante": ANTE,
    "highest_ante": ANTE,
    "round_number": (0, MANY),
    "decisions": (0, MANY),
    "dollars": (-MANY, MANY),
    "debt_allowed": (0, MANY),
    "created": (0, MANY),
    "one_chip_blinds": FLAG,
    "blind_on_deck": (0, N_PANELS - 1),
    "blind": (0, max(Blind)),
    "boss": (1, max(Blind)),
    "boss_disabled": FLAG,
    "boss_rerolled": FLAG,
    "boss_uses": (0, SOME),
    "skip_tags": (1, max(Tag)),
    "skip_tag_hands": HAND,
    "chips": SCORE,
    "hands_left": (0, SOME),
    "discards_left": (0, SOME),
    "hands_played": (0, MANY),
    "discards_used": (0, MANY),
    "last_hand": HAND_OR_NONE,
    "eye_hands": (0, (1 << N_HANDS) - 1),
    "ox_hand": HAND_OR_NONE,
    "fish_down": FLAG,
    "hands_each_round": (-SOME, SOME),
    "discards_each_round": (-SOME, SOME),
    "base_hand_size": (-SOME, SOME),
    "round_hand_size": (-SOME, SOME),
    "hand_size": (-SOME, SOME),
    "joker_slots": (-FEW, FEW),
    "consumable_slots": (-FEW, FEW),
    "rules": (0, 2 * max(Rule) - 1),
    "oops": (0, MAX_JOKERS),
    "joker_hand_size": (-SOME, SOME),
    "joker_hands": (-SOME, SOME),
    "joker_discards": (-SOME, SOME),
    "free_rerolls_held": (0, MAX_JOKERS),
    "lineup_stale": FLAG,
    "n_cards": (1, MAX_CARDS),
    "cards_made": (0, SOME),
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
    "levels": (1, SOME),
    "plays": (0, MANY),
    "plays_round": (0, SOME),
    "hands_played_run": (0, MANY),
    "unused_discards_run": (0, MANY),
    "blinds_skipped": (0, MANY),
    "tarots_used": (0, MANY),
    "planets_used": (0, (1 << N_HANDS) - 1),
    "last_consumable": (0, max(Consumable)),
    "ectoplasms": (0, SOME),
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
    "reroll_cost": (0, SOME),
    "reroll_raise": (0, MANY),
    "reroll_base": (-SOME, SOME),
    "free_rerolls": (-SOME, SOME),
    "couponed": FLAG,
    "n_pack": (0, MAX_PACK),
    "pack_id": (0, len(PACKS) - 1),
    "picks_left": (0, MAX_PACK),
    "pack_return": (min(Phase), max(Phase)),
    "queued_pack": (0, len(PACKS)),
    "payout": (-MANY, MANY),
    "beat_boss": FLAG,
    "score_chips": SCORE,
    "score_mult": SCORE,
    "played": CARD,
    "n_played": (0, MAX_PLAYED),
    "scoring": FLAG,
    "n_scoring": (0, MAX_PLAYED),
    "hand_type": HAND,
    "contains": (0, (1 << N_HANDS) - 1),
    "repeats": (0, SOME),
    "acting": (-1, MAX_JOKERS - 1),
    "copying": FLAG,
    "boss_triggered": FLAG,
    "lucky_hit": FLAG,
    "hand_refused": FLAG,
    "money_in_hand": (-MANY, MANY),
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
OTHERWISE = ("stream_states", "seed_hash", "target")  # may be NaN: `agrees` and the invariants look at them
NESTED: Mapping[str, Ranges] = {
    **dict.fromkeys(("jokers", "consumables", "row", "pack", "made"), ITEM_RANGES),
    **dict.fromkeys(("cards", "moved_card"), CARD_RANGES),
}
assert {*RANGES, *OTHERWISE, *NESTED} == set(state_t.names or ())

LOCKABLE = np.zeros(LOCK_BYTES, dtype=np.uint8)
for _key in FRESH:
    LOCKABLE[LOCKS[_key] >> 3] |= 1 << (LOCKS[_key] & 7)


class BadState(BalatroError, ValueError):
    """A record that is no game; the message names the field and its value."""


def validate_states(states: np.ndarray) -> None:
    """Every record, (n,) state_t, is a game that can be played. Raises BadState, which names the first that is not."""
    plain = states.view(np.ndarray).reshape(-1)
    for name, (low, high) in RANGES.items():
        check_range(plain[name], name, low, high)
    for name, ranges in NESTED.items():
        for field, (low, high) in ranges.items():
            check_range(plain[name][field], f"{name}.{field}", low, high)
    for number, s in enumerate(states.view(np.recarray).reshape(-1)):
        if why := disagreement(s):
            raise BadState(f"record {1 + number} is no game: {why}" if len(plain) > 1 else f"it is no game: {why}")


def check_range(values: np.ndarray, name: str, low: float, high: float) -> None:
    """Every value (n, ...) of a field lies in its range. Raises BadState."""
    wrong = ~((values >= low) & (values <= high))  # NaN is in no range
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        slots = "".join(f"[{i}]" for i in at[1:])
        number = f"record {1 + at[0]} is no game: " if len(values) > 1 else "it is no game: "
        raise BadState(f"{number}{name}{slots} is {values[at]}, not {low:g} to {high:g}")


def disagreement(s: Any) -> str:
    """What does not fit together in a record whose fields are in range, in words; empty where it is a game."""
    return (
        wrong_seed(s)
        or wrong_streams(s)
        or wrong_items(s)
        or wrong_cards(s)
        or wrong_phase(s)
        or (f"invariant {Broken(int(found)).name} is broken" if (found := broken(s)) else "")
        or stuck(s)
    )


def wrong_seed(s: Any) -> str:
    """Whether the seed is one, its hash is its own, and a profile can have locked what is locked."""
    letters = bytes(s.seed[: int(s.seed_length)])
    if any(chr(letter) not in SEED_LETTERS for letter in letters):
        return f"seed is {letters!r}, not letters A-Z and digits"
    own = float(seed_hash(s))
    if own != s.seed_hash and not (np.isnan(own) and np.isnan(s.seed_hash)):
        return f"seed_hash is {s.seed_hash}, and {own} for its seed"
    if (np.asarray(s.locked) & ~LOCKABLE).any():
        return "locked names items that every profile has"
    return ""


def wrong_streams(s: Any) -> str:
    """Whether the table of random streams holds the declared number, each with a number in its range."""
    taken = np.asarray(s.stream_ids) != 0
    if int(taken.sum()) != s.n_streams:
        return f"n_streams is {s.n_streams}, and stream_ids holds {int(taken.sum())}"
    states = np.asarray(s.stream_states)[taken]
    if not ((np.isnan(states)) | ((states >= 0) & (states <= 1))).all():
        return f"stream_states holds {states[~((states >= 0) & (states <= 1))][0]}, not 0 to 1"
    return ""


def wrong_items(s: Any) -> str:
    """Whether cards of the shop and of packs are something, by their kind."""
    for name in ("row", "pack", "made", "jokers", "consumables"):
        items = np.asarray(s[name]).reshape(-1)
        for kind, most in ((Kind.JOKER, max(Joker)), (Kind.CONSUMABLE, max(Consumable))):
            wrong = (items["kind"] == kind) & ((items["id"] < 1) | (items["id"] > most))
            if wrong.any():
                return f"{name}.id is {items['id'][wrong][0]}, not 1 to {int(most)}"
        wrong = (items["kind"] == Kind.PLAYING_CARD) & (items["rank"] < TWO)
        if wrong.any():
            return f"{name}.rank is {items['rank'][wrong][0]}, not {TWO} to {ACE}"
    return ""


def wrong_cards(s: Any) -> str:
    """Whether each card of the draw pile and the hand is one of the deck and is listed there once."""
    for name, count in (("deck", int(s.n_deck)), ("hand", int(s.n_hand))):
        listed = np.asarray(s[name])[:count]
        if count and (listed >= s.n_cards).any():
            return f"{name} names card {int(listed.max())}, and n_cards is {s.n_cards}"
        if len(np.unique(listed)) < count:
            return f"{name} names a card twice"
    if (np.asarray(s.tags)[: int(s.n_tags)] < 1).any():
        return f"tags has a hole, and n_tags is {s.n_tags}"
    return ""


def wrong_phase(s: Any) -> str:
    """Whether the phase has what it plays with."""
    if s.phase in (Phase.PLAY, Phase.ROUND_END) and s.blind < 1:
        return f"blind is {s.blind} in phase {Phase(int(s.phase)).name}"
    if s.phase == Phase.PLAY and (s.n_hand < 1 or s.hands_left < 1):
        return f"phase is PLAY with n_hand {s.n_hand} and hands_left {s.hands_left}"
    if s.phase == Phase.PACK and s.pack_return not in (Phase.BLIND_SELECT, Phase.SHOP):
        return f"pack_return is {s.pack_return} in phase PACK"
    return ""


def stuck(s: Any) -> str:
    """Whether nothing can be decided in a game that is not over."""
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    legal_mask(s, mask)
    return "" if mask.any() or s.phase == Phase.OVER else "no decision is legal"
