"""A bucket and its user on self-hosted servers: a real SeaweedFS, and a real MinIO if it is installed."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from ante.errors import BalatroError
from ante.storage import minio
from ante.storage.errors import BadStore, NoAccess, NotThere
from ante.storage.opening import open_store
from ante.storage.provision import User, main, own_user, provision, read_users, root_settings
from ante.storage.s3 import S3Store
from ante.storage.settings import S3Settings
from ante.storage.store import Store
from tests.storage.server import KEY, SECRET, Server, free_ports

MINIO = shutil.which("minio")
USER = User("ante-user", "a-user-secret-of-some-length")


def environment(endpoint: str, bucket: str, root: tuple[str, str]) -> dict[str, str]:
    return {
        "S3_ENDPOINT_URL": endpoint,
        "S3_BUCKET_NAME": bucket,
        "S3_ACCESS_KEY_ID": "ante-user",
        "S3_SECRET_ACCESS_KEY": "a-user-secret-of-some-length",
        "MINIO_ROOT_USER": root[0],
        "MINIO_ROOT_PASSWORD": root[1],
    }


@pytest.fixture(scope="module")
def minio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a MinIO server on an empty folder."""
    if MINIO is None:
        pytest.skip("the program minio is not installed")
    folder, (port, console) = tmp_path_factory.mktemp("minio"), free_ports(2)
    command = [MINIO, "server", str(folder / "data"), f"--address=127.0.0.1:{port}"]
    command += [f"--console-address=127.0.0.1:{console}"]
    root = {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **root}, stdout=log, stderr=log)
    endpoint = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                if requests.get(f"{endpoint}/minio/health/ready", timeout=5).ok:
                    break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield endpoint
    finally:
        process.kill()
        process.wait()


@pytest.mark.s3
def test_a_bucket_is_made_once_and_then_left_alone(server: Server) -> None:
    asked = environment(server.endpoint, "made-by-test", (KEY, SECRET))
    assert provision(asked, seconds=10) == "bucket made-by-test created"
    store = open_store("s3://made-by-test/runs", {**asked, "S3_ACCESS_KEY_ID": KEY, "S3_SECRET_ACCESS_KEY": SECRET})
    store.put_bytes("kept", b"1")
    assert provision(asked, seconds=10) == "bucket made-by-test exists"
    assert store.get_bytes("kept") == b"1"


@pytest.mark.s3
def test_lifecycle_rules_of_others_are_kept_when_versions_are(server: Server) -> None:
    asked = environment(server.endpoint, "with-rules", (KEY, SECRET))
    provision(asked, seconds=10)
    client = S3Store(root_settings(asked)).client
    other = {"ID": "logs", "Status": "Enabled", "Filter": {"Prefix": "logs/"}, "Expiration": {"Days": 7}}
    client.put_bucket_lifecycle_configuration(Bucket="with-rules", LifecycleConfiguration={"Rules": [other]})
    for days in (30, 60):
        provision(asked, seconds=10, versions=days)
        rules = client.get_bucket_lifecycle_configuration(Bucket="with-rules")["Rules"]
        kept = {rule["ID"]: rule for rule in rules}
        assert sorted(kept) == ["ante-versions", "logs"] and len(rules) == 2
        assert kept["logs"]["Expiration"]["Days"] == 7 and kept["logs"]["Filter"] == {"Prefix": "logs/"}
        assert kept["ante-versions"]["NoncurrentVersionExpiration"]["NoncurrentDays"] == days


@pytest.mark.s3
def test_a_server_without_minios_api_says_what_to_set(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BalatroError, match=r"(rejects|scopedUser false)"):
        provision(environment(server.endpoint, "made-by-test", (KEY, SECRET)), [USER], 2)


@pytest.mark.s3
def test_a_user_of_minio_may_use_the_one_bucket_only(minio_server: str) -> None:
    one = environment(minio_server, "first", (KEY, SECRET))
    two = environment(minio_server, "second", (KEY, SECRET)) | {"S3_ACCESS_KEY_ID": "another-user"}
    for asked in (one, one, two):
        assert "1 user has access" in provision(asked, [own_user(S3Settings.read(asked))], 20)
    store = open_store("s3://first/runs", one)
    store.put_bytes("a", b"1")
    assert [found.key for found in store.list()] == ["a"]
    store.delete("a")
    with pytest.raises(NoAccess):
        open_store("s3://second/runs", one).put_bytes("a", b"1")
    with pytest.raises(NoAccess, match=r"rejects (the administrator's|these) credentials"):
        provision(one | {"MINIO_ROOT_USER": USER.access_key, "MINIO_ROOT_PASSWORD": USER.secret_key}, [USER], 2)


