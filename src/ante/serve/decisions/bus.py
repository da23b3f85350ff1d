"""The decision service on the event bus: it publishes requests and responses as events, and answers requests over NATS."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from google.protobuf.message import DecodeError

from ante.events.publisher import Publisher
from ante.events.urls import BadBus, is_nats
from ante.events.v1 import events_pb2 as events
from ante.serve.decisions.v1 import decisions_pb2 as pb

LOG = logging.getLogger(__name__)
# No stream stores the subject of requests: its acknowledgement would arrive as the reply.
SUBJECT, QUEUE = "ante.rpc.v1.decision", "decisions"
PAUSE_SECONDS = 5.0  # between attempts to connect at first
MOST_REQUESTS = 256  # that are answered at a time; further ones wait in the connection
Answer = Callable[["pb.Query | None"], Awaitable["pb.Answer"]]


def publish_answer(publisher: Publisher, query: "pb.Query", answer: "pb.Answer", seconds: float) -> None:
    """Publish a request and its response, which took `seconds`."""
    kind = query.WhichOneof("position")
    request = events.DecisionRequest(
        request_id=query.request_id, game_id=query.game_id, sequence=query.sequence, position=kind or ""
    )
    if kind == "run":
        run = query.run
        request.seed, request.deck, request.stake, request.challenge = run.seed, run.deck, run.stake, run.challenge
        request.actions.extend(run.actions)
    response = events.DecisionResponse(request_id=query.request_id, seconds=seconds, refusal=answer.refusal.message)
    if answer.HasField("decision"):
        decision = answer.decision
        for name in ("action", "packed_action", "used_llm", "player", "model_digest", "state_hash"):
            setattr(response, name, getattr(decision, name))
        response.strategy = pb.Strategy.Name(decision.strategy).removeprefix("STRATEGY_").lower()
        for name in ("confidence", "value"):
            if decision.HasField(name):
                setattr(response, name, getattr(decision, name))
    subject = query.game_id or query.request_id
    for data in (request, response):
        publisher.put(subject, data, correlation_id=query.request_id)


async def answer_requests(url: str | None, answer: Answer) -> None:
    """Answer requests on a NATS server until cancelled; with another bus or none, do nothing.

    A request is a Query, its reply an Answer. Several servers share the requests. gRPC does not wait for NATS.
    """
    if not url or not is_nats(url):
        return
    from nats.errors import Error

    from ante.events.jetstream import connected

    client, room = None, asyncio.Semaphore(MOST_REQUESTS)
    tasks: set[asyncio.Task[None]] = set()

    async def reply(message: Any) -> None:
        try:
            query = pb.Query.FromString(message.data)
        except DecodeError:
            query = None
        try:
            found = await answer(query)
            if message.reply:
                await message.respond(found.SerializeToString())
        finally:
            room.release()

    async def accept(message: Any) -> None:
        await room.acquire()
        tasks.add(task := asyncio.create_task(reply(message)))
        task.add_done_callback(tasks.discard)

    while client is None:
        try:
            client = await connected(url, os.environ)
        except BadBus as error:
            LOG.warning("no requests are answered on the bus yet: %s", error)
            await asyncio.sleep(PAUSE_SECONDS)
    subscription = await client.subscribe(SUBJECT, queue=QUEUE, cb=accept)
    try:
        await asyncio.Event().wait()
    finally:
        with suppress(Error):  # the server may be away
            await subscription.unsubscribe()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()
