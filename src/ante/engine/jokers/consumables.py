"""Jokers that create consumables, depend on those used, or change their prices; and Diet Cola."""

from ante.catalog.cards import Edition
from ante.catalog.jokers import Joker
from ante.catalog.tags import Tag
from ante.engine.core.rng import Stream, chance, pick
from ante.engine.core.state import Rule
from ante.engine.core.tables import J_MULT, J_ODDS
from ante.engine.effects.moments import Moment, on
from ante.engine.effects.tags import gain_tag
from ante.engine.effects.verbs import add_mult
from ante.engine.items.owned import add_consumable_from_item, create_tarot, room_for_consumable
from ante.engine.items.prices import price
from ante.engine.items.sources import TarotSource


# Fortune Teller: mult for each Tarot used in the run.
@on(Moment.JOKER_SCORED, Joker.FORTUNE_TELLER)
def fortune_teller(s, me, joker, card):
    """Add mult per Tarot used."""
    add_mult(s, J_MULT[joker] * s.tarots_used)


# Cartomancer: creates a Tarot when a blind is selected.
@on(Moment.BLIND_CHOSEN, Joker.CARTOMANCER)
def cartomancer(s, me, joker, card):
    """Create Tarots."""
    create_tarot(s, int(TarotSource.CAR))


# Hallucination: may create a Tarot when a pack is opened.
@on(Moment.PACK_OPENED, Joker.HALLUCINATION)
def hallucination(s, me, joker, card):
    """Create a Tarot with probability 1 in `odds`, if there is room."""
    if room_for_consumable(s) and chance(s, Stream.HALU, J_ODDS[joker]):
        create_tarot(s, int(TarotSource.HAL))


# Astronomer: Planets and Celestial packs are free.
@on(Moment.WHILE_HELD, Joker.ASTRONOMER, copied=False)
def astronomer(s, me, joker, card):
    """Set the rule bit."""
    s.rules |= int(Rule.ASTRONOMER)


# Perkeo: creates a Negative copy of a random held consumable when the shop is left.
@on(Moment.SHOP_LEFT, Joker.PERKEO)
def perkeo(s, me, joker, card):
    """Add a Negative copy of a random consumable."""
    if s.n_consumables == 0:
        return
    k = pick(s, Stream.PERKEO, int(s.n_consumables))
    s.made = s.consumables[k]
    s.created += 1
    s.made.created = s.created
    s.made.edition = int(Edition.NEGATIVE)
    price(s, s.made)
    add_consumable_from_item(s, s.made)


# Diet Cola: sold, it gives a Double Tag.
@on(Moment.SELF_SOLD, Joker.DIET_COLA)
def diet_cola(s, me, joker, card):
    """Gain a Double Tag."""
    gain_tag(s, int(Tag.DOUBLE), -1)
