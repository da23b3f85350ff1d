"""The broker: accepts positions from env runners, queries the advisor asynchronously and keeps hints until fetched.

`ask` and `take` do not block. Rules are evaluated immediately; LLM requests run in an event loop of a separate thread.
In training, the broker runs in a separate process (training/advice/broker.py makes it a Ray actor).
"""

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ante.env.text import macro_name
from ante.hints.advice import Advice
from ante.hints.ledger import GOOD, Ledger
from ante.hints.potential import Potential
from ante.hints.question import Facts, games_at, lists_of, question_of, without_seed
from ante.hints.rules import choose, outlook, reason
from ante.hints.settings import AdvisorSettings
from ante.lookahead.candidates import decisions_of

LOG = logging.getLogger(__name__)
AHEAD = 4  # queued requests per request in progress
MANY = 10_000  # credits per player with the rule-based advisor


@dataclass(frozen=True)
class Delivered:
    """Result of one request, with or without advice. `seconds` is the time from request to response."""

    ticket: int
    advice: Advice | None
    seconds: float


@dataclass(frozen=True)
class Taken:
    """Results for one player.

    credits    number of positions that the player may send before it fetches results again
    potential  weights of the potential fitted to all outlooks, None before the first fit
    """

    delivered: list[Delivered]
    credits: int
    potential: NDArray[np.float64] | None


class Broker:
    """The broker of a run, whose capacity `players` share."""

    def __init__(
        self,
        settings: AdvisorSettings | None,
        environment: Mapping[str, str],
        players: int = 1,
        picture: Callable[[Any], bytes] | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._settings, self._players, self._picture, self._facts = settings, max(1, players), picture, facts
        self._lock, self._open = threading.Lock(), 0
        self._done: dict[str, list[Delivered]] = defaultdict(list)
        self._noted: list[dict[str, Any]] = []
        self._boot, self._forgotten = uuid4().hex, 0
        self._potential = Potential()
        self.ledger = Ledger()
        self._loop: asyncio.AbstractEventLoop | None = None
        if settings is not None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="hints", daemon=True).start()
            asyncio.run_coroutine_threadsafe(self._opened(settings, environment), self._loop).result()

    async def _opened(self, settings: AdvisorSettings, environment: Mapping[str, str]) -> None:
        """Create the desk in the loop's thread. Raises BadHints, NotInstalled."""
        from ante.hints.desk import Desk, make_advisor

        self._desk = Desk(settings, make_advisor(settings, environment))
        self.ledger = self._desk.ledger
        self._gate = asyncio.Semaphore(settings.concurrency)

    def ask(self, player: str, tickets: list[int], states: Any, reorder: str) -> None:
        """Request hints for these positions, (k,) state_t; each result carries its ticket."""
        lists = lists_of(games_at(states, reorder))
        if self._loop is None:
            for ticket, s, listed in zip(tickets, states, lists, strict=True):
                self._advise(player, ticket, s, listed)
            return
        with self._lock:
            self._open += len(tickets)
        for ticket, s, listed in zip(tickets, states, lists, strict=True):
            asyncio.run_coroutine_threadsafe(self._asked(player, ticket, s, listed), self._loop)

    def _advise(self, player: str, ticket: int, s: Any, listed: Any) -> None:
        """Deliver the rules' hint. SPEED: without the text of a question, which would take 1 ms per position."""
        begin = time.perf_counter()
        entry = choose(listed)
        decision = int(decisions_of(listed["entries"][None], np.array([entry]))[0])
        words = reason(listed["entries"][entry])
        advice = Advice(entry, decision, macro_name(s, decision), 100, outlook(listed), words, "rules")
        self.ledger.asks += 1
        self.ledger.ended(GOOD, time.perf_counter() - begin)
        self._deliver(player, Delivered(ticket, advice, time.perf_counter() - begin), listed)

    async def _asked(self, player: str, ticket: int, s: Any, listed: Any) -> None:
        """Process one request. A result with its ticket is always delivered."""
        begin, advice = time.monotonic(), None
        try:
            async with self._gate:
                assert self._settings is not None
                frame = self._picture(without_seed(s)) if self._picture and self._settings.vision else None
                told = s, listed, self._settings.prompt, frame, self._facts
                # facts may be read from a server; the loop must not wait for it
                question = await asyncio.to_thread(question_of, *told) if self._facts else question_of(*told)
                advice = await self._desk.advise(question) if question is not None else None
        except Exception:  # no caller awaits this task: the error must appear in ledger, alarm and log
            LOG.exception("a request for a hint failed unexpectedly")
            self.ledger.ended("broken")
        finally:
            with self._lock:
                self._open -= 1
            self._deliver(player, Delivered(ticket, advice, time.monotonic() - begin), listed)

    def _deliver(self, player: str, delivered: Delivered, listed: Any) -> None:
        with self._lock:
            self._done[player].append(delivered)
            if delivered.advice is not None:
                self._potential.add(listed, delivered.advice.outlook)

    def take(self, player: str) -> Taken:
        """Return the results for this player since the last call."""
        with self._lock:
            return Taken(self._done.pop(player, []), self._credits(), self._potential.weights)

    def _credits(self) -> int:
        """Return how many positions a player may send; a single one while the circuit breaker is open."""
        if self._settings is None:
            return MANY
        if self.ledger.breaker == "opened":
            return int(self._open == 0)
        return max(0, self._settings.concurrency * (1 + AHEAD) - self._open) // self._players

    def note(self, rows: list[dict[str, Any]], compared: int, agreed: int) -> None:
        """Record the results of hinted decisions for `report`."""
        with self._lock:
            self._noted += rows
            self.ledger.compared += compared
            self.ledger.agreed += agreed

    def report(self, boot: str = "", known: int = 0) -> dict[str, Any]:
        """Return the ledger, the alarm if any, and the recorded rows after the first `known` of this boot.

        Rows are discarded once they are known to the caller, so a lost report loses no rows.
        """
        with self._lock:
            if boot == self._boot:
                del self._noted[: known - self._forgotten]
                self._forgotten = known
            rows = list(self._noted)
            numbering = {"boot": self._boot, "known": self._forgotten + len(rows)}
            ends, figures = dict(self.ledger.ends), self.ledger.figures()
            return {"figures": figures, "ends": ends, "alarm": self.ledger.alarm(), "rows": rows, **numbering}


def hint_field(advice: Advice | None, agreed: bool) -> dict[str, Any] | None:
    """Return a hint as stored with a decision in logs, replays and pictures: text, agreed, source; None without one."""
    if advice is None:
        return None
    return {"text": advice.text, "agreed": agreed, "source": advice.source}


def plain(advice: Advice | None) -> dict[str, Any]:
    """Return the other logged fields of a hint."""
    found = asdict(advice) if advice else {}
    return {f"hint_{name}": found.get(name) for name in ("decision", "confidence", "outlook", "reason")}
