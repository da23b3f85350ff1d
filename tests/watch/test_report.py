"""The report in a real browser: it opens, filters, steps and plays, and agrees with the engine's record."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.env.text import card_name, item_name, macro_name, number
from ante.watch.episode import read_episode
from ante.watch.gallery import FOLDER, Entry, read_index
from ante.watch.notes import read_notes
from ante.watch.report import REPORT, write_report
from ante.watch.serve import server_of
from tests.support.browser import chromium
from tests.watch.made import LEDGER, make_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of 24 greedy games, two of them with videos, with its report."""
    folder = tmp_path_factory.mktemp("runs") / "a <b>run"
    make_run(folder.with_name("run"), 24)
    folder.with_name("run").rename(folder)
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@contextmanager
def opened(browser: Any, address: str, width: int = 1280) -> Iterator[Any]:
    """Open and render the page; afterwards there must be no console errors."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    # A browser cancels its requests for a video when the user seeks.
    page.on(
        "requestfailed",
        lambda r: None if r.failure == "net::ERR_ABORTED" else complaints.append(f"{r.failure} {r.url}"),
    )
    try:
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        yield page
        assert complaints == []
    finally:
        page.close()


def wait(page: Any, expression: str) -> None:
    """Wait until the expression holds; Playwright's wait evaluates text, which the page's security policy forbids."""
    for _ in range(300):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never true: {expression}")


def filmed(run: Path) -> Entry:
    return next(entry for entry in read_index(run) if "best" in entry.why)


def words(node: Any) -> str:
    return re.sub(r"\s+", " ", node.inner_text()).strip()


def test_it_opens_from_a_file_with_curves_episodes_and_no_complaints(browser: Any, run: Path) -> None:
    with opened(browser, (run / REPORT).as_uri()) as page:
        assert page.title() == "a <b>run · Ante"
        assert page.inner_text("h1") == "a <b>run"
        assert "b_red, stake 1 · mlp policy · ppo · 900k decisions" in words(page.locator("body"))
        blinds = page.locator("[data-curve=blinds]")
        path = blinds.locator("path.line").get_attribute("d")
        assert path.count("L") == 299, "900 iterations in parts of three are 300 points"
        assert blinds.locator("circle").count() == 10
        heights = [float(point.split(",")[1]) for point in path[1:].split("L")]
        assert heights == sorted(heights, reverse=True), "more blinds are plotted higher"
        players = blinds.locator("line.player")
        assert [players.nth(i).get_attribute("data-player") for i in range(players.count())] == ["random", "greedy"]
        assert page.locator("[data-curve=entropy] line.player").count() == 0
        assert "test panel, Red Deck, White Stake" in words(page.locator("#legend"))
        assert page.locator(".episode").count() == 24
        report = json.loads((run / "evaluation.json").read_text())
        assert f"{report['mean_blinds']:.2f}" in page.inner_text("#tiles")


def test_the_ledger_of_hints_is_open_if_there_is_an_alarm(browser: Any, run: Path) -> None:
    with opened(browser, (run / REPORT).as_uri()) as page:
        assert page.inner_text("#hints [role=alert]") == LEDGER["alarm"]
        rows = page.locator("#hints tr").all()
        ledger = dict([words(cell) for cell in row.locator("th, td").all()] for row in rows)
        assert ledger["success rate of the last requests"] == "70 %"
        assert ledger["circuit breaker"] == "half-opened"
        assert ledger["latency of a call, median and p95"] == "0.41 s, 2.25 s"
        assert ledger["results of requests"] == "answered 1,000, timeout 60"
        assert ledger["effect of following llm in play"].startswith("-0.50 ± 0.75 blinds beaten per game, 64 games")


def test_filters_change_the_list(browser: Any, run: Path) -> None:
    entries = read_index(run)
    with opened(browser, (run / REPORT).as_uri()) as page:

        def names() -> set[str]:
            return {node.get_attribute("data-name") for node in page.locator(".episode").all()}

        joker = entries[0].jokers[0]
        page.select_option("[name=joker]", joker)
        assert names() == {entry.name for entry in entries if joker in entry.jokers} != set()
        page.select_option("[name=joker]", "")
        page.select_option("[name=ante]", str(entries[3].ante))
        assert names() == {entry.name for entry in entries if entry.ante == entries[3].ante}
        page.select_option("[name=what]", "video")
        page.select_option("[name=ante]", "")
        assert names() == {entry.name for entry in entries if entry.video}
        page.select_option("[name=what]", "")
        page.fill("[name=seed]", entries[5].seed.lower()[:5])
        assert names() == {entry.name for entry in entries if entry.seed.startswith(entries[5].seed[:5])}
        page.select_option("[name=outcome]", "lost")
        assert page.inner_text("#count") == f"{len(names())} of 24"


def shown(page: Any, field: str, mark: str) -> list[str]:
    return [node.get_attribute(mark) for node in page.locator(f"[data-field={field}] [{mark}]").all()]


def test_the_player_shows_the_record_at_each_step(browser: Any, run: Path) -> None:
    entry = filmed(run)
    _, episode = read_episode(run / FOLDER / entry.replay)
    notes = read_notes(run / FOLDER / str(entry.notes))[1]
    with opened(browser, f"{(run / REPORT).as_uri()}#{entry.name}/0") as page:
        page.wait_for_selector("#slider")
        seen: set[str] = set()
        for k, (before, action, _) in enumerate(episode.walk()):
            if k % 3 == 0:
                page.evaluate(f"show({k})")
                said = macro_name(before, action)
                assert plain(words(page.locator("[data-field=said]"))) == said
                assert words(page.locator("[data-field=money]")) == f"${before.dollars}"
                assert words(page.locator("[data-field=score]")) == number(float(before.chips))
                assert shown(page, "jokers", "data-name") == [
                    item_name(before.jokers[i]) for i in range(before.n_jokers)
                ]
                hand = shown(page, "hand", "data-card")
                if hand:
                    assert hand == [card_name(before.cards[before.hand[i]]) for i in range(before.n_hand)]
                    seen.add("hand")
                wares = shown(page, "row", "data-name")
                if wares:
                    assert set(wares) <= {item_name(before.row[i]) for i in range(before.n_row)}
                    seen.add("shop")
                options = page.locator("[data-field=options] .option").all()
                assert len(options) == len(notes[k].options)
                chance = dict(notes[k].options)[action]
                assert words(page.locator(".option.taken b")) == f"{100 * chance:.0f} %"
                assert words(page.locator("[data-field=value]")) == f"{notes[k].value:.2f}"
        assert seen == {"hand", "shop"}


def plain(text: str) -> str:
    """Return text with suits as letters."""
    return re.sub(r"(10|[2-9JQKA])([♠♥♣♦])", lambda m: m[1].replace("10", "T") + "SHCD"["♠♥♣♦".index(m[2])], text)


def test_keys_slider_and_play_button_move_the_player(browser: Any, run: Path) -> None:
    entry = filmed(run)
    with opened(browser, (run / REPORT).as_uri(), width=400) as page:
        page.click(f"[data-name='{entry.name}']")
        page.wait_for_selector("#slider")
        last = entry.decisions

        def at() -> str:
            return str(page.inner_text("#at"))

        assert at() == f"0 / {last}"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert at() == f"1 / {last}"
        assert page.url.endswith(f"#{entry.name}/1")
        page.keyboard.press("End")
        assert at() == f"{last} / {last}" and "game is over" in page.inner_text("[data-field=said]")
        page.fill("#slider", "3")
        assert at() == f"3 / {last}"
        page.select_option("#speed", "fast")
        page.click("#play")
        wait(page, "player.at >= 5")
        page.click("#play")
        assert page.inner_text("#play") == "Play"
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, "the page fits a phone"
        page.keyboard.press("Escape")
        assert not page.is_visible("#player")


@pytest.mark.parametrize("served", [False, True])
def test_its_video_plays_and_can_be_sought(browser: Any, run: Path, served: bool) -> None:
    entry = filmed(run)
    with server_of(run) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.port}/" if served else (run / REPORT).as_uri()
        with opened(browser, f"{address}#{entry.name}/0") as page:
            page.click("[data-tab=video]")
            assert (
                page.evaluate("document.createElement('video').canPlayType('video/mp4; codecs=\"avc1.64001e\"')") != ""
            )
            page.evaluate("document.querySelector('video').muted = true; document.querySelector('video').play()")
            wait(page, "document.querySelector('video').currentTime > 0.3")
            assert page.evaluate("document.querySelector('video').videoWidth") == 640
            page.evaluate("document.querySelector('video').currentTime = 20")
            wait(page, "document.querySelector('video').currentTime > 20.2")
        server.shutdown()


def test_an_episode_without_notes_explains_how_to_get_them(browser: Any, run: Path) -> None:
    entry = next(entry for entry in read_index(run) if not entry.notes)
    with opened(browser, f"{(run / REPORT).as_uri()}#{entry.name}/2") as page:
        page.wait_for_selector("#slider")
        assert "ante watch RUN --player RUN" in page.inner_text("#mind")
        assert np.isclose(float(page.input_value("#slider")), 2)
