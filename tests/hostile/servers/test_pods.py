"""Requests of a pod before a training, to an LLM endpoint and an API server with arbitrary responses."""

from collections.abc import Callable

import pytest
from kubernetes import client

from ante.deploy.access import Access, NoCluster
from ante.deploy.pod_programs import inside
from ante.deploy.pod_programs.inside import NotReady, check_llm
from tests.hostile.harness import check_sentence
from tests.hostile.servers.answers import Answers, Chunks, endless, raw, reply

KEY = "s3cr3t-key-0123456789"
HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
ANSWERS: dict[str, Chunks] = {
    **{
        f"JSON {body[:20].decode('latin-1')!r}": reply(body)
        for body in (
            b"", b"null", b"[]", b"{}", b'{"data": null}', b'{"data": 3}', b'{"data": [null]}', b'{"data": ["x"]}', b'{"data": [{}]}', b'{"data": "x"}',
            b"[" * 100_000, b"\xff\xfe", b"<html>", b"1" * 5000, b'{"data": [{"id": null}]}', b'{"data": [{"id": "\\u001b[2J"}]}',
            b'{"data": [{"id": "' + KEY.encode() + b'"}]}',
        )
    },
    "redirect": reply(b"", status="302 x", Location="http://127.0.0.1:9/?k=" + KEY),
    "refused with the key": reply(KEY.encode(), status="401 " + KEY),
    "endless": endless(HEAD),
    "long": reply(b" " * (5 << 20)),
    "closed": raw(),
    "no HTTP": raw(b"hello\r\n\r\n"),
    "cut off": reply(b"{", length=100),
    "length in letters": raw(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}"),
    "chunk of no size": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "gzip that is none": reply(b"{}", Content_Encoding="gzip"),
    "endless header": endless(b"HTTP/1.1 200 OK\r\nX: "),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_llm_that_is_none_is_told_in_a_sentence(answering: Callable[..., Answers], name: str) -> None:
    with pytest.raises(NotReady) as refused:
        check_llm({"LLM_ENDPOINT": f"{answering(ANSWERS[name]).url}/v1", "LLM_MODEL": "m", "LLM_API_KEY": KEY})
    check_sentence(str(refused.value), "check LLM_ENDPOINT" if "serves" not in str(refused.value) else "set llm.model")
    assert KEY not in str(refused.value)


def test_a_slow_response_times_out(answering: Callable[..., Answers], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "SECONDS", 0.5)
    with pytest.raises(NotReady, match="returned more than"):
        check_llm({"LLM_ENDPOINT": f"{answering(endless(HEAD, b' '), pause=0.05).url}/v1"})


@pytest.mark.parametrize(
    "body", [b"<html>", b"\xff\xfe", b"[" * 100_000, b"1" * 5000, b"null", b"[]", b"{}", b'{"major": "x", "minor": 3}']
)
def test_an_api_server_that_is_none_is_told_in_a_sentence(answering: Callable[..., Answers], body: bytes) -> None:
    access = Access(client.ApiClient(client.Configuration(host=answering(reply(body)).url)))
    with pytest.raises(NoCluster) as refused:
        access.version()
    check_sentence(str(refused.value), "is it a Kubernetes API server?")
