"""What happened in a game, found out by playing its decisions again."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field

import numpy as np

from ante.engine.actions import Verb, verb_of
from ante.engine.run import new_run
from ante.engine.state import Kind, Phase, Status
from ante.engine.step import step
from ante.env.replay import Heading, RefusedDecision
from ante.env.reward import blinds_beaten
from ante.errors import BalatroError

Game = tuple[Heading, tuple[int, ...]]  # how it begins, its macro decisions
Moment = tuple[int, int]  # ante, blinds beaten so far


class NoGames(BalatroError, ValueError):
    """Nothing to look at."""


@dataclass(frozen=True)
class Round:
    """One blind that was played: blind 0 Small, 1 Big, 2 Boss."""

    ante: int
    blind: int
    hands: int
    discards: int
    beaten: bool


@dataclass
class Facts:
    """One game.

    money    dollars as each shop begins, the first after the first blind
    hands    how often each Hand was played, (12,)
    best     most chips that one hand scored
    offered  jokers that a shop or a pack showed, and when first
    chosen   those of them that were bought or picked, and when first
    gained   jokers that came in whichever way, and when first
    pairs    two jokers (the lower number first) held together, and when first
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
    """What happened in each game. Raises NoGames, RefusedDecision."""
    found = []
    for heading, decisions in games:
        found.append(facts_of(heading, decisions))
        advance(1)
    if not found:
        raise NoGames("no game to look at: name a player, replays, or a league with results")
    return found


def facts_of(heading: Heading, decisions: Iterable[int]) -> Facts:
    """What happened in one game. Raises RefusedDecision."""
    s, facts = new_run(**asdict(heading)), Facts(heading.seed)
    held = held_jokers(s)
    for number, action in enumerate(decisions):
        phase, ante, blind = int(s.phase), int(s.ante), int(s.blind_on_deck)
        used = int(s.hands_played), int(s.discards_used)
        if step(s, np.int64(action)) == Status.ILLEGAL:
            raise RefusedDecision(f"decision {number} of game {heading.seed} is refused: recorded by another engine?")
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
    facts.ante = int(s.ante) - bool(s.won and s.phase == Phase.ROUND_END)  # it is raised as the last boss falls
    facts.hands = s.plays.tolist()
    return facts


def held_jokers(s: np.record) -> frozenset[int]:
    """The jokers that are held, by number."""
    return frozenset(s.jokers["id"][: int(s.n_jokers)].tolist())


def note_jokers(s: np.record, facts: Facts, before: frozenset[int], now: frozenset[int], verb: int) -> None:
    """Write down the jokers that came, and those that are on offer."""
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
