"""Fuzz the readers with coverage feedback (atheris): `make fuzz-readers`, or for some of them

    python -m tests.fuzz --minutes 60 --quiet-minutes 10 config manifest

A reader runs until it fails, its time is over, or its coverage has not grown for the quiet minutes, both in minutes of
processor time. Inputs that add coverage are kept in `tests/fuzz/corpus/`, which the next run starts from and `make test`
reads. `tests/fuzz/readers.json` adds up the processor time, executions and findings of all runs, so a run that is
interrupted loses one reader; the readers with the least time come first. The table at the end shows these sums.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.fuzz import corpus

RESULTS = Path("runs/fuzz")
SUMS = Path(__file__).with_name("readers.json")
LOOK_SECONDS = 0.5
PROGRESS = re.compile(r"^#(\d+)\s+(\w+).*cov: (\d+) ft: (\d+) corp: (\d+)")
LIMITS = ("-rss_limit_mb=4096", "-timeout=30", "-max_len=65536", "-print_final_stats=0")


def fuzz(name: str, minutes: float, quiet_minutes: float) -> dict[str, Any]:
    """Fuzz one reader and return what happened; new inputs are added to the corpus."""
    work = RESULTS / name.replace(" ", "-")
    inputs, found = work / "inputs", work / "findings"
    shutil.rmtree(work, ignore_errors=True)
    for folder in (inputs, found):
        folder.mkdir(parents=True, exist_ok=True)
    corpus.unpack(name, inputs)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tests.fuzz.child", name, str(inputs.resolve()), *LIMITS,
               f"-artifact_prefix={found.resolve()}/",
               f"-dict={corpus.dictionary(name, work)}"]  # fmt: skip
    row: dict[str, Any] = {"executions": 0, "coverage": 0, "features": 0, "first": 0, "last_growth_s": 0.0}
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
            if spent > 60 * minutes or spent - row["last_growth_s"] > 60 * quiet_minutes:
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


def advance(row: dict[str, Any], match: re.Match[str], seconds: float) -> None:
    """Update what happened by one line of progress."""
    executions, event, coverage, features, _ = match.groups()
    row["executions"] = int(executions)
    if event == "INITED":
        row["first"] = int(coverage)
    if int(coverage) > row["coverage"]:
        row["last_growth_s"] = round(seconds, 1)
    row["coverage"] = max(int(coverage), row["coverage"])
    row["features"] = max(int(features), row["features"])


def kept_sums() -> dict[str, dict[str, Any]]:
    """Return the sums of all runs so far by reader."""
    return dict(json.loads(SUMS.read_text())) if SUMS.exists() else {}


def added(before: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return the sums of a reader after one more run: a run without growth lengthens the quiet time."""
    quiet = row["cpu_s"] - row["last_growth_s"]
    if row["coverage"] == row["first"]:
        quiet += before.get("quiet_cpu_s", 0)
    return {
        "cpu_s": before.get("cpu_s", 0) + row["cpu_s"],
        "quiet_cpu_s": round(quiet),
        "executions": before.get("executions", 0) + row["executions"],
        "edges": row["coverage"],
        "inputs": row["inputs"],
        "findings": before.get("findings", 0) + len(row["findings"]),
    }


def table(sums: dict[str, dict[str, Any]]) -> Table:
    """Return the sums as a table."""
    shown = Table("reader", "CPU minutes", "of these without new edges", "executions", "edges", "inputs", "findings")
    for name, row in sums.items():
        shown.add_row(name, f"{row['cpu_s'] / 60:.1f}", f"{row['quiet_cpu_s'] / 60:.1f}", f"{row['executions']:,}",
                      str(row["edges"]), str(row["inputs"]), str(row["findings"]))  # fmt: skip
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
    failed = False
    for name in given.readers or sorted(corpus.names(), key=lambda each: kept_sums().get(each, {}).get("cpu_s", 0)):
        row = fuzz(name, given.minutes, given.quiet_minutes)
        print(json.dumps({"reader": name, **row}), flush=True)
        failed |= bool(row["findings"])
        sums = kept_sums()  # read again, as another process may fuzz other readers
        sums[name] = added(sums.get(name, {}), row)
        SUMS.write_text(json.dumps(dict(sorted(sums.items())), indent=1) + "\n")
    Console(width=160).print(table(kept_sums()))
    return failed


if __name__ == "__main__":
    sys.exit(main())
