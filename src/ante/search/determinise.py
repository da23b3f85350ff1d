"""Draw again everything that the player has not seen of a game; everything seen stays.

Drawn again: the seed and with it all random streams (hence future shops, packs, bosses and tags, draws and rolls), the
order of the draw pile, the identity of face-down cards, rank and suit of Stone cards, the order of jokers under Amber
Acorn (except which slots can be sold, which the mask of legal actions shows), the ante's voucher before its first shop,
and the targets of jokers that are not visible. Scratch fields are cleared.

Kept: everything in the observation, and what follows from the history of the run, such as the bosses already met and
the items that pools cannot offer at present.

Games that agree in what is seen have equal copies, byte by byte: cards and jokers are brought into a canonical order
before they are shuffled. The player may know more than is kept: which cards of a pack's hand were put under the draw
pile, which ranks are possible at the place of a face-down card in the sorted hand, and which card became a Stone card.
"""

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import Blind
from ante.catalog.cards import N_RANKS, N_SUITS, Enhancement
from ante.catalog.challenges import Modifier
from ante.catalog.tags import Tag
from ante.engine.actions import can_move_joker, can_sell_joker
from ante.engine.core.rng import Stream, pick, seed_hash
from ante.engine.core.rule import rule
from ante.engine.core.state import (
    MAX_CARDS,
    MAX_HAND,
    MAX_PACK,
    MAX_PLAYED,
    MAX_ROW,
    MAX_SEED,
    N_PANELS,
    SEED_LENGTH,
    STREAM_SLOTS,
    Phase,
    Place,
    new_states,
)
from ante.engine.drivers.random_play import below
from ante.engine.effects.bosses import sort_jokers_by_age
from ante.engine.effects.verbs import is_face
from ante.engine.items.making import clear_item, pick_visible_hand
from ante.engine.items.owned import keep_pinned_left
from ante.engine.items.pools import draw_voucher
from ante.engine.run import SEED_ALPHABET, target_card
from ante.env.layout import FIRST_RANK, TARGET, new_observations
from ante.env.observe_items import jokers_hidden, write_targets

LETTERS = SEED_ALPHABET.astype(np.int64)
N_LETTERS = len(LETTERS)


def determinised(states: np.recarray, which: NDArray[np.int64], seeds: NDArray[np.uint64]) -> np.recarray:
    """Return determinised copies of games.

    Args:
        states: (n,) state_t, unchanged.
        which: (k,) int64, the game of each copy.
        seeds: (k,) uint64, not 0: equal seeds draw the same hidden state for games that agree in what is seen.

    Returns:
        (k,) state_t.
    """
    out = new_states(len(which))
    determinise_all(states, which, seeds, new_observations(1), out)
    return out


@rule
def determinise_all(states, which, seeds, observed, out):
    """Write determinised copies: arguments as of `determinised`; observed (1,) observation_t is scratch space."""
    rng = np.zeros(1, dtype=np.uint64)
    for i in range(len(which)):
        out[i] = states[which[i]]
        rng[0] = seeds[i]
        redraw_hidden(out[i], rng, observed[0])


@rule
def redraw_hidden(s, rng, observed):
    """Replace everything that the player has not seen in this copy of a game; rng is (1,) uint64, advanced."""
    redraw_seed(s, rng)
    redraw_stone_fronts(s, rng)
    redraw_unseen_cards(s, rng)
    if jokers_hidden(s):
        redraw_joker_order(s, rng)
    redraw_targets(s, observed)
    if voucher_unseen(s):
        s.voucher_this_ante = draw_voucher(s, Stream.VOUCHER)
    for panel in range(N_PANELS):
        if panel == N_PANELS - 1 or s.skip_tags[panel] != Tag.ORBITAL:
            s.skip_tag_hands[panel] = pick_visible_hand(s, int(Stream.ORBITAL), -1)
    clear_scratch(s)


@rule
def redraw_seed(s, rng):
    """Give the copy a random seed and streams without draws."""
    for i in range(MAX_SEED):
        s.seed[i] = LETTERS[below(rng, N_LETTERS)] if i < SEED_LENGTH else 0
    s.seed_length = SEED_LENGTH
    s.seed_hash = seed_hash(s)
    s.n_streams = 0
    for i in range(STREAM_SLOTS):
        s.stream_ids[i] = 0
        s.stream_states[i] = 0.0


@rule
def redraw_stone_fronts(s, rng):
    """Draw rank and suit of all Stone cards, which show neither."""
    for i in range(s.n_cards):
        card = s.cards[i]
        redraw_stone_front(card, rng)
        if card.enhancement == Enhancement.STONE:
            card.first_suit = card.suit
    for i in range(s.n_row):
        redraw_stone_front(s.row[i], rng)
    for i in range(s.n_pack):
        redraw_stone_front(s.pack[i], rng)


@rule
def redraw_stone_front(card, rng):
    """Draw rank and suit of a card or an item, if it is a Stone card."""
    if card.enhancement == Enhancement.STONE:
        card.rank = FIRST_RANK + below(rng, N_RANKS)
        card.suit = below(rng, N_SUITS)


