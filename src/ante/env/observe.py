"""What the player sees of a game, written into one observation record (layout.py).

Nothing hidden is read into it: of the draw pile only how many of which cards it holds, mixed with the face-down ones;
nothing of coming shops, packs, tags or bosses. QUIRK: the mask speaks as the game's buttons do, so it answers for
face-down cards too (Aura refuses a card that has an edition).
"""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.jokers import Joker
from ante.engine.actions import (
    F_MOVE_CARD,
    F_MOVE_JOKER,
    F_SORT,
    N_DISCRETE,
    legal_mask,
)
from ante.engine.arithmetic import log10_of
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.bosses import hand_limit
from ante.engine.create import sell_value, shop_price
from ante.engine.numbers import (
    HAND_CHIPS,
    HAND_CHIPS_STEP,
    HAND_MULT,
    HAND_MULT_STEP,
    PACK_CHOOSE,
    PACK_KIND,
    PACK_SIZE,
)
from ante.engine.poker import find_hand
from ante.engine.rule import rule
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.engine.state import (
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_PLAYED,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    SHOWN_CONSUMABLES,
    Kind,
    Phase,
    Place,
)

JOKER_WIDTH, ITEM_WIDTH, HAND_WIDTH = 10, 12, 11
I2 = 32767
BIG = 1e30
MAX_LOG = 400.0

REORDER_NONE, REORDER_JOKERS, REORDER_ALL = 0, 1, 2


@rule
def observe(s, o, reorder):
    """Write what the player of one game sees.

    s        one record, as it was afterwards
    o        one observation_t record, overwritten
    reorder  which re-ordering the mask offers: 0 none, 1 jokers, 2 jokers, hand cards and sorting
    """
    hand = selected_hand(s)
    see_run(s, o, hand)
    see_scalars(s, o, hand)
    see_hand(s, o)
    see_unknown(s, o)
    see_jokers(s, o)
    see_consumables(s, o)
    see_shop(s, o)
    see_pack(s, o)
    see_collected(s, o)
    see_hands(s, o)
    see_targets(s, o)
    see_mask(s, o.action_mask, reorder)


@rule
def observe_all(states, out, reorder):
    """Write what the players of all games see: states (n,) state_t, out (n,) observation_t."""
    for i in range(len(states)):
        observe(states[i], out[i], reorder)


@rule
def log_of(x):
    """log10(1 + x), finite for every score."""
    if not x > 0.0:
        return 0.0
    return min(log10_of(1.0 + x), MAX_LOG)


@rule
def short(x):
    """A whole number as 16 bits can hold it."""
    return max(-I2, min(I2, int(x)))


@rule
def in_shop(s):
    """Whether the shop's wares are in sight: in the shop, or behind a pack bought there."""
    return s.phase == Phase.SHOP or (s.phase == Phase.PACK and s.pack_return == Phase.SHOP)


@rule
def jokers_hidden(s):
    """Whether Amber Acorn has turned the jokers over."""
    return s.phase == Phase.PLAY and s.blind == Blind.FINAL_ACORN and s.boss_disabled == 0


@rule
def selected_hand(s):
    """1 + the Hand that the selected cards make, 0 where none are selected or one of them is face down.

    `find_hand` works in the record's scratch fields; they are put back, so looking changes nothing.
    """
    if s.phase != Phase.PLAY or s.selected == 0:
        return 0
    n = 0
    for i in range(s.n_hand):
        if (s.selected >> i) & 1:
            if n == MAX_PLAYED or s.cards[s.hand[i]].face_down:
                return 0
            n += 1
    held_n, held_type, held_contains, held_scoring = s.n_played, s.hand_type, s.contains, s.n_scoring
    played, flags = 0, 0
    for i in range(MAX_PLAYED):
        played |= (int(s.played[i]) & 255) << (8 * i)
        flags |= (int(s.scoring[i]) & 1) << i
    s.n_played = 0
    for i in range(s.n_hand):
        if (s.selected >> i) & 1:
            s.played[s.n_played] = s.hand[i]
            s.n_played += 1
    find_hand(s)
    hand = int(s.hand_type)
    s.n_played, s.hand_type, s.contains, s.n_scoring = held_n, held_type, held_contains, held_scoring
    for i in range(MAX_PLAYED):
        s.played[i] = (played >> (8 * i)) & 255
        s.scoring[i] = (flags >> i) & 1
    return 1 + hand


