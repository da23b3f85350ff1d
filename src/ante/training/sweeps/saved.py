"""Saved members of a population: verified checkpoints from which a stopped population continues.

Tune's own state is a set of pickles, and loading a pickle can execute any code. It is never read: each checkpoint of a
member contains its steps, score, settings and parent in its sealed metadata, and Tune starts again from these.
"""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ante.paths import BadPath, inside
from ante.training.run_store.checkpoints import METADATA, read_metadata
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.sweeps.space import Space

MEMBER = "member"  # subfolder in Tune's checkpoints


@dataclass(frozen=True)
class SavedMember:
    """A member at one comparison, and the folder of its checkpoint."""

    number: int
    steps: int
    score: float
    values: dict[str, float]
    seed: int
    parent: int
    folder: Path


def saved_members(place: Path, space: Space) -> list[SavedMember]:
    """Return all intact checkpoints of an experiment's folder, oldest first; damaged and incomplete ones are skipped.

    Raises BadCheckpoint if one has settings outside the population's ranges.
    """
    found = []
    for file in sorted(place.glob(f"*/checkpoint_*/{MEMBER}/{METADATA}")):
        with suppress(BadCheckpoint, BadPath):
            folder = inside(place, file.parent.relative_to(place).as_posix())
            found.append((folder, read_metadata(folder)))
    found.sort(key=lambda each: each[0].stat().st_mtime_ns)
    return [member_in(folder, metadata, space) for folder, metadata in found]


def member_in(folder: Path, metadata: dict[str, Any], space: Space) -> SavedMember:
    """Return the member in a verified checkpoint. Raises BadCheckpoint."""
    try:
        number, parent, steps, seed = (whole(metadata[name]) for name in ("member", "parent", "steps", "seed"))
        score, values = metadata["score"], metadata["values"]
        fits = number < space.population and parent < space.population and values.keys() == space.search.keys()
        fits = fits and isinstance(score, float) and not math.isnan(score)
        if not fits or not all(of.low <= values[name] <= of.high for name, of in space.search.items()):
            raise ValueError("a value is out of range")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadCheckpoint(
            f"checkpoint {folder} is not of this population ({type(error).__name__}: {error}): remove it, or change name "
            "in the population's file"
        ) from None
    return SavedMember(
        number, steps, score, {name: float(values[name]) for name in space.search}, seed, parent, folder.parent
    )


def whole(value: object) -> int:
    """Return a whole number that is not negative. Raises ValueError."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is not a whole number")
    return value


def resume_points(saved: Iterable[SavedMember], space: Space, together: bool) -> list[SavedMember] | None:
    """Return the checkpoint that each member continues from, by number, or None to start from the beginning.

    together  continue from the last comparison that all members reached; otherwise each from its own last one
    """
    every: dict[int, dict[int, SavedMember]] = {number: {} for number in range(space.population)}
    for each in saved:
        every[each.number][each.steps] = each  # the newest of equal steps
    if not all(every.values()):
        return None
    comparison = min(max(of) // space.every for of in every.values())
    reached = [[steps for steps in of if not together or steps // space.every <= comparison] for of in every.values()]
    if not all(reached):
        return None
    return [of[max(steps)] for of, steps in zip(every.values(), reached, strict=True)]
