"""Output of the pod of `helm test`, against servers with valid and invalid responses."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ante.deploy.pod_programs import inside
from ante.deploy.pod_programs.inside import NotReady, check_llm, check_operator, main


@contextmanager
def server(answers: dict[str, Any], key: str = "") -> Iterator[str]:
    """A server that returns JSON by path, 404 for others, and requires a key if it has one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = not key or self.headers.get("Authorization") == f"Bearer {key}"
            status = 401 if not allowed else 200 if self.path in answers else 404
            body = json.dumps(answers.get(self.path)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{found.server_port}"
    finally:
        found.shutdown()
        found.server_close()
        thread.join()


MODELS = {"/v1/models": {"object": "list", "data": [{"id": "small"}, {"id": "large"}]}}


def test_an_llm_that_serves_the_model_is_fine_and_others_are_told_apart() -> None:
    with server(MODELS, key="word") as url:
        asked = {"LLM_ENDPOINT": f"{url}/v1/", "LLM_MODEL": "large", "LLM_API_KEY": "word"}
        assert check_llm(asked) == f"{url}/v1 serves large"
        with pytest.raises(NotReady, match=r"serves small, large, not huge: set llm\.model"):
            check_llm(asked | {"LLM_MODEL": "huge"})
        with pytest.raises(NotReady, match="returned status 401") as refused:
            check_llm(asked | {"LLM_API_KEY": "secret-of-mine"})
        assert "secret-of-mine" not in str(refused.value)
        with pytest.raises(NotReady, match="returned status 404: check LLM_ENDPOINT"):
            check_llm(asked | {"LLM_ENDPOINT": url})
    with pytest.raises(NotReady, match="does not respond"):
        check_llm(asked)
    with server({"/v1/models": ["no"]}) as url, pytest.raises(NotReady, match="does not return a list of models"):
        check_llm({"LLM_ENDPOINT": f"{url}/v1"})


def test_an_operator_without_jobs_is_not_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("word\n")
    kinds = [{"kind": "RayCluster"}, {"kind": "RayJob"}]
    get_json = inside.get_json
    monkeypatch.setattr(inside, "get_json", lambda url, *rest: get_json(url.replace("https:", "http:"), *rest[:2]))
    for known, words in ((kinds, None), (kinds[:1], "ray.io/v1 lacks RayJob")):
        with server({"/apis/ray.io/v1": {"resources": known}}, key="word") as url:
            host, _, port = url.removeprefix("http://").partition(":")
            place = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
            if words is None:
                assert check_operator(place, tmp_path) == "ray.io/v1 has RayCluster and RayJob"
                continue
            with pytest.raises(NotReady, match=words):
                check_operator(place, tmp_path)


def test_a_line_for_each_check_and_one_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = f"file://{tmp_path}/store"
    assert main([folder], {}) == 0
    assert capsys.readouterr().out.startswith("ok      bucket")
    assert list((tmp_path / "store").rglob("*preflight/*")) == []  # all files are removed
    with server(MODELS) as url:
        assert main([folder], {"LLM_ENDPOINT": f"{url}/v1", "LLM_MODEL": "huge"}) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed] == [["ok", "bucket"], ["FAILED", "LLM"]]
    assert main(["s3://x/y"], {}) == 1
    assert main([], {}) == 2
