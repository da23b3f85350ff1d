"""Compiled scoring of arms: one position with none, one or two granted jokers, and the best play of each arm.

Every arm of a position has the same hand, deck, levels, money and random streams (common random numbers). Face-down
cards are never played. Two jokers have the better of both orders, since a player arranges jokers freely.
"""

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, Joker
from ante.engine.actions import count_bits
from ante.engine.cards import select_forced
from ante.engine.core.arithmetic import log10_of
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PLAYED
from ante.engine.effects.active_boss import comes_face_down, debuff_cards
from ante.engine.effects.boss_dispatch import boss_hand_drawn, boss_selected
from ante.engine.items.making import clear_item, make_given_joker
from ante.engine.jokers.lineup import refresh_lineup
from ante.lookahead.determinised import BASE, ROUND, SCORED, determinise, replace_streams
from ante.lookahead.plays import score_visible

N_JOKERS = len(JOKERS)  # the first one is none
N_HANDS = len(Hand)
GAME = ROUND  # the copy in which jokers are granted; BASE is the same without hidden information
MOST_POSITIONS = 12  # of larger hands the leftmost
TOP = 8  # best plays of an arm, of different scores, that are tried with a second joker
BOUGHT, TYPICAL = range(2)  # states of a granted joker: as bought, with a typical counter
SAME, BEST, GROWN = range(3)  # measures: the cards of the arm without jokers, the best play, the best play if TYPICAL
N_MEASURES = 3
NEVER = -1.0  # log score of a play that does not exist
BENDERS = np.array(  # jokers that change which cards score or what poker hand they are
    [row.joker in (Joker.FOUR_FINGERS, Joker.SHORTCUT, Joker.SMEARED, Joker.SPLASH, Joker.PAREIDOLIA) for row in JOKERS]
)

# Scratch space and results of the arms with at most one joker, by state of the joker.
singles_t = np.dtype(
    [
        ("plays", "i8", (2, N_JOKERS, TOP)),  # card sets, best first
        ("n", "i8", (2, N_JOKERS)),  # number of them
        ("best", "f8", (2, N_JOKERS)),  # log10 score
        ("same", "f8", (2, N_JOKERS)),
        ("hands", "f8", (2, N_JOKERS, N_HANDS)),  # log10 score of the best play of each poker hand, NEVER for none
        ("scores", "f8", (TOP,)),  # scratch
    ],
    align=True,
)


@rule
def write_items(s, items):
    """Write an item for every joker as bought in the game s, which is changed; items (N_JOKERS,) item_t."""
    for joker in range(1, N_JOKERS):
        make_given_joker(s, joker)
        items[joker] = s.made


@rule
def remove_jokers(s):
    """Remove all jokers and refresh what they changed; the hand stays.

    Amber Acorn has shuffled the jokers that are removed; those that are granted can be arranged.
    """
    for slot in range(s.n_jokers):
        clear_item(s.jokers[slot])
    s.n_jokers = 0
    s.joker_buffer = 0
    if s.blind == Blind.FINAL_ACORN:
        s.boss_disabled = 1
    refresh_lineup(s)


@rule
def grant(s, copies, seed, one, items_one, other, items_other):
    """Make copies[GAME] the position with these jokers, 0 for none, and copies[BASE] what is visible of it.

    seed  hash of the random streams of all arms of this position
    """
    copies[GAME] = s
    g = copies[GAME]
    if one:
        g.jokers[g.n_jokers] = items_one[one]
        g.n_jokers += 1
    if other:
        g.jokers[g.n_jokers] = items_other[other]
        g.n_jokers += 1
    refresh_lineup(g)
    show(copies, seed)


@rule
def show(copies, seed):
    """Make copies[BASE] what is visible of copies[GAME], with the random streams of this position."""
    copies[BASE] = copies[GAME]
    determinise(copies[GAME], copies[BASE])
    copies[BASE].seed_hash = seed


@rule
def log_score(copies, cards):
    """Return the log10 of the chips of a play in the granted position, at least 0."""
    return log10_of(max(1.0, score_visible(copies[GAME], copies, cards)))


@rule
def hand_bits(g):
    """Return the number of positions of the hand that are searched, and the bits of hidden and of forced cards among them."""
    seen = min(MOST_POSITIONS, int(g.n_hand))
    hidden, forced = 0, 0
    for i in range(seen):
        c = g.cards[g.hand[i]]
        hidden |= (1 << i) if c.face_down else 0
        forced |= (1 << i) if c.forced else 0
    return seen, hidden, forced


@rule
def is_play(cards, hidden, forced):
    """Return whether these cards, as bits of positions, can be played: visible, with all forced ones."""
    return not cards & hidden and cards & forced == forced and count_bits(cards) <= MAX_PLAYED


@rule
def search_plays(copies, w, state, joker):
    """Score every play of visible cards and store the best ones of this arm; w singles_t."""
    seen, hidden, forced = hand_bits(copies[GAME])
    n = 0
    for hand in range(N_HANDS):
        w.hands[state, joker, hand] = NEVER
    for cards in range(1, 1 << seen):
        if not is_play(cards, hidden, forced):
            continue
        score = log_score(copies, cards)
        hand = int(copies[SCORED].hand_type)
        w.hands[state, joker, hand] = max(w.hands[state, joker, hand], score)
        if n == TOP and score <= w.scores[TOP - 1]:
            continue
        if is_stored(w, n, score):
            continue  # mostly the same scoring cards with other cards that do not score
        k = n if n < TOP else TOP - 1
        while k > 0 and w.scores[k - 1] < score:
            w.scores[k] = w.scores[k - 1]
            w.plays[state, joker, k] = w.plays[state, joker, k - 1]
            k -= 1
        w.scores[k] = score
        w.plays[state, joker, k] = cards
        n = min(TOP, n + 1)
    w.n[state, joker] = n
    w.best[state, joker] = w.scores[0] if n else NEVER


