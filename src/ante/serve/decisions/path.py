"""How a caller gets its decisions: recent ones from memory, else from the bus, from a server directly, or from a local player.

Each way has a timeout that follows its measured latency, and a circuit breaker; the next way is tried when it fails.
"""

import asyncio
import hashlib
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol
from uuid import uuid4

import grpc
import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from purgatory import SyncCircuitBreakerFactory
from purgatory.domain.model import OpenedState

from ante.engine.core.state import save_state
from ante.env.games import Games
from ante.errors import BalatroError, shown
from ante.serve.decisions.bus import SUBJECT
from ante.serve.decisions.client import (
    FAILURES,
    FAULTS,
    OPEN_SECONDS,
    Address,
    DecisionClient,
    NoDecision,
    check_answer,
    check_player,
)
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.models import Source
from ante.serve.decisions.positions import Refused
from ante.serve.decisions.v1 import decisions_pb2 as pb

KEPT, KEPT_SECONDS = 1_024, 60.0  # recent decisions
FIRST_TIMEOUT, SHORTEST_TIMEOUT = 2.0, 0.1  # seconds
PASSING = (*FAULTS, grpc.StatusCode.UNAUTHENTICATED)  # of one way: the next one may succeed


class Way(Protocol):
    """One way to a decision.

    Attributes:
        name: Its address, or its player.
    """

    name: str

    def decide(self, query: "pb.Query", seconds: float) -> "pb.Decision":
        """Return the decision of a query within this time. Raises NoDecision."""

    def close(self) -> None:
        """Release its resources."""


class AdaptiveTimeout:
    """A timeout of the mean latency and four times its mean deviation, doubled by each miss (as TCP's, RFC 6298)."""

    def __init__(self, first: float = FIRST_TIMEOUT, least: float = SHORTEST_TIMEOUT) -> None:
        self.seconds, self._least = first, least
        self._mean: float | None = None
        self._deviation = 0.0

    def observe(self, seconds: float) -> None:
        """Learn from an answer."""
        if self._mean is None:
            self._mean, self._deviation = seconds, seconds / 2
        else:
            self._deviation += (abs(seconds - self._mean) - self._deviation) / 4
            self._mean += (seconds - self._mean) / 8
        self.seconds = max(self._least, self._mean + 4 * self._deviation)

    def missed(self, longest: float) -> None:
        """Learn from an answer that did not come in time: double the timeout, to at most `longest`; it never shrinks."""
        self.seconds = max(self.seconds, min(longest, 2 * self.seconds))


