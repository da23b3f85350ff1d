"""The contents of booster packs."""

from ante.catalog.cards import Seal
from ante.catalog.packs import PackKind
from ante.catalog.shop import STANDARD_EDITION_TIMES, STANDARD_ENHANCED_ABOVE, STANDARD_SEAL_ABOVE
from ante.engine.core.rng import Stream, roll
from ante.engine.core.rule import rule
from ante.engine.core.state import N_HANDS
from ante.engine.core.tables import PACK_CHOOSE, PACK_KIND, PACK_SIZE, PLANET_OF_HAND, SEAL_ABOVE
from ante.engine.items.making import (
    clear_item,
    make_given_consumable,
    make_joker,
    make_planet,
    make_playing_card,
    make_spectral,
    make_tarot,
    roll_edition,
)
from ante.engine.items.owned import release
from ante.engine.items.prices import price
from ante.engine.items.sources import CardSource, JokerSource, PlanetSource, SpectralSource, TarotSource
from ante.engine.items.vouchers import arcana_gives_spectral, telescope_works


@rule
def open_pack_contents(s, pack):
    """Make the pack's cards in s.pack, each with the previous ones and the shop row in the set of used items."""
    s.pack_id = pack
    s.picks_left = PACK_CHOOSE[pack]
    s.n_pack = 0
    for i in range(PACK_SIZE[pack]):
        make_pack_card(s, PACK_KIND[pack], i)
        s.pack[i] = s.made
        s.n_pack += 1


@rule
def make_pack_card(s, kind, place):
    """Draw one card of a pack into s.made."""
    if kind == PackKind.ARCANA:
        if arcana_gives_spectral(s):
            make_spectral(s, int(SpectralSource.AR2), True)
        else:
            make_tarot(s, int(TarotSource.AR1), True)
    elif kind == PackKind.CELESTIAL:
        hand = most_played_hand(s) if telescope_works(s, place) else -1
        if hand >= 0:
            make_given_consumable(s, int(PLANET_OF_HAND[hand]))
        else:
            make_planet(s, int(PlanetSource.PL1), True)
    elif kind == PackKind.SPECTRAL:
        make_spectral(s, int(SpectralSource.SPE), True)
    elif kind == PackKind.STANDARD:
        make_standard_card(s)
    else:
        make_joker(s, int(JokerSource.BUF), False, True)


@rule
def most_played_hand(s):
    """Return the visible hand played most this run, the better one of equals; -1 if none was played."""
    best = -1
    for hand in range(N_HANDS):
        if s.plays[hand] > 0 and (best < 0 or s.plays[hand] > s.plays[best]):
            best = hand
    return best


@rule
def make_standard_card(s):
    """Draw a Standard pack's playing card into s.made, with its edition and seal."""
    make_playing_card(s, int(CardSource.STA), roll(s, Stream.STDSET) > STANDARD_ENHANCED_ABOVE)
    s.made.edition = roll_edition(s, Stream.STANDARD_EDITION, STANDARD_EDITION_TIMES, False)
    if roll(s, Stream.STDSEAL) > STANDARD_SEAL_ABOVE:
        s.made.seal = seal_of(roll(s, Stream.STDSEALTYPE))
    price(s, s.made)


@rule
def seal_of(u):
    """Return the Seal for a roll."""
    if u > SEAL_ABOVE[Seal.RED]:
        return int(Seal.RED)
    if u > SEAL_ABOVE[Seal.BLUE]:
        return int(Seal.BLUE)
    return int(Seal.GOLD) if u > SEAL_ABOVE[Seal.GOLD] else int(Seal.PURPLE)


@rule
def close_pack(s):
    """Remove the pack; the keys of its remaining cards become available."""
    for i in range(s.n_pack):
        kind, number = int(s.pack[i].kind), int(s.pack[i].id)
        clear_item(s.pack[i])
        release(s, kind, number)
    s.n_pack = 0
    s.picks_left = 0