@rule
def see_run(s, o, hand):
    """Phase, deck, stake, blind, boss and the like."""
    for i in range(6):
        o.phase[i] = 1 if s.phase == i else 0
    run = o.run
    run[0] = s.deck_id
    run[1] = s.stake
    run[2] = s.blind
    run[3] = s.boss
    run[4] = s.blind_on_deck if s.blind_on_deck <= 2 else 0
    run[5] = s.boss_disabled
    run[6] = s.boss_rerolled
    run[7] = 1 + PACK_KIND[s.pack_id] if s.phase == Phase.PACK else 0
    run[8] = s.last_consumable
    run[9] = s.sort_by_suit
    run[10] = 1 + s.last_hand
    run[11] = s.challenge
    run[12] = hand


@rule
def focus_target(s):
    """Chips that beat the blind in play, or the next one."""
    if s.phase == Phase.PLAY or s.phase == Phase.OVER:
        return float(s.target)
    return blind_target(s, blind_on_deck(s))


@rule
def see_scalars(s, o, hand):
    """The quantities, in the order of layout.SCALARS."""
    v = o.scalars
    v[0] = s.ante
    v[1] = s.round_number
    v[2] = s.dollars
    v[3] = s.debt_allowed
    chips = log_of(s.chips)
    target = log_of(focus_target(s))
    v[4] = chips
    v[5] = target
    v[6] = min(1.0, chips / target) if target > 0.0 else 0.0
    v[7] = 0.0
    if hand > 0:
        level = float(s.levels[hand - 1]) - 1.0
        base = HAND_CHIPS[hand - 1] + level * HAND_CHIPS_STEP[hand - 1]
        v[7] = log_of(base * (HAND_MULT[hand - 1] + level * HAND_MULT_STEP[hand - 1]))
    v[8] = s.hands_left
    v[9] = s.discards_left
    v[10] = s.hands_each_round
    v[11] = s.discards_each_round
    v[12] = s.hands_played
    v[13] = s.discards_used
    v[14] = hand_limit(s)
    v[15] = s.n_hand
    negative = 0
    for i in range(s.n_jokers):
        negative += 1 if s.jokers[i].edition == Edition.NEGATIVE else 0
    v[19] = s.n_jokers
    v[20] = int(s.joker_slots) + negative
    negative = 0
    for i in range(s.n_consumables):
        negative += 1 if s.consumables[i].edition == Edition.NEGATIVE else 0
    v[21] = s.n_consumables
    v[22] = int(s.consumable_slots) + negative
    shop = s.phase == Phase.SHOP
    v[23] = reroll_price(s) if shop else 0
    v[24] = s.free_rerolls if shop else 0
    v[25] = s.picks_left if s.phase == Phase.PACK else 0
    v[26] = s.payout if s.phase == Phase.ROUND_END else 0
    v[27] = s.blinds_skipped
    v[28] = s.tarots_used
    v[29] = s.hands_played_run


@rule
def see_hand(s, o):
    """The cards in hand: nothing of a face-down one but its back, no rank or suit of a Stone card."""
    h = o.hand
    for i in range(MAX_HAND):
        for k in range(HAND_WIDTH):
            h[i, k] = 0
    for i in range(s.n_hand):
        c = s.cards[s.hand[i]]
        h[i, 0] = 1
        h[i, 8] = (s.selected >> i) & 1
        h[i, 9] = c.forced
        if c.face_down:
            h[i, 7] = 1
            continue
        if c.enhancement != Enhancement.STONE:
            h[i, 1] = c.rank
            h[i, 2] = 1 + int(c.suit)
        h[i, 3] = c.enhancement
        h[i, 4] = c.edition
        h[i, 5] = c.seal
        h[i, 6] = c.debuffed
        h[i, 10] = short(c.bonus)


@rule
def see_unknown(s, o):
    """How many of which cards the player has not seen this round. Between rounds that is the whole deck."""
    for suit in range(4):
        for rank in range(13):
            o.unknown[suit, rank] = 0
    for i in range(9):
        o.unknown_enhancements[i] = 0
    for i in range(5):
        o.unknown_editions[i] = 0
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
        elif o.unknown[int(c.suit), int(c.rank) - 2] < 127:
            o.unknown[int(c.suit), int(c.rank) - 2] += 1
        if c.enhancement:
            o.unknown_enhancements[int(c.enhancement)] += 1
        if c.edition:
            o.unknown_editions[int(c.edition)] += 1
        if c.seal:
            o.unknown_seals[int(c.seal)] += 1
    o.scalars[16] = unknown
    o.scalars[17] = alive
    o.scalars[18] = stones


