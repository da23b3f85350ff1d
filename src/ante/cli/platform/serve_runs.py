"""`ante serve runs`: the catalogue of all runs in a folder or a store."""

import logging
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from tyro.conf import Positional, arg

from ante.cli.options import Port, Positive

if TYPE_CHECKING:
    from ante.watch.runs import RunSummary

Price = Annotated[float, Field(ge=0, le=1e6)]


@dataclass(frozen=True)
class ServeRuns:
    """Serve a page of all runs in a folder or store that follows them: search, comparison, reports, videos (docs/how-to/watch.md).

    Nothing is written. Runs of a store are listed at most once per --seconds while a browser shows the page.

    Try:
      ante serve runs
      ante serve runs s3://game-runs/runs --port 8500
      ante serve runs s3://game-runs/runs --cpu-hour 0.04 --gpu-hour 2.5
      ante serve runs s3://game-runs/runs --host 0.0.0.0 --names runs.example.com --token-env RUNS_TOKEN
    """

    store: Positional[Annotated[str, arg(metavar="FOLDER|STORE")]] = "runs"
    """Folder, or URL of a store (s3://bucket/prefix), with runs."""
    host: str = "127.0.0.1"
    """Address to listen on; others than the loopback interface require a token."""
    port: Port = 8500
    """Port; 0 for any free one."""
    names: tuple[str, ...] = ()
    """Host names by which clients reach the server, in addition to localhost."""
    token_file: Path | None = None
    """File with the accepted tokens, one per line; browsers request one as the password."""
    token_env: str | None = None
    """Name of the environment variable with the accepted token."""
    seconds: Positive | None = None
    """Seconds between two looks for changes; 2 for a folder and 30 for a store by default."""
    links: bool = False
    """Send browsers to presigned links of the store for videos, instead of sending videos through this server."""
    cpu_hour: Price = 0.0
    """Price of a core for an hour, for the column of costs; 0 if unknown."""
    gpu_hour: Price = 0.0
    """Price of a GPU for an hour; 0 if unknown."""
    currency: str = "USD"
    """Currency of the prices."""

    def run(self) -> int:
        """Serve until Ctrl-C or SIGTERM. Raises CannotListen, BadAccess, StorageError."""
        from ante.http.server import address
        from ante.serve.catalogue.server import catalogue, runs_of
        from ante.serve.tokens import Tokens
        from ante.stopping import ending
        from ante.storage.local import LocalStore
        from ante.storage.opening import open_store
        from ante.watch.runs import NotARun

        logging.basicConfig(level=logging.INFO, format="ante: %(message)s", stream=sys.stderr)
        store = open_store(self.store)
        with ending(), ExitStack() as held:
            place = Path(held.enter_context(TemporaryDirectory(prefix="ante-runs-"))).resolve()
            source = store.folder if isinstance(store, LocalStore) else store
            if isinstance(source, Path) and not source.is_dir():
                raise NotARun(f"there is no folder {source}: give the folder or the store of runs")
            runs = runs_of(source, place, self.seconds, self.cost)
            held.callback(runs.close)  # before the folder of the copies is removed
            tokens = Tokens(self.token_file, self.token_env)
            options = self.host, self.port, self.names, tokens, self.links
            with catalogue(runs, self.store, *options) as server:
                print(f"http://{address(self.host, server.port)}/   (Ctrl-C stops)", flush=True)
                try:
                    server.serve_forever()
                except KeyboardInterrupt:
                    print()
        return 0

    def cost(self, run: "RunSummary") -> str:
        """Return the cost of a run's training so far by its settings, empty without prices."""
        runners, learners = amount(run, "runners"), amount(run, "learners")
        cpus = max(1.0, runners * amount(run, "runner_cpus") + learners)
        gpus = runners * amount(run, "runner_gpus") + learners * amount(run, "learner_gpus")
        total = run.metric("seconds") / 3600 * (cpus * self.cpu_hour + gpus * self.gpu_hour)
        return f"{total:,.2f} {self.currency}" if total > 0 else ""


def amount(run: "RunSummary", name: str) -> float:
    """Return a number of the group `resources` of a run's settings, 0 if there is none."""
    value = run.config.get(f"resources.{name}")
    return float(value) if isinstance(value, int | float) else 0.0
