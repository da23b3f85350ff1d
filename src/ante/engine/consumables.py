"""What the 22 tarots, 12 planets and 18 spectrals do, and when they can be used.

`cards` is always a set of hand positions as bits. Effects write to the game; the caller takes the used card away,
counts it and lets the line-up answer.
"""

from ante.catalog.cards import Edition, Enhancement, Seal, Sticker, Suit
from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL, Consumable
from ante.engine.bosses import debuff_card
from ante.engine.create import (
    Source,
    add_card,
    copy_joker,
    create_given_consumable,
    create_joker,
    create_planet,
    create_tarot,
    negatives,
    price,
    put_in_hand,
    remove_joker,
    roll_sure_edition,
    room_for_consumable,
    room_for_joker,
    sell_value,
)
from ante.engine.numbers import C_HAND, C_MAX_CARDS, C_MIN_CARDS
from ante.engine.rng import Stream, chance, pick, shuffle
from ante.engine.rule import rule
from ante.engine.state import MAX_JOKERS, Phase, Place
from ante.engine.verbs import copy_card, destroy_card, level_up, set_enhancement

ACE, TWO = 14, 2
SUIT_OF_DRAW = (0, 1, 3, 2)  # the draws of suits run Spades, Hearts, Diamonds, Clubs
HERMIT_CAP, TEMPERANCE_CAP, IMMOLATE_DOLLARS = 20, 50, 20
IMMOLATED = 5
WHEEL_ODDS = 4.0


@rule
def count_cards(s, cards):
    """How many hand positions the set names; -1 where one of them is empty."""
    if cards >> int(s.n_hand):
        return -1
    n = 0
    while cards:
        cards &= cards - 1
        n += 1
    return n


@rule
def has_dealt_hand(s):
    """Whether a hand lies there for a consumable to act on."""
    return s.n_hand > 0 and (s.phase == Phase.PLAY or s.phase == Phase.PACK)


@rule
def n_editionless(s):
    """How many jokers carry no edition."""
    n = 0
    for i in range(s.n_jokers):
        if s.jokers[i].edition == Edition.NONE:
            n += 1
    return n


@rule
def can_use(s, consumable, cards):
    """Whether a consumable can be used now on these hand positions."""
    n = count_cards(s, cards)
    if n < 0:
        return False
    if C_MAX_CARDS[consumable]:
        return has_dealt_hand(s) and max(1, C_MIN_CARDS[consumable]) <= n <= C_MAX_CARDS[consumable]
    if consumable == Consumable.AURA:
        return has_dealt_hand(s) and n == 1 and s.cards[s.hand[first_position(cards)]].edition == Edition.NONE
    if consumable >= FIRST_SPECTRAL:
        return can_use_spectral(s, consumable)
    if consumable == Consumable.FOOL:
        return s.last_consumable != 0 and s.last_consumable != Consumable.FOOL and room_for_consumable(s)
    if consumable == Consumable.HIGH_PRIESTESS or consumable == Consumable.EMPEROR:
        return room_for_consumable(s)
    if consumable == Consumable.WHEEL_OF_FORTUNE:
        return n_editionless(s) > 0
    if consumable == Consumable.JUDGEMENT:
        return room_for_joker(s)
    return True


@rule
def can_use_spectral(s, consumable):
    """Whether a spectral that takes no chosen card can be used now."""
    if consumable == Consumable.WRAITH or consumable == Consumable.SOUL:
        return room_for_joker(s)
    if consumable == Consumable.ECTOPLASM or consumable == Consumable.HEX:
        return n_editionless(s) > 0
    if consumable == Consumable.ANKH:
        return s.n_jokers > 0 and s.joker_slots + negatives(s.jokers, s.n_jokers) > 1
    if consumable == Consumable.BLACK_HOLE:
        return True
    return has_dealt_hand(s) and s.n_hand > 1


@rule
def first_position(cards):
    """The leftmost hand position of a set."""
    position = 0
    while not (cards >> position) & 1:
        position += 1
    return position


@rule
def use_consumable(s, consumable, cards):
    """The consumable takes effect. The caller has asked can_use."""
    if FIRST_PLANET <= consumable < FIRST_SPECTRAL:
        level_up(s, int(C_HAND[consumable]), 1)
    elif consumable >= FIRST_SPECTRAL:
        use_spectral(s, consumable, cards)
    elif C_MAX_CARDS[consumable]:
        use_on_cards(s, consumable, cards)
    else:
        use_plain_tarot(s, consumable)


