"""A page /metrics for Prometheus, served from a thread. Requires prometheus-client, Starlette and uvicorn."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ante.errors import BalatroError
from ante.http.server import LOOPBACK, CannotListen, HttpServer


class CannotServe(BalatroError, OSError):
    """The metrics port cannot be bound."""


@contextmanager
def metrics_page(registry: CollectorRegistry, setting: str, port: int, host: str = LOOPBACK) -> Iterator[int]:
    """Serve the metrics of a registry at /metrics; yield the port, a free one for 0.

    Raises CannotServe, naming the setting that has the port.
    """

    def scrape(request: Request) -> Response:
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": kind})

    try:
        server = HttpServer([Route("/metrics", scrape)], host, port, names=None)
    except CannotListen as error:
        raise CannotServe(
            f"{setting} {port} cannot be used at {host!r} ({error.why}): choose another, or 0 to disable it"
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    with server:
        thread.start()
        try:
            yield server.port
        finally:
            server.shutdown()
            thread.join()
