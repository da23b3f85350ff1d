"""Greedy batching: one batch is computed at a time in a worker thread; everything that arrives meanwhile is the next one.

There is no timer, so an idle server adds no delay. Interactive work is taken before bulk work. Work whose deadline has
passed, or whose caller has gone, is not computed.
"""

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import grpc

from ante.serve.decisions.positions import Refused
from ante.serve.decisions.v1 import decisions_pb2 as pb

LOG = logging.getLogger(__name__)
INTERACTIVE, BULK = 0, 1


@dataclass(eq=False)
class Work:
    """One query on its way.

    deadline  by time.monotonic()
    done      its decision, or a Refused
    until     by time.monotonic(), when it should be decided
    """

    query: "pb.Query"
    deadline: float
    done: "asyncio.Future[pb.Decision]"
    until: float = math.inf

    def refuse(self, refusal: Refused) -> None:
        """End without a decision, unless the work has ended."""
        if not self.done.done():
            self.done.set_exception(refusal)


Result = Any  # pb.Decision or Refused


class Batcher:
    """A queue of work and the thread that decides it.

    Args:
        decide: Returns a decision or Refused for each query of a batch, if possible until a time; runs in the thread.
        largest: Most works of a batch.
        waiting: Most works that wait; further ones are refused.
        is_stale: Returns whether a work became stale while it waited.
        observe: Called with the size of each batch and its seconds.
    """

    def __init__(
        self,
        decide: Callable[[Sequence[Any], float], Sequence[Result]],
        largest: int,
        waiting: int,
        is_stale: Callable[[Work], bool] = lambda _: False,
        observe: Callable[[int, float], None] = lambda size, seconds: None,
    ) -> None:
        self._decide, self._largest, self._most = decide, largest, waiting
        self._is_stale, self._observe = is_stale, observe
        self._queues: tuple[OrderedDict[Work, None], OrderedDict[Work, None]] = OrderedDict(), OrderedDict()
        self._worker = ThreadPoolExecutor(1, "decisions")
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Number of works that wait."""
        return sum(map(len, self._queues))

    def start(self) -> None:
        """Begin to decide; call it in the event loop."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Refuse what waits and the batch in progress, and end the thread."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for queue in self._queues:
            for work in queue:
                work.refuse(stopped())
        self._worker.shutdown(wait=False)

    def full(self) -> bool:
        """Return whether further works are refused."""
        return len(self) >= self._most

    def put(self, work: Work) -> None:
        """Add work, which leaves the queue when it ends. Raises Refused if too many works wait."""
        if self.full():
            raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{self._most:,} queries wait already: retry later")
        queue = self._queues[BULK if work.query.priority == pb.PRIORITY_BULK else INTERACTIVE]
        queue[work] = None
        work.done.add_done_callback(lambda _: queue.pop(work, None))
        self._arrived.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            batch = self._next()
            if not batch:
                self._arrived.clear()
                continue
            begin = time.monotonic()
            try:
                until = min(work.until for work in batch)
                results = await loop.run_in_executor(self._worker, self._decide, [work.query for work in batch], until)
            except asyncio.CancelledError:
                for work in batch:
                    work.refuse(stopped())
                raise
            except Exception:  # no caller awaits this task: the log has the cause, the clients a status without it
                LOG.exception("a batch of %d failed", len(batch))
                results = [
                    Refused(grpc.StatusCode.INTERNAL, "internal error; the log of the server has the cause")
                ] * len(batch)
            self._observe(len(batch), time.monotonic() - begin)
            for work, result in zip(batch, results, strict=True):
                if isinstance(result, Refused):
                    work.refuse(result)
                elif not work.done.done():
                    work.done.set_result(result)

    def _next(self) -> list[Work]:
        """Return the next batch, without works that have ended, expired or become stale."""
        batch: list[Work] = []
        now = time.monotonic()
        for queue in self._queues:
            while queue and len(batch) < self._largest:
                work, _ = queue.popitem(last=False)
                if work.done.done():
                    continue
                if work.deadline <= now:
                    work.refuse(expired())
                elif self._is_stale(work):
                    work.refuse(stale(work.query))
                else:
                    batch.append(work)
        return batch


def stopped() -> Refused:
    """Return the refusal of a query that a stopping server does not decide."""
    return Refused(grpc.StatusCode.UNAVAILABLE, "the server stops: connect again")


def expired() -> Refused:
    """Return the refusal of a query whose deadline has passed."""
    return Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline passed before the decision was computed")


def stale(query: "pb.Query") -> Refused:
    """Return the refusal of a query whose game has moved on."""
    return Refused(
        grpc.StatusCode.FAILED_PRECONDITION,
        f"stale: a query of this game with a larger sequence than {query.sequence} has arrived",
    )
