"""Draws of items from pools: unavailable entries and resampling.

A draw selects a place in the full list. An unavailable entry keeps its place but counts as a miss; the next draw uses
the key's `_resample2` stream, then `_resample3`, without limit. If no entry is available, one draw is still consumed
and a fixed item is taken.
"""

from ante.catalog.blinds import SHOWDOWN_EVERY, Blind
from ante.catalog.consumables import (
    FIRST_PLANET,
    FIRST_SPECTRAL,
    FIRST_TAROT,
    N_PLANETS,
    N_SPECTRALS,
    N_TAROTS,
    Consumable,
)
from ante.catalog.jokers import Extinction, Joker
from ante.catalog.locks import BLIND_LOCKS, CONSUMABLE_LOCKS, JOKER_LOCKS, TAG_LOCKS, VOUCHER_LOCKS
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher
from ante.engine.core.rng import Stream, pick, roll_resample
from ante.engine.core.rule import rule
from ante.engine.core.state import CONSUMABLE_KEYS, Place, Rule
from ante.engine.core.tables import (
    BANNED,
    BLIND_MIN_ANTE,
    BLIND_SHOWDOWN,
    BOSS_ORDER,
    C_HAND,
    C_IN_POOL,
    C_SOFTLOCKED,
    J_EXTINCTION,
    J_GATE,
    POOL,
    POOL_SIZE,
    TAG_MIN_ANTE,
    V_REQUIRES,
)

N_TAGS = len(Tag) - 1
N_VOUCHERS = len(Voucher) - 1


@rule
def barred(s, lock):
    """Return whether the challenge bans an item or the profile lacks it; `lock` is its number in catalog/locks.py."""
    if not s.restricted:
        return False
    return BANNED[s.challenge, lock] != 0 or (s.locked[lock >> 3] >> (lock & 7)) & 1 != 0


@rule
def deck_has(s, enhancement):
    """Return whether any card of the full deck has an enhancement."""
    for i in range(s.n_cards):
        if s.cards[i].enhancement == enhancement and s.cards[i].place != Place.GONE:
            return True
    return False


@rule
def joker_available(s, joker):
    """Return whether the pool can offer a joker now."""
    if (s.used[joker] and not s.rules & Rule.SHOWMAN) or barred(s, JOKER_LOCKS + joker):
        return False
    if J_GATE[joker]:
        return deck_has(s, J_GATE[joker])
    if J_EXTINCTION[joker] == Extinction.BEFORE:
        return s.gros_michel_extinct == 0
    return J_EXTINCTION[joker] == Extinction.ALWAYS or s.gros_michel_extinct != 0


@rule
def consumable_available(s, consumable):
    """Return whether the pool can offer a consumable now; secret planets only after their hand was played."""
    if not C_IN_POOL[consumable] or (s.used[CONSUMABLE_KEYS + consumable] and not s.rules & Rule.SHOWMAN):
        return False
    if barred(s, CONSUMABLE_LOCKS + consumable):
        return False
    return not C_SOFTLOCKED[consumable] or s.plays[C_HAND[consumable]] > 0


@rule
def draw_joker(s, stream, rarity):
    """Draw a joker of a rarity on `stream`."""
    n = POOL_SIZE[rarity]
    depth = 0
    while True:
        joker = int(POOL[rarity, int(roll_resample(s, stream, depth) * n)])
        if joker_available(s, joker):
            return joker
        if depth == 0 and not any_joker_available(s, rarity):
            return int(Joker.JOKER)
        depth = max(2, depth + 1)


@rule
def any_joker_available(s, rarity):
    """Return whether any joker of a rarity is available."""
    for i in range(POOL_SIZE[rarity]):
        if joker_available(s, int(POOL[rarity, i])):
            return True
    return False


@rule
def draw_consumable(s, stream, first, n, fallback):
    """Draw a consumable among numbers first..first+n-1 on `stream`."""
    depth = 0
    while True:
        consumable = first + int(roll_resample(s, stream, depth) * n)
        if consumable_available(s, consumable):
            return consumable
        if depth == 0 and not any_consumable_available(s, first, n):
            return int(fallback)
        depth = max(2, depth + 1)


