"""Measure how fast the run catalogue lists 500 runs of a folder and of a bucket, and print a table.

    .venv/bin/python -m tools.measure_catalogue [--runs 500] [--objects 40] [--picture FILE]

The S3 server is the one of the tests. `--picture` opens the page in Chromium and writes a picture of it.
"""

import argparse
import json
import math
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from ante.cli.platform.serve_runs import ServeRuns
from ante.serve.catalogue.server import catalogue, runs_of
from ante.storage.opening import open_store
from ante.storage.store import Store
from ante.tables import paper
from ante.training.settings.config import make_config

ROWS = 200  # of metrics.csv
HEAD = "iteration,steps,games,seconds,steps_per_second,return,ante,blinds,win_rate,entropy,games_counted\n"
KINDS = (
    {"policy.kind": "shortlist"},
    {"policy.kind": "mlp"},
    {"policy.kind": "lstm"},
    {"algo.kind": "dqn", "policy.kind": "mlp"},
)
TIMES = 7


def write_run(folder: Path, number: int) -> None:
    """Write the small files of a made-up run, deterministic by its number."""
    luck = random.Random(number)
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "episodes").mkdir()
    kind = KINDS[number % len(KINDS)]
    settings = {
        "name": folder.name,
        "steps": 20_000_000,
        "seed": number,
        "algo.lr": float(f"{10 ** luck.uniform(-4, -3):.1e}"),
        **kind,
    }
    settings |= {"resources.runners": 8, "resources.learners": 1, "resources.learner_gpus": 1.0 if number % 3 else 0.0}
    (folder / "config.yaml").write_text(make_config(settings).to_yaml())
    done, best = luck.uniform(0.3, 1.0) if number % 5 == 1 else 1.0, luck.uniform(6, 19)
    rows = []
    for i in range(1, int(ROWS * done) + 1):
        share = i / ROWS
        blinds = best * (1 - math.exp(-4 * share)) + luck.gauss(0, 0.25)
        won = max(0.0, (blinds - 10) / 30)
        rows.append(
            f"{i},{i * 100_000},{i * 900},{i * 41.0},2400,{blinds / 8:.3f},{1 + blinds / 3:.3f},{blinds:.3f},{won:.4f},{2 - share:.3f},{900}\n"
        )
    (folder / "metrics.csv").write_text(HEAD + "".join(rows))
    (folder / "checkpoints" / "latest.json").write_text(json.dumps({"iteration": len(rows) - (number % 7 == 3)}))
    for video in range(number % 3):
        (folder / "episodes" / f"{video}.mp4").write_bytes(b"made up")
    if done == 1.0 and number % 7 != 3:
        low, high = max(0.0, won - 0.03), won + 0.03
        wins = {"rate": won, "low": low, "high": high}
        found = {"games": 1000, "wins": wins, "mean_blinds": blinds, "mean_ante": 1 + blinds / 3}
        (folder / "evaluation.json").write_text(
            json.dumps(found | {"mean_blinds_half_width": 0.4, "mean_ante_half_width": 0.1})
        )
    then = time.time() - 3600.0 * number / 3 - 60
    for file in folder.rglob("*"):
        os.utime(file, (then - (file.suffix == ".csv"), then - (file.suffix == ".csv")))


def write_runs(folder: Path, count: int) -> None:
    """Write all runs: single ones, and groups with several seeds."""
    for number in range(count):
        name = f"{KINDS[number % len(KINDS)]['policy.kind']}-{number:03d}"
        write_run(folder / (f"sweep-{number // 60}/{name}" if number % 60 < 12 else name), number)


def upload(store: Store, folder: Path, objects: int) -> int:
    """Upload the runs, with further objects such as checkpoints so that each has about `objects`; return their number."""
    keys = []
    for config in sorted(folder.rglob("config.yaml")):
        files = [file for file in config.parent.rglob("*") if file.is_file()]
        run = config.parent.relative_to(folder).as_posix()
        keys += [(file.relative_to(folder).as_posix(), file.read_bytes()) for file in files]
        keys += [(f"{run}/checkpoints/{i // 8:012d}/part-{i % 8}", b"x") for i in range(objects - len(files))]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pair: store.put_bytes(*pair), keys))
    return len(keys)


def milliseconds(work: Callable[[], object]) -> str:
    """Return the median and the worst duration of TIMES repetitions."""
    found = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        work()
        found.append(1000 * (time.perf_counter() - begin))
    return f"{statistics.median(found):.0f} ({max(found):.0f})"


@contextmanager
def served(source: Store | Path, place: Path) -> Iterator[str]:
    """Serve the catalogue of a store or folder; yield the URL."""
    cost = ServeRuns(cpu_hour=0.04, gpu_hour=2.5).cost
    with catalogue(runs_of(source, place, None, cost), "s3://game-runs/runs") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.port}"
        server.shutdown()


def get(url: str) -> bytes:
    """Return the body of an answer."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return bytes(answer.read())


def count(url: str) -> int:
    """Return the number of listed runs."""
    return len(json.loads(get(f"{url}/live.json")).get("data", {}).get("runs", ()))


def measure(name: str, source: Store | Path, runs: int, place: Path) -> tuple[str, ...]:
    """Return the row of one source."""
    begin, cpu = time.perf_counter(), time.process_time()
    with served(source, place) as url:
        while count(url) < runs:
            time.sleep(0.2)
        first = f"{time.perf_counter() - begin:.1f} s ({time.process_time() - cpu:.1f} s of CPU time)"
        page, size = milliseconds(lambda: get(f"{url}/")), len(get(f"{url}/"))
        return name, first, page, f"{size / 1e3:.0f} kB", milliseconds(lambda: get(f"{url}/live.json"))


def picture(url: str, file: Path) -> None:
    """Write a picture of the page with two compared runs."""
    from tests.support.browser import chromium

    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 960})
        begin = time.perf_counter()
        page.goto(url)
        page.wait_for_selector("#runs tr[data-run]:nth-child(2)")
        print(f"table in Chromium after {time.perf_counter() - begin:.2f} s")
        page.wait_for_selector("[data-curve=blinds] path.line")
        page.fill("#find", "sweep-0")
        for box in page.locator("#runs input").all():
            box.set_checked(box.get_attribute("data-run").endswith(("-000", "-004")))
        page.wait_for_selector("#settings tr:nth-child(2)")
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=str(file))


def main() -> int:
    """Measure and print."""
    from tests.storage.server import Server

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--objects", type=int, default=40, help="objects of each run in the bucket")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp()).resolve()
    server = Server(scratch / "s3" / "data")
    try:
        folder = scratch / "runs"
        write_runs(folder, options.runs)
        rows = [measure("folder", folder, options.runs, scratch / "none")]
        if options.picture:
            with served(folder, scratch / "none") as url:
                count(url)
                picture(url, options.picture)
        server.start()
        store = open_store("s3://game-runs/runs", server.environment())
        objects = upload(store, folder, options.objects)
        rows.append(measure(f"bucket, {objects:,} objects", store, options.runs, scratch / "copies"))
        rows.append(measure("bucket, copies kept", store, options.runs, scratch / "copies"))
    finally:
        if server.process:
            server.remove()
        shutil.rmtree(scratch, ignore_errors=True)
    from rich.table import Table

    table = Table(
        "source", "first list", "page, ms", "size", "list, ms", title=f"{options.runs} runs; median (worst) of {TIMES}"
    )
    for row in rows:
        table.add_row(*row)
    paper().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