@pytest.mark.s3
def test_a_user_with_a_new_password_has_no_other(minio_server: str) -> None:
    asked = environment(minio_server, "renewed", (KEY, SECRET))
    old, new = (User("ante-alice", f"{word}-secret-of-alice", ("runs/alice",)) for word in ("old", "new"))
    for user in (old, new):
        provision(asked, [user], 20)
    keys = {"S3_ACCESS_KEY_ID": old.access_key, "S3_SECRET_ACCESS_KEY": old.secret_key}
    with pytest.raises(NoAccess):
        open_store("s3://renewed/runs/alice", asked | keys).put_bytes("a", b"1")


@pytest.mark.s3
def test_tenants_reach_their_prefixes_only(minio_server: str) -> None:
    asked = environment(minio_server, "shared", (KEY, SECRET))
    alice = User("ante-alice", "secret-of-alice-1234", ("runs/alice",))
    bob = User("ante-bob", "secret-of-bob-123456", ("runs/bob", "models"))
    assert "2 users have access" in provision(asked, [alice, bob], 20)

    def store(user: User, folder: str) -> Store:
        keys = {"S3_ACCESS_KEY_ID": user.access_key, "S3_SECRET_ACCESS_KEY": user.secret_key}
        return open_store(f"s3://shared/{folder}", asked | keys)

    for user, folder in ((alice, "runs/alice"), (bob, "runs/bob"), (bob, "models")):
        own = store(user, folder)
        assert own.stat("missing") is None
        with pytest.raises(NotThere):
            own.get_bytes("missing")
        own.put_bytes("a/b", b"1")
        assert own.get_bytes("a/b") == b"1" and [found.key for found in own.list()] == ["a/b"]
    actions: tuple[Callable[[Store], object], ...] = (
        lambda other: other.put_bytes("x", b"1"),
        lambda other: other.get_bytes("a/b"),
        lambda other: other.stat("a/b"),
        lambda other: next(other.list(), None),
        lambda other: other.delete("a/b"),
    )
    for user, folder in ((alice, "runs/bob"), (alice, "models"), (alice, "runs/alice2"), (bob, "runs/alice")):
        for action in actions:
            with pytest.raises(NoAccess):
                action(store(user, folder))
    for folder in ("", "runs"):
        with pytest.raises(NoAccess):
            next(store(alice, folder).list(), None)


@pytest.mark.s3
def test_replaced_and_deleted_objects_are_kept_if_versions_are(minio_server: str) -> None:
    asked = environment(minio_server, "versioned", (KEY, SECRET))
    for _ in range(2):
        assert provision(asked, seconds=20, versions=30).endswith("versions are kept for 30 days")
    root = root_settings(asked)
    store, client = S3Store(root, "runs"), S3Store(root).client
    store.put_bytes("a", b"first")
    store.put_bytes("a", b"second")
    store.delete("a")
    assert store.stat("a") is None
    kept = client.list_object_versions(Bucket="versioned", Prefix="runs/a")
    assert len(kept["Versions"]) == 2 and len(kept["DeleteMarkers"]) == 1
    rule = client.get_bucket_lifecycle_configuration(Bucket="versioned")["Rules"][0]
    assert rule["NoncurrentVersionExpiration"]["NoncurrentDays"] == 30
    assert provision(asked, seconds=20, versions=0).endswith("versions are not kept")
    assert client.get_bucket_versioning(Bucket="versioned")["Status"] == "Suspended"


def test_a_body_is_encrypted_in_the_form_that_a_server_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded: a MinIO of 2026-02 created the user of this body."""
    monkeypatch.setattr(minio.os, "urandom", lambda count: bytes(range(count)))
    body = minio.encrypted("rootword12345", b'{"secretKey": "userword123456", "status": "enabled"}')
    assert (len(body), hashlib.sha256(body).hexdigest()) == (
        109,
        "0bfaf5f4bd7b0a32110d2d91800c31bf35df7596045956ff60912f50e0b483ac",
    )


def test_missing_variables_are_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = environment("http://127.0.0.1:1", "games", ("root", "word"))
    for name in asked:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoAccess, match="MINIO_ROOT_USER and MINIO_ROOT_PASSWORD are not set"):
        provision({**asked, "MINIO_ROOT_PASSWORD": ""}, seconds=0)
    with pytest.raises(NoAccess, match="--user requires them"):
        own_user(S3Settings.read({**asked, "S3_ACCESS_KEY_ID": "", "S3_SECRET_ACCESS_KEY": ""}))
    monkeypatch.setenv("S3_BUCKET_NAME", "games")
    assert main([]) == 2
    assert "MINIO_ROOT_USER" in capsys.readouterr().err


def test_users_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    file.write_text('[{"access_key": "a", "secret_key": "hidden", "prefixes": ["runs/a"]}]')
    assert read_users(file) == [User("a", "hidden", ("runs/a",))]
    assert "hidden" not in repr(read_users(file))
    file.write_text('[{"access_key": "a"}]')
    with pytest.raises(BadStore, match="not a list of users"):
        read_users(file)
