"""`ante track`: send the rows of an existing run to a tracker."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from ante.cli.options import Seconds
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.training.tracking.following import Follower

LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Track:
    """Send a run to Weights & Biases or MLflow: its settings, the rows of metrics.csv and the final evaluation.

    Rows that were already sent are skipped, so this completes a run whose tracker was unreachable (docs/how-to/watch.md).
    The trackers' environment variables set address and credentials, such as WANDB_API_KEY and MLFLOW_TRACKING_URI.

    Try:
      ante track runs/laptop --to mlflow
      MLFLOW_TRACKING_URI=http://localhost:5000 ante track runs/laptop --to mlflow
      WANDB_MODE=offline ante track runs/laptop --to wandb
    """

    run_folder: Positional[Annotated[Path, arg(metavar="RUN")]]
    """Folder of the run."""
    to: Literal["wandb", "mlflow"]
    """Tracker to send to."""
    wait_seconds: Seconds = 600.0
    """Time limit, in seconds."""

    def run(self) -> int:
        """Send the rows. Raises NoTracker, BadConfig, or BalatroError if some rows were not received."""
        from ante.training.settings.config import config_of_run
        from ante.training.tracking.following import Follower
        from ante.training.tracking.sender import covered
        from ante.training.tracking.tracker import check_installed

        check_installed([self.to])
        config_of_run(self.run_folder)
        if not covered(self.run_folder):
            raise BalatroError(f"{self.run_folder} has no checkpoint yet: rows are sent once a checkpoint covers them")
        follower = Follower(self.run_folder, self.to, self.wait_seconds, print)
        follower.tell("finished" if (self.run_folder / "evaluation.json").exists() else "stopped")
        show(follower, covered(self.run_folder), self.wait_seconds)
        if not follower.state.ended:
            raise BalatroError(follower.result())
        print(follower.result())
        return 0


def show(follower: "Follower", rows: int, seconds: float) -> None:
    """Show a progress bar over the rows until the process ends or times out."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console, until = Console(stderr=True), time.monotonic() + seconds
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("rows")
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(follower.tracker, total=rows)
            while follower.process.poll() is None and time.monotonic() < until:
                state = follower.state
                bar.update(task, completed=state.iteration, description=state.error or follower.tracker)
                time.sleep(LOOK_SECONDS)
    finally:
        follower.wait(time.monotonic())
