"""The report of a comparison in a browser."""

import json
from pathlib import Path
from typing import Any

import pytest

from ante.experiments.comparing import prepare, redraw
from ante.experiments.spec import make_spec
from tests.experiments import trainer
from tests.support.browser import chromium

pytestmark = pytest.mark.browser

RULES = {"algo": {"lr": 0.0}, "seed": 0, "games": {"deck": "b_red", "stake": 1}}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a comparison of three entries on two seeds whose last run is missing."""
    folder = tmp_path_factory.mktemp("compare")
    entries = {name: {"settings": {"algo.lr": lr}} for name, lr in (("ppo", 0.08), ("a2c", 0.02), ("sb3-dqn", 0.001))}
    spec = make_spec({"title": "a <b>title", "entries": entries, "steps": 9000, "eval_games": 20, "seeds": [0, 1]})
    for cell in prepare(spec, folder)[:-1]:
        config = cell.config.model_dump(mode="json")
        trainer.make_run(config, 20)
        (cell.folder / "evaluation.json").write_text(
            json.dumps(trainer.report("run", config, 20) | {"steps": config["steps"]})
        )
    (folder / "players.json").write_text(json.dumps([trainer.report(name, RULES, 20) for name in ("random", "greedy")]))
    redraw(folder)
    return folder


def test_the_page_shows_what_was_found(out: Path) -> None:
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((out / "report.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        assert page.inner_text("h1") == "a <b>title"
        assert "1 of 6 runs are not finished" in page.inner_text("#head")
        rows = [node.get_attribute("data-row") for node in page.locator("[data-row]").all()]
        assert rows == ["ppo", "a2c", "sb3-dqn", "random", "greedy"]
        for row in results["rows"]:
            shown = page.inner_text(f"[data-row='{row['name']}'] [data-measure=blinds]")
            assert shown.startswith(f"{row['measures']['blinds']['value']:.2f}")
        for axis in ("steps", "seconds"):
            chart = page.locator(f"[data-curve={axis}-blinds]")
            assert chart.locator("path.curve").count() == 3 and chart.locator("polygon.band").count() == 3
            points = chart.locator("path[data-entry=ppo]").get_attribute("d")[1:].split("L")
            assert len(points) == len(results["bands"][axis]["blinds"]["ppo"]["x"])
            heights = [float(point.split(",")[1]) for point in points]
            assert heights == sorted(heights, reverse=True), "more blinds are plotted higher"
        assert page.locator("[data-cell='sb3-dqn/1'] .missing").count() == 1
        page.set_viewport_size({"width": 420, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == 420
        assert complaints == []
