"""The observation as one float32 vector, for networks without structured inputs (layout: layout.FLAT)."""

import numpy as np

from ante.engine.core.arithmetic import log2_of, log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PACK, MAX_PACKS, Kind, Phase
from ante.env.layout import (
    AT,
    BLIND_AT,
    BOOSTER,
    BOOSTER_AT,
    BOOSTER_SIZE,
    CARD,
    CARD_AT,
    CARD_SIZE,
    CONSUMABLE,
    CONSUMABLE_AT,
    CONSUMABLE_BITS,
    CONSUMABLE_SIZE,
    EDITION_BITS,
    ENHANCEMENT_BITS,
    FIRST_BOSS,
    FIRST_RANK,
    FLAT_CONSUMABLES,
    FLAT_HAND,
    FLAT_JOKERS,
    FLAT_LIMIT,
    FLAT_ROW,
    FLAT_SIZE,
    FLAT_VOUCHERS,
    HAND_AT,
    HAND_SIZE,
    ID_BITS,
    ITEM,
    ITEM_AT,
    ITEM_SIZE,
    JOKER,
    JOKER_AT,
    JOKER_SIZE,
    JOKER_VALUE,
    N_EDITIONS,
    N_ENHANCEMENTS,
    N_HANDS,
    N_JOKERS,
    N_RANKS,
    N_SEALS,
    N_SUITS,
    N_TAGS,
    N_VOUCHERS,
    RUN,
    SCALAR,
    SCALAR_SCALES,
    SEAL_BITS,
    SKIP_TAG,
    TAG_BITS,
    TARGET,
    TRAIT_AT,
    VOUCHER,
    VOUCHER_BITS,
)
from ante.env.observe import observe

PER_SCALE = np.array([1.0 / scale for _, scale in SCALAR_SCALES])
N_SCALARS = len(SCALAR)
N_PHASES = len(Phase)
N_TRAIT_EDITIONS = N_EDITIONS - 2  # Negative does not occur on playing cards


@rule
def flatten(o, out):
    """Write one observation as a vector.

    o    one observation_t record
    out  (FLAT_SIZE,) float32, overwritten with numbers within -FLAT_LIMIT and FLAT_LIMIT
    """
    for i in range(FLAT_SIZE):
        out[i] = 0.0
    for i in range(N_PHASES):
        out[AT.phase + i] = o.phase[i]
    for i in range(N_SCALARS):
        out[AT.scalars + i] = within(o.scalars[i] * PER_SCALE[i])
    flat_hand(o, out)
    flat_unknown(o, out)
    flat_jokers(o, out)
    flat_consumables(o, out)
    for i in range(FLAT_ROW):
        flat_item(o.row, i, out, AT.items + i * ITEM_SIZE)
    for i in range(MAX_PACK):
        flat_item(o.pack, i, out, AT.items + (FLAT_ROW + i) * ITEM_SIZE)
    flat_shop(o, out)
    flat_collected(o, out)
    flat_hands(o, out)


