"""The report of a run as one HTML file: summary, learning curves, episodes and a step-by-step player.

The file needs no server. It contains its data as JSON and links to videos and posters. `page/` holds its parts. The
same page with `live.js` follows a run while a server sends it.
"""

import html
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ante.errors import BalatroError, shown
from ante.files import NoFile, Unreadable, read_object, whole_rows, write_text
from ante.metrics import METRICS
from ante.watch.episode import annotate, read_episode
from ante.watch.gallery import FOLDER, Entry, read_index
from ante.watch.highlights import described
from ante.watch.notes import Explained, Note, read_notes
from ante.watch.pages import page, part, security_policy
from ante.watch.published import LEGEND, published_lines
from ante.watch.runs import flattened
from ante.watch.trace import packed, steps_of
from ante.watch.window import comparable_rows, resumes
from ante.yaml_files import read_yaml

REPORT = "report.html"
POINTS = 400  # most points of a curve; longer curves are averaged
TRACES = 200  # episodes that can be played step by step
CURVES = tuple(metric for metric in METRICS if metric.curve)
LIVE_SCRIPT = "live.js"
SCRIPTS = (
    "common.js",
    "axes.js",
    "curves.js",
    "summary.js",
    "table.js",
    "player.js",
    "gallery.js",
    LIVE_SCRIPT,
    "main.js",
)
Link = Callable[[str], str]


class NoReport(BalatroError, ValueError):
    """No report can be written for a run."""


@dataclass(frozen=True)
class Report:
    """The contents of a report: the data of its page, and the packed steps of episodes by name."""

    name: str
    data: dict[str, Any]
    traces: dict[str, str]

    def write(self, file: Path, poll_seconds: float = 0.0) -> Path:
        """Write the page and return its file; with `poll_seconds` it requests changes from the server that sent it."""
        live = {"live": poll_seconds} if poll_seconds else {}
        write_text(file, drawn(self.name, self.data | live, self.traces))
        return file


def write_report(
    run: Path,
    file: Path | None = None,
    link: Link = quote,
    player: Explained | None = None,
    traces: int = TRACES,
    advance: Callable[[int], None] = lambda _: None,
) -> Path:
    """Write the report of a run's folder to `file`, by default its report.html, and return it. Raises NoReport.

    The parameters are those of `read_report`.
    """
    return read_report(run, link, player, traces, advance).write(file or run / REPORT)


def read_report(
    run: Path,
    link: Link = quote,
    player: Explained | None = None,
    traces: int = TRACES,
    advance: Callable[[int], None] = lambda _: None,
) -> Report:
    """Return the contents of the report of a run's folder. Raises NoReport.

    link     maps a path in the run's folder to the URL that a browser loads
    player   annotates episodes that have no notes
    traces   how many episodes can be played step by step; those with videos and highlights come first, then the newest
    advance  called after each replayed episode
    """
    check_run(run)
    played = {}
    for entry in first_of(read_index(run), traces):
        played[entry.name] = trace_of(run, entry, player)
        advance(1)
    return Report(
        run.name,
        read_data(run, link, played),
        {name: each["trace"] for name, each in played.items() if "trace" in each},
    )


def check_run(run: Path) -> None:
    """Raise NoReport if the folder is not the one of a run."""
    if not (run / "config.yaml").is_file():
        raise NoReport(f"{run} is not the folder of a run: it has no config.yaml; use one such as runs/ppo")


def read_data(run: Path, link: Link, played: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return the data of the page. `played` are the results of `trace_of` by episode. Raises NoReport, BadIndex."""
    described = about(run)
    return {
        "run": described,
        "curves": curves(run / "metrics.csv"),
        "published": published(described["config"]),
        "evaluation": evaluation(run / "evaluation.json"),
        "hints": {name: read_json(run / "hints" / f"{name}.json") for name in ("ledger", "effect")},
        "episodes": [row_of(entry, link, played.get(entry.name, {})) for entry in reversed(read_index(run))],
        "checkpoint": read_json(run / "checkpoints" / "latest.json").get("checkpoint", ""),
    }


def links_from(file: Path, run: Path) -> Link:
    """Return links from a report to the files of a run's folder, independent of the report's own name."""
    there = os.path.relpath(run.absolute(), file.absolute().parent)
    return lambda path: quote(path if there == "." else f"{Path(there).as_posix()}/{path}")


def first_of(entries: Sequence[Entry], most: int) -> list[Entry]:
    """Return the episodes that can be played: those with videos and highlights first, then the newest."""
    ranked = sorted(enumerate(entries), key=lambda pair: (not (pair[1].video or pair[1].highlights), -pair[0]))
    return [entry for _, entry in ranked[:most]]


def trace_of(run: Path, entry: Entry, player: Explained | None) -> dict[str, str]:
    """Return the packed steps of an episode and the author of its notes, or why it cannot be played."""
    folder = run / FOLDER
    try:
        _, episode = read_episode(folder / entry.replay)
        who, notes = thoughts_on(folder, entry, player, episode)
        steps = list(steps_of(episode, notes))
    except BalatroError as error:
        return {"trouble": str(error)}
    if steps[-1]["state"] != entry.state:
        return {"trouble": "with this version of the engine, the replay leads to another game"}
    return {"trace": packed(steps), "who": who}


def thoughts_on(folder: Path, entry: Entry, player: Explained | None, episode: Any) -> tuple[str, list[Note] | None]:
    """Return a player's name and its notes: the stored ones, else those of `player`. Raises BadNotes."""
    if entry.notes:
        return read_notes(folder / entry.notes)
    return (player.name, annotate(episode, player)) if player else ("", None)


def row_of(entry: Entry, link: Link, played: dict[str, str]) -> dict[str, Any]:
    """Return an episode's data for the gallery."""
    names = ("name", "seed", "outcome", "ante", "blinds", "decisions", "reward", "steps", "final", "jokers", "why")
    row = {name: getattr(entry, name) for name in names}
    row |= {name: link(f"{FOLDER}/{getattr(entry, name)}") for name in ("video", "poster") if getattr(entry, name)}
    row["highlights"] = [described(rule, figure) for rule, figure in entry.highlights.items()]
    return row | {"replay": f"{FOLDER}/{entry.replay}"} | {k: v for k, v in played.items() if k != "trace" and v}


def about(run: Path) -> dict[str, Any]:
    """Return name, settings and machine of a run, and the time of writing."""
    try:
        config = read_yaml(run / "config.yaml") or {}
    except Unreadable as error:
        raise NoReport(str(error)) from None
    if not isinstance(config, dict):
        raise NoReport(f"{run / 'config.yaml'} contains {shown(config)}, not the settings of a run")
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"name": run.name, "config": config, "machine": read_json(run / "machine.json"), "written": written}