@rule
def redraw_unseen_cards(s, rng):
    """Distribute the unseen cards again over the places of face-down cards and the draw pile.

    What is visible of a place stays: that its card is face down or forced. Under The Mark exactly the face cards lie
    face down, so only face cards are put there.
    """
    n = shuffle_unseen(s, rng)
    faces = s.phase == Phase.PLAY and s.blind == Blind.MARK and not s.modifiers & Modifier.FLIPPED_CARDS
    away = 0
    for card in range(s.n_cards):
        if s.cards[card].face_down and s.cards[card].place == Place.DISCARD:
            away += 1
    held, forced = 0, 0
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].face_down:
            held |= 1 << i
            forced |= int(s.cards[s.hand[i]].forced) << i
    at = 0
    for i in range(s.n_hand):
        if (held >> i) & 1:
            s.hand[i] = take_unseen(s, at, n, faces)
            put_unseen(s, at, int(Place.HAND), 1, (forced >> i) & 1)
            at += 1
    for _ in range(away):
        take_unseen(s, at, n, faces)
        put_unseen(s, at, int(Place.DISCARD), 1, 0)
        at += 1
    for i in range(s.n_deck):
        s.deck[i] = s.order[at]
        put_unseen(s, at, int(Place.DECK), 0, 0)
        at += 1


@rule
def shuffle_unseen(s, rng):
    """Write the unseen cards, shuffled from their creation order, into s.order. Returns their number."""
    n = 0
    for card in range(s.n_cards):
        c = s.cards[card]
        if c.place == Place.DECK or (c.face_down and c.place != Place.GONE):
            s.order[n] = card
            n += 1
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        card = s.order[i]
        s.order[i] = s.order[j]
        s.order[j] = card
    return n


@rule
def take_unseen(s, at, n, faces):
    """Bring the next unseen card for a face-down place to s.order[at]: a face card if `faces`. Returns it."""
    if faces:
        for i in range(at, n):
            card = s.order[i]
            if is_face(s, int(card)):
                s.order[i] = s.order[at]
                s.order[at] = card
                break
    return int(s.order[at])


@rule
def put_unseen(s, at, place, face_down, forced):
    """Record the place of the card s.order[at]."""
    card = s.cards[s.order[at]]
    card.place = place
    card.face_down = face_down
    card.forced = forced


@rule
def redraw_joker_order(s, rng):
    """Shuffle the jokers from their creation order; pinned ones stay leftmost, and the same slots can be sold."""
    sold = 0
    for i in range(s.n_jokers):
        sold |= int(can_sell_joker(s, i)) << i
    sort_jokers_by_age(s)
    for i in range(s.n_jokers - 1, 0, -1):
        swap_jokers(s, i, below(rng, i + 1))
    keep_pinned_left(s)
    for i in range(s.n_jokers):
        wanted = (sold >> i) & 1
        for j in range(i + 1, s.n_jokers):
            if can_sell_joker(s, i) != wanted and can_sell_joker(s, j) == wanted and can_move_joker(s, i, j):
                swap_jokers(s, i, j)


@rule
def swap_jokers(s, i, j):
    """Exchange the jokers of two slots."""
    s.made = s.jokers[i]
    s.jokers[i] = s.jokers[j]
    s.jokers[j] = s.made


@rule
def redraw_targets(s, observed):
    """Draw the targets again that no visible joker shows."""
    write_targets(s, observed)
    if not observed.targets[TARGET.idol_rank]:
        card = target_card(s, Stream.IDOL)
        s.idol_rank = s.cards[card].rank if card >= 0 else 0
        s.idol_suit = s.cards[card].suit if card >= 0 else 0
    if not observed.targets[TARGET.mail_rank]:
        card = target_card(s, Stream.MAIL)
        s.mail_rank = s.cards[card].rank if card >= 0 else 0
    if not observed.targets[TARGET.ancient_suit_plus_1]:
        s.ancient_suit = pick(s, Stream.ANC, N_SUITS)
    if not observed.targets[TARGET.castle_suit_plus_1]:
        card = target_card(s, Stream.CAS)
        s.castle_suit = s.cards[card].suit if card >= 0 else 0


@rule
def voucher_unseen(s):
    """Return whether the ante's voucher is drawn but no shop has shown it: before the first shop, and after a boss."""
    if s.phase == Phase.ROUND_END and s.beat_boss:
        return True
    return s.round_number == 0 or (s.round_number == 1 and (s.phase == Phase.PLAY or s.phase == Phase.ROUND_END))


@rule
def clear_scratch(s):
    """Clear fields whose contents are left from earlier decisions and never read again."""
    for i in range(MAX_CARDS):
        s.order[i] = 0
        if i >= s.n_deck:
            s.deck[i] = 0
    for i in range(s.n_hand, MAX_HAND):
        s.hand[i] = 0
    for i in range(MAX_PLAYED):
        s.played[i] = 0
    for i in range(s.n_row, MAX_ROW):
        clear_item(s.row[i])
    for i in range(s.n_pack, MAX_PACK):
        clear_item(s.pack[i])
    clear_item(s.made)
