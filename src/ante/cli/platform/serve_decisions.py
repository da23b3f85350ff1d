"""`ante serve decisions`: a player's decisions over gRPC."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from tyro.conf import Positional

from ante.cli.options import Port, events_url

Within = Annotated[float, Field(gt=0, le=3600)]
Pause = Annotated[float, Field(ge=0, le=3600)]
Threads = Annotated[int, Field(ge=1, le=256)]


@dataclass(frozen=True)
class ServeDecisions:
    """Serve a player's decisions over gRPC (docs/how-to/serve.md).

    Clients send a position and receive the player's most likely decision with probabilities. SIGTERM stops the server once
    its calls are answered.

    Try:
      ante serve decisions white-stake
      ante serve decisions white-stake --search 16ms --port 50052
      ante serve decisions runs/ppo@latest --metrics-port 9400          (follows the checkpoints of the run)
      ante serve decisions white-stake --host 0.0.0.0 --token-file token --tls-cert tls.crt --tls-key tls.key
      ante eval grpc://127.0.0.1:50051 --games 50                        (in another terminal)
    """

    player: Positional[str]
    """random, greedy, rules, white-stake, a folder of a run or release, or your own player as module:Class."""
    checkpoint: str = "best"
    """Checkpoint of a run; best and latest are followed while the run continues."""
    search: str | None = None
    """Improve every decision by search: simulations, such as 200, or milliseconds, such as 16ms."""
    hints: Literal["off", "rules", "llm"] = "off"
    """Request hints when the policy is unsure, from rules or the LLM at LLM_ENDPOINT."""
    host: str = "127.0.0.1"
    """Address to listen on; others than the loopback interface require a token or certificates of clients."""
    port: Port = 50051
    """Port; 0 for any free one."""
    token_file: Path | None = None
    """File with the accepted tokens, one per line."""
    token_env: str | None = None
    """Name of the environment variable with the accepted token."""
    tls_cert: Path | None = None
    """Certificate chain of the server, PEM."""
    tls_key: Path | None = None
    """Private key of the server, PEM."""
    client_ca: Path | None = None
    """Authority of client certificates, PEM; clients must have one."""
    metrics_port: Port = 0
    """Port of metrics for Prometheus at the same address; 0 for none."""
    health_port: Port = 0
    """Port of health checks without TLS at the same address, for probes; 0 for none."""
    threads: Threads = 1
    """Threads of PyTorch."""
    answer_seconds: Within = 5.0
    """Seconds until an answer of queries without a deadline; at 70 % of it the rules decide."""
    reload: Pause = 5.0
    """Seconds between two looks for another checkpoint; 0 never looks."""
    lame_duck: Pause = 0.0
    """Seconds after SIGTERM in which calls are still accepted while health checks fail."""
    grace: Pause = 10.0
    """Seconds that calls in progress then have."""
    events: str | None = None
    """Bus for requests and responses as events, nats://HOST:PORT or a file; over NATS, requests are answered too. By
    default $ANTE_EVENTS_URL."""

    def run(self) -> int:
        """Serve until SIGTERM or Ctrl-C."""
        import asyncio
        import logging

        from ante.http.server import address
        from ante.serve.decisions.access import Access
        from ante.serve.decisions.models import Source
        from ante.serve.decisions.server import Options, run

        logging.basicConfig(level=logging.INFO, format="ante: %(message)s", stream=sys.stderr)
        access = Access(self.token_file, self.token_env, self.tls_cert, self.tls_key, self.client_ca)
        options = Options(
            self.host,
            self.port,
            access,
            self.metrics_port,
            self.health_port,
            self.threads,
            self.answer_seconds,
            self.reload,
            self.lame_duck,
            self.grace,
            events_url(self.events),
        )
        source = Source(self.player, self.checkpoint, self.search, self.hints)

        def listening(port: int) -> None:
            print(
                f"ante: serving decisions of {self.player} at {address(self.host, port)}", file=sys.stderr, flush=True
            )

        asyncio.run(run(source, options, listening))
        return 0
