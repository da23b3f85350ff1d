"""Figures of `ante doctor` kept in a file, and those of now held against them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ante.cost.figures import Figure
from ante.errors import BalatroError
from ante.files import write_text

TOLERANCE = 0.8


class BadBaseline(BalatroError, ValueError):
    """A file that no figures can be held against."""


@dataclass(frozen=True)
class Compared:
    """A figure beside the one of the baseline.

    before  what the baseline says, None where it does not
    ratio   how good it is now: 1 as before, 0.5 half as good; None where it is not judged
    """

    figure: Figure
    before: float | None
    ratio: float | None


def save_baseline(file: Path, policy: str, figures: list[Figure], machine: dict[str, Any]) -> None:
    """The file holds these figures, and with which policy and on which machine they were measured."""
    kept = {"machine": machine, "policy": policy, "figures": [asdict(figure) for figure in figures]}
    write_text(file, json.dumps(kept, indent=1))


def read_baseline(file: Path) -> tuple[str, list[Figure], dict[str, Any]]:
    """Policy, figures and machine of a file. Raises BadBaseline."""
    try:
        kept = json.loads(file.read_text())
        return kept["policy"], [Figure(**figure) for figure in kept["figures"]], kept["machine"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadBaseline(f"cannot read baseline {file}: {error}; write one with ante doctor --save {file}") from None


def compare(figures: list[Figure], before: list[Figure]) -> list[Compared]:
    """Each figure beside the baseline's of the same name. Raises BadBaseline where the baseline has others to judge."""
    old = {figure.name: figure for figure in before}
    missing = [name for name in old if name not in {figure.name for figure in figures}]
    if missing:
        raise BadBaseline(f"the baseline has {missing[0]}, which was not measured now: compare like with like")
    return [Compared(figure, *held(figure, old.get(figure.name))) for figure in figures]


def held(figure: Figure, before: Figure | None) -> tuple[float | None, float | None]:
    """What it was before, and how good it is now."""
    if before is None:
        return None, None
    if not figure.better:
        return before.value, None
    return before.value, figure.value / before.value if figure.better == "more" else before.value / figure.value


def regressions(compared: list[Compared], tolerance: float = TOLERANCE) -> list[str]:
    """A sentence for each figure that is worse than `tolerance` times what it was."""
    return [
        f"{each.figure.name} is {told(each.figure.value)} {each.figure.unit}, it was {told(each.before)}: "
        f"{each.ratio:.2f} times as good, below {tolerance}"
        for each in compared
        if each.before is not None and each.ratio is not None and each.ratio < tolerance
    ]


def told(value: float) -> str:
    """A figure for people."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.3f}"
