"""Object stores with arbitrary responses: every call ends with a message, within its limits, and without secrets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import HTTPClientError

from ante.http import connections
from ante.storage import s3
from ante.storage.errors import BadStore, Damaged, NoAccess, NoBucket, NoStore, NotThere, StorageError
from ante.storage.minio import MinioAdmin
from ante.storage.s3 import S3Store
from ante.storage.settings import S3Settings
from tests.hostile.harness import Case, cases, check, check_sentence, command, thinned
from tests.hostile.servers.answers import Answers, Chunks, endless, raw, reply

ACCESS, SECRET = "AKIAVERYLONGNAME", "wJalrXUtnFEMI-S3CR3T-7MDENGbPxRfi"
XML = "application/xml"
DATE = "Sun, 22 Nov 2026 22:34:53 GMT"
OK = b"HTTP/1.1 200 OK\r\n"


def xml(inner: str, root: str = "ListBucketResult") -> bytes:
    return f'<?xml version="1.0"?><{root}>{inner}</{root}>'.encode()


def listing(*rows: str, more: bool = False, token: str = "t") -> bytes:
    name = f"<Name>bucket</Name><IsTruncated>{str(more).lower()}</IsTruncated>"
    return xml(name + (f"<NextContinuationToken>{token}</NextContinuationToken>" if more else "") + "".join(rows))


def row(key: str | None = "a", size: str | None = "1", modified: str | None = "2026-01-01T00:00:00Z") -> str:
    cells = {"Key": key, "Size": size, "LastModified": modified}
    inner = "".join(f"<{name}>{text}</{name}>" for name, text in cells.items() if text is not None)
    return f"<Contents>{inner}</Contents>"


def refusal(code: str, status: str = "400 x", words: str = "no") -> Chunks:
    return reply(xml(f"<Code>{code}</Code><Message>{words}</Message>", "Error"), status=status, kind=XML)


ENTITIES = b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
ANY: dict[str, Chunks] = {  # not a response of S3 to any request
    "a page": reply(b"<html><body>Please log in</body></html>", kind="text/html"),
    "a page that is no XML": reply(b"<html><br>login</p>", kind="text/html; charset=utf-8"),
    "a page with a date": reply(b"<html></html>", status="503 x", kind="text/html", Last_Modified=DATE),
    "redirect": reply(status="302 Found", Location="http://127.0.0.1:9/login"),
    "redirect for good": reply(status="301 Moved", Location="https://evil.example/"),
    "redirect with the method": reply(status="307 x", Location="file:///etc/passwd"),
    "redirect to another region": reply(status="301 x", **{"x-amz-bucket-region": "mars-1"}),
    "redirect without a place": reply(status="308 x"),
    "refused": refusal("AccessDenied", "403 x"),
    "refused without a word": reply(status="403 x"),
    "unauthorised": reply(b"<html>", status="401 x", kind="text/html"),
    "wrong clock": refusal("RequestTimeTooSkewed", "403 x"),
    "wrong region": refusal("AuthorizationHeaderMalformed", "400 x"),
    "unheard code": refusal("\u202eEvil&#x9b;31m" * 100),
    "code that echoes the secret": refusal(SECRET),
    "words that echo the secret": refusal("Odd", words=SECRET),
    "busy": refusal("SlowDown", "503 x"),
    "teapot": reply(b"{}", status="418 x"),
    "ill": reply(b"<html>", status="502 x", kind="text/html"),
    "ill without end": endless(b"HTTP/1.1 500 x\r\nContent-Type: text/html\r\n\r\n"),
    "closed": raw(),
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "status in letters": raw(b"HTTP/1.1 abc x\r\n\r\n"),
    "status of six digits": raw(b"HTTP/1.1 999999 x\r\n\r\n"),
    "negative status": raw(b"HTTP/1.1 -1 x\r\n\r\n"),
    "two lengths": raw(OK + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc"),
    "many headers": raw(OK + b"X: y\r\n" * 5000 + b"\r\n"),
    "long header": raw(OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n"),
    "header without end": endless(OK + b"X: "),
    "status line without end": endless(b"HTTP/1.1 200 "),
    "100 Continue without end": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "100 Continue, then nothing": raw(b"HTTP/1.1 100 Continue\r\n"),
}
ROWS: dict[str, Chunks] = {  # responses to a list request
    "nothing": reply(),
    "no content": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "JSON": reply(b'{"Contents": []}'),
    "null": reply(b"null"),
    "noise": reply(bytes(range(256)) * 100, kind=XML),
    "another root": reply(xml("", "ListAllMyBucketsResult"), kind=XML),
    "a page as XML": reply(b"<html><body/></html>", kind=XML),
    "XML that ends early": reply(listing(row())[:-20], kind=XML),
    "other encoding": reply(listing(row()).decode().encode("utf-16"), kind=XML),
    "entities": reply(
        b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">' + ENTITIES + b"]><l>&j;</l>", kind=XML
    ),
    "a file as entity": reply(
        b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + listing(row("&x;"))[21:], kind=XML
    ),
    "deep": reply(b"<a>" * 100_000, kind=XML),
    "deep and whole": reply(b"<a>" * 20_000 + b"</a>" * 20_000, kind=XML),
    "endless": endless(OK + b"\r\n", b"<Contents>" * 6000),
    "cut off": reply(listing(row()), kind=XML, length=5000),
    "length in letters": raw(OK + b"Content-Length: x\r\n\r\n" + listing()[:30]),
    "gzip that is none": reply(listing(row()), kind=XML, Content_Encoding="gzip"),
    "chunk of no size": raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "no key": reply(listing(row(None)), kind=XML),
    "no size": reply(listing(row(size=None)), kind=XML),
    "no time": reply(listing(row(modified=None)), kind=XML),
    "size in letters": reply(listing(row(size="many")), kind=XML),
    "size in hex": reply(listing(row(size="0x10")), kind=XML),
    "negative size": reply(listing(row(size="-1")), kind=XML),
    "fractional size": reply(listing(row(size="1.5")), kind=XML),
    "size of 5,000 digits": reply(listing(row(size="9" * 5000)), kind=XML),
    "time in words": reply(listing(row(modified="yesterday")), kind=XML),
    "time beyond the calendar": reply(listing(row(modified="99999-01-01T00:00:00Z")), kind=XML),
    "month 13": reply(listing(row(modified="2026-13-01T00:00:00Z")), kind=XML),
    "key of another prefix": reply(listing(row("elsewhere")), kind=XML),
    "the same page for ever": reply(listing(row("p/a"), more=True), kind=XML),
    "truncated without a token": reply(listing(row("elsewhere"), more=True, token=""), kind=XML),
}
OBJECTS: dict[str, Chunks] = {  # responses to a GET or HEAD of an object
    "no date": reply(b"abc"),
    "date in words": reply(b"abc", Last_Modified="yesterday"),
    "date beyond the calendar": reply(b"abc", Last_Modified="Sun, 22 Nov 99999 22:34:53 GMT"),
    "no length": raw(OK + b"Last-Modified: " + DATE.encode() + b"\r\n\r\nabc"),
    "length in letters": raw(OK + b"Content-Length: x\r\nLast-Modified: " + DATE.encode() + b"\r\n\r\nabc"),
    "negative length": reply(b"abc", length=-5, Last_Modified=DATE),
    "chunks": raw(
        OK + b"Transfer-Encoding: chunked\r\nLast-Modified: " + DATE.encode() + b"\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    ),
}
BODIES: dict[str, Chunks] = {  # responses to a GET of an object
    "cut off": reply(b"abc", length=10, Last_Modified=DATE),
    "cut off, a terabyte": reply(b"abc", length=1 << 40, Last_Modified=DATE),
    "no SHA-256 of these bytes": reply(b"abc", Last_Modified=DATE, **{"x-amz-meta-sha256": "00" * 32}),
    "checksum of S3": reply(b"abc", Last_Modified=DATE, **{"x-amz-checksum-sha256": "A" * 43 + "="}),
    "checksum that is none": reply(b"abc", Last_Modified=DATE, **{"x-amz-checksum-crc32": "@"}),
}
CALLS: dict[str, tuple[Callable[[S3Store, Path], Any], dict[str, Chunks]]] = {
    "list": (lambda store, _: list(store.list("p/")), ANY | ROWS),
    "stat": (lambda store, _: store.stat("a"), ANY | OBJECTS),
    "get_bytes": (lambda store, _: store.get_bytes("a"), ANY | OBJECTS | BODIES),
    "get_file": (lambda store, folder: store.get_file("a", folder / "file"), ANY | OBJECTS | BODIES),
    "put_bytes": (lambda store, _: store.put_bytes("a", b"x"), ANY | {name: ROWS[name] for name in ("nothing", "JSON", "no content", "endless")}),
    "delete": (lambda store, _: store.delete("a"), ANY),
    "create_bucket": (lambda store, _: store.create_bucket(), ANY),
}  # fmt: skip
TABLE = [(call, name) for call, (_, answers) in CALLS.items() for name in answers]


def store_at(url: str, **more: Any) -> S3Store:
    return S3Store(S3Settings("bucket", url, access_key=ACCESS, secret_key=SECRET), attempts=1, **more)


@pytest.mark.parametrize(
    ("call", "name"),
    [pytest.param(*each, marks=() if i % 6 == 0 else pytest.mark.hostile) for i, each in enumerate(TABLE)],
)
def test_an_invalid_store_is_reported_in_a_sentence(
    answering: Callable[..., Answers],
    tmp_path: Path,
    call: str,
    name: str,
) -> None:
    run, answers = CALLS[call]
    server = answering(answers[name])
    with pytest.raises(StorageError) as refused:
        run(store_at(server.url), tmp_path)
    unnamed = isinstance(refused.value, Damaged | NotThere) or "larger than the limit" in str(refused.value)
    check_sentence(str(refused.value), "a" if unnamed else "127.0.0.1")
    assert SECRET not in str(refused.value)
    assert not list(tmp_path.iterdir()), "no partial files are left"
    assert len(server.asked) < 500


@pytest.mark.parametrize("name", ["a page", "redirect", "closed", "ill without end", "header without end", "refused"])
def test_an_administrators_server_that_is_none(answering: Callable[..., Answers], name: str) -> None:
    settings = S3Settings("bucket", answering(ANY[name]).url, access_key=ACCESS, secret_key=SECRET)
    if name == "a page":  # the response of MinIO's admin API cannot be checked
        MinioAdmin(settings).add_bucket_user("me", "my-password")
        return
    with pytest.raises(StorageError) as refused:
        MinioAdmin(settings).add_bucket_user("me", "my-password")
    assert SECRET not in str(refused.value) and "my-password" not in str(refused.value)


DRIPS = {
    "head": endless(OK, b"X"),
    "headers": endless(OK, b"X: y\r\n"),
    "body of a list": endless(OK + b"\r\n", b" "),
}


@pytest.mark.parametrize("call", ["list", "stat", "get_bytes", "put_bytes"])
@pytest.mark.parametrize("name", thinned(list(DRIPS), 3))
def test_a_store_that_drips_is_given_up(
    answering: Callable[..., Answers],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    call: str,
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.15)
    with pytest.raises(StorageError):
        CALLS[call][0](store_at(answering(DRIPS[name], pause=0.03).url), tmp_path)


def test_an_object_that_drips_is_given_up(
    answering: Callable[..., Answers],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.15)
    head = OK + f"Content-Length: 1000000\r\nLast-Modified: {DATE}\r\n\r\n".encode()
    with pytest.raises(StorageError):
        store_at(answering(endless(head, b"x"), pause=0.03).url).get_file("a", tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_a_list_without_end_is_given_up(answering: Callable[..., Answers], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "MOST_PAGES", 20)
    number = iter(range(10**9))

    def page() -> list[bytes]:
        here = next(number)
        (answer,) = reply(listing(row(f"{here:09d}"), more=True, token=f"t{here}"), kind=XML)()
        return [answer]

    with pytest.raises(StorageError, match="more than 20 pages"):
        list(store_at(answering(page).url).list())


def test_an_object_too_large_for_memory_is_refused_unread(answering: Callable[..., Answers]) -> None:
    head = OK + f"Content-Length: {10**13}\r\nLast-Modified: {DATE}\r\n\r\n".encode()
    with pytest.raises(StorageError, match="larger than the limit"):
        store_at(answering(endless(head)).url).get_bytes("a")


@pytest.mark.parametrize(
    ("code", "status", "error", "says"),
    [
        ("NoSuchBucket", "404 x", NoBucket, "does not exist"),
        ("AccessDenied", "403 x", NoAccess, "rejects these credentials"),
        ("SignatureDoesNotMatch", "403 x", NoAccess, "S3_SECRET_ACCESS_KEY"),
        ("RequestTimeTooSkewed", "403 x", NoAccess, "clock"),
        ("RequestExpired", "400 x", NoAccess, "clock"),
        ("PermanentRedirect", "301 x", StorageError, "redirects"),
    ],
)
def test_what_s3_refuses_is_told_apart(
    answering: Callable[..., Answers],
    code: str,
    status: str,
    error: type[StorageError],
    says: str,
) -> None:
    with pytest.raises(error, match=says):
        list(store_at(answering(refusal(code, status)).url).list())


def test_an_empty_bucket_is_empty(answering: Callable[..., Answers]) -> None:
    assert list(store_at(answering(reply(listing(), kind=XML)).url).list()) == []
    (only,) = store_at(answering(reply(listing(row()), kind=XML)).url).list()
    assert (only.key, only.bytes) == ("a", 1)


ENDPOINTS = (
    "s3.example", "ftp://s3.example", "http://", "http:///x", f"http://me:{SECRET}@host", f"http://host/?secret={SECRET}", f"http://host/#t={SECRET}",
    "http://host:0", "http://host:99999", "http://host:x", "http://ho st", "http://host\n", "http://host\x1b[2J", "http://[::1", "javascript:x",
    f"http://me:{SECRET}/x@host", f"https://host?X-Amz-Signature={SECRET}&a=b",
)  # fmt: skip


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=repr)
def test_an_endpoint_that_cannot_be_is_refused_without_its_secret(endpoint: str) -> None:
    with pytest.raises(BadStore) as refused:
        S3Settings.read({"S3_ENDPOINT_URL": endpoint, "S3_BUCKET_NAME": "bucket"})
    check_sentence(str(refused.value), "S3_ENDPOINT_URL")
    assert SECRET not in str(refused.value)


def test_no_store_shows_the_query_of_its_endpoint() -> None:
    store = S3Store(
        S3Settings("bucket", f"http://127.0.0.1:9/?k={SECRET}", access_key=ACCESS, secret_key=SECRET), attempts=1
    )
    assert SECRET not in repr(store)
    with pytest.raises(StorageError) as refused:
        list(store.list())
    assert SECRET not in str(refused.value)


def shown(words: tuple[str, ...], chunks: Chunks) -> Callable[[Path], int]:
    """Return a command against a store with these responses."""

    def run(folder: Path) -> int:
        with Answers(chunks) as server, pytest.MonkeyPatch.context() as patch:
            for name, value in {
                "S3_ENDPOINT_URL": server.url,
                "S3_ACCESS_KEY_ID": ACCESS,
                "S3_SECRET_ACCESS_KEY": SECRET,
            }.items():
                patch.setenv(name, value)
            patch.setenv("AWS_MAX_ATTEMPTS", "1")
            return int(command(*words)(folder))

    return run


URL = "s3://bucket/runs"
COMMANDS = [
    Case(f"{' '.join(words[:2])} {name}", shown(words, ANY[name]), seconds=60, megabytes=2048)
    for words in (
        ("artifacts", "ls", URL),
        ("artifacts", "ls", URL, "--files"),
        ("artifacts", "get", f"{URL}/x", "here"),
        ("artifacts", "verify", URL, "--quick"),
        ("artifacts", "prune", URL, "--newest", "1", "--rehearse"),
        ("watch", f"{URL}/x"),
    )
    for name in ("a page", "redirect", "wrong clock", "code that echoes the secret")
    if not (words[2:] == (URL, "--files") and name == "redirect")
]
NAMES = [
    Case(f"watch {url}", command("watch", url), "", seconds=60)
    for url in ("file://{}/..", "file://{}/run/..", "file://{}/run/../..", "file://", "file:///", "file://{}/.", "s3://..", "s3://bucket/..",
                "s3://bucket/../x", "s3://bucket/a//b", "file://elsewhere", "file://{}/.hidden", "s3://me:pw@bucket/x", "ftp://{}", "http://{}/run")
]  # fmt: skip


@pytest.mark.parametrize("case", cases([*{case.name: case for case in COMMANDS}.values(), *NAMES], quick=12))
def test_a_command_reports_the_error(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path.parent / "beside"
    (tmp_path / "case").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "case"))
    check(case, tmp_path, capfd)
    assert not beside.exists() and [file.name for file in tmp_path.iterdir()] == ["case"]
    assert not list((tmp_path / "case").iterdir())


@pytest.mark.parametrize(
    "error", [RecursionError(), HTTPClientError(error=RecursionError())], ids=["outside", "inside"]
)
def test_a_redirect_loop_is_named_wherever_the_stack_ends(error: Exception) -> None:
    store = store_at("http://127.0.0.1:9")
    with pytest.raises(NoStore, match="redirects in a loop"), store._in_words("a"):
        raise error
