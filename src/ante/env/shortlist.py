"""A short list of decisions worth a thought, with what each of them would bring: a view for policies that weigh options.

A hand has hundreds of card sets, of which a player considers a dozen. This view lists up to `MAX_ENTRIES` decisions of
the present game: plays by what they score, discards by what they aim at, consumables with the cards they are best used
on, everything that can be bought, taken or sold. An action is a number of the list. Each entry is sixteen bytes that
say what it is and what it would bring; wares that are out of reach are listed too, without being legal.

Every listed legal decision is one; not every legal decision is listed.
"""

import numpy as np

from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL, Consumable
from ante.catalog.jokers import Joker
from ante.catalog.tags import Tag
from ante.engine.actions import (
    Verb,
    can_buy,
    can_buy_and_use,
    can_buy_voucher,
    can_open_pack,
    can_pick,
    can_reroll_boss,
    can_use_held,
    count_bits,
    has_hand,
    is_legal,
    pack_action,
)
from ante.engine.arithmetic import log10_of
from ante.engine.create import room_for_joker, sell_value, shop_price
from ante.engine.numbers import C_HAND, C_MAX_CARDS, PACK_KIND
from ante.engine.rule import rule
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.engine.state import MAX_JOKERS, MAX_PACKS, MAX_PLAYED, Kind, Phase, new_states
from ante.env.draws import best_power, draws_t, judge, list_unseen, take_kept
from ante.env.games import Games
from ante.env.observe import REORDER_NONE, focus_target, jokers_hidden
from ante.env.packed import (
    N_THINGS,
    STONE,
    T_BOOSTER,
    T_CONSUMABLE,
    T_JOKER,
    T_VOUCHER,
    face_of,
    trait_of,
)
from ante.env.plays import (
    AIM_ALIKE,
    AIM_BEST,
    AIM_FLUSH,
    AIM_GROUP,
    AIM_LOWEST,
    AIM_STRAIGHT,
    AIM_SWAP,
    N_FOUND,
    alike_bits,
    best_window,
    card_worth,
    chance_of,
    find_plays,
    forced_bits,
    group_bits,
    in_sight,
    junk_of,
    rank_in_window,
    rank_left,
    ranked,
    score_plays,
    suit_left,
    suited,
    window_cards,
)
from ante.env.probes import (
    FIRST_POWER,
    LEAST,
    N_ASKED,
    N_POWERS,
    commonest_suit,
    gains_of_joker,
    gains_of_move,
    losses_of_joker,
    score_of,
    write_powers,
)

MAX_ENTRIES = 25
N_NUMBERS = 6
MOST_PLAYS = 7
T_TAG = N_THINGS  # + Tag; things beyond those of packed.py
N_LISTED_THINGS = N_THINGS + len(Tag)

# Marks of an entry.
LEGAL, ENOUGH, FILLED, ETERNAL, PERISHABLE, RENTAL, MINE = (1 << i for i in range(7))

# One entry. Numbers are bytes: `scaled` says how they are read, KIND_OF_VERB what they mean.
entry_t = np.dtype(
    [
        ("thing", "u2"),  # what is bought, taken, used or sold: packed.py's things and T_TAG
        ("cards", "u2"),  # hand positions as bits
        ("verb", "u1"),
        ("target", "u1"),
        ("trait", "u1"),  # edition, enhancement and seal as in packed.py
        ("aim", "u1"),  # of a play 1 + Hand, of a discard its aim
        ("price", "u1"),
        ("marks", "u1"),
        ("numbers", "u1", (N_NUMBERS,)),
    ]
)
shortlist_t = np.dtype(
    [
        ("powers", "<i2", (N_POWERS,)),  # thousandths of log10 of what a typical hand of each kind scores
        ("missing", "<i2"),  # hundredths of log10 of the chips that the blind in play, or the next one, still asks
        ("n", "u1"),  # entries
        ("spare", "u1", (3,)),
        ("entries", entry_t, (MAX_ENTRIES,)),
    ]
)

