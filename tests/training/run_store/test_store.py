"""Whole runs with a real S3 store: killed, terminated and restarted on empty machines, and with an offline store."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ante.storage.check import verify
from ante.storage.opening import open_store
from ante.storage.publish import fetch, pointed, read_manifest
from ante.storage.spool import Spool
from ante.storage.store import Store
from ante.storage.uploader import Uploader
from tests.storage.server import SECRET, Server
from tests.training.run.test_survival import TINY, assert_whole, flags, rows, run

pytestmark = [
    pytest.mark.ray,
    pytest.mark.s3,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]


@pytest.fixture
def store(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return an empty prefix on the server, set in the environment."""
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return open_store(f"s3://game-runs/{tmp_path.name}")


@pytest.fixture
def uploaders(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Collect the uploaders of runs in this process, and stop them after the test."""
    from ante.training.run_store import upload

    started, start = [], upload.start_uploader
    monkeypatch.setattr(upload, "start_uploader", lambda spool: started.append(start(spool)) or started[-1])
    yield started
    for process in started:
        process.kill()
        process.wait()


class Pod:
    """One start of the command in a separate folder; `die` removes the folder and kills all its processes."""

    def __init__(self, folder: Path, store: Store, steps: int) -> None:
        self.folder, self.run = folder, folder / "runs" / "pod"
        folder.mkdir()
        command = [sys.executable, "-m", "ante.cli", "train", "--name", "pod", "--store", store.url, "--resume", "auto"]
        command += ["--steps", str(steps), "--checkpoints.every", "2", "--uploads.grace-seconds", "300", *flags(TINY)]
        self.log = folder / "log"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)

    def until(self, asked: Callable[[], object], seconds: float = 600) -> None:
        end = time.monotonic() + seconds
        while not asked():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.1)

    def iterations(self) -> int:
        return len(rows(self.run)) if (self.run / "metrics.csv").exists() else 0

    def written(self) -> str:
        """Return all text files of the run, concatenated."""
        files = (file for file in self.folder.rglob("*") if file.is_file())
        return "".join(file.read_bytes().decode(errors="replace") for file in files)

    def die(self) -> str:
        """Kill trainer and uploader and delete the disk, as the loss of a machine does. Return the run's text files."""
        state = Spool(self.run / "spool").state
        self.process.kill()
        self.process.wait()
        if state:
            with suppress(ProcessLookupError):
                os.kill(state.pid, signal.SIGKILL)
            wait_for_end(state.pid)
        held = self.written()
        shutil.rmtree(self.folder)
        return held


def wait_for_end(pid: int) -> None:
    """Wait until a killed process that is not our child has exited."""
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[:1]:
        time.sleep(0.05)


@pytest.fixture
def begin(store: Store, tmp_path: Path) -> Iterator[Callable[[str, int], Pod]]:
    """Return a function that starts a pod by its name and steps; stop all pods after the test."""
    pods: list[Pod] = []

    def one(name: str, steps: int) -> Pod:
        pods.append(Pod(tmp_path / name, store, steps))
        return pods[-1]

    yield one
    for pod in pods:
        if pod.process.poll() is None:
            pod.die()


def stored_steps(store: Store) -> int:
    """Return the steps of the latest checkpoint in the store, or 0."""
    if not store.stat("pod/checkpoints/latest.json"):
        return 0
    return int(read_manifest(store, f"pod/checkpoints/{pointed(store, 'pod/checkpoints')}").metadata["timesteps"])


@pytest.mark.nightly
def test_one_command_begins_survives_a_lost_machine_and_an_eviction_and_ends(
    store: Store, tmp_path: Path, begin: Callable[[str, int], Pod]
) -> None:
    """Killed with its disk, then terminated, each time restarted on an empty machine, until it completes."""
    first = begin("first", 1_000_000)
    first.until(lambda: stored_steps(store) >= 256 * 8)
    assert SECRET not in first.die()
    saved = stored_steps(store)

    second = begin("second", 1_000_000)
    second.until(lambda: second.iterations() * 256 > saved + 256 * 4)
    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(600) == 0, second.log.read_text()
    assert f"resumed runs/pod after {saved:,} steps" in second.log.read_text()
    made = second.iterations()
    assert [int(row["iteration"]) for row in rows(second.run)] == list(range(1, made + 1))
    assert stored_steps(store) == 256 * made, "the last checkpoint is uploaded within the grace period"
    shutil.rmtree(second.folder)

    third = begin("third", 256 * (made + 5))
    assert third.process.wait(600) == 0, third.log.read_text()
    assert_whole(third.run, made + 5)
    assert SECRET not in third.written()
    assert verify(store) == []
    there = {stat.key for stat in store.list("pod/")}
    assert {f"pod/{name}" for name in ("config.yaml", "metrics.csv", "evaluation.json", "episode.mp4")} <= there
    assert store.get_bytes("pod/metrics.csv") == (third.run / "metrics.csv").read_bytes()
    again = subprocess.run(
        [sys.executable, "-m", "ante.cli", "train", "--name", "pod", "--store", store.url],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (again.returncode, "run pod exists in" in again.stderr) == (2, True)


@pytest.mark.usefixtures("local_ray")
def test_an_uploader_killed_while_the_run_learns_is_replaced_and_all_arrives(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], uploaders: Any
) -> None:
    from ante.training.run import loop
    from ante.training.run_store import upload

    monkeypatch.setattr(upload, "NEXT_START_SECONDS", 0.0)
    columns = loop.memory_columns

    def killing(gauge: Any, sizes: Any) -> dict[str, float]:
        if len(uploaders) == 1 and uploaders[0].poll() is None:
            uploaders[0].kill()
            uploaders[0].wait()
        return columns(gauge, sizes)

    monkeypatch.setattr(loop, "memory_columns", killing)
    folder = run(monkeypatch, tmp_path, name="pod", steps=256 * 5, store=store.url, **{"checkpoints.every": 1})
    assert capsys.readouterr().err.count("the uploader exited with code -9 and is restarted") == 1
    assert len(uploaders) == 2
    assert_whole(folder, 5)
    assert (verify(store), stored_steps(store)) == ([], 256 * 5)
    assert Spool(folder / "spool").jobs() == []


@pytest.mark.usefixtures("local_ray")
def test_a_run_with_an_offline_store_completes_and_keeps_its_queue(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], uploaders: Any
) -> None:
    from ante.training.run_store.session import NotUploaded

    with monkeypatch.context() as away:
        away.setenv("S3_ENDPOINT_URL", "http://127.0.0.1:9")
        settings = {"store": store.url, "uploads.wait_seconds": 1.0, "checkpoints.every": 2}
        with pytest.raises(NotUploaded, match=r"pending: .* ante artifacts queue .* --upload"):
            run(away, tmp_path, name="pod", steps=256 * 4, **settings)
    assert "uploads will wait: http://127.0.0.1:9 does not respond" in capsys.readouterr().err
    assert_whole(tmp_path / "pod", 4)
    for process in uploaders:
        process.kill()
        process.wait()
    spool = Spool(tmp_path / "pod" / "spool")
    assert sum(not job.loose for job in spool.jobs()) == 2
    import threading

    Uploader(spool, threading.Event()).empty()
    assert (verify(store), stored_steps(store)) == ([], 256 * 4)
    fetch(store, f"pod/checkpoints/{pointed(store, 'pod/checkpoints')}", tmp_path / "back")
    with (tmp_path / "back" / "run" / "metrics.csv").open(newline="") as stream:
        assert [int(row["iteration"]) for row in csv.DictReader(stream)] == [1, 2, 3, 4]
