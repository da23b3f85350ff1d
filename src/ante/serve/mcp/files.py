"""What the tools show of runs and replays, and the files of runs that are resources. Nothing is written."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ante.env.replay import check_replay, read_file, read_replay, state_at
from ante.env.text import describe
from ante.errors import BalatroError, shown
from ante.files import inside, read_bytes
from ante.serve.mcp.results import Evaluation, FileRow, ReplayView, RunList, RunRow, RunView
from ante.watch.episode import with_words
from ante.watch.gallery import FOLDER
from ante.watch.report import REPORT
from ante.watch.runs import RunSummary, is_run, list_runs, read_run

LARGEST_FILE = 32 << 20  # bytes of a resource
MOST_LINES = 200  # of a replay in one result
MOST_FILES = 500  # of a run in one result
KINDS = {  # kind of resource, in its URI: endings of its files, MIME type
    "report": ((".html",), "text/html"),
    "video": ((".mp4",), "video/mp4"),
    "picture": ((".jpg",), "image/jpeg"),
    "replay": ((".txt", ".txt.gz"), "text/plain"),
}


class NotServed(BalatroError, ValueError):
    """A run, a file or a part of it is not served."""


class RunFiles:
    """The folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list(self) -> RunList:
        """Return all runs of the folder. Raises NotARun."""
        found = list_runs(self.folder)
        others = {name: self.relative(why) for name, why in found.others.items()}
        return RunList(runs=[RunRow(**row_of(run)) for run in found.runs], others=others)

    def relative(self, message: str) -> str:
        """Return a message without the path of the folder."""
        return message.replace(f"{self.folder}/", "")

    def run(self, name: str) -> RunView:
        """Return a run in detail. Raises BadPath, NotServed, Unreadable."""
        folder = inside(self.folder, name)
        if not folder.is_dir() or not is_run(folder):
            raise NotServed(f"there is no run {shown(name)}: list_runs shows the names")
        found = read_run(folder, name)
        evaluated = found.evaluation
        return RunView(
            **row_of(found),
            evaluation=Evaluation(**vars(evaluated)) if evaluated else None,
            metrics={column: value for column, value in found.last.items() if math.isfinite(value)},
            settings={setting: str(value) for setting, value in found.config.items()},
            files=list(self.files(folder))[:MOST_FILES],
        )

    def files(self, run: Path) -> Iterator[FileRow]:
        """Yield the files of a run that are resources."""
        for file in [run / REPORT, *sorted((run / FOLDER).glob("*"))]:
            kind = kind_of(file.name)
            if kind and file.is_file() and not file.is_symlink():
                uri = f"ante://{kind}/{file.relative_to(self.folder).as_posix()}"
                yield FileRow(uri=uri, bytes=file.stat().st_size)

    def read(self, kind: str, path: str) -> bytes:
        """Return the content of a resource. Raises BadPath, NotServed, Unreadable."""
        file = inside(self.folder, path)
        if kind_of(file.name) != kind:
            raise NotServed(f"{shown(path)} is no {kind}: use a name that ends with {' or '.join(KINDS[kind][0])}")
        if kind == "replay":
            return self.replay_text(path).encode()
        return read_bytes(file, LARGEST_FILE)

    def replay_text(self, path: str) -> str:
        """Return a replay of the folder, with comments. Raises BadPath, NotServed, BadReplay."""
        file = inside(self.folder, path)
        if kind_of(file.name) != "replay":
            raise NotServed(f"{shown(path)} is no replay: use a name that ends with .txt or .txt.gz")
        return with_words(read_file(file))


def kind_of(name: str) -> str | None:
    """Return the kind of resource of a file, None for other files."""
    return next((kind for kind, (endings, _) in KINDS.items() if name.endswith(endings)), None)


def row_of(run: RunSummary) -> dict[str, Any]:
    """Return the fields of a RunRow."""
    steps = run.metric("steps")
    return {
        "run": run.name,
        "state": run.state,
        "kind": run.kind,
        "game": run.game,
        "steps": int(steps) if math.isfinite(steps) else None,
        "target": int(run.target) if math.isfinite(run.target) else None,
        "blinds": finite_or_none(run.metric("blinds")),
        "win_rate": finite_or_none(run.metric("win_rate")),
    }


def finite_or_none(value: float) -> float | None:
    """Return a number, None for NaN and infinity."""
    return value if math.isfinite(value) else None


def replay_view(text: str, first: int) -> ReplayView:
    """Return a part of a replay, beginning at a line. Raises BadReplay, RefusedDecision, NotServed."""
    heading, actions = read_replay(text)
    lines = text.splitlines()
    if not 1 <= first <= len(lines):
        raise NotServed(f"line {first} does not exist: the replay has lines 1 to {len(lines)}")
    return ReplayView(
        seed=heading.seed,
        deck=heading.deck,
        stake=heading.stake,
        challenge=heading.challenge,
        decisions=len(actions),
        outcome=lines[-1],
        difference=str(found) if (found := check_replay(text)) else None,
        lines=lines[first - 1 : first - 1 + MOST_LINES],
        first_line=first,
        total_lines=len(lines),
        state=describe(state_at(text, first)),
    )
