"""Notifications at the end of a training, to a real HTTP server: contents, retries, limits, and no effect on the training."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ante.errors import BalatroError
from ante.training.settings.config import TrainConfig, make_config
from ante.training.tracking import webhook
from ante.training.tracking.webhook import notifying
from tests.watch.test_runs import make


class Hook(BaseHTTPRequestHandler):
    """A webhook that sends the given statuses in turn, then the last one again and again."""

    statuses: list[int]
    received: list[dict[str, Any]]
    pause = 0.0

    def log_message(self, *_: Any) -> None: ...

    def do_POST(self) -> None:
        self.received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        time.sleep(self.pause)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        self.send_response(status, "no" if status != 200 else None)
        self.send_header("Location", "http://127.0.0.1:9/other")
        self.send_header("Content-Length", str(1 << 40))  # its body never comes
        self.end_headers()


@contextmanager
def hook(*statuses: int, pause: float = 0.0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve a webhook; yield its URL, which contains a secret, and what it received."""
    handler = type("Bound", (Hook,), {"statuses": list(statuses), "received": [], "pause": pause})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hooks/a-secret-part", handler.received
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry at once."""
    monkeypatch.setattr(webhook, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(webhook, "TIMEOUT", (0.3, 0.3))


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    """Write a run with metrics and an evaluation."""
    make(tmp_path / "first", rows=3, evaluated=True)
    return make_config({"name": "first", "runs": str(tmp_path), "steps": 4000, "store": "s3://games/runs"})


def end(url: str, config: TrainConfig, state: Any = "finished") -> list[str]:
    """End a training; return what is printed."""
    said: list[str] = []
    with notifying(url, config, said.append) as notice:
        notice.state = state
    return said


def test_the_end_is_sent_with_figures_and_a_sentence(config: TrainConfig) -> None:
    with hook(200) as (url, received):
        assert end(url, config) == []
    (message,) = received
    assert message["text"] == "training first finished at 3,000 of 4,000 steps, evaluation: 25.0% wins"
    assert {name: message[name] for name in ("run", "state", "store", "steps", "win_rate", "evaluated_win_rate", "error")} == {
        "run": "first", "state": "finished", "store": "s3://games/runs", "steps": 3000.0, "win_rate": 0.03,
        "evaluated_win_rate": 0.25, "error": "",
    }  # fmt: skip


def test_a_failure_is_sent_without_secrets_and_raised(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "sesame-sesame")
    with hook(200) as (url, received), pytest.raises(BalatroError, match="no space"), notifying(url, config, print):
        raise BalatroError("no space, says sesame-sesame at http://me:pw@store/x")
    assert received[0]["state"] == "failed"
    assert received[0]["error"] == "BalatroError: no space, says *** at http://***@store/x"


def test_nothing_is_sent_without_a_url_or_a_state(config: TrainConfig) -> None:
    with hook(200) as (url, received):
        assert end("", config) == end(url, config, "") == []
        assert received == []


def test_a_server_that_recovers_receives_it(config: TrainConfig) -> None:
    with hook(503, 429, 200) as (url, received):
        assert end(url, config) == []
        assert len(received) == 3


@pytest.mark.parametrize(
    ("status", "requests", "why"),
    [
        (500, 3, "no notification was sent after 3 attempts: the server answered 500"),
        (404, 1, "no notification was sent: the server answered 404 no"),
        (302, 1, "no notification was sent: the server answered 302 no"),
    ],
)
def test_a_server_that_refuses_is_reported_without_the_url(
    config: TrainConfig, status: int, requests: int, why: str
) -> None:
    with hook(status) as (url, received):
        assert end(url, config) == [why]
        assert len(received) == requests


def test_a_slow_server_costs_a_bounded_time(config: TrainConfig) -> None:
    with hook(200, pause=2.0) as (url, _):
        begin = time.monotonic()
        assert end(url, config) == [
            "no notification was sent after 3 attempts: the server does not respond (ReadTimeout)"
        ]
        assert time.monotonic() - begin < 2.0


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/secret", "ftp://x/secret", "secret", "http://x y/secret", "http://[::1/secret"]
)
def test_a_bad_address_is_reported_without_it(config: TrainConfig, url: str) -> None:
    (why,) = end(url, config)
    assert why.startswith("no notification was sent") and "secret" not in why


def test_a_run_without_files_has_a_notification_too(tmp_path: Path) -> None:
    config = make_config({"name": "none", "runs": str(tmp_path)})
    with hook(200) as (url, received):
        end(url, config, "stopped")
    assert received[0]["text"] == "training none stopped"


def test_the_training_sends_how_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.training.run import loop

    config = make_config({"name": "first", "runs": str(tmp_path)})
    with hook(200) as (url, received):
        monkeypatch.setattr(loop, "run", lambda *_: "stopped")
        loop.train(config, webhook=url)

        def fail(*_: Any) -> None:
            raise RuntimeError("the driver crashed")

        monkeypatch.setattr(loop, "run", fail)
        with pytest.raises(RuntimeError):
            loop.train(config, webhook=url)
    assert [(each["state"], each["error"]) for each in received] == [
        ("stopped", ""),
        ("failed", "RuntimeError: the driver crashed"),
    ]
