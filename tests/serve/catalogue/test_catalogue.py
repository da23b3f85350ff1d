"""The run catalogue of a store: list, state, reports, videos by ranges, tokens, and a store that fails."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ante.cli.platform.serve_runs import ServeRuns
from ante.http.server import HttpServer
from ante.serve.catalogue.mirror import LARGEST, Mirror
from ante.serve.catalogue.server import catalogue
from ante.serve.tokens import BadAccess, Tokens
from ante.storage.errors import Unreachable
from ante.storage.local import LocalStore
from ante.storage.store import Stat
from ante.watch.index import LiveRuns
from ante.watch.runs import CONFIG, read_run
from tests.serve.catalogue.conftest import VIDEO, ask, basic, rows, serving, until
from tests.watch.test_runs import make

TOKEN = "0123456789abcdef0123"


def test_the_runs_of_a_store_are_listed_with_state_results_and_videos(port: int) -> None:
    until(lambda: len(rows(port)) == 2)
    one, other = rows(port)["one"], rows(port)["group/seed-0"]
    assert (one["state"], one["videos"], one["blinds"]) == ("finished", 1, 3.5)
    assert one["evaluation"] == {"blinds": [12.5, 11.75, 13.25], "wins": [0.25, 0.175, 0.343]}
    assert (other["state"], other["videos"], other["steps"]) == ("active", 0, 2000)


def test_a_run_that_did_not_change_lately_is_unfinished(place: Path, tmp_path: Path) -> None:
    long_ago = time.time() - 86400
    for file in (place / "group").rglob("*.*"):
        os.utime(file, (long_ago, long_ago))
    with serving(LocalStore(place), tmp_path / "copies") as port:
        until(lambda: len(rows(port)) == 2)
        assert rows(port)["group/seed-0"]["state"] == "unfinished"


def test_the_list_follows_the_store(port: int, place: Path) -> None:
    until(lambda: len(rows(port)) == 2)
    make(place / "new", rows=1)
    until(lambda: "new" in rows(port))
    with (place / "new" / "metrics.csv").open("a") as stream:
        stream.write("2,2000,20,120,9.5,0.5,5,2\n")
    until(lambda: rows(port)["new"]["blinds"] == 9.5)

    def is_unchanged() -> bool:  # the store may be read once more between the two requests
        version = json.loads(ask(port, "/live.json")[2])["version"]
        return bool(json.loads(ask(port, f"/live.json?version={version}")[2]) == {"version": version})

    until(is_unchanged)
    shutil.rmtree(place / "new")
    until(lambda: "new" not in rows(port))


def test_two_runs_are_compared_by_curves_and_settings(port: int) -> None:
    until(lambda: len(rows(port)) == 2)
    query = "?run=one&run=group/seed-0&run=../outside"
    curves = json.loads(ask(port, f"/curves.json{query}")[2])
    assert {name: each["columns"]["blinds"] for name, each in curves.items()} == {
        "one": [1.5, 2.5, 3.5],
        "group/seed-0": [1.5, 2.5],
    }
    settings = json.loads(ask(port, f"/settings.json{query}")[2])
    assert settings["algo.lr"] == {"one": 0.0003, "group/seed-0": 0.5}
    assert set(settings) == {"algo.lr"}, "names and folders of runs differ always"


def test_a_report_has_the_files_that_the_list_does_not_need(port: int, place: Path) -> None:
    until(lambda: len(rows(port)) == 2)
    (place / "one" / "machine.json").write_text(json.dumps({"cpu": "a processor"}))
    until(lambda: b"a processor" in ask(port, "/run/one/")[2])
    assert json.loads(ask(port, "/run/one/live.json")[2])["data"]["curves"]["total"]["steps"] == 3000
    assert "trouble" in json.loads(ask(port, "/run/one/traces/none")[2])


@pytest.mark.parametrize(
    ("wanted", "status", "begin", "end"),
    [
        (None, 200, 0, 1280), ("bytes=0-0", 206, 0, 1), ("bytes=10-19", 206, 10, 20), ("bytes=1279-", 206, 1279, 1280),
        ("bytes=-5", 206, 1275, 1280), ("bytes=0-99999", 206, 0, 1280), ("bytes=-99999", 206, 0, 1280),
        ("bytes=1280-", 416, 0, 0), ("bytes=-0", 416, 0, 0), ("bytes=5-2", 416, 0, 0), ("bytes=-", 416, 0, 0),
        ("bytes=0-1,3-4", 416, 0, 0), ("pages=1-2", 416, 0, 0), ("bytes=" + "9" * 30 + "-", 416, 0, 0),
    ],
)  # fmt: skip
def test_videos_are_read_in_parts(port: int, wanted: str | None, status: int, begin: int, end: int) -> None:
    until(lambda: len(rows(port)) == 2)
    headers = {"Range": wanted} if wanted else {}
    found, facts, body = ask(port, "/run/one/episodes/a.mp4", **headers)
    assert found == status
    if status < 300:
        assert body == VIDEO[begin:end]
        assert facts["content-length"] == str(end - begin)
        assert facts.get("content-range") == (f"bytes {begin}-{end - 1}/1280" if wanted else None)
        head = ask(port, "/run/one/episodes/a.mp4", "HEAD", **headers)
        assert head[0] == status and head[2] == b"" and head[1]["content-length"] == facts["content-length"]


def test_a_large_video_is_read_in_blocks(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[int] = []

    def get_part(store: LocalStore, key: str, start: int, length: int) -> bytes:
        parts.append(length)
        return bytes(length)

    (place / "one" / "episodes" / "big.mp4").write_bytes(bytes((5 << 20) // 2))
    monkeypatch.setattr(LocalStore, "get_part", get_part)
    with serving(LocalStore(place), tmp_path / "copies") as port:
        until(lambda: len(rows(port)) == 2)
        assert ask(port, "/run/one/episodes/big.mp4")[2] == bytes((5 << 20) // 2)
    assert parts == [1 << 20, 1 << 20, 1 << 19]


@pytest.mark.parametrize(
    "path",
    ["/run/one/secret.txt", "/run/one/episodes/none.mp4", "/run/one/episodes/..%2fsecret.txt", "/run/none/", "/run/../one/",
     "/run/one/config.yaml", "/run/one/checkpoints/latest.json", "/run/one/episodes/index.json", "/one/episodes/a.mp4"],
)  # fmt: skip
def test_nothing_else_is_served(port: int, path: str) -> None:
    until(lambda: len(rows(port)) == 2)
    status, _, body = ask(port, path)
    assert status == 404 and b"nobody" not in body and b"Traceback" not in body


def test_other_machines_need_a_token(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadAccess, match=r"--host 0\.0\.0\.0 is reachable from other machines: require --token-file"):
        catalogue(LiveRuns(place), "store", host="0.0.0.0")
    monkeypatch.setenv("RUNS_TOKEN", TOKEN)
    names = ("runs.example",)
    with serving(LocalStore(place), tmp_path / "copies", tokens=Tokens(token_env="RUNS_TOKEN"), names=names) as port:
        for header in ("", "Basic", "Basic !!", "Bearer x", basic("x"), f"Digest {TOKEN}", basic(TOKEN + "x")):
            status, facts, body = ask(port, "/live.json", Authorization=header)
            assert (status, b"one" in body) == (401, False)
            assert facts["www-authenticate"].startswith("Basic realm=")
        assert ask(port, "/run/one/episodes/a.mp4")[0] == 401
        assert ask(port, "/healthz")[0] == 200
        for header in (basic(TOKEN), f"Bearer {TOKEN}"):
            assert ask(port, "/live.json", Authorization=header)[0] == 200
        assert ask(port, "/live.json", Authorization=basic(TOKEN), Host="runs.example:80")[0] == 200
        assert ask(port, "/live.json", Authorization=basic(TOKEN), Host="other.example")[0] == 400


def test_a_store_that_fails_is_reported_and_read_again(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, broken = LocalStore.list, [True]

    def list_(store: LocalStore, prefix: str = "") -> Any:
        if broken[0]:
            raise Unreachable("the store does not respond")
        return real(store, prefix)

    def get_part(*_: Any) -> bytes:
        raise Unreachable("the store is at 10.0.0.1")

    monkeypatch.setattr(LocalStore, "list", list_)
    monkeypatch.setattr(LocalStore, "get_part", get_part)
    with serving(LocalStore(place), tmp_path / "copies") as port:
        assert json.loads(ask(port, "/live.json")[2]) == {"trouble": "the store does not respond"}
        assert ask(port, "/")[0] == 200
        broken[0] = False
        until(lambda: "data" in json.loads(ask(port, "/live.json")[2]))
        until(lambda: len(rows(port)) == 2)
        status, _, body = ask(port, "/run/one/episodes/a.mp4")
        assert (status, body) == (502, b"the store does not return this file")


def test_a_run_with_a_file_that_is_too_large_is_named(place: Path, tmp_path: Path) -> None:
    with (place / "one" / "metrics.csv").open("ab") as stream:
        stream.truncate(LARGEST + 1)
    mirror = Mirror(LocalStore(place), tmp_path / "copies")
    mirror.refresh()
    assert mirror.failed == {"one": f"one/metrics.csv has {LARGEST + 1:,} bytes, more than the limit of {LARGEST:,}"}


def test_only_changed_files_are_copied_again(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    real = LocalStore.get_file
    monkeypatch.setattr(LocalStore, "get_file", lambda self, key, file: (copied.append(key), real(self, key, file))[1])
    mirror = Mirror(LocalStore(place), tmp_path / "copies")
    mirror.refresh()
    assert sorted(copied) == [
        "group/seed-0/checkpoints/latest.json", "group/seed-0/config.yaml", "group/seed-0/metrics.csv",
        "one/checkpoints/latest.json", "one/config.yaml", "one/evaluation.json", "one/metrics.csv",
    ]  # fmt: skip
    copied.clear()
    with (place / "one" / "metrics.csv").open("a") as stream:
        stream.write("4,4000,40,240,9.5,0.5,5,4\n")
    mirror.refresh()
    assert copied == ["one/metrics.csv"]
    assert (mirror.folder / "one" / "metrics.csv").read_bytes() == (place / "one" / "metrics.csv").read_bytes()


def test_the_cost_of_a_run_follows_from_its_settings(tmp_path: Path) -> None:
    resources = {"resources.runners": 4, "resources.runner_cpus": 2.0, "resources.learners": 1}
    run = read_run(make(tmp_path / "run", rows=60, **resources))  # one hour
    assert ServeRuns(cpu_hour=0.10).cost(run) == "0.90 USD"
    assert ServeRuns(cpu_hour=0.10, gpu_hour=2.0, currency="EUR").cost(run) == "0.90 EUR"
    assert ServeRuns().cost(run) == ""


class SlowStore:
    """A store of many runs, which notes what is copied."""

    url = "s3://bucket/runs"

    def __init__(self) -> None:
        self.copied = list[str]()

    def list(self, prefix: str) -> Iterator[Stat]:
        return (Stat(f"run{number}/{CONFIG}", 3, None, 1.0) for number in range(200))

    def get_file(self, key: str, file: Path) -> None:
        self.copied.append(key)
        time.sleep(0.05)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}\n")


def test_a_stop_ends_the_copying_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SlowStore()

    def interrupted(_: HttpServer) -> None:
        until(lambda: bool(store.copied))
        raise KeyboardInterrupt

    monkeypatch.setattr("ante.storage.opening.open_store", lambda _: store)
    monkeypatch.setattr(HttpServer, "serve_forever", interrupted)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ServeRuns("s3://bucket/runs", port=0).run() == 0
    copied = len(store.copied)
    time.sleep(0.3)
    assert len(store.copied) == copied < 200 and list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command_serves_until_a_termination_and_leaves_no_copies(place: Path, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "ante.cli", "serve", "runs", str(place), "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        port = int(process.stdout.readline().split()[0].rstrip("/").rpartition(":")[2])
        assert len(rows(port)) == 2
        assert len(list((tmp_path / "tmp").glob("ante-runs-*"))) == 1
        process.terminate()
        process.wait(20)
    assert list((tmp_path / "tmp").glob("ante-runs-*")) == []


@pytest.mark.browser
def test_runs_are_found_sorted_compared_and_watched_in_a_browser(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.browser import chromium

    monkeypatch.setenv("RUNS_TOKEN", TOKEN)
    for name in ("<script>alert(1)<", "na\u00efve"):
        make(place / "made", rows=1).rename(place / name)
    with (
        serving(LocalStore(place), tmp_path / "copies", tokens=Tokens(token_env="RUNS_TOKEN")) as port,
        chromium() as browser,
    ):
        context = browser.new_context(http_credentials={"username": "me", "password": TOKEN})
        page, troubles = context.new_page(), []
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector("tr[data-run='group/seed-0']")
        names = lambda: page.locator("#runs tr[data-run]").evaluate_all("rows => rows.map((row) => row.dataset.run)")  # noqa: E731
        assert len(names()) == 4
        page.fill("#find", "SEED ppo")
        assert names() == ["group/seed-0"]
        page.fill("#find", "")
        page.select_option("#state", "finished")
        assert names() == ["one"]
        page.select_option("#state", "")
        page.click("button[data-sort=steps]")
        assert names()[:2] == ["one", "group/seed-0"]
        for name in names():
            page.set_checked(f"input[data-run='{name}']", name in ("one", "group/seed-0"))
        page.wait_for_selector("#settings tr:has-text('algo.lr'):has-text('0.5')")
        page.wait_for_selector("[data-curve=blinds] path[data-run='group/seed-0']")
        with (place / "one" / "metrics.csv").open("a") as stream:
            stream.write("4,4000,40,240,9.5,0.5,5,4\n")
        page.wait_for_selector("tr[data-run=one]:has-text('9.50')", timeout=5000)
        page.click("a:has-text('group/seed-0')")
        page.wait_for_selector("#live:has-text('follows the run')", timeout=5000)
        assert troubles == []
