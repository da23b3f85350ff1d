"""Faults during uploads, against a real S3 server: no data is lost, and nothing is published partially."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ante.storage.check import verify
from ante.storage.errors import NotThere
from ante.storage.opening import open_store
from ante.storage.publish import fetch, pointed
from ante.storage.spool import Spool
from ante.storage.store import Store
from ante.storage.uploader import start_uploader, wait_until_empty
from tests.storage.server import SECRET, Server, proxy_to

pytestmark = pytest.mark.s3
SHELF, SIZE, PART = "runs/ppo/checkpoints", 48 << 20, 8 << 20


class Bench:
    """A queue with one checkpoint of 48 MB, its uploaders, and its store."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder, self.url = server, folder, f"s3://game-runs/{folder.name}"
        self.spool = Spool(folder / "spool")
        self.payload = folder / "checkpoint"
        self.payload.mkdir()
        (self.payload / "weights.bin").write_bytes(os.urandom(SIZE))
        (self.payload / "small.json").write_text("{}")
        self.processes: list[subprocess.Popen[bytes]] = []

    def queue(self, name: str = "0001", url: str = "") -> None:
        self.spool.add(self.payload, url or self.url, SHELF, name, {"reward": 1.0})

    def start(self, monkeypatch: pytest.MonkeyPatch, **environment: str) -> subprocess.Popen[bytes]:
        for name, value in {**self.server.environment(), **environment}.items():
            monkeypatch.setenv(name, value)
        self.processes.append(start_uploader(self.spool))
        return self.processes[-1]

    @property
    def store(self) -> Store:
        return open_store(self.url, self.server.environment())

    def parts_noted(self) -> list[dict[str, str]]:
        """Return the parts of the large file that the uploader has recorded as stored."""
        for file in self.spool.folder.glob("jobs/*/notes/[0-9a-f]*.json"):
            parts: list[dict[str, str]] = json.loads(file.read_text())["parts"]
            return parts
        return []

    def error(self) -> str:
        return self.spool.state.error if self.spool.state else ""

    def nothing_is_published(self) -> bool:
        try:
            pointed(self.store, SHELF)
        except NotThere:
            return all(not stat.key.endswith(("weights.bin", "manifest.json")) for stat in self.store.list())
        return False

    def ends_well(self, name: str = "0001") -> None:
        """Check that the checkpoint arrives complete, and that no parts are left on the server."""
        assert wait_until_empty(self.spool, 90), self.log()
        assert pointed(self.store, SHELF) == name
        fetch(self.store, f"{SHELF}/{name}", self.folder / "back")
        for file in self.payload.iterdir():
            assert (self.folder / "back" / file.name).read_bytes() == file.read_bytes()
        assert verify(self.store) == []
        left = self.server.client().list_multipart_uploads(Bucket="game-runs", Prefix=self.folder.name)
        assert not left.get("Uploads")
        assert SECRET not in self.log()

    def log(self) -> str:
        return (self.spool.folder / "uploader.log").read_text()


