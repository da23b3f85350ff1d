"""The server process: listening, health, reflection, reloading, metrics and a graceful stop."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field

import grpc
import grpc.aio
import torch
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from ante.events.publisher import Publisher, publishing_events
from ante.http.metrics_page import metrics_page
from ante.http.server import CannotListen, address
from ante.serve.decisions.access import Access, DecodeCheck, TokenCheck
from ante.serve.decisions.bus import answer_requests
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.models import Source, first_decider, follow
from ante.serve.decisions.positions import MESSAGE_BYTES
from ante.serve.decisions.service import DecisionService
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1 import decisions_pb2_grpc as pb_grpc

LOG = logging.getLogger(__name__)
SERVICE = pb.DESCRIPTOR.services_by_name["DecisionService"].full_name
PROBES = 16  # concurrent health checks at their own port
CALLS = 1_024  # concurrent calls; further ones are refused with RESOURCE_EXHAUSTED
SWITCH_SECONDS = 0.0005  # after which the thread that decides lets the event loop run
OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.max_concurrent_streams", CALLS),  # of one connection
    ("grpc.so_reuseport", 0),  # a second server at this port is an error
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
)


@dataclass(frozen=True)
class Options:
    """How to serve.

    Attributes:
        port: 0 for any free port.
        metrics_port: Port of /metrics at the same host; 0 for none.
        health_port: Port of health checks without TLS at the same host; 0 for none.
        threads: Threads of PyTorch.
        answer_seconds: Seconds until an answer of queries without a deadline.
        reload: Seconds between two looks for another checkpoint; 0 for none.
        lame_duck: Seconds from a termination until calls are refused; health checks fail at once.
        grace: Seconds that calls in progress then have.
        events: Bus to which requests and responses are published; on NATS, requests are answered too. None for none.
    """

    host: str = "127.0.0.1"
    port: int = 50051
    access: Access = field(default_factory=Access)
    metrics_port: int = 0
    health_port: int = 0
    threads: int = 1
    answer_seconds: float = 5.0
    reload: float = 5.0
    lame_duck: float = 0.0
    grace: float = 10.0
    events: str | None = None


@asynccontextmanager
async def serving(desk: Desk, options: Options, publisher: Publisher | None = None) -> AsyncIterator[int]:
    """Serve the decisions of a desk; yield the port. On exit, calls in progress are completed.

    Raises CannotListen, BadAccess.
    """
    tokens = options.access.tokens()
    interceptors = [*([TokenCheck(tokens)] if tokens else []), DecodeCheck()]
    server = grpc.aio.server(interceptors=interceptors, options=OPTIONS, maximum_concurrent_rpcs=CALLS)
    service, checks = DecisionService(desk, publisher), health.aio.HealthServicer()
    pb_grpc.add_DecisionServiceServicer_to_server(service, server)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = bind(server, options.host, options.port, options.access.credentials(), "--port")
    probes = grpc.aio.server(options=OPTIONS, maximum_concurrent_rpcs=PROBES)
    health_pb2_grpc.add_HealthServicer_to_server(checks, probes)
    if options.health_port:
        bind(probes, options.host, options.health_port, None, "--health-port")
    await asyncio.to_thread(desk.warm)
    desk.start()
    await server.start()
    await probes.start()
    for name in ("", SERVICE):
        await checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    on_bus = asyncio.create_task(answer_requests(options.events, service.answer_on_bus))
    on_bus.add_done_callback(log_failure)
    try:
        yield port
    finally:
        await checks.enter_graceful_shutdown()
        await asyncio.sleep(options.lame_duck)
        service.drain()
        on_bus.cancel()
        await server.stop(options.grace)
        await probes.stop(None)
        await asyncio.gather(on_bus, return_exceptions=True)
        await desk.stop()


def log_failure(task: "asyncio.Task[None]") -> None:
    """Log why requests on the bus are no longer answered; the service continues."""
    if not task.cancelled() and (error := task.exception()):
        LOG.error("requests on the bus are no longer answered", exc_info=error)


def bind(server: grpc.aio.Server, host: str, port: int, credentials: grpc.ServerCredentials | None, option: str) -> int:
    """Let a server listen on a port, 0 for any free one; return the port. Raises CannotListen."""
    place = address(host, port)
    try:
        return server.add_secure_port(place, credentials) if credentials else server.add_insecure_port(place)
    except (RuntimeError, OverflowError):
        files = "; or a file of TLS is no PEM, or --tls-key not of --tls-cert" if credentials else ""
        raise CannotListen(host, port, "it is in use or not of this machine", f"{option}{files}") from None


async def run(source: Source, options: Options, listening: Callable[[int], None]) -> None:
    """Serve until SIGTERM or SIGINT; `listening` is called with the port. Raises BalatroError."""
    options.access.check_host(options.host)
    torch.set_num_threads(options.threads)
    sys.setswitchinterval(SWITCH_SECONDS)
    desk = Desk(*first_decider(source), answer_seconds=options.answer_seconds, largest=source.largest)
    if desk.decider:
        desk.exporter.show_model(desk.decider.name, desk.decider.digest)
    else:
        LOG.warning("the rules decide until there is a model: %s", desk.missing)
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    page = (
        metrics_page(desk.exporter.registry, "--metrics-port", options.metrics_port, options.host)
        if options.metrics_port
        else nullcontext()
    )
    source_name = f"decisions/{source.name}"
    with page, publishing_events(options.events, source_name, notify=LOG.warning) as publisher:
        async with serving(desk, options, publisher) as port:
            gc.freeze()  # SPEED: a full collection would pass over everything that was imported, for tenths of a second
            following = asyncio.create_task(follow(source, desk, options.reload)) if options.reload else None
            listening(port)
            await stopped.wait()
            if following:
                following.cancel()
