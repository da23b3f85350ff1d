"""A state as a request: the visible game as text, and the numbered candidate actions.

The options are the legal candidates (lookahead/candidates.py). The request shows nothing hidden: the text is that of
env/text.py without the seed, from which a model might infer the future.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS, SUIT_LETTERS, Enhancement
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS, STAKES
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.core.records import as_records
from ante.engine.core.state import Kind, Phase, Place, new_states
from ante.env.games import Games
from ante.env.observe_items import in_shop
from ante.env.text import describe, macro_name
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.describe import facts_of
from ante.lookahead.records import LEGAL, candidates_t

PROMPTS = Path(__file__).with_name("prompts")
PROMPT = "v2"  # the default version


@dataclass(frozen=True)
class Option:
    """One candidate action.

    entry     its number in the list of candidates
    decision  the macro decision
    name      its description, such as `play AS AH`
    facts     estimates of its effects, empty if unknown
    """

    entry: int
    decision: int
    name: str
    facts: str


@dataclass(frozen=True)
class Question:
    """The request for one state.

    text     the user message
    system   the constant system message: the game, advice on strategy, the format of the answer
    listed   (,) candidates_t, which the rule-based advisor reads instead of the text
    session  identifies the questions of one game without revealing its seed
    picture  the frame as PNG
    """

    text: str
    system: str
    options: tuple[Option, ...]
    prompt: str
    session: str
    listed: Any = field(repr=False, compare=False, default=None)
    picture: bytes | None = field(repr=False, compare=False, default=None)

    def key(self, model: str) -> str:
        """Return the cache key of the answer: a hash of the request and the model."""
        parts = [model, self.prompt, self.system, self.text]
        digest = hashlib.sha256("\0".join(parts).encode())
        digest.update(self.picture or b"")
        return digest.hexdigest()


class Facts(Protocol):
    """Facts about jokers from outside of the game, such as measured effects (`ante.knowledge.facts`)."""

    def lines(self, held: frozenset[int], offered: frozenset[int]) -> Sequence[str]:
        """Return lines of text about the jokers that are held and those that are offered, by number; none if unknown."""


def games_at(states: np.recarray, reorder: str = "none") -> Games:
    """Return games in the states of these records (n,), observed."""
    games = Games(len(states), reorder=reorder, discrete=False)
    games.continue_from(np.ascontiguousarray(states).view(np.recarray))
    return games


def lists_of(games: Games) -> np.recarray:
    """Return the candidates of games at their last observation, (n,) candidates_t."""
    out = as_records(np.zeros(games.n, dtype=candidates_t))
    CandidateLister().write(games, out)
    return out


def question_of(
    state: Any, listed: Any, prompt: str = PROMPT, picture: bytes | None = None, facts: Facts | None = None
) -> Question | None:
    """Return the question for a state, or None if it has no legal candidate.

    state   one record, read only
    listed  its candidates_t
    facts   source of further lines about the visible jokers; they are part of the text, and so of the answer's key
    """
    session = hashlib.sha256(bytes(state.seed)).hexdigest()[:16]
    s = without_seed(state)
    options = options_of(s, listed)
    if not options:
        return None
    system, frame = prompt_of(prompt)
    lines = [f"{k}: {option.name}" + (f" ({option.facts})" if option.facts else "") for k, option in enumerate(options)]
    state = describe(s).replace(", seed \n", "\n", 1)
    if facts is not None:
        state = "\n".join([state, *facts.lines(*visible_jokers(s))])
    more = {"effects": effects(s), "unseen": unseen_cards(s)} if "{effects}" in frame else {}
    text = frame.format(state=state, options="\n".join(lines), last=len(options) - 1, **more)
    return Question(text, system, tuple(options), prompt, session, listed, picture)


def visible_jokers(s: Any) -> tuple[frozenset[int], frozenset[int]]:
    """Return the jokers that are held, and those that the shop or an open pack offers, by number."""
    row = s.row[: s.n_row] if in_shop(s) else s.pack[: s.n_pack] if s.phase == Phase.PACK else ()
    held = frozenset(int(joker.id) for joker in s.jokers[: s.n_jokers])
    return held, frozenset(int(item.id) for item in row if item.kind == Kind.JOKER) - held


def without_seed(state: Any) -> Any:
    """Return a copy of a game without its seed, for text and images."""
    copy: Any = new_states(1)
    copy.view(np.uint8)[:] = np.frombuffer(state.tobytes(), dtype=np.uint8)
    copy[0].seed_length = 0
    return copy[0]


def prompt_of(version: str) -> tuple[str, str]:
    """Return the system message, and the template of the user message: {state}, {options}, {last}, {effects}, {unseen}."""
    system, _, frame = (PROMPTS / f"{version}.md").read_text().partition("\n---\n")
    return system.strip(), frame.strip()


def options_of(s: Any, listed: Any) -> list[Option]:
    """Return the legal candidates as options."""
    legal = [k for k in range(int(listed["n"])) if listed["entries"][k]["flag_bits"] & LEGAL]
    decisions = decisions_of(
        np.broadcast_to(listed["entries"], (len(legal), len(listed["entries"]))), np.array(legal, dtype=np.int64)
    )
    return [
        Option(k, int(decision), macro_name(s, int(decision)), facts_of(listed["entries"][k]))
        for k, decision in zip(legal, decisions, strict=True)
    ]


def effects(s: Any) -> str:
    """Return a line `name: effect` for each visible item, each once and by name: the order of hidden jokers is not shown."""
    return "\n".join(f"{name}: {effect}" for name, effect in sorted(set(named_effects(s))))


def named_effects(s: Any) -> Iterator[tuple[str, str]]:
    """Yield names and effects of deck, jokers, cards, vouchers, packs and tags that a player sees."""
    if not s.challenge:
        yield DECKS[s.deck_id].name, DECKS[s.deck_id].effect
        yield from ((row.stake.name.title() + " Stake", row.effect) for row in STAKES[1 : int(s.stake)])
    items = [*s.jokers[: s.n_jokers], *s.consumables[: s.n_consumables]]
    if in_shop(s):
        items.extend(s.row[: s.n_row])
        yield from ((VOUCHERS[v].name, VOUCHERS[v].effect) for v in s.shop_vouchers[: s.n_shop_vouchers] if v)
        yield from ((PACKS[p].name, contents(PACKS[p])) for p in s.packs if p >= 0)
    if s.phase == Phase.PACK:
        items.extend(s.pack[: s.n_pack])
    for item in items:
        yield from effects_of(item)
    if s.phase in (Phase.PLAY, Phase.PACK):
        for card in s.cards[s.hand[: s.n_hand]]:
            yield from card_effects(card)
    if s.phase == Phase.BLIND_SELECT:
        yield from ((TAGS[t].name, TAGS[t].effect) for t in s.skip_tags[int(s.blind_on_deck) : 2])
    yield from ((TAGS[t].name, TAGS[t].effect) for t in s.tags[: s.n_tags])


def effects_of(item: Any) -> Iterator[tuple[str, str]]:
    """Yield names and effects of an item for sale or owned, with its edition."""
    if item.kind == Kind.PLAYING_CARD:
        yield from card_effects(item)
        return
    if item.kind == Kind.NONE:
        return
    row = JOKERS[item.id] if item.kind == Kind.JOKER else CONSUMABLES[item.id]
    yield row.name, row.effect
    if item.edition:
        yield EDITIONS[item.edition].key, EDITIONS[item.edition].effect


def card_effects(card: Any) -> Iterator[tuple[str, str]]:
    """Yield names and effects of a playing card's enhancement, edition and seal, unless it is face down."""
    if "face_down" in card.dtype.names and card.face_down:
        return
    if card.enhancement:
        yield ENHANCEMENTS[card.enhancement].name, ENHANCEMENTS[card.enhancement].effect
    if card.edition:
        yield EDITIONS[card.edition].key, EDITIONS[card.edition].effect
    if card.seal:
        yield f"{SEALS[card.seal].key.lower()} seal", SEALS[card.seal].effect


def contents(pack: Any) -> str:
    """Return what a pack offers: `choose 1 of 3`."""
    return f"choose {pack.choose} of {pack.size}"


def unseen_cards(s: Any) -> str:
    """Return the numbers of cards that were not seen this round, by suit and by rank: the draw pile, and cards face down."""
    suits, ranks, stones = dict.fromkeys(SUIT_LETTERS, 0), dict.fromkeys(RANK_LETTERS[:1:-1], 0), 0
    for card in s.cards[: s.n_cards]:
        if card.place != Place.DECK and not card.face_down:
            continue
        if card.enhancement == Enhancement.STONE:
            stones += 1
        else:
            suits[SUIT_LETTERS[card.suit]] += 1
            ranks[RANK_LETTERS[card.rank]] += 1
    parts = [" ".join(f"{letter} {count}" for letter, count in each.items() if count) for each in (suits, ranks)]
    return " | ".join([*filter(None, parts), *([f"Stone {stones}"] if stones else [])]) or "none"