# Consumables by which cards they are used on: the worthiest, the least worth, or those of another suit.
BEST_CARDS, WORST_CARDS, OTHER_SUIT, TWO_ALIKE = range(4)
CARDS_FOR = np.zeros(len(Consumable), dtype=np.int64)
CARDS_FOR[[Consumable.HANGED_MAN, Consumable.TOWER]] = WORST_CARDS
CARDS_FOR[[Consumable.STAR, Consumable.MOON, Consumable.SUN, Consumable.WORLD]] = OTHER_SUIT
CARDS_FOR[Consumable.DEATH] = TWO_ALIKE
SUIT_GIVEN = np.zeros(len(Consumable), dtype=np.int64)
SUIT_GIVEN[[Consumable.STAR, Consumable.MOON, Consumable.SUN, Consumable.WORLD]] = 3, 2, 1, 0


@rule
def as_byte(x):
    """A number as 8 bits can hold it, rounded."""
    return int(max(0.0, min(255.0, x + 0.5)))


@rule
def signed(x):
    """A number around 0 in fiftieths, as a byte around 128."""
    return as_byte(128.0 + 50.0 * x)


@rule
def add_entry(r, verb, target, cards, thing, marks):
    """One more entry; the last one is overwritten where the list is full. Answers its number."""
    k = min(int(r.n), MAX_ENTRIES - 1)
    e = r.entries[k]
    e.verb = verb
    e.target = target
    e.cards = cards
    e.thing = thing
    e.marks = marks
    e.trait = 0
    e.aim = 0
    e.price = 0
    for i in range(N_NUMBERS):
        e.numbers[i] = 0
    r.n = k + 1
    return k


@rule
def list_plain(s, r):
    """Decisions without a target."""
    if s.phase == Phase.BLIND_SELECT:
        add_entry(r, Verb.SELECT_BLIND, 0, 0, 0, LEGAL)
        if s.blind_on_deck < 2:
            tag = int(s.skip_tags[s.blind_on_deck])
            add_entry(r, Verb.SKIP_BLIND, 0, 0, T_TAG + tag, LEGAL)
        if can_reroll_boss(s):
            priced(s, r.entries[add_entry(r, Verb.REROLL_BOSS, 0, 0, 0, LEGAL)], 10)
    elif s.phase == Phase.ROUND_END:
        add_entry(r, Verb.CASH_OUT, 0, 0, 0, LEGAL)
    elif s.phase == Phase.SHOP:
        add_entry(r, Verb.NEXT_ROUND, 0, 0, 0, LEGAL)
        price = int(reroll_price(s))
        if price <= s.dollars + s.debt_allowed:
            priced(s, r.entries[add_entry(r, Verb.REROLL, 0, 0, 0, LEGAL)], price)
    elif s.phase == Phase.PACK:
        add_entry(r, Verb.SKIP_PACK, 0, 0, 0, LEGAL)


@rule
def priced(s, e, price):
    """The entry costs this much: price, what is left, and the interest that is lost."""
    left = int(s.dollars) - price
    e.price = as_byte(float(price))
    e.numbers[4] = as_byte(float(left) + 20.0)
    e.numbers[5] = 40 * (interest(int(s.dollars)) - interest(left))


@rule
def interest(dollars):
    """Steps of interest that this much money earns without vouchers."""
    return max(0, min(25, dollars)) // 5


