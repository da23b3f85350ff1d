"""Interface of a tracker: a service that stores runs for comparison. Each one has a module in this package."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ante.errors import BalatroError
from ante.training.settings.config import TrainConfig

Outcome = Literal["finished", "stopped", "failed"]
Row = Mapping[str, float]  # of metrics.csv, without NaN values
PACKAGES = {"wandb": "wandb", "mlflow": "mlflow"}  # tracker: package to import
PROJECT = "ante"  # unless the settings or the tracker's own variable name another one


class NoTracker(BalatroError, ImportError):
    """The package of a tracker is not installed."""


class BadTracking(BalatroError, ValueError):
    """A tracked run that cannot be continued."""


@dataclass(frozen=True)
class Begun:
    """A run in a tracker.

    id         identifies the run in the tracker
    place      URL of the run in the tracker, without credentials
    iteration  of the last row in the tracker; None if the tracker does not respond
    """

    id: str
    place: str
    iteration: int | None


class Tracker(Protocol):
    """One run in a tracker. Every method may take long and may raise any error of the tracker's package."""

    def begin(self, config: TrainConfig, known: str | None) -> Begun:
        """Create the run with its settings, or resume the one with the id `known`."""

    def send(self, rows: Sequence[Row], moments: Sequence[float]) -> None:
        """Send rows.

        moments  time of each row, in seconds since 1970
        """

    def conclude(self, figures: Mapping[str, float], words: Mapping[str, str]) -> None:
        """Send metrics without a step, and texts, by name."""

    def end(self, outcome: Outcome) -> None:
        """Wait until everything has arrived, then end the run with this outcome."""


def check_installed(trackers: Sequence[str]) -> None:
    """Check that the trackers' packages are installed. Raises NoTracker."""
    for name in trackers:
        if importlib.util.find_spec(PACKAGES[name]) is None:
            raise NoTracker(f"{PACKAGES[name]} is not installed: pip install 'ante-balatro[track]'")