def until(asked: Callable[[], object], about: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not asked():
        assert time.monotonic() < end, f"never: {about}"
        time.sleep(0.005)


@pytest.fixture
def bench(server: Server, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(server, tmp_path)
    yield bench
    for process in bench.processes:
        process.kill()
        process.wait()


def test_server_killed_in_the_middle(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.queue()
    bench.start(monkeypatch)
    until(lambda: len(bench.parts_noted()) >= 2, "two parts arrived")
    bench.server.kill()
    until(bench.error, "an error")
    assert "does not respond" in bench.error()
    assert len(bench.spool.jobs()) == 1
    bench.server.start()
    bench.ends_well()


def test_connection_cut_within_a_part(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy_to(bench.server) as proxy:
        proxy.cut_after = 2 * PART + PART // 2
        bench.queue()
        bench.start(monkeypatch, S3_ENDPOINT_URL=proxy.endpoint)
        bench.ends_well()
        assert proxy.cut_after is None  # the connection was cut
        assert SIZE < proxy.sent < SIZE + 2 * PART  # only the broken part was sent twice


def test_wrong_secret(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.queue()
    wrong = bench.start(monkeypatch, S3_SECRET_ACCESS_KEY="a-wrong-secret")
    until(bench.error, "an error")
    assert "rejects these credentials" in bench.error()
    assert "a-wrong-secret" not in bench.error() + bench.log() + (bench.spool.folder / "state.json").read_text()
    assert bench.nothing_is_published()
    wrong.kill()
    wrong.wait()
    bench.start(monkeypatch)
    bench.ends_well()


def test_bytes_changed_on_the_way(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy_to(bench.server) as proxy:
        proxy.flip_at = PART + PART // 2
        bench.queue()
        bench.start(monkeypatch, S3_ENDPOINT_URL=proxy.endpoint)
        bench.ends_well()
        assert proxy.flip_at is None
    assert "with a wrong checksum and rejected it" in bench.log()


def test_bucket_missing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = f"later-{os.getpid()}"
    bench.url = f"s3://{bucket}/x"
    bench.queue()
    bench.start(monkeypatch)
    until(bench.error, "an error")
    assert f"bucket {bucket} does not exist" in bench.error()
    assert len(bench.spool.jobs()) == 1
    bench.server.client().create_bucket(Bucket=bucket)
    assert wait_until_empty(bench.spool, 60)
    assert verify(bench.store) == []
    assert pointed(bench.store, SHELF) == "0001"


def test_disk_full_where_it_is_published(bench: Bench, tmp_path: Path) -> None:
    bench.url = f"file://{tmp_path / 'store'}"
    bench.queue()
    limited = f"ulimit -f {PART // 1024}; exec {sys.executable} -m ante.storage.uploader {bench.spool.folder}"
    process = subprocess.Popen(["bash", "-c", limited], stdout=subprocess.PIPE)
    bench.processes.append(process)
    until(bench.error, "an error")
    assert "File too large; free some space under" in bench.error()
    assert bench.nothing_is_published()
    process.kill()
    process.wait()
    bench.processes.append(start_uploader(bench.spool))
    assert wait_until_empty(bench.spool, 60)
    assert verify(bench.store) == []
    assert pointed(bench.store, SHELF) == "0001"


def test_uploader_killed_in_the_middle_goes_on_where_it_was(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.queue()
    first = bench.start(monkeypatch)
    until(lambda: len(bench.parts_noted()) >= 3, "three parts arrived")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    arrived = bench.parts_noted()
    assert bench.nothing_is_published()
    with proxy_to(bench.server) as proxy:
        bench.start(monkeypatch, S3_ENDPOINT_URL=proxy.endpoint)
        bench.ends_well()
        assert proxy.sent < SIZE - len(arrived) * PART + PART // 2


TRAINER = """
import sys, time
from pathlib import Path
from ante.storage.spool import Spool
from ante.storage.uploader import start_uploader
spool = Spool(Path(sys.argv[1]))
spool.add(Path(sys.argv[2]), sys.argv[3], sys.argv[4], "0001", {"reward": 1.0})
start_uploader(spool)
if sys.argv[5] == "queueing":
    from ante.storage import spool as module
    def slow(source, target):
        print("killed here", flush=True)
        time.sleep(60)
    module.link_or_copy = slow
    spool.add(Path(sys.argv[2]), sys.argv[3], sys.argv[4], "0002", {"reward": 2.0})
print("killed here", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("moment", ["queueing", "uploading"])
def test_trainer_killed(bench: Bench, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    for name, value in bench.server.environment().items():
        monkeypatch.setenv(name, value)
    words = [sys.executable, "-c", TRAINER, str(bench.spool.folder), str(bench.payload), bench.url, SHELF, moment]
    trainer = subprocess.Popen(words, stdout=subprocess.PIPE)
    bench.processes.append(trainer)
    assert trainer.stdout
    assert trainer.stdout.readline() == b"killed here\n"
    trainer.kill()
    trainer.wait()
    bench.ends_well()
    until(lambda: not bench.spool.working(), "the uploader exits")
    bench.spool.tidy()
    assert not list(bench.spool.folder.glob(".*"))
