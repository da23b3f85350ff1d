"""The life of a query: checked, answered again if it is repeated, decided by the player or, if it is late, by the rules."""

import asyncio
import hashlib
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import grpc
import numpy as np

from ante.env.games import first_refused
from ante.env.observe import REORDER_ALL
from ante.env.replay import action_text
from ante.env.text import macro_name
from ante.hints.rules import RulesPlayer
from ante.serve.decisions.batching import Batcher, Result, Work, expired, stale
from ante.serve.decisions.deciders import MOST_OPTIONS, Choice, Decider, StepwiseDecider, Tables
from ante.serve.decisions.exporter import Exporter
from ante.serve.decisions.positions import (
    NO_POSITION,
    Refused,
    Runs,
    batch_of,
    faults_of,
    hashes_of,
    malformed,
    position_of,
)
from ante.serve.decisions.v1 import decisions_pb2 as pb

LOG = logging.getLogger(__name__)
LARGEST_BATCH = 64
MOST_WAITING = 1_024
LONGEST_NAME = 64
REMEMBERED = 4_096  # answers kept for repeated queries, and games whose sequence is known
WARM_DECISIONS = 12  # until the first shop
PRIORITIES = frozenset(pb.Priority.values())
SEARCH, LATE = 0.5, 0.7  # parts of a query's time after which a search should end, and after which the rules decide


