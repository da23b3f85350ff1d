"""Clients of the decision service: single calls, a stream that survives a restart of the server, and a player."""

import asyncio
import os
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import grpc
import grpc.aio
import numpy as np
from numpy.typing import NDArray
from purgatory import SyncCircuitBreakerFactory
from purgatory.domain.model import OpenedState
from tenacity import Retrying, retry_if_exception, stop_before_delay, wait_random_exponential

from ante.engine.core.state import save_state
from ante.env.games import Games
from ante.errors import BalatroError, shown
from ante.files import read_bytes
from ante.messages import foreign
from ante.serve.decisions.positions import MESSAGE_BYTES
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1.decisions_pb2_grpc import DecisionServiceStub

URL = re.compile(r"(grpcs?)://([^/\s@]+:(\d{1,5}))", re.ASCII)
RETRIED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
FAULTS = (*RETRIED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)  # of a server
TOKEN, CA, CERTIFICATE, KEY = (f"ANTE_DECISIONS_{name}" for name in ("TOKEN", "CA", "CERT", "KEY"))
REPLY_BYTES = 4 << 20
TOO_LARGE = "larger than max"  # in gRPC's details of RESOURCE_EXHAUSTED: no repetition helps
LARGEST_FILE = 1 << 20
FAILURES, OPEN_SECONDS = 5, 5.0  # of the circuit breaker
OPTIONS = (("grpc.max_receive_message_length", REPLY_BYTES), ("grpc.initial_reconnect_backoff_ms", 100))
STREAM_OPTIONS = (*OPTIONS, ("grpc.max_reconnect_backoff_ms", 500), ("grpc.use_local_subchannel_pool", 1))
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds before a stream connects again
CONNECT_SECONDS = 10.0  # in which a player must reach its server


