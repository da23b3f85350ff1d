"""The queue of uploads: complete jobs, in order, of limited size; and the uploader, here with folders as stores."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ante.storage import spool as spool_module
from ante.storage.errors import NotWhole, SpoolFull, Unreachable
from ante.storage.local import LocalStore
from ante.storage.publish import fetch, pointed
from ante.storage.spool import Job, Spool
from ante.storage.uploader import Uploader, start_uploader, wait_until_empty, work
from tests.storage.test_publish import folder_of

SHELF = "runs/ppo/checkpoints"


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool", max_bytes=10_000)


def add(spool: Spool, tmp_path: Path, name: str, data: bytes = b"1", **more) -> Job:
    folder = folder_of(tmp_path / f"of-{name}", a=data)
    job = spool.add(folder, f"file://{tmp_path / 'store'}", SHELF, name, {"reward": 1.0}, **more)
    shutil.rmtree(folder)  # trainers delete old checkpoints too
    return job


def uploader(spool: Spool, **more) -> Uploader:
    return Uploader(spool, threading.Event(), longest_pause=0.01, **more)


def test_jobs_are_published_in_order_though_their_folders_are_gone(spool: Spool, tmp_path: Path) -> None:
    jobs = [add(spool, tmp_path, f"000{step}", bytes([step])) for step in range(3)]
    assert spool.jobs() == jobs
    assert spool.bytes == 3
    uploader(spool).empty()
    assert spool.jobs() == []
    store = LocalStore(tmp_path / "store")
    assert pointed(store, SHELF) == "0002"
    for step in range(3):
        fetch(store, f"{SHELF}/000{step}", tmp_path / f"back{step}")
        assert (tmp_path / f"back{step}" / "deep" / "a").read_bytes() == bytes([step])
    assert sorted(path.name for path in spool.folder.iterdir()) == ["jobs", "state.json"]


def test_files_are_linked_where_the_disk_allows_it_and_copied_elsewhere(
    spool: Spool, tmp_path: Path, monkeypatch
) -> None:
    linked = add(spool, tmp_path, "0001", b"linked")
    folder = folder_of(tmp_path / "two", a=b"copied")
    assert (spool.payload(linked) / "deep" / "a").read_bytes() == b"linked"

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    spool.add(folder, "x", SHELF, "0002", {})
    assert (folder / "deep" / "a").stat().st_nlink == 2
    monkeypatch.setattr(spool_module.os, "link", refuse)
    copied = spool.add(folder, "x", SHELF, "0003", {})
    assert (folder / "deep" / "a").stat().st_nlink == 2
    assert (spool.payload(copied) / "deep" / "a").read_bytes() == b"copied"


def test_a_full_queue_is_reported_and_waits_for_space(spool: Spool, tmp_path: Path) -> None:
    add(spool, tmp_path, "0001", bytes(6000))
    with pytest.raises(SpoolFull, match=r"has 0 of 0 MB and no space for 0002 .*: ante artifacts queue shows"):
        add(spool, tmp_path, "0002", bytes(6000))
    assert [job.name for job in spool.jobs()] == ["0001"]
    empty = threading.Timer(0.3, uploader(spool).empty)
    empty.start()
    add(spool, tmp_path, "0002", bytes(6000), wait_seconds=30)
    empty.join()
    assert [job.name for job in spool.jobs()] == ["0002"]


def test_a_full_disk_leaves_no_half_job(spool: Spool, tmp_path: Path) -> None:
    script = (
        "import errno, os, resource, sys; from pathlib import Path; from ante.storage.spool import Spool\n"
        "def elsewhere(*_): raise OSError(errno.EXDEV, 'another disk')\n"
        "os.link = elsewhere\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "Spool(Path(sys.argv[1])).add(Path(sys.argv[2]), 'x', 'runs', '0001', {})"
    )
    folder = folder_of(tmp_path / "one", a=b"1", b=bytes(100_000))
    words = [sys.executable, "-c", script, str(spool.folder), str(folder)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert "StoreFull: cannot write 0001 to the queue: File too large; free some space under" in ended.stderr
    assert spool.jobs() == []
    assert [path.name for path in spool.folder.rglob("*")] == ["jobs"]


class Failing(LocalStore):
    """Fails a number of times."""

    def __init__(self, folder: Path, times: int) -> None:
        super().__init__(folder)
        self.times = times

    def put_bytes(self, key, data):
        if self.times:
            self.times -= 1
            raise Unreachable("the server is offline")
        return super().put_bytes(key, data)


def test_an_offline_store_is_retried_and_its_error_is_recorded(spool: Spool, tmp_path: Path) -> None:
    job = add(spool, tmp_path, "0001")
    store = Failing(tmp_path / "store", times=3)
    said = []
    working = uploader(spool, open_url=lambda url: store)
    write = spool.write_state
    working.spool.write_state = lambda state: (said.append(state), write(state))
    working.empty()
    errors = [(state.job, state.attempts, state.error) for state in said if state.error]
    assert errors == [(job.id, attempt, "the server is offline") for attempt in (1, 2, 3)]
    assert pointed(store, SHELF) == "0001"
    assert spool.state and (spool.state.job, spool.state.error) == ("", "")


def test_what_can_never_succeed_is_put_aside_and_the_next_one_goes(spool: Spool, tmp_path: Path) -> None:
    for name, data in (("0001", b"1"), ("0001", b"other"), ("0002", b"2")):
        add(spool, tmp_path, name, data)
    uploader(spool).empty()
    assert pointed(LocalStore(tmp_path / "store"), SHELF) == "0002"
    [(job, why)] = spool.refusals()
    assert job.name == "0001"
    assert "has other contents" in why
    assert (spool.refused / job.id / "payload" / "deep" / "a").read_bytes() == b"other"


def test_what_a_killed_writer_left_is_cleaned_away_and_what_a_living_one_writes_is_not(spool: Spool) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for pid in (gone.pid, os.getpid()):
        (spool.folder / f".{pid}-1-x").mkdir(parents=True)
        (spool.folder / f".{pid}.state.json").write_text("{")
    spool.tidy()
    assert {path.name for path in spool.folder.iterdir()} == {f".{os.getpid()}-1-x", f".{os.getpid()}.state.json"}


def test_one_uploader_works_on_a_queue(spool: Spool) -> None:
    assert not spool.working()
    with spool.taken() as mine:
        assert mine
        assert spool.working()
        assert not work(spool, None, threading.Event())
    assert work(spool, None, threading.Event())


def test_a_started_uploader_is_niced_and_ends_when_asked(spool: Spool, tmp_path: Path) -> None:
    add(spool, tmp_path, "0001")
    process = start_uploader(spool)
    assert wait_until_empty(spool, 30), (spool.folder / "uploader.log").read_text()
    assert spool.working()
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    session = Path(f"/proc/{process.pid}/autogroup")  # exists if Linux schedules by session
    assert not session.exists() or session.read_text().split()[-1] == "10"
    process.terminate()
    assert process.wait(30) == 0
    assert not spool.working()
    assert f"{SHELF}/0001 is stored in file://" in (spool.folder / "uploader.log").read_text()


def test_a_job_with_the_id_of_another_place_is_refused_and_deletes_nothing(spool: Spool, tmp_path: Path) -> None:
    job, foreign = add(spool, tmp_path, "0001"), folder_of(tmp_path / "foreign", a=b"1")
    file = spool.waiting / job.id / "job.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "id": "../../foreign"}))
    with pytest.raises(NotWhole, match=rf"it has the id '../../foreign'\): move {spool.waiting / job.id} away"):
        uploader(spool).empty()
    assert [each for each in foreign.rglob("*") if each.is_file()] and spool.payload(job).is_dir()
