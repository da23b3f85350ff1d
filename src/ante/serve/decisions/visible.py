"""Positions as the fields that a player sees, in JSON (page "File formats"): written from a record, and read as one.

What is written comes from a determinised copy of the game, so that it cannot contain anything hidden. What is read is
a game in which everything unseen is drawn again: the seed and all random streams, the order of the draw pile, the
identity of face-down cards. Equal forms give equal games. What a form leaves out is as at the start of a run.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ante.catalog.blinds import BLINDS
from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS, SUIT_LETTERS, Sticker
from ante.catalog.challenges import CHALLENGES
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.locks import LOCKS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.core.records import as_records
from ante.engine.core.state import CONSUMABLE_KEYS, FREE, Kind, Phase, Place, copy_states, item_t, state_t
from ante.engine.jokers.lineup import refresh_lineup
from ante.engine.run import new_run
from ante.engine.validation import validate_states
from ante.errors import BalatroError, close_to, shown
from ante.files import parse_json
from ante.search.determinise import determinised

LONGEST = 128 << 10  # characters of a form; those of long games have 20,000
SEED = "1"  # of the game before everything unseen is drawn again
LINEUP = (  # follow from the jokers
    "rules",
    "oops",
    "joker_hand_size",
    "joker_hands",
    "joker_discards",
    "free_rerolls_held",
    "debt_allowed",
    "hand_size",
)
NOT_SHOWN = {  # hidden, derived from other fields, or left from the computation of a decision
    *("seed", "seed_length", "seed_hash", "stream_ids", "stream_states", "n_streams", "order", "overflows"),
    *(*LINEUP, "lineup_stale", "modifiers", "restricted", "one_chip_blinds", "joker_buffer", "deck", "n_deck"),
    *("cards", "n_cards", "hand", "n_hand", "n_jokers", "n_consumables", "n_row", "n_pack", "n_tags"),
    *("n_shop_vouchers", "made", "moved_card", "score_chips", "score_mult", "played", "n_played", "scoring"),
    *("n_scoring", "hand_type", "contains", "repeats", "acting", "copying", "boss_triggered", "lucky_hit"),
    *("hand_refused", "money_in_hand", "tally_steel", "tally_stone", "tally_enhanced", "tally_nines", "hand_total"),
    *("pending_added", "pending_faces", "pending_glass", "deck_id", "stake", "challenge", "locked"),
}


class BadForm(BalatroError, ValueError):
    """A form that is not one of a position."""


@dataclass(frozen=True)
class Names:
    """The names of the numbers from `first` on; an empty name stands for none."""

    names: Sequence[str]
    first: int = 0

    def name(self, number: int) -> str | None:
        """Return the name of a number."""
        return self.names[int(number) - self.first] or None

    def number(self, name: Any, where: str) -> int:
        """Return the number of a name; None for none. Raises BadForm."""
        wanted = "" if name is None else name
        if not isinstance(wanted, str) or wanted not in self.names:
            near = close_to(wanted, list(self.names)) if isinstance(wanted, str) else []
            raise BadForm(f"{where} is {shown(name)}: {f'did you mean {near[0]}?' if near else 'it has no such name'}")
        return self.first + self.names.index(wanted)


def keys(rows: Sequence[Any]) -> list[str]:
    """Return the keys of catalogue rows."""
    return [row.key for row in rows]


HAND, HAND_OR_NONE = Names([row.name for row in HANDS]), Names(["", *(row.name for row in HANDS)], -1)
BLIND, TAG, VOUCHER, PHASE = (
    Names(keys(BLINDS)),
    Names(keys(TAGS)),
    Names(keys(VOUCHERS)),
    Names([p.name.lower() for p in Phase]),
)
PACK, PACK_OR_NONE, QUEUED = Names(keys(PACKS)), Names(["", *keys(PACKS)], -1), Names(["", *keys(PACKS)])
JOKER, CONSUMABLE = Names(keys(JOKERS)), Names(keys(CONSUMABLES))
RANK, SUIT = Names([*RANK_LETTERS[2:]], 2), Names([*SUIT_LETTERS])
ENHANCEMENT, EDITION, SEAL = Names(keys(ENHANCEMENTS)), Names(keys(EDITIONS)), Names(keys(SEALS))
USED = Names([*keys(JOKERS), *(row.key or "-" for row in CONSUMABLES)])
STICKERS = {**{sticker.name.lower(): int(sticker) for sticker in Sticker}, "free": FREE}

NAMED = {  # one name
    **dict.fromkeys(("phase", "pack_return"), PHASE),
    **dict.fromkeys(("blind", "boss"), BLIND),
    **dict.fromkeys(("last_hand", "ox_hand"), HAND_OR_NONE),
    "last_consumable": CONSUMABLE,
    "voucher_this_ante": VOUCHER,
    "pack_id": PACK,
    "queued_pack": QUEUED,
}
LISTS = {  # a list of names
    "skip_tags": TAG,
    "skip_tag_hands": HAND,
    "tags": TAG,
    "tag_hands": HAND_OR_NONE,
    "shop_vouchers": VOUCHER,
    "packs": PACK_OR_NONE,
}
LENGTHS = {"tags": "n_tags", "tag_hands": "n_tags", "shop_vouchers": "n_shop_vouchers"}
COUNTED = ("tags", "shop_vouchers")  # lists whose length is that of the form
SETS = {"vouchers": VOUCHER, "used": USED}  # a list of names, in the record a flag for each
COUNTS = {"levels": HAND, "plays": HAND, "plays_round": HAND, "boss_uses": BLIND}  # an object of numbers by name
ITEMS = {"jokers": "n_jokers", "consumables": "n_consumables", "row": "n_row", "pack": "n_pack"}
NUMBERS = tuple(
    name
    for name in state_t.names or ()
    if name not in {*NOT_SHOWN, *NAMED, *LISTS, *SETS, *COUNTS, *ITEMS, "eye_hands"} and not state_t[name].subdtype
)
START = ("deck", "stake", "challenge", "locked")
CARDS = ("hand", "discarded", "discarded_face_down", "unseen")
FIELDS = (*START, *NUMBERS, *NAMED, *LISTS, *SETS, *COUNTS, *ITEMS, "eye_hands", *CARDS)

FRONT: Mapping[str, Names] = {"rank": RANK, "suit": SUIT, "enhancement": ENHANCEMENT, "edition": EDITION, "seal": SEAL}
CARD_NAMES = {**FRONT, "first_suit": SUIT}
CARD_NUMBERS = ("debuffed", "played_this_ante", "forced", "worn", "created", "bonus")
ITEM_NUMBERS = ("debuffed", "cost", "extra_sell", "rounds", "created", "count", "value")


def visible_form(s: Any) -> str:
    """Return what the player of a record sees, as JSON text."""
    states = as_records(np.frombuffer(s.tobytes(), dtype=np.uint8).copy().view(state_t))
    s = determinised(states, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.uint64))[0]
    start = {"challenge": CHALLENGES[s.challenge].key} if s.challenge else {"deck": DECKS[s.deck_id].key}
    found: dict[str, Any] = start if s.challenge else {**start, "stake": int(s.stake)}
    found["locked"] = [key for key, bit in LOCKS.items() if (int(s.locked[bit >> 3]) >> (bit & 7)) & 1]
    found |= {name: number_text(s[name]) for name in NUMBERS}
    found |= {name: names.name(s[name]) for name, names in NAMED.items()}
    for name, names in LISTS.items():
        n = s[LENGTHS[name]] if name in LENGTHS else len(s[name])
        found[name] = [names.name(number) for number in s[name][:n]]
    found |= {name: [names.name(i) for i in np.flatnonzero(s[name])] for name, names in SETS.items()}
    found |= {name: {names.name(i): int(s[name][i]) for i in np.flatnonzero(s[name])} for name, names in COUNTS.items()}
    found["eye_hands"] = [HAND.name(i) for i in range(len(HANDS)) if (s.eye_hands >> i) & 1]
    found |= {name: [item_form(item) for item in getattr(s, name)[: s[n]]] for name, n in ITEMS.items()}
    return json.dumps({**found, **cards_form(s)})


def cards_form(s: Any) -> dict[str, Any]:
    """Return the cards of a record: those that are seen by place, and the others together."""
    held = [s.cards[i] for i in s.hand[: s.n_hand]]
    away = [card for card in s.cards[: s.n_cards] if card.place == Place.DISCARD]
    unseen = [card for card in s.cards[: s.n_cards] if card.place == Place.DECK or is_hidden(card)]
    masked = {"face_down": True}
    return {
        "hand": [
            masked | ({"forced": 1} if card.forced else {}) if card.face_down else card_form(card) for card in held
        ],
        "discarded": [card_form(card) for card in away if not card.face_down],
        "discarded_face_down": len([card for card in away if card.face_down]),
        "unseen": [card_form(card, ("forced",)) for card in unseen],
    }


def is_hidden(card: Any) -> bool:
    """Return whether a card lies face down in the hand or among the discarded ones."""
    return bool(card.face_down) and card.place in (Place.HAND, Place.DISCARD)


def card_form(card: Any, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return a playing card of the deck."""
    found = {name: names.name(card[name]) for name, names in CARD_NAMES.items() if card[name] or names in (RANK, SUIT)}
    return found | {name: int(card[name]) for name in CARD_NUMBERS if card[name] and name not in without}


