"""Cards on their way to the discard pile."""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Seal
from ante.engine.bosses import active_boss, nth_oldest_of_hand
from ante.engine.create import Source, create_tarot
from ante.engine.jokers.dispatch import fire_card_discarded, fire_discard_begins
from ante.engine.rng import Stream, pick
from ante.engine.rule import rule
from ante.engine.state import Place
from ante.engine.verbs import drop_from

HOOKED = 2


@rule
def discard_taken(s, n, hooked):
    """The first n cards of s.order go to the discard pile, each seen by its seal and the jokers.

    They lie in s.played meanwhile, so that effects can look at the whole discard; what was there is put back.
    hooked  True where The Hook discards, not the player
    """
    held0, held1, held2, held3, held4 = s.played[0], s.played[1], s.played[2], s.played[3], s.played[4]
    held_n = int(s.n_played)
    s.n_played = n
    for i in range(n):
        card = s.cards[s.order[i]]
        s.played[i] = s.order[i]
        card.forced = 0
        card.place = Place.DISCARD  # a face-down card is not turned over: what it was stays unknown
    fire_discard_begins(s, 0 if hooked else n)
    for i in range(n):
        card = int(s.played[i])
        if s.cards[card].seal == Seal.PURPLE and not s.cards[card].debuffed:
            create_tarot(s, int(Source.EIGHT_BALL))
        fire_card_discarded(s, card)
    s.played[0], s.played[1], s.played[2], s.played[3], s.played[4] = held0, held1, held2, held3, held4
    s.n_played = held_n


@rule
def boss_on_play(s):
    """What a boss does once the played cards have left the hand: The Hook takes two more, The Tooth a dollar for each."""
    boss = active_boss(s)
    if boss == Blind.TOOTH:
        s.dollars -= s.n_played
        s.boss_triggered = 1
    elif boss == Blind.HOOK:
        n = 0
        while n < HOOKED and s.n_hand > 0:
            card = nth_oldest_of_hand(s, pick(s, Stream.HOOK, int(s.n_hand)))
            drop_from(s.hand, s.n_hand, card)
            s.n_hand -= 1
            s.cards[card].place = Place.DISCARD
            s.order[n] = card
            n += 1
        if n:
            discard_taken(s, n, True)
            s.boss_triggered = 1
