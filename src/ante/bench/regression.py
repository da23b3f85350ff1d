"""Regression checks: figures of `ante doctor` stored in a file and compared with current ones."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from ante.bench.figures import Figure
from ante.errors import BalatroError, first_fault
from ante.files import Unreadable, read_json, write_text

TOLERANCE = 0.8


class BadBaseline(BalatroError, ValueError):
    """A baseline file is invalid."""


@dataclass(frozen=True)
class Compared:
    """A figure and its baseline.

    before  the baseline's value, or None
    ratio   current relative to the baseline: 1 is equal, 0.5 half as good; None if not judged
    """

    figure: Figure
    before: float | None
    ratio: float | None


class Baseline(BaseModel):
    """Contents of a baseline file."""

    policy: str
    figures: Annotated[list[Figure], Field(min_length=1)]
    machine: dict[str, Any]


def save_baseline(file: Path, policy: str, figures: list[Figure], machine: dict[str, Any]) -> None:
    """Save figures with their policy and machine."""
    kept = {"machine": machine, "policy": policy, "figures": [asdict(figure) for figure in figures]}
    write_text(file, json.dumps(kept, indent=1))


def read_baseline(file: Path) -> tuple[str, list[Figure], dict[str, Any]]:
    """Read policy, figures and machine from a file. Raises BadBaseline."""
    way_out = f"write one with ante doctor --save {file}"
    try:
        kept = Baseline.model_validate_json(json.dumps(read_json(file)))
    except Unreadable as error:
        raise BadBaseline(f"{error}; {way_out}") from None
    except ValidationError as error:
        raise BadBaseline(f"baseline {file}, {first_fault(error)}; {way_out}") from None
    return kept.policy, kept.figures, kept.machine


def compare(figures: list[Figure], before: list[Figure]) -> list[Compared]:
    """Compare figures with the baseline's of the same name. Raises BadBaseline if judged figures are missing."""
    old = {figure.name: figure for figure in before}
    missing = [name for name in old if name not in {figure.name for figure in figures}]
    if missing:
        raise BadBaseline(f"the baseline has {missing[0]}, which was not measured now: use the same configuration")
    return [Compared(figure, *against(figure, old.get(figure.name))) for figure in figures]


def against(figure: Figure, before: Figure | None) -> tuple[float | None, float | None]:
    """Return the baseline's value and the ratio to it."""
    if before is None:
        return None, None
    if not figure.better:
        return before.value, None
    return before.value, figure.value / before.value if figure.better == "more" else before.value / figure.value


def regressions(compared: list[Compared], tolerance: float = TOLERANCE) -> list[str]:
    """Return a sentence for each figure that is worse than `tolerance` times its baseline."""
    return [
        f"{each.figure.name} is {figure_text(each.figure.value)} {each.figure.unit}, it was {figure_text(each.before)}: "
        f"{each.ratio:.2f} times as good, below {tolerance}"
        for each in compared
        if each.before is not None and each.ratio is not None and each.ratio < tolerance
    ]


def figure_text(value: float) -> str:
    """Format a figure."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.3f}"