@rule
def list_plays(s, scratch, r, sets, scores, powers, d):
    """The best plays, and what throws junk along with them."""
    missing = max(1.0, float(s.target) - float(s.chips))
    find_plays(s, scratch, sets, scores)
    n = min(MOST_PLAYS, score_plays(s, scratch, sets, scores))
    if n == 0:
        forced = forced_bits(s)
        cards = forced if forced else junk_of(s, 0, 1)
        add_play(s, r, cards, 0, 0.0, missing, 0, powers, d)
        add_play(s, r, cards | junk_of(s, cards, MAX_PLAYED - count_bits(cards)), 0, 0.0, missing, FILLED, powers, d)
        return
    for k in range(n):
        hand = hand_of_set(s, scratch, sets[k])
        add_play(s, r, sets[k], 1 + hand, scores[k], missing, 0, powers, d)
        room = MAX_PLAYED - count_bits(sets[k])
        junk = junk_of(s, sets[k], room)
        if k < 3 and junk:
            filled = filled_score(s, scratch, sets[k] | junk, scores[k])
            add_play(s, r, sets[k] | junk, 1 + hand, filled, missing, FILLED, powers, d)


@rule
def filled_score(s, scratch, cards, plain):
    """What a play scores with junk in it; what it scores without where some of it lies face down."""
    for i in range(s.n_hand):
        if (cards >> i) & 1 and s.cards[s.hand[i]].face_down:
            return plain
    return score_of(s, scratch, cards)


@rule
def hand_of_set(s, scratch, cards):
    """The Hand that the last scored copy made of this set: scored again only where that was another set."""
    score_of(s, scratch, cards)
    return int(scratch[0].hand_type)


@rule
def add_play(s, r, cards, aim, score, missing, marks, powers, d):
    """One play, unless it is listed already: what it scores, and what the hand after it may."""
    for k in range(r.n):
        if r.entries[k].cards == cards and r.entries[k].verb == Verb.PLAY:
            return
    marks |= LEGAL | (ENOUGH if score >= missing else 0)
    e = r.entries[add_entry(r, Verb.PLAY, 0, cards, 0, marks)]
    e.aim = aim
    size = log10_of(max(LEAST, score))
    lack = size - log10_of(missing)
    e.numbers[0] = as_byte(20.0 * size)
    e.numbers[1] = signed(lack)
    e.numbers[2] = signed(lack + log10_of(float(max(1, int(s.hands_left)))))
    e.numbers[3] = 50 * count_bits(cards)
    if score < missing and s.hands_left > 1:
        wanted = log10_of(missing - score)
        judge(s, every_bit(s) & ~cards, count_bits(cards), powers, wanted, d)
        e.numbers[4] = as_byte(250.0 * d.enough)
        e.numbers[5] = signed(d.expected - wanted)


@rule
def list_discards(s, o, r, powers, d):
    """Discards by what they aim at."""
    if s.discards_left <= 0:
        return
    first = int(r.n)
    seen = every_bit(s)
    now = best_power(d, take_kept(s, seen, d), powers)
    for suit in range(4):
        kept = suited(s, suit)
        if count_bits(kept) >= 2:
            chance = aimed_chance(s, kept, suit_left(o.unknown, suit))
            add_discard(s, r, first, kept, MAX_PLAYED, AIM_FLUSH, chance, powers, now, d)
    window = best_window(s, o.unknown)
    kept = window_cards(s, window)
    chance = straight_chance(s, o.unknown, kept, window)
    add_discard(s, r, first, kept, MAX_PLAYED, AIM_STRAIGHT, chance, powers, now, d)
    kept = alike_bits(s)
    if kept:
        chance = alike_chance(s, o.unknown, kept)
        add_discard(s, r, first, kept, MAX_PLAYED, AIM_ALIKE, chance, powers, now, d)
    kept = group_bits(s)
    chance = alike_chance(s, o.unknown, kept)
    add_discard(s, r, first, kept, MAX_PLAYED, AIM_GROUP, chance, powers, now, d)
    for k in range(first):
        if r.entries[k].verb == Verb.PLAY:
            add_discard(s, r, first, int(r.entries[k].cards), MAX_PLAYED, AIM_BEST, 0.0, powers, now, d)
            break
    for most in (1, 3, 5):
        add_discard(s, r, first, seen & ~junk_of(s, 0, most), most, AIM_LOWEST, 0.0, powers, now, d)


@rule
def every_bit(s):
    """All hand positions, as bits."""
    return (1 << int(s.n_hand)) - 1