@rule
def any_consumable_available(s, first, n):
    """Return whether any of these consumables is available."""
    for consumable in range(first, first + n):
        if consumable_available(s, consumable):
            return True
    return False


@rule
def draw_tarot(s, stream):
    """Draw a Tarot on `stream`."""
    return draw_consumable(s, stream, FIRST_TAROT, N_TAROTS, int(Consumable.STRENGTH))


@rule
def draw_planet(s, stream):
    """Draw a Planet on `stream`."""
    return draw_consumable(s, stream, FIRST_PLANET, N_PLANETS, int(Consumable.PLUTO))


@rule
def draw_spectral(s, stream):
    """Draw a Spectral on `stream`; the places of The Soul and Black Hole always miss."""
    return draw_consumable(s, stream, FIRST_SPECTRAL, N_SPECTRALS, int(Consumable.INCANTATION))


@rule
def voucher_available(s, voucher):
    """Return whether a voucher can be offered: not redeemed or in the shop, first tier redeemed, not excluded."""
    if s.vouchers[voucher] or (V_REQUIRES[voucher] and not s.vouchers[V_REQUIRES[voucher]]):
        return False
    if barred(s, VOUCHER_LOCKS + voucher):
        return False
    for i in range(s.n_shop_vouchers):
        if s.shop_vouchers[i] == voucher:
            return False
    return True


@rule
def draw_voucher(s, stream):
    """Draw a voucher on `stream`."""
    depth = 0
    while True:
        voucher = 1 + int(roll_resample(s, stream, depth) * N_VOUCHERS)
        if voucher_available(s, voucher):
            return voucher
        if depth == 0:
            found = False
            for other in range(1, N_VOUCHERS + 1):
                found = found or voucher_available(s, other)
            if not found:
                return int(Voucher.BLANK)
        depth = max(2, depth + 1)


@rule
def tag_available(s, tag):
    """Return whether a tag is available in this ante; antes below 1 offer the tags of ante 1."""
    return TAG_MIN_ANTE[tag] <= max(1, int(s.ante)) and not barred(s, TAG_LOCKS + tag)


@rule
def draw_tag(s):
    """Draw a tag for this ante; every ante has tags that are never excluded."""
    depth = 0
    while True:
        tag = 1 + int(roll_resample(s, Stream.TAG, depth) * N_TAGS)
        if tag_available(s, tag):
            return tag
        depth = max(2, depth + 1)


@rule
def boss_eligible(s, boss):
    """Return whether a boss can be drawn now: showdown bosses in every eighth ante, others from their first ante on."""
    if barred(s, BLIND_LOCKS + boss):
        return False
    ante = int(s.ante)
    showdown = ante >= 2 and ante % SHOWDOWN_EVERY == 0
    if BLIND_SHOWDOWN[boss]:
        return showdown
    return not showdown and BLIND_MIN_ANTE[boss] <= max(1, ante)


@rule
def draw_boss(s):
    """Draw one of the eligible bosses with the fewest uses and count its use."""
    least = 1 << 30
    for i in range(len(BOSS_ORDER)):
        boss = BOSS_ORDER[i]
        if boss_eligible(s, boss):
            least = min(least, int(s.boss_uses[boss]))
    n = 0
    for i in range(len(BOSS_ORDER)):
        if boss_eligible(s, BOSS_ORDER[i]) and s.boss_uses[BOSS_ORDER[i]] == least:
            n += 1
    k = pick(s, Stream.BOSS, n)
    for i in range(len(BOSS_ORDER)):
        boss = int(BOSS_ORDER[i])
        if boss_eligible(s, boss) and s.boss_uses[boss] == least:
            if k == 0:
                s.boss_uses[boss] += 1
                return boss
            k -= 1
    return int(Blind.NONE)
