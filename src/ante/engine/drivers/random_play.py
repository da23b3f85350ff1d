"""Random legal play, compiled: the workload of benchmarks and fuzz tests.

A macro decision is drawn in one of two ways: a legal discrete action that is not a selection, or, in a round, a random
set of one to five cards to play or discard. A separate generator (xorshift64) keeps the game's streams unchanged.
"""

import numpy as np

from ante.catalog.challenges import Challenge
from ante.catalog.decks import Deck, Stake
from ante.engine.actions import (
    F_MOVE_JOKER,
    N_DISCRETE,
    Verb,
    can_pick,
    can_use_held,
    count_bits,
    legal_mask,
    pack_action,
    to_macro,
)
from ante.engine.cards import select_forced
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_HAND, MAX_PLAYED, Phase, Status
from ante.engine.invariants import Broken, broken
from ante.engine.run import restart
from ante.engine.step import step

N_DECKS = len(Deck)
N_STAKES = len(Stake)
N_CHALLENGES = len(Challenge) - 1
N_KINDS = N_DECKS * N_STAKES + N_CHALLENGES  # kinds of runs: all decks at all stakes, all challenges
LEFT_13, RIGHT_7, LEFT_17, HIGH_31 = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(33)
START = np.uint64(88172645463325252)


@rule
def below(rng, n):
    """Return a number 0..n-1 from the generator whose state is rng[0], (1,) uint64."""
    x = rng[0]
    x = x ^ (x << LEFT_13)
    x = x ^ (x >> RIGHT_7)
    x = x ^ (x << LEFT_17)
    rng[0] = x
    return np.int64((x >> HIGH_31) % np.uint64(n))


@rule
def begin_player(rng, number):
    """Seed the generator of one random player with an integer."""
    rng[0] = START ^ np.uint64(number)
    for _ in range(16):
        below(rng, 2)


@rule
def begin_players(rngs, number):
    """Seed the generators of many random players, (n, 1) uint64; another number gives other generators."""
    for i in range(len(rngs)):
        begin_player(rngs[i], number * 1_000_003 + i)


@rule
def random_cards(s, rng):
    """Return one to five random hand positions as bits, including the forced cards."""
    select_forced(s)
    cards = int(s.selected)
    n = int(s.n_hand)
    wanted = 1 + below(rng, min(MAX_PLAYED, n))
    for _ in range(wanted):
        if count_bits(cards) < MAX_PLAYED:
            cards |= 1 << below(rng, n)
    return cards


@rule
def random_decision(s, mask, rng):
    """Return a legal macro decision, int64. `mask` is that of legal_mask for this state; no cards are selected in it.

    In a round, two of three decisions play or discard; reordering is rare, as in real play.
    """
    if s.phase == Phase.PLAY and below(rng, 16) != 0:
        cards = random_cards(s, rng)
        verb = Verb.DISCARD if s.discards_left > 0 and below(rng, 2) else Verb.PLAY
        return pack_action(verb, 0, 0, cards)
    if s.phase == Phase.PACK or s.n_consumables > 0:
        action = random_targeted(s, rng)
        if action >= 0:
            return action
    first = MAX_HAND + 1
    legal = 0
    for i in range(first, F_MOVE_JOKER):
        legal += mask[i]
    if legal == 0 or below(rng, 32) == 0:
        return random_rare(s, mask, rng)
    k = below(rng, legal)
    for i in range(first, F_MOVE_JOKER):
        if mask[i]:
            if k == 0:
                return to_macro(s, i)
            k -= 1
    return pack_action(0, 0, 0, 0)


@rule
def random_targeted(s, rng):
    """Return a random pick or use with random hand cards, or -1 if the draw is not legal."""
    cards = random_cards(s, rng) if s.n_hand > 0 and below(rng, 2) else 0
    if s.phase == Phase.PACK and s.n_pack > 0 and below(rng, 4) != 0:
        slot = below(rng, int(s.n_pack))
        for held in (cards, 0):
            if can_pick(s, slot, held):
                return pack_action(Verb.PICK, slot, 0, held)
    if s.n_consumables > 0 and below(rng, 2):
        slot = below(rng, int(s.n_consumables))
        for held in (cards, 0):
            if can_use_held(s, slot, held):
                return pack_action(Verb.USE, slot, 0, held)
    return -1


