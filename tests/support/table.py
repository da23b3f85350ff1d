"""Games in a given state.

`hand_of("S_A H_T:m_glass")` is a round, `facing("bl_club", "S_A C_A")` one against a boss; `own(s, "j_egg")`,
`use(s, "c_death", 0, 1)`, `play(s, 0, 1)`, `to_shop(s)` continue from there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ante.catalog.blinds import by_key as blind_by_key
from ante.catalog.consumables import by_key as consumable_by_key
from ante.catalog.jokers import by_key as joker_by_key
from ante.catalog.tags import by_key as tag_by_key
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import Phase, Place, Status
from ante.engine.effects.active_boss import debuff_card
from ante.engine.items.card_array import put_in_deck
from ante.engine.items.making import make_given_consumable, make_given_joker
from ante.engine.items.owned import add_consumable_from_item, add_joker_from_item
from ante.engine.jokers.lineup import refresh_lineup
from ante.engine.notation import card_text, item_text
from ante.engine.run import new_run
from ante.engine.step import step
from ante.verification.recorded_hands import parse_card


def act(s: Any, verb: Verb, target: int = 0, to: int = 0, cards: tuple[int, ...] = ()) -> Status:
    """Take one macro decision; the hand positions are 0-based."""
    return Status(step(s, np.int64(pack_action(int(verb), target, to, sum(1 << card for card in cards)))))


def in_round(seed: str = "TESTSEED", deck: str = "b_red", stake: int = 1) -> Any:
    """Return a game whose Small Blind has just been selected."""
    s = new_run(seed, deck, stake)
    assert act(s, Verb.SELECT_BLIND) == Status.PLAYING
    return s


def hand_of(texts: str, **options: Any) -> Any:
    """Return a round with exactly these cards in hand; the other cards are put under the draw pile."""
    s = in_round(**options)
    redeal(s, texts)
    return s


def own(s: Any, *keys: str) -> None:
    """Add these jokers, the last one rightmost."""
    for key in keys:
        make_given_joker(s, int(joker_by_key[key]))
        add_joker_from_item(s, s.made)
    refresh_lineup(s)


def give(s: Any, *keys: str) -> None:
    """Add these consumables."""
    for key in keys:
        make_given_consumable(s, int(consumable_by_key[key]))
        add_consumable_from_item(s, s.made)


def use(s: Any, key: str, *cards: int) -> Status:
    """Add a consumable and use it on these hand positions."""
    give(s, key)
    return act(s, Verb.USE, int(s.n_consumables) - 1, cards=cards)


def hand(s: Any) -> str:
    """Return the hand as text."""
    return " ".join(card_text(s.cards[s.hand[i]]) for i in range(s.n_hand))


def jokers(s: Any) -> str:
    """Return the jokers as text."""
    return " ".join(item_text(s.jokers[i]) for i in range(s.n_jokers))


def consumables(s: Any) -> list[str]:
    """Return the keys of the consumables."""
    return [item_text(s.consumables[i]) for i in range(s.n_consumables)]


def deal(cards: str, *keys: str, held: str = "", blind: str = "bl_small", seed: str = "TESTSEED", **fields: Any) -> Any:
    """Return a round with these cards to play, these to keep in hand, and these jokers. No score beats its blind."""
    s = hand_of(f"{cards} {held}", seed=seed)
    own(s, *keys)
    s.blind = int(blind_by_key[blind])
    s.target = 1e300
    for name, value in fields.items():
        s[name] = value
    return s


def facing(
    blind: str,
    texts: str = "",
    owned: tuple[str, ...] = (),
    held: tuple[str, ...] = (),
    ante: int = 1,
    seed: str = "TESTSEED",
    deck: str = "b_red",
    stake: int = 1,
) -> Any:
    """Return a round against this blind, with jokers and consumables; texts, if given, are exactly the hand."""
    s = new_run(seed, deck, stake)
    own(s, *owned)
    give(s, *held)
    s.ante = ante
    return select(s, blind, texts)


def begin(*keys: str, blind: str = "bl_small", seed: str = "TESTSEED", held: tuple[str, ...] = ()) -> Any:
    """Return a new round; its jokers and consumables were owned before its blind was selected."""
    return facing(blind, owned=keys, held=held, seed=seed)


def select(s: Any, blind: str, texts: str = "") -> Any:
    """Make this the next blind, select it, and return the game; texts, if given, are exactly the cards in hand."""
    number = int(blind_by_key[blind])
    s.blind_on_deck = min(number, 3) - 1
    if number >= 3:
        s.boss = number
    assert act(s, Verb.SELECT_BLIND) == Status.PLAYING
    if texts:
        redeal(s, texts)
    return s


def skip_for(s: Any, *tags: str) -> Any:
    """Skip the next blinds, one for each of these tags, and return the game."""
    for tag in tags:
        s.skip_tags[s.blind_on_deck] = tag_by_key[tag]
        assert act(s, Verb.SKIP_BLIND) == Status.PLAYING
    return s


def play(s: Any, *positions: int) -> tuple[float, float]:
    """Play these hand positions and return the hand's chips and mult."""
    assert act(s, Verb.PLAY, cards=positions) == Status.PLAYING
    return float(s.score_chips), float(s.score_mult)


def discard(s: Any, *positions: int) -> None:
    """Discard these hand positions."""
    assert act(s, Verb.DISCARD, cards=positions) == Status.PLAYING


def scored(cards: str, *keys: str, **options: Any) -> tuple[float, float]:
    """Return chips and mult of these cards, all played at once; the options are those of `deal`."""
    return play(deal(cards, *keys, **options), *range(len(cards.split())))


def win(s: Any) -> Status:
    """Win the round with one card, the forced one or the leftmost, up to the cash-out screen."""
    s.target = 0.0
    card = next((i for i, card in enumerate(in_hand(s)) if card.forced), 0)
    status = act(s, Verb.PLAY, cards=(card,))
    assert s.phase == Phase.ROUND_END
    return status


def to_shop(s: Any) -> Any:
    """Win the round, enter the shop, and return the game."""
    win(s)
    assert act(s, Verb.CASH_OUT) == Status.PLAYING
    return s


def in_hand(s: Any) -> list[Any]:
    """Return the cards of the hand, left to right."""
    return [s.cards[s.hand[i]] for i in range(s.n_hand)]


def full_deck(s: Any) -> list[Any]:
    """Return every playing card of the run that is not destroyed, in any place."""
    return [s.cards[i] for i in range(s.n_cards) if s.cards[i].place != Place.GONE]


def redeal(s: Any, texts: str) -> None:
    """Replace the hand by these cards in this order, face up; the other cards are put under the draw pile.

    Cards are debuffed by the text or by the boss.
    """
    wanted = texts.split()
    assert len(wanted) <= s.n_hand
    for position in range(len(wanted), s.n_hand):
        put_in_deck(s, int(s.hand[position]))
    s.n_hand = len(wanted)
    for position, text in enumerate(wanted):
        card, parts = s.cards[s.hand[position]], parse_card(text)
        for name in ("rank", "suit", "enhancement", "edition", "seal", "bonus"):
            card[name] = parts[name]
        card.face_down = 0
        debuff_card(s, int(s.hand[position]))
        card.debuffed |= parts["debuffed"]


def happened(event: Callable[[str], Any], times: int = 200) -> int:
    """Return the number of games, each with another seed, in which the event is true."""
    return sum(bool(event(f"GAME{number}")) for number in range(times))
