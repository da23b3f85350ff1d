"""Highlights in the folder of a run: which games are written, replaced and kept, and how the report shows them."""

import os
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.env.replay import Heading
from ante.training.settings.config import TrainConfig
from ante.watch.episode import fingerprint, read_episode
from ante.watch.gallery import FOLDER, add_episodes, read_index
from ante.watch.highlights import described
from ante.watch.report import first_of, read_report
from tests.watch.made import make_run

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


@pytest.fixture
def run(tmp_path: Path) -> TrainConfig:
    """Return a run with the two games of an evaluation."""
    return make_run(tmp_path / "run", 2, videos=())


def keep(config: TrainConfig, steps: int, **figures: dict[str, float]) -> list[str]:
    """Offer games of greedy with these figures by seed; return the names of the highlights afterwards."""
    from ante.training.run.highlights import keep_highlights
    from ante.training.sampling.highlights import BestGames, PlayedGame

    best, player = BestGames(), Baseline("greedy")
    records = evaluate(player, list(figures)).records if figures else ()
    games = [
        PlayedGame(Heading(record.seed), np.array(record.actions), player.discrete, record.reward, figures[record.seed])
        for record in records
    ]
    best.add(games)
    keep_highlights(config, best, steps)
    return [entry.name for entry in read_index(config.folder) if entry.highlights]


def test_better_games_replace_highlights_and_others_change_nothing(run: TrainConfig) -> None:
    played = [entry for entry in read_index(run.folder) if not entry.highlights]
    assert keep(run, 100, ABCDEFGH={"highest_hand": 50.0, "most_blinds": 3.0, "win:b_red:1": 1.0}) == [
        "train-000000000100-ABCDEFGH"
    ]
    both = ["train-000000000100-ABCDEFGH", "train-000000000200-7LB2WVPK"]
    assert keep(run, 200, **{"7LB2WVPK": {"highest_hand": 60.0, "most_blinds": 3.0, "win:b_red:1": 1.0}}) == both
    one, two = (entry for entry in read_index(run.folder) if entry.highlights)
    assert (one.highlights, two.highlights) == ({"most_blinds": 3.0, "win:b_red:1": 1.0}, {"highest_hand": 60.0})
    before = {file: file.stat().st_mtime_ns for file in (run.folder / FOLDER).iterdir()}
    assert keep(run, 300, **{"2K9H9HN": {"highest_hand": 60.0}}) == both and keep(run, 300) == both
    assert {file: file.stat().st_mtime_ns for file in (run.folder / FOLDER).iterdir()} == before
    assert keep(run, 400, **{"2K9H9HN": {"highest_hand": 61.0}}) == [both[0], "train-000000000400-2K9H9HN"]
    entries = read_index(run.folder)
    assert [entry for entry in entries if not entry.highlights] == played
    files = {file.name for file in (run.folder / FOLDER).iterdir()}
    assert files == {"index.json", *(name for entry in entries for name in entry.files)}


def test_the_least_figure_wins_where_a_rule_says_so(run: TrainConfig) -> None:
    keep(run, 100, ABCDEFGH={"shortest_win": 200.0, "fewest_jokers": 3.0})
    assert len(keep(run, 200, **{"7LB2WVPK": {"shortest_win": 190.0, "fewest_jokers": 4.0}})) == 2
    assert [entry.highlights for entry in read_index(run.folder) if entry.highlights] == [
        {"fewest_jokers": 3.0},
        {"shortest_win": 190.0},
    ]


def test_highlights_replay_and_outlive_the_limits(run: TrainConfig) -> None:
    names = keep(run, 100, ABCDEFGH={"most_blinds": 2.0}, **{"7LB2WVPK": {"longest_game": 9.0}})
    assert len(names) == 2
    entries = add_episodes(run.folder, [], 1, 1)
    assert [entry.name for entry in entries] == names, "evaluations are deleted, highlights are not"
    for entry in entries:
        heading, episode = read_episode(run.folder / FOLDER / entry.replay)
        assert (heading, fingerprint(episode.end())) == (entry.heading, entry.state)
        assert (entry.decisions, entry.steps, entry.final) == (len(episode.actions), 100, False)


def test_the_report_names_highlights_and_plays_them_step_by_step(run: TrainConfig) -> None:
    (name,) = keep(run, 100, ABCDEFGH={"most_blinds": 2.0, "win:b_blue:3": 1.0, "best_poker_hand": 12.0})
    assert name in [entry.name for entry in first_of(read_index(run.folder), 2)], (
        "a video comes first, then the highlight"
    )
    report = read_report(run.folder, quote)
    rows = {row["name"]: row["highlights"] for row in report.data["episodes"]}
    assert rows[name] == ["most blinds: 2", "first win (b_blue, stake 3)", "win with the best poker hand: Flush Five"]
    assert name in report.traces and [] in rows.values()
    assert described("win:c_omelette_1", 1.0) == "first win (c_omelette_1)"
    assert described("a rule of a later version", 1.0) == "a rule of a later version"


@pytest.mark.browser
def test_a_browser_shows_highlights_with_their_reasons(run: TrainConfig, tmp_path: Path) -> None:
    from tests.support.browser import chromium

    keep(run, 100, ABCDEFGH={"most_blinds": 2.0, "highest_hand": 12345.0})
    file = read_report(run.folder, quote).write(run.folder / "report.html")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.select_option("select[name=what]", "training")
        (card,) = page.query_selector_all(".episode")
        assert "ABCDEFGH" in card.inner_text()
        assert [each.inner_text() for each in card.query_selector_all(".why")] == [
            "training",
            "most blinds: 2",
            "highest hand: 12,345",
        ]
        card.click()
        page.wait_for_selector("#slider")