@rule
def add_discard(s, r, first, kept, most, aim, chance, powers, now, d):
    """One discard: up to `most` of the cards outside of `kept`. Nothing where it throws none, or what another throws.

    chance  that the aim is reached; now  the power of the hand as it is
    """
    cards = junk_of(s, kept, most)
    if cards == 0 or cards >> 16 or not is_legal(s, pack_action(Verb.DISCARD, 0, 0, cards)):
        return
    for k in range(first, r.n):
        if r.entries[k].cards == cards:
            return
    e = r.entries[add_entry(r, Verb.DISCARD, 0, cards, 0, LEGAL)]
    wanted = log10_of(max(1.0, float(s.target) - float(s.chips)))
    judge(s, every_bit(s) & ~cards, count_bits(cards), powers, wanted, d)
    e.aim = aim
    e.numbers[0] = as_byte(20.0 * d.expected)
    e.numbers[1] = signed(d.expected - wanted)
    e.numbers[2] = as_byte(250.0 * chance)
    e.numbers[3] = 50 * count_bits(cards)
    e.numbers[4] = as_byte(250.0 * d.enough)
    e.numbers[5] = signed(d.expected - now)


@rule
def aimed_chance(s, kept, outs):
    """The chance that the cards drawn for what is thrown complete five of a kind of card with these outs."""
    thrown = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    return chance_of(outs, int(s.n_deck), thrown, MAX_PLAYED - count_bits(kept))


@rule
def straight_chance(s, unknown, kept, window):
    """About the chance that a straight is completed: each missing rank by itself."""
    thrown = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    chance = 1.0
    for step in range(5):
        rank = rank_in_window(window, step)
        if not ranked(s, rank):
            chance *= chance_of(rank_left(unknown, rank), int(s.n_deck), thrown, 1)
    return chance


@rule
def alike_chance(s, unknown, kept):
    """The chance that one more card of the kept ranks is drawn for what is thrown."""
    outs = 0
    for rank in range(2, 15):
        if ranked(s, rank) & kept:
            outs += rank_left(unknown, rank)
    thrown = min(MAX_PLAYED, int(s.n_hand) - count_bits(kept))
    return chance_of(outs, int(s.n_deck), thrown, 1)


@rule
def cards_for(s, consumable):
    """The hand positions that a consumable is best used on, as bits; 0 where it takes none or there are none."""
    most = int(C_MAX_CARDS[consumable])
    if consumable == Consumable.AURA:
        most = 1
    if most == 0 or not has_hand(s):
        return 0
    how = CARDS_FOR[consumable]
    seen = in_sight(s)
    if how == WORST_CARDS:
        return junk_of(s, every_bit(s) & ~seen, most)
    if how == TWO_ALIKE:
        return death_cards(s, seen)
    barred = every_bit(s) & ~seen
    if how == OTHER_SUIT:
        barred |= suited(s, SUIT_GIVEN[consumable])
    return worthiest(s, barred, most, consumable == Consumable.AURA)


@rule
def worthiest(s, barred, most, plain):
    """Up to `most` positions outside of `barred` whose cards are worth most, as bits; `plain` asks for no edition."""
    chosen = 0
    for _ in range(most):
        best, top = -1, -1.0
        for i in range(s.n_hand):
            c = s.cards[s.hand[i]]
            if not ((barred | chosen) >> i) & 1 and not (plain and c.edition):
                worth = card_worth(c)
                if worth > top:
                    best, top = i, worth
        if best >= 0:
            chosen |= 1 << best
    return chosen


@rule
def death_cards(s, seen):
    """A poor card and a better one to its right, as bits: the left one becomes the right one."""
    best, gained = 0, 0.0
    for i in range(s.n_hand):
        for j in range(i + 1, s.n_hand):
            if (seen >> i) & 1 and (seen >> j) & 1:
                gain = card_worth(s.cards[s.hand[j]]) - card_worth(s.cards[s.hand[i]])
                if gain > gained or best == 0:
                    best, gained = (1 << i) | (1 << j), gain
    return best


