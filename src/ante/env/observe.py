"""The observation of a game, written into one record (layout.py).

It contains no hidden information: of the draw pile only the number of cards of each kind, counted together with
face-down cards, and no later shops, packs, tags or bosses. QUIRK: the mask is legal where the game's buttons are
enabled, which depends on face-down cards as well (Aura refuses a card that has an edition).

Threads: `observe` only reads the record, so several threads may observe one game concurrently while no thread plays it.
"""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement
from ante.catalog.tags import Tag
from ante.engine.actions import F_MOVE_CARD, F_MOVE_JOKER, F_SORT, N_DISCRETE, legal_mask
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_HAND, MAX_PLAYED, Phase, Place
from ante.engine.core.tables import HAND_CHIPS, HAND_CHIPS_STEP, HAND_MULT, HAND_MULT_STEP, PACK_KIND
from ante.engine.effects.active_boss import hand_limit
from ante.engine.effects.poker import hand_of, packed
from ante.engine.shop import reroll_price
from ante.env.layout import (
    CARD,
    FIRST_RANK,
    I1,
    N_EDITIONS,
    N_ENHANCEMENTS,
    N_HANDS,
    N_RANKS,
    N_SEALS,
    N_SUITS,
    N_TAGS,
    N_VOUCHERS,
    RUN,
    SCALAR,
    SKIP_TAG,
)
from ante.env.observe_items import (
    short,
    write_consumables,
    write_jokers,
    write_pack,
    write_shop,
    write_targets,
)

N_CARD_COLUMNS = len(CARD)
N_PHASES = len(Phase)
MAX_LOG = 400.0

REORDER_NONE, REORDER_JOKERS, REORDER_ALL = 0, 1, 2


@rule
def observe(s, o, reorder):
    """Write the observation of one game.

    s        one record, only read: several threads may observe one game concurrently while no thread plays it
    o        one observation_t record, overwritten
    reorder  which reordering the mask allows: 0 none, 1 jokers, 2 jokers, hand cards and sorting
    """
    hand = selected_hand(s)
    write_run(s, o, hand)
    write_scalars(s, o, hand)
    write_hand(s, o)
    write_unknown(s, o)
    write_jokers(s, o)
    write_consumables(s, o)
    write_shop(s, o)
    write_pack(s, o)
    write_collected(s, o)
    write_hands(s, o)
    write_targets(s, o)
    write_mask(s, o.action_mask, reorder)


@rule
def observe_all(states, out, reorder):
    """Write the observations of all games: states (n,) state_t, out (n,) observation_t."""
    for i in range(len(states)):
        observe(states[i], out[i], reorder)


@rule
def log_of(x):
    """Return log10(1 + x), finite for every score."""
    if not x > 0.0:
        return 0.0
    return min(log10_of(1.0 + x), MAX_LOG)


@rule
def selected_hand(s):
    """Return 1 + the Hand of the selected cards, 0 if none is selected or one of them is face down."""
    if s.phase != Phase.PLAY or s.selected == 0:
        return 0
    cards, n = 0, 0
    for i in range(s.n_hand):
        if (s.selected >> i) & 1:
            if n == MAX_PLAYED or s.cards[s.hand[i]].face_down:
                return 0
            cards = packed(cards, s.hand[i], n)
            n += 1
    hand, _, _ = hand_of(s, cards, n)
    return 1 + hand


@rule
def write_run(s, o, hand):
    """Write phase, deck, stake, blind, boss and other numbers of the run."""
    for i in range(N_PHASES):
        o.phase[i] = 1 if s.phase == i else 0
    run = o.run
    run[RUN.deck] = s.deck_id
    run[RUN.stake] = s.stake
    run[RUN.blind] = s.blind
    run[RUN.boss] = s.boss
    run[RUN.blind_on_deck] = s.blind_on_deck if s.blind_on_deck <= 2 else 0
    run[RUN.boss_disabled] = s.boss_disabled
    run[RUN.boss_rerolled] = s.boss_rerolled
    run[RUN.open_pack] = 1 + PACK_KIND[s.pack_id] if s.phase == Phase.PACK else 0
    run[RUN.last_consumable] = s.last_consumable
    run[RUN.sort_by_suit] = s.sort_by_suit
    run[RUN.last_hand] = 1 + s.last_hand
    run[RUN.challenge] = s.challenge
    run[RUN.selected_hand] = hand


