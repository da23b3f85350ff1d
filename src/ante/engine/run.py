"""The start of a run, and the draws of each ante."""

from collections.abc import Iterable
from typing import TypeGuard

import numpy as np

from ante.catalog.cards import ACE, JACK, KING, N_SUITS, Enhancement, Suit
from ante.catalog.challenges import CHALLENGES, Challenge
from ante.catalog.challenges import by_key as challenge_by_key
from ante.catalog.constants import CONSUMABLE_SLOTS
from ante.catalog.decks import Deck, Stake
from ante.catalog.decks import by_key as deck_by_key
from ante.catalog.locks import FRESH, LOCKS
from ante.checks import seed_number
from ante.engine.cards import collect_deck, shuffle_deck
from ante.engine.core.memory import clear_run
from ante.engine.core.rng import Stream, pick, seed_hash
from ante.engine.core.rule import rule
from ante.engine.core.state import (
    LOCK_BYTES,
    MAX_PACKS,
    MAX_SEED,
    N_HANDS,
    N_PANELS,
    SEED_LENGTH,
    Phase,
    Place,
    new_states,
)
from ante.engine.core.tables import (
    CHALLENGE_CONSUMABLES,
    CHALLENGE_COPIES,
    CHALLENGE_DISCARDS,
    CHALLENGE_DOLLARS,
    CHALLENGE_EDITIONS,
    CHALLENGE_ENHANCEMENT,
    CHALLENGE_HAND_SIZE,
    CHALLENGE_HANDS,
    CHALLENGE_JOKER_SLOTS,
    CHALLENGE_JOKERS,
    CHALLENGE_MODIFIERS,
    CHALLENGE_SEAL,
    CHALLENGE_STICKERS,
    CHALLENGE_VOUCHERS,
    DECK_CONSUMABLE_SLOTS,
    DECK_CONSUMABLES,
    DECK_DISCARDS,
    DECK_DOLLARS,
    DECK_HAND_SIZE,
    DECK_HANDS,
    DECK_JOKER_SLOTS,
    DECK_VOUCHERS,
    FRONT_RANK,
    FRONT_SUIT,
    STAKE_DISCARDS,
)
from ante.engine.items.card_array import add_card
from ante.engine.items.making import make_given_joker, pick_visible_hand
from ante.engine.items.owned import add_joker_from_item, create_given_consumable
from ante.engine.items.pools import draw_boss, draw_tag, draw_voucher
from ante.engine.items.prices import price
from ante.engine.items.vouchers import take_voucher
from ante.engine.jokers.lineup import refresh_lineup
from ante.errors import DeckOfChallenge, NotLockable, UnknownChallenge, UnknownDeck, UnknownSeed, UnknownStake

SEED_ALPHABET = np.frombuffer(b"123456789ABCDEFGHIJKLMNPQRSTUVWXYZ", dtype=np.uint8)  # the game generates no 0 and no O
SEED_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
N_FRONTS = len(FRONT_RANK)


@rule
def restart(s, deck, stake, challenge):
    """Start a new run with the record's seed and profile, in the order of "run start" in docs/explanation/rules.md.

    challenge  Challenge number, 0 for none; a challenge is played with deck 0 (it has its own) and stake 1
    """
    clear_run(s)
    s.challenge = challenge
    s.modifiers = CHALLENGE_MODIFIERS[challenge]
    s.restricted = 1 if challenge or any_locked(s) else 0
    s.seed_hash = seed_hash(s)
    s.deck_id = deck
    s.stake = stake
    s.phase = Phase.BLIND_SELECT
    s.ante = 1
    s.highest_ante = 1
    s.last_hand = -1
    s.ox_hand = -1
    s.ancient_suit = -1
    set_slots(s, deck, stake, challenge)
    for hand in range(N_HANDS):
        s.levels[hand] = 1
    for slot in range(MAX_PACKS):
        s.packs[slot] = -1
    give_start_items(s, deck)
    give_challenge_items(s, challenge)
    s.boss = draw_boss(s)
    draw_ante_voucher(s)
    draw_ante_tags(s)
    build_deck(s, deck, challenge)
    shuffle_deck(s, Stream.SHUFFLE)
    draw_targets(s)
    refresh_lineup(s)


@rule
def any_locked(s):
    """Return whether the profile has locked items."""
    for i in range(LOCK_BYTES):
        if s.locked[i]:
            return True
    return False


@rule
def set_slots(s, deck, stake, challenge):
    """Set dollars, hands, discards, hand size and slots of a deck and stake, or of a challenge."""
    s.dollars = CHALLENGE_DOLLARS[challenge]
    s.hands_each_round = CHALLENGE_HANDS[challenge]
    s.discards_each_round = CHALLENGE_DISCARDS[challenge] + STAKE_DISCARDS[stake]
    s.base_hand_size = CHALLENGE_HAND_SIZE[challenge]
    s.joker_slots = CHALLENGE_JOKER_SLOTS[challenge]
    s.consumable_slots = CONSUMABLE_SLOTS
    if challenge:
        return
    s.dollars += DECK_DOLLARS[deck]
    s.hands_each_round += DECK_HANDS[deck]
    s.discards_each_round += DECK_DISCARDS[deck]
    s.base_hand_size += DECK_HAND_SIZE[deck]
    s.joker_slots += DECK_JOKER_SLOTS[deck]
    s.consumable_slots += DECK_CONSUMABLE_SLOTS[deck]