@rule
def list_wares(s, scratch, r, suit, powers, gains, weakest):
    """The shop's row, vouchers and packs."""
    for slot in range(s.n_row):
        item = s.row[slot]
        if item.kind != Kind.NONE:
            marks = (LEGAL if can_buy(s, slot) else 0) | sticker_marks(item)
            list_item(s, scratch, r, Verb.BUY, slot, 0, item, marks, suit, powers, gains, weakest)
            priced(s, r.entries[r.n - 1], int(shop_price(item)))
            if item.kind == Kind.JOKER and leaving(s, item, 0) == 0:
                offer_swap(s, r, item, int(shop_price(item)), weakest)
            if can_buy_and_use(s, slot):
                list_item(s, scratch, r, Verb.BUY_AND_USE, slot, 0, item, LEGAL, suit, powers, gains, weakest)
                priced(s, r.entries[r.n - 1], int(shop_price(item)))
    for slot in range(s.n_shop_vouchers):
        voucher = int(s.shop_vouchers[slot])
        if voucher:
            marks = LEGAL if can_buy_voucher(s, slot) else 0
            e = r.entries[add_entry(r, Verb.BUY_VOUCHER, slot, 0, T_VOUCHER + voucher, marks)]
            priced(s, e, int(voucher_price(s, voucher)))
    for slot in range(MAX_PACKS):
        if s.packs[slot] >= 0:
            marks = LEGAL if can_open_pack(s, slot) else 0
            thing = T_BOOSTER + int(PACK_KIND[s.packs[slot]])
            e = r.entries[add_entry(r, Verb.OPEN_PACK, slot, 0, thing, marks)]
            priced(s, e, int(pack_price(s, slot)))


@rule
def sticker_marks(item):
    """The stickers of an item, as marks."""
    marks = ETERNAL if item.stickers & Sticker.ETERNAL else 0
    marks |= PERISHABLE if item.stickers & Sticker.PERISHABLE else 0
    return marks | (RENTAL if item.stickers & Sticker.RENTAL else 0)


@rule
def list_item(s, scratch, r, verb, slot, cards, item, marks, suit, powers, gains, weakest):
    """A joker, consumable or playing card that can be had, and what it would bring."""
    thing = face_of(item.rank, item.suit + 1)
    if item.kind == Kind.JOKER:
        thing = T_JOKER + int(item.id)
    elif item.kind == Kind.CONSUMABLE:
        thing = T_CONSUMABLE + int(item.id)
    elif item.enhancement == Enhancement.STONE:
        thing = STONE
    e = r.entries[add_entry(r, verb, slot, cards, thing, marks)]
    e.trait = trait_of(item.enhancement, item.edition, item.seal)
    if item.kind == Kind.JOKER and s.n_jokers < MAX_JOKERS:
        gains_of_joker(s, scratch, suit, powers, item, leaving(s, item, weakest), gains)
        write_gains_to(e, gains)
    elif item.kind == Kind.CONSUMABLE:
        describe_consumable(s, e, int(item.id), powers)


@rule
def leaving(s, item, weakest):
    """The slot of the joker that would make room for this one, -1 where there is room."""
    return -1 if item.edition == Edition.NEGATIVE or room_for_joker(s) else weakest


@rule
def write_gains_to(e, gains):
    """What a joker changes, as the first numbers of its entry."""
    for k in range(N_ASKED):
        e.numbers[k] = signed(gains[k])


@rule
def describe_consumable(s, e, consumable, powers):
    """Of a planet: how strong, how high and how often played its hand is."""
    if FIRST_PLANET <= consumable < FIRST_SPECTRAL:
        hand = int(C_HAND[consumable])
        if hand >= FIRST_POWER:
            e.numbers[0] = as_byte(20.0 * powers[hand - FIRST_POWER])
        e.numbers[1] = as_byte(10.0 * s.levels[hand])
        e.numbers[2] = as_byte(4.0 * s.plays[hand])