@rule
def random_rare(s, mask, rng):
    """Return any legal discrete action except selections, as a macro decision."""
    first = MAX_HAND + 1
    legal = 0
    for i in range(first, N_DISCRETE):
        legal += mask[i]
    if legal == 0:
        cards = random_cards(s, rng)
        return pack_action(Verb.PLAY, 0, 0, cards)
    k = below(rng, legal)
    for i in range(first, N_DISCRETE):
        if mask[i]:
            if k == 0:
                return to_macro(s, i)
            k -= 1
    return pack_action(0, 0, 0, 0)


@rule
def random_seed(s, rng):
    """Write a random eight-character seed of the game's alphabet into the record's seed field."""
    for i in range(8):
        k = below(rng, 34)
        s.seed[i] = 49 + k if k < 9 else (65 + k - 9 if k < 23 else 80 + k - 23)
    s.seed_length = 8


@rule
def begin_random_game(s, rng, deck, stake, challenge, one_chip):
    """Start a new game with a random seed."""
    random_seed(s, rng)
    restart(s, deck, stake, challenge)
    s.one_chip_blinds = one_chip


@rule
def fuzz(states, decisions, seed, one_chip, report):
    """Play `decisions` random legal decisions, divided among all games, and check every invariant after each.

    states    (n,) state_t, overwritten: all decks, stakes and challenges; a lost game starts the next kind of run
    seed      of the players; game i does not depend on the other games
    one_chip  1 = every blind requires one chip, so that runs reach late antes
    report    (4,) int64, overwritten: decisions played, Broken, game and decision of the first failure (Broken.ILLEGAL
              if a decision of the mask was refused)
    """
    n = len(states)
    mask = np.zeros(N_DISCRETE, np.uint8)
    rng = np.zeros(1, np.uint64)
    report[0] = 0
    report[1] = 0
    for i in range(n):
        s = states[i]
        begin_player(rng, seed * 1_000_003 + i)
        kind = i
        begin_game_of_kind(s, rng, kind, one_chip)
        for k in range(decisions // n):
            legal_mask(s, mask)
            status = step(s, random_decision(s, mask, rng))
            failed = broken(s) if status != Status.ILLEGAL else int(Broken.ILLEGAL)
            report[0] += 1
            if failed:
                report[1] = failed
                report[2] = i
                report[3] = k
                return
            if status == Status.LOST:
                kind += 1
                begin_game_of_kind(s, rng, kind, one_chip)


@rule
def begin_game_of_kind(s, rng, kind, one_chip):
    """Start a new game. Kinds count through all decks at all stakes, then all challenges, and wrap around."""
    kind %= N_KINDS
    if kind < N_DECKS * N_STAKES:
        begin_random_game(s, rng, kind % N_DECKS, 1 + kind // N_DECKS, 0, one_chip)
    else:
        begin_random_game(s, rng, 0, 1, 1 + kind - N_DECKS * N_STAKES, one_chip)


@rule
def play_random(states, decisions, turn, rng, mask, one_chip):
    """Play `decisions` random legal decisions in every game and restart lost games: the loop of the engine benchmark.

    turn  decisions of one game before the next game's turn: 1 like a policy that plays a batch, many like a search
    rng   (1,) uint64, and mask (N_DISCRETE,) uint8, are scratch space

    Returns the number of games that ended.
    """
    ended = 0
    played = 0
    while played < decisions:
        now = min(turn, decisions - played)
        for i in range(len(states)):
            s = states[i]
            for _ in range(now):
                legal_mask(s, mask)
                if step(s, random_decision(s, mask, rng)) == Status.LOST:
                    begin_random_game(s, rng, int(s.deck_id), int(s.stake), int(s.challenge), one_chip)
                    ended += 1
        played += now
    return ended


@rule
def choose_random(states, rng, mask, actions):
    """Write a random legal decision for every game: actions (n,) int64."""
    for i in range(len(states)):
        legal_mask(states[i], mask)
        actions[i] = random_decision(states[i], mask, rng)


@rule
def step_all(states, actions, statuses):
    """Take one decision in every game: actions (n,) int64, statuses (n,) int64, overwritten."""
    for i in range(len(states)):
        statuses[i] = step(states[i], actions[i])


@rule
def mask_all(states, masks):
    """Write the legal mask of every game: masks (n, N_DISCRETE) uint8."""
    for i in range(len(states)):
        legal_mask(states[i], masks[i])
