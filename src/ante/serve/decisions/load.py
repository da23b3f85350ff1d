"""Load on a decision service, for `ante bench serve`: latencies by callers, kind of call and load.

A recording of games is made through the service first; the callers then repeat its queries, so that the generator needs
neither engine nor policy. In a closed loop each caller sends its next query after the answer. In an open loop queries
are due at random times of a fixed rate, and latencies count from the time at which a query was due, also if it was sent
later because its caller was waiting.
"""

import asyncio
import itertools
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

import grpc.aio
import numpy as np

from ante.errors import BalatroError
from ante.serve.decisions.client import Address, DecisionStream, NoDecision
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1.decisions_pb2_grpc import DecisionServiceStub

Kind = Literal["unary", "stream", "batch"]
KINDS: tuple[Kind, ...] = ("stream", "unary", "batch")
CALLERS = (1, 8, 32, 128)
GAMES, LONGEST_GAME = 128, 120  # of the recording
BATCH = 8  # queries of one call of kind batch
WARM_SECONDS = 0.5  # of each row, not counted
TIMEOUT = 10.0
STARTED = re.compile(r"at (\S+):(\d+)$")


@dataclass(frozen=True)
class LoadRow:
    """One measured load.

    rate        queries per second that were due; 0 in a closed loop
    done        decisions per second
    p50 ...     milliseconds of a call: from due or sent to answered
    late        decisions of the fallback
    failed      queries without a decision
    server_cpu  share of one core that the server used; NaN if unknown
    load        load average of the machine before the row
    """

    callers: int
    kind: str
    rate: float
    done: float
    p50: float
    p95: float
    p99: float
    late: int
    failed: int
    server_cpu: float
    client_cpu: float
    load: float

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}


Script = list[tuple[str, list[int]]]  # seed and decisions of each game
Call = Callable[[list[Any]], Awaitable[list[Any]]]


