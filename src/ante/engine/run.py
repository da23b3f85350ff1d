"""A run begins, and what each ante draws."""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ante.catalog.cards import Enhancement, Suit
from ante.catalog.consumables import Consumable
from ante.catalog.decks import Deck, Stake
from ante.catalog.decks import by_key as deck_by_key
from ante.catalog.vouchers import Voucher
from ante.engine.cards import collect_deck, shuffle_deck
from ante.engine.create import add_card, create_given_consumable, pick_visible_hand
from ante.engine.numbers import FRONT_RANK, FRONT_SUIT
from ante.engine.pools import draw_boss, draw_tag, draw_voucher
from ante.engine.rng import Stream, pick, seed_hash
from ante.engine.rule import rule
from ante.engine.state import MAX_PACKS, Phase, Place, new_states, state_t
from ante.errors import UnknownDeck, UnknownSeed, UnknownStake

SEED_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_SEED = 16
KEPT_BYTES = state_t.fields["stream_ids"][1]  # seed and its length stand before the streams


@intrinsic
def _compiled_clear(typingctx, s):
    """Zero a record from KEPT_BYTES on, in compiled code."""

    def codegen(context, builder, signature, args):
        byte = builder.bitcast(args[0], cgutils.voidptr_t)
        begin = builder.gep(byte, [context.get_constant(types.intp, KEPT_BYTES)])
        size = context.get_constant(types.intp, signature.args[0].size - KEPT_BYTES)
        cgutils.memset(builder, begin, size, 0)
        return context.get_dummy_value()

    return types.none(s), codegen


def clear_run(s):
    """Everything but the seed is zero."""
    for name in s.dtype.names:
        if s.dtype.fields[name][1] >= KEPT_BYTES:
            s[name] = np.zeros((), dtype=s.dtype.fields[name][0])[()]


@overload(clear_run)
def _clear_run(s):
    return lambda s: _compiled_clear(s)


@rule
def restart(s, deck, stake):
    """A fresh run of the seed in the record: everything that section "run start" of docs/rules.md names, in order."""
    clear_run(s)
    s.seed_hash = seed_hash(s)
    s.deck_id = deck
    s.stake = stake
    s.phase = Phase.BLIND_SELECT
    s.ante = 1
    s.highest_ante = 1
    s.last_hand = -1
    s.ox_hand = -1
    s.ancient_suit = -1
    s.dollars = 14 if deck == Deck.YELLOW else 4
    set_slots(s, deck, stake)
    for hand in range(12):
        s.levels[hand] = 1
    for slot in range(MAX_PACKS):
        s.packs[slot] = -1
    give_start_items(s, deck)
    s.boss = draw_boss(s)
    draw_ante_voucher(s)
    draw_ante_tags(s)
    build_deck(s, deck)
    shuffle_deck(s, Stream.SHUFFLE)
    draw_targets(s)


@rule
def set_slots(s, deck, stake):
    """Hands, discards, hand size and slots of a deck and stake."""
    s.hands_each_round = 4 + (deck == Deck.BLUE) - (deck == Deck.BLACK)
    s.discards_each_round = 3 + (deck == Deck.RED) - (stake >= Stake.BLUE)
    s.base_hand_size = 8 + 2 * (deck == Deck.PAINTED)
    s.hand_size = s.base_hand_size
    s.joker_slots = 5 + (deck == Deck.BLACK) - (deck == Deck.PAINTED)
    s.consumable_slots = 2 - (deck == Deck.NEBULA) + (deck == Deck.MAGIC)


@rule
def give_start_items(s, deck):
    """Vouchers and consumables that a deck starts with."""
    if deck == Deck.MAGIC:
        s.vouchers[Voucher.CRYSTAL_BALL] = 1
        create_given_consumable(s, int(Consumable.FOOL))
        create_given_consumable(s, int(Consumable.FOOL))
    elif deck == Deck.NEBULA:
        s.vouchers[Voucher.TELESCOPE] = 1
    elif deck == Deck.GHOST:
        create_given_consumable(s, int(Consumable.HEX))
    elif deck == Deck.ZODIAC:
        s.vouchers[Voucher.TAROT_MERCHANT] = 1
        s.vouchers[Voucher.PLANET_MERCHANT] = 1
        s.vouchers[Voucher.OVERSTOCK_NORM] = 1


