"""The effects of Tarots, Planets and Spectrals: a comment with the card's text, then its functions by moment.

`cards` are the chosen hand positions as bits. An effect changes the game; the caller removes the used card, counts it
and fires the moments of the line-up.
"""

from ante.catalog.cards import N_RANKS, N_SUITS, TWO, Edition, Enhancement, Sticker, Suit
from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL, Consumable
from ante.engine.core.rng import Stream, chance, pick, shuffle
from ante.engine.core.rule import rule
from ante.engine.core.state import N_HANDS, Phase, Place
from ante.engine.core.tables import (
    C_CAP,
    C_COUNT,
    C_DESTROYED,
    C_DOLLARS,
    C_ENHANCEMENT,
    C_HAND,
    C_HAND_SIZE,
    C_HIGHEST,
    C_LEVELS,
    C_LOWEST,
    C_MAX_CARDS,
    C_MIN_CARDS,
    C_ODDS,
    C_RANKS,
    C_SEAL,
    C_SUIT,
)
from ante.engine.effects.active_boss import debuff_card
from ante.engine.effects.moments import ConsumableMoment, on
from ante.engine.effects.verbs import copy_card, destroy_card, level_up, set_enhancement
from ante.engine.items.card_array import add_card, put_in_hand
from ante.engine.items.making import roll_sure_edition
from ante.engine.items.owned import (
    copy_joker,
    create_given_consumable,
    create_joker,
    create_planet,
    create_tarot,
    free_consumable_slots,
    negatives,
    pick_joker,
    remove_joker,
    room_for_joker,
)
from ante.engine.items.prices import price, sell_value
from ante.engine.items.sources import JokerSource, PlanetSource, TarotSource

SUIT_OF_DRAW = (int(Suit.SPADES), int(Suit.HEARTS), int(Suit.DIAMONDS), int(Suit.CLUBS))
N_ENHANCEMENTS = len(Enhancement) - 1


# Shared functions.


@rule
def takes_cards(s, consumable, cards):
    """Return whether the number of chosen cards is within the bounds of the row; any number if it needs none."""
    if cards >> int(s.n_hand):
        return False
    if not C_MAX_CARDS[consumable]:
        return True
    n = 0
    while cards:
        cards &= cards - 1
        n += 1
    return has_dealt_hand(s) and C_MIN_CARDS[consumable] <= n <= C_MAX_CARDS[consumable]


@rule
def has_dealt_hand(s):
    """Return whether a hand is drawn that a consumable can act on."""
    return s.n_hand > 0 and (s.phase == Phase.PLAY or s.phase == Phase.PACK)


@rule
def first_position(cards):
    """Return the leftmost hand position of a set."""
    position = 0
    while not (cards >> position) & 1:
        position += 1
    return position


@rule
def editionless(s):
    """Return the slots of the jokers without an edition, as bits."""
    slots = 0
    for i in range(s.n_jokers):
        if s.jokers[i].edition == Edition.NONE:
            slots |= 1 << i
    return slots


@rule
def give_edition(s, slot, edition):
    """Give a joker an edition and update its price."""
    s.jokers[slot].edition = edition
    price(s, s.jokers[slot])
    s.lineup_stale = 1


@rule
def destroy_other_jokers(s, kept):
    """Remove every joker except the one in slot `kept` and the Eternal ones. Returns the new slot of the kept one."""
    for i in range(s.n_jokers - 1, -1, -1):
        if i != kept and not s.jokers[i].stickers & Sticker.ETERNAL:
            remove_joker(s, i)
            if i < kept:
                kept -= 1
    return kept


# Consumables that give an edition to a joker can be used only if a joker has none.
@on(ConsumableMoment.ALLOWED, Consumable.WHEEL_OF_FORTUNE, Consumable.ECTOPLASM, Consumable.HEX)
def has_editionless(s, consumable, cards, freed):
    """Require an editionless joker."""
    return editionless(s) != 0


# Spectrals that change or destroy cards of the whole hand can be used only with at least two cards.
@on(
    ConsumableMoment.ALLOWED,
    Consumable.FAMILIAR,
    Consumable.GRIM,
    Consumable.INCANTATION,
    Consumable.SIGIL,
    Consumable.OUIJA,
    Consumable.IMMOLATE,
)
def has_cards(s, consumable, cards, freed):
    """Require a drawn hand of more than one card."""
    return has_dealt_hand(s) and s.n_hand > 1


