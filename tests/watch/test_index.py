"""The page of all runs: list, curves, reports, and what the server refuses."""

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ante.cli import outcome
from ante.files import FOLDER_LOCK, held
from ante.watch.index import LiveRuns, index_page, index_server
from tests.watch.test_runs import HEAD, make


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    make(folder / "one", rows=3, saved=3, evaluated=True)
    make(folder / "group" / "seed-0", rows=2)
    episodes = folder / "one" / "episodes"
    episodes.mkdir()
    (episodes / "a.mp4").write_bytes(b"film")
    (episodes / "secret.mp4").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("secret")
    outside = make(tmp_path / "outside")
    (folder / "linked").symlink_to(outside)
    return folder


@pytest.fixture
def port(runs: Path) -> Iterator[int]:
    with index_server(runs, seconds=0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.port)
        server.shutdown()


def ask(port: int, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.headers.items()), body


def asked(port: int, path: str) -> Any:
    return json.loads(ask(port, path)[2])


def test_the_list_follows_the_runs(runs: Path) -> None:
    live = LiveRuns(runs, seconds=0)
    first = live.changes()
    assert {row["name"]: row["state"] for row in first["data"]["runs"]} == {
        "one": "finished",
        "group/seed-0": "stopped",
    }
    assert live.changes(first["version"]) == {"version": first["version"]}, "nothing changed"
    with (runs / "one" / "metrics.csv").open("a") as stream:
        stream.write("4,4000,40,240,9.5,0.5,5,4\n")
    second = live.changes(first["version"])
    assert {row["name"]: row["blinds"] for row in second["data"]["runs"]} == {"one": 9.5, "group/seed-0": 2.5}
    with held(runs / "one" / FOLDER_LOCK):
        third = live.changes(second["version"])
        assert {row["name"]: row["state"] for row in third["data"]["runs"]}["one"] == "running"
    (runs / "one" / "metrics.csv").write_text(HEAD + "x,1,1,1,1,1,1,1\n")
    assert "column 'iteration'" in live.changes()["data"]["others"]["one"]
    runs.rename(runs.with_name("away"))
    assert "there is no folder" in live.changes()["trouble"]


def test_the_server_sends_pages_lists_and_curves(port: int) -> None:
    status, headers, body = ask(port, "/")
    assert status == 200 and b"Comparison" in body
    meta = body.decode().partition('Content-Security-Policy" content="')[2].partition('"')[0]
    own = meta.partition("script-src ")[2].partition(";")[0]
    for sent in (headers["content-security-policy"], meta):
        assert own in sent and "default-src 'none'" in sent and "connect-src 'self'" in sent
    found = asked(port, "/live.json")
    assert asked(port, f"/live.json?version={found['version']}") == {"version": found["version"]}
    curves = asked(port, "/curves.json?run=one&run=group/seed-0&run=none&run=../outside")
    assert {name: each["columns"]["blinds"] for name, each in curves.items()} == {
        "one": [1.5, 2.5, 3.5],
        "group/seed-0": [1.5, 2.5],
    }


def test_each_run_has_its_live_report(port: int) -> None:
    status, headers, body = ask(port, "/run/group/seed-0/")
    assert status == 200 and b"<title>seed-0" in body
    script = body.decode().partition("script-src ")[2].partition(";")[0]
    assert script in headers["content-security-policy"]
    assert asked(port, "/run/group/seed-0/live.json")["data"]["curves"]["total"]["steps"] == 2000
    assert "trouble" in asked(port, "/run/one/traces/none")
    assert ask(port, "/run/one/episodes/a.mp4")[2] == b"film"


@pytest.mark.parametrize(
    "path",
    [
        "/run/none/",
        "/run/../outside/",
        "/run/%2e%2e/outside/live.json",
        "/run/linked/",
        "/run/one/episodes/secret.mp4",
        "/run/one/episodes/..%2f..%2f..%2fsecret",
        "/run/one/episodes/index.json",
        "/run/one/config.yaml",
        "/runs/one/config.yaml",
    ],
)
def test_nothing_else_is_served(port: int, path: str) -> None:
    status, _, body = ask(port, path)
    assert status == 404 and b"secret" not in body


def test_another_host_name_is_refused(port: int) -> None:
    assert ask(port, "/live.json", Host="evil.example")[0] == 400


def test_a_name_cannot_leave_the_data_element() -> None:
    assert "</script><b>" not in index_page("</script><b>", 2.0, {})


def test_without_a_run_watch_needs_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(["watch"]) == 2 and "ante watch --serve for all runs" in capsys.readouterr().err
    assert outcome(["watch", "--serve"]) == 2 and "runs does not exist" in capsys.readouterr().err


@pytest.mark.browser
def test_chosen_runs_are_drawn_in_one_plot_and_a_new_row_appears(port: int, runs: Path) -> None:
    from tests.support.browser import chromium

    with chromium() as browser:
        page = browser.new_page()
        troubles: list[str] = []
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector("[data-curve=blinds] path[data-run='group/seed-0']")
        assert page.locator("[data-curve=blinds] path.line").count() == 2
        page.uncheck("input[data-run='group/seed-0']")
        page.wait_for_selector("[data-curve=blinds] path[data-run='group/seed-0']", state="detached")
        with (runs / "one" / "metrics.csv").open("a") as stream:
            stream.write("4,4000,40,240,9.5,0.5,5,4\n")
        page.wait_for_selector("tr[data-run=one]:has-text('9.50')", timeout=5000)
        page.click("a:has-text('group/seed-0')")
        page.wait_for_selector("#live:has-text('follows the run: update 2')", timeout=5000)
        assert troubles == []
