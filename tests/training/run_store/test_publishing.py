"""A run and its store without Ray: queued uploads, and restores on an empty machine."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ante.storage.check import verify
from ante.storage.errors import NoAccess, Unreachable
from ante.storage.local import LocalStore
from ante.storage.publish import pointed
from ante.storage.uploader import wait_until_empty
from ante.training.run_store import restore, session, upload
from ante.training.run_store.checkpoints import BadCheckpoint, find_checkpoint, save_checkpoint
from ante.training.run_store.restore import check_new, known_config, restore_run
from ante.training.run_store.session import NotUploaded
from ante.training.run_store.upload import Publisher
from ante.training.settings.config import BadConfig, TrainConfig, make_config

pytestmark = pytest.mark.slow


class Machine:
    """A folder of runs, in which run `ppo` is trained; all machines share one store."""

    def __init__(self, tmp_path: Path, name: str, **settings: Any) -> None:
        self.config = make_config({"runs": str(tmp_path / name), "store": str(tmp_path / "store"), **settings})
        self.store = LocalStore(tmp_path / "store")
        self.folder, self.said = self.config.folder, []

    def say(self, words: str) -> None:
        self.said.append(words)

    def publisher(self) -> Publisher:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config.yaml").write_text(self.config.to_yaml())
        return Publisher(self.config, self.store, self.say)

    def learn(self, publisher: Publisher | None, steps: int, best: bool = False) -> None:
        """Run one iteration: a row of metrics and a checkpoint."""
        with (self.folder / "metrics.csv").open("a") as stream:
            stream.write(f"{steps},of {self.folder.parent.name}\n")
        metadata = {"timesteps": steps, "reward": float("nan")}

        def write(folder: Path) -> None:
            (folder / "weights.bin").write_bytes(f"{steps} of {self.folder.parent.name}".encode())

        target = save_checkpoint(self.folder / "checkpoints", steps, write, metadata, best)
        if publisher:
            publisher.checkpoint(target, metadata, best)

    def publish(self, *steps: int, best: int = 0) -> None:
        """Check that all of them are in the store."""
        publisher = self.publisher()
        for step in steps:
            self.learn(publisher, step, best=step == best)
        assert wait_until_empty(publisher.spool, 60)
        publisher.close()

    def restore(self) -> None:
        restore_run(self.config, self.say)

    def weights(self, pointer: str = "latest") -> str:
        return (find_checkpoint(self.folder / "checkpoints", pointer)[0] / "weights.bin").read_text()

    def metrics(self) -> list[str]:
        return [row.partition(",")[0] for row in (self.folder / "metrics.csv").read_text().splitlines()]

    def published(self) -> list[str]:
        return upload.stored(self.store, "ppo")

    def damage(self, name: str) -> None:
        """Change a byte of a checkpoint in the store, but not its length."""
        file = self.store.folder / "ppo" / "checkpoints" / name / "weights.bin"
        file.write_bytes(b"X" + file.read_bytes()[1:])


@pytest.fixture(autouse=True)
def uploaders(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stop all uploaders after the test."""
    started, start = [], upload.start_uploader
    monkeypatch.setattr(upload, "start_uploader", lambda spool: started.append(start(spool)) or started[-1])
    yield
    for process in started:
        process.kill()
        process.wait()


def test_an_empty_machine_gets_the_run_back(tmp_path: Path) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    assert known_config(two.config, two.say) is None
    one.folder.mkdir(parents=True)
    for name in (
        "episodes/first.txt",
        "report.html",
        "tensorboard/events",
        ".hidden",
        "spill/x",
        "manifest.json",
        "hints/a.sqlite-wal",
    ):
        (one.folder / name).parent.mkdir(exist_ok=True)
        (one.folder / name).write_text(name)
    one.publish(100, 200, best=100)
    assert verify(one.store) == []
    assert known_config(two.config, two.say) == two.config.with_changes({"runs": str(tmp_path / "two")})
    two.restore()
    assert (two.weights(), two.weights("best")) == ("200 of one", "100 of one")
    assert two.metrics() == ["100", "200"]
    assert (two.folder / "episodes" / "first.txt").read_text() == "episodes/first.txt"
    assert (two.folder / "report.html").exists()
    assert sorted(path.name for path in two.folder.iterdir()) == [
        "checkpoints",
        "config.yaml",
        "episodes",
        "metrics.csv",
        "report.html",
    ]
    assert two.said == [f"fetched checkpoint {two.published()[0]} from {two.config.store}"]
    two.restore()  # no newer checkpoint exists
    assert len([path for path in (two.folder / "checkpoints").iterdir() if path.is_dir()]) == 2
    with pytest.raises(BadConfig, match=r"run ppo exists in .*store: continue it with --name ppo --resume latest"):
        check_new(two.config, two.say)


