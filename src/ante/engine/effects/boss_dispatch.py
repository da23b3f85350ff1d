"""Dispatchers of boss effects, by moment. Written by tools/write_dispatch.py; do not edit."""

from ante.catalog.blinds import Blind
from ante.engine.core.rule import rule
from ante.engine.effects import bosses


@rule
def boss_selected(s, card):
    """SELECTED: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.WATER:
        bosses.water(s, boss, card)
    elif boss == Blind.MANACLE:
        bosses.manacle(s, boss, card)
    elif boss == Blind.NEEDLE:
        bosses.needle(s, boss, card)
    elif boss == Blind.FINAL_ACORN:
        bosses.acorn(s, boss, card)


@rule
def boss_debuffs_card(s, card):
    """DEBUFFS_CARD: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.CLUB or boss == Blind.GOAD or boss == Blind.WINDOW or boss == Blind.HEAD:
        return bosses.debuff_suit(s, boss, card)
    if boss == Blind.PLANT:
        return bosses.plant(s, boss, card)
    if boss == Blind.PILLAR:
        return bosses.pillar(s, boss, card)
    if boss == Blind.FINAL_LEAF:
        return bosses.leaf(s, boss, card)
    return False


@rule
def boss_turns_card(s, card):
    """TURNS_CARD: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.HOUSE:
        return bosses.house(s, boss, card)
    if boss == Blind.WHEEL:
        return bosses.wheel(s, boss, card)
    if boss == Blind.FISH:
        return bosses.fish(s, boss, card)
    if boss == Blind.MARK:
        return bosses.mark(s, boss, card)
    return False


@rule
def boss_cards_to_draw(s, card):
    """CARDS_TO_DRAW: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.SERPENT:
        return bosses.serpent(s, boss, card)
    return -1


@rule
def boss_hand_drawn(s, card):
    """HAND_DRAWN: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.FISH:
        bosses.fish_ends(s, boss, card)
    elif boss == Blind.FINAL_HEART:
        bosses.heart(s, boss, card)
    elif boss == Blind.FINAL_BELL:
        bosses.bell(s, boss, card)


@rule
def boss_cards_played(s, card):
    """CARDS_PLAYED: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.HOOK:
        return bosses.hook(s, boss, card)
    if boss == Blind.TOOTH:
        return bosses.tooth(s, boss, card)
    return 0


@rule
def boss_hand_allowed(s, card):
    """HAND_ALLOWED: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.PSYCHIC:
        return bosses.psychic(s, boss, card)
    if boss == Blind.EYE:
        return bosses.eye(s, boss, card)
    if boss == Blind.MOUTH:
        return bosses.mouth(s, boss, card)
    return True


@rule
def boss_hand_begins(s, card):
    """HAND_BEGINS: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.OX:
        bosses.ox(s, boss, card)
    elif boss == Blind.ARM:
        bosses.arm(s, boss, card)


@rule
def boss_hand_valued(s, card):
    """HAND_VALUED: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.FLINT:
        bosses.flint(s, boss, card)


@rule
def boss_hand_played(s, card):
    """HAND_PLAYED: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.FISH:
        bosses.fish_begins(s, boss, card)


@rule
def boss_joker_sold(s, card):
    """JOKER_SOLD: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.FINAL_LEAF:
        return bosses.leaf(s, boss, card)
    return False


@rule
def boss_gives_back(s, card):
    """GIVES_BACK: the boss's own effect, if it has one."""
    boss = bosses.active_boss(s)
    if boss == Blind.HOUSE or boss == Blind.WHEEL or boss == Blind.FISH or boss == Blind.MARK:
        bosses.turn_cards_up(s, boss, card)
    elif boss == Blind.WALL or boss == Blind.FINAL_VESSEL:
        bosses.lower_target(s, boss, card)
    elif boss == Blind.WATER:
        bosses.water_ends(s, boss, card)
    elif boss == Blind.MANACLE:
        bosses.manacle_ends(s, boss, card)
    elif boss == Blind.NEEDLE:
        bosses.needle_ends(s, boss, card)