@rule
def enhancement_of(consumable):
    """The enhancement a tarot gives, 0 for other tarots."""
    if consumable == Consumable.MAGICIAN:
        return int(Enhancement.LUCKY)
    if consumable == Consumable.EMPRESS:
        return int(Enhancement.MULT)
    if consumable == Consumable.HEIROPHANT:
        return int(Enhancement.BONUS)
    if consumable == Consumable.LOVERS:
        return int(Enhancement.WILD)
    if consumable == Consumable.CHARIOT:
        return int(Enhancement.STEEL)
    if consumable == Consumable.JUSTICE:
        return int(Enhancement.GLASS)
    if consumable == Consumable.DEVIL:
        return int(Enhancement.GOLD)
    return int(Enhancement.STONE) if consumable == Consumable.TOWER else 0


@rule
def suit_of(consumable):
    """The suit a tarot gives, -1 for other tarots."""
    if consumable == Consumable.STAR:
        return int(Suit.DIAMONDS)
    if consumable == Consumable.MOON:
        return int(Suit.CLUBS)
    if consumable == Consumable.SUN:
        return int(Suit.HEARTS)
    return int(Suit.SPADES) if consumable == Consumable.WORLD else -1


@rule
def use_on_cards(s, consumable, cards):
    """Tarots that change, turn or destroy chosen hand cards."""
    if consumable == Consumable.DEATH:
        death(s, cards)
        return
    enhancement, suit = enhancement_of(consumable), suit_of(consumable)
    for position in range(s.n_hand - 1, -1, -1):
        if not (cards >> position) & 1:
            continue
        index = int(s.hand[position])
        card = s.cards[index]
        if enhancement:
            set_enhancement(s, index, enhancement)
        elif suit >= 0:
            card.suit = suit
            debuff_card(s, index)
        elif consumable == Consumable.STRENGTH:
            card.rank = TWO if card.rank == ACE else card.rank + 1
            debuff_card(s, index)
        else:
            destroy_card(s, index)


@rule
def death(s, cards):
    """The left chosen card becomes a copy of the right one."""
    left = first_position(cards)
    right = left + 1
    while not (cards >> right) & 1:
        right += 1
    copy_card(s, int(s.hand[right]), int(s.hand[left]))


@rule
def use_plain_tarot(s, consumable):
    """Tarots that need no chosen card."""
    if consumable == Consumable.FOOL:
        create_given_consumable(s, int(s.last_consumable))
    elif consumable == Consumable.HIGH_PRIESTESS:
        for _ in range(2):
            create_planet(s, int(Source.PRI))
    elif consumable == Consumable.EMPEROR:
        for _ in range(2):
            create_tarot(s, int(Source.EMP))
    elif consumable == Consumable.HERMIT:
        s.dollars += min(HERMIT_CAP, max(0, int(s.dollars)))
    elif consumable == Consumable.TEMPERANCE:
        total = 0
        for i in range(s.n_jokers):
            total += sell_value(s.jokers[i])
        s.dollars += min(TEMPERANCE_CAP, total)
    elif consumable == Consumable.JUDGEMENT:
        create_joker(s, int(Source.JUD))
    elif consumable == Consumable.WHEEL_OF_FORTUNE:
        if chance(s, Stream.WHEEL_OF_FORTUNE, WHEEL_ODDS):
            slot = pick_editionless(s, int(Stream.WHEEL_OF_FORTUNE))
            give_edition(s, slot, roll_sure_edition(s, Stream.WHEEL_OF_FORTUNE))


@rule
def pick_joker(s, stream, editionless):
    """Slot of a random joker, drawn by creation number; only those without an edition where `editionless`."""
    n = n_editionless(s) if editionless else int(s.n_jokers)
    k = pick(s, stream, n)
    for i in range(s.n_jokers):
        if editionless and s.jokers[i].edition != Edition.NONE:
            continue
        older = 0
        for j in range(s.n_jokers):
            counts = not editionless or s.jokers[j].edition == Edition.NONE
            if counts and s.jokers[j].created < s.jokers[i].created:
                older += 1
        if older == k:
            return i
    return 0


@rule
def pick_editionless(s, stream):
    """Slot of a random joker without an edition."""
    return pick_joker(s, stream, True)


@rule
def give_edition(s, slot, edition):
    """A joker carries an edition, and its price with it."""
    s.jokers[slot].edition = edition
    price(s, s.jokers[slot])
    s.lineup_stale = 1


@rule
def destroy_other_jokers(s, kept):
    """Every joker but the one in slot `kept` and the Eternal ones is gone. Answers where the kept one stands now."""
    for i in range(s.n_jokers - 1, -1, -1):
        if i != kept and not s.jokers[i].stickers & Sticker.ETERNAL:
            remove_joker(s, i)
            if i < kept:
                kept -= 1
    return kept


@rule
def seal_of_spectral(consumable):
    """The seal a spectral gives, 0 for other spectrals."""
    if consumable == Consumable.TALISMAN:
        return int(Seal.GOLD)
    if consumable == Consumable.DEJA_VU:
        return int(Seal.RED)
    if consumable == Consumable.TRANCE:
        return int(Seal.BLUE)
    return int(Seal.PURPLE) if consumable == Consumable.MEDIUM else 0


