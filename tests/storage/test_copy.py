"""Backup and restore: verified copies of stores, complete at every moment, between folders and servers."""

import json
from pathlib import Path

import pytest

from ante.storage.check import Copied, copy, verify
from ante.storage.errors import BadStore, Damaged, StorageError
from ante.storage.local import LocalStore
from ante.storage.opening import open_store, target_environment
from ante.storage.publish import fetch, pointed, publish
from ante.storage.store import Progress, Stat, Store, no_progress
from tests.storage.server import Server
from tests.storage.test_artifacts import Inside, artifacts, url
from tests.storage.test_publish import folder_of

__all__ = ["artifacts", "url"]  # fixtures
SHELF = "runs/ppo/checkpoints"


@pytest.fixture
def source(tmp_path: Path) -> LocalStore:
    """Return a store with two publications and files of a run."""
    store = LocalStore(tmp_path / "source")
    for step in ("0001", "0002"):
        publish(store, SHELF, step, folder_of(tmp_path / step, a=step.encode(), b=b"x" * 1000), {}, ("latest",))
    store.put_bytes("runs/ppo/metrics.csv", b"steps\n1\n")
    return store


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.s3)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return LocalStore(tmp_path / "target")
    server: Server = request.getfixturevalue("server")
    return open_store(f"s3://game-runs/{tmp_path.name}-backup", server.environment())


def contents(store: Store) -> dict[str, bytes]:
    return {stat.key: store.get_bytes(stat.key) for stat in store.list()}


def test_a_backup_has_everything_and_restores_a_lost_store(source: LocalStore, target: Store, tmp_path: Path) -> None:
    wanted = contents(source)
    first = copy(source, target)
    assert (first.objects, first.unchanged) == (len(wanted), 0)
    assert contents(target) == wanted and verify(target) == []
    assert copy(source, target) == Copied(unchanged=len(wanted))
    restored = LocalStore(tmp_path / "restored")
    assert copy(target, restored).objects == len(wanted)
    assert contents(restored) == wanted and pointed(restored, SHELF) == "0002"
    fetch(restored, f"{SHELF}/0002", tmp_path / "back")
    assert (tmp_path / "back" / "deep" / "a").read_bytes() == b"0002"


def test_only_what_changed_is_copied_again_and_nothing_is_deleted(source: LocalStore, target: Store) -> None:
    copy(source, target)
    source.put_bytes("runs/ppo/metrics.csv", b"steps\n2\n")
    source.delete(f"{SHELF}/0001/manifest.json")
    found = copy(source, target)
    assert found.objects == 1 and target.get_bytes("runs/ppo/metrics.csv") == b"steps\n2\n"
    assert target.stat(f"{SHELF}/0001/manifest.json") is not None


class Failing(LocalStore):
    """A store that accepts some objects and then no more."""

    left = 0

    def put_file(self, *arguments: object, **options: object) -> Stat:
        if not self.left:
            raise StorageError("the disk is full")
        self.left -= 1
        return super().put_file(*arguments, **options)  # type: ignore[arg-type]


def test_an_interrupted_copy_is_complete_as_far_as_it_goes_and_continues(source: LocalStore, tmp_path: Path) -> None:
    everything = contents(source)
    for left in range(len(everything)):
        target = Failing(tmp_path / f"target-{left}")
        target.left = left
        with pytest.raises(StorageError, match="full"):
            copy(source, target)
        has = contents(target)
        assert len(has) == left
        for key in has:
            if key.endswith("manifest.json"):
                parts = json.loads(has[key])["parts"]
                assert parts and all(f"{key.removesuffix('manifest.json')}{part}" in has for part in parts)
            if key.endswith("latest.json"):
                assert pointed(target, SHELF) == "0002"
        target.left = len(everything)
        copy(source, target)
        assert contents(target) == everything


class Training(LocalStore):
    """A store to which a training publishes 0003, and from which it prunes 0001, while the first object is read."""

    busy = False

    def get_file(self, key: str, file: Path, progress: Progress = no_progress) -> Stat:
        if not self.busy:
            self.busy = True
            publish(self, SHELF, "0003", folder_of(self.folder.parent / "0003", a=b"0003"), {}, ("latest",))
            for path in ("manifest.json", "deep/a", "deep/b"):
                self.delete(f"{SHELF}/0001/{path}")
        return super().get_file(key, file, progress)


def test_a_pointer_refers_to_a_copied_publication_also_during_a_training(source: LocalStore, target: Store) -> None:
    copy(Training(source.folder), target)
    assert pointed(target, SHELF) == "0003"
    assert {finding.item for finding in verify(target)} <= {f"{SHELF}/0001"}
    assert target.get_bytes(f"{SHELF}/0003/deep/a") == b"0003"


def test_a_source_without_objects_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="has no objects"):
        copy(LocalStore(tmp_path / "other-name"), LocalStore(tmp_path / "backup"))
    assert not list(tmp_path.rglob("*.json"))


def test_a_damaged_backup_is_found_and_repaired_by_a_deep_copy(source: LocalStore, tmp_path: Path) -> None:
    target = LocalStore(tmp_path / "target")
    copy(source, target)
    file = target.folder / SHELF / "0001" / "deep" / "a"
    file.write_bytes(b"XXXX")
    assert [finding.wrong for finding in verify(target)] == ["checksum"]
    assert copy(source, target).objects == 0
    assert copy(source, target, deep=True).objects == 1 and verify(target) == []


def test_a_damaged_object_is_not_copied(source: LocalStore, tmp_path: Path) -> None:
    (source.folder / SHELF / "0001" / "deep" / "a").write_bytes(b"XXXX")
    with pytest.raises(Damaged):
        copy(source, LocalStore(tmp_path / "target"))


@pytest.mark.parametrize("inner", ["", "/runs", "/.."])
def test_a_copy_into_itself_is_refused(source: LocalStore, inner: str) -> None:
    other = LocalStore((source.folder / inner.removeprefix("/")).resolve())
    with pytest.raises(BadStore, match="overlap"):
        copy(source, other)


def test_credentials_of_one_server_are_not_used_at_the_other() -> None:
    one = {"S3_ENDPOINT_URL": "http://one", "S3_SECRET_ACCESS_KEY": "a", "AWS_SESSION_TOKEN": "b", "HOME": "/h"}
    assert target_environment(one) == one
    assert target_environment({**one, "TARGET_S3_ENDPOINT_URL": "http://two"}) == {
        "S3_ENDPOINT_URL": "http://two",
        "TARGET_S3_ENDPOINT_URL": "http://two",
        "HOME": "/h",
    }


def test_the_command_copies_and_reports(artifacts: Inside, url: str, source: LocalStore) -> None:
    code, out, _ = artifacts("copy", source.folder, f"{url}-backup")
    count = len(list(source.list()))
    assert code == 0 and f"{count} objects copied" in out
    code, out, _ = artifacts("copy", source.folder, f"{url}-backup", "--json", "--deep")
    assert json.loads(out) == {"objects": 0, "bytes": 0, "unchanged": count, "vanished": 0}
    assert artifacts("copy", source.folder, source.folder)[0] == 2
