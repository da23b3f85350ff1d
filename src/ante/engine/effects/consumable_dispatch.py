"""Dispatchers of consumable effects, by moment. Written by tools/write_dispatch.py; do not edit."""

from ante.catalog.consumables import Consumable
from ante.engine.core.rule import rule
from ante.engine.effects import consumables


@rule
def consumable_allowed(s, consumable, cards, freed):
    """ALLOWED: the consumable's own effect, if it has one."""
    if consumable == Consumable.FOOL:
        return consumables.fool_allowed(s, consumable, cards, freed)
    if consumable == Consumable.HIGH_PRIESTESS or consumable == Consumable.EMPEROR:
        return consumables.consumable_has_room(s, consumable, cards, freed)
    if consumable == Consumable.WHEEL_OF_FORTUNE or consumable == Consumable.ECTOPLASM or consumable == Consumable.HEX:
        return consumables.has_editionless(s, consumable, cards, freed)
    if consumable == Consumable.JUDGEMENT or consumable == Consumable.WRAITH or consumable == Consumable.SOUL:
        return consumables.joker_has_room(s, consumable, cards, freed)
    if consumable == Consumable.FAMILIAR or consumable == Consumable.GRIM or consumable == Consumable.INCANTATION or consumable == Consumable.SIGIL or consumable == Consumable.OUIJA or consumable == Consumable.IMMOLATE:
        return consumables.has_cards(s, consumable, cards, freed)
    if consumable == Consumable.AURA:
        return consumables.aura_allowed(s, consumable, cards, freed)
    if consumable == Consumable.ANKH:
        return consumables.ankh_allowed(s, consumable, cards, freed)
    return True


@rule
def consumable_used(s, consumable, cards, freed):
    """USED: the consumable's own effect, if it has one."""
    if consumable == Consumable.FOOL:
        consumables.fool(s, consumable, cards, freed)
    elif consumable == Consumable.MAGICIAN or consumable == Consumable.EMPRESS or consumable == Consumable.HEIROPHANT or consumable == Consumable.LOVERS or consumable == Consumable.CHARIOT or consumable == Consumable.JUSTICE or consumable == Consumable.DEVIL or consumable == Consumable.TOWER:
        consumables.enhance(s, consumable, cards, freed)
    elif consumable == Consumable.HIGH_PRIESTESS:
        consumables.high_priestess(s, consumable, cards, freed)
    elif consumable == Consumable.EMPEROR:
        consumables.emperor(s, consumable, cards, freed)
    elif consumable == Consumable.HERMIT:
        consumables.hermit(s, consumable, cards, freed)
    elif consumable == Consumable.WHEEL_OF_FORTUNE:
        consumables.wheel_of_fortune(s, consumable, cards, freed)
    elif consumable == Consumable.STRENGTH:
        consumables.strength(s, consumable, cards, freed)
    elif consumable == Consumable.HANGED_MAN:
        consumables.hanged_man(s, consumable, cards, freed)
    elif consumable == Consumable.DEATH:
        consumables.death(s, consumable, cards, freed)
    elif consumable == Consumable.TEMPERANCE:
        consumables.temperance(s, consumable, cards, freed)
    elif consumable == Consumable.STAR or consumable == Consumable.MOON or consumable == Consumable.SUN or consumable == Consumable.WORLD:
        consumables.change_suit(s, consumable, cards, freed)
    elif consumable == Consumable.JUDGEMENT:
        consumables.judgement(s, consumable, cards, freed)
    elif consumable == Consumable.MERCURY or consumable == Consumable.VENUS or consumable == Consumable.EARTH or consumable == Consumable.MARS or consumable == Consumable.JUPITER or consumable == Consumable.SATURN or consumable == Consumable.URANUS or consumable == Consumable.NEPTUNE or consumable == Consumable.PLUTO or consumable == Consumable.PLANET_X or consumable == Consumable.CERES or consumable == Consumable.ERIS:
        consumables.planet(s, consumable, cards, freed)
    elif consumable == Consumable.FAMILIAR or consumable == Consumable.GRIM or consumable == Consumable.INCANTATION:
        consumables.replace_cards(s, consumable, cards, freed)
    elif consumable == Consumable.TALISMAN or consumable == Consumable.DEJA_VU or consumable == Consumable.TRANCE or consumable == Consumable.MEDIUM:
        consumables.add_seal(s, consumable, cards, freed)
    elif consumable == Consumable.AURA:
        consumables.aura(s, consumable, cards, freed)
    elif consumable == Consumable.WRAITH:
        consumables.wraith(s, consumable, cards, freed)
    elif consumable == Consumable.SIGIL:
        consumables.sigil(s, consumable, cards, freed)
    elif consumable == Consumable.OUIJA:
        consumables.ouija(s, consumable, cards, freed)
    elif consumable == Consumable.ECTOPLASM:
        consumables.ectoplasm(s, consumable, cards, freed)
    elif consumable == Consumable.IMMOLATE:
        consumables.immolate(s, consumable, cards, freed)
    elif consumable == Consumable.ANKH:
        consumables.ankh(s, consumable, cards, freed)
    elif consumable == Consumable.HEX:
        consumables.hex_joker(s, consumable, cards, freed)
    elif consumable == Consumable.CRYPTID:
        consumables.cryptid(s, consumable, cards, freed)
    elif consumable == Consumable.SOUL:
        consumables.soul(s, consumable, cards, freed)
    elif consumable == Consumable.BLACK_HOLE:
        consumables.black_hole(s, consumable, cards, freed)
