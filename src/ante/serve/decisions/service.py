"""The methods of the decision service: unary, batch and stream, all through one desk."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio

from ante import __version__
from ante.engine.core.state import VERSION, state_t
from ante.events.publisher import Publisher
from ante.serve.decisions.bus import publish_answer
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.positions import MESSAGE_BYTES, Refused, malformed
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1.decisions_pb2_grpc import DecisionServiceServicer

MOST_QUERIES = 64  # of GetDecisions
STREAMED = 64  # queries of one stream whose answers are not sent yet; the client's next ones wait in its connection
CODES = {code: code.value[0] for code in grpc.StatusCode}
NO_MESSAGE = "the request is not a message of this protocol"
Context = Any


class DecisionService(DecisionServiceServicer):  # type: ignore[misc]
    """The calls of one server. After `drain`, streams end once their queries are answered.

    Args:
        desk: What decides.
        publisher: Publishes requests and responses as events, if given.
    """

    def __init__(self, desk: Desk, publisher: Publisher | None = None) -> None:
        self._desk, self._publisher = desk, publisher
        self._draining = asyncio.Event()

    def drain(self) -> None:
        """End streams, so that their clients connect to another server."""
        self._draining.set()

    async def GetServiceInfo(  # noqa: N802
        self, request: "pb.GetServiceInfoRequest", context: Context
    ) -> "pb.GetServiceInfoResponse":
        """See decisions.proto."""
        decider = self._desk.decider
        return pb.GetServiceInfoResponse(
            player=decider.name if decider else "",
            model_digest=decider.digest if decider else "",
            strategy=decider.strategy if decider else pb.STRATEGY_FALLBACK,
            reorder=decider.reorder if decider else "none",
            version=__version__,
            record_version=VERSION,
            record_bytes=state_t.itemsize,
            message_bytes=MESSAGE_BYTES,
            queries=MOST_QUERIES,
        )

    async def GetDecision(  # noqa: N802
        self, request: "pb.GetDecisionRequest", context: Context
    ) -> "pb.GetDecisionResponse":
        """See decisions.proto."""
        answer = await self._answer(request and request.query, "GetDecision", context.time_remaining())
        if answer.HasField("refusal"):
            await context.abort(code_of(answer.refusal), answer.refusal.message)
        return pb.GetDecisionResponse(answer=answer)

    async def GetDecisions(  # noqa: N802
        self, request: "pb.GetDecisionsRequest", context: Context
    ) -> "pb.GetDecisionsResponse":
        """See decisions.proto."""
        if request is None or len(request.queries) > MOST_QUERIES:
            many = f"the request has {len(request.queries)} queries: send at most {MOST_QUERIES}" if request else ""
            refusal = malformed(many or NO_MESSAGE)
            await context.abort(refusal.code, str(refusal))
        left = context.time_remaining()
        answers = await asyncio.gather(*(self._answer(query, "GetDecisions", left) for query in request.queries))
        return pb.GetDecisionsResponse(answers=answers)

    async def StreamDecisions(  # noqa: N802
        self, requests: AsyncIterator["pb.StreamDecisionsRequest"], context: Context
    ) -> AsyncIterator["pb.StreamDecisionsResponse"]:
        """See decisions.proto."""
        answers: asyncio.Queue[Any] = asyncio.Queue()
        room = asyncio.Semaphore(STREAMED)
        tasks: set[asyncio.Task[None]] = set()

        async def answer(query: Any) -> None:
            answers.put_nowait(await self._answer(query, "StreamDecisions", context.time_remaining()))

        async def read() -> None:
            async for request in requests:
                await room.acquire()
                tasks.add(task := asyncio.create_task(answer(request and request.query)))
                task.add_done_callback(tasks.discard)

        reading, draining = asyncio.create_task(read()), asyncio.create_task(self._draining.wait())

        async def end() -> None:
            await asyncio.wait([reading, draining], return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
            while tasks:
                await asyncio.wait(tasks)
            answers.put_nowait(None)

        ending = asyncio.create_task(end())
        try:
            while (found := await answers.get()) is not None:
                yield pb.StreamDecisionsResponse(answer=found)
                room.release()  # only now, so that answers do not accumulate for a client that does not read
            if self._draining.is_set():
                await context.abort(grpc.StatusCode.UNAVAILABLE, "the server stops: connect again")
        finally:
            for task in (reading, draining, ending, *tasks):
                task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reading

    async def answer_on_bus(self, query: "pb.Query | None") -> "pb.Answer":
        """Return the answer to a request on the event bus, None for a malformed one."""
        return await self._answer(query, "bus", None)

    async def _answer(self, query: "pb.Query | None", method: str, seconds: float | None) -> "pb.Answer":
        """Return the answer to a query, None for a malformed request, that must be answered in `seconds`, if given."""
        exporter, begin = self._desk.exporter, time.monotonic()
        try:
            if query is None:
                raise malformed(NO_MESSAGE)
            decision = await self._desk.decision(query, seconds)
            exporter.queries.labels(method, pb.Strategy.Name(decision.strategy)).inc()
            answer = pb.Answer(request_id=query.request_id, decision=decision)
        except Refused as refusal:
            exporter.queries.labels(method, refusal.code.name).inc()
            found = pb.Refusal(code=CODES[refusal.code], message=str(refusal))
            answer = pb.Answer(request_id=query.request_id[:64] if query else "", refusal=found)
        finally:
            exporter.seconds.labels(method).observe(time.monotonic() - begin)
        if self._publisher and query is not None:
            publish_answer(self._publisher, query, answer, time.monotonic() - begin)
        return answer


def code_of(refusal: "pb.Refusal") -> grpc.StatusCode:
    """Return the status code of a refusal."""
    return next(code for code, number in CODES.items() if number == refusal.code)