@rule
def see_stickers(row, i, at, stickers):
    """Three columns from `at`: eternal, perishable, rental."""
    row[i, at] = 1 if stickers & Sticker.ETERNAL else 0
    row[i, at + 1] = 1 if stickers & Sticker.PERISHABLE else 0
    row[i, at + 2] = 1 if stickers & Sticker.RENTAL else 0


@rule
def listed_hand(item):
    """1 + the Hand that To Do List names, 0 for every other card."""
    return 1 + int(item.hand) if item.kind == Kind.JOKER and item.id == Joker.TODO_LIST else 0


@rule
def see_jokers(s, o):
    """The jokers; under Amber Acorn the same jokers, but in the order of their numbers."""
    j, v = o.jokers, o.joker_values
    for i in range(MAX_JOKERS):
        for k in range(JOKER_WIDTH):
            j[i, k] = 0
        v[i, 0] = 0.0
        v[i, 1] = 0.0
    hidden = jokers_hidden(s)
    for i in range(s.n_jokers):
        item = s.jokers[i]
        j[i, 0] = item.id
        j[i, 1] = item.edition
        see_stickers(j, i, 2, int(item.stickers))
        j[i, 5] = item.rounds
        j[i, 6] = 1 if item.debuffed else 0  # Crimson Heart writes 3
        j[i, 7] = 1 if hidden else 0
        j[i, 8] = short(sell_value(item))
        j[i, 9] = listed_hand(item)
        v[i, 0] = max(-BIG, min(BIG, float(item.value)))
        v[i, 1] = float(item.count)
    if hidden:
        hide_order(s, o)


@rule
def comes_before(o, a, b):
    """Whether row a of the jokers sorts before row b by all that is seen of them."""
    for k in range(JOKER_WIDTH):
        if o.jokers[a, k] != o.jokers[b, k]:
            return o.jokers[a, k] < o.jokers[b, k]
    if o.joker_values[a, 0] != o.joker_values[b, 0]:
        return o.joker_values[a, 0] < o.joker_values[b, 0]
    return o.joker_values[a, 1] < o.joker_values[b, 1]


@rule
def hide_order(s, o):
    """The rows of the jokers are sorted, so that they no longer tell who stands where."""
    for i in range(1, s.n_jokers):
        k = i
        while k > 0 and comes_before(o, k, k - 1):
            for c in range(JOKER_WIDTH):
                o.jokers[k, c], o.jokers[k - 1, c] = o.jokers[k - 1, c], o.jokers[k, c]
            for c in range(2):
                o.joker_values[k, c], o.joker_values[k - 1, c] = o.joker_values[k - 1, c], o.joker_values[k, c]
            k -= 1


@rule
def see_consumables(s, o):
    """The consumables held."""
    for i in range(SHOWN_CONSUMABLES):
        held = i < s.n_consumables
        o.consumables[i, 0] = s.consumables[i].id if held else 0
        o.consumables[i, 1] = 1 if held and s.consumables[i].edition == Edition.NEGATIVE else 0
        o.consumables[i, 2] = short(sell_value(s.consumables[i])) if held else 0


@rule
def see_item(item, rows, i, price):
    """One card of the shop row or a pack."""
    kind = int(item.kind)
    rows[i, 0] = kind
    rows[i, 1] = item.id if kind == Kind.JOKER or kind == Kind.CONSUMABLE else 0
    front = kind == Kind.PLAYING_CARD and item.enhancement != Enhancement.STONE
    rows[i, 2] = item.rank if front else 0
    rows[i, 3] = 1 + int(item.suit) if front else 0
    rows[i, 4] = item.enhancement if kind == Kind.PLAYING_CARD else 0
    rows[i, 5] = item.edition
    rows[i, 6] = item.seal if kind == Kind.PLAYING_CARD else 0
    see_stickers(rows, i, 7, int(item.stickers))
    rows[i, 10] = listed_hand(item)
    rows[i, 11] = short(price)


@rule
def no_item(rows, i):
    """An empty slot of the shop row or a pack."""
    for k in range(ITEM_WIDTH):
        rows[i, k] = 0