class Desk:
    """Decides queries for the current player.

    Attributes:
        decider: The player; None while its model is missing. Replaced as a whole between batches.
        missing: Why the player is missing.

    Args:
        answer_seconds: Seconds until an answer of queries without deadline.
        largest: Most queries that the player decides at a time.
    """

    def __init__(
        self, decider: Decider | None, missing: str = "", answer_seconds: float = 5.0, largest: int = LARGEST_BATCH
    ) -> None:
        self.decider, self.missing, self.exporter = decider, missing, Exporter()
        self._answer_seconds = answer_seconds
        # Scratch space of the thread of each queue.
        self._rules = [StepwiseDecider("rules", "", RulesPlayer(), pb.STRATEGY_FALLBACK) for _ in range(2)]
        self._tables, self._runs = (Tables(), Tables()), (Runs(), Runs())
        self._answers: OrderedDict[str, tuple[bytes, asyncio.Task[Any]]] = OrderedDict()
        self._sequences: OrderedDict[str, int] = OrderedDict()
        self.player_queue = Batcher(self._decide, largest, MOST_WAITING, self._is_stale, self.exporter.observe_batch)
        self.rules_queue = Batcher(self._decide_by_rules, LARGEST_BATCH, MOST_WAITING, self._is_stale)
        self.exporter.waiting.set_function(lambda: len(self.player_queue))

    def warm(self) -> None:
        """Decide the first positions of a game by player and rules, which loads their compiled code."""
        actions: list[int] = []
        for _ in range(WARM_DECISIONS):
            queries = [pb.Query(request_id="warm", run=pb.Run(seed="TESTSEED", actions=actions))]
            self._decide(queries)
            actions.append(self._decide_by_rules(queries)[0].packed_action)

    def start(self) -> None:
        """Begin to decide; call it in the event loop."""
        self.player_queue.start()
        self.rules_queue.start()

    async def stop(self) -> None:
        """Refuse what waits."""
        await self.player_queue.stop()
        await self.rules_queue.stop()

    async def decision(self, query: "pb.Query", seconds: float | None = None) -> "pb.Decision":
        """Return the decision of a query that must be answered in `seconds`. Raises Refused.

        A repeated query shares the decision of the first; a caller that gives up does not cancel it for the others.
        """
        begin = time.monotonic()
        deadline = begin + time_left(query, seconds, self._answer_seconds)
        kept = self._answers.get(query.request_id)
        check(query)
        place = fingerprint(query)
        if kept and kept[0] != place:
            raise Refused(
                grpc.StatusCode.ALREADY_EXISTS, f"request_id {query.request_id!r} was used for another position"
            )
        if kept is None:
            self._follow(query)
            task = asyncio.create_task(self._decided(query, deadline))
            task.add_done_callback(lambda done: self._ended(query.request_id, done))
            self._answers[query.request_id] = place, task
            if len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)
        else:
            self.exporter.repeated.inc()
            task = kept[1]
        await asyncio.wait([task], timeout=deadline - time.monotonic())  # which does not cancel it for other callers
        if not task.done():
            raise expired()
        return task.result()

    def decide_here(self, query: "pb.Query") -> "pb.Decision":
        """Return the decision of a query at once, in this thread, for a desk that was not started. Raises Refused."""
        check(query)
        found = self._decide([query])[0]
        if isinstance(found, Refused):
            raise found
        return found

    def _ended(self, request_id: str, task: "asyncio.Task[Any]") -> None:
        """Forget a query without a decision, so that it can be repeated."""
        failed = task.cancelled() or task.exception() is not None
        kept = self._answers.get(request_id)
        if failed and kept and kept[1] is task:  # else it was forgotten, and has been repeated
            del self._answers[request_id]

    def _follow(self, query: "pb.Query") -> None:
        """Remember the sequence of the query's game. Raises Refused if the query is stale."""
        if not query.game_id:
            return
        latest = self._sequences.get(query.game_id, 0)
        if query.sequence < latest:
            raise stale(query)
        self._sequences[query.game_id] = query.sequence
        self._sequences.move_to_end(query.game_id)
        if len(self._sequences) > REMEMBERED:
            self._sequences.popitem(last=False)

    def _is_stale(self, work: Work) -> bool:
        return bool(work.query.sequence < self._sequences.get(work.query.game_id, 0))

    async def _decided(self, query: "pb.Query", deadline: float) -> "pb.Decision":
        """Return the player's decision, or that of the rules if the player is missing, late or fails. Raises Refused."""
        now = time.monotonic()
        work = Work(query, deadline, asyncio.get_running_loop().create_future(), now + SEARCH * (deadline - now))
        self.player_queue.put(work)
        await asyncio.wait([work.done], timeout=LATE * (deadline - now))
        if work.done.done():
            return work.done.result()
        work.done.cancel()
        if self.rules_queue.full():
            raise expired()
        work = Work(query, deadline, asyncio.get_running_loop().create_future())
        self.rules_queue.put(work)
        await asyncio.wait([work.done], timeout=deadline - time.monotonic())
        if not work.done.done():
            work.done.cancel()
            raise expired()
        return work.done.result()

    def _decide(self, batch: Sequence[Any], until: float = math.inf) -> Sequence[Result]:
        """Decide a batch by the player; runs in the thread of its queue."""
        decider = self.decider
        if decider is None:
            return self._results(batch, self._rules[0], 0, self.missing)
        try:
            return self._results(batch, decider, 0, until=until)
        except Exception:  # such as one of a player from another package: the log has the cause, the rules decide
            LOG.exception("the player %s failed", decider.name)
            self.exporter.failures.inc()
            return self._results(batch, self._rules[0], 0, f"the player {decider.name} failed")

    def _decide_by_rules(self, batch: Sequence[Any], until: float = math.inf) -> Sequence[Result]:
        """Decide late work by the rules; runs in the thread of its queue."""
        name = self.decider.name if self.decider else "rules"
        return self._results(batch, self._rules[1], 1, f"the player {name} was late")

    def _results(
        self, batch: Sequence[Any], decider: Decider, thread: int, reason: str = "", until: float = math.inf
    ) -> Sequence[Result]:
        """Return a decision or Refused for each work."""
        found: list[Result] = [None] * len(batch)
        placed = []
        for i, query in enumerate(batch):
            try:
                placed.append((i, position_of(query, self._runs[thread])))
            except Refused as refusal:
                found[i] = refusal
        if placed:
            states = batch_of([each for _, each in placed])
            self._choose([i for i, _ in placed], states, batch, decider, thread, found, until)
        for each in found:
            if reason and not isinstance(each, Refused):
                each.reason = reason
        return found

    def _choose(
        self,
        which: Sequence[int],
        states: np.recarray,
        batch: Sequence[Any],
        decider: Decider,
        thread: int,
        found: list[Result],
        until: float,
    ) -> None:
        """Write the results of works whose positions are known: which (n,) indices, states (n,) state_t."""
        untrusted = np.array([batch[i].WhichOneof("position") not in ("run", "replay") for i in which])
        faults = faults_of(states, untrusted)
        for k, refusal in faults.items():
            found[which[k]] = refusal
        good = [k for k in range(len(which)) if k not in faults]
        if not good:
            return
        states = batch_of([states[k] for k in good]) if faults else states
        games = self._tables[thread].place(states, decider)
        hashes = hashes_of(games)
        choices = decider.decide(games, until)
        check_legal(states, choices, decider)
        for i, k in enumerate(good):
            query, seen = batch[which[k]], hashes[i]
            if query.state_hash and query.state_hash != seen:
                message = (
                    f"stale: the position has state hash {seen}, and the client is at {query.state_hash[:LONGEST_NAME]}"
                )
                found[which[k]] = Refused(grpc.StatusCode.FAILED_PRECONDITION, message)
                continue
            found[which[k]] = message_of(states[i], choices[i], decider, seen, query)


