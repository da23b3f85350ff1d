"""Two baseline players: `random`, any legal decision, and `greedy`, the best immediate hand.

Both use only visible information. Greedy scores a hand by playing it in a copy of the game with other random streams,
so that it uses no roll of the real run.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ante.catalog.cards import Enhancement
from ante.catalog.consumables import Set
from ante.catalog.packs import PackKind
from ante.engine.actions import (
    Verb,
    can_buy,
    can_open_pack,
    can_pick,
    can_use_held,
    count_bits,
    holds_forced,
    pack_action,
)
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_PACKS, MAX_PLAYED, Kind, Phase, new_states
from ante.engine.core.tables import C_SET, PACK_KIND
from ante.engine.drivers.random_play import START, random_decision
from ante.engine.items.owned import room_for_joker
from ante.env.games import Games
from ante.lookahead.determinised import score_of

MAX_POSITIONS = 12  # hand positions considered; of larger hands the leftmost, which are the highest
RESERVE = 5  # dollars kept for interest after a pack of the usual price, 4


class Agent(IntEnum):
    """The players of this file, for compiled code."""

    RANDOM = 0
    GREEDY = 1


@rule
def decide_all(agent, states, playing, scratch, rng, masks, out):
    """Write a macro decision for every game in play, -1 for the others.

    states   (n,) state_t
    playing  (n,) bool
    scratch  (1,) state_t and rng (1,) uint64, both changed
    masks    (n, N_DISCRETE) legal discrete actions
    out      (n,) int64, overwritten
    """
    for i in range(len(states)):
        if not playing[i]:
            out[i] = -1
        elif agent == Agent.GREEDY:
            out[i] = play_greedy(states[i], scratch)
        else:
            out[i] = random_decision(states[i], masks[i], rng)


@rule
def play_greedy(s, scratch):
    """Return the greedy player's macro decision: best hand now, discard other cards, jokers first in the shop."""
    if s.phase == Phase.PLAY:
        return play_round(s, scratch)
    if s.phase == Phase.BLIND_SELECT:
        return pack_action(Verb.SELECT_BLIND, 0, 0, 0)
    if s.phase == Phase.ROUND_END:
        return pack_action(Verb.CASH_OUT, 0, 0, 0)
    for slot in range(s.n_consumables):
        if can_use_held(s, slot, 0):
            return pack_action(Verb.USE, slot, 0, 0)
    if s.phase == Phase.PACK:
        return pick_from_pack(s)
    return choose_in_shop(s)


@rule
def best_hand(s, scratch):
    """Return the card set with the highest score, and its score; of equal ones the smallest. Avoids face-down cards."""
    seen = min(MAX_POSITIONS, int(s.n_hand))
    hidden, forced = 0, 0
    for i in range(seen):
        if s.cards[s.hand[i]].face_down and not s.cards[s.hand[i]].forced:
            hidden |= 1 << i
    for i in range(seen, s.n_hand):
        if s.cards[s.hand[i]].forced:
            forced |= 1 << i
    if hidden == (1 << seen) - 1:
        return 1 | forced, 0.0
    best, most = 0, -1.0
    for others in range(1, 1 << seen):
        cards = others | forced
        if not cards & hidden and count_bits(cards) <= MAX_PLAYED and holds_forced(s, cards):
            score = score_of(s, scratch, cards)
            if score > most or (score == most and count_bits(cards) < count_bits(best)):
                best, most = cards, score
    return best, most


@rule
def play_round(s, scratch):
    """Play the best hand if it is good enough or no discards are left; else discard the other cards."""
    cards, score = best_hand(s, scratch)
    share = (s.target - s.chips) / max(1, int(s.hands_left))
    if s.discards_left == 0 or score >= share:
        return pack_action(Verb.PLAY, 0, 0, cards)
    kept = cards_to_keep(s)
    discarded = 0
    for position in range(s.n_hand - 1, -1, -1):
        if count_bits(discarded) < MAX_PLAYED and not (kept >> position) & 1:
            discarded |= 1 << position
    if discarded == 0 or not holds_forced(s, discarded):
        return pack_action(Verb.PLAY, 0, 0, cards)
    return pack_action(Verb.DISCARD, 0, 0, discarded)


@rule
def shows_front(card):
    """Return whether the player sees rank and suit of a card in hand."""
    return not card.face_down and card.enhancement != Enhancement.STONE


@rule
def cards_to_keep(s):
    """Return hand positions to keep: four cards of one suit, else ranks that occur twice, else the two highest.

    Face-down cards and Stone cards have neither suit nor rank.
    """
    for suit in range(4):
        same = 0
        for i in range(s.n_hand):
            card = s.cards[s.hand[i]]
            if card.suit == suit and shows_front(card):
                same |= 1 << i
        if count_bits(same) >= 4:
            return same
    pairs = 0
    for i in range(s.n_hand):
        for j in range(s.n_hand):
            one, other = s.cards[s.hand[i]], s.cards[s.hand[j]]
            if i != j and one.rank == other.rank and shows_front(one) and shows_front(other):
                pairs |= 1 << i
    return pairs if pairs else 3


@rule
def pick_from_pack(s):
    """Take the first card of the pack that can be taken, or skip the pack."""
    for slot in range(s.n_pack):
        if can_pick(s, slot, 0):
            return pack_action(Verb.PICK, slot, 0, 0)
    return pack_action(Verb.SKIP_PACK, 0, 0, 0)


@rule
def choose_in_shop(s):
    """Buy jokers while there is room, Planets, then Buffoon and Celestial packs; then leave the shop."""
    for slot in range(s.n_row):
        if s.row[slot].kind == Kind.JOKER and can_buy(s, slot):
            return pack_action(Verb.BUY, slot, 0, 0)
    for slot in range(s.n_row):
        planet = s.row[slot].kind == Kind.CONSUMABLE and C_SET[s.row[slot].id] == Set.PLANET
        if planet and can_buy(s, slot):
            return pack_action(Verb.BUY, slot, 0, 0)
    for slot in range(MAX_PACKS):
        if can_open_pack(s, slot) and s.dollars >= RESERVE + 4:
            kind = PACK_KIND[s.packs[slot]]
            if kind == PackKind.CELESTIAL or (kind == PackKind.BUFFOON and room_for_joker(s)):
                return pack_action(Verb.OPEN_PACK, slot, 0, 0)
    return pack_action(Verb.NEXT_ROUND, 0, 0, 0)


class Baseline:
    """A baseline player with the `Player` interface: `choose` returns a macro decision for each game."""

    discrete = False
    reorder = "none"

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name, self._agent = name, Agent[name.upper()]
        self._scratch = new_states(1)
        self._rng = np.array([START + np.uint64(seed)])

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return macro decisions (n,) int64, -1 for games that are not in play."""
        out = np.empty(games.n, dtype=np.int64)
        decide_all(self._agent, games.states, playing, self._scratch, self._rng, games.masks, out)
        return out


AGENTS = tuple(agent.name.lower() for agent in Agent)