class NoDecision(BalatroError):
    """The service gave no decision.

    Attributes:
        code: Status code of gRPC.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(f"no decision ({code.name.lower()}): {foreign(message)}")
        self.code = code


@dataclass(frozen=True)
class Address:
    """Where the service is and how to reach it.

    Attributes:
        target: HOST:PORT.
        tls: Whether the connection is encrypted.
        token: Token, if the service requires one.
        ca, cert, key: PEM files: authority of the server, and certificate and key of this client.
    """

    target: str
    tls: bool = False
    token: str | None = None
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    @staticmethod
    def of(url: str) -> "Address":
        """Return the address of `grpc://HOST:PORT` or `grpcs://HOST:PORT`; the rest is from the environment.

        ANTE_DECISIONS_TOKEN is the token; ANTE_DECISIONS_CA, _CERT and _KEY name files. Raises BalatroError.
        """
        found = URL.fullmatch(url)
        if not found or not 0 < int(found[3]) < 1 << 16:
            raise BalatroError(
                f"{shown(url)} is no address of a decision service: use grpc://HOST:PORT, or grpcs:// with TLS"
            )
        ca, cert, key = (Path(os.environ[name]) if os.environ.get(name) else None for name in (CA, CERTIFICATE, KEY))
        token = os.environ.get(TOKEN, "").strip()  # a file's content often ends with a new line
        if not token.isascii() or not token.isprintable():
            raise BalatroError(f"{TOKEN} has characters that no token has: use printable ones of ASCII")
        return Address(found[2], found[1] == "grpcs", token or None, ca, cert, key)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Metadata of every call."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def credentials(self) -> grpc.ChannelCredentials:
        """Return the credentials of TLS. Raises Unreadable."""
        ca, cert, key = (read_bytes(file, LARGEST_FILE) if file else None for file in (self.ca, self.cert, self.key))
        return grpc.ssl_channel_credentials(ca, key, cert)

    def channel(self) -> grpc.Channel:
        """Return a new channel. Raises Unreadable."""
        if self.tls:
            return grpc.secure_channel(self.target, self.credentials(), OPTIONS)
        return grpc.insecure_channel(self.target, OPTIONS)

    def aio_channel(self) -> grpc.aio.Channel:
        """Return a new channel for asyncio. Raises Unreadable."""
        if self.tls:
            return grpc.aio.secure_channel(self.target, self.credentials(), STREAM_OPTIONS)
        return grpc.aio.insecure_channel(self.target, STREAM_OPTIONS)


class DecisionClient:
    """Blocking calls with retries, and a circuit breaker for calls that fail in spite of them; use it from one thread.

    A query may be sent several times; the service decides it once, because its request id stays the same.

    Args:
        address: The service.
        timeout: Seconds for one call with all its retries.
    """

    def __init__(self, address: Address, timeout: float = 10.0) -> None:
        self._channel, self._address, self._timeout = address.channel(), address, timeout
        self._stub = DecisionServiceStub(self._channel)
        excluded: list[Any] = [(grpc.RpcError, lambda error: error.code() not in FAULTS or is_too_large(error))]
        self._breakers = SyncCircuitBreakerFactory(FAILURES, OPEN_SECONDS, exclude=excluded)

    def info(self, seconds: float | None = None) -> "pb.GetServiceInfoResponse":
        """Return what the service plays, within `seconds` instead of the client's timeout. Raises NoDecision."""
        return self._call(self._stub.GetServiceInfo, pb.GetServiceInfoRequest(), seconds)

    def decide(self, query: "pb.Query", seconds: float | None = None) -> "pb.Decision":
        """Return the decision of a query, within `seconds` instead of the client's timeout. Raises NoDecision."""
        answer = self._call(self._stub.GetDecision, pb.GetDecisionRequest(query=query), seconds).answer
        check_answer(query, answer)
        return answer.decision

    def decide_all(self, queries: Sequence["pb.Query"]) -> list["pb.Decision"]:
        """Return the decisions of queries, in their order. Raises NoDecision for the first one without."""
        answers = self._call(self._stub.GetDecisions, pb.GetDecisionsRequest(queries=queries)).answers
        if len(answers) != len(queries):
            raise NoDecision(grpc.StatusCode.DATA_LOSS, f"{len(queries)} queries have {len(answers)} answers")
        for query, answer in zip(queries, answers, strict=True):
            check_answer(query, answer)
        return [answer.decision for answer in answers]

    def _call(self, method: Callable[..., Any], request: Any, seconds: float | None = None) -> Any:
        """Call a method until it succeeds or the time is over."""
        check_size(request)
        timeout = self._timeout if seconds is None else seconds
        deadline = time.monotonic() + timeout
        retrying = Retrying(
            stop=stop_before_delay(timeout),
            wait=wait_random_exponential(multiplier=0.05, max=1.0),
            retry=retry_if_exception(passes),
            reraise=True,
        )

        def attempt() -> Any:
            return method(request, timeout=deadline - time.monotonic(), metadata=self._address.metadata)

        try:
            with self._breakers.get_breaker(self._address.target):
                return retrying(attempt)
        except OpenedState:
            message = f"{self._address.target} failed {FAILURES} times in a row; calls resume after {OPEN_SECONDS:g} s"
            raise NoDecision(grpc.StatusCode.UNAVAILABLE, message) from None
        except grpc.RpcError as error:
            raise NoDecision(error.code(), error.details() or "") from None

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


def passes(error: BaseException) -> bool:
    """Return whether an error is transient."""
    return isinstance(error, grpc.RpcError) and error.code() in RETRIED and not is_too_large(error)


def is_too_large(error: Any) -> bool:
    """Return whether a message was refused for its size."""
    return TOO_LARGE in (error.details() or "")