def check_legal(states: np.recarray, choices: Sequence[Choice], decider: Decider) -> None:
    """Raise RuntimeError if a decision is illegal in its position."""
    decisions = np.array([choice.decision for choice in choices])
    refused = first_refused(states, decisions, False, REORDER_ALL, np.zeros(len(states), dtype=np.uint8))
    if refused >= 0:
        raise RuntimeError(f"{decider.name} decided {choices[refused].decision}, which is illegal")


def message_of(s: Any, choice: Choice, decider: Decider, seen: str, query: "pb.Query") -> "pb.Decision":
    """Return the decision of a query as a message."""
    return pb.Decision(
        action=action_text(choice.decision),
        packed_action=choice.decision,
        description=macro_name(s, choice.decision) if query.describe else "",
        strategy=choice.strategy,
        reason=choice.reason,
        confidence=choice.confidence,
        value=choice.value,
        alternatives=[
            pb.Alternative(action=action_text(each), packed_action=each, probability=chance)
            for each, chance in choice.options[: query.alternatives]
        ],
        used_llm=choice.used_llm,
        player=decider.name,
        model_digest=decider.digest,
        state_hash=seen,
    )


def check(query: "pb.Query") -> None:
    """Check the fields of a query other than its position. Raises Refused."""
    if not 1 <= len(query.request_id) <= LONGEST_NAME:
        raise malformed(f"request_id has {len(query.request_id)} characters: use 1 to {LONGEST_NAME}")
    if len(query.game_id) > LONGEST_NAME:
        raise malformed(f"game_id has {len(query.game_id)} characters: use at most {LONGEST_NAME}")
    if query.sequence and not query.game_id:
        raise malformed("sequence requires game_id")
    if query.alternatives > MOST_OPTIONS:
        raise malformed(f"alternatives is {query.alternatives}: use at most {MOST_OPTIONS}")
    if query.priority not in PRIORITIES:
        raise malformed(f"priority is {query.priority}: use 0 to {max(PRIORITIES)}")
    if query.WhichOneof("position") is None:
        raise malformed(NO_POSITION)


def time_left(query: "pb.Query", seconds: float | None, otherwise: float) -> float:
    """Return the seconds until a query must be answered. Raises Refused if they have passed."""
    limits = [seconds] if seconds is not None else []
    if query.HasField("timeout"):
        limits.append(query.timeout.seconds + 1e-9 * query.timeout.nanos)
    left = min(limits, default=otherwise)
    if left <= 0:
        raise expired()
    return left


def fingerprint(query: "pb.Query") -> bytes:
    """Return a digest of what a query requests."""
    kind = query.WhichOneof("position")
    value = getattr(query, kind)
    data = (
        value
        if kind == "record"
        else value.encode()
        if isinstance(value, str)
        else value.SerializeToString(deterministic=True)
    )
    start = (
        f"{kind} {query.game_id} {query.sequence} {query.state_hash} {query.alternatives} {query.describe} ".encode()
    )
    return hashlib.blake2b(start + data, digest_size=16).digest()
