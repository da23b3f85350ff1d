"""Saved trials of a sweep: a record of their evaluations, and verified checkpoints from which a stopped sweep continues.

Tune's own state is a set of pickles, and loading a pickle can execute any code. It is never read: trials.jsonl has a line
for each evaluation, each checkpoint contains its score, settings and parent in its sealed metadata, and Tune starts again
from these.
"""

import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ante.errors import first_fault
from ante.files import BadPath, Unreadable, inside, parse_json, read_text, write_text
from ante.storage.opening import open_store
from ante.storage.store import Store, exists, under
from ante.training.run_store.checkpoints import METADATA, read_metadata
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.sweeps.spec import Sweep

TRIAL = "trial"  # subfolder in Tune's checkpoints
TUNE = "tune"  # subfolder with the files of Tune
RECORD = "trials.jsonl"
DIVERGED = -1.0  # score of a trial whose gradients or weights are not finite; every metric is at least 0


class Point(BaseModel):
    """A trial at one evaluation.

    score   by which trials are compared; DIVERGED if training diverged
    parent  the trial whose weights it started from: another one after copying in population-based training
    ended   whether the trial ended here
    """

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    trial: int = Field(ge=0)
    steps: int = Field(ge=0)
    score: float
    values: dict[str, Any]
    parent: int = Field(ge=0)
    ended: bool = False


class SavedPoint(Point):
    """An evaluation as the metadata of its checkpoint has it; the seed is that of the trial's games."""

    seed: int = Field(ge=0)


P = TypeVar("P", bound=Point)


@dataclass(frozen=True)
class SavedTrial:
    """A trial at one evaluation, and the folder of its checkpoint."""

    point: SavedPoint
    folder: Path