@rule
def build_deck(s, deck):
    """The starting deck, cards in creation order: by text key, before Checkered changes its suits."""
    if deck == Deck.ERRATIC:
        for front in range(52):
            s.order[front] = 0
        for _ in range(52):
            s.order[pick(s, Stream.ERRATIC, 52)] += 1
        for front in range(52):
            for _ in range(s.order[front]):
                add_card(s, FRONT_RANK[front], FRONT_SUIT[front], 0, 0, 0)
    else:
        for front in range(52):
            if not (deck == Deck.ABANDONED and 11 <= FRONT_RANK[front] <= 13):
                add_card(s, FRONT_RANK[front], FRONT_SUIT[front], 0, 0, 0)
    for i in range(s.n_cards):
        card = s.cards[i]
        card.place = Place.DECK
        if deck == Deck.CHECKERED:
            if card.suit == Suit.CLUBS:
                card.suit = Suit.SPADES
            elif card.suit == Suit.DIAMONDS:
                card.suit = Suit.HEARTS
    s.pending_added = 0
    s.starting_deck_size = s.n_cards
    collect_deck(s)


@rule
def draw_ante_voucher(s):
    """The ante's voucher is drawn."""
    s.voucher_this_ante = draw_voucher(s, Stream.VOUCHER)


@rule
def draw_ante_tags(s):
    """The tags for skipping this ante's Small and Big Blind, and the hand of each panel's Orbital Tag."""
    s.skip_tags[0] = draw_tag(s)
    s.skip_tags[1] = draw_tag(s)
    for panel in range(3):
        s.skip_tag_hands[panel] = pick_visible_hand(s, int(Stream.ORBITAL), -1)


@rule
def draw_ante_blinds(s):
    """After a boss, at cash out: the new ante's tags and boss."""
    draw_ante_tags(s)
    s.boss = draw_boss(s)


@rule
def target_card(s, stream):
    """A card of the full deck without Stone cards, -1 where there is none."""
    n = 0
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE and s.cards[i].enhancement != Enhancement.STONE:
            n += 1
    if n == 0:
        return -1
    k = pick(s, stream, n)
    for i in range(s.n_cards):
        if s.cards[i].place != Place.GONE and s.cards[i].enhancement != Enhancement.STONE:
            if k == 0:
                return i
            k -= 1
    return -1


@rule
def draw_targets(s):
    """What The Idol, Mail-In Rebate, Ancient Joker and Castle look at, drawn whether or not they are owned."""
    s.idol_rank, s.idol_suit, s.mail_rank, s.castle_suit = 14, 0, 14, 0
    idol = target_card(s, Stream.IDOL)
    if idol >= 0:
        s.idol_rank = s.cards[idol].rank
        s.idol_suit = s.cards[idol].suit
    mail = target_card(s, Stream.MAIL)
    if mail >= 0:
        s.mail_rank = s.cards[mail].rank
    suits = 4 if s.ancient_suit < 0 else 3
    suit = pick(s, Stream.ANC, suits)
    s.ancient_suit = suit + 1 if 0 <= s.ancient_suit <= suit else suit
    castle = target_card(s, Stream.CAS)
    if castle >= 0:
        s.castle_suit = s.cards[castle].suit


def set_seed(s: np.record, seed: str) -> None:
    """Write a seed into a record. Raises UnknownSeed for anything but 1 to 16 letters and digits."""
    text = seed.strip().upper()
    if not 1 <= len(text) <= MAX_SEED or any(letter not in SEED_LETTERS for letter in text):
        raise UnknownSeed(seed)
    s.seed[:] = 0
    for i, letter in enumerate(text.encode()):
        s.seed[i] = letter
    s.seed_length = len(text)


def deck_number(deck: str | int) -> int:
    """Number of a deck given by number, key (`b_red`) or name (`red`). Raises UnknownDeck."""
    if isinstance(deck, int) and 0 <= deck < len(Deck):
        return int(deck)
    key = str(deck).lower()
    for candidate in (key, f"b_{key}"):
        if candidate in deck_by_key:
            return int(deck_by_key[candidate])
    raise UnknownDeck(deck, sorted(deck_by_key))


def new_run(seed: str, deck: str | int = Deck.RED, stake: int = 1) -> np.record:
    """A fresh game as one record.

    Raises UnknownSeed, UnknownDeck or UnknownStake.
    """
    if not 1 <= int(stake) <= len(Stake):
        raise UnknownStake(stake)
    s = new_states(1)[0]
    set_seed(s, seed)
    restart(s, deck_number(deck), int(stake))
    return s