@rule
def use_spectral(s, consumable, cards):
    """Spectrals, chosen cards first."""
    if C_MAX_CARDS[consumable] or consumable == Consumable.AURA:
        index = int(s.hand[first_position(cards)])
        if consumable == Consumable.AURA:
            s.cards[index].edition = roll_sure_edition(s, Stream.AURA)
        elif consumable == Consumable.CRYPTID:
            cryptid(s, index)
        else:
            s.cards[index].seal = seal_of_spectral(consumable)
    elif consumable == Consumable.BLACK_HOLE:
        for hand in range(12):
            level_up(s, hand, 1)
    elif consumable == Consumable.WRAITH:
        create_joker(s, int(Source.WRA))
        s.dollars = 0
    elif consumable == Consumable.SOUL:
        create_joker(s, int(Source.SOU))
    elif consumable >= Consumable.ECTOPLASM:
        use_joker_spectral(s, consumable)
    else:
        use_hand_spectral(s, consumable)


@rule
def cryptid(s, index):
    """Two copies of a card join the deck and the hand."""
    for _ in range(2):
        card = s.cards[index]
        copy = add_card(s, int(card.rank), int(card.suit), 0, 0, 0)
        if copy >= 0:
            copy_card(s, index, copy)
            put_in_hand(s, copy)


@rule
def use_joker_spectral(s, consumable):
    """Ectoplasm, Hex and Ankh; Immolate stands between them in the catalogue."""
    if consumable == Consumable.ECTOPLASM:
        give_edition(s, pick_joker(s, int(Stream.ECTOPLASM), True), int(Edition.NEGATIVE))
        s.ectoplasms += 1
        s.base_hand_size -= s.ectoplasms
    elif consumable == Consumable.HEX:
        slot = pick_joker(s, int(Stream.HEX), True)
        slot = destroy_other_jokers(s, slot)
        give_edition(s, slot, int(Edition.POLYCHROME))
    elif consumable == Consumable.ANKH:
        slot = destroy_other_jokers(s, pick_joker(s, int(Stream.ANKH_CHOICE), False))
        if s.n_jokers < MAX_JOKERS:
            copy_joker(s, slot, True)
    else:
        immolate(s)


@rule
def immolate(s):
    """Five random hand cards are destroyed for $20."""
    n = 0
    for i in range(s.n_cards):
        if s.cards[i].place == Place.HAND:
            s.order[n] = i
            n += 1
    shuffle(s, Stream.IMMOLATE, s.order, n)
    for i in range(min(IMMOLATED, n)):
        destroy_card(s, int(s.order[i]))
    s.dollars += IMMOLATE_DOLLARS


@rule
def use_hand_spectral(s, consumable):
    """Familiar, Grim, Incantation, Sigil and Ouija."""
    if consumable == Consumable.SIGIL:
        suit = SUIT_OF_DRAW[pick(s, Stream.SIGIL, 4)]
        for i in range(s.n_hand):
            s.cards[s.hand[i]].suit = suit
            debuff_card(s, int(s.hand[i]))
    elif consumable == Consumable.OUIJA:
        rank = TWO + pick(s, Stream.OUIJA, 13)
        for i in range(s.n_hand):
            s.cards[s.hand[i]].rank = rank
            debuff_card(s, int(s.hand[i]))
        s.base_hand_size -= 1
        s.lineup_stale = 1
    else:
        destroy_random_card(s)
        if consumable == Consumable.FAMILIAR:
            make_cards(s, int(Stream.FAMILIAR_CREATE), 3, 11, 3)
        elif consumable == Consumable.GRIM:
            make_cards(s, int(Stream.GRIM_CREATE), 2, ACE, 1)
        else:
            make_cards(s, int(Stream.INCANTATION_CREATE), 4, TWO, 9)


@rule
def destroy_random_card(s):
    """A random card of the hand, drawn by creation number, is destroyed."""
    k = pick(s, Stream.RANDOM_DESTROY, int(s.n_hand))
    for i in range(s.n_cards):
        if s.cards[i].place == Place.HAND:
            if k == 0:
                destroy_card(s, i)
                return
            k -= 1


@rule
def make_cards(s, stream, n, lowest, ranks):
    """N random enhanced cards join the hand, of `ranks` ranks from `lowest` on; never Stone cards."""
    for _ in range(n):
        rank = lowest + (pick(s, stream, ranks) if ranks > 1 else 0)
        suit = SUIT_OF_DRAW[pick(s, stream, 4)]
        enhancement = 1 + pick(s, Stream.SPE_CARD, 7)
        if enhancement >= Enhancement.STONE:
            enhancement += 1
        index = add_card(s, rank, suit, enhancement, 0, 0)
        if index >= 0:
            put_in_hand(s, index)
