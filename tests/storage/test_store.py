"""The interface of both stores, and their errors."""

import hashlib
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from botocore.stub import ANY, Stubber

from ante.errors import BalatroError
from ante.storage.errors import BadStore, Damaged, NoAccess, NoBucket, NotThere, StorageError, TooLarge, Unreachable
from ante.storage.local import LocalStore
from ante.storage.opening import open_store
from ante.storage.s3 import S3Store
from ante.storage.settings import S3Settings
from ante.storage.store import Store, exists
from tests.storage.server import SECRET, Server, proxy_to

PART = 5 << 20


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return open_store(tmp_path / "store")
    server: Server = request.getfixturevalue("server")
    return open_store(f"s3://game-runs/{tmp_path.name}", server.environment())


def filled(file: Path, size: int) -> Path:
    file.write_bytes(os.urandom(size))
    return file


def test_bytes_come_back_and_are_counted_and_summed(store: Store) -> None:
    data = os.urandom(1000)
    for stat in (store.put_bytes("a/b.bin", data), store.stat("a/b.bin")):
        assert stat is not None
        assert (stat.bytes, stat.sha256) == (1000, hashlib.sha256(data).hexdigest())
    assert store.get_bytes("a/b.bin") == data
    store.put_bytes("a/b.bin", b"newer")
    assert store.get_bytes("a/b.bin") == b"newer"


@pytest.mark.parametrize("size", [0, 1, 20_000_000])
def test_files_come_back_and_progress_adds_up(store: Store, tmp_path: Path, size: int) -> None:
    file, up, down = filled(tmp_path / "file", size), [0], [0]
    store.put_file("deep/er/file", file, progress=up.append)
    store.get_file("deep/er/file", tmp_path / "back", progress=down.append)
    assert (tmp_path / "back").read_bytes() == file.read_bytes()
    assert (sum(up), sum(down)) == (size, size)


def test_listing_is_in_order_and_only_of_the_prefix(store: Store) -> None:
    for key in ("runs/b", "runs/a/2", "runs/a/1", "other", "runs/ab"):
        store.put_bytes(key, key.encode())
    assert [(stat.key, stat.bytes) for stat in store.list("runs/a")] == [
        ("runs/a/1", 8),
        ("runs/a/2", 8),
        ("runs/ab", 7),
    ]
    assert [stat.key for stat in store.list()] == ["other", "runs/a/1", "runs/a/2", "runs/ab", "runs/b"]
    assert list(store.list("nothing/here")) == []


def test_what_is_deleted_is_gone_and_may_be_deleted_again(store: Store) -> None:
    store.put_bytes("x/y", b"1")
    store.delete("x/y")
    store.delete("x/y")
    assert not exists(store, "x/y")
    assert list(store.list()) == []


def test_missing_objects_are_reported(store: Store, tmp_path: Path) -> None:
    assert store.stat("nope") is None
    with pytest.raises(NotThere, match=r"nope does not exist in .*: ante artifacts ls"):
        store.get_bytes("nope")
    with pytest.raises(NotThere):
        store.get_file("nope", tmp_path / "target")
    assert not list(tmp_path.glob("*target*"))


def test_a_file_with_another_checksum_is_not_written(store: Store, tmp_path: Path) -> None:
    with pytest.raises(Damaged, match=r"the file|file has the checksum .* instead of 000000000000"):
        store.put_file("file", filled(tmp_path / "file", 100), sha256="0" * 64)
    assert not exists(store, "file")


@pytest.mark.parametrize("key", ["", "/a", "a//b", "../a", "a/.hidden", "a/", "a\\b"])
def test_what_cannot_be_a_key_is_refused(store: Store, key: str) -> None:
    with pytest.raises(BadStore, match="is not a key"):
        store.put_bytes(key, b"")


@pytest.mark.parametrize("url", ["ftp://x/y", "file://runs", "s3://ab/x", "s3://k:s@bucket/x"])
def test_what_cannot_be_a_store_is_refused(url: str) -> None:
    with pytest.raises(BadStore):
        open_store(url, {})


