"""Extracts facts about a game by replaying its decisions."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field

import numpy as np

from ante.engine.actions import Verb, verb_of
from ante.engine.core.state import Kind, Phase, Status
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.replay import Heading, RefusedDecision
from ante.env.reward import blinds_beaten
from ante.errors import BalatroError

Game = tuple[Heading, tuple[int, ...]]  # heading and macro decisions
Moment = tuple[int, int]  # ante, blinds beaten so far


class NoGames(BalatroError, ValueError):
    """There are no games to analyse."""


@dataclass(frozen=True)
class Round:
    """One blind that was played: 0 Small, 1 Big, 2 Boss."""

    ante: int
    blind: int
    hands: int
    discards: int
    beaten: bool


@dataclass
class Facts:
    """Facts of one game.

    money    dollars at the start of each shop, the first after the first blind
    hands    number of times each Hand was played, (12,)
    best     highest score of one hand
    offered  jokers offered in a shop or a pack, with the moment of the first offer
    chosen   those of them that were bought or picked, with the first moment
    gained   jokers gained in any way, with the first moment
    pairs    pairs of jokers (lower id first) held together, with the first moment
    """

    seed: str
    won: bool = False
    ante: int = 0
    blinds: int = 0
    rounds: list[Round] = field(default_factory=list)
    money: list[int] = field(default_factory=list)
    hands: list[int] = field(default_factory=list)
    best: float = 0.0
    verbs: Counter[int] = field(default_factory=Counter)
    offered: dict[int, Moment] = field(default_factory=dict)
    chosen: dict[int, Moment] = field(default_factory=dict)
    gained: dict[int, Moment] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Moment] = field(default_factory=dict)


def facts_of_all(games: Iterable[Game], advance: Callable[[int], None] = lambda _: None) -> list[Facts]:
    """Return the facts of each game. Raises NoGames, RefusedDecision."""
    found = []
    for heading, decisions in games:
        found.append(facts_of(heading, decisions))
        advance(1)
    if not found:
        raise NoGames("there are no games to analyse: pass a player, replays, or a league with results")
    return found


def facts_of(heading: Heading, decisions: Iterable[int]) -> Facts:
    """Return the facts of one game. Raises RefusedDecision."""
    s, facts = new_run(**asdict(heading)), Facts(heading.seed)
    held = held_jokers(s)
    for number, action in enumerate(decisions):
        phase, ante, blind = int(s.phase), int(s.ante), int(s.blind_on_deck)
        used = int(s.hands_played), int(s.discards_used)
        if step(s, np.int64(action)) == Status.ILLEGAL:
            raise RefusedDecision(f"decision {number} of game {heading.seed} is illegal: recorded by another engine?")
        verb = int(verb_of(action))
        facts.verbs[verb] += 1
        if verb == Verb.PLAY:
            facts.best = max(facts.best, float(s.hand_total))
        if phase == Phase.PLAY and s.phase in (Phase.ROUND_END, Phase.OVER):
            hands, discards = used[0] + (verb == Verb.PLAY), used[1] + (verb == Verb.DISCARD)
            facts.rounds.append(Round(ante, blind, hands, discards, bool(s.phase == Phase.ROUND_END)))
        if verb == Verb.CASH_OUT:
            facts.money.append(int(s.dollars))
        now = held_jokers(s)
        note_jokers(s, facts, held, now, verb)
        held = now
    facts.won, facts.blinds = bool(s.won), int(blinds_beaten(s))
    facts.ante = int(s.ante) - bool(s.won and s.phase == Phase.ROUND_END)  # incremented when the last boss is beaten
    facts.hands = s.plays.tolist()
    return facts


def held_jokers(s: np.record) -> frozenset[int]:
    """Return the ids of the held jokers."""
    return frozenset(s.jokers["id"][: int(s.n_jokers)].tolist())


def note_jokers(s: np.record, facts: Facts, before: frozenset[int], now: frozenset[int], verb: int) -> None:
    """Record gained and offered jokers."""
    when = int(s.ante), int(blinds_beaten(s))
    came = now - before
    for joker in came:
        facts.gained.setdefault(joker, when)
        if verb in (Verb.BUY, Verb.PICK):
            facts.chosen.setdefault(joker, when)
        for other in now - {joker}:
            facts.pairs.setdefault((min(joker, other), max(joker, other)), when)
    if s.phase == Phase.SHOP:
        items = s.row[: int(s.n_row)]
    elif s.phase == Phase.PACK:
        items = s.pack[: int(s.n_pack)]
    else:
        return
    for joker in items["id"][items["kind"] == Kind.JOKER].tolist():
        facts.offered.setdefault(joker, when)
