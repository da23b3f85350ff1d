"""A bucket and its user on self-hosted servers: a real SeaweedFS, and a real MinIO if it is installed."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
import requests

from ante.errors import BalatroError
from ante.storage import minio
from ante.storage.errors import NoAccess
from ante.storage.opening import open_store
from ante.storage.provision import main, provision
from tests.storage.server import KEY, SECRET, Server, free_ports

MINIO = shutil.which("minio")


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
    assert provision(asked, user=False, seconds=10) == "bucket made-by-test created"
    store = open_store("s3://made-by-test/runs", {**asked, "S3_ACCESS_KEY_ID": KEY, "S3_SECRET_ACCESS_KEY": SECRET})
    store.put_bytes("kept", b"1")
    assert provision(asked, user=False, seconds=10) == "bucket made-by-test exists"
    assert store.get_bytes("kept") == b"1"


@pytest.mark.s3
def test_a_server_without_minios_api_says_what_to_set(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BalatroError, match=r"(rejects|scopedUser false)"):
        provision(environment(server.endpoint, "made-by-test", (KEY, SECRET)), user=True, seconds=2)


@pytest.mark.s3
def test_a_user_of_minio_may_use_the_one_bucket_only(minio_server: str) -> None:
    one = environment(minio_server, "first", (KEY, SECRET))
    two = environment(minio_server, "second", (KEY, SECRET)) | {"S3_ACCESS_KEY_ID": "another-user"}
    for asked in (one, one, two):
        assert "its user has access" in provision(asked, user=True, seconds=20)
    store = open_store("s3://first/runs", one)
    store.put_bytes("a", b"1")
    assert [found.key for found in store.list()] == ["a"]
    store.delete("a")
    with pytest.raises(NoAccess):
        open_store("s3://second/runs", one).put_bytes("a", b"1")
    with pytest.raises(NoAccess, match=r"rejects (the administrator's|these) credentials"):
        provision(one | {"MINIO_ROOT_USER": "ante-user", "MINIO_ROOT_PASSWORD": one["S3_SECRET_ACCESS_KEY"]}, True, 2)


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
        provision({**asked, "MINIO_ROOT_PASSWORD": ""}, user=False, seconds=0)
    with pytest.raises(NoAccess, match="--user requires them"):
        provision({**asked, "S3_ACCESS_KEY_ID": "", "S3_SECRET_ACCESS_KEY": ""}, user=True, seconds=0)
    monkeypatch.setenv("S3_BUCKET_NAME", "games")
    assert main([]) == 2
    assert "MINIO_ROOT_USER" in capsys.readouterr().err