def published(config: dict[str, Any]) -> dict[str, Any]:
    """Return the results of other players in a run's game, by metric, and the text of their legend."""
    return {"lines": published_lines(dict(flattened(config))), "legend": LEGEND}


def read_json(file: Path) -> dict[str, Any]:
    """Return a JSON object; empty if the file does not exist. Raises NoReport."""
    if not file.exists():
        return {}
    try:
        found = read_object(file)
    except Unreadable as error:
        raise NoReport(str(error)) from None
    return found


def evaluation(file: Path) -> dict[str, Any]:
    """Return the final evaluation without its single games; empty before it is written. Raises NoReport."""
    return {name: value for name, value in read_json(file).items() if name != "records"}


def curves(file: Path) -> dict[str, Any]:
    """Return the metrics in CURVES by column, with their steps; None where a metric has no value. Raises NoReport."""
    try:
        raw = whole_rows(file)
    except NoFile:
        raw = []
    except Unreadable as error:
        raise NoReport(str(error)) from None
    rows = comparable_rows(raw)
    if rows and not {"steps", "games", "seconds", "iteration"} <= set(rows[0]):
        raise NoReport(f"{file} has no columns steps, games, seconds and iteration: is it the metrics of a run?")
    if any(number_of(row["steps"]) is None for row in rows):
        raise NoReport(f"{file} has rows without a number of steps: is it the metrics of a run?")
    plotted = [metric for metric in CURVES if rows and metric.name in rows[0]]
    names = dict.fromkeys(name for each in plotted for name in (each.name, each.evaluated) if name in rows[0])
    size = max(1, math.ceil(len(rows) / POINTS))
    parts = [rows[i : i + size] for i in range(0, len(rows), size)]
    last = rows[-1] if rows else {}
    return {
        "steps": [float(part[-1]["steps"]) for part in parts],
        "resumes": [float(raw[i]["steps"]) for i in resumes(raw)],
        "columns": {name: [mean(part, name) for part in parts] for name in names},
        "drawn": [
            {
                "name": each.name,
                "evaluated": each.evaluated if each.evaluated in names else "",
                "title": each.curve,
                "percent": each.unit == "share",
            }
            for each in plotted
        ],
        "total": {name: number_of(last.get(name, "")) for name in ("steps", "games", "seconds", "iteration")},
    }


def mean(rows: Sequence[dict[str, str]], name: str) -> float | None:
    """Return the mean of a column's numbers with five digits; None without numbers."""
    values = [value for row in rows if (value := number_of(row[name])) is not None]
    return float(f"{sum(values) / len(values):.5g}") if values else None


def number_of(text: str) -> float | None:
    """Return a finite number, else None."""
    value = float(text or "nan")
    return value if math.isfinite(value) else None


def drawn(name: str, data: dict[str, Any], traces: dict[str, str]) -> str:
    """Return the HTML of the report."""
    elements = "\n".join(
        f'<script type="text/plain" data-trace="{html.escape(each)}">{trace}</script>' for each, trace in traces.items()
    )
    live = "live" in data
    return page(name, part("run.html"), part("page.css"), scripts(live), data, elements, live)


def scripts(live: bool = False) -> str:
    """Return the page's JavaScript; `live` adds the one that follows a run."""
    return "\n".join(part(each) for each in SCRIPTS if live or each != LIVE_SCRIPT)


def policy(live: bool = False) -> str:
    """Return the Content-Security-Policy of the report."""
    return security_policy(scripts(live), live=live)