@contextmanager
def own_server(player: str, *words: str) -> Iterator[tuple[str, int | None]]:
    """Start a server with this player in a process; yield its URL and process id. Raises BalatroError."""
    command = [sys.executable, "-m", "ante.cli", "serve", "decisions", player, "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = []
            for line in process.stderr:
                lines.append(line)
                if found := STARTED.search(line.strip()):
                    yield f"grpc://{found[1]}:{found[2]}", process.pid
                    return
            raise BalatroError(f"the server did not start: {''.join(lines[-3:]).strip()}")
        finally:
            process.terminate()
            process.wait()


async def recorded(address: Address, games: int = GAMES, longest: int = LONGEST_GAME) -> Script:
    """Return games that the service has played."""
    script: Script = [(f"LOAD{number}", []) for number in range(games)]
    open_games = list(range(games))
    numbers = itertools.count()
    async with DecisionStream(address) as stream:

        async def advance(i: int) -> None:
            seed, actions = script[i]
            query = pb.Query(request_id=f"record{next(numbers)}", run=pb.Run(seed=seed, actions=actions))
            try:
                actions.append((await stream.decide(query)).packed_action)
            except NoDecision as error:
                if error.code is not grpc.StatusCode.FAILED_PRECONDITION:
                    raise
                open_games.remove(i)  # the game is over

        for _ in range(longest):
            await asyncio.gather(*map(advance, list(open_games)))
    return script


class Caller:
    """One caller: walks through its games, position by position."""

    def __init__(self, number: int, script: Script, call: Call, size: int) -> None:
        self._number, self._script, self._call, self._size = number, script, call, size
        self._walk = self._positions()
        self.latencies: list[float] = []
        self.late = self.failed = self.done = 0

    def _positions(self) -> Iterator[tuple[str, list[int]]]:
        for game in itertools.count(self._number):
            seed, actions = self._script[game % len(self._script)]
            for length in range(len(actions)):
                yield seed, actions[:length]

    async def request(self, due: float, counted: bool) -> None:
        """Send the next query or queries."""
        queries = [
            pb.Query(request_id=f"{random.getrandbits(64):x}", run=pb.Run(seed=seed, actions=actions))
            for seed, actions in itertools.islice(self._walk, self._size)
        ]
        try:
            decisions = await asyncio.wait_for(self._call(queries), TIMEOUT)
        except (NoDecision, grpc.aio.AioRpcError, TimeoutError):
            self.failed += len(queries) * counted
            return
        if counted:
            self.latencies.append(time.perf_counter() - due)
            self.done += len(decisions)
            self.late += sum(each.strategy == pb.STRATEGY_FALLBACK for each in decisions)

    async def closed(self, begin: float, end: float) -> None:
        """Send query after query until the end; what begins before `begin` is not counted."""
        while (now := time.perf_counter()) < end:
            await self.request(now, now >= begin)

    async def open(self, dues: list[float], begin: float) -> None:
        """Send queries at these times, several at once if answers take longer."""
        tasks = []
        for due in dues:
            await asyncio.sleep(due - time.perf_counter())
            tasks.append(asyncio.create_task(self.request(due, due >= begin)))
        await asyncio.gather(*tasks)


async def callers_of(address: Address, script: Script, n: int, kind: Kind, stack: AsyncExitStack) -> list[Caller]:
    """Return n callers, each with its own connection or stream."""
    found = []
    for number in range(n):
        if kind == "stream":
            stream = await stack.enter_async_context(DecisionStream(address))
            call = streamed(stream)
        else:
            stub = DecisionServiceStub(await stack.enter_async_context(address.aio_channel()))
            call = (batched if kind == "batch" else single)(stub, address.metadata)
        found.append(Caller(number, script, call, BATCH if kind == "batch" else 1))
    return found


def streamed(stream: DecisionStream) -> Call:
    """Return a call of one query on a stream."""

    async def call(queries: list[Any]) -> list[Any]:
        return [await stream.decide(queries[0])]

    return call


def single(stub: Any, metadata: Any) -> Call:
    """Return a unary call."""

    async def call(queries: list[Any]) -> list[Any]:
        request = pb.GetDecisionRequest(query=queries[0])
        return [(await stub.GetDecision(request, timeout=TIMEOUT, metadata=metadata)).answer.decision]

    return call


def batched(stub: Any, metadata: Any) -> Call:
    """Return a call of several queries."""

    async def call(queries: list[Any]) -> list[Any]:
        found = await stub.GetDecisions(pb.GetDecisionsRequest(queries=queries), timeout=TIMEOUT, metadata=metadata)
        return [each.decision for each in found.answers]

    return call


async def measured(
    address: Address, script: Script, n: int, kind: Kind, rate: float, seconds: float, pid: int | None
) -> LoadRow:
    """Return one row; a rate of 0 is a closed loop."""
    load, clock = os.getloadavg()[0], random.Random(n)
    async with AsyncExitStack() as stack:
        callers = await callers_of(address, script, n, kind, stack)
        start = time.perf_counter() + 0.05
        begin, end = start + WARM_SECONDS, start + WARM_SECONDS + seconds
        before, own = cpu_seconds(pid), time.process_time()
        if rate:
            dues: list[list[float]] = [[] for _ in callers]
            due, every = start, rate / (BATCH if kind == "batch" else 1)
            while (due := due + clock.expovariate(every)) < end:
                dues[clock.randrange(n)].append(due)
            await asyncio.gather(*(caller.open(mine, begin) for caller, mine in zip(callers, dues, strict=True)))
        else:
            await asyncio.gather(*(caller.closed(begin, end) for caller in callers))
        spent = time.perf_counter() - start
        server, client = (cpu_seconds(pid) - before) / spent, (time.process_time() - own) / spent
    times = 1e3 * np.array([each for caller in callers for each in caller.latencies])
    p50, p95, p99 = np.percentile(times, [50, 95, 99]) if len(times) else [np.nan] * 3
    done, late, failed = (sum(getattr(caller, name) for caller in callers) for name in ("done", "late", "failed"))
    return LoadRow(n, kind, rate, done / seconds, p50, p95, p99, late, failed, server, client, load)


def cpu_seconds(pid: int | None) -> float:
    """Return the processor time of a process so far; NaN if unknown."""
    if pid is not None:
        with suppress(OSError):
            with open(f"/proc/{pid}/stat") as stream:
                fields = stream.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return float("nan")


async def load_rows(
    url: str, pid: int | None, rate: float, seconds: float, advance: Callable[[LoadRow], None] = lambda _: None
) -> list[LoadRow]:
    """Return the rows of all callers and kinds of calls, in a closed loop and at this rate."""
    address = Address.of(url)
    script = await recorded(address)
    found = []
    for kind, each, callers in itertools.product(KINDS, (rate, 0.0), CALLERS):
        row = await measured(address, script, callers, kind, each, seconds, pid)
        advance(row)
        found.append(row)
    return found