def test_the_checkpoint_before_a_damaged_one_is_used_with_its_metrics(tmp_path: Path) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    one.publish(100, 200, 300, best=300)
    last, middle, first = one.published()
    one.damage(last)
    two.restore()
    assert (two.weights(), two.weights("best")) == ("200 of one", "200 of one")
    assert two.metrics() == ["100", "200"]
    assert [words.partition(" cannot")[0] for words in two.said][:-1] == [f"checkpoint {last}"]
    two.publish(300)  # the same steps again, in addition to the damaged one
    three = Machine(tmp_path, "three")
    three.restore()
    assert (three.weights(), three.metrics()) == ("300 of two", ["100", "200", "300"])
    for name in (middle, first, *three.published()):
        one.damage(name)
    with pytest.raises(BadCheckpoint, match=r"all are damaged .see the messages above."):
        Machine(tmp_path, "four").restore()


def test_the_copy_with_more_steps_is_used(tmp_path: Path) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    one.publish(100, 200)
    one.learn(None, 300)  # killed before it was queued
    two.publish(250)
    one.restore()
    assert (one.weights(), one.said) == ("300 of one", [])
    two.restore()
    assert two.weights() == "250 of two"
    publisher = one.publisher()
    publisher.queue_latest()
    publisher.queue_latest()  # it is queued or stored already
    assert wait_until_empty(publisher.spool, 60)
    assert [name.partition("-")[0] for name in two.published()] == [f"{n:012d}" for n in (300, 250, 200, 100)]
    two.restore()
    assert (two.weights(), two.metrics()) == ("300 of one", ["100", "200", "300"])


@pytest.mark.parametrize("best", ["../../elsewhere", "/x", "notes", "", 3, None, {}])
def test_a_pointer_in_the_store_without_a_checkpoint_is_ignored(best: Any, tmp_path: Path) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    one.publish(100, 200, best=100)
    one.store.put_bytes("ppo/checkpoints/best.json", json.dumps({"name": best}).encode())
    one.store.put_bytes("ppo/checkpoints/notes/manifest.json", b"{}")
    two.restore()
    assert (two.weights(), two.weights("best")) == ("200 of one", "200 of one")
    assert any("the latest one replaces it" in words for words in two.said)


def test_a_checkpoint_that_was_changed_before_its_upload_is_not_used(tmp_path: Path) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    one.publish(100)
    publisher = one.publisher()
    one.learn(None, 200)
    target, metadata = find_checkpoint(one.folder / "checkpoints")
    (target / "weights.bin").write_bytes(b"250 of one")
    publisher.checkpoint(target, metadata, best=False)
    assert wait_until_empty(publisher.spool, 60)
    publisher.close()
    two.restore()
    assert two.weights() == "100 of one"
    assert any("SHA-256 of weights.bin differs" in words for words in two.said)
    assert [path.name for path in (two.folder / "checkpoints").iterdir() if path.is_dir()] == [f"{100:012d}"]


def test_a_damaged_local_checkpoint_is_not_used(tmp_path: Path) -> None:
    one = Machine(tmp_path, "one")
    one.publish(100)
    one.learn(None, 200)
    one.learn(None, 300)
    (find_checkpoint(one.folder / "checkpoints")[0] / "weights.bin").write_bytes(b"")
    one.restore()
    assert one.weights() == "200 of one"
    assert "is damaged: weights.bin should have 10 bytes" in one.said[0]
    alone = Machine(tmp_path, "alone")
    alone.config = alone.config.with_changes({"store": None})
    alone.folder.mkdir(parents=True)
    alone.learn(None, 100)
    (find_checkpoint(alone.folder / "checkpoints")[0] / "weights.bin").write_bytes(b"")
    with pytest.raises(BadCheckpoint, match="all are damaged"):
        alone.restore()


def test_an_offline_store_stops_only_machines_without_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    one.publish(100)

    def away(_: str) -> None:
        raise Unreachable("the server is offline")

    monkeypatch.setattr(restore, "open_store", away)
    one.restore()
    assert one.said == ["the store is unavailable, so the run continues from its folder: the server is offline"]
    for asked in (two.restore, lambda: known_config(two.config, two.say)):
        with pytest.raises(Unreachable):
            asked()
    check_new(two.config, two.say)
    assert "uploads will wait: the server is offline" in two.said[0]

    def refuses(_: str) -> None:
        raise NoAccess("who are you")

    monkeypatch.setattr(restore, "open_store", refuses)
    for asked in (one.restore, two.restore, lambda: check_new(two.config, two.say)):
        with pytest.raises(NoAccess):
            asked()


