"""A page that follows its run: new rows, a missing folder, half-written files, and requests within the interval."""

import json
import shutil
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ante.watch.gallery import read_index
from ante.watch.live import LiveRun
from ante.watch.report import read_report, write_report
from ante.watch.serve import server_of
from tests.watch.made import COLUMNS, make_run

pytestmark = pytest.mark.slow

ROW = ",".join(str(value) for value in (901, 901_000, 10_900, 640, 1400, 3.1, 4.1, 23.5, 0.2, 1.0, "nan"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    make_run(folder, 2, videos=())
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def add(run: Path, text: str) -> None:
    with (run / "metrics.csv").open("a") as stream:
        stream.write(text)


def test_a_new_row_and_a_new_checkpoint_are_changes(run: Path) -> None:
    live = LiveRun(run, seconds=0)
    first = live.changes()
    assert first["data"]["curves"]["total"]["iteration"] == 900
    assert live.changes(first["version"]) == {"version": first["version"]}, "nothing changed"
    add(run, ROW + "\n")
    second = live.changes(first["version"])
    assert second["data"]["curves"]["total"] == {"steps": 901_000, "games": 10_900, "seconds": 640, "iteration": 901}
    (run / "checkpoints").mkdir()
    (run / "checkpoints" / "latest.json").write_text('{"checkpoint": "000000901000"}')
    assert live.changes(second["version"])["data"]["checkpoint"] == "000000901000"


def test_a_half_written_row_is_left_out_until_it_is_complete(run: Path) -> None:
    live = LiveRun(run, seconds=0)
    before = live.changes()["version"]
    add(run, ROW[:20])
    assert live.changes(before) == {"version": before}
    add(run, ROW[20:] + "\n")
    assert live.changes(before)["data"]["curves"]["total"]["iteration"] == 901


def test_a_missing_folder_is_a_sentence_until_it_is_back(run: Path) -> None:
    live = LiveRun(run, seconds=0)
    before = live.changes()["version"]
    run.rename(run.with_name("away"))
    assert "is not the folder of a run" in live.changes(before)["trouble"]
    run.with_name("away").rename(run)
    assert live.changes(before) == {"version": before}
    (run / "episodes" / "index.json").write_text("{")
    assert "invalid JSON" in live.changes(before)["trouble"]


def test_many_pages_cause_one_download_per_interval(run: Path) -> None:
    downloads: list[None] = []
    live = LiveRun(run, seconds=3600, update=lambda: downloads.append(None))
    answers = [live.changes() for _ in range(20)]
    assert len(downloads) == 1
    assert len({answer["version"] for answer in answers}) == 1


def test_the_steps_of_a_new_episode_are_those_of_the_report(run: Path) -> None:
    name = read_index(run)[0].name
    report = read_report(run)
    assert LiveRun(run).trace(name)["trace"] == report.traces[name]
    assert "no longer" in LiveRun(run).trace("no-such-game")["trouble"]


def test_only_the_served_page_may_send_requests(run: Path, tmp_path: Path) -> None:
    static = write_report(run).read_text()
    served = read_report(run).write(tmp_path / "page.html", poll_seconds=2.0).read_text()
    for text, follows in ((static, False), (served, True)):
        policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
        assert ("connect-src" in policy, "fetch(" in text, '"live":2.0' in text) == (follows,) * 3


@pytest.fixture
def address(run: Path, tmp_path: Path) -> Iterator[str]:
    live = LiveRun(run, seconds=0.2)
    page = read_report(run).write(tmp_path / "report.html", live.seconds)
    with server_of(run, report=page, live=live) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.port}/"
        server.shutdown()


def asked(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def test_the_server_sends_changes_and_steps(address: str, run: Path) -> None:
    found = asked(f"{address}live.json")
    assert [row["name"] for row in found["data"]["episodes"]] == [entry.name for entry in reversed(read_index(run))]
    assert asked(f"{address}live.json?version={found['version']}") == {"version": found["version"]}
    assert "trouble" in asked(f"{address}traces/no-such-game")


@pytest.mark.browser
def test_a_page_shows_a_new_row_without_a_reload(address: str, run: Path) -> None:
    from tests.support.browser import chromium

    with chromium() as browser:
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("#live:has-text('update 900')")
        marks = page.locator("[data-curve=win_rate] text[text-anchor=end]:not(.player)").all_text_contents()
        assert len(set(marks)) == len(marks) > 1, "each mark has its own text"
        before = page.get_attribute("[data-curve=blinds] path.line", "d")
        add(run, ROW + "\n")
        page.wait_for_selector("#live:has-text('update 901')", timeout=5000)
        assert page.get_attribute("[data-curve=blinds] path.line", "d") != before
        assert "901k" in page.inner_text("#tiles")
        run.rename(run.with_name("away"))
        page.wait_for_selector("#live.lost:has-text('cannot be read')", timeout=5000)
        run.with_name("away").rename(run)
        page.wait_for_selector("#live:not(.lost):has-text('update 901')", timeout=5000)
        assert page.evaluate("performance.getEntriesByType('navigation').length") == 1
        rare = [",".join(map(str, (i, i * 1000, i * 12, i, 1400, 1, 1, 1, i / 1e5, 1, "nan"))) for i in range(1, 501)]
        (run / "metrics.csv").write_text("\n".join([",".join(COLUMNS), *rare]) + "\n")
        page.wait_for_selector("#live:has-text('update 500')", timeout=5000)
        marks = page.locator("[data-curve=win_rate] text[text-anchor=end]:not(.player)").all_text_contents()
        assert marks == ["0.0 %", "0.2 %", "0.4 %"]
        (run / "metrics.csv").write_text(",".join(COLUMNS) + "\n")
        page.wait_for_selector("#curves:has-text('No metrics yet.')", timeout=5000)
