"""Summary of a dataset: games, steps, wins, actions by verb, bytes per step."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ante.agents.evaluate import Share, half_width, wilson
from ante.engine.actions import N_DISCRETE
from ante.env.layout import FLAT_SIZE
from ante.lookahead.records import MAX_CANDIDATES, N_ESTIMATES
from ante.lookahead.reference_hands import N_REFERENCE_HANDS
from ante.training.datasets.layout import ENTRY_FIELDS
from ante.training.datasets.read import Dataset

FLOAT = 4  # bytes of a float32
BESIDE = 8 + 4 + 1  # action, reward, done of a plain replay buffer


@dataclass(frozen=True)
class Summary:
    """Statistics of a dataset.

    bytes_per_step  in the file
    float_bytes     bytes of the same step in a plain replay buffer: float32 observation, one byte per legal action,
                    action, reward, done; for the shortlist, one float32 per number
    """

    about: dict[str, Any]
    games: int
    steps: int
    wins: Share
    mean_blinds: float
    mean_blinds_half_width: float
    mean_return: float
    verbs: dict[str, int]
    unlisted: int
    bytes: int
    bytes_per_step: float
    float_bytes: int

    @property
    def ratio(self) -> float:
        """The compression ratio relative to the plain buffer."""
        return self.float_bytes / self.bytes_per_step


def summarise(dataset: Dataset) -> Summary:
    """Return the statistics of a dataset."""
    needed = ["done", "outcome", "blinds", "game_return", "verb", "choice"]
    table = dataset.table(needed)
    ends = table.filter(table["done"])
    blinds = ends["blinds"].to_numpy().astype(float)
    size = dataset.file.stat().st_size
    won = int(pc.sum(pc.equal(ends["outcome"].cast("string"), "won")).as_py() or 0)
    verbs = Counter(table["verb"].cast("string").to_pylist())
    return Summary(
        about=dataset.about,
        games=len(ends),
        steps=len(table),
        wins=wilson(won, len(ends)),
        mean_blinds=float(blinds.mean()),
        mean_blinds_half_width=half_width(blinds),
        mean_return=float(np.mean(ends["game_return"].to_numpy())),
        verbs=dict(verbs.most_common()),
        unlisted=int(np.count_nonzero(table["choice"].to_numpy() < 0)),
        bytes=size,
        bytes_per_step=size / len(table),
        float_bytes=float_bytes(dataset.view),
    )


def float_bytes(view: str) -> int:
    """Return the bytes of a step in a plain float32 replay buffer."""
    flat = FLOAT * FLAT_SIZE + N_DISCRETE + BESIDE
    if view == "flat":
        return flat
    return flat + FLOAT * (MAX_CANDIDATES * (len(ENTRY_FIELDS) + N_ESTIMATES) + N_REFERENCE_HANDS + 1)