# Tarots.


# The Fool: creates the last Tarot or Planet used this run (not The Fool).
@on(ConsumableMoment.ALLOWED, Consumable.FOOL)
def fool_allowed(s, consumable, cards, freed):
    """Require a consumable to copy, and a consumable slot."""
    return s.last_consumable != 0 and s.last_consumable != Consumable.FOOL and free_consumable_slots(s) + freed > 0


@on(ConsumableMoment.USED, Consumable.FOOL)
def fool(s, consumable, cards, freed):
    """Create the consumable."""
    create_given_consumable(s, int(s.last_consumable))


# The Magician, The Empress, The Hierophant, The Lovers, The Chariot, Justice, The Devil, The Tower: turn selected cards
# into cards of an enhancement.
@on(
    ConsumableMoment.USED,
    Consumable.MAGICIAN,
    Consumable.EMPRESS,
    Consumable.HEIROPHANT,
    Consumable.LOVERS,
    Consumable.CHARIOT,
    Consumable.JUSTICE,
    Consumable.DEVIL,
    Consumable.TOWER,
)
def enhance(s, consumable, cards, freed):
    """Set the enhancement."""
    for position in range(s.n_hand):
        if (cards >> position) & 1:
            set_enhancement(s, int(s.hand[position]), int(C_ENHANCEMENT[consumable]))


# The High Priestess: creates Planets. The Emperor: creates Tarots. Both need room.
@on(ConsumableMoment.ALLOWED, Consumable.HIGH_PRIESTESS, Consumable.EMPEROR)
def consumable_has_room(s, consumable, cards, freed):
    """Require a consumable slot."""
    return free_consumable_slots(s) + freed > 0


@on(ConsumableMoment.USED, Consumable.HIGH_PRIESTESS)
def high_priestess(s, consumable, cards, freed):
    """Create as many as fit."""
    for _ in range(C_COUNT[consumable]):
        create_planet(s, int(PlanetSource.PRI))


@on(ConsumableMoment.USED, Consumable.EMPEROR)
def emperor(s, consumable, cards, freed):
    """Create as many as fit."""
    for _ in range(C_COUNT[consumable]):
        create_tarot(s, int(TarotSource.EMP))


# The Hermit: doubles money, up to a cap.
@on(ConsumableMoment.USED, Consumable.HERMIT)
def hermit(s, consumable, cards, freed):
    """Add the current dollars up to the cap; a debt adds nothing."""
    s.dollars += min(C_CAP[consumable], max(0, int(s.dollars)))


# The Wheel of Fortune: may give a random editionless joker Foil, Holographic or Polychrome.
@on(ConsumableMoment.USED, Consumable.WHEEL_OF_FORTUNE)
def wheel_of_fortune(s, consumable, cards, freed):
    """Give the edition with probability 1 in `odds`."""
    if chance(s, Stream.WHEEL_OF_FORTUNE, C_ODDS[consumable]):
        slot = pick_joker(s, Stream.WHEEL_OF_FORTUNE, editionless(s))
        give_edition(s, slot, roll_sure_edition(s, Stream.WHEEL_OF_FORTUNE))


# Strength: raises the rank of selected cards; an Ace becomes a 2.
@on(ConsumableMoment.USED, Consumable.STRENGTH)
def strength(s, consumable, cards, freed):
    """Raise the ranks."""
    for position in range(s.n_hand):
        if (cards >> position) & 1:
            card = s.cards[s.hand[position]]
            card.rank = TWO + (int(card.rank) - TWO + C_RANKS[consumable]) % N_RANKS
            debuff_card(s, int(s.hand[position]))


# The Hanged Man: destroys selected cards.
@on(ConsumableMoment.USED, Consumable.HANGED_MAN)
def hanged_man(s, consumable, cards, freed):
    """Destroy them from right to left, since the hand closes up."""
    for position in range(s.n_hand - 1, -1, -1):
        if (cards >> position) & 1:
            destroy_card(s, int(s.hand[position]))


# Death: the left selected card becomes a copy of the right one.
@on(ConsumableMoment.USED, Consumable.DEATH)
def death(s, consumable, cards, freed):
    """Copy the card."""
    left = first_position(cards)
    right = first_position(cards & (cards - 1))
    copy_card(s, int(s.hand[right]), int(s.hand[left]))


