"""Games with much that is hidden: face-down cards, Stone cards and face-down jokers; and other such games."""

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement, Sticker
from ante.engine.core.state import Phase
from ante.engine.jokers.lineup import refresh_lineup
from ante.env.observe_items import jokers_hidden


def hide_more(states: np.recarray) -> None:
    """Turn cards of some hands face down, turn cards of some decks to stone, and play some rounds at Amber Acorn."""
    for s in states[::2]:
        if s.phase == Phase.PLAY and s.n_hand > 2:
            s.cards[s.hand[1]].face_down = 1
            s.cards[s.hand[2]].face_down = 1
    for s in states[1::3]:
        for card in s.cards[: s.n_cards : 4]:
            card.enhancement = Enhancement.STONE
    for s in states[2::4]:
        if s.phase == Phase.PLAY and s.n_jokers > 1:
            s.blind, s.boss_disabled = Blind.FINAL_ACORN, 0


def change_fronts_and_order(s: np.record, rng: np.random.Generator) -> None:
    """Give Stone cards another rank and suit, and face-down jokers another order that players cannot distinguish."""
    for card in (*s.cards[: s.n_cards], *s.row[: s.n_row], *s.pack[: s.n_pack]):
        if card.enhancement == Enhancement.STONE:
            card.rank, card.suit = rng.integers(2, 15), rng.integers(4)
    jokers = s.jokers[: s.n_jokers]
    if jokers_hidden(s) and not any(joker.stickers & (Sticker.ETERNAL | Sticker.PINNED) for joker in jokers):
        jokers[:] = jokers[rng.permutation(len(jokers))]
        refresh_lineup(s)