@rule
def is_stored(w, n, score):
    """Return whether one of the n best plays so far has this score."""
    for k in range(n):
        if w.scores[k] == score:
            return True
    return False


@rule
def measure_singles(s, copies, seed, items, grown, w):
    """Write the arms without and with one joker. Returns whether a card can be played.

    items  (2, N_JOKERS) item_t by state
    grown  (N_JOKERS,) uint8: 1 if the typical state differs from that as bought
    """
    for joker in range(N_JOKERS):
        for state in range(2):
            if state == BOUGHT or grown[joker]:
                grant(s, copies, seed, joker, items[state], 0, items[state])
                search_plays(copies, w, state, joker)
                if w.n[BOUGHT, 0] == 0:
                    return False
                w.same[state, joker] = log_score(copies, w.plays[BOUGHT, 0, 0])
            else:
                w.n[state, joker] = w.n[BOUGHT, joker]
                w.best[state, joker] = w.best[BOUGHT, joker]
                w.same[state, joker] = w.same[BOUGHT, joker]
                w.plays[state, joker] = w.plays[BOUGHT, joker]
                w.hands[state, joker] = w.hands[BOUGHT, joker]
    return True


@rule
def best_listed(copies, w, state, one, other):
    """Return the log score of the best play among those stored for the smaller arms."""
    best = NEVER
    for arm in range(3):
        joker = 0 if arm == 0 else (one if arm == 1 else other)
        for k in range(w.n[state, joker]):
            cards = w.plays[state, joker, k]
            known = False
            for before in range(arm):
                earlier = 0 if before == 0 else one
                for m in range(w.n[state, earlier]):
                    known = known or w.plays[state, earlier, m] == cards
            if not known:
                best = max(best, log_score(copies, cards))
    return best


@rule
def best_of_all(copies):
    """Return the log score of the best play of visible cards."""
    seen, hidden, forced = hand_bits(copies[GAME])
    best = NEVER
    for cards in range(1, 1 << seen):
        if is_play(cards, hidden, forced):
            best = max(best, log_score(copies, cards))
    return best


@rule
def measure_pair(s, copies, seed, items, state, one, other, w, exact):
    """Return the log scores of a pair, of the cards without jokers and of the best play.

    exact  whether every play is scored, not only those stored by `measure_singles`
    """
    same, best = NEVER, NEVER
    for turn in range(2):
        first, second = (one, other) if turn == 0 else (other, one)
        grant(s, copies, seed, first, items[state], second, items[state])
        same = max(same, log_score(copies, w.plays[BOUGHT, 0, 0]))
        best = max(best, best_of_all(copies) if exact else best_listed(copies, w, state, one, other))
        if (BENDERS[one] or BENDERS[other]) and not is_copier(one) and not is_copier(other):
            break  # a joker that adds nothing itself: the order does not matter
    return same, best


@rule
def is_copier(joker):
    """Return whether the joker copies another one, so that its place matters."""
    return joker == Joker.BLUEPRINT or joker == Joker.BRAINSTORM


@rule
def measure_position(s, copies, seed, items, grown, w, scores):
    """Write the log scores of all pairs of one position without jokers. Returns whether a card can be played.

    s       one game, its jokers removed
    w       singles_t, overwritten
    scores  (N_MEASURES, N_JOKERS, N_JOKERS) float64, overwritten above the diagonal
    """
    if not measure_singles(s, copies, seed, items, grown, w):
        return False
    for one in range(1, N_JOKERS):
        for other in range(one + 1, N_JOKERS):
            exact = bool(BENDERS[one] or BENDERS[other])
            same, best = measure_pair(s, copies, seed, items, BOUGHT, one, other, w, exact)
            scores[SAME, one, other] = same
            scores[BEST, one, other] = best
            if grown[one] or grown[other]:
                _, best = measure_pair(s, copies, seed, items, TYPICAL, one, other, w, exact)
            scores[GROWN, one, other] = best
    return True


@rule
def impose_boss(g, boss):
    """Change the blind of a position to a boss: its effects on the round, the cards and the hand."""
    g.blind = boss
    g.boss_disabled = 0
    g.eye_hands = 0
    if boss <= Blind.BIG:
        return
    boss_selected(g, 0)
    debuff_cards(g)
    for i in range(g.n_hand):
        g.cards[g.hand[i]].face_down = 1 if comes_face_down(g, int(g.hand[i])) else 0
        g.cards[g.hand[i]].forced = 0
    boss_hand_drawn(g, g.hands_played > 0)
    select_forced(g)
    refresh_lineup(g)  # Chicot


@rule
def measure_boss(s, copies, seed, items, boss, w):
    """Write to w.best[TYPICAL] the arms without and with one joker under a boss. Returns whether a card can be played."""
    for joker in range(N_JOKERS):
        grant(s, copies, seed, joker, items, 0, items)
        replace_streams(copies[GAME])
        copies[GAME].seed_hash = seed
        impose_boss(copies[GAME], boss)
        show(copies, seed)
        search_plays(copies, w, TYPICAL, joker)
        if w.n[TYPICAL, joker] == 0:
            return False
    return True
