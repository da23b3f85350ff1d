"""Results of games with grants, by arm and seed: a file that a later measurement continues."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.errors import BalatroError
from ante.files import NoFile
from ante.knowledge.measuring.positions import BATCH
from ante.knowledge.measuring.sums import OtherMeasurement
from ante.knowledge.measuring.table import read_parquet, write_parquet

OUTCOMES = "outcomes.parquet"
KEY = b"ante"  # metadata of the file
MOST_GAMES = 1_000_000  # in a file


class TooManyGames(BalatroError, ValueError):
    """A file would have more results than can be read."""


class Outcomes:
    """The results of games of one player and engine. Raises OtherMeasurement, BadTable, Unreadable.

    key  identifies player, engine and starts
    """

    def __init__(self, file: Path, key: str) -> None:
        self.file, self.key = file, key
        self.won: dict[str, dict[str, bool]] = {}
        try:
            found = read_parquet(file, schema(), MOST_GAMES)
        except NoFile:
            return
        if (found.schema.metadata or {}).get(KEY, b"").decode(errors="replace") != key:
            raise OtherMeasurement(
                f"{file} is of other games, another player or another engine: delete it, or choose another --out"
            )
        for arm, seed, won in zip(*(found[name].to_pylist() for name in ("arm", "seed", "won")), strict=True):
            self.won.setdefault(arm, {})[seed] = won

    def of(
        self, arm: str, seeds: Sequence[str], play: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        """Return whether the games of these seeds are won in an arm; `play` plays those at indices that are missing.

        Raises TooManyGames.
        """
        known = self.won.setdefault(arm, {})
        missing = np.array([i for i, seed in enumerate(seeds) if seed not in known], dtype=np.int64)
        if self.games + len(missing) > MOST_GAMES:
            raise TooManyGames(
                f"{self.file} would have more than {MOST_GAMES:,} results: play fewer games, or choose another --out"
            )
        for first in range(0, len(missing), BATCH):
            part = missing[first : first + BATCH]
            for i, won in zip(part, play(part), strict=True):
                known[seeds[i]] = bool(won)
        if len(missing):
            self.write()
        return np.array([known[seed] for seed in seeds], dtype=np.bool_)

    def write(self) -> None:
        """Write the file, atomically."""
        import pyarrow as pa

        rows = [(arm, seed, won) for arm, seeds in sorted(self.won.items()) for seed, won in sorted(seeds.items())]
        columns = dict(zip(("arm", "seed", "won"), zip(*rows, strict=True), strict=True))
        table = pa.table(columns, schema=schema()).replace_schema_metadata({KEY: self.key.encode()})
        self.file.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(self.file, table)

    @property
    def games(self) -> int:
        """Number of results."""
        return sum(map(len, self.won.values()))


def schema() -> "object":
    """Return the Arrow schema of the file."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(name, kind, nullable=False)
            for name, kind in (("arm", pa.string()), ("seed", pa.string()), ("won", pa.bool_()))
        ]
    )