# Temperance: gives the total sell value of the jokers, up to a cap.
@on(ConsumableMoment.USED, Consumable.TEMPERANCE)
def temperance(s, consumable, cards, freed):
    """Add the total sell value."""
    total = 0
    for i in range(s.n_jokers):
        total += sell_value(s.jokers[i])
    s.dollars += min(C_CAP[consumable], total)


# The Star, The Moon, The Sun, The World: turn selected cards into a suit.
@on(ConsumableMoment.USED, Consumable.STAR, Consumable.MOON, Consumable.SUN, Consumable.WORLD)
def change_suit(s, consumable, cards, freed):
    """Set the suit."""
    for position in range(s.n_hand):
        if (cards >> position) & 1:
            s.cards[s.hand[position]].suit = C_SUIT[consumable]
            debuff_card(s, int(s.hand[position]))


# Judgement: creates a random joker. The Soul: creates a Legendary joker. Wraith: creates a random Rare joker and sets
# money to $0.
@on(ConsumableMoment.ALLOWED, Consumable.JUDGEMENT, Consumable.SOUL, Consumable.WRAITH)
def joker_has_room(s, consumable, cards, freed):
    """Require a joker slot."""
    return room_for_joker(s)


@on(ConsumableMoment.USED, Consumable.JUDGEMENT)
def judgement(s, consumable, cards, freed):
    """Create the joker."""
    create_joker(s, int(JokerSource.JUD))


@on(ConsumableMoment.USED, Consumable.SOUL)
def soul(s, consumable, cards, freed):
    """Create the joker."""
    create_joker(s, int(JokerSource.SOU))


@on(ConsumableMoment.USED, Consumable.WRAITH)
def wraith(s, consumable, cards, freed):
    """Create the joker and set money to $0."""
    create_joker(s, int(JokerSource.WRA))
    s.dollars = 0


# Planets.


# Mercury to Eris: each raises the level of its hand.
@on(ConsumableMoment.USED, *(Consumable(number) for number in range(FIRST_PLANET, FIRST_SPECTRAL)))
def planet(s, consumable, cards, freed):
    """Raise the level."""
    level_up(s, int(C_HAND[consumable]), int(C_LEVELS[consumable]))


# Spectrals.


# Familiar, Grim, Incantation: destroy a random card of the hand and add random enhanced face cards, Aces or number cards.
@on(ConsumableMoment.USED, Consumable.FAMILIAR, Consumable.GRIM, Consumable.INCANTATION)
def replace_cards(s, consumable, cards, freed):
    """Destroy a card, then create cards that are never Stone cards."""
    for _ in range(C_DESTROYED[consumable]):
        destroy_random_card(s)
    stream = int(Stream.INCANTATION_CREATE)
    if consumable == Consumable.FAMILIAR:
        stream = int(Stream.FAMILIAR_CREATE)
    elif consumable == Consumable.GRIM:
        stream = int(Stream.GRIM_CREATE)
    lowest = int(C_LOWEST[consumable])
    ranks = int(C_HIGHEST[consumable]) - lowest + 1
    for _ in range(C_COUNT[consumable]):
        rank = lowest + (pick(s, stream, ranks) if ranks > 1 else 0)
        suit = SUIT_OF_DRAW[pick(s, stream, N_SUITS)]
        enhancement = 1 + pick(s, Stream.SPE_CARD, N_ENHANCEMENTS - 1)
        if enhancement >= Enhancement.STONE:
            enhancement += 1
        index = add_card(s, rank, suit, enhancement, 0, 0)
        if index >= 0:
            put_in_hand(s, index)


@rule
def destroy_random_card(s):
    """Destroy a random card of the hand, drawn by creation number."""
    k = pick(s, Stream.RANDOM_DESTROY, int(s.n_hand))
    for i in range(s.n_cards):
        if s.cards[i].place == Place.HAND:
            if k == 0:
                destroy_card(s, i)
                return
            k -= 1


# Talisman, Deja Vu, Trance, Medium: add a seal to a selected card.
@on(ConsumableMoment.USED, Consumable.TALISMAN, Consumable.DEJA_VU, Consumable.TRANCE, Consumable.MEDIUM)
def add_seal(s, consumable, cards, freed):
    """Set the seal."""
    s.cards[s.hand[first_position(cards)]].seal = C_SEAL[consumable]


# Aura: gives a selected card Foil, Holographic or Polychrome.
@on(ConsumableMoment.ALLOWED, Consumable.AURA)
def aura_allowed(s, consumable, cards, freed):
    """Require a card without an edition."""
    return s.cards[s.hand[first_position(cards)]].edition == Edition.NONE


