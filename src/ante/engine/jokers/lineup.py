"""The line-up as a whole: its lasting effects, and the events that effects have queued."""

from ante.engine.core.rule import rule
from ante.engine.core.state import Debuff, Phase, Rule
from ante.engine.items.owned import keep_pinned_left, remove_joker
from ante.engine.items.prices import reprice_all
from ante.engine.jokers.dispatch import fire_cards_added, fire_face_destroyed, fire_glass_destroyed, fire_while_held


@rule
def refresh_lineup(s):
    """Recompute rule bits, hand size and other lasting effects from the jokers that are held and work now.

    In a round the number of discards changes at once, unlike the number of hands; in a shop, that of free rerolls does.
    """
    discards_before = int(s.joker_discards)
    rerolls_before = int(s.free_rerolls_held)
    astronomer_before = s.rules & Rule.ASTRONOMER
    s.rules = 0
    s.oops = 0
    s.joker_hand_size = 0
    s.joker_hands = 0
    s.joker_discards = 0
    s.free_rerolls_held = 0
    s.debt_allowed = 0
    if s.challenge:
        keep_pinned_left(s)
    fire_while_held(s, 0)
    s.hand_size = max(0, int(s.base_hand_size) + int(s.round_hand_size) + int(s.joker_hand_size))
    if s.phase == Phase.PLAY:
        s.discards_left = max(0, int(s.discards_left) + int(s.joker_discards) - discards_before)
    if s.phase == Phase.SHOP or (s.phase == Phase.PACK and s.pack_return == Phase.SHOP):
        s.free_rerolls = max(0, int(s.free_rerolls) + int(s.free_rerolls_held) - rerolls_before)
    if s.rules & Rule.ASTRONOMER != astronomer_before:
        reprice_all(s)
    s.lineup_stale = 0


@rule
def fire_additions(s):
    """Fire the moment for playing cards that were added to the deck."""
    if s.pending_added:
        added = int(s.pending_added)
        s.pending_added = 0
        fire_cards_added(s, added)


@rule
def settle(s):
    """Handle queued events: remove destroyed jokers and fire the moments for added and destroyed cards."""
    for slot in range(s.n_jokers - 1, -1, -1):
        if s.jokers[slot].debuffed == Debuff.DOOMED:
            remove_joker(s, slot)
    s.joker_buffer = 0
    fire_additions(s)
    if s.pending_faces:
        faces = int(s.pending_faces)
        s.pending_faces = 0
        fire_face_destroyed(s, faces)
    if s.pending_glass:
        glass = int(s.pending_glass)
        s.pending_glass = 0
        fire_glass_destroyed(s, glass)
    if s.lineup_stale:
        refresh_lineup(s)
