"""Jokers that act in and around the shop: rerolls, packs, sales, consumables, and changes of the deck."""

from ante.catalog.cards import Edition
from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ante.catalog.jokers import Joker
from ante.catalog.tags import Tag
from ante.engine.bosses import disable_boss
from ante.engine.create import add_consumable_from_item, copy_joker, price
from ante.engine.rng import Stream, pick
from ante.engine.rule import Moment, on
from ante.engine.state import MAX_CONSUMABLES, MAX_JOKERS
from ante.engine.tags import gain_tag

INVISIBLE_ROUNDS = 2


@on(Moment.SHOP_REROLLED, Joker.FLASH, copied=False)
def flash_card(s, me, joker, card):
    """+2 mult per reroll."""
    s.jokers[me].value += 2.0


@on(Moment.PACK_SKIPPED, Joker.RED_CARD, copied=False)
def red_card(s, me, joker, card):
    """+3 mult per pack skipped."""
    s.jokers[me].value += 3.0


@on(Moment.CARD_SOLD, Joker.CAMPFIRE, copied=False)
def campfire(s, me, joker, card):
    """X0.25 per card sold, itself not counted."""
    if me != card:
        s.jokers[me].value += 0.25


@on(Moment.SELF_SOLD, Joker.LUCHADOR)
def luchador(s, me, joker, card):
    """The boss is disabled."""
    disable_boss(s)


@on(Moment.SELF_SOLD, Joker.DIET_COLA)
def diet_cola(s, me, joker, card):
    """A Double Tag is gained."""
    gain_tag(s, int(Tag.DOUBLE), -1)


@on(Moment.SELF_SOLD, Joker.INVISIBLE, copied=False)
def invisible_joker(s, me, joker, card):
    """After two rounds: a copy of a random other joker, without Negative."""
    if s.jokers[me].count < INVISIBLE_ROUNDS or s.n_jokers < 2 or s.n_jokers >= MAX_JOKERS:
        return
    k = pick(s, Stream.INVISIBLE, int(s.n_jokers) - 1)
    for i in range(s.n_jokers):
        older = 0
        for j in range(s.n_jokers):
            if j != me and s.jokers[j].created < s.jokers[i].created:
                older += 1
        if i != me and older == k:
            copy_joker(s, i, True)
            if s.jokers[i].id == Joker.INVISIBLE:
                s.jokers[s.n_jokers - 1].count = 0
            return


@on(Moment.SHOP_LEFT, Joker.PERKEO)
def perkeo(s, me, joker, card):
    """A Negative copy of a random held consumable."""
    if s.n_consumables == 0 or s.n_consumables >= MAX_CONSUMABLES:
        return
    k = pick(s, Stream.PERKEO, int(s.n_consumables))
    s.made = s.consumables[k]
    s.created += 1
    s.made.created = s.created
    s.made.edition = int(Edition.NEGATIVE)
    price(s, s.made)
    add_consumable_from_item(s, s.made)


@on(Moment.CONSUMABLE_USED, Joker.CONSTELLATION, copied=False)
def constellation(s, me, joker, card):
    """X0.1 per planet used."""
    if FIRST_PLANET <= card < FIRST_SPECTRAL:
        s.jokers[me].value += 0.1


@on(Moment.CARDS_ADDED, Joker.HOLOGRAM, copied=False)
def hologram(s, me, joker, card):
    """X0.25 per playing card that joins the deck."""
    s.jokers[me].value += 0.25 * card


@on(Moment.FACE_DESTROYED, Joker.CAINO, copied=False)
def canio(s, me, joker, card):
    """X1 per face card destroyed."""
    s.jokers[me].value += 1.0 * card


@on(Moment.GLASS_DESTROYED, Joker.GLASS, copied=False)
def glass_joker(s, me, joker, card):
    """X0.75 per Glass card destroyed."""
    s.jokers[me].value += 0.75 * card