@rule
def give_start_items(s, deck):
    """Add the vouchers and consumables of a deck."""
    for i in range(DECK_VOUCHERS.shape[1]):
        if DECK_VOUCHERS[deck, i]:
            take_voucher(s, int(DECK_VOUCHERS[deck, i]))
    for i in range(DECK_CONSUMABLES.shape[1]):
        if DECK_CONSUMABLES[deck, i]:
            create_given_consumable(s, int(DECK_CONSUMABLES[deck, i]))


@rule
def give_challenge_items(s, challenge):
    """Add the jokers, consumables and vouchers of a challenge; no edition or sticker is rolled."""
    for i in range(CHALLENGE_JOKERS.shape[1]):
        joker = int(CHALLENGE_JOKERS[challenge, i])
        if joker:
            make_given_joker(s, joker)
            s.made.edition = CHALLENGE_EDITIONS[challenge, i]
            s.made.stickers = CHALLENGE_STICKERS[challenge, i]
            price(s, s.made)
            add_joker_from_item(s, s.made)
    for i in range(CHALLENGE_CONSUMABLES.shape[1]):
        if CHALLENGE_CONSUMABLES[challenge, i]:
            create_given_consumable(s, int(CHALLENGE_CONSUMABLES[challenge, i]))
    for i in range(CHALLENGE_VOUCHERS.shape[1]):
        if CHALLENGE_VOUCHERS[challenge, i]:
            take_voucher(s, int(CHALLENGE_VOUCHERS[challenge, i]))


@rule
def build_deck(s, deck, challenge):
    """Create the starting deck, cards in creation order: by text key, before Checkered changes its suits."""
    if deck == Deck.ERRATIC:
        for front in range(N_FRONTS):
            s.order[front] = 0
        for _ in range(N_FRONTS):
            s.order[pick(s, Stream.ERRATIC, N_FRONTS)] += 1
        for front in range(N_FRONTS):
            for _ in range(s.order[front]):
                add_card(s, FRONT_RANK[front], FRONT_SUIT[front], 0, 0, 0)
    else:
        for front in range(N_FRONTS):
            rank = int(FRONT_RANK[front])
            if deck == Deck.ABANDONED and JACK <= rank <= KING:
                continue
            for _ in range(CHALLENGE_COPIES[challenge, rank]):
                enhancement = int(CHALLENGE_ENHANCEMENT[challenge, rank])
                add_card(s, rank, FRONT_SUIT[front], enhancement, 0, int(CHALLENGE_SEAL[challenge]))
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
    """Draw the ante's voucher."""
    s.voucher_this_ante = draw_voucher(s, Stream.VOUCHER)


@rule
def draw_ante_tags(s):
    """Draw the tags for skipping this ante's Small and Big Blind, and the hand of each panel's Orbital Tag."""
    s.skip_tags[0] = draw_tag(s)
    s.skip_tags[1] = draw_tag(s)
    for panel in range(N_PANELS):
        s.skip_tag_hands[panel] = pick_visible_hand(s, int(Stream.ORBITAL), -1)


@rule
def draw_ante_blinds(s):
    """Draw the tags and boss of a new ante, at cash-out after a boss."""
    draw_ante_tags(s)
    s.boss = draw_boss(s)


@rule
def target_card(s, stream):
    """Return a random card of the full deck without Stone cards, or -1 if there is none."""
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
    """Draw the targets of The Idol, Mail-In Rebate, Ancient Joker and Castle, even if they are not owned."""
    s.idol_rank, s.idol_suit, s.mail_rank, s.castle_suit = ACE, int(Suit.SPADES), ACE, int(Suit.SPADES)
    idol = target_card(s, Stream.IDOL)
    if idol >= 0:
        s.idol_rank = s.cards[idol].rank
        s.idol_suit = s.cards[idol].suit
    mail = target_card(s, Stream.MAIL)
    if mail >= 0:
        s.mail_rank = s.cards[mail].rank
    suits = N_SUITS if s.ancient_suit < 0 else N_SUITS - 1
    suit = pick(s, Stream.ANC, suits)
    s.ancient_suit = suit + 1 if 0 <= s.ancient_suit <= suit else suit
    castle = target_card(s, Stream.CAS)
    if castle >= 0:
        s.castle_suit = s.cards[castle].suit


