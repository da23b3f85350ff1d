"""Data of a run sent in addition to its rows: settings, final evaluation, and links to its report."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ante.files import read_object
from ante.training.settings.config import TrainConfig


def settings_of(config: TrainConfig) -> dict[str, str]:
    """Return every setting by its dotted path, as text."""
    return {
        path: value if isinstance(value, str) else json.dumps(value) for path, value in config.flat_values().items()
    }


def figures_of(run: Path) -> dict[str, float]:
    """Return the metrics of the final evaluation, such as evaluation/mean_blinds; empty if there was none."""
    file = run / "evaluation.json"
    return dict(numbers("evaluation", read_object(file))) if file.exists() else {}


def numbers(name: str, found: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers in nested objects by path, without lists."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from numbers(f"{name}/{key}", value)
    elif isinstance(found, (int, float)) and not isinstance(found, bool):
        yield name, float(found)


def links_of(config: TrainConfig) -> dict[str, str]:
    """Return links to the run's folder and report, in its store if it has one."""
    place = f"{config.store}/{config.name}" if config.store else str(config.folder.absolute())
    return {"run": place, "report": f"{place}/report.html"}
