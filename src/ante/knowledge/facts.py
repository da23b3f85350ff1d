"""Measured effects of the visible jokers as lines of text, for the questions of `ante.hints`, which does not import this.

All effects that are significant and not tiny are read once, so a question costs a search among the pairs of its line-up, and the same line-up
has the same lines. If the graph cannot be read, there are no lines: a circuit breaker tries again after a while.
"""

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ante.catalog.jokers import JOKERS
from ante.catalog.jokers import by_key as joker_by_key
from ante.errors import NotInstalled
from ante.knowledge import queries
from ante.knowledge.backends import Backend, check_store
from ante.knowledge.measuring.table import RATE
from ante.knowledge.store import DEFAULT, Knowledge, open_as
from ante.messages import foreign

LOG = logging.getLogger(__name__)
MOST = 5  # lines of a question
READ_SECONDS = 5.0
OPEN_SECONDS = 60.0  # of the circuit breaker, which the first failure opens
CIRCUIT = "graph"
LINE_UPS = 4096  # line-ups whose lines are kept
HEADING = "Measured in other games (both jokers against what they gain alone: factor on the score of a hand):"
PAIRS = (
    "MATCH (a:Joker)-[s:WORKS_WITH]->(b:Joker) WHERE s.counts "
    "RETURN a.key AS one, b.key AS other, s.effect AS effect ORDER BY one, other"
)
USED = "MATCH (s:Strategy)-[:USES]->(j:Joker) WHERE s.validated RETURN s.key AS key, j.key AS joker ORDER BY key, joker"


@dataclass(frozen=True)
class Effects:
    """The effects of a graph.

    Attributes:
        pairs: Significant interactions of two jokers, as differences of log10 scores, by their numbers.
        strategies: Validated strategies of at least two jokers: their numbers, the effect and the line.
    """

    pairs: dict[frozenset[int], float] = field(default_factory=dict)
    strategies: tuple[tuple[frozenset[int], float, str], ...] = ()


class GraphFacts:
    """Lines about jokers from a graph (see `hints.question.Facts`).

    Args:
        open_graph: Opens the graph; called in a separate thread, so that a server that hangs delays nothing for long.
        notify: Receives the cause when the graph cannot be read.
    """

    def __init__(self, open_graph: Callable[[], Knowledge], notify: Callable[[str], None] = LOG.warning) -> None:
        from purgatory import SyncCircuitBreakerFactory

        self._open, self._notify = open_graph, notify
        self._breakers = SyncCircuitBreakerFactory(1, OPEN_SECONDS)
        self._effects: Effects | None = None
        self._kept = lru_cache(LINE_UPS)(self._found)

    def lines(self, held: frozenset[int], offered: frozenset[int]) -> tuple[str, ...]:
        """Return at most MOST lines about jokers that are held and offered, by number, after a heading; or none."""
        return self._kept(held, offered) if self._read() else ()

    def _read(self) -> bool:
        """Return whether the effects are known, after reading them if the breaker allows it."""
        from purgatory.domain.model import OpenedState

        if self._effects is None:
            try:
                with self._breakers.get_breaker(CIRCUIT):
                    self._effects = in_time(self._all, READ_SECONDS)
            except OpenedState:
                return False
            except Exception as error:  # error classes differ between backends
                self._notify(f"questions have no lines of the graph: {foreign(error) or type(error).__name__}")
                return False
        return True

    def _all(self) -> Effects:
        with self._open() as graph:
            return effects_of(graph.backend)

    def _found(self, held: frozenset[int], offered: frozenset[int]) -> tuple[str, ...]:
        assert self._effects is not None
        seen, found = held | offered, []
        for jokers, effect, line in self._effects.strategies:
            if jokers <= seen and jokers & held:
                found.append((1, -effect, line))
        for one in seen:
            for other in seen:
                effect = self._effects.pairs.get(frozenset((one, other)), 0.0) if one < other else 0.0
                if effect and (one in held or other in held):
                    both = one in held and other in held
                    line = f"{named(one, held)} + {named(other, held)}: x{10**effect:.2f}"
                    found.append((2 if both else 0, -abs(effect), line))
        # first what an offer would add to the line-up, then the line-up itself, the largest effects first
        chosen = [line for _, _, line in sorted(found)][:MOST]
        return (HEADING, *chosen) if chosen else ()


def named(joker: int, held: frozenset[int]) -> str:
    """Return the name of a joker, and whether it is only offered."""
    return JOKERS[joker].name + ("" if joker in held else " (offered)")


def effects_of(graph: Backend) -> Effects:
    """Return the effects of a graph."""
    pairs = {
        frozenset((int(joker_by_key[row["one"]]), int(joker_by_key[row["other"]]))): float(row["effect"])
        for row in graph.read(PAIRS)
        if abs(row["effect"]) >= queries.WEAKEST
    }
    used: dict[str, set[int]] = {}
    for row in graph.read(USED):
        used.setdefault(row["key"], set()).add(int(joker_by_key[row["joker"]]))
    strategies = tuple(
        (frozenset(used[row["key"]]), float(row["effect"]), strategy_line(row))
        for row in queries.strategies(graph)
        if row["q"] <= RATE and len(used.get(row["key"], ())) > 1
    )
    return Effects(pairs, strategies)


def strategy_line(row: dict[str, Any]) -> str:
    """Return a validated strategy in one line."""
    return f"{row['name']} in ante 6: {row['granted']:.0%} of games won, {row['control']:.0%} with other jokers"


def in_time(work: Callable[[], Effects], seconds: float) -> Effects:
    """Return the result of work in a separate thread. Raises TimeoutError after this time, or the error of the work."""
    done: queue.SimpleQueue[Effects | BaseException] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except BaseException as error:  # raised again by the caller
            done.put(error)

    threading.Thread(target=run, name="facts", daemon=True).start()
    try:
        found = done.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"the graph has not answered for {seconds:g} seconds") from None
    if isinstance(found, BaseException):
        raise found
    return found


def facts_from(store: str | None, environment: Mapping[str, str]) -> GraphFacts | None:
    """Return the facts of a store: `default`, a file or a Bolt URL; None without one. Raises BadStore, NotInstalled."""
    if not store:
        return None
    try:
        if store == DEFAULT:
            open_as(store, environment).close()  # writes it to the cache if it is missing
        else:
            check_store(store)
        return GraphFacts(lambda: open_as(store, environment))
    except ModuleNotFoundError as error:
        raise NotInstalled(error) from None
