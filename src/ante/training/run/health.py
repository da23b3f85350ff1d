"""The health of a run: when iterations teach nothing, and after how many of them training ends."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ante.errors import BalatroError
from ante.training.run_store.checkpoints import read_pointer

MOST_SKIPPED = 20  # gradient steps in a row without a finite gradient after which training has diverged
MOST_EMPTY = 10  # iterations in a row without a fragment after which training ends


class Diverged(BalatroError):
    """Training diverged: no gradient is finite any more."""


class NoFragments(BalatroError, RuntimeError):
    """Nothing is learned because fragments are lost before the learner reads them."""

    def __init__(self, iterations: int, way_on: str) -> None:
        super().__init__(
            f"nothing was learned in the last {iterations} iterations, because fragments were lost before the learner read "
            f"them: look for nodes or processes that are killed, or raise resources.object_store_gb; then {way_on}"
        )


@dataclass
class Health:
    """The wasted iterations since the last one that changed the weights.

    skipped  their gradient steps, none of which had a finite gradient
    empty    their iterations in a row that lost fragments and made no gradient step
    wasted   whether the last iteration was wasted: its weights are those of an earlier one
    """

    skipped: int = 0
    empty: int = 0
    wasted: bool = False

    def add(self, row: Mapping[str, float]) -> None:
        """Count an iteration, given its row of metrics."""
        skipped = 0 if math.isnan(row["nonfinite_grad_steps"]) else int(row["nonfinite_grad_steps"])
        learned = not math.isnan(row["grad_norm"])
        empty = not learned and not skipped and row["fragments_lost"] > 0
        self.wasted = not learned and (skipped > 0 or empty)
        self.skipped = 0 if learned else self.skipped + skipped
        self.empty = self.empty + 1 if empty else 0

    @property
    def diverged(self) -> bool:
        """Whether no gradient has been finite for too long."""
        return self.skipped >= MOST_SKIPPED

    @property
    def starved(self) -> bool:
        """Whether fragments have been missing for too long."""
        return self.empty >= MOST_EMPTY

    def check(self, folder: Path) -> None:
        """Raise Diverged or NoFragments, naming the newest checkpoint, if the run in this folder must end."""
        if self.diverged:
            raise Diverged(
                f"training diverged: none of the last {self.skipped} gradient steps had a finite gradient; start a new run "
                f"with a lower algo.lr or algo.grad_clip, {way_on(folder)}"
            )
        if self.starved:
            start = newest(folder) or "the beginning, since there is no checkpoint yet"
            raise NoFragments(self.empty, f"ante train --resume {folder} continues from {start}")


def newest(folder: Path) -> str:
    """Return the name of the run's newest checkpoint, empty if there is none. Raises BadCheckpoint."""
    pointed = read_pointer(folder / "checkpoints", "latest")
    return pointed[0] if pointed else ""


def way_on(folder: Path) -> str:
    """Return how to start a run from the newest checkpoint of this one."""
    if checkpoint := newest(folder):
        settings = folder / "config.yaml"
        return f"from the newest checkpoint: ante train --config {settings} --from {folder}@{checkpoint} --name NEW"
    return "from the beginning, since there is no checkpoint yet"
