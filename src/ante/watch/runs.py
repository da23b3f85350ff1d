"""The runs below a folder, from their files: state, settings, metrics, evaluation. Nothing is written."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ante.errors import BalatroError
from ante.files import FOLDER_LOCK, NoFile, Unreadable, is_held, read_object, whole_rows
from ante.watch.window import comparable_rows
from ante.yaml_files import read_yaml

CONFIG, METRICS, EVALUATION, LATEST = "config.yaml", "metrics.csv", "evaluation.json", "checkpoints/latest.json"
RUN_FILES = (CONFIG, METRICS, EVALUATION, LATEST)
RELEASE = "policy.json"  # a release has a config.yaml too
DEEPEST = 3  # levels of folders in which runs are searched: OUT/ENTRY/seed-N of a comparison has two
FOLLOWING = ("name", "runs")  # settings that differ between any two runs
RUNNING, FINISHED, STOPPED, FAILED, UNFINISHED = "running", "finished", "stopped", "failed", "unfinished"


class NotARun(BalatroError, ValueError):
    """A folder is not the one of a run."""


@dataclass(frozen=True)
class Evaluated:
    """The final evaluation; shares and means with the ends of their 95 % intervals.

    steps  of the latest checkpoint before it
    """

    games: int
    steps: float
    win_rate: tuple[float, float, float]
    blinds: tuple[float, float, float]
    ante: tuple[float, float, float]


@dataclass(frozen=True)
class RunSummary:
    """One run.

    name       path below the folder that was searched
    state      running: a process holds its lock. finished: evaluated after its last checkpoint. stopped: its last
               checkpoint has its last update. failed: updates after it are lost, or it has none. unfinished: neither
               running nor finished as far as a copy in a store shows
    kind       algorithm and policy
    game       deck and stake, or challenge
    target     steps of the whole run
    last       the last row of its metrics; means over too few games after a resume are left out
    best       highest blinds and win rate of its metrics
    changed    when its files changed last, seconds since 1970
    config     settings by dotted path
    """

    name: str
    folder: Path
    state: str
    kind: str
    game: str
    target: float
    last: dict[str, float]
    best: dict[str, float]
    evaluation: Evaluated | None
    changed: float
    config: dict[str, Any]

    def metric(self, name: str) -> float:
        """Return a metric of the last row, NaN if it is unknown."""
        return self.last.get(name, math.nan)


@dataclass(frozen=True)
class Listing:
    """The runs below a folder, and other folders with the reason why they are not listed, by name."""

    runs: list[RunSummary]
    others: dict[str, str]


Read = Callable[[Path, str, bool], RunSummary]


def list_runs(folder: Path, copied: bool = False, read: Read | None = None) -> Listing:
    """Read all runs below a folder; the folder itself may be a run. Raises NotARun if it does not exist.

    copied  whether the files were copied from a store, which has no locks
    read    reads a run instead of `read_run`
    """
    if not folder.is_dir():
        raise NotARun(f"there is no folder {folder}: give the folder of runs, or of a run, such as runs/ppo")
    runs, others = [], {}
    for each in candidates(folder):
        name = each.relative_to(folder).as_posix() if each != folder else folder.absolute().name
        try:
            runs.append((read or read_run)(each, name, copied))
        except (BalatroError, OSError) as error:
            others[name] = str(error)
    return Listing(runs, others)


def candidates(folder: Path, levels: int = DEEPEST) -> Iterator[Path]:
    """Yield the runs in a folder, and the folders in it without any run. Hidden folders and links are left out."""
    if is_run(folder):
        yield folder
        return
    for each in sorted(folder.iterdir()):
        if each.name.startswith(".") or each.is_symlink() or not each.is_dir():
            continue
        try:
            inside = list(candidates(each, levels - 1)) if levels > 1 or is_run(each) else []
        except OSError:  # no permission
            inside = []
        yield from [run for run in inside if is_run(run)] or [each]


def is_run(folder: Path) -> bool:
    """Return whether a folder has the settings of a run."""
    return os.path.exists(folder / CONFIG)


def read_run(folder: Path, name: str = "", copied: bool = False) -> RunSummary:
    """Read the files of one run. Raises NotARun and Unreadable."""
    if not is_run(folder):
        raise NotARun(f"{folder} is not the folder of a run: it has no {CONFIG}")
    if (folder / RELEASE).exists():
        raise NotARun(f"{folder} is a released policy, not a run: evaluate it with ante eval {folder}")
    config = flat_settings(folder / CONFIG)
    rows = comparable_rows(rows_of(folder / METRICS))
    evaluated = evaluation_of(folder / EVALUATION)
    return RunSummary(
        name=name or folder.name,
        folder=folder,
        state=state_of(folder, rows, evaluated, copied),
        kind=f"{config.get('algo.kind', '?')}, {config.get('policy.kind', '?')}",
        game=game_of(config),
        target=number(config.get("steps")),
        last={column: number(text) for column, text in rows[-1].items()} if rows else {},
        best={name: highest(rows, name) for name in ("blinds", "win_rate")},
        evaluation=evaluated,
        changed=max(modified(folder / file) for file in RUN_FILES),
        config=config,
    )


def flat_settings(file: Path) -> dict[str, Any]:
    """Return the settings in a run's config.yaml by dotted path. Raises Unreadable, NotARun."""
    values = read_yaml(file)
    if not isinstance(values, dict) or not {"algo", "games", "steps"} <= set(values):
        raise NotARun(f"{file} does not contain the settings of a run: algo, games and steps are missing")
    return dict(flattened(values))


def flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested values by dotted path; an empty group is a value."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def rows_of(file: Path) -> list[dict[str, str]]:
    """Return the rows of metrics.csv, none if it does not exist. Raises Unreadable."""
    try:
        return whole_rows(file)
    except NoFile:
        return []


def evaluation_of(file: Path) -> Evaluated | None:
    """Return the final evaluation, None if it does not exist. Raises Unreadable."""
    try:
        found = read_object(file)
    except NoFile:
        return None
    try:
        wins = found["wins"]
        means = [
            (value, value - number(found[f"mean_{name}_half_width"]), value + number(found[f"mean_{name}_half_width"]))
            for name, value in ((name, number(found[f"mean_{name}"])) for name in ("blinds", "ante"))
        ]
        rate = number(wins["rate"]), number(wins["low"]), number(wins["high"])
        return Evaluated(int(found["games"]), number(found.get("steps")), rate, *means)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Unreadable(f"cannot read {file}: it is not the evaluation of a run ({error!r})") from None


def state_of(folder: Path, rows: Sequence[Mapping[str, str]], evaluated: Evaluated | None, copied: bool) -> str:
    """Return the state of a run; see RunSummary."""
    if is_held(folder / FOLDER_LOCK):
        return RUNNING
    try:
        latest = read_object(folder / LATEST)
    except NoFile:
        return FINISHED if evaluated else UNFINISHED if copied else FAILED
    if evaluated and evaluated.steps == number(latest.get("timesteps")):
        return FINISHED
    if copied:
        return UNFINISHED
    saved = number(latest.get("iteration"))
    return STOPPED if not saved < (number(rows[-1].get("iteration")) if rows else 0.0) else FAILED


def game_of(config: Mapping[str, Any]) -> str:
    """Return deck and stake, or the challenge."""
    challenge = config.get("games.challenge")
    return str(challenge) if challenge else f"{config.get('games.deck', '?')}, stake {config.get('games.stake', '?')}"


def number(value: object) -> float:
    """Return a number, NaN for anything else."""
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def highest(rows: Sequence[Mapping[str, str]], name: str) -> float:
    """Return the highest number of a column, NaN if it has none."""
    known = [value for row in rows if not math.isnan(value := number(row.get(name)))]
    return max(known, default=math.nan)


def marks_of(folder: Path) -> tuple[object, ...]:
    """Return what changes whenever the summary of a run may change."""
    facts = [os.stat(file) if os.path.exists(file := folder / name) else None for name in RUN_FILES]
    return is_held(folder / FOLDER_LOCK), *((each.st_mtime_ns, each.st_size) if each else None for each in facts)


def modified(file: Path) -> float:
    """Return when a file changed last, 0 if it does not exist."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def differing(
    settings: Mapping[str, Mapping[str, Any]], ignored: Sequence[str] = FOLLOWING
) -> dict[str, dict[str, Any]]:
    """Return the settings that are not equal everywhere: setting -> owner -> value, None where it does not exist."""
    return {
        key: {owner: values.get(key) for owner, values in settings.items()}
        for key in dict.fromkeys(key for values in settings.values() for key in values)
        if key not in ignored and len({repr(values.get(key)) for values in settings.values()}) > 1
    }
