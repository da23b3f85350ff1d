"""Publications are complete or absent, and never change."""

import json
import shutil
import time
from pathlib import Path
from unittest.mock import ANY

import pytest

from ante.storage.check import Finding, verify
from ante.storage.errors import AlreadyPublished, BadStore, Damaged, NotThere, NotWhole
from ante.storage.local import LocalStore
from ante.storage.publish import fetch, manifest_of, pointed, publish, read_manifest
from ante.storage.retention import DAY, Retention, prune

SHELF = "runs/ppo/checkpoints"


def folder_of(where: Path, **files: bytes) -> Path:
    (where / "deep").mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (where / "deep" / name).write_bytes(data)
    return where


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


@pytest.fixture(scope="module")
def daily(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with six publications, one per day; the second is the best one."""
    store = LocalStore(tmp_path_factory.mktemp("daily") / "store")
    folder = folder_of(tmp_path_factory.mktemp("one"), a=b"1")
    shelf_of(store, folder, [0.1, 0.2, 0.9, 0.5, float("nan"), 0.3], best=1)
    first = read_manifest(store, f"{SHELF}/0000").published
    for step in range(6):
        file = store.folder / SHELF / f"{step:04d}" / "manifest.json"
        text = json.dumps({**json.loads(file.read_text()), "published": first + step * DAY})
        store.put_bytes(f"{SHELF}/{step:04d}/manifest.json", text.encode())
    return store.folder


def shelf_of(store: LocalStore, folder: Path, rewards: list[float], best: int) -> None:
    for step, reward in enumerate(rewards):
        pointers = ("latest", "best") if step == best else ("latest",)
        publish(store, SHELF, f"{step:04d}", folder, {"reward": reward}, pointers)


class Dying(LocalStore):
    """Stops working after a number of writes."""

    left = 0

    def put_bytes(self, key, data):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().put_bytes(key, data)

    def put_file(self, key, file, *more):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().put_file(key, file, *more)


def test_what_is_published_is_fetched_whole(store: LocalStore, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "one", a=b"1" * 1000, b=b"")
    publish(store, SHELF, "0001", folder, {"reward": 2.5}, ("latest", "best"))
    assert pointed(store, SHELF) == pointed(store, SHELF, "best") == "0001"
    manifest = fetch(store, f"{SHELF}/0001", tmp_path / "back")
    assert manifest.metadata == {"reward": 2.5}
    assert {path: part.bytes for path, part in manifest.parts.items()} == {"deep/a": 1000, "deep/b": 0}
    assert (tmp_path / "back" / "deep" / "a").read_bytes() == b"1" * 1000
    assert verify(store) == []
    with pytest.raises(FileExistsError):
        fetch(store, f"{SHELF}/0001", tmp_path / "back")


@pytest.mark.parametrize("writes", range(5))
def test_a_publication_that_is_interrupted_anywhere_is_incomplete_and_can_continue(tmp_path: Path, writes: int) -> None:
    store = Dying(tmp_path / "store")
    store.left = 100
    publish(store, SHELF, "0001", folder_of(tmp_path / "one", a=b"1", b=b"2"), {})
    store.left = writes  # of three files and a manifest, then the pointer
    two = folder_of(tmp_path / "two", a=b"3", b=b"4", c=b"5")
    with pytest.raises(KeyboardInterrupt):
        publish(store, SHELF, "0002", two, {})
    assert pointed(store, SHELF) == "0001"
    if writes < 4:
        with pytest.raises(NotWhole, match="its upload is incomplete"):
            fetch(store, f"{SHELF}/0002", tmp_path / "back")
        assert [finding.wrong for finding in verify(store)] == (["unfinished"] if writes else [])
    store.left = 5 - writes  # no part is sent twice
    publish(store, SHELF, "0002", two, {})
    assert pointed(store, SHELF) == "0002"
    assert verify(store) == []


def test_a_published_name_keeps_its_contents(store: LocalStore, tmp_path: Path) -> None:
    publish(store, SHELF, "0001", folder_of(tmp_path / "one", a=b"1"), {})
    with pytest.raises(AlreadyPublished, match=r"has other contents: publish under another name"):
        publish(store, SHELF, "0001", folder_of(tmp_path / "two", a=b"2"), {})
    fetch(store, f"{SHELF}/0001", tmp_path / "back")
    assert (tmp_path / "back" / "deep" / "a").read_bytes() == b"1"


def test_what_cannot_be_published_is_refused(store: LocalStore, tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="it contains no files"):
        publish(store, SHELF, "0001", folder_of(tmp_path / "none"), {})
    clash = folder_of(tmp_path / "clash")
    (clash / "deep" / "manifest.json").write_text("{}")
    with pytest.raises(BadStore, match="the name of a publication's manifest"):
        publish(store, SHELF, "0001", clash, {})
    with pytest.raises(BadStore, match="unknown pointer 'newest': choose latest or best"):
        publish(store, SHELF, "0001", folder_of(tmp_path / "one", a=b"1"), {}, ("newest",))
    assert list(store.list()) == []


@pytest.mark.parametrize(("harm", "part"), [("missing", "deep/a"), ("size", "deep/a"), ("checksum", "deep/a")])
def test_harm_is_found_and_nothing_harmed_is_fetched(store: LocalStore, tmp_path: Path, harm: str, part: str) -> None:
    publish(store, SHELF, "0001", folder_of(tmp_path / "one", a=b"1234", b=b"2"), {})
    file = store.folder / SHELF / "0001" / part
    if harm == "missing":
        file.unlink()
    else:
        file.write_bytes(b"12" if harm == "size" else b"1334")
    assert verify(store) == [Finding(f"{SHELF}/0001", part, harm)]
    assert len(verify(store, deep=False)) == (harm != "checksum")
    with pytest.raises((NotWhole, Damaged)):
        fetch(store, f"{SHELF}/0001", tmp_path / "back")
    assert not list(tmp_path.glob("*back*"))


def test_a_manifest_that_cannot_be_read_is_named(store: LocalStore, tmp_path: Path) -> None:
    no_time = b'{"name": "a", "parts": {}, "published": NaN, "metadata": {}}'
    for text in (b"{", b"[]", b'{"parts": {"../x": {"bytes": 1, "sha256": ""}}}', b"{}", no_time):
        with pytest.raises(NotWhole, match="here cannot be read"):
            manifest_of(text, "here")
    publish(store, SHELF, "0001", folder_of(tmp_path / "one", a=b"1"), {})
    (store.folder / SHELF / "0001" / "manifest.json").write_text("{")
    assert verify(store) == [Finding(f"{SHELF}/0001", "manifest.json", "checksum")]


def test_a_missing_publication_is_reported(store: LocalStore) -> None:
    with pytest.raises(NotThere, match=r"runs/none/latest.json does not exist in .*: ante artifacts ls"):
        pointed(store, "runs/none")
    store.put_bytes(f"{SHELF}/latest.json", b"{}")
    with pytest.raises(NotWhole, match="cannot be read"):
        pointed(store, SHELF)


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        (Retention(newest=2), [1, 4, 5]),
        (Retention(newest=0), [1, 5]),
        (Retention(newest=9), [0, 1, 2, 3, 4, 5]),
        (Retention(), [0, 1, 2, 3, 4, 5]),
        (Retention(newest=1, metric="reward", best=2), [1, 2, 3, 5]),
        (Retention(days=2.5), [1, 3, 4, 5]),
        (Retention(newest=1, days=100), [1, 5]),
    ],
)
def test_retention_by_count_age_and_metric_never_takes_best_or_latest(
    daily: Path, tmp_path: Path, keep: Retention, left: list[int]
) -> None:
    shutil.copytree(daily, tmp_path / "store")
    store = LocalStore(tmp_path / "store")
    (store.folder / SHELF / "evaluation.json").write_text("[]")  # not a pointer
    now = read_manifest(store, f"{SHELF}/0005").published
    before = {stat.key for stat in store.list()}
    rehearsed = prune(store, "", keep, rehearse=True, now=now)
    assert {stat.key for stat in store.list()} == before
    assert prune(store, "", keep, now=now) == rehearsed
    names = {stat.key.split("/")[-2] for stat in store.list() if stat.key.endswith("manifest.json")}
    assert names == {f"{step:04d}" for step in left}
    assert verify(store) == []


def test_a_prefix_that_hides_the_pointers_does_not_hide_what_they_name(daily: Path, tmp_path: Path) -> None:
    shutil.copytree(daily, tmp_path / "store")
    assert prune(LocalStore(tmp_path / "store"), f"{SHELF}/0001", Retention(newest=0), rehearse=True) == [
        (f"{SHELF}/{step:04d}", ANY) for step in (0, 2, 3, 4)
    ]


def test_a_shelf_may_be_the_store_itself(store: LocalStore, tmp_path: Path) -> None:
    for name in ("0001", "0002"):
        publish(store, "", name, folder_of(tmp_path / "one", a=b"1"), {})
    assert pointed(store, "") == "0002"
    assert verify(store) == []
    assert [item for item, _ in prune(store, "", Retention(newest=1))] == ["0001"]


def test_what_was_never_finished_goes_when_it_is_old(store: LocalStore, tmp_path: Path) -> None:
    shelf_of(store, folder_of(tmp_path / "one", a=b"1"), [1.0], best=0)
    store.put_bytes(f"{SHELF}/0007/deep/a", b"1")
    stat = store.stat(f"{SHELF}/0007/deep/a")
    assert stat
    assert prune(store, "runs", Retention(), now=stat.modified + 3600) == []
    assert prune(store, "runs", Retention(), now=stat.modified + 49 * 3600) == [(f"{SHELF}/0007", 1)]
    assert verify(store) == []


def test_a_run_beside_a_publication_is_not_an_unfinished_publication(store: LocalStore, tmp_path: Path) -> None:
    """A model in the folder of the runs, which contain publications too."""
    folder = folder_of(tmp_path / "one", a=b"1")
    publish(store, "runs", "mine", folder, {})
    publish(store, "runs/ppo/checkpoints", "0001", folder, {})
    store.put_bytes("runs/ppo/config.yaml", b"1")
    store.put_bytes("runs/left/a", b"1")  # never finished
    now = time.time() + 1e6
    assert verify(store) == [Finding("runs/left", "", "unfinished")]
    assert prune(store, "", Retention(newest=1), now=now) == [("runs/left", 1)]
    assert verify(store) == [] and pointed(store, "runs/ppo/checkpoints") == "0001"


def test_a_metric_that_nothing_has_protects_nothing_and_is_refused(daily: Path, tmp_path: Path) -> None:
    shutil.copytree(daily, tmp_path / "store")
    store = LocalStore(tmp_path / "store")
    with pytest.raises(BadStore, match="no publication has the value 'rewrd': choose one of reward"):
        prune(store, "", Retention(newest=1, metric="rewrd"))
    with pytest.raises(BadStore, match="--best 3 has no effect without --metric"):
        Retention(newest=1, best=3)


def test_pruning_breaks_off_without_leaving_a_half_that_is_trusted(
    store: LocalStore, tmp_path: Path, monkeypatch
) -> None:
    shelf_of(store, folder_of(tmp_path / "one", a=b"1", b=b"2"), [1.0, 2.0], best=1)
    delete, calls = store.delete, []

    def dying(key: str) -> None:
        calls.append(key)
        if len(calls) > 1:
            raise KeyboardInterrupt
        delete(key)

    monkeypatch.setattr(store, "delete", dying)
    with pytest.raises(KeyboardInterrupt):
        prune(store, "", Retention(newest=1))
    with pytest.raises(NotWhole):
        read_manifest(store, f"{SHELF}/0000")