@rule
def focus_target(s):
    """Return the target of the current or the next blind."""
    if s.phase == Phase.PLAY or s.phase == Phase.OVER:
        return float(s.target)
    return blind_target(s, blind_on_deck(s))


@rule
def write_scalars(s, o, hand):
    """Write the quantities of layout.SCALAR_SCALES, except those of unknown cards (`write_unknown`)."""
    v = o.scalars
    v[SCALAR.ante] = s.ante
    v[SCALAR.round] = s.round_number
    v[SCALAR.dollars] = s.dollars
    v[SCALAR.debt_allowed] = s.debt_allowed
    chips = log_of(s.chips)
    target = log_of(focus_target(s))
    v[SCALAR.log_chips] = chips
    v[SCALAR.log_target] = target
    v[SCALAR.progress] = min(1.0, chips / target) if target > 0.0 else 0.0
    v[SCALAR.log_selected] = 0.0
    if hand > 0:
        level = float(s.levels[hand - 1]) - 1.0
        base = HAND_CHIPS[hand - 1] + level * HAND_CHIPS_STEP[hand - 1]
        v[SCALAR.log_selected] = log_of(base * (HAND_MULT[hand - 1] + level * HAND_MULT_STEP[hand - 1]))
    v[SCALAR.hands_left] = s.hands_left
    v[SCALAR.discards_left] = s.discards_left
    v[SCALAR.hands_each_round] = s.hands_each_round
    v[SCALAR.discards_each_round] = s.discards_each_round
    v[SCALAR.hands_played] = s.hands_played
    v[SCALAR.discards_used] = s.discards_used
    v[SCALAR.hand_size] = hand_limit(s)
    v[SCALAR.cards_in_hand] = s.n_hand
    negative = 0
    for i in range(s.n_jokers):
        negative += 1 if s.jokers[i].edition == Edition.NEGATIVE else 0
    v[SCALAR.jokers] = s.n_jokers
    v[SCALAR.joker_slots] = int(s.joker_slots) + negative
    negative = 0
    for i in range(s.n_consumables):
        negative += 1 if s.consumables[i].edition == Edition.NEGATIVE else 0
    v[SCALAR.consumables] = s.n_consumables
    v[SCALAR.consumable_slots] = int(s.consumable_slots) + negative
    shop = s.phase == Phase.SHOP
    v[SCALAR.reroll_price] = reroll_price(s) if shop else 0
    v[SCALAR.free_rerolls] = s.free_rerolls if shop else 0
    v[SCALAR.picks_left] = s.picks_left if s.phase == Phase.PACK else 0
    v[SCALAR.payout] = s.payout if s.phase == Phase.ROUND_END else 0
    v[SCALAR.blinds_skipped] = s.blinds_skipped
    v[SCALAR.tarots_used] = s.tarots_used
    v[SCALAR.hands_played_run] = s.hands_played_run


@rule
def write_hand(s, o):
    """Write the cards in hand: no content of a face-down card, no rank or suit of a Stone card."""
    h = o.hand
    for i in range(MAX_HAND):
        for k in range(N_CARD_COLUMNS):
            h[i, k] = 0
    for i in range(s.n_hand):
        c = s.cards[s.hand[i]]
        h[i, CARD.present] = 1
        h[i, CARD.selected] = (s.selected >> i) & 1
        h[i, CARD.forced] = c.forced
        if c.face_down:
            h[i, CARD.face_down] = 1
            continue
        if c.enhancement != Enhancement.STONE:
            h[i, CARD.rank] = c.rank
            h[i, CARD.suit] = 1 + int(c.suit)
        h[i, CARD.enhancement] = c.enhancement
        h[i, CARD.edition] = c.edition
        h[i, CARD.seal] = c.seal
        h[i, CARD.debuffed] = c.debuffed
        h[i, CARD.bonus] = short(c.bonus)


