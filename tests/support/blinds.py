"""Rounds against a chosen blind: `facing("bl_club", "S_A C_A")`, `play(s, 0, 1)`."""

from typing import Any

from ante.catalog.blinds import by_key as blind_by_key
from ante.catalog.tags import by_key as tag_by_key
from ante.engine.actions import Verb
from ante.engine.bosses import debuff_cards
from ante.engine.run import new_run
from ante.engine.state import Place, Status
from ante.golden.hands import parse_card
from tests.support.table import act, own


def facing(
    blind: str,
    texts: str = "",
    owned: tuple[str, ...] = (),
    ante: int = 1,
    seed: str = "TESTSEED",
    deck: str = "b_red",
    stake: int = 1,
) -> Any:
    """A round against this blind has begun; texts, if given, are exactly the cards held."""
    s = new_run(seed, deck, stake)
    own(s, *owned)
    s.ante = ante
    return begin(s, blind, texts)


def begin(s: Any, blind: str, texts: str = "") -> Any:
    """The next round of this game is one against this blind."""
    if blind_by_key[blind] > 2:
        s.boss = blind_by_key[blind]
    s.blind_on_deck = min(2, blind_by_key[blind] - 1)
    assert act(s, Verb.SELECT_BLIND) == Status.PLAYING
    if texts:
        hold(s, texts)
    return s


def hold(s: Any, texts: str) -> None:
    """Exactly these cards are held, face up and as the boss sees them; the others dealt are gone."""
    wanted = texts.split()
    for i in range(len(wanted), s.n_hand):
        s.cards[s.hand[i]].place = Place.GONE
    s.n_hand = len(wanted)
    for position, text in enumerate(wanted):
        card, parts = s.cards[s.hand[position]], parse_card(text)
        for name in ("rank", "suit", "enhancement", "edition", "seal", "bonus"):
            card[name] = parts[name]
        card.face_down = 0
    debuff_cards(s)


def play(s: Any, *cards: int) -> Status:
    """Play the cards at these hand positions."""
    return act(s, Verb.PLAY, cards=cards)


def discard(s: Any, *cards: int) -> Status:
    """Discard the cards at these hand positions."""
    return act(s, Verb.DISCARD, cards=cards)


def win(s: Any) -> Status:
    """The round is won with its first card."""
    s.target = 0.0
    first = next((i for i in range(s.n_hand) if s.cards[s.hand[i]].forced), 0)
    return play(s, first)


def to_shop(s: Any) -> Any:
    """The round is won and the shop after it is open."""
    win(s)
    assert act(s, Verb.CASH_OUT) == Status.PLAYING
    return s


def held(s: Any) -> list[Any]:
    """The cards of the hand, left to right."""
    return [s.cards[s.hand[i]] for i in range(s.n_hand)]


def full_deck(s: Any) -> list[Any]:
    """Every playing card of the run, wherever it is."""
    return [s.cards[i] for i in range(s.n_cards) if s.cards[i].place != Place.GONE]


def skip_for(s: Any, *tags: str) -> Any:
    """The blinds on deck are skipped, one for each of these tags."""
    for tag in tags:
        s.skip_tags[s.blind_on_deck] = tag_by_key[tag]
        assert act(s, Verb.SKIP_BLIND) == Status.PLAYING
    return s
