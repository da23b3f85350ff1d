"""The observation as one float32 vector for plain networks (layout.FLAT says what stands where)."""

import numpy as np

from ante.engine.arithmetic import log2_of, log10_of
from ante.engine.rule import rule
from ante.engine.state import MAX_PACK, MAX_PACKS
from ante.env.layout import (
    AT,
    CARD_SIZE,
    CONSUMABLE_SIZE,
    FLAT_CONSUMABLES,
    FLAT_HAND,
    FLAT_JOKERS,
    FLAT_LIMIT,
    FLAT_ROW,
    FLAT_SIZE,
    FLAT_VOUCHERS,
    ITEM_SIZE,
    JOKER_SIZE,
    N_PACK_KINDS,
    SCALAR_SCALES,
)
from ante.env.observe import observe

PER_SCALE = np.array([1.0 / scale for _, scale in SCALAR_SCALES])
N_SCALARS = len(SCALAR_SCALES)
PACK_WIDTH = N_PACK_KINDS + 3
FIRST_CONSUMABLE_ID = 150
AT_PHASE, AT_SCALARS, AT_HAND, AT_UNKNOWN = AT["phase"], AT["scalars"], AT["hand"], AT["unknown"]
AT_TRAITS, AT_JOKER_IDS, AT_JOKERS = AT["unknown_traits"], AT["joker_ids"], AT["jokers"]
AT_CONSUMABLES, AT_ITEMS, AT_VOUCHERS = AT["consumables"], AT["items"], AT["vouchers"]
AT_SHOP_VOUCHERS, AT_PACKS, AT_OPEN_PACK = AT["shop_vouchers"], AT["packs"], AT["open_pack"]
AT_BLIND, AT_TAGS, AT_SKIP_TAGS = AT["blind"], AT["tags"], AT["skip_tags"]
AT_HANDS, AT_TARGETS, AT_SELECTED = AT["hands"], AT["targets"], AT["selected_hand"]


@rule
def flatten(o, out):
    """Write one observation as a vector.

    o    one observation_t record
    out  (FLAT_SIZE,) float32, overwritten, all within -FLAT_LIMIT and FLAT_LIMIT
    """
    for i in range(FLAT_SIZE):
        out[i] = 0.0
    for i in range(6):
        out[AT_PHASE + i] = o.phase[i]
    for i in range(N_SCALARS):
        out[AT_SCALARS + i] = within(o.scalars[i] * PER_SCALE[i])
    flat_hand(o, out)
    flat_unknown(o, out)
    flat_jokers(o, out)
    flat_consumables(o, out)
    for i in range(FLAT_ROW):
        flat_item(o.row, i, out, AT_ITEMS + i * ITEM_SIZE)
    for i in range(MAX_PACK):
        flat_item(o.pack, i, out, AT_ITEMS + (FLAT_ROW + i) * ITEM_SIZE)
    flat_shop(o, out)
    flat_collected(o, out)
    flat_hands(o, out)


@rule
def flatten_all(observations, out):
    """Write all observations as vectors: out (n, FLAT_SIZE) float32."""
    for i in range(len(observations)):
        flatten(observations[i], out[i])


@rule
def observe_flat(states, observations, out, reorder):
    """Write what the players of all games see, as records and as vectors.

    states        (n,) state_t
    observations  (n,) observation_t, overwritten
    out           (n, FLAT_SIZE) float32, overwritten
    reorder       as in `observe`
    """
    for i in range(len(states)):
        observe(states[i], observations[i], reorder)
        flatten(observations[i], out[i])


@rule
def within(x):
    """The number, cut to the limits of the flat view."""
    return max(-FLAT_LIMIT, min(FLAT_LIMIT, float(x)))


@rule
def write_bits(out, at, n, number):
    """The lowest n bits of a number, lowest first, from `at`."""
    for k in range(n):
        if (number >> k) & 1:
            out[at + k] = 1.0


@rule
def flat_hand(o, out):
    """The first FLAT_HAND cards in hand."""
    for i in range(FLAT_HAND):
        if not o.hand[i, 0]:
            break  # the hand has no holes
        at = AT_HAND + i * CARD_SIZE
        rank, suit = int(o.hand[i, 1]), int(o.hand[i, 2])
        if rank:
            out[at + rank - 2] = 1.0
        if suit:
            out[at + 12 + suit] = 1.0
        out[at + 17] = o.hand[i, 8]
        out[at + 18] = o.hand[i, 6]
        out[at + 19] = o.hand[i, 7]
        write_bits(out, at + 20, 4, int(o.hand[i, 3]))
        write_bits(out, at + 24, 2, int(o.hand[i, 4]))
        write_bits(out, at + 26, 3, int(o.hand[i, 5]))


@rule
def flat_unknown(o, out):
    """The cards not seen."""
    for suit in range(4):
        for rank in range(13):
            out[AT_UNKNOWN + suit * 13 + rank] = within(o.unknown[suit, rank] * 0.25)
    for i in range(8):
        out[AT_TRAITS + i] = within(o.unknown_enhancements[i + 1] * 0.25)
    for i in range(3):
        out[AT_TRAITS + 8 + i] = within(o.unknown_editions[i + 1] * 0.25)
    for i in range(4):
        out[AT_TRAITS + 11 + i] = within(o.unknown_seals[i + 1] * 0.25)


