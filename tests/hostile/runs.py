"""A small, valid folder of a run, and everything that reads it: the list of runs, the comparison, the report, the live page."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ante.cli.learn.runs import KEYS, evaluation_rows, facts, metric_rows, print_json, table_of
from ante.errors import BalatroError
from ante.training.settings.config import make_config
from ante.watch.gallery import INDEX
from ante.watch.live import LiveRun
from ante.watch.report import read_report
from ante.watch.runs import differing, read_run
from ante.watch.serve import json_response
from tests.hostile import documents

EVALUATION = {
    "player": "ppo",
    "games": 2,
    "wins": {"rate": 0.5, "low": 0.1, "high": 0.9, "trials": 2, "successes": 1},
    "mean_blinds": 3.5,
    "mean_blinds_half_width": 1.0,
    "mean_ante": 2.0,
    "mean_ante_half_width": 0.5,
    "records": [],
}
LATEST = {"checkpoint": "000000000200", "iteration": 2, "timesteps": 200}
LEDGER = {"asked": 3, "spent": 0.5, "by_kind": {"play": 3}}
METRICS = "iteration,steps,games,seconds,blinds,win_rate,games_counted\n1,100,3,2.5,1.5,0.1,3\n2,200,6,5.0,2.5,0.2,6\n"


@cache
def settings() -> dict[str, Any]:
    """Return the settings of a run as plain values."""
    return json.loads(json.dumps(make_config({"policy.kind": "mlp"}).values()))  # type: ignore[no-any-return]


@cache
def example() -> dict[str, bytes]:
    """Return the files of a run, by path. YAML contains JSON."""
    return {
        "config.yaml": json.dumps(settings()).encode(),
        "metrics.csv": METRICS.encode(),
        "machine.json": b'{"cores": 2, "memory_gb": 7.5}',
        "evaluation.json": json.dumps(EVALUATION).encode(),
        "checkpoints/latest.json": json.dumps(LATEST).encode(),
        "hints/ledger.json": json.dumps(LEDGER).encode(),
        f"episodes/{INDEX}": json.dumps(documents.INDEX).encode(),
    }


def write_example(folder: Path, without: str = "") -> None:
    """Write the files of a run, except one."""
    for name, data in example().items():
        if name != without:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


def within_run(name: str) -> Callable[[Path], None]:
    """Return a reader of a run in which this file is replaced by the given one."""

    def read(file: Path) -> None:
        run = Path(mkdtemp(dir=file.parent if file.parent.is_dir() else None))
        try:
            write_example(run, name)
            if os.path.lexists(file):
                (run / name).parent.mkdir(exist_ok=True)
                file.rename(run / name)
            shown(run)
        finally:
            shutil.rmtree(run)

    return read


def shown(run: Path) -> None:
    """Read a run as all commands and pages do. Raises the first BalatroError, after all have read it."""
    errors = []
    for read in (listed, compared, reported, followed):
        try:
            read(run)
        except BalatroError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def listed(run: Path) -> None:
    """Read a run as `ante runs` does."""
    found = read_run(run)
    table_of([found])
    with redirect_stdout(StringIO()):
        print_json(facts(found))
    for key in KEYS.values():
        sorted((found, found), key=key)


def compared(run: Path) -> None:
    """Compare a run with itself as `ante runs` does."""
    found = [read_run(run)] * 2
    differing({str(i): each.config for i, each in enumerate(found)})
    assert list(metric_rows(found)) and list(evaluation_rows(found))


def reported(run: Path) -> None:
    """Write the report as `ante watch` does."""
    read_report(run).write(run / "report.html")


def followed(run: Path) -> None:
    """Return the data of the live page as its server does."""
    answer = LiveRun(run).changes()
    json_response(answer)
    if "trouble" in answer:
        raise BalatroError(answer["trouble"])
    for entry in answer["data"]["episodes"]:
        json_response(LiveRun(run).trace(entry["name"]))
