"""Export of games as a dataset: play or read games, replay them step by step, write the steps."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.training.datasets.layout import Columns
from ante.training.datasets.scripts import Script
from ante.training.datasets.steps import steps_of
from ante.training.datasets.write import about_of, refuse_existing, write_dataset

BATCH = 64  # games per batch
Judge = Callable[[Columns], tuple[NDArray[np.float32], NDArray[np.float32]]]


def export(
    folder: Path,
    batches: Iterable[list[Script]],
    view: str = "flat",
    reward: str = "shaped",
    reorder: str = "none",
    judge: Judge | None = None,
    advance: Callable[[int], None] = lambda _: None,
    **settings: Any,
) -> int:
    """Write the steps of these games to `folder` as a dataset and return the number of steps.

    batches   games, up to BATCH of them together
    view      flat: numbers of the discrete view; shortlist: macro decisions and their places in the shortlist
    judge     returns log-probabilities and values of a block of steps under the policy that played
    advance   called with the number of games written
    settings  for the metadata: player, deck, stake ...

    Raises BadDataset.
    """
    refuse_existing(folder)
    about = about_of(view, reward=reward, reorder=reorder, **settings)
    return write_dataset(folder, blocks(batches, view, reward, reorder, judge, advance), about)


def blocks(
    batches: Iterable[list[Script]],
    view: str,
    reward: str,
    reorder: str,
    judge: Judge | None,
    advance: Callable[[int], None],
) -> Iterator[Columns]:
    """Yield the steps of each batch of games."""
    first = 0
    for scripts in batches:
        steps = steps_of(scripts, view, reward, reorder, first)
        if judge is not None:
            steps["log_prob"], steps["value"] = judge(steps)
        yield steps
        first += len(scripts)
        advance(len(scripts))
