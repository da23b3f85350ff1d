"""Games set up for one question: `hand_of("S_A H_T:m_glass")` in a round, `own(s, "j_egg")`, `use(s, "c_death", 0, 1)`."""

from typing import Any

import numpy as np

from ante.catalog.consumables import by_key as consumable_by_key
from ante.catalog.jokers import by_key as joker_by_key
from ante.engine.actions import Verb, pack_action
from ante.engine.create import add_consumable_from_item, add_joker_from_item, make_given_consumable, make_given_joker
from ante.engine.jokers.lineup import refresh_lineup
from ante.engine.notation import card_text, item_text
from ante.engine.run import new_run
from ante.engine.state import Place, Status
from ante.engine.step import step
from tests.support.hands import parse_card


def act(s: Any, verb: Verb, target: int = 0, to: int = 0, cards: tuple[int, ...] = ()) -> Status:
    """Take one macro decision; the hand positions are 0-based."""
    return Status(step(s, np.int64(pack_action(verb, target, to, sum(1 << card for card in cards)))))


def in_round(seed: str = "TESTSEED", deck: str = "b_red", stake: int = 1) -> Any:
    """A game whose Small Blind has just been selected."""
    s = new_run(seed, deck, stake)
    assert act(s, Verb.SELECT_BLIND) == Status.PLAYING
    return s


def hand_of(texts: str, **options: Any) -> Any:
    """A round in which exactly these cards are held; the rest of the hand went back under the draw pile."""
    s = in_round(**options)
    wanted = texts.split()
    for i in range(len(wanted), s.n_hand):
        s.cards[s.hand[i]].place = Place.GONE
    s.n_hand = len(wanted)
    for position, text in enumerate(wanted):
        card, parts = s.cards[s.hand[position]], parse_card(text)
        for name in ("rank", "suit", "enhancement", "edition", "seal", "bonus", "debuffed"):
            card[name] = parts[name]
    return s


def own(s: Any, *keys: str) -> None:
    """These jokers are owned, rightmost last."""
    for key in keys:
        make_given_joker(s, int(joker_by_key[key]))
        add_joker_from_item(s, s.made)
    refresh_lineup(s)


def give(s: Any, *keys: str) -> None:
    """These consumables are held."""
    for key in keys:
        make_given_consumable(s, int(consumable_by_key[key]))
        add_consumable_from_item(s, s.made)


def use(s: Any, key: str, *cards: int) -> Status:
    """Hold a consumable and use it on these hand positions."""
    give(s, key)
    return act(s, Verb.USE, int(s.n_consumables) - 1, cards=cards)


def hand(s: Any) -> str:
    """The hand as text."""
    return " ".join(card_text(s.cards[s.hand[i]]) for i in range(s.n_hand))


def jokers(s: Any) -> str:
    """The line-up as text."""
    return " ".join(item_text(s.jokers[i]) for i in range(s.n_jokers))


def consumables(s: Any) -> list[str]:
    """Keys of what is held."""
    return [item_text(s.consumables[i]) for i in range(s.n_consumables)]