def seed_text(seed: str) -> str:
    """Return a seed as the game writes it. Raises UnknownSeed unless it has 1 to 16 letters A-Z and digits."""
    text = seed.strip().upper() if isinstance(seed, str) and seed.isascii() else ""  # others can have ASCII capitals
    if not 1 <= len(text) <= MAX_SEED or any(letter not in SEED_LETTERS for letter in text):
        raise UnknownSeed(seed)
    return text


def one_seed(seed: int | None) -> np.random.Generator:
    """Return the generator of random game seeds for a number, or an unpredictable one for None. Raises BadValue."""
    return np.random.default_rng(seed_number(seed))


def new_seed(rng: np.random.Generator) -> bytes:
    """Return a random game seed: eight characters of 1-9, A-N, P-Z."""
    return SEED_ALPHABET[rng.integers(len(SEED_ALPHABET), size=SEED_LENGTH)].tobytes()


def set_seed(s: np.record, seed: str) -> None:
    """Write a seed into a record. Raises UnknownSeed."""
    text = seed_text(seed)
    s.seed[:] = 0
    for i, letter in enumerate(text.encode()):
        s.seed[i] = letter
    s.seed_length = len(text)


def draw_seed(s: np.record, rng: np.random.Generator) -> str:
    """Write a random seed into a record and return it."""
    letters = new_seed(rng)
    s.seed[:SEED_LENGTH] = np.frombuffer(letters, dtype=np.uint8)
    s.seed[SEED_LENGTH:] = 0
    s.seed_length = SEED_LENGTH
    return letters.decode()


def is_number(value: object) -> TypeGuard[int]:
    """Return whether this is an integer and not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def deck_number(deck: str | int) -> int:
    """Return the number of a deck given by number, key (`b_red`) or name (`red`). Raises UnknownDeck."""
    if is_number(deck) and 0 <= deck < len(Deck):
        return int(deck)
    key = deck.lower() if isinstance(deck, str) and deck.isascii() else ""
    for candidate in (key, f"b_{key}"):
        if candidate in deck_by_key:
            return int(deck_by_key[candidate])
    raise UnknownDeck(deck, sorted(deck_by_key))


def challenge_number(challenge: str | int | None) -> int:
    """Return the number of a challenge given by number, key (`c_omelette_1`) or name. Raises UnknownChallenge."""
    if challenge is None:
        return int(Challenge.NONE)
    if is_number(challenge) and 0 <= challenge < len(Challenge):
        return int(challenge)
    key = challenge.lower() if isinstance(challenge, str) and challenge.isascii() else None
    for row in CHALLENGES[1:]:
        if key in (row.key, row.key.removeprefix("c_").removesuffix("_1"), row.name.lower()):
            return int(row.challenge)
    raise UnknownChallenge(challenge, sorted(challenge_by_key))


def run_numbers(deck: str | int, stake: int, challenge: str | int | None) -> tuple[int, int, int]:
    """Return deck, stake and challenge as numbers.

    Raises UnknownDeck, UnknownStake, UnknownChallenge, and DeckOfChallenge if a challenge is combined with a deck or
    a stake, since it has its own.
    """
    if not is_number(stake) or not 1 <= stake <= len(Stake):
        raise UnknownStake(stake)
    numbers = deck_number(deck), int(stake), challenge_number(challenge)
    if numbers[2] and numbers[:2] != (Deck.RED, Stake.WHITE):
        raise DeckOfChallenge(CHALLENGES[numbers[2]].name)
    return numbers


def locked_bits(locked: str | Iterable[str]) -> np.ndarray:
    """Return the locked items of a profile as bits, (LOCK_BYTES,) uint8.

    locked  keys of jokers, vouchers and tags; "fresh" for all that a new profile has locked, "none" for no items

    Raises NotLockable for a key that every profile has from its first run on.
    """
    if isinstance(locked, str):
        locked = {"fresh": FRESH, "none": ()}.get(locked, (locked,))
    if not isinstance(locked, Iterable):
        raise NotLockable(locked, FRESH)
    bits = np.zeros(LOCK_BYTES, dtype=np.uint8)
    for key in locked:
        if not isinstance(key, str) or key not in FRESH:
            raise NotLockable(key, FRESH)
        bits[LOCKS[key] >> 3] |= 1 << (LOCKS[key] & 7)
    return bits


def new_run(
    seed: str,
    deck: str | int = Deck.RED,
    stake: int = 1,
    challenge: str | int | None = None,
    locked: str | Iterable[str] = (),
) -> np.record:
    """Return a new game as one record.

    challenge  number, key or name; it has its own deck and White Stake
    locked     items that the profile has not unlocked, as in `locked_bits`; by default everything is unlocked

    Raises UnknownSeed, UnknownDeck, UnknownStake, UnknownChallenge, DeckOfChallenge or NotLockable.
    """
    numbers = run_numbers(deck, stake, challenge)
    s = new_states(1)[0]
    set_seed(s, seed)
    s.locked[:] = locked_bits(locked)
    restart(s, *numbers)
    return s
