"""Entity rows (env/entities) as tensors, and the legal targets and card sets in them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.catalog.consumables import CONSUMABLES
from ante.catalog.consumables import Set as ConsumableSet
from ante.catalog.jokers import JOKERS
from ante.engine.actions import N_VERBS, Verb
from ante.env.entities.ids import (
    CARD_BASE,
    CONSUMABLE_BASE,
    JOKER_BASE,
    N_ITEM_IDS,
    STONE_CARD,
    VOUCHER_BASE,
)
from ante.env.entities.layout import (
    ACT_FIRST,
    ACTS,
    CARDS_PLAYED,
    FORCED,
    FRACTION,
    LOG_2,
    LOG_10,
    MAX_ENTITIES,
    SLOTS,
    row_t,
)
from ante.env.layout import SCALAR, SCALAR_SCALES

ROUNDED = 4  # the entity list is truncated to a multiple of this, which limits the number of distinct shapes
MAX_PICKS = CARDS_PLAYED[1]
N_KINDS = 4  # cards, jokers, consumables, shop items
N_NUMBERS = 13  # per entity
COLUMNS: dict[str, tuple[int, int, int]] = {  # first byte, bytes per number, number of numbers
    name: (at, kind.base.itemsize, kind.shape[0] if kind.shape else 1)
    for name, (kind, at, *_) in row_t.fields.items()  # type: ignore[union-attr]
}
AT_N_ENTITIES = COLUMNS["n_entities"][0]
PLAY, DISCARD, USE, PICK = (
    int(Verb.PLAY),
    int(Verb.DISCARD),
    int(Verb.USE),
    int(Verb.PICK),
)  # plain values for torch.compile
NO_ACTION = -1  # the action of a finished game


def kind_of_item() -> NDArray[np.int64]:
    """Return the encoder index of each item: 0 cards, 1 jokers, 2 consumables, 3 shop items; (N_ITEM_IDS,)."""
    return np.digitize(np.arange(N_ITEM_IDS), [JOKER_BASE + 1, CONSUMABLE_BASE + 1, VOUCHER_BASE + 1])


def facts() -> NDArray[np.float32]:
    """Return catalogue features of each item: rank, suit, rarity, set, hand and cost; (N_ITEM_IDS, n_facts) float32."""
    out = np.zeros((N_ITEM_IDS, 13 + 4 + 1 + 4 + 3 + 12 + 1), dtype=np.float32)
    for face in range(52):
        out[CARD_BASE + face, face % 13] = out[CARD_BASE + face, 13 + face // 13] = 1
    out[STONE_CARD, 17] = 1
    for joker in JOKERS[1:]:
        out[JOKER_BASE + joker.joker, 17 + joker.rarity] = 1
        out[JOKER_BASE + joker.joker, -1] = joker.cost / 10
    for row in CONSUMABLES[1:]:
        out[CONSUMABLE_BASE + row.consumable, 22 + list(ConsumableSet).index(row.set)] = 1
        if row.hand is not None:
            out[CONSUMABLE_BASE + row.consumable, 25 + row.hand] = 1
        out[CONSUMABLE_BASE + row.consumable, -1] = row.cost / 10
    return out


def scalar_scales() -> NDArray[np.float32]:
    """Return the divisor of each scalar of a row; (N_SCALARS,) float32."""
    scales = np.array([scale for _, scale in SCALAR_SCALES], dtype=np.float32)
    scales[[SCALAR.log_chips, SCALAR.log_target, SCALAR.log_selected]] = 8 * LOG_10
    scales[SCALAR.progress] = FRACTION
    return scales


def kinds_of_places() -> NDArray[np.int64]:
    """Return kind and slot of each place; (2, MAX_ENTITIES)."""
    kinds = np.repeat(np.arange(len(SLOTS)), SLOTS)
    return np.stack([kinds, np.concatenate([np.arange(n) for n in SLOTS])])


def verb_table() -> NDArray[np.int64]:
    """Return for each verb its index in ACTS or -1, and the first place of its targets; (N_VERBS, 2)."""
    out = np.zeros((N_VERBS, 2), dtype=np.int64)
    out[:, 0] = -1
    for i, (verb, place, _) in enumerate(ACTS):
        out[verb] = i, place
    return out


def as_bytes(rows: Any) -> torch.Tensor:
    """Return rows, (n,) row_t, or their bytes (n, row_t.itemsize) uint8 as array or tensor, as a tensor of bytes."""
    if isinstance(rows, torch.Tensor):
        return rows
    if rows.dtype != np.uint8:
        rows = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), row_t.itemsize)
    return torch.from_numpy(rows)


def entities_to_read(data: torch.Tensor) -> int:
    """Return the length to truncate the entity lists to; on an accelerator the full length, to avoid a sync."""
    if data.device.type != "cpu":
        return MAX_ENTITIES
    longest = int(data[:, AT_N_ENTITIES].max()) if len(data) else 0
    return min(MAX_ENTITIES, max(ROUNDED, -(-longest // ROUNDED) * ROUNDED))


@dataclass(frozen=True)
class Seen:
    """Rows as tensors: n rows, lists truncated to `length` entities.

    place, thing, trait, marks, memory  (n, length) int64
    numbers     (n, length, N_NUMBERS) float32: marks, price, count, value and rounds, scaled to about [-1, 1]
    present     (n, length) bool
    in_hand     (n, length) bool: the first entities are the hand cards, left to right
    scalars     (n, N_SCALARS) float32, unscaled
    categories  (n, len(CATEGORIES)) int64
    counts      (n, N_COUNTS) float32
    bits        (n, 48) float32: vouchers, disallowed hands
    verbs       (n, N_VERBS) bool: verbs with a legal decision
    """

    place: torch.Tensor
    thing: torch.Tensor
    trait: torch.Tensor
    marks: torch.Tensor
    memory: torch.Tensor
    numbers: torch.Tensor
    present: torch.Tensor
    in_hand: torch.Tensor
    scalars: torch.Tensor
    categories: torch.Tensor
    counts: torch.Tensor
    bits: torch.Tensor
    verbs: torch.Tensor


def column(data: torch.Tensor, name: str, length: int | None = None) -> torch.Tensor:
    """Return one field of the rows as stored, (n, its length or `length`)."""
    at, size, width = COLUMNS[name]
    part = data[:, at : at + size * (width if length is None else length)]
    return part.view(torch.int16) if size == 2 else part


def unpacked(bits: torch.Tensor) -> torch.Tensor:
    """Unpack bytes to bits, lowest first: (n, k) uint8 to (n, 8 k) uint8."""
    return ((bits[:, :, None] >> torch.arange(8, dtype=torch.uint8, device=bits.device)) & 1).flatten(1)


def read_rows(data: torch.Tensor, length: int) -> Seen:
    """Parse the bytes of rows, (n, row_t.itemsize) uint8, into tensors."""
    place, thing, trait, marks, memory = (
        column(data, name, length).long() for name in ("place", "item_id", "trait", "flag_bits", "memory")
    )
    at = torch.arange(length, device=data.device)
    return Seen(
        place=place,
        thing=thing,
        trait=trait,
        marks=marks,
        memory=memory,
        numbers=numbers_of(data, length),
        present=at < column(data, "n_entities"),
        in_hand=at < column(data, "n_hand"),
        scalars=column(data, "scalars").float(),
        categories=column(data, "categories").long(),
        counts=column(data, "counts").float(),
        bits=unpacked(torch.cat([column(data, "vouchers"), column(data, "barred")], 1)).float(),
        verbs=unpacked(column(data, "verbs"))[:, :N_VERBS].bool(),
    )


def numbers_of(data: torch.Tensor, length: int) -> torch.Tensor:
    """Return the scaled numbers of each entity, (n, length, N_NUMBERS) float32."""
    marks = unpacked(column(data, "flag_bits", length)).view(len(data), length, 8).float()
    price, count, value = (column(data, name, length).float() for name in ("price", "count", "value"))
    rounds = (column(data, "memory", length) & 15).float()
    rest = torch.stack([price / 10, price.log1p() / 4, count.log1p() / 4, value / (4 * LOG_2), rounds / 5], dim=2)
    return torch.cat([marks, rest], dim=2)


def acts_table() -> NDArray[np.int64]:
    """Return for each of ACTS: verb, first place, number of places, mark; (len(ACTS), 4)."""
    slots = {sum(SLOTS[:i]): n for i, n in enumerate(SLOTS)}
    return np.array([(verb, place, slots[place], mark) for verb, place, mark in ACTS], dtype=np.int64)


def targets_of(seen: Seen, acts: torch.Tensor) -> torch.Tensor:
    """Return which entities each verb of ACTS can target, (n, len(ACTS), length) bool. `acts` is `acts_table`."""
    first, slots, mark = acts[:, 1, None], acts[:, 2, None], acts[:, 3, None]
    place, marks = seen.place[:, None], seen.marks[:, None]
    return (place >= first) & (place < first + slots) & ((marks & mark) != 0) & seen.present[:, None]


@dataclass(frozen=True)
class CardRules:
    """The sets of hand cards that are legal for a chosen verb and target, queried card by card from left to right.

    Every legal set has exactly one path: its cards in order, then stop. Every path that `legal` allows can be
    completed.

    allowed, forced  (n, length) bool
    least, most      (n, 1) int64
    """

    allowed: torch.Tensor
    forced: torch.Tensor
    least: torch.Tensor
    most: torch.Tensor

    def legal(self, last: torch.Tensor, taken: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
        """Return the legal next steps: (n, steps, length + 1) bool; the last column is "stop".

        last   (n, steps) position of the last card taken, -1 for none
        taken  (n, steps) cards taken so far
        held   (n, steps) number of forced cards among them
        """
        at = torch.arange(self.allowed.shape[1], device=last.device)
        allowed, forced = self.allowed.long(), self.forced.long()
        up_to = forced.cumsum(1)
        total = up_to[:, -1:]
        after = (allowed.sum(1, keepdim=True) - allowed.cumsum(1))[:, None]
        more = taken[:, :, None] + 1
        pick = self.allowed[:, None] & (at > last[:, :, None])
        pick &= (up_to - forced)[:, None] == held[:, :, None]  # no forced card is skipped
        pick &= (more + after >= self.least[:, :, None]) & (more + (total - up_to)[:, None] <= self.most[:, :, None])
        stop = (taken >= self.least) & (held == total)
        return torch.cat([pick, stop[:, :, None]], dim=2)


def card_rules(seen: Seen, verb: torch.Tensor, thing: torch.Tensor, sets: torch.Tensor, aura: int) -> CardRules:
    """Return the card rules of a verb (n,) and its target item (n,), 0 for none. `sets` is SETS, `aura` Aura's id."""
    plays, takes = (verb == PLAY) | (verb == DISCARD), (verb == USE) | (verb == PICK)
    least, most = (torch.where(plays, CARDS_PLAYED[i], sets[thing, i] * takes)[:, None] for i in range(2))
    only_marked = ((thing == aura) & ~plays)[:, None]
    allowed = seen.in_hand & (~only_marked | ((seen.marks & ACT_FIRST) != 0))
    forced = seen.in_hand & plays[:, None] & ((seen.marks & FORCED) != 0)
    return CardRules(allowed, forced, least, most)
