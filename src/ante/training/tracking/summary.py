"""What is told of a run beside its rows: its settings, and at the end its evaluation and where its report is."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ante.training.config import TrainConfig


def settings_of(config: TrainConfig) -> dict[str, str]:
    """Every setting as text."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in config.model_dump(mode="json").items()
    }


def figures_of(run: Path) -> dict[str, float]:
    """The numbers of the closing evaluation, such as evaluation/mean_blinds; none where there was none."""
    file = run / "evaluation.json"
    return dict(numbers("evaluation", json.loads(file.read_text()))) if file.exists() else {}


def numbers(name: str, found: Any) -> Iterator[tuple[str, float]]:
    """Numbers of nested objects, by path; lists are left out."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from numbers(f"{name}/{key}", value)
    elif isinstance(found, (int, float)) and not isinstance(found, bool):
        yield name, float(found)


def links_of(config: TrainConfig) -> dict[str, str]:
    """Where the run's folder and its report are: in its store where it has one."""
    place = f"{config.store}/{config.name}" if config.store else str(config.folder.absolute())
    return {"run": place, "report": f"{place}/report.html"}