@rule
def list_pack(s, scratch, r, suit, powers, gains, weakest):
    """What the open pack holds."""
    for slot in range(s.n_pack):
        item = s.pack[slot]
        if item.kind != Kind.NONE:
            cards = cards_for(s, int(item.id)) if item.kind == Kind.CONSUMABLE else 0
            marks = (LEGAL if can_pick(s, slot, cards) else 0) | sticker_marks(item)
            list_item(s, scratch, r, Verb.PICK, slot, cards, item, marks, suit, powers, gains, weakest)
            if item.kind == Kind.JOKER and leaving(s, item, 0) == 0:
                offer_swap(s, r, item, 0, weakest)


@rule
def list_consumables(s, scratch, r, suit, powers, gains):
    """Consumables held: to be used, and in the shop or before a pack to be sold."""
    for slot in range(min(8, int(s.n_consumables))):
        item = s.consumables[slot]
        cards = cards_for(s, int(item.id))
        marks = MINE | (LEGAL if can_use_held(s, slot, cards) else 0)
        list_item(s, scratch, r, Verb.USE, slot, cards, item, marks, suit, powers, gains, -1)
        if s.phase == Phase.SHOP:
            e = r.entries[add_entry(r, Verb.SELL_CONSUMABLE, slot, 0, T_CONSUMABLE + int(item.id), LEGAL | MINE)]
            e.price = as_byte(float(sell_value(item)))


@rule
def list_jokers(s, scratch, r, suit, powers, gains):
    """Jokers held: to be sold in the shop or for room in a pack, Luchador at any time.

    Answers the slot of the one that can be sold and that typical hands miss least, -1 where there is none.
    """
    weakest, least = -1, -1e30
    if jokers_hidden(s):
        return weakest
    for slot in range(s.n_jokers):
        item = s.jokers[slot]
        if s.phase == Phase.SHOP or s.phase == Phase.PACK or item.id == Joker.LUCHADOR:
            sellable = not item.stickers & Sticker.ETERNAL
            marks = MINE | sticker_marks(item) | (LEGAL if sellable else 0)
            e = r.entries[add_entry(r, Verb.SELL_JOKER, slot, 0, T_JOKER + int(item.id), marks)]
            e.trait = trait_of(0, item.edition, 0)
            e.price = as_byte(float(sell_value(item)))
            losses_of_joker(s, scratch, suit, powers, slot, gains)
            write_gains_to(e, gains)
            e.numbers[4] = as_byte(128.0 + float(item.value))
            total = gains.sum()
            if sellable and item.edition != Edition.NEGATIVE and total > least:
                weakest, least = slot, total
    return weakest


@rule
def offer_swap(s, r, item, price, weakest):
    """The entry made last is a joker without room: what it brings in the place of the weakest, and selling that one."""
    wanted = r.entries[r.n - 1]
    if weakest < 0 or r.n >= MAX_ENTRIES:
        return
    value = int(sell_value(s.jokers[weakest]))
    if price > int(s.dollars) + int(s.debt_allowed) + value:
        return
    e = r.entries[add_entry(r, Verb.SELL_JOKER, weakest, 0, T_JOKER + int(item.id), LEGAL)]
    e.aim = AIM_SWAP
    e.trait = wanted.trait
    priced(s, e, price - value)
    for k in range(N_ASKED):
        e.numbers[k] = wanted.numbers[k]


@rule
def list_moves(s, scratch, r, suit, powers, gains):
    """Moves of a joker past its right neighbour that raise what typical hands score."""
    if s.phase != Phase.BLIND_SELECT:
        return
    for slot in range(s.n_jokers - 1):
        gains_of_move(s, scratch, suit, powers, slot, gains)
        total = 0.0
        for k in range(N_ASKED):
            total += gains[k]
        if total > 0.01 and is_legal(s, pack_action(Verb.MOVE_JOKER, slot, slot + 1, 0)):
            thing = T_JOKER + int(s.jokers[slot].id)
            e = r.entries[add_entry(r, Verb.MOVE_JOKER, slot, 0, thing, LEGAL | MINE)]
            write_gains_to(e, gains)