@rule
def observe_flat(states, observations, out, reorder):
    """Write the observations of all games, as records and as vectors.

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
    """Clip a number to the limits of the flat vector."""
    return max(-FLAT_LIMIT, min(FLAT_LIMIT, float(x)))


@rule
def write_bits(out, at, n, number):
    """Write the lowest n bits of a number, lowest first, from `at`."""
    for k in range(n):
        if (number >> k) & 1:
            out[at + k] = 1.0


@rule
def flat_hand(o, out):
    """Write the first FLAT_HAND cards in hand."""
    for i in range(FLAT_HAND):
        if not o.hand[i, CARD.present]:
            break  # the hand has no empty slots before its end
        at = AT.hand + i * CARD_SIZE
        rank, suit = int(o.hand[i, CARD.rank]), int(o.hand[i, CARD.suit])
        if rank:
            out[at + CARD_AT.rank + rank - FIRST_RANK] = 1.0
        if suit:
            out[at + CARD_AT.suit + suit - 1] = 1.0
        out[at + CARD_AT.selected] = o.hand[i, CARD.selected]
        out[at + CARD_AT.debuffed] = o.hand[i, CARD.debuffed]
        out[at + CARD_AT.face_down] = o.hand[i, CARD.face_down]
        write_bits(out, at + CARD_AT.enhancement, ENHANCEMENT_BITS, int(o.hand[i, CARD.enhancement]))
        write_bits(out, at + CARD_AT.edition, EDITION_BITS, int(o.hand[i, CARD.edition]))
        write_bits(out, at + CARD_AT.seal, SEAL_BITS, int(o.hand[i, CARD.seal]))


@rule
def flat_unknown(o, out):
    """Write the unseen cards."""
    for suit in range(N_SUITS):
        for rank in range(N_RANKS):
            out[AT.unknown + suit * N_RANKS + rank] = within(o.unknown[suit, rank] * 0.25)
    for i in range(N_ENHANCEMENTS - 1):
        out[AT.unknown_traits + TRAIT_AT.enhancements + i] = within(o.unknown_enhancements[i + 1] * 0.25)
    for i in range(N_TRAIT_EDITIONS):
        out[AT.unknown_traits + TRAIT_AT.editions + i] = within(o.unknown_editions[i + 1] * 0.25)
    for i in range(N_SEALS - 1):
        out[AT.unknown_traits + TRAIT_AT.seals + i] = within(o.unknown_seals[i + 1] * 0.25)


@rule
def flat_jokers(o, out):
    """Write all jokers as a set, and the first FLAT_JOKERS by slot."""
    n = int(o.scalars[SCALAR.jokers])
    for i in range(n):
        number = int(o.jokers[i, JOKER.id])
        out[AT.joker_ids + number - 1] = within(out[AT.joker_ids + number - 1] + 1.0)
    for i in range(min(n, FLAT_JOKERS)):
        at = AT.jokers + i * JOKER_SIZE
        edition = int(o.jokers[i, JOKER.edition])
        out[at + JOKER_AT.present] = 1.0
        write_bits(out, at + JOKER_AT.id, ID_BITS, int(o.jokers[i, JOKER.id]))
        if edition:
            out[at + JOKER_AT.edition + edition - 1] = 1.0
        out[at + JOKER_AT.debuffed] = o.jokers[i, JOKER.debuffed]
        out[at + JOKER_AT.eternal] = o.jokers[i, JOKER.eternal]
        out[at + JOKER_AT.rounds] = o.jokers[i, JOKER.rounds] * 0.2 if o.jokers[i, JOKER.perishable] else 0.0
        out[at + JOKER_AT.rental] = o.jokers[i, JOKER.rental]
        value = float(o.joker_values[i, JOKER_VALUE.value])
        if value > 0.0:
            out[at + JOKER_AT.value] = within(log10_of(1.0 + value) * 0.5)
        out[at + JOKER_AT.sell_value] = within(o.jokers[i, JOKER.sell_value] * 0.1)


@rule
def flat_consumables(o, out):
    """Write the first FLAT_CONSUMABLES consumables."""
    for i in range(FLAT_CONSUMABLES):
        if o.consumables[i, CONSUMABLE.id]:
            at = AT.consumables + i * CONSUMABLE_SIZE
            out[at + CONSUMABLE_AT.present] = 1.0
            write_bits(out, at + CONSUMABLE_AT.id, CONSUMABLE_BITS, int(o.consumables[i, CONSUMABLE.id]))
            out[at + CONSUMABLE_AT.negative] = o.consumables[i, CONSUMABLE.negative]


@rule
def flat_item(rows, i, out, at):
    """Write one card of the shop row or a pack."""
    kind = int(rows[i, ITEM.kind])
    if kind == Kind.NONE:
        return
    out[at + ITEM_AT.kind + kind - 1] = 1.0
    number = int(rows[i, ITEM.id])
    if kind == Kind.CONSUMABLE:
        number += N_JOKERS
    elif kind == Kind.PLAYING_CARD:
        number = 0
        if rows[i, ITEM.rank]:
            number = 1 + N_RANKS * (int(rows[i, ITEM.suit]) - 1) + int(rows[i, ITEM.rank]) - FIRST_RANK
    write_bits(out, at + ITEM_AT.id, ID_BITS, number)
    edition = int(rows[i, ITEM.edition])
    if edition:
        out[at + ITEM_AT.edition + edition - 1] = 1.0
    out[at + ITEM_AT.enhanced] = 1.0 if rows[i, ITEM.enhancement] else 0.0
    out[at + ITEM_AT.seal] = 1.0 if rows[i, ITEM.seal] else 0.0
    out[at + ITEM_AT.eternal] = rows[i, ITEM.eternal]
    out[at + ITEM_AT.perishable] = rows[i, ITEM.perishable]
    out[at + ITEM_AT.rental] = rows[i, ITEM.rental]
    out[at + ITEM_AT.price] = within(rows[i, ITEM.price] * 0.1)


@rule
def flat_shop(o, out):
    """Write vouchers and packs for sale, and the kind of the open pack."""
    for i in range(FLAT_VOUCHERS):
        write_bits(out, AT.shop_vouchers + VOUCHER_BITS * i, VOUCHER_BITS, int(o.shop_vouchers[i, VOUCHER.id]))
    for i in range(MAX_PACKS):
        kind = int(o.packs[i, BOOSTER.kind_plus_1])
        if kind:
            at = AT.packs + i * BOOSTER_SIZE
            out[at + BOOSTER_AT.kind + kind - 1] = 1.0
            out[at + BOOSTER_AT.size] = o.packs[i, BOOSTER.size] * 0.2
            out[at + BOOSTER_AT.choose] = o.packs[i, BOOSTER.choose] * 0.5
            out[at + BOOSTER_AT.price] = within(o.packs[i, BOOSTER.price] * 0.1)
    if o.run[RUN.open_pack]:
        out[AT.open_pack + int(o.run[RUN.open_pack]) - 1] = 1.0


@rule
def flat_collected(o, out):
    """Write redeemed vouchers, the blind, and tags."""
    for i in range(N_VOUCHERS):
        out[AT.vouchers + i] = o.vouchers[i]
    if o.run[RUN.boss] >= FIRST_BOSS:
        out[AT.blind + BLIND_AT.boss + int(o.run[RUN.boss]) - FIRST_BOSS] = 1.0
    out[AT.blind + BLIND_AT.on_deck + int(o.run[RUN.blind_on_deck])] = 1.0
    out[AT.blind + BLIND_AT.disabled] = o.run[RUN.boss_disabled]
    for i in range(N_TAGS):
        out[AT.tags + i] = within(float(o.tags[i]))
    for i in range(2):
        write_bits(out, AT.skip_tags + TAG_BITS * i, TAG_BITS, int(o.skip_tags[i, SKIP_TAG.tag]))


@rule
def flat_hands(o, out):
    """Write the poker hands, the jokers' targets, and the selected hand."""
    for hand in range(N_HANDS):
        at = AT.hands + HAND_SIZE * hand
        level = int(o.levels[hand])
        if level > 1:
            out[at + HAND_AT.level] = within(log2_of(float(level)) * 0.25)
        if o.plays[hand] > 0:
            out[at + HAND_AT.plays] = within(log10_of(1.0 + o.plays[hand]) * 0.5)
        out[at + HAND_AT.barred] = o.barred[hand]
    out[AT.targets + TARGET.idol_rank] = o.targets[TARGET.idol_rank] / 14.0
    out[AT.targets + TARGET.idol_suit_plus_1] = o.targets[TARGET.idol_suit_plus_1] / 4.0
    out[AT.targets + TARGET.mail_rank] = o.targets[TARGET.mail_rank] / 14.0
    out[AT.targets + TARGET.ancient_suit_plus_1] = o.targets[TARGET.ancient_suit_plus_1] / 4.0
    out[AT.targets + TARGET.castle_suit_plus_1] = o.targets[TARGET.castle_suit_plus_1] / 4.0
    if o.run[RUN.selected_hand]:
        out[AT.selected_hand + int(o.run[RUN.selected_hand]) - 1] = 1.0
