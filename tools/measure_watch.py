"""Measure the speed of videos and reports on one core, and print a table, or with --json an object.

    taskset -c 0 .venv/bin/python tools/measure_watch.py

It renders and encodes 300 frames of 640 x 360 as H.264, and opens a report of 200 episodes in Chromium.
`ante replay verify` measures the fidelity and size of replays.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ante.agents.baselines import Baseline
from ante.agents.evaluate import Report, evaluate, panel
from ante.env.replay import Heading
from ante.training.run.videos import keep_games
from ante.training.settings.config import make_config
from ante.watch.episode import Episode, recorded
from ante.watch.render.frames import episode_frames
from ante.watch.render.video import write_video
from ante.watch.report import write_report

FRAMES, EPISODES, TIMES = 300, 200, 5


def timed(work: Callable[[], Any]) -> float:
    """Return the median wall-clock seconds of TIMES repetitions."""
    found = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def measure_video(episode: Episode, place: Path) -> dict[str, float]:
    """Return the seconds for 300 frames, rendered and encoded, and encoded only."""
    frames = [frame for frame, _ in zip(episode_frames(episode), range(FRAMES), strict=False)]
    assert len(frames) == FRAMES
    file = place / "a.mp4"

    def both() -> None:
        write_video(file, (frame for frame, _ in zip(episode_frames(episode), range(FRAMES), strict=False)))

    return {"video_seconds": timed(both), "encoding_seconds": timed(lambda: write_video(file, frames))}


def measure_report(place: Path, report: Report) -> dict[str, float]:
    """Return the seconds to write a report of 200 episodes, its size, and the milliseconds to draw it in Chromium."""
    from playwright.sync_api import sync_playwright

    config = make_config({"name": "seen", "runs": str(place), "videos.select": ()})
    config.folder.mkdir()
    (config.folder / "config.yaml").write_text(config.to_yaml())
    keep_games(config, Baseline("greedy"), report, 1_000_000, final=True)
    begin = time.perf_counter()
    file = write_report(config.folder)
    found = {"report_seconds": time.perf_counter() - begin, "report_megabytes": file.stat().st_size / 1e6}
    drawn, loaded = [], []
    with sync_playwright() as playwright:
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(TIMES):
            page = browser.new_page()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            drawn.append(float(page.get_attribute("html", "data-ready")))
            entry = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
            loaded.append(float(page.evaluate(entry)))
            assert page.inner_text("#count") == f"{EPISODES} of {EPISODES}"
            page.close()
        browser.close()
    return found | {"drawn_ms": statistics.median(drawn), "dom_content_loaded_ms": statistics.median(loaded)}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        report = evaluate(Baseline("greedy"), panel()[:EPISODES])
        longest = max(report.records, key=lambda record: len(record.actions))
        episode = recorded(Heading(longest.seed), longest.actions, discrete=False)
        found = measure_video(episode, place) | measure_report(place, report)
    if chosen.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name:22s} {value:,.2f}".removesuffix(".00"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