class BusWay:
    """Requests over NATS, to any server that answers there. Raises BadBus if the server cannot be reached at first."""

    def __init__(self, url: str) -> None:
        from ante.events.jetstream import connected

        self.name = url
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="decisions", daemon=True)
        self._thread.start()
        try:
            self._client = self._result(connected(url, os.environ))
        except BalatroError:
            self._end()
            raise

    def decide(self, query: "pb.Query", seconds: float) -> "pb.Decision":
        """See `Way`."""
        import nats.errors

        request = self._client.request(SUBJECT, within(query, seconds).SerializeToString(), timeout=seconds)
        try:
            answer = pb.Answer.FromString(self._result(request).data)
        except TimeoutError:
            raise NoDecision(grpc.StatusCode.DEADLINE_EXCEEDED, f"no answer on the bus in {seconds:.2f} s") from None
        except nats.errors.Error as error:
            raise NoDecision(grpc.StatusCode.UNAVAILABLE, f"no server on the bus: {error}") from None
        except DecodeError:
            raise NoDecision(grpc.StatusCode.UNKNOWN, "the reply on the bus is no answer") from None
        check_answer(query, answer)
        return answer.decision

    def close(self) -> None:
        """See `Way`."""
        self._result(self._client.close())
        self._end()

    def _result(self, task: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(task, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def within(query: "pb.Query", seconds: float) -> "pb.Query":
    """Return the query with this timeout, unless its own is shorter: the bus has no deadlines as gRPC."""
    sent = pb.Query()
    sent.CopyFrom(query)
    if not query.HasField("timeout") or query.timeout.ToNanoseconds() > 1e9 * seconds:
        sent.timeout.FromNanoseconds(int(1e9 * seconds))
    return sent


class ServerWay:
    """Calls of a decision service over gRPC."""

    def __init__(self, url: str) -> None:
        self.name = url
        self._client = DecisionClient(Address.of(url))

    def decide(self, query: "pb.Query", seconds: float) -> "pb.Decision":
        """See `Way`."""
        return self._client.decide(query, seconds)

    def close(self) -> None:
        """See `Way`."""
        self._client.close()


class LocalWay:
    """A player in this process."""

    def __init__(self, player: str) -> None:
        self.name = player
        self._desk = Desk(Source(player).load())

    def decide(self, query: "pb.Query", seconds: float) -> "pb.Decision":
        """See `Way`. It takes the time it needs."""
        try:
            return self._desk.decide_here(query)
        except Refused as refusal:
            raise NoDecision(refusal.code, str(refusal)) from None

    def close(self) -> None:
        """See `Way`."""


def way_of(name: str) -> Way:
    """Return the way of an address or of a local player's name. Raises BalatroError."""
    if name.startswith(("nats://", "tls://")):
        return BusWay(name)
    if name.startswith(("grpc://", "grpcs://")):
        return ServerWay(name)
    return LocalWay(name)


class DecisionPath:
    """Decides queries by the first way that works; use it from one thread.

    Attributes:
        ways: The ways, in order.
        timeouts: The timeout of each way, by its name.
        counts: Decisions by name of the way, and those from memory (`recent`).
    """

    def __init__(self, ways: Sequence[Way]) -> None:
        self.ways, self.counts = tuple(ways), Counter[str]()
        self.timeouts = {way.name: AdaptiveTimeout() for way in ways}
        excluded: list[Any] = [(NoDecision, lambda error: error.code not in PASSING)]
        self._breakers = SyncCircuitBreakerFactory(FAILURES, OPEN_SECONDS, exclude=excluded)
        self._kept: OrderedDict[bytes, tuple[float, pb.Decision]] = OrderedDict()

    def decide(self, query: "pb.Query", seconds: float = 10.0) -> "pb.Decision":
        """Return the decision of a query within this time; a local player takes its own.

        Raises NoDecision: of the last way, or of the first one if the query itself is at fault.
        """
        key, now = key_of(query), time.monotonic()
        kept = self._kept.get(key)
        if kept and now - kept[0] < KEPT_SECONDS:
            self.counts["recent"] += 1
            return kept[1]
        failure: NoDecision | None = None
        for way in self.ways:
            left = now + seconds - time.monotonic()
            if left <= 0 and not isinstance(way, LocalWay):
                failure = failure or NoDecision(grpc.StatusCode.DEADLINE_EXCEEDED, "no time is left")
                continue
            try:
                decision = self._try(way, query, left)
            except OpenedState:
                continue
            except NoDecision as error:
                if error.code not in PASSING:
                    raise
                failure = error
                continue
            self.counts[way.name] += 1
            if decision.strategy != pb.STRATEGY_FALLBACK:  # soon the player itself may decide
                self._keep(key, decision)
            return decision
        raise failure or NoDecision(grpc.StatusCode.UNAVAILABLE, "every circuit breaker is open")

    def _try(self, way: Way, query: "pb.Query", left: float) -> "pb.Decision":
        """Return the decision of one way. Raises NoDecision, OpenedState."""
        timeout, begin = self.timeouts[way.name], time.monotonic()
        with self._breakers.get_breaker(way.name):
            try:
                decision = way.decide(query, min(timeout.seconds, left))
            except NoDecision as error:
                if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
                    timeout.missed(left)
                raise
        if decision.strategy == pb.STRATEGY_FALLBACK:  # the server lets the rules decide when this time is almost over
            timeout.missed(left)
        else:
            timeout.observe(time.monotonic() - begin)
        return decision

    def _keep(self, key: bytes, decision: "pb.Decision") -> None:
        self._kept[key] = time.monotonic(), decision
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def close(self) -> None:
        """Release the resources of all ways."""
        for way in self.ways:
            way.close()


def key_of(query: "pb.Query") -> bytes:
    """Return what decides the answer to a query: everything except its names and times."""
    plain = pb.Query()
    plain.CopyFrom(query)
    for name in ("request_id", "game_id", "sequence", "priority", "timeout"):
        plain.ClearField(name)
    return hashlib.blake2b(plain.SerializeToString(deterministic=True), digest_size=16).digest()


class PathPlayer:
    """A player whose decisions come from a path, such as `nats://HOST:PORT,grpc://HOST:PORT,rules`.

    Raises BalatroError; of a path of one way also if the rules decided in place of the service's player.
    """

    discrete, reorder = False, "all"

    def __init__(self, names: str) -> None:
        words = names.split(",")
        if not all(words):
            raise BalatroError(f"{shown(names)} has an empty part: use addresses and players, separated by commas")
        self.name, self.path = names, DecisionPath([way_of(each) for each in words])

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return one macro decision for each game (n,) int64, -1 for games that are not in play. Raises NoDecision."""
        actions = np.full(games.n, -1, dtype=np.int64)
        for i in np.flatnonzero(playing):
            record = save_state(games.states[i])
            query = pb.Query(request_id=uuid4().hex, priority=pb.PRIORITY_BULK, record=record)
            decision = self.path.decide(query)
            if len(self.path.ways) == 1:  # else the caller expects decisions of several players
                check_player(decision)
            actions[i] = decision.packed_action
        return actions
