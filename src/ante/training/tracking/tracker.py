"""Interface of a tracker: a service that keeps runs for comparison. Each one has a file in this package."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ante.errors import BalatroError
from ante.training.settings.config import TrainConfig

Outcome = Literal["finished", "stopped", "failed"]
Row = Mapping[str, float]  # of metrics.csv, without what has no value
PACKAGES = {"wandb": "wandb", "mlflow": "mlflow"}  # tracker: what is imported for it
PROJECT = "ante"  # where neither the settings nor the tracker's own variable name another one


class NoTracker(BalatroError, ImportError):
    """A tracker whose package is not installed."""


class BadTracking(BalatroError, ValueError):
    """A tracked run that cannot be continued."""


@dataclass(frozen=True)
class Begun:
    """A run in a tracker.

    id         by which it is found again
    place      URL of the run in the tracker, without credentials
    iteration  of the last row that it has; None where the tracker does not respond
    """

    id: str
    place: str
    iteration: int | None


class Tracker(Protocol):
    """One run in a tracker. Every method may take long and may raise any error of the tracker's package."""

    def begin(self, config: TrainConfig, known: str | None) -> Begun:
        """Create the run with its settings, or resume the one with the id `known`."""

    def send(self, rows: Sequence[Row], moments: Sequence[float]) -> None:
        """The run has the rows.

        moments  seconds since 1970 when each was made
        """

    def conclude(self, figures: Mapping[str, float], words: Mapping[str, str]) -> None:
        """The run has figures without a step, and words, by name."""

    def end(self, outcome: Outcome) -> None:
        """Everything has arrived, and the run has ended so."""


def check_installed(trackers: Sequence[str]) -> None:
    """Check that the trackers' packages are installed. Raises NoTracker."""
    for name in trackers:
        if importlib.util.find_spec(PACKAGES[name]) is None:
            raise NoTracker(f"{PACKAGES[name]} is not installed: pip install 'ante[track]'")
