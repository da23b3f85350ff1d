"""The servers of live pages, of one run and of a folder of runs, with hostile clients and hostile runs."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ante.http import server as http_server
from ante.watch.index import MOST_COMPARED, index_server
from ante.watch.live import LiveRun
from ante.watch.report import read_report
from ante.watch.serve import server_of
from tests.hostile.runs import EVALUATION, settings, write_example
from tests.hostile.servers.test_servers import HOSTS, NOT_HTTP, NOTHING_THERE, OUTSIDE, get, said, status

NAMES = ("<script>alert(1)<", "quo\"te'", "sp ace", "50%25", "na\u00efve", "a#b?c", "\u202eevil", "new\nline", "\udcff", "..dots", "{{data}}")  # fmt: skip


def broken(runs: Path) -> None:
    """Write runs whose files are odd."""
    odd: dict[str, tuple[str, bytes]] = {
        "not-finite": ("evaluation.json", json.dumps({**EVALUATION, "player": float("nan"), "games": float("inf")}).encode()),
        "list": ("config.yaml", b"- 1\n"),
        "date": ("config.yaml", json.dumps({**settings(), "x": 1}).encode()[:-1] + b', "steps2": 2020-01-01}'),
        "surrogate": ("config.yaml", json.dumps({**settings(), "seed": "\ud800"}).encode()),
        "no-steps": ("metrics.csv", b"iteration,steps,games,seconds\n1,,3,2.5\n"),
        "rank": ("episodes/index.json", json.dumps({"version": 1, "episodes": [{"highlights": {"best_poker_hand": 99}}]}).encode()),
        "deep": ("hints/ledger.json", b"[" * 100_000),
    }  # fmt: skip
    for name, (file, data) in odd.items():
        write_example(runs / name)
        (runs / name / file).write_bytes(data)
    write_example(runs / "pipe", "metrics.csv")
    os.mkfifo(runs / "pipe" / "metrics.csv")
    write_example(runs / "device", "evaluation.json")
    (runs / "device" / "evaluation.json").symlink_to("/dev/zero")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("live")
    found = place / "runs"
    write_example(place / "outside")
    (place / "outside" / "metrics.csv").write_bytes(OUTSIDE)
    (place / "outside.mp4").write_bytes(OUTSIDE)
    write_example(found / "good")
    (found / "good" / "episodes" / "link.mp4").symlink_to(place / "outside.mp4")
    (found / "linked").symlink_to(place / "outside")
    for name in NAMES:
        write_example(found / name)
    broken(found)
    return found


@pytest.fixture(scope="module")
def servers(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    run, page = runs / "good", tmp_path_factory.mktemp("page") / "report.html"
    read_report(run).write(page, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_server, "REQUEST_SECONDS", 1.0)
        with index_server(runs) as every, server_of(run, report=page, live=LiveRun(run)) as one:
            for each in (every, one):
                threading.Thread(target=each.serve_forever, daemon=True).start()
            yield {"every": every.port, "one": one.port}
            every.shutdown()
            one.shutdown()


def body(answer: bytes) -> Any:
    """Return the JSON of a response, which has no numbers that JSON lacks."""
    assert status(answer) == 200, answer[:300]

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(answer.partition(b"\r\n\r\n")[2], parse_constant=refuse)


def test_hostile_runs_neither_stop_the_list_nor_hide_the_others(servers: dict[str, int], runs: Path) -> None:
    data = body(said(servers["every"], get(b"/live.json")))["data"]
    listed = {run["name"] for run in data["runs"]}
    assert listed >= {"good", "na\u00efve", "sp ace", "no-steps", "rank", "deep"}
    assert {"list", "pipe", "device", "surrogate"} <= set(data["others"]) and "linked" not in listed | set(data["others"])
    for name in (*listed, *data["others"]):
        path = quote(name.encode(errors="surrogateescape")).encode()
        for page in (b"/", b"/live.json", b"/traces/x", b"/traces/000000000100-A"):
            answer = said(servers["every"], get(b"/run/" + path + page))
            assert status(answer) in (200, 404), (name, page, answer[:200])
            assert b"Traceback" not in answer and OUTSIDE not in answer and b"<script>alert" not in answer
            if status(answer) == 200 and page != b"/":
                body(answer)


ELSEWHERE = [
    b"/run/good", b"/run//", b"/run/../outside/", b"/run/good/../../outside/", b"/run/%2e%2e/outside/", b"/run/..%2foutside/live.json",
    b"/run/linked/", b"/run/linked/live.json", b"/run/nothing/live.json", b"/run/good/episodes/link.mp4", b"/run/good/episodes/..%2fconfig.yaml",
    b"/run/good/episodes/index.json", b"/run/good/config.yaml", b"/run/good/metrics.csv", b"/run/" + b"a/" * 3000 + b"live.json", b"/run/%ff/",
    b"/run/good%00/", b"/live.json/", b"/live.json/x", b"/curves.json/..", b"/traces/x",
]  # fmt: skip


@pytest.mark.parametrize("path", [*ELSEWHERE, *NOTHING_THERE], ids=lambda path: path[:40].decode("latin-1"))
def test_nothing_else_is_served(servers: dict[str, int], path: bytes) -> None:
    answer = said(servers["every"], get(path))
    assert status(answer) == 404 and OUTSIDE not in answer and b"root:" not in answer and b"Traceback" not in answer


QUERIES = [b"version=" + b"x" * 8000, b"version=%ff%00", b"version[]=1", b"&" * 5000, b"version=1&version=2", b"%", b"run=../outside", b"run=/etc",
           b"run=linked", b"&".join([b"run=good"] * 900), b"run=good&run=list&run=pipe"]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:20].decode("latin-1"))
def test_queries_are_data(servers: dict[str, int], query: bytes) -> None:
    for name, path in (("every", b"/live.json"), ("one", b"/live.json"), ("every", b"/curves.json")):
        found = body(said(servers[name], get(path + b"?" + query)))
        assert path != b"/curves.json" or (len(found) <= MOST_COMPARED and set(found) <= {"good"})


@pytest.mark.parametrize("name", [b"x", b"..", b"..%2f..%2foutside", b"%00", b"a" * 4000, b"%ff", b"%3Cscript%3E"])
def test_the_steps_of_no_episode_are_a_sentence(servers: dict[str, int], name: bytes) -> None:
    answer = said(servers["one"], get(b"/traces/" + name))
    assert status(answer) == 404 or set(body(answer)) == {"trouble"}


@pytest.mark.parametrize("server", ["every", "one"])
@pytest.mark.parametrize("data", NOT_HTTP, ids=range(len(NOT_HTTP)))
def test_what_is_no_request_is_refused(servers: dict[str, int], server: str, data: bytes) -> None:
    answer = said(servers[server], data)
    assert status(answer) in (0, 400, 404, 501) and b"Traceback" not in answer


@pytest.mark.parametrize("server", ["every", "one"])
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.decode("latin-1") or "none")
def test_other_hosts_are_refused(servers: dict[str, int], server: str, host: bytes) -> None:
    request = b"GET /live.json HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n"
    assert status(said(servers[server], request)) == 400


@pytest.mark.parametrize("server", ["every", "one"])
@pytest.mark.parametrize("method", [b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"FOO"])
def test_other_methods_are_refused(servers: dict[str, int], server: str, method: bytes) -> None:
    for path in (b"/", b"/live.json"):
        assert status(said(servers[server], get(path, b"Content-Length: 0", method=method))) == 405
