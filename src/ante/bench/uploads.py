"""The cost of concurrent uploads for training, for `ante bench upload`: with and without, interleaved.

A train step is one small iteration in one process: 512 steps sampled, two gradient steps. Uploads use the path of
checkpoints: queued, then sent by the uploader process. Requires the extra `train`, and `s3` for a bucket.
"""

import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ante.bench.engine_speed import Row, row_of
from ante.bench.stopwatch import over, timed
from ante.errors import BalatroError
from ante.storage.opening import open_store
from ante.storage.spool import Spool
from ante.storage.store import Store
from ante.storage.uploader import start_uploader, wait_until_empty
from ante.training.rllib.build import build
from ante.training.rllib.cluster import start_ray
from ante.training.settings.config import make_config

MEGABYTES = 64
STEPS = 100  # per kind and turn
PATIENCE_SECONDS = 120.0  # time limit for pending uploads at the end of a turn


class Uploads:
    """Continuous uploads of a payload to a separate prefix of a store."""

    def __init__(self, store: Store, spool: Spool, payload: Path) -> None:
        self.store, self.spool, self.payload = store, spool, payload
        self.shelf, self.sent = f"bench-{secrets.token_hex(4)}", 0
        self.uploader = start_uploader(spool)

    def ensure_pending(self) -> None:
        """Start an upload if none is pending."""
        if not self.spool.jobs():
            self.spool.add(self.payload, self.store.url, self.shelf, f"{self.sent:06d}", {})
            self.sent += 1

    def pause(self) -> None:
        """Wait for pending uploads. Raises BalatroError if the store does not accept them."""
        if not wait_until_empty(self.spool, PATIENCE_SECONDS):
            why = self.spool.state.error if self.spool.state else ""
            raise BalatroError(f"{self.store.url} did not accept {MEGABYTES} MB in {PATIENCE_SECONDS:.0f} s: {why}")

    def close(self) -> None:
        """Stop the process and delete the uploaded files."""
        self.uploader.kill()
        self.uploader.wait()
        for stat in list(self.store.list(f"{self.shelf}/")):
            self.store.delete(stat.key)


def upload_rows(url: str, repeats: int, steps: int = STEPS, megabytes: int = MEGABYTES) -> list[Row]:
    """Return milliseconds of a train step with and without an upload, median and p95 per turn, and their ratios.

    url  the store. Raises BalatroError, StorageError.
    """
    torch.set_num_threads(1)
    start_ray()
    config = make_config({"resources.games_per_runner": 64, "algo.batch": 512, "algo.minibatch": 256, "algo.epochs": 1})
    algorithm = build(config)
    with tempfile.TemporaryDirectory() as folder:
        payload = Path(folder) / "payload"
        payload.mkdir()
        (payload / "weights.bin").write_bytes(os.urandom(megabytes << 20))
        uploads = Uploads(open_store(url), Spool(Path(folder) / "spool"), payload)
        try:
            turns = in_turns(algorithm, uploads, repeats, steps)
        finally:
            algorithm.stop()
            uploads.close()
    return rows_of(turns, config.resources.games_per_runner, megabytes)


def in_turns(algorithm: Any, uploads: Uploads, repeats: int, steps: int) -> dict[str, list[list[float]]]:
    """Return seconds of each train step per turn, `alone` and `beside` (during) an upload; the order alternates."""
    turns: dict[str, list[list[float]]] = {"alone": [], "beside": []}
    for turn in range(-1, repeats):  # the first turn is a warm-up
        for kind in ("alone", "beside") if turn % 2 else ("beside", "alone"):
            begin = uploads.ensure_pending if kind == "beside" else uploads.pause
            if kind == "alone":
                uploads.pause()  # the end of the upload before is not timed
            found = step_times(algorithm, begin, steps)
            if turn >= 0:
                turns[kind].append(found)
        uploads.pause()
    return turns


def step_times(algorithm: Any, before: Callable[[], None], steps: int) -> list[float]:
    """Return seconds of each of `steps` train steps, including calls of `before`."""

    def step() -> None:
        before()
        algorithm.train()

    return [timed(step)[1] for _ in range(steps)]


def rows_of(turns: dict[str, list[list[float]]], games: int, megabytes: int) -> list[Row]:
    """Return the table's rows."""
    rows, figures = [], {}
    for about, share in (("p95", 95), ("median", 50)):
        for kind, words in (("alone", "alone"), ("beside", f"during an upload of {megabytes} MB")):
            figures[kind] = [1000 * float(np.percentile(times, share)) for times in turns[kind]]
            rows.append(row_of(f"train step {words}, {about}", figures[kind], "ms", games))
        ratios = over(figures["beside"], figures["alone"])
        rows.append(row_of(f"train step during an upload against alone, {about}", ratios, "x", games))
    return rows
