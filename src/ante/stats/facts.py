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
    pairs    pairs of gained jokers (lower id first) held together, with the first moment; jokers that a challenge
             starts with have no gain, so they form none
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
    held, seen = held_jokers(s), jokers_on_offer(s)
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
        now, offered = held_jokers(s), jokers_on_offer(s)
        note_gains(s, facts, now - held, now, seen if verb in (Verb.BUY, Verb.PICK) else frozenset())
        for joker in offered:
            facts.offered.setdefault(joker, moment(s))
        held, seen = now, offered
    facts.won, facts.blinds = bool(s.won), int(blinds_beaten(s))
    facts.ante = int(s.ante) - bool(s.won and s.phase == Phase.ROUND_END)  # incremented when the last boss is beaten
    facts.hands = s.plays.tolist()
    return facts


def held_jokers(s: np.record) -> frozenset[int]:
    """Return the ids of the held jokers."""
    return frozenset(s.jokers["id"][: int(s.n_jokers)].tolist())


def jokers_on_offer(s: np.record) -> frozenset[int]:
    """Return the ids of the jokers in the shop or the open pack."""
    if s.phase == Phase.SHOP:
        items = s.row[: int(s.n_row)]
    elif s.phase == Phase.PACK:
        items = s.pack[: int(s.n_pack)]
    else:
        return frozenset()
    return frozenset(items["id"][items["kind"] == Kind.JOKER].tolist())


def moment(s: np.record) -> Moment:
    """Return the ante and the number of blinds beaten."""
    return int(s.ante), int(blinds_beaten(s))


def note_gains(s: np.record, facts: Facts, came: frozenset[int], now: frozenset[int], takeable: frozenset[int]) -> None:
    """Record the jokers that came in a step; those among `takeable` were taken where they were offered."""
    when = moment(s)
    for joker in came:
        facts.gained.setdefault(joker, when)
        if joker in takeable:
            facts.chosen.setdefault(joker, when)
        for other in now - {joker}:
            if other in facts.gained:
                facts.pairs.setdefault((min(joker, other), max(joker, other)), when)