@rule
def flat_jokers(o, out):
    """All jokers as a set, and the first FLAT_JOKERS by place."""
    n = int(o.scalars[19])
    for i in range(n):
        number = int(o.jokers[i, 0])
        out[AT_JOKER_IDS + number - 1] = within(out[AT_JOKER_IDS + number - 1] + 1.0)
    for i in range(min(n, FLAT_JOKERS)):
        at = AT_JOKERS + i * JOKER_SIZE
        edition = int(o.jokers[i, 1])
        out[at] = 1.0
        write_bits(out, at + 1, 8, int(o.jokers[i, 0]))
        if edition:
            out[at + 8 + edition] = 1.0
        out[at + 13] = o.jokers[i, 6]
        out[at + 14] = o.jokers[i, 2]
        out[at + 15] = o.jokers[i, 5] * 0.2 if o.jokers[i, 3] else 0.0
        out[at + 16] = o.jokers[i, 4]
        value = float(o.joker_values[i, 0])
        if value > 0.0:
            out[at + 17] = within(log10_of(1.0 + value) * 0.5)
        out[at + 18] = within(o.jokers[i, 8] * 0.1)


@rule
def flat_consumables(o, out):
    """The first FLAT_CONSUMABLES consumables."""
    for i in range(FLAT_CONSUMABLES):
        if o.consumables[i, 0]:
            at = AT_CONSUMABLES + i * CONSUMABLE_SIZE
            out[at] = 1.0
            write_bits(out, at + 1, 6, int(o.consumables[i, 0]))
            out[at + 7] = o.consumables[i, 1]


@rule
def flat_item(rows, i, out, at):
    """One card of the shop row or a pack."""
    kind = int(rows[i, 0])
    if kind == 0:
        return
    out[at + kind - 1] = 1.0
    number = int(rows[i, 1])
    if kind == 2:
        number += FIRST_CONSUMABLE_ID
    elif kind == 3:
        number = 13 * (int(rows[i, 3]) - 1) + int(rows[i, 2]) - 1 if rows[i, 2] else 0
    write_bits(out, at + 3, 8, number)
    edition = int(rows[i, 5])
    if edition:
        out[at + 10 + edition] = 1.0
    out[at + 15] = 1.0 if rows[i, 4] else 0.0
    out[at + 16] = 1.0 if rows[i, 6] else 0.0
    out[at + 17] = rows[i, 7]
    out[at + 18] = rows[i, 8]
    out[at + 19] = rows[i, 9]
    out[at + 20] = within(rows[i, 11] * 0.1)


@rule
def flat_shop(o, out):
    """Vouchers and packs for sale, and the kind of the open pack."""
    for i in range(FLAT_VOUCHERS):
        write_bits(out, AT_SHOP_VOUCHERS + 6 * i, 6, int(o.shop_vouchers[i, 0]))
    for i in range(MAX_PACKS):
        kind = int(o.packs[i, 0])
        if kind:
            at = AT_PACKS + i * PACK_WIDTH
            out[at + kind - 1] = 1.0
            out[at + N_PACK_KINDS] = o.packs[i, 1] * 0.2
            out[at + N_PACK_KINDS + 1] = o.packs[i, 2] * 0.5
            out[at + N_PACK_KINDS + 2] = within(o.packs[i, 3] * 0.1)
    if o.run[7]:
        out[AT_OPEN_PACK + int(o.run[7]) - 1] = 1.0


@rule
def flat_collected(o, out):
    """Vouchers redeemed, the blind, and tags."""
    for i in range(32):
        out[AT_VOUCHERS + i] = o.vouchers[i]
    if o.run[3] >= 3:
        out[AT_BLIND + int(o.run[3]) - 3] = 1.0
    out[AT_BLIND + 28 + int(o.run[4])] = 1.0
    out[AT_BLIND + 31] = o.run[5]
    for i in range(24):
        out[AT_TAGS + i] = within(float(o.tags[i]))
    for i in range(2):
        write_bits(out, AT_SKIP_TAGS + 5 * i, 5, int(o.skip_tags[i, 0]))


@rule
def flat_hands(o, out):
    """The poker hands, the jokers' targets, and the hand selected."""
    for hand in range(12):
        at = AT_HANDS + 3 * hand
        level = int(o.levels[hand])
        if level > 1:
            out[at] = within(log2_of(float(level)) * 0.25)
        if o.plays[hand] > 0:
            out[at + 1] = within(log10_of(1.0 + o.plays[hand]) * 0.5)
        out[at + 2] = o.barred[hand]
    out[AT_TARGETS] = o.targets[0] / 14.0
    out[AT_TARGETS + 1] = o.targets[1] / 4.0
    out[AT_TARGETS + 2] = o.targets[2] / 14.0
    out[AT_TARGETS + 3] = o.targets[3] / 4.0
    out[AT_TARGETS + 4] = o.targets[4] / 4.0
    if o.run[12]:
        out[AT_SELECTED + int(o.run[12]) - 1] = 1.0
