"""Jokers that act when a round ends or pay at cash-out."""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement
from ante.catalog.jokers import Joker
from ante.engine.bosses import disable_boss
from ante.engine.create import pick_visible_hand
from ante.engine.jokers.lineup_marks import doom
from ante.engine.rng import Stream, chance
from ante.engine.rule import Moment, on, rule
from ante.engine.state import Phase, Place
from ante.engine.verbs import earn_at_cash_out


@rule
def saves_from_defeat(s):
    """Whether Mr. Bones saves the run: a quarter of the target was scored; the leftmost working one is used up."""
    if s.chips < 0.25 * s.target:
        return False
    for i in range(s.n_jokers):
        if s.jokers[i].id == Joker.MR_BONES and not s.jokers[i].debuffed:
            doom(s, i)
            return True
    return False


@rule
def moons_held(s):
    """How many working To the Moon add interest."""
    n = 0
    for i in range(s.n_jokers):
        if s.jokers[i].id == Joker.TO_THE_MOON and not s.jokers[i].debuffed:
            n += 1
    return n


@on(Moment.ROUND_ENDS, Joker.GROS_MICHEL, copied=False)
def gros_michel_dies(s, me, joker, card):
    """1 in 6: extinct, and Cavendish may come."""
    if chance(s, Stream.GROS_MICHEL, 6.0):
        s.gros_michel_extinct = 1
        doom(s, me)


@on(Moment.ROUND_ENDS, Joker.CAVENDISH, copied=False)
def cavendish_dies(s, me, joker, card):
    """1 in 1000: destroyed."""
    if chance(s, Stream.CAVENDISH, 1000.0):
        doom(s, me)


@on(Moment.ROUND_ENDS, Joker.POPCORN, copied=False)
def popcorn_shrinks(s, me, joker, card):
    """-4 mult, eaten at 0."""
    s.jokers[me].value -= 4.0
    if s.jokers[me].value <= 0.0:
        doom(s, me)


@on(Moment.ROUND_ENDS, Joker.TURTLE_BEAN, copied=False)
def turtle_bean_shrinks(s, me, joker, card):
    """One card of hand size less, gone at 0."""
    s.jokers[me].count -= 1
    s.lineup_stale = 1
    if s.jokers[me].count <= 0:
        doom(s, me)


@on(Moment.ROUND_ENDS, Joker.EGG, copied=False)
def egg_grows(s, me, joker, card):
    """$3 more sell value."""
    s.jokers[me].extra_sell += 3


@on(Moment.ROUND_ENDS, Joker.GIFT, copied=False)
def gift_card(s, me, joker, card):
    """$1 more sell value for every joker and consumable."""
    for i in range(s.n_jokers):
        s.jokers[i].extra_sell += 1
    for i in range(s.n_consumables):
        s.consumables[i].extra_sell += 1


@on(Moment.ROUND_ENDS, Joker.ROCKET, copied=False)
def rocket_rises(s, me, joker, card):
    """A beaten boss raises its payout by $2."""
    if card > Blind.BIG:
        s.jokers[me].count += 2


@on(Moment.ROUND_ENDS, Joker.CAMPFIRE, copied=False)
def campfire_dies_down(s, me, joker, card):
    """A beaten boss takes it back to X1."""
    if card > Blind.BIG:
        s.jokers[me].value = 1.0


@on(Moment.ROUND_ENDS, Joker.HIT_THE_ROAD, copied=False)
def hit_the_road_resets(s, me, joker, card):
    """Back to X1 every round."""
    s.jokers[me].value = 1.0


@on(Moment.ROUND_ENDS, Joker.TODO_LIST, copied=False)
def todo_list_turns(s, me, joker, card):
    """Another hand is listed."""
    s.jokers[me].hand = pick_visible_hand(s, int(Stream.TO_DO), int(s.jokers[me].hand))


@on(Moment.ROUND_ENDS, Joker.INVISIBLE, copied=False)
def invisible_waits(s, me, joker, card):
    """One more round has passed."""
    s.jokers[me].count += 1


@on(Moment.ROUND_DOLLARS, Joker.GOLDEN, copied=False)
def golden_joker(s, me, joker, card):
    """$4."""
    earn_at_cash_out(s, 4)


@on(Moment.ROUND_DOLLARS, Joker.CLOUD_9, copied=False)
def cloud_9(s, me, joker, card):
    """$1 per 9 of the full deck."""
    for i in range(s.n_cards):
        c = s.cards[i]
        if c.place != Place.GONE and c.rank == 9 and c.enhancement != Enhancement.STONE:
            earn_at_cash_out(s, 1)


@on(Moment.ROUND_DOLLARS, Joker.ROCKET, copied=False)
def rocket_pays(s, me, joker, card):
    """What it has risen to."""
    earn_at_cash_out(s, s.jokers[me].count)


@on(Moment.ROUND_DOLLARS, Joker.SATELLITE, copied=False)
def satellite(s, me, joker, card):
    """$1 per different planet used in the run."""
    for planet in range(12):
        if (s.planets_used >> planet) & 1:
            earn_at_cash_out(s, 1)


@on(Moment.ROUND_DOLLARS, Joker.DELAYED_GRAT, copied=False)
def delayed_gratification(s, me, joker, card):
    """$2 per discard left if none was used."""
    if s.discards_used == 0 and s.discards_left > 0:
        earn_at_cash_out(s, 2 * s.discards_left)


@on(Moment.BOSS_TRIGGERED, Joker.MATADOR)
def matador(s, me, joker, card):
    """$8 when the boss's ability bites."""
    s.dollars += 8


@on(Moment.BLIND_CHOSEN, Joker.CHICOT, copied=False)
def chicot(s, me, joker, card):
    """The boss is disabled."""
    disable_boss(s)


@on(Moment.WHILE_HELD, Joker.CHICOT, copied=False)
def chicot_arrives(s, me, joker, card):
    """A boss in play is disabled when Chicot joins."""
    if s.phase == Phase.PLAY:
        disable_boss(s)