def test_only_changed_files_are_sent_again_and_removed_ones_deleted(tmp_path: Path) -> None:
    one = Machine(tmp_path, "one")
    publisher = one.publisher()
    os.kill(publisher.process.pid, signal.SIGSTOP)  # so that its jobs can be inspected
    for name in ("same", "changing", "going"):
        (one.folder / name).write_text(name)
    publisher.files()
    (one.folder / "changing").write_text("changed")
    (one.folder / "going").unlink()
    (one.folder / "metrics.csv").write_text("1\n")
    publisher.files()
    publisher.files()
    (one.folder / "metrics.csv").open("a").write("2\n")  # queued files are unchanged
    first, second = publisher.spool.jobs()
    held = publisher.spool.payload(second)
    assert {path.name for path in publisher.spool.payload(first).iterdir()} == {
        "config.yaml",
        "same",
        "changing",
        "going",
    }
    assert {path.name for path in held.iterdir()} == {"changing", "metrics.csv"}
    assert (held / "metrics.csv").read_text() == "1\n"
    assert second.gone == ("going",)
    os.kill(publisher.process.pid, signal.SIGCONT)
    assert wait_until_empty(publisher.spool, 60)
    there = {stat.key: one.store.get_bytes(stat.key) for stat in one.store.list()}
    assert sorted(there) == ["ppo/changing", "ppo/config.yaml", "ppo/metrics.csv", "ppo/same"]
    assert there["ppo/changing"] == b"changed"


def test_the_store_keeps_the_newest_and_those_in_pointers_although_a_manifest_is_damaged(tmp_path: Path) -> None:
    one = Machine(tmp_path, "one", **{"uploads.keep": 2})
    one.publish(100, 200, best=100)
    *_, name = one.published()[:1]
    one.publish(300)
    manifest = one.store.folder / "ppo" / "checkpoints" / name / "manifest.json"
    manifest.write_bytes(b"{")
    one.publish(400, 500)
    assert [int(name.partition("-")[0]) for name in one.published()] == [500, 400, 200, 100]
    assert pointed(one.store, "ppo/checkpoints", "latest") == one.published()[0]
    pointer = json.loads(one.store.get_bytes("ppo/checkpoints/latest.json"))
    assert (pointer["timesteps"], "reward" in pointer) == (500, False)  # NaN is not valid JSON


def test_a_dead_uploader_is_replaced_and_the_user_notified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "NEXT_START_SECONDS", 0.0)
    one = Machine(tmp_path, "one")
    publisher = one.publisher()
    publisher.process.kill()
    publisher.process.wait()
    one.learn(publisher, 100)
    [words] = one.said
    assert words.startswith("the uploader exited with code -9 and is restarted; its output is in ")
    assert wait_until_empty(publisher.spool, 60)
    assert len(one.published()) == 1


def test_a_full_queue_skips_a_checkpoint_and_the_run_continues(tmp_path: Path) -> None:
    config = Machine(
        tmp_path,
        "one",
        **{"uploads.spool_gb": 1e-5, "uploads.pause_seconds": 0.0},
    ).config.to_yaml()
    room = (len(config) + 60) / 2**30  # space for the run's settings and metrics, but not for a checkpoint
    one = Machine(
        tmp_path,
        "one",
        **{"uploads.spool_gb": room, "uploads.pause_seconds": 0.0},
    )
    publisher = one.publisher()
    one.learn(publisher, 100)
    assert "not queued for upload: checkpoint 000000000100: the queue" in one.said[-1]
    assert wait_until_empty(publisher.spool, 60)
    assert one.published() == [] and one.store.get_bytes("ppo/config.yaml")


def waits(config: TrainConfig, machine: Machine) -> None:
    """Run `publishing` with one checkpoint."""
    with session.publishing(config, resume=True, console=Console(stderr=True, width=200)) as publisher:
        assert publisher
        machine.learn(publisher, 100)


def test_the_end_waits_for_uploads_and_reports_pending_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Machine(tmp_path, "one")
    one.folder.mkdir(parents=True)
    waits(one.config, one)
    assert len(one.published()) == 1
    monkeypatch.setenv("S3_ENDPOINT_URL", "http://127.0.0.1:9")  # a closed port
    monkeypatch.setenv("S3_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("S3_SECRET_ACCESS_KEY", "secret")
    other = Machine(tmp_path, "other")
    other.folder.mkdir(parents=True)
    config = other.config.with_changes({"store": "s3://game-runs/x", "uploads.wait_seconds": 0.5})
    with pytest.raises(NotUploaded, match=r"pending: 2 uploads to s3://game-runs/x, .*artifacts queue .*spool "):
        waits(config, other)
    assert "queued" in capsys.readouterr().err


def test_a_termination_shortens_the_wait(tmp_path: Path) -> None:
    one = Machine(
        tmp_path,
        "one",
        **{"uploads.wait_seconds": 1000, "uploads.grace_seconds": 20},
    )
    publisher = one.publisher()
    now = time.monotonic()
    assert publisher.deadline() > now + 900
    publisher.terminated = now
    assert publisher.deadline() == now + 20


@pytest.mark.parametrize(
    "store", ["s3://key:secret@game-runs/runs", "ftp://elsewhere/runs", "https://server/game-runs"]
)
def test_a_store_that_cannot_be_one_is_refused_before_it_is_written_down(store: str) -> None:
    with pytest.raises(BadConfig) as refused:
        make_config({"store": store})
    assert "secret" not in str(refused.value).replace("S3_SECRET", "")