class Record:
    """The folder of a sweep: the evaluations of all trials in order of arrival, also in the sweep's store."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep, self.file = sweep, sweep.folder / RECORD
        self.store: Store | None = open_store(sweep.store) if sweep.store else None

    def key(self, path: str) -> str:
        """Return the key in the store of a path in the sweep's folder."""
        return under(self.sweep.name, path)

    @property
    def storage(self) -> str:
        """Folder or URL for the files of Tune."""
        if self.sweep.store is None:
            return str(self.sweep.folder.absolute())
        return f"{self.sweep.store.rstrip('/')}/{self.sweep.name}"

    def add(self, point: Point) -> None:
        """Append an evaluation."""
        with self.file.open("a") as stream:
            stream.write(json.dumps(point.model_dump()) + "\n")
        self.upload(RECORD)

    def upload(self, path: str) -> None:
        """Copy a file to the store, if there is one."""
        if self.store:
            self.store.put_file(self.key(path), self.sweep.folder / path)

    def fetch(self, path: str) -> None:
        """Copy a file from the store, if it is only there."""
        if self.store and not (self.sweep.folder / path).exists() and exists(self.store, self.key(path)):
            self.store.get_file(self.key(path), self.sweep.folder / path)

    def keys(self, path: str) -> list[str]:
        """Return the keys in the store under a path, without the objects that PyArrow writes to mark folders."""
        under_path = self.store.list(self.key(path) + "/") if self.store else ()
        return [stat.key for stat in under_path if not stat.key.endswith("/")]

    def fetch_checkpoints(self) -> None:
        """Copy the checkpoints that are only in the store."""
        for key in self.keys(TUNE):
            path = key.removeprefix(self.key(""))
            if f"/{TRIAL}/" in path:
                file = inside(self.sweep.folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                self.fetch(path)

    def points(self) -> dict[int, list[Point]]:
        """Return the evaluations of each trial in order; entries repeated after a resume replace earlier ones."""
        found: dict[int, dict[int, Point]] = {number: {} for number in range(self.sweep.trials)}
        for point in self.arrived():
            found[point.trial][point.steps] = point
        return {number: [point for _, point in sorted(of.items())] for number, of in found.items()}

    def arrived(self) -> list[Point]:
        """Return all evaluations in order of arrival; a partial last line is ignored. Raises Unreadable."""
        if not self.file.exists():
            return []
        lines = [line for line in read_text(self.file).splitlines(keepends=True) if line.endswith("\n")]
        return [self.point_in(parse_json(line, self.file)) for line in lines]

    def point_in(self, line: Any) -> Point:
        """Return the evaluation in a line. Raises Unreadable."""
        try:
            return checked(Point.model_validate(line), self.sweep)
        except (ValidationError, ValueError) as error:
            raise Unreadable(
                f"cannot read {self.file}: a line is not an evaluation of this sweep ({fault(error)}): remove it"
            ) from None

    def rewrite(self, points: Iterable[Point]) -> None:
        """Replace the record by these evaluations."""
        write_text(self.file, "".join(json.dumps(point.model_dump()) + "\n" for point in points))

    def drop(self, saved: Iterable[SavedTrial], kept: Iterable[SavedTrial]) -> None:
        """Delete the checkpoints that no trial continues from, so that none of another course is taken later."""
        places = {each.folder for each in kept}
        for each in saved:
            if each.folder not in places:
                shutil.rmtree(each.folder)
                for key in self.keys(each.folder.relative_to(self.sweep.folder).as_posix()):
                    assert self.store
                    self.store.delete(key)


def saved_trials(sweep: Sweep) -> list[SavedTrial]:
    """Return all intact checkpoints in a sweep's folder, oldest first; damaged and incomplete ones are skipped.

    Raises BadCheckpoint if one has settings outside the sweep's ranges.
    """
    found, place = [], sweep.folder / TUNE
    for file in sorted(place.glob(f"*/checkpoint_*/{TRIAL}/{METADATA}")):
        with suppress(BadCheckpoint, BadPath):
            folder = inside(place, file.parent.relative_to(place).as_posix())
            found.append((folder, read_metadata(folder)))
    found.sort(key=lambda each: each[0].stat().st_mtime_ns)
    return [trial_in(folder, metadata, sweep) for folder, metadata in found]


def trial_in(folder: Path, metadata: dict[str, Any], sweep: Sweep) -> SavedTrial:
    """Return the trial in a verified checkpoint. Raises BadCheckpoint."""
    try:
        known = {name: metadata[name] for name in SavedPoint.model_fields if name in metadata}
        point = checked(SavedPoint.model_validate(known), sweep)
    except (ValidationError, ValueError) as error:
        raise BadCheckpoint(
            f"checkpoint {folder} is not of this sweep ({fault(error)}): remove it, or change name in the sweep's file"
        ) from None
    return SavedTrial(point, folder.parent)


def checked(point: P, sweep: Sweep) -> P:
    """Return the evaluation if it can be one of this sweep. Raises ValueError."""
    if max(point.trial, point.parent) >= sweep.trials or point.values.keys() != sweep.search.keys():
        raise ValueError("it has another number of trials or other settings")
    for name, of in sweep.search.items():
        try:
            fits = of.contains(point.values[name])
        except TypeError:
            fits = False
        if not fits:
            raise ValueError(f"{name} is out of range")
    return point


def fault(error: ValueError) -> str:
    """Return what is wrong, as a phrase."""
    return first_fault(error) if isinstance(error, ValidationError) else str(error)


def newest(saved: Iterable[SavedTrial]) -> dict[int, SavedTrial]:
    """Return the last checkpoint of each trial that has one."""
    found: dict[int, SavedTrial] = {}
    for each in saved:
        if each.point.trial not in found or each.point.steps >= found[each.point.trial].point.steps:
            found[each.point.trial] = each
    return found


def last_common(saved: Iterable[SavedTrial], sweep: Sweep) -> dict[int, SavedTrial]:
    """Return the checkpoint of each trial at the last evaluation that all reached; empty to start from the beginning."""
    every: dict[int, dict[int, SavedTrial]] = {number: {} for number in range(sweep.trials)}
    for each in saved:
        every[each.point.trial][each.point.steps] = each  # the newest of equal steps
    if not all(every.values()):
        return {}
    evaluation = min(max(of) // sweep.every for of in every.values())
    reached = {number: [steps for steps in of if steps // sweep.every <= evaluation] for number, of in every.items()}
    if not all(reached.values()):
        return {}
    return {number: every[number][max(steps)] for number, steps in reached.items()}