@on(ConsumableMoment.USED, Consumable.AURA)
def aura(s, consumable, cards, freed):
    """Set the edition."""
    s.cards[s.hand[first_position(cards)]].edition = roll_sure_edition(s, Stream.AURA)


# Sigil: turns every card in hand into one random suit.
@on(ConsumableMoment.USED, Consumable.SIGIL)
def sigil(s, consumable, cards, freed):
    """Set the suits."""
    suit = SUIT_OF_DRAW[pick(s, Stream.SIGIL, N_SUITS)]
    for i in range(s.n_hand):
        s.cards[s.hand[i]].suit = suit
        debuff_card(s, int(s.hand[i]))


# Ouija: turns every card in hand into one random rank, for a smaller hand size.
@on(ConsumableMoment.USED, Consumable.OUIJA)
def ouija(s, consumable, cards, freed):
    """Set the ranks and the hand size."""
    rank = TWO + pick(s, Stream.OUIJA, N_RANKS)
    for i in range(s.n_hand):
        s.cards[s.hand[i]].rank = rank
        debuff_card(s, int(s.hand[i]))
    s.base_hand_size += C_HAND_SIZE[consumable]
    s.lineup_stale = 1


# Ectoplasm: adds Negative to a random editionless joker; reduces the hand size by more with each use.
@on(ConsumableMoment.USED, Consumable.ECTOPLASM)
def ectoplasm(s, consumable, cards, freed):
    """Give the edition and set the hand size."""
    give_edition(s, pick_joker(s, Stream.ECTOPLASM, editionless(s)), int(Edition.NEGATIVE))
    s.ectoplasms += 1
    s.base_hand_size += C_HAND_SIZE[consumable] * int(s.ectoplasms)


# Immolate: destroys random cards in hand and gives money.
@on(ConsumableMoment.USED, Consumable.IMMOLATE)
def immolate(s, consumable, cards, freed):
    """Destroy the first cards of the shuffled hand."""
    n = 0
    for i in range(s.n_cards):
        if s.cards[i].place == Place.HAND:
            s.order[n] = i
            n += 1
    shuffle(s, Stream.IMMOLATE, s.order, n)
    for i in range(min(C_DESTROYED[consumable], n)):
        destroy_card(s, int(s.order[i]))
    s.dollars += C_DOLLARS[consumable]


# Ankh: copies a random joker and destroys all others (Eternals stay; Negative is removed from the copy).
@on(ConsumableMoment.ALLOWED, Consumable.ANKH)
def ankh_allowed(s, consumable, cards, freed):
    """Require a joker, and slots for two."""
    return s.n_jokers > 0 and s.joker_slots + negatives(s.jokers, s.n_jokers) > 1


@on(ConsumableMoment.USED, Consumable.ANKH)
def ankh(s, consumable, cards, freed):
    """Destroy the others, then copy."""
    slot = destroy_other_jokers(s, pick_joker(s, Stream.ANKH_CHOICE, (1 << int(s.n_jokers)) - 1))
    copy_joker(s, slot, True)


# Hex: adds Polychrome to a random editionless joker and destroys all other jokers (not Eternals).
@on(ConsumableMoment.USED, Consumable.HEX)
def hex_joker(s, consumable, cards, freed):
    """Destroy the others, then give the edition."""
    slot = destroy_other_jokers(s, pick_joker(s, Stream.HEX, editionless(s)))
    give_edition(s, slot, int(Edition.POLYCHROME))


# Cryptid: adds copies of a selected card to the deck and the hand.
@on(ConsumableMoment.USED, Consumable.CRYPTID)
def cryptid(s, consumable, cards, freed):
    """Create the copies."""
    index = int(s.hand[first_position(cards)])
    for _ in range(C_COUNT[consumable]):
        card = s.cards[index]
        copy = add_card(s, int(card.rank), int(card.suit), 0, 0, 0)
        if copy >= 0:
            copy_card(s, index, copy)
            put_in_hand(s, copy)


# Black Hole: raises the level of every poker hand.
@on(ConsumableMoment.USED, Consumable.BLACK_HOLE)
def black_hole(s, consumable, cards, freed):
    """Raise the levels."""
    for hand in range(N_HANDS):
        level_up(s, hand, int(C_LEVELS[consumable]))
