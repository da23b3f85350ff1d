"""Rules of the active boss: which cards it debuffs or turns face down, how many are drawn, and how it ends."""

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

    Called at the start of the round; later only new cards and those whose suit or rank changes are updated. A card
    whose enhancement changes keeps its debuff, and a copy has the debuff of its source.
    """
    for i in range(s.n_cards):
        debuff_card(s, i)


@rule
def debuff_card(s, card):
    """Debuff one playing card if the boss does or if it is worn; otherwise remove its debuff."""
    s.cards[card].debuffed = Debuff.NONE  # a debuffed card is not a face card
    debuffed = s.cards[card].worn != 0 or boss_debuffs_card(s, card)
    s.cards[card].debuffed = Debuff.LASTING if debuffed else Debuff.NONE


@rule
def comes_face_down(s, card):
    """Return whether a card is drawn face down, because of the boss or the challenge X-ray Vision."""
    face_down = boss_turns_card(s, card)
    if s.modifiers & Modifier.FLIPPED_CARDS and roll(s, Stream.FLIPPED_CARD) < 1.0 / FLIPPED_ODDS:
        return True
    return face_down


@rule
def hand_limit(s):
    """Return the size of a full hand. Luxury Tax takes one card for each $5; a debt adds cards at the same rate."""
    if s.modifiers & Modifier.HAND_TAX:
        return max(0, int(s.hand_size) - int(s.dollars) // HAND_TAX_DOLLARS)
    return int(s.hand_size)


@rule
def cards_to_draw(s):
    """Return how many cards are drawn now: the boss's number, or as many as fill the hand."""
    fixed = boss_cards_to_draw(s, 0)
    return fixed if fixed >= 0 else max(0, hand_limit(s) - int(s.n_hand))


@rule
def disable_boss(s):
    """Disable the boss's ability for this round and revert its effects."""
    if s.boss_disabled or s.blind <= Blind.BIG:
        return
    boss_gives_back(s, 0)
    s.boss_disabled = 1
    free_cards(s)
    s.lineup_stale = 1


@rule
def end_boss(s):
    """End the boss's effects and turn every card face up."""
    free_cards(s)
    for i in range(s.n_cards):
        s.cards[i].face_down = 0
    s.fish_down = 0


@rule
def free_cards(s):
    """Release forced cards, debuff only worn cards, and enable all jokers that the boss disabled."""
    for i in range(s.n_cards):
        s.cards[i].debuffed = Debuff.LASTING if s.cards[i].worn else Debuff.NONE
        s.cards[i].forced = 0
    enable_jokers(s)