def item_form(item: Any) -> dict[str, Any] | None:
    """Return a joker, a consumable or a playing card for sale; None for an empty slot."""
    if item.kind == Kind.NONE:
        return None
    if item.kind == Kind.PLAYING_CARD:
        found: dict[str, Any] = {
            k: names.name(item[k]) for k, names in FRONT.items() if item[k] or names in (RANK, SUIT)
        }
    else:
        found = {"key": (JOKER if item.kind == Kind.JOKER else CONSUMABLE).name(item.id)}
        found |= {"edition": EDITION.name(item.edition)} if item.edition else {}
    found |= {name: number_text(item[name]) for name in ITEM_NUMBERS if item[name]}
    found |= {"hand": HAND_OR_NONE.name(item.hand)} if item.hand else {}
    marks = [name for name, bit in STICKERS.items() if item.stickers & bit]
    return found | ({"stickers": marks} if marks else {})


def number_text(value: Any) -> Any:
    """Return a number for JSON; infinite ones and NaN as text."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int) or np.isfinite(value) else str(value)


def position_seen(text: str) -> Any:
    """Return the game of a form, a record with everything unseen drawn again.

    Its fields are in range; whether they are consistent is checked by `validate_states`. Raises BadForm, BadState,
    Unreadable, and the errors of `new_run`.
    """
    if len(text) > LONGEST:
        raise BadForm(f"the form has {len(text):,} characters: at most {LONGEST:,} are read")
    form = as_object(parse_json(text, "the form"), "the form", FIELDS)
    s = new_run(SEED, **{name: form[name] for name in START if form.get(name) is not None})
    for name in FIELDS:
        if name in form and name not in (*START, *CARDS):
            read_field(s, name, form[name])
    if any(name in form for name in CARDS):
        read_cards(s, form)
    for item in [*s.jokers[: s.n_jokers], *s.consumables[: s.n_consumables]]:
        s.used[int(item.id) + (CONSUMABLE_KEYS if item.kind == Kind.CONSUMABLE else 0)] = 1
    states = as_records(np.frombuffer(s.tobytes(), dtype=np.uint8).copy().view(state_t))
    validate_states(states)  # before compiled code, which checks no range
    refreshed = copy_states(states)
    refresh_lineup(refreshed[0])
    for name in LINEUP:
        states[0][name] = refreshed[0][name]
    digest = hashlib.blake2b(json.dumps(form, sort_keys=True).encode(), digest_size=8).digest()
    world = np.array([int.from_bytes(digest, "little") >> 1 | 1], dtype=np.uint64)
    return determinised(states, np.zeros(1, dtype=np.int64), world)[0]


def read_field(s: Any, name: str, value: Any) -> None:
    """Set a field other than those of the cards. Raises BadForm."""
    if name in NAMED:
        set_field(s, name, NAMED[name].number(value, name), name)
    elif name in LISTS:
        read_list(s, name, LISTS[name], value)
    elif name in SETS:
        read_set(s, name, SETS[name], value)
    elif name in COUNTS:
        read_counts(s, name, COUNTS[name], value)
    elif name in ITEMS:
        read_items(s, name, value)
    elif name == "eye_hands":
        s.eye_hands = sum({1 << HAND.number(each, name) for each in as_list(value, name, len(HANDS))})
    else:
        set_field(s, name, number_of(value, name, s.dtype[name]), name)


def set_field(s: Any, name: str, value: Any, where: str) -> None:
    """Set a field of a record. Raises BadForm if its type cannot hold the value."""
    try:
        s[name] = value
    except (OverflowError, ValueError):
        raise BadForm(f"{where} is {shown(value)}, which is out of range") from None


def number_of(value: Any, where: str, kind: Any) -> Any:
    """Return a number of a form. Raises BadForm."""
    if kind.kind == "f" and (isinstance(value, float) or value in ("inf", "nan")):
        return float(value)
    if not isinstance(value, int):
        raise BadForm(f"{where} is {shown(value)}: use a whole number")
    if kind.kind == "f" and abs(value) > 1 << 1000:
        raise BadForm(f"{where} is out of range")
    return value


def as_object(value: Any, where: str, known: Sequence[str]) -> dict[str, Any]:
    """Return a JSON object with these fields at most. Raises BadForm."""
    if not isinstance(value, dict):
        raise BadForm(f"{where} is {shown(value)}: use an object")
    for name in value:
        if name not in known:
            near = close_to(name, list(known))
            raise BadForm(f"{where} has no field {shown(name)}" + (f": did you mean {near[0]}?" if near else ""))
    return value


def as_list(value: Any, where: str, most: int) -> list[Any]:
    """Return a JSON list of at most this length. Raises BadForm."""
    if not isinstance(value, list) or len(value) > most:
        raise BadForm(f"{where} is {shown(value)}: use a list of at most {most}")
    return value


def read_list(s: Any, name: str, names: Names, value: Any) -> None:
    """Set an array of numbers from names."""
    found = as_list(value, name, len(s[name]))
    if name in COUNTED:
        s[LENGTHS[name]] = len(found)
    n = int(s[LENGTHS[name]]) if name in LENGTHS else len(s[name])
    if len(found) != n:
        raise BadForm(f"{name} has {len(found)} entries: use {n}")
    s[name][:n] = [names.number(each, f"{name}[{i}]") for i, each in enumerate(found)]


def read_set(s: Any, name: str, names: Names, value: Any) -> None:
    """Set an array of flags from a list of names."""
    s[name][:] = 0
    for i, each in enumerate(as_list(value, name, len(s[name]))):
        s[name][names.number(each or "?", f"{name}[{i}]")] = 1


def read_counts(s: Any, name: str, names: Names, value: Any) -> None:
    """Set an array of numbers from an object; those without a name are as at the start of a run."""
    for each, number in as_object(value, name, names.names).items():
        where = f"{name}[{each!r}]"
        set_field(s[name], names.number(each, where), number_of(number, where, s[name].dtype), where)  # type: ignore[arg-type]


def read_items(s: Any, name: str, value: Any) -> None:
    """Set the items of a place."""
    items = getattr(s, name)  # records, unlike s[name]
    found = as_list(value, name, len(items))
    items[:] = np.zeros(1, dtype=item_t)
    for i, each in enumerate(found):
        if each is not None:
            read_item(items[i], each, f"{name}[{i}]")
    s[ITEMS[name]] = len(found)


def read_item(item: Any, value: Any, where: str) -> None:
    """Set a joker, a consumable or a playing card."""
    form = as_object(value, where, ("key", "stickers", "hand", *FRONT, *ITEM_NUMBERS))
    key = form.get("key")
    if key is None:
        item.kind = Kind.PLAYING_CARD
    else:
        item.kind = Kind.CONSUMABLE if isinstance(key, str) and key.startswith("c_") else Kind.JOKER
        item.id = (CONSUMABLE if item.kind == Kind.CONSUMABLE else JOKER).number(key, f"{where}.key")
    read_parts(item, form, FRONT if key is None else {"edition": EDITION}, ITEM_NUMBERS, where)
    if "hand" in form:
        item.hand = HAND_OR_NONE.number(form["hand"], f"{where}.hand")
    for each in as_list(form.get("stickers", []), f"{where}.stickers", len(STICKERS)):
        if not isinstance(each, str) or each not in STICKERS:
            raise BadForm(f"{where}.stickers has {shown(each)}: use {', '.join(STICKERS)}")
        item.stickers |= STICKERS[each]


def read_parts(
    record: Any, form: Mapping[str, Any], named: Mapping[str, Names], numbers: Sequence[str], where: str
) -> None:
    """Set the named and numeric fields of a card or an item. Raises BadForm if a front lacks rank or suit."""
    for name, names in named.items():
        if name in form or names is RANK or name == "suit":
            set_field(record, name, names.number(form.get(name), f"{where}.{name}"), where)
    for name in numbers:
        if name in form:
            value = number_of(form[name], f"{where}.{name}", record.dtype[name])
            set_field(record, name, value, f"{where}.{name}")


def read_cards(s: Any, form: Mapping[str, Any]) -> None:
    """Set the playing cards: first the unseen ones in the order of the form, the rest follows from their places."""
    hand, discarded, unseen = (
        as_list(form.get(name, []), name, most)
        for name, most in (("hand", len(s.hand)), ("discarded", len(s.cards)), ("unseen", len(s.cards)))
    )
    down = [isinstance(each, dict) and bool(each.get("face_down")) for each in hand]
    away = number_of(form.get("discarded_face_down", 0), "discarded_face_down", np.dtype("i4"))
    listed = [(each, Place.DECK, f"unseen[{i}]") for i, each in enumerate(unseen)]
    listed += [(each, Place.DISCARD, f"discarded[{i}]") for i, each in enumerate(discarded)]
    listed += [(each, Place.HAND, f"hand[{i}]") for i, each in enumerate(hand) if not down[i]]
    if len(listed) > len(s.cards):
        raise BadForm(f"the form has {len(listed)} cards: use at most {len(s.cards)}")
    if not 0 <= away <= len(unseen) - sum(down):
        raise BadForm("unseen has fewer cards than lie face down")
    made = as_records(np.zeros(len(listed), dtype=s.cards.dtype))
    for card, (each, place, where) in zip(made, listed, strict=True):
        read_card(card, each, where)
        card.place = place
    if not made["created"].any():
        made["created"] = 1 + np.arange(len(made))
    hidden = np.flatnonzero(made["place"] == Place.DECK)
    for at, i in enumerate([i for i, is_down in enumerate(down) if is_down]):
        as_object(hand[i], f"hand[{i}]", ("face_down", "forced"))
        made[hidden[at]]["place"], made[hidden[at]]["face_down"] = Place.HAND, 1
        made[hidden[at]]["forced"] = 1 if hand[i].get("forced") else 0
    for i in hidden[sum(down) : sum(down) + away]:
        made[i]["place"], made[i]["face_down"] = Place.DISCARD, 1
    place_cards(s, made, down)


def read_card(card: Any, value: Any, where: str) -> None:
    """Set a playing card of the deck."""
    form = as_object(value, where, (*CARD_NAMES, *CARD_NUMBERS))
    read_parts(card, form, CARD_NAMES, CARD_NUMBERS, where)
    if "first_suit" not in form:
        card.first_suit = card.suit


def place_cards(s: Any, made: Any, down: Sequence[bool]) -> None:
    """Write the cards in creation order, and the lists of hand and draw pile; face-down cards take their places."""
    order = np.argsort(made["created"], kind="stable")
    index = np.empty(len(made), dtype=np.int64)
    index[order] = np.arange(len(made))
    s.cards[: len(made)] = made[order]
    s.n_cards = len(made)
    s.cards_made = max(int(s.cards_made), int(made["created"].max(initial=0)))
    seen = iter(index[(made["place"] == Place.HAND) & (made["face_down"] == 0)])
    masked = iter(index[(made["place"] == Place.HAND) & (made["face_down"] == 1)])
    s.hand[: len(down)] = [next(masked) if is_down else next(seen) for is_down in down]
    s.n_hand = len(down)
    pile = np.sort(index[made["place"] == Place.DECK])
    s.deck[: len(pile)] = pile
    s.n_deck = len(pile)