@rule
def write_unknown(s, o):
    """Count the cards that the player has not seen this round. Between rounds that is the whole deck."""
    for suit in range(N_SUITS):
        for rank in range(N_RANKS):
            o.unknown[suit, rank] = 0
    for i in range(N_ENHANCEMENTS):
        o.unknown_enhancements[i] = 0
    for i in range(N_EDITIONS):
        o.unknown_editions[i] = 0
    for i in range(N_SEALS):
        o.unknown_seals[i] = 0
    unknown, stones, alive = 0, 0, 0
    for i in range(s.n_cards):
        c = s.cards[i]
        if c.place == Place.GONE:
            continue
        alive += 1
        if c.place != Place.DECK and not c.face_down:
            continue
        unknown += 1
        if c.enhancement == Enhancement.STONE:
            stones += 1
        elif o.unknown[int(c.suit), int(c.rank) - FIRST_RANK] < I1:
            o.unknown[int(c.suit), int(c.rank) - FIRST_RANK] += 1
        if c.enhancement:
            o.unknown_enhancements[int(c.enhancement)] += 1
        if c.edition:
            o.unknown_editions[int(c.edition)] += 1
        if c.seal:
            o.unknown_seals[int(c.seal)] += 1
    o.scalars[SCALAR.cards_unknown] = unknown
    o.scalars[SCALAR.cards_of_run] = alive
    o.scalars[SCALAR.stones_unknown] = stones


@rule
def write_collected(s, o):
    """Write redeemed vouchers, tags held, and the tags for skipping blinds."""
    for i in range(N_VOUCHERS):
        o.vouchers[i] = s.vouchers[i + 1]
    for i in range(N_TAGS):
        o.tags[i] = 0
    for i in range(s.n_tags):
        o.tags[int(s.tags[i]) - 1] += 1
    for i in range(2):
        o.skip_tags[i, SKIP_TAG.tag] = s.skip_tags[i]
        orbital = s.skip_tags[i] == Tag.ORBITAL
        o.skip_tags[i, SKIP_TAG.orbital_hand_plus_1] = 1 + int(s.skip_tag_hands[i]) if orbital else 0


@rule
def write_hands(s, o):
    """Write levels and plays of the poker hands, and which of them the boss forbids."""
    for hand in range(N_HANDS):
        o.levels[hand] = s.levels[hand]
        o.plays[hand] = short(s.plays[hand])
        o.plays_round[hand] = min(I1, int(s.plays_round[hand]))
        o.barred[hand] = 0
    if s.phase != Phase.PLAY or s.boss_disabled:
        return
    for hand in range(N_HANDS):
        used = (s.eye_hands >> hand) & 1
        if s.blind == Blind.EYE:
            o.barred[hand] = used
        elif s.blind == Blind.MOUTH:
            o.barred[hand] = 1 if s.eye_hands != 0 and not used else 0
        elif s.blind == Blind.OX:
            o.barred[hand] = 1 if s.ox_hand == hand else 0


@rule
def write_mask(s, out, reorder):
    """Write the legal mask, without reordering that this environment does not allow."""
    legal_mask(s, out)
    if reorder == REORDER_ALL:
        return
    out[F_SORT] = 0
    out[F_SORT + 1] = 0
    for i in range(F_MOVE_JOKER if reorder == REORDER_NONE else F_MOVE_CARD, N_DISCRETE):
        out[i] = 0
