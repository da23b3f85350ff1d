"""The rules around the active boss: which cards it debuffs or turns, how many are drawn, and how it ends."""

from ante.catalog.blinds import Blind
from ante.catalog.challenges import FLIPPED_ODDS, HAND_TAX_DOLLARS, Modifier
from ante.engine.core.rng import Stream, roll
from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff
from ante.engine.effects.boss_dispatch import (
    boss_cards_to_draw,
    boss_debuffs_card,
    boss_gives_back,
    boss_turns_card,
)
from ante.engine.effects.bosses import enable_jokers


@rule
def debuff_cards(s):
    """Set the debuff of every playing card.

    Called as the round begins; afterwards only cards that are new or change suit or rank are set again. A card that is
    turned into another kind keeps its debuff, and a copy takes over the debuff of what it copies.
    """
    for i in range(s.n_cards):
        debuff_card(s, i)


@rule
def debuff_card(s, card):
    """Debuff one playing card exactly if the boss does, or if it is worn."""
    s.cards[card].debuffed = Debuff.NONE  # a debuffed card is no face card
    debuffed = s.cards[card].worn != 0 or boss_debuffs_card(s, card)
    s.cards[card].debuffed = Debuff.LASTING if debuffed else Debuff.NONE


@rule
def comes_face_down(s, card):
    """Return whether a card that is being drawn comes face down: by the boss, or by the challenge X-ray Vision."""
    face_down = boss_turns_card(s, card)
    if s.modifiers & Modifier.FLIPPED_CARDS and roll(s, Stream.FLIPPED_CARD) < 1.0 / FLIPPED_ODDS:
        return True
    return face_down


@rule
def hand_limit(s):
    """Return how many cards a full hand holds. Luxury Tax takes one for each $5; a debt gives as much."""
    if s.modifiers & Modifier.HAND_TAX:
        return max(0, int(s.hand_size) - int(s.dollars) // HAND_TAX_DOLLARS)
    return int(s.hand_size)


@rule
def cards_to_draw(s):
    """Return how many cards are drawn now: the boss's number, or as many as the hand lacks."""
    fixed = boss_cards_to_draw(s, 0)
    return fixed if fixed >= 0 else max(0, hand_limit(s) - int(s.n_hand))


@rule
def disable_boss(s):
    """Disable the boss's ability for this round and give back what it took."""
    if s.boss_disabled or s.blind <= Blind.BIG:
        return
    boss_gives_back(s, 0)
    s.boss_disabled = 1
    free_cards(s)
    s.lineup_stale = 1


@rule
def end_boss(s):
    """End the round: also turn every card face up."""
    free_cards(s)
    for i in range(s.n_cards):
        s.cards[i].face_down = 0
    s.fish_down = 0


@rule
def free_cards(s):
    """Force no card, debuff only worn cards, and enable all jokers that the boss disabled."""
    for i in range(s.n_cards):
        s.cards[i].debuffed = Debuff.LASTING if s.cards[i].worn else Debuff.NONE
        s.cards[i].forced = 0
    enable_jokers(s)
