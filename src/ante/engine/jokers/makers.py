"""Jokers that make, copy or destroy something while a hand is played or a blind begins."""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement, Sticker
from ante.catalog.hands import Hand
from ante.catalog.jokers import Joker
from ante.engine.create import (
    Source,
    add_card,
    create_joker,
    create_spectral,
    create_tarot,
    put_in_deck,
    put_in_hand,
    room_for_consumable,
    room_for_joker,
    sell_value,
)
from ante.engine.jokers.lineup_marks import DOOMED, doom
from ante.engine.numbers import FRONT_RANK, FRONT_SUIT
from ante.engine.packs import seal_of
from ante.engine.rng import Stream, chance, pick, roll
from ante.engine.rule import Moment, on, rule
from ante.engine.state import Place
from ante.engine.verbs import copy_card, destroy_card, earn, has_rank, level_up


@on(Moment.HAND_BEGINS, Joker.SPACE)
def space(s, me, joker, card):
    """1 in 4: the played hand rises a level."""
    if chance(s, Stream.SPACE, 4.0):
        level_up(s, int(s.hand_type), 1)


@on(Moment.HAND_BEGINS, Joker.TODO_LIST)
def todo_list(s, me, joker, card):
    """$4 for the listed hand."""
    if s.hand_type == s.jokers[me].hand:
        earn(s, 4)


@on(Moment.HAND_BEGINS, Joker.DNA)
def dna(s, me, joker, card):
    """A first hand of one card: a copy of it joins the deck and the hand."""
    if s.hands_played == 0 and s.n_played == 1:
        c = s.cards[s.played[0]]
        copy = add_card(s, int(c.rank), int(c.suit), 0, 0, 0)
        if copy >= 0:
            copy_card(s, int(s.played[0]), copy)
            put_in_hand(s, copy)


@on(Moment.HAND_DESTROYS, Joker.SIXTH_SENSE, copied=False)
def sixth_sense(s, me, joker, card):
    """A first hand of a single 6: it is destroyed and a spectral made."""
    alone = s.hands_played == 0 and s.n_played == 1
    if alone and s.cards[card].rank == 6 and has_rank(s, card) and s.cards[card].place != Place.GONE:
        destroy_card(s, card)
        create_spectral(s, int(Source.SIXTH))


@on(Moment.JOKER_SCORED, Joker.SUPERPOSITION)
def superposition(s, me, joker, card):
    """A Straight with an Ace makes a tarot."""
    if (s.contains >> int(Hand.STRAIGHT)) & 1:
        for i in range(s.n_played):
            if s.scoring[i] and s.cards[s.played[i]].rank == 14 and has_rank(s, int(s.played[i])):
                create_tarot(s, int(Source.SUP))
                return


@on(Moment.JOKER_SCORED, Joker.VAGABOND)
def vagabond(s, me, joker, card):
    """A hand played with $4 or less makes a tarot."""
    if s.money_in_hand <= 4:
        create_tarot(s, int(Source.VAG))


@on(Moment.JOKER_SCORED, Joker.SEANCE)
def seance(s, me, joker, card):
    """A Straight Flush makes a spectral."""
    if (s.contains >> int(Hand.STRAIGHT_FLUSH)) & 1:
        create_spectral(s, int(Source.SEA))


@on(Moment.BLIND_CHOSEN, Joker.CEREMONIAL, copied=False)
def ceremonial(s, me, joker, card):
    """The joker to the right is destroyed; twice its sell value becomes mult."""
    right = me + 1
    if right < s.n_jokers and not s.jokers[right].stickers & Sticker.ETERNAL and s.jokers[right].debuffed != DOOMED:
        s.jokers[me].value += 2.0 * sell_value(s.jokers[right])
        doom(s, right)
        s.joker_buffer += 1  # whoever makes a joker after it finds the place free


@on(Moment.BLIND_CHOSEN, Joker.MARBLE)
def marble(s, me, joker, card):
    """A Stone card joins the deck."""
    front = pick(s, Stream.MARB_FR, 52)
    index = add_card(s, FRONT_RANK[front], FRONT_SUIT[front], int(Enhancement.STONE), 0, 0)
    if index >= 0:
        put_in_deck(s, index)


@on(Moment.BLIND_CHOSEN, Joker.BURGLAR)
def burglar(s, me, joker, card):
    """+3 hands, no discards."""
    s.hands_left += 3
    s.discards_left = 0


@on(Moment.BLIND_CHOSEN, Joker.MADNESS, copied=False)
def madness(s, me, joker, card):
    """Not against bosses: X0.5, and a random other joker that is not Eternal is destroyed."""
    if card > Blind.BIG:
        return
    s.jokers[me].value += 0.5
    victim = pick_victim(s, int(Stream.MADNESS), me)
    if victim >= 0:
        doom(s, victim)


@rule
def pick_victim(s, stream, without):
    """A random joker by creation number: not Eternal, not doomed, not the one in slot `without`; -1 where none is."""
    n = 0
    for i in range(s.n_jokers):
        if i != without and can_fall(s, i):
            n += 1
    if n == 0:
        return -1
    k = pick(s, stream, n)
    for i in range(s.n_jokers):
        if i != without and can_fall(s, i):
            older = 0
            for j in range(s.n_jokers):
                if j != without and can_fall(s, j) and s.jokers[j].created < s.jokers[i].created:
                    older += 1
            if older == k:
                return i
    return -1


@rule
def can_fall(s, slot):
    """Whether a joker can be destroyed."""
    return not s.jokers[slot].stickers & Sticker.ETERNAL and s.jokers[slot].debuffed != DOOMED


@on(Moment.BLIND_CHOSEN, Joker.RIFF_RAFF)
def riff_raff(s, me, joker, card):
    """Up to two Common jokers are made, as far as there is room."""
    for _ in range(2):
        if room_for_joker(s):
            create_joker(s, int(Source.RIF))


@on(Moment.BLIND_CHOSEN, Joker.CARTOMANCER)
def cartomancer(s, me, joker, card):
    """A tarot is made."""
    create_tarot(s, int(Source.CAR))


@on(Moment.FIRST_HAND_DRAWN, Joker.CERTIFICATE)
def certificate(s, me, joker, card):
    """A random card with a random seal joins the hand."""
    front = pick(s, Stream.CERT_FR, 52)
    index = add_card(s, FRONT_RANK[front], FRONT_SUIT[front], 0, 0, seal_of(roll(s, Stream.CERTSL)))
    if index >= 0:
        put_in_hand(s, index)


@on(Moment.PACK_OPENED, Joker.HALLUCINATION)
def hallucination(s, me, joker, card):
    """1 in 2: a tarot, if there is room."""
    if room_for_consumable(s) and chance(s, Stream.HALU, 2.0):
        create_tarot(s, int(Source.HAL))