def test_a_flipped_bit_in_a_folder_is_found(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put_bytes("a", b"0123")
    (tmp_path / "a").write_bytes(b"0133")
    with pytest.raises(Damaged, match=r"a in file://.* has the checksum .* instead of"):
        store.get_bytes("a")
    with pytest.raises(Damaged):
        store.get_file("a", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_checksums_of_a_folder_are_read_by_sha256sum(tmp_path: Path) -> None:
    LocalStore(tmp_path).put_bytes("a", b"0123")
    assert subprocess.run(["sha256sum", "-c", ".a.sha256"], cwd=tmp_path, capture_output=True).returncode == 0


def test_a_writer_killed_between_file_and_checksum_leaves_one_that_can_be_read(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put_bytes("a", b"old")
    old, new = (hashlib.sha256(data).hexdigest() for data in (b"old", b"new"))
    for data in (b"old", b"new"):  # killed before and after the rename of the file
        (tmp_path / ".a.sha256").write_text(f"{new}  a\n{old}  a\n")
        (tmp_path / "a").write_bytes(data)
        assert store.get_bytes("a") == data
        stat = store.stat("a")
        assert stat and stat.sha256 == hashlib.sha256(data).hexdigest()


def test_a_full_disk_leaves_existing_files(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    store.put_bytes("a", b"old")
    script = (
        "import resource, sys; from pathlib import Path; from ante.storage.opening import open_store\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "open_store(sys.argv[1]).put_bytes('a', bytes(100_000))"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path / "store")], capture_output=True, text=True)
    assert "StoreFull: cannot write a: File too large; free some space under" in ended.stderr
    assert store.get_bytes("a") == b"old"
    assert sorted(file.name for file in (tmp_path / "store").iterdir()) == [".a.sha256", "a"]


def test_secrets_never_show() -> None:
    settings = {"S3_ACCESS_KEY_ID": "the-key", "S3_SECRET_ACCESS_KEY": SECRET}
    store = open_store("s3://bucket/prefix", settings)
    for text in (repr(store), repr(store.settings), store.url):
        assert "the-key" not in text and SECRET not in text
    with pytest.raises(NoAccess, match="S3_SECRET_ACCESS_KEY is not set"):
        open_store("s3://bucket", {"S3_ACCESS_KEY_ID": "the-key"})


def test_a_server_that_does_not_answer_is_named() -> None:
    away = {"S3_ENDPOINT_URL": "http://127.0.0.1:9", "S3_ACCESS_KEY_ID": "k", "S3_SECRET_ACCESS_KEY": SECRET}
    with pytest.raises(Unreachable, match=r"http://127.0.0.1:9 does not respond .*: check S3_ENDPOINT_URL") as caught:
        open_store("s3://bucket", away).get_bytes("a")
    assert SECRET not in str(caught.value)


@pytest.mark.s3
def test_a_wrong_secret_is_refused_in_words_without_it(server: Server) -> None:
    wrong = {**server.environment(), "S3_SECRET_ACCESS_KEY": "a-wrong-secret"}
    store = open_store("s3://game-runs/secret", wrong)
    for ask in (lambda: store.put_bytes("a", b""), lambda: store.get_bytes("a"), lambda: store.stat("a")):
        with pytest.raises(
            NoAccess, match=r"rejects these credentials for s3://game-runs/secret \(.*\): check"
        ) as caught:
            ask()
        assert "a-wrong-secret" not in str(caught.value)


def test_a_key_that_may_not_use_a_bucket_is_told_to_look_for_the_bucket() -> None:
    """If a key may not create a bucket, a server reports the same for a bucket that does not exist."""
    keys = {"S3_ACCESS_KEY_ID": "k", "S3_SECRET_ACCESS_KEY": SECRET}
    store = S3Store(S3Settings.read(keys, "not-there"))
    for code, words in {
        "AccessDenied": "bucket not-there exists",
        "SignatureDoesNotMatch": "S3_SECRET_ACCESS_KEY",
    }.items():
        with Stubber(store.client) as server, pytest.raises(NoAccess, match=rf"\({code}\): check .*{words}"):
            server.add_client_error("put_object", code, http_status_code=403)
            store.put_bytes("a", b"")


@pytest.mark.s3
def test_a_missing_bucket_is_named(server: Server) -> None:
    store = open_store("s3://no-such-bucket/x", server.environment())
    for ask in (lambda: store.put_bytes("a", b"1"), lambda: store.stat("a"), lambda: list(store.list())):
        with pytest.raises(NoBucket, match=r"bucket no-such-bucket does not exist at http.*: create it"):
            ask()


def test_what_is_read_into_memory_is_bounded(store: Store) -> None:
    store.put_bytes("a", b"x" * 1000)
    assert store.get_bytes("a", most=1000) == b"x" * 1000
    with pytest.raises(TooLarge, match=r"a in .* is larger than the limit of 999 bytes"):
        store.get_bytes("a", most=999)
    assert store.digest("a") == hashlib.sha256(b"x" * 1000).hexdigest()
    with pytest.raises(NotThere):
        store.digest("missing")


def test_a_huge_object_is_refused_and_its_digest_takes_no_memory(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with (tmp_path / "huge").open("wb") as sparse:
        sparse.truncate(1 << 27)
    with pytest.raises(TooLarge):
        store.get_bytes("huge")
    tracemalloc.start()
    store.digest("huge")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("text", [b"\n\n", b"\xff", b"x" * (1 << 17)])
def test_a_damaged_file_of_checksums_is_a_sentence_or_unknown(text: bytes, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put_bytes("a", b"1")
    (tmp_path / ".a.sha256").write_bytes(text)
    if text.strip():
        with pytest.raises(BalatroError):
            store.get_bytes("a")
    else:
        assert store.get_bytes("a") == b"1"


@pytest.mark.s3
def test_bytes_changed_on_the_way_are_refused_by_the_server(server: Server, tmp_path: Path) -> None:
    with proxy_to(server) as proxy:
        store = open_store("s3://game-runs/flipped", server.environment(proxy.endpoint))
        proxy.flip_at = 200_000  # in the middle of the body
        with pytest.raises(StorageError) as caught:
            store.put_file("a", filled(tmp_path / "a", 1_000_000))
    assert isinstance(caught.value, Damaged), caught.value
    assert "with a wrong checksum and rejected it" in str(caught.value)
    assert not exists(open_store("s3://game-runs/flipped", server.environment()), "a")
    assert list(open_store("s3://game-runs/flipped", server.environment()).list()) == []


@pytest.mark.s3
def test_an_object_that_is_not_what_was_written_is_refused(server: Server, tmp_path: Path) -> None:
    store = open_store("s3://game-runs/changed", server.environment())
    server.client().put_object(Bucket="game-runs", Key="changed/a", Body=b"0133", Metadata={"sha256": "0" * 64})
    for ask in (lambda: store.get_bytes("a"), lambda: store.get_file("a", tmp_path / "back")):
        with pytest.raises(Damaged, match=r"a in s3://game-runs/changed has 4 bytes and checksum .* 000000000000"):
            ask()
    assert not list(tmp_path.iterdir())


@pytest.mark.s3
def test_what_others_wrote_has_no_checksum_and_can_be_read(server: Server) -> None:
    store = open_store("s3://game-runs/others", server.environment())
    server.client().put_object(Bucket="game-runs", Key="others/a", Body=b"by hand")
    stat = store.stat("a")
    assert stat
    assert stat.sha256 is None
    assert store.get_bytes("a") == b"by hand"


@pytest.mark.s3
def test_a_server_without_tls_is_distinguished_from_one_that_is_offline(server: Server) -> None:
    store = open_store("s3://game-runs/x", server.environment(server.endpoint.replace("http:", "https:")))
    with pytest.raises(NoAccess, match=r"is not trusted: set S3_CA_BUNDLE to its authority's file, or use http://"):
        store.get_bytes("a")


@pytest.mark.s3
@pytest.mark.parametrize(
    ("key", "size", "kind"),
    [
        ("report.html", 100, "text/html; charset=utf-8"),
        ("episode.mp4", 20_000_000, "video/mp4"),  # in parts
        ("game.txt.gz", 100, "application/gzip"),
        ("weights", 100, "application/octet-stream"),
    ],
)
def test_objects_have_the_content_type_that_browsers_show(
    server: Server, tmp_path: Path, key: str, size: int, kind: str
) -> None:
    open_store("s3://game-runs/kinds", server.environment()).put_file(key, filled(tmp_path / "file", size))
    assert server.client().head_object(Bucket="game-runs", Key=f"kinds/{key}")["ContentType"] == kind


KEYS = {"S3_ACCESS_KEY_ID": "k", "S3_SECRET_ACCESS_KEY": SECRET}


def test_the_variables_of_a_data_connection_and_the_kind_of_address_are_used() -> None:
    there = {**KEYS, "AWS_S3_ENDPOINT": "https://s3.example.com", "AWS_S3_BUCKET": "game-runs"}
    for style, address in (
        ("path", "https://s3.example.com/game-runs/a/report.html?"),
        ("virtual", "https://game-runs.s3.example.com/a/report.html?"),
    ):
        store = S3Store(S3Settings.read({**there, "S3_ADDRESSING_STYLE": style}), "a")
        assert store.presigned("report.html", 60).startswith(address)


@pytest.mark.parametrize("size", [10, PART + 1])
def test_encryption_is_requested_for_whole_objects_and_for_parts(tmp_path: Path, size: int) -> None:
    asked = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "key-1"}
    settings = S3Settings.read({**KEYS, "S3_ENCRYPTION": "aws:kms", "S3_KMS_KEY_ID": "key-1"}, "game-runs")
    store, file = S3Store(settings, part_bytes=PART), filled(tmp_path / "file", size)
    properties = {
        **asked,
        "Bucket": "game-runs",
        "Key": "a",
        "ContentType": "application/octet-stream",
        "Metadata": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
    }
    with Stubber(store.client) as server:
        if size <= PART:
            server.add_response("put_object", {"ETag": "e"}, {**properties, "Body": ANY, "ChecksumSHA256": ANY})
        else:
            server.add_response("create_multipart_upload", {"UploadId": "u"}, {**properties, "ChecksumAlgorithm": ANY})
            for _ in range(2):
                server.add_response("upload_part", {"ETag": "e"})
            server.add_response("complete_multipart_upload", {"ETag": "e"})
        store.put_file("a", file)
        server.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"S3_ADDRESSING_STYLE": "host"}, "S3_ADDRESSING_STYLE is 'host': set one of path, virtual, auto"),
        ({"S3_ENCRYPTION": "yes"}, "S3_ENCRYPTION is 'yes': set one of AES256, aws:kms"),
        ({"S3_ENCRYPTION": "AES256", "S3_KMS_KEY_ID": "k"}, "S3_KMS_KEY_ID is set without a KMS encryption"),
    ],
)
def test_unknown_settings_of_a_bucket_are_refused(variables: dict[str, str], words: str) -> None:
    with pytest.raises(BadStore, match=words):
        S3Settings.read({**KEYS, **variables}, "game-runs")
