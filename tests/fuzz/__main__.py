"""Fuzz the readers with coverage feedback (atheris): `make fuzz-readers`, or for some of them

    python -m tests.fuzz --minutes 60 --quiet-minutes 10 config manifest

A reader runs until it fails, its time is over, or its coverage has not grown for the quiet minutes, both in minutes of
processor time. Inputs that add
coverage are kept in `tests/fuzz/corpus/`, which the next run starts from and `make test` reads. A table at the end (and
in `runs/fuzz/readers.json`) lists time, executions, coverage and findings of each reader.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.fuzz import corpus

RESULTS = Path("runs/fuzz")
LOOK_SECONDS = 0.5
PROGRESS = re.compile(r"^#(\d+)\s+(\w+).*cov: (\d+) ft: (\d+) corp: (\d+)")
LIMITS = ("-rss_limit_mb=4096", "-timeout=30", "-max_len=65536", "-print_final_stats=0")


def fuzz(name: str, minutes: float, quiet_minutes: float) -> dict[str, object]:
    """Fuzz one reader and return its row of the table; new inputs are added to the corpus."""
    work = RESULTS / name.replace(" ", "-")
    inputs, found = work / "inputs", work / "findings"
    for folder in (inputs, found):
        folder.mkdir(parents=True, exist_ok=True)
    corpus.unpack(name, inputs)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tests.fuzz.child", name, str(inputs.resolve()), *LIMITS,
               f"-artifact_prefix={found.resolve()}/",
               f"-dict={corpus.dictionary(name, work)}"]  # fmt: skip
    row: dict[str, object] = {"reader": name, "executions": 0, "coverage": 0, "first": 0, "last_growth_s": 0.0}
    with (
        (work / "log").open("w") as log,
        subprocess.Popen(command, stderr=log) as process,
        (work / "log").open() as lines,
    ):
        while process.poll() is None:
            time.sleep(LOOK_SECONDS)
            spent = processor_seconds(process.pid)
            for line in lines:
                if match := PROGRESS.match(line):
                    advance(row, match, spent)
            if spent > 60 * minutes or spent - float(str(row["last_growth_s"])) > 60 * quiet_minutes:
                process.terminate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["cpu_s"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    row["findings"] = sorted(each.name for each in found.iterdir())
    row["inputs"] = corpus.pack(name, inputs, found)
    return row


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process so far, 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def advance(row: dict[str, object], match: re.Match[str], seconds: float) -> None:
    """Update a row by one line of progress."""
    executions, event, coverage, features, _ = match.groups()
    row["executions"] = int(executions)
    if event == "INITED":
        row["first"] = int(coverage)
    grown = (int(coverage), int(features))
    if grown > (row["coverage"], row.get("features", 0)):  # type: ignore[operator]
        if int(coverage) > int(str(row["coverage"])):
            row["last_growth_s"] = round(seconds, 1)
        row["coverage"], row["features"] = grown


def table(rows: list[dict[str, object]]) -> Table:
    """Return the results as a table."""
    shown = Table(
        "reader", "CPU minutes", "executions", "edges at first", "edges", "last growth (CPU)", "inputs", "findings"
    )
    for row in rows:
        shown.add_row(str(row["reader"]), f"{int(str(row['cpu_s'])) / 60:.1f}", f"{row['executions']:,}", str(row["first"]),
                      str(row["coverage"]), f"{row['last_growth_s']} s", str(row["inputs"]), " ".join(row["findings"]))  # type: ignore[arg-type]  # fmt: skip
    return shown


def main() -> int:
    """Fuzz the readers one after another and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", help="names of readers, as in tests/fuzz/targets.py; default: all")
    parser.add_argument("--minutes", type=float, default=60.0, help="longest processor time per reader")
    parser.add_argument(
        "--quiet-minutes", type=float, default=10.0, help="stop after this processor time without new coverage"
    )
    given = parser.parse_args()
    os.environ.update(NUMBA_DISABLE_JIT="0", ANTE_FUZZING="1")
    rows = []
    for name in given.readers or corpus.names():
        rows.append(fuzz(name, given.minutes, given.quiet_minutes))
        print(json.dumps(rows[-1]), flush=True)
        (RESULTS / "readers.json").write_text(json.dumps(rows, indent=1) + "\n")
    Console(width=160).print(table(rows))
    return any(row["findings"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
