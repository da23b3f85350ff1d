"""A run's folder without training: settings, rows, a checkpoint pointer."""

import json
import math
from pathlib import Path

from ante.metrics import COLUMNS
from ante.training.run.metrics import as_csv, read_rows
from ante.training.settings.config import TrainConfig, make_config


def made_run(place: Path, rows: int, name: str = "made") -> TrainConfig:
    """Create a run in `place` with this many rows, all covered by its checkpoint."""
    config = make_config({"runs": str(place), "name": name})
    config.folder.mkdir(parents=True, exist_ok=True)
    (config.folder / "config.yaml").write_text(config.to_yaml())
    write_rows(config.folder, rows)
    cover(config.folder, rows)
    return config


def write_rows(run: Path, count: int) -> None:
    """Write metrics.csv with this many rows."""
    rows = [{name: str(value_of(name, k)) for name in COLUMNS} for k in range(1, count + 1)]
    (run / "metrics.csv").write_text(as_csv(rows))


def value_of(name: str, k: int) -> float | int:
    """Return a number that is unique per column and row; some columns have none, one of them only in some rows."""
    place = COLUMNS.index(name)
    if name.startswith("hint_") or (name.startswith("eval_") and k % 3):
        return math.nan
    return {"iteration": k, "steps": 512 * k, "seconds": 0.25 * k}.get(name, place + k / 7)


def cover(run: Path, iteration: int) -> None:
    """Set the iteration of the latest checkpoint."""
    folder = run / "checkpoints"
    folder.mkdir(exist_ok=True)
    (folder / "latest.json").write_text(json.dumps({"checkpoint": "x", "iteration": iteration}))


def evaluated(run: Path) -> None:
    """Write the final evaluation."""
    found = {"player": "made", "games": 8, "mean_blinds": 3.5, "wins": {"rate": 0.25}, "records": [{"blinds": 3}]}
    (run / "evaluation.json").write_text(json.dumps(found))


def known_rows(run: Path) -> list[dict[str, float]]:
    """Return the rows of metrics.csv, without missing values."""
    rows = ({name: float(text) for name, text in row.items() if text} for row in read_rows(run / "metrics.csv", 10**9))
    return [{name: value for name, value in row.items() if not math.isnan(value)} for row in rows]