@rule
def see_shop(s, o):
    """Cards, vouchers and packs for sale, while the shop is in sight."""
    shop = in_shop(s)
    for i in range(MAX_ROW):
        if shop and i < s.n_row and s.row[i].kind != Kind.NONE:
            see_item(s.row[i], o.row, i, shop_price(s.row[i]))
        else:
            no_item(o.row, i)
    for i in range(MAX_SHOP_VOUCHERS):
        voucher = int(s.shop_vouchers[i]) if shop and i < s.n_shop_vouchers else 0
        o.shop_vouchers[i, 0] = voucher
        o.shop_vouchers[i, 1] = voucher_price(s, voucher) if voucher else 0
    for i in range(MAX_PACKS):
        pack = int(s.packs[i]) if shop else -1
        o.packs[i, 0] = 1 + PACK_KIND[pack] if pack >= 0 else 0
        o.packs[i, 1] = PACK_SIZE[pack] if pack >= 0 else 0
        o.packs[i, 2] = PACK_CHOOSE[pack] if pack >= 0 else 0
        o.packs[i, 3] = pack_price(s, i) if pack >= 0 else 0


@rule
def see_pack(s, o):
    """The cards of the open pack."""
    for i in range(MAX_PACK):
        if s.phase == Phase.PACK and i < s.n_pack and s.pack[i].kind != Kind.NONE:
            see_item(s.pack[i], o.pack, i, 0)
        else:
            no_item(o.pack, i)


@rule
def see_collected(s, o):
    """Vouchers redeemed, tags held, and the tags that skipping would give."""
    for i in range(32):
        o.vouchers[i] = s.vouchers[i + 1]
    for i in range(24):
        o.tags[i] = 0
    for i in range(s.n_tags):
        o.tags[int(s.tags[i]) - 1] += 1
    for i in range(2):
        o.skip_tags[i, 0] = s.skip_tags[i]
        o.skip_tags[i, 1] = 1 + int(s.skip_tag_hands[i]) if s.skip_tags[i] == 23 else 0


@rule
def see_hands(s, o):
    """Levels and plays of the poker hands, and which of them the boss does not want."""
    for hand in range(12):
        o.levels[hand] = s.levels[hand]
        o.plays[hand] = short(s.plays[hand])
        o.plays_round[hand] = min(127, int(s.plays_round[hand]))
        o.barred[hand] = 0
    if s.phase != Phase.PLAY or s.boss_disabled:
        return
    for hand in range(12):
        used = (s.eye_hands >> hand) & 1
        if s.blind == Blind.EYE:
            o.barred[hand] = used
        elif s.blind == Blind.MOUTH:
            o.barred[hand] = 1 if s.eye_hands != 0 and not used else 0
        elif s.blind == Blind.OX:
            o.barred[hand] = 1 if s.ox_hand == hand else 0


@rule
def looks_at(number):
    """Which target a joker's sentence shows, as a bit: 1 The Idol, 2 Mail-In Rebate, 4 Ancient Joker, 8 Castle."""
    if number == Joker.IDOL:
        return 1
    if number == Joker.MAIL:
        return 2
    if number == Joker.ANCIENT:
        return 4
    return 8 if number == Joker.CASTLE else 0


@rule
def see_targets(s, o):
    """What The Idol, Mail-In Rebate, Ancient Joker and Castle name, where the player can read it on one of them."""
    seen = 0
    for i in range(s.n_jokers):
        seen |= looks_at(int(s.jokers[i].id))
    if in_shop(s):
        for i in range(s.n_row):
            if s.row[i].kind == Kind.JOKER:
                seen |= looks_at(int(s.row[i].id))
    if s.phase == Phase.PACK:
        for i in range(s.n_pack):
            if s.pack[i].kind == Kind.JOKER:
                seen |= looks_at(int(s.pack[i].id))
    o.targets[0] = s.idol_rank if seen & 1 else 0
    o.targets[1] = 1 + s.idol_suit if seen & 1 else 0
    o.targets[2] = s.mail_rank if seen & 2 else 0
    o.targets[3] = 1 + s.ancient_suit if seen & 4 else 0
    o.targets[4] = 1 + s.castle_suit if seen & 8 else 0


@rule
def see_mask(s, out, reorder):
    """The legal mask, without the re-ordering that this environment leaves out."""
    legal_mask(s, out)
    if reorder == REORDER_ALL:
        return
    out[F_SORT] = 0
    out[F_SORT + 1] = 0
    for i in range(F_MOVE_JOKER if reorder == REORDER_NONE else F_MOVE_CARD, N_DISCRETE):
        out[i] = 0
