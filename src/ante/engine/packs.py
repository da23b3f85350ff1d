"""What lies in a booster pack."""

from ante.catalog.packs import PackKind
from ante.catalog.vouchers import Voucher
from ante.engine.create import (
    Source,
    clear_item,
    make_given_consumable,
    make_joker,
    make_planet,
    make_playing_card,
    make_spectral,
    make_tarot,
    price,
    release,
    roll_edition,
)
from ante.engine.numbers import PACK_CHOOSE, PACK_KIND, PACK_SIZE, PLANET_OF_HAND
from ante.engine.rng import Stream, roll
from ante.engine.rule import rule

SPECTRAL_ABOVE = 0.8
ENHANCED_ABOVE = 0.6
SEAL_ABOVE = 0.8


@rule
def open_pack_contents(s, pack):
    """The pack's cards lie open in s.pack; each is made with the ones before it, and the shop row, in the used set."""
    s.pack_id = pack
    s.picks_left = PACK_CHOOSE[pack]
    s.n_pack = 0
    for i in range(PACK_SIZE[pack]):
        make_pack_card(s, PACK_KIND[pack], i)
        s.pack[i] = s.made
        s.n_pack += 1


@rule
def make_pack_card(s, kind, place):
    """One card of a pack stands in s.made."""
    if kind == PackKind.ARCANA:
        if s.vouchers[Voucher.OMEN_GLOBE] and roll(s, Stream.OMEN_GLOBE) > SPECTRAL_ABOVE:
            make_spectral(s, int(Source.AR2), True)
        else:
            make_tarot(s, int(Source.AR1), True)
    elif kind == PackKind.CELESTIAL:
        hand = most_played_hand(s) if place == 0 and s.vouchers[Voucher.TELESCOPE] else -1
        if hand >= 0:
            make_given_consumable(s, int(PLANET_OF_HAND[hand]))
        else:
            make_planet(s, int(Source.PL1), True)
    elif kind == PackKind.SPECTRAL:
        make_spectral(s, int(Source.SPE), True)
    elif kind == PackKind.STANDARD:
        make_standard_card(s)
    else:
        make_joker(s, int(Source.BUF), False, True)


@rule
def most_played_hand(s):
    """The visible hand played most this run, the better one of equals; -1 where none has been played."""
    best = -1
    for hand in range(12):
        if s.plays[hand] > 0 and (best < 0 or s.plays[hand] > s.plays[best]):
            best = hand
    return best


@rule
def make_standard_card(s):
    """A Standard pack's playing card stands in s.made, with its edition and seal."""
    make_playing_card(s, int(Source.STA), roll(s, Stream.STDSET) > ENHANCED_ABOVE)
    s.made.edition = roll_edition(s, Stream.STANDARD_EDITION, 2.0, False)
    if roll(s, Stream.STDSEAL) > SEAL_ABOVE:
        s.made.seal = seal_of(roll(s, Stream.STDSEALTYPE))
    price(s, s.made)


@rule
def seal_of(u):
    """The Seal that a roll names."""
    if u > 0.75:
        return 2
    if u > 0.5:
        return 3
    return 1 if u > 0.25 else 4


@rule
def close_pack(s):
    """The pack is gone; cards left in it free their keys."""
    for i in range(s.n_pack):
        kind, number = int(s.pack[i].kind), int(s.pack[i].id)
        clear_item(s.pack[i])
        release(s, kind, number)
    s.n_pack = 0
    s.picks_left = 0
