"""Checks that run in a pod, against a real HTTP server and a missing S3 server."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ante.deploy.checks import inside

NOBODY = {"S3_BUCKET_NAME": "games", "S3_ENDPOINT_URL": "http://127.0.0.1:9", "S3_ACCESS_KEY_ID": "a",
          "S3_SECRET_ACCESS_KEY": "HIDDEN"}  # fmt: skip


class Llm(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == "Bearer right"
        data = json.dumps({"data": [{"id": "small"}]}).encode() if known else b"{}"
        self.send_response(200 if known else 401)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def llm() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Llm)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("model", "key", "state", "words"),
    [
        ("small", "right", "ok", "serves small"),
        ("large", "right", "fail", "not large"),
        ("small", "wrong", "fail", "401"),
    ],
)
def test_the_llm_is_asked_for_its_models(llm: str, model: str, key: str, state: str, words: str) -> None:
    found = list(inside({**NOBODY, "LLM_ENDPOINT": llm, "LLM_MODEL": model, "LLM_API_KEY": key}))
    assert [check.name for check in found] == ["bucket", "llm"]
    assert (found[1].state, words in found[1].words) == (state, True)
    assert "right" not in found[1].words


def test_a_bucket_that_does_not_answer_is_red_and_hides_the_keys() -> None:
    (found,) = inside(NOBODY)
    assert (found.name, found.state) == ("bucket", "fail")
    assert "127.0.0.1:9" in found.words
    assert "HIDDEN" not in str(found)
    (found,) = inside({"S3_BUCKET_NAME": ""})
    assert found.state == "fail"