@rule
def write_shortlist(s, o, reorder, scratch, r, sets, scores, powers, gains, d):
    """The list of one game.

    s        one record, as it was afterwards
    o        its observation_t
    reorder  which re-ordering is allowed, as in `observe`
    scratch  (2,) state_t, changed
    r        shortlist_t, overwritten
    sets, scores    (N_FOUND,) int64 and float64, scratch
    powers, gains   (N_POWERS,) and (N_ASKED,) float64, scratch
    d        draws_t, scratch

    A game that is over has an empty list.
    """
    r.n = 0
    if s.phase != Phase.OVER:
        suit = commonest_suit(s)
        write_powers(s, scratch, suit, powers)
        for k in range(N_POWERS):
            r.powers[k] = int(min(32000.0, 1000.0 * powers[k]))
        r.missing = int(100.0 * log10_of(max(1.0, focus_target(s) - float(s.chips))))
        list_plain(s, r)
        weakest = list_jokers(s, scratch, r, suit, powers, gains)
        if s.phase == Phase.PLAY:
            list_unseen(o.unknown, d)
            list_plays(s, scratch, r, sets, scores, powers, d)
            list_discards(s, o, r, powers, d)
        elif s.phase == Phase.SHOP:
            list_wares(s, scratch, r, suit, powers, gains, weakest)
        elif s.phase == Phase.PACK:
            list_pack(s, scratch, r, suit, powers, gains, weakest)
        list_consumables(s, scratch, r, suit, powers, gains)
        if reorder != REORDER_NONE:
            list_moves(s, scratch, r, suit, powers, gains)
    for k in range(r.n, MAX_ENTRIES):
        clear_entry(r.entries[k])


@rule
def clear_entry(e):
    """An entry that is not there is 0."""
    e.thing = 0
    e.cards = 0
    e.verb = 0
    e.target = 0
    e.trait = 0
    e.aim = 0
    e.price = 0
    e.marks = 0
    for i in range(N_NUMBERS):
        e.numbers[i] = 0


@rule
def write_shortlists(states, observations, reorder, scratch, sets, scores, powers, gains, draws, out):
    """The lists of all games: states (n,) state_t, observations (n,) of them, out (n,) shortlist_t."""
    for i in range(len(states)):
        write_shortlist(states[i], observations[i], reorder, scratch, out[i], sets, scores, powers, gains, draws[0])


class Shortlists:
    """Writes shortlists of batches of games; holds the scratch space that this takes."""

    def __init__(self) -> None:
        self._scratch = new_states(2)
        self._sets, self._scores = np.zeros(N_FOUND, dtype=np.int64), np.zeros(N_FOUND)
        self._powers, self._gains = np.zeros(N_POWERS), np.zeros(N_ASKED)
        self._draws = np.zeros(1, dtype=draws_t).view(np.recarray)

    def write(self, games: Games, out: np.recarray) -> None:
        """Write the lists of all games as they were observed last: out (n,) shortlist_t, overwritten."""
        write_shortlists(
            games.states,
            games.observations,
            games.reorder,
            self._scratch,
            self._sets,
            self._scores,
            self._powers,
            self._gains,
            self._draws,
            out,
        )


def decisions_of(entries: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The macro decisions (n,) int64 that these numbers (n,) of lists (n, MAX_ENTRIES) of entries mean; -1 for -1."""
    one = entries[np.arange(len(chosen)), np.maximum(chosen, 0)]
    verb, target = one["verb"].astype(np.int64), one["target"].astype(np.int64)
    to = np.where(verb == Verb.MOVE_JOKER, target + 1, 0)
    made = verb | (target << 6) | (to << 14) | (one["cards"].astype(np.int64) << 22)
    return np.where(chosen < 0, -1, made)
