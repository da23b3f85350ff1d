"""`ante bench`: speed and memory, as tables or JSON."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tyro.conf import Positional

from ante.cli.shown import paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.bench import Part, Row


BENCH_PARTS = ("engine", "env", "profile", "start")


@dataclass(frozen=True)
class Bench:
    """Measure speed and memory; what the figures mean stands in docs/performance.md.

    engine   decisions a second with the legal mask, for batches of 1 to 65,536 games and two threads; copies; bytes
    env      the same with observations; steps of the vector environment
    profile  nanoseconds of a decision by its verb, of mask and observation: where the time goes
    start    seconds to import, to a first game, and with --cold to compile everything
    gpu      decisions a second on a CUDA device, then steps a second with a policy there, games on the device and on the
             cores (docs/gpu.md); only where asked for
    train    steps a second of training: our path, stock RLlib, SB3 and a hand-written loop, in turns; shares of the
             limit; where the time goes (some five minutes; only where asked for)
    upload   a train step with and without a 64 MB upload running, in turns (docs/artifacts.md; only where asked for)
    replay   what DQN keeps of real positions: bytes, how much smaller than float32, steps a second in and out (seconds;
             only where asked for)
    hints    steps a second of training with and without hints, in turns: rules, an LLM that is slow, dead, hangs, talks
             nonsense; seconds until the alarm (some five minutes; only where asked for)
    track    milliseconds of the training loop for each row, with and without trackers (a minute; only where asked for)

    Try:
      ante bench engine
      ante bench engine env --json --out bench.json
      ante bench start --cold       (compiles everything anew, which takes minutes)
      ante bench train --json --out train.json
      ante bench upload --store s3://game-runs/bench
    """

    parts: Positional[
        tuple[Literal["engine", "env", "profile", "start", "gpu", "train", "upload", "replay", "hints", "track"], ...]
    ] = ()
    """What to measure; everything but gpu, train, upload, replay, hints and track by default."""
    decisions: int = 500_000
    """Decisions of one repeat; there are six of each measurement."""
    repeats: int = 5
    """Turns of each contender, train, upload, replay, hints and track only."""
    store: str | None = None
    """Where upload sends to: s3://bucket/prefix, or a folder. What it sends is deleted at the end."""
    cold: bool = False
    """Measure the first compilation too."""
    json: bool = False
    """Print one JSON object: machine, and rows (keys name, value, unit, low, high, games, threads), profiles."""
    out: Path | None = None
    """Write that JSON to a file too."""

    def run(self) -> int:
        """Measure and print."""
        from rich.console import Console

        from ante import bench
        from ante.doctor import machine

        if self.repeats < 1:
            raise BalatroError(f"--repeats is {self.repeats}: it takes one at least")

        work: dict[str, Any] = {
            "engine": lambda: bench.engine_rows(self.decisions),
            "env": lambda: bench.environment_rows(max(1, self.decisions // 2)),
            "start": lambda: bench.start_rows(self.cold),
            "gpu": lambda: [*bench.device_rows(), *sampled_rows()],
            "train": lambda: training_rows(self.repeats),
            "upload": lambda: uploading_rows(self.store, self.repeats),
            "replay": lambda: replayed_rows(self.repeats),
            "hints": lambda: hinted_rows(self.repeats),
            "track": lambda: tracked_rows(self.repeats),
        }
        parts = self.parts or BENCH_PARTS
        rows: list[bench.Row] = []
        profiles: dict[str, list[bench.Part]] = {}
        with Console(stderr=True).status("") as status:
            for part in parts:
                status.update(f"measuring: {part}")
                rows += work[part]() if part in work else []
            if "profile" in parts:
                profiles = {"real blinds": bench.profile_parts(0), "one-chip blinds": bench.profile_parts(1)}
        text = bench.as_json(rows, profiles, machine())
        if self.out:
            from ante.files import write_text

            write_text(self.out, text)
        if self.json:
            print(text)
        else:
            print_bench(rows, profiles)
        return 0


def sampled_rows() -> list["Row"]:
    """Rows of `ante bench gpu` that need Ray and torch. Raises NoDevice."""
    from ante.cost.device import sampling_rows

    return sampling_rows()


def training_rows(repeats: int) -> list["Row"]:
    """Rows of `ante bench train`, which needs Ray and torch."""
    if find_spec("sb3_contrib") is None:
        print("ante: SB3 MaskablePPO does not take part: pip install 'ante[sb3]'", file=sys.stderr)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.cost.contest import train_rows

    return train_rows(repeats)


def uploading_rows(store: str | None, repeats: int) -> list["Row"]:
    """Rows of `ante bench upload`. Raises BalatroError."""
    if store is None:
        raise BalatroError("ante bench upload needs a --store to send to, such as s3://game-runs/bench")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.cost.uploads import upload_rows

    return upload_rows(store, repeats)


def replayed_rows(repeats: int) -> list["Row"]:
    """Rows of `ante bench replay`, which needs Ray and torch."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.cost.replay import replay_rows

    return replay_rows(repeats)


def hinted_rows(repeats: int) -> list["Row"]:
    """Rows of `ante bench hints`, which needs Ray, torch and the extra `hints`."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.cost.hints import hint_rows

    return hint_rows(repeats)


def tracked_rows(repeats: int) -> list["Row"]:
    """Rows of `ante bench track`, which needs Ray, torch and the extra `track`. Raises BalatroError."""
    from ante.training.tracking.tracker import PACKAGES, check_installed

    check_installed(list(PACKAGES))
    from ante.cost.tracking import track_rows

    return track_rows(repeats)


def print_bench(rows: Sequence["Row"], profiles: dict[str, list["Part"]]) -> None:
    """Measured rows and profiles as tables."""
    from rich.table import Table

    console = paper()
    if rows:
        table = Table("what", "games", "threads", "median", "lowest", "highest", "unit")
        for row in rows:
            form = "{:,.2f}" if row.unit in ("s", "ms", "x", "us") else "{:,.0f}"
            figures = (form.format(value) for value in (row.value, row.low, row.high))
            table.add_row(row.name, f"{row.games:,}" if row.games else "", str(row.threads), *figures, row.unit)
        console.print(table)
    for name, profile in profiles.items():
        table = Table("part", "of decisions", "ns", "lowest", "highest", "of step time", title=f"random play, {name}")
        for part in profile:
            shares = [f"{share:.1%}" if part.decisions else "" for share in (part.decisions, part.time)]
            times = (f"{value:,.0f}" for value in (part.ns, part.low, part.high))
            table.add_row(part.name, shares[0], *times, shares[1])
        console.print(table)