def check_size(request: Any) -> None:
    """Check that the service reads a request of this size. Raises NoDecision."""
    size = request.ByteSize()
    if size > MESSAGE_BYTES:
        message = f"the request has {size:,} bytes: send at most {MESSAGE_BYTES:,}"
        raise NoDecision(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_answer(query: "pb.Query", answer: "pb.Answer") -> None:
    """Check that an answer has the decision of this query. Raises NoDecision."""
    if answer.request_id != query.request_id:
        message = f"the answer to {query.request_id} has the id {answer.request_id[:64]}"
        raise NoDecision(grpc.StatusCode.DATA_LOSS, message)
    if answer.HasField("refusal"):
        raise NoDecision(code_numbered(answer.refusal.code), answer.refusal.message)


def check_player(decision: "pb.Decision") -> None:
    """Check that the player of a service decided, not the rules in its place. Raises NoDecision."""
    if decision.strategy == pb.STRATEGY_FALLBACK:
        message = (
            "the rules decided instead of the player, so the result would not be the player's: see the log of the service, "
            f"or play the player without it ({decision.reason})"
        )
        raise NoDecision(grpc.StatusCode.UNAVAILABLE, message)


def code_numbered(number: int) -> grpc.StatusCode:
    """Return the status code of a number."""
    return next((code for code in grpc.StatusCode if code.value[0] == number), grpc.StatusCode.UNKNOWN)


class DecisionStream:
    """A stream of queries for asyncio. If the connection is lost, unanswered queries are sent again on a new one.

        async with DecisionStream(Address.of("grpc://127.0.0.1:50051")) as stream:
            decision = await stream.decide(query)

    Attributes:
        connections: Connections so far.
        duplicates: Answers to queries that had been answered already; they are dropped.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._open: dict[str, tuple[Any, asyncio.Future[Any]]] = {}
        self._unsent: asyncio.Queue[Any] = asyncio.Queue()
        self.connections = self.duplicates = 0

    async def __aenter__(self) -> Self:
        self._channel = self._address.aio_channel()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._channel.close()

    async def decide(self, query: "pb.Query") -> "pb.Decision":
        """Return the decision of a query; waits for a lost server, so set a limit of time. Raises NoDecision."""
        check_size(pb.StreamDecisionsRequest(query=query))  # the server would end the stream, with all other queries
        if query.request_id in self._open:
            message = f"a query with the request_id {query.request_id[:64]} is open already"
            raise NoDecision(grpc.StatusCode.ALREADY_EXISTS, message)
        future = asyncio.get_running_loop().create_future()
        self._open[query.request_id] = query, future
        self._unsent.put_nowait(query)
        if self._task.done():
            self._task.result()
        try:
            answer = await future
        finally:
            self._open.pop(query.request_id, None)
        check_answer(query, answer)
        return answer.decision

    async def _run(self) -> None:
        """Connect again and again."""
        stub, failures = DecisionServiceStub(self._channel), 0
        while True:
            self.connections += 1
            self._unsent = asyncio.Queue()
            for query, _ in self._open.values():
                self._unsent.put_nowait(query)
            try:
                call = stub.StreamDecisions(self._requests(self._unsent), metadata=self._address.metadata)
                async for response in call:
                    failures = 0
                    self._deliver(response.answer)
            except grpc.aio.AioRpcError as error:
                if not passes(error):
                    self._fail(NoDecision(error.code(), error.details() or ""))
            failures += 1
            await asyncio.sleep(
                random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(failures, 10))
            )

    async def _requests(self, unsent: "asyncio.Queue[Any]") -> AsyncIterator["pb.StreamDecisionsRequest"]:
        while True:
            yield pb.StreamDecisionsRequest(query=await unsent.get())

    def _deliver(self, answer: "pb.Answer") -> None:
        _, future = self._open.get(answer.request_id, (None, None))
        if future is None or future.done():
            self.duplicates += 1
        else:
            future.set_result(answer)

    def _fail(self, error: NoDecision) -> None:
        """End all open queries with an error that a new connection does not cure."""
        for _, future in self._open.values():
            if not future.done():
                future.set_exception(error)


class RemotePlayer:
    """A player that sends the records of the games in play and returns the decisions; `ante eval grpc://HOST:PORT` plays it.

    Raises NoDecision, as its methods do, also if the rules decided in place of the service's player.
    """

    discrete = False

    def __init__(self, url: str) -> None:
        self._client = DecisionClient(Address.of(url), timeout=60.0)
        info = self._client.info(CONNECT_SECONDS)
        self.name, self.reorder, self._most = f"{info.player} at {url}", info.reorder or "none", info.queries or 1

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return one macro decision for each game (n,) int64, -1 for games that are not in play."""
        actions = np.full(games.n, -1, dtype=np.int64)
        which = np.flatnonzero(playing)
        for at in range(0, len(which), self._most):
            part = which[at : at + self._most]
            queries = [
                pb.Query(request_id=uuid4().hex, priority=pb.PRIORITY_BULK, record=save_state(games.states[i]))
                for i in part
            ]
            decisions = self._client.decide_all(queries)
            for decision in decisions:
                check_player(decision)
            actions[part] = [decision.packed_action for decision in decisions]
        return actions
