"""Campaigns of search: seeds follow from the phrase, finished games are kept, results count each game once."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ante.agents.baselines import Baseline
from ante.agents.evaluate import Share
from ante.agents.seed_lists import panel, validation_seeds
from ante.catalog.blinds import BLINDS
from ante.cli.checks.search import table
from ante.cli.shown import paper
from ante.env.games import Games
from ante.env.replay import read_replay
from ante.experiments import search_campaign
from ante.experiments.finished_games import BadCampaign, append_games
from ante.experiments.search_campaign import (
    BudgetRow,
    GameLine,
    committed_seeds,
    phrase_of,
    play_games,
    read_lines,
    run_campaign,
    write_results,
)
from ante.experiments.search_lessons import FOLDER, MOMENTS, Story
from ante.files import Unreadable
from ante.search.budget import Budget
from ante.search.phases import PRIORS
from ante.search.player import Finding, NotSearchable
from ante.search.racing import Comparison
from ante.watch.episode import check_compact
from ante.watch.notes import read_notes
from tests.search.made import small_player

PUBLISHED = Path(__file__).parents[2] / "docs" / "comparisons" / "search"
DECISION = Path(__file__).parents[2] / "docs" / "explanation" / "decisions" / "0025-search.md"

LOST_TO = {"A": "The Wall", "B": "Big Blind", "C": "The Wall"}


@contextmanager
def no_bar(total: int, about: str) -> Iterator[Callable[[int], None]]:
    """Show nothing."""
    yield lambda count: None


def line(seed: str, won: bool, settings: dict[str, float] | None = None) -> GameLine:
    """Return a game with 10 decisions."""
    phases = {"shop": [4, 3, 1, 0.5]} if settings else {}
    return GameLine(seed, "small", settings or {}, won, 3, 8, 10, 50, 2.0, phases, "" if won else LOST_TO[seed])


def test_seeds_follow_from_the_phrase() -> None:
    """The first letters by hand: the bytes of the SHA-256 modulo 34 index 123456789A...NP...Z."""
    digest = hashlib.sha256(b"some phrase 0").digest()[:8]
    first = "".join("123456789ABCDEFGHIJKLMNPQRSTUVWXYZ"[byte % 34] for byte in digest)
    seeds = committed_seeds("some phrase", 300)
    assert seeds[0] == first
    assert len(set(seeds)) == 300
    assert committed_seeds("some phrase", 5) == seeds[:5]
    assert not set(seeds) & {*panel(), *validation_seeds()}


def test_the_published_phrase_has_the_hash_that_was_committed_before_tuning() -> None:
    digest = hashlib.sha256(phrase_of(PUBLISHED).encode()).hexdigest()
    assert digest in DECISION.read_text()


def test_a_campaign_continues_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_campaign, "BATCH", 2)
    (tmp_path / "phrase.txt").write_text("a test\n")
    player, budgets = small_player(), [Budget(8)]
    run_campaign(player, budgets, 3, tmp_path, no_bar)
    before = (tmp_path / "8.jsonl").read_text()
    assert [each.seed for each in read_lines(tmp_path / "8.jsonl")] == committed_seeds("a test", 3)
    with (tmp_path / "8.jsonl").open("a") as stream:
        stream.write('{"seed": "BROKEN')  # the process was killed while writing
    rows = run_campaign(player, budgets, 5, tmp_path, no_bar)
    assert (tmp_path / "8.jsonl").read_text().startswith(before)
    assert [each.seed for each in read_lines(tmp_path / "8.jsonl")] == committed_seeds("a test", 5)
    assert [(row.budget, row.wins.trials) for row in rows] == [("alone", 5), ("8", 5)]
    for row in rows:
        assert set(row.lost_to) <= {blind.name for blind in BLINDS[1:]}
        assert sum(row.lost_to.values()) == row.wins.trials - row.wins.hits
    assert (tmp_path / "search.png").is_file()
    with pytest.raises(BadCampaign, match="choose another --out"):
        other = small_player()
        other.name = "other"
        run_campaign(other, budgets, 5, tmp_path, no_bar)


def test_results_count_games_that_both_have_played(tmp_path: Path) -> None:
    (tmp_path / "phrase.txt").write_text("a test\n")
    settings = {"rounds": 2.0}
    append_games(tmp_path / "alone.jsonl", [line("A", True), line("B", False), line("C", False)])
    append_games(
        tmp_path / "16ms.jsonl", [line("A", False, settings), line("B", True, settings), line("D", True, settings)]
    )
    alone, searched = write_results(tmp_path)
    assert (alone.budget, alone.wins.hits, alone.wins.trials) == ("alone", 1, 3)
    assert (searched.wins.hits, searched.wins.trials, searched.more, searched.fewer) == (1, 2, 1, 1)
    assert (alone.lost_to, searched.lost_to) == ({"The Wall": 1, "Big Blind": 1}, {"The Wall": 1})
    assert searched.changed == 0.1
    kept = json.loads((tmp_path / "results.json").read_text())
    assert kept["phases"]["16ms"]["shop"] == [8, 6, 2, 1.0]  # without game D
    assert kept["lost_at_ante"] == {"alone": [0, 0, 0, 2, *[0] * 5], "16ms": [0, 0, 0, 1, *[0] * 5]}


@pytest.mark.ray
def test_a_campaign_in_two_processes_plays_the_same_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_campaign, "BATCH", 2)
    games = {}
    for workers in (1, 2):
        out = tmp_path / str(workers)
        out.mkdir()
        (out / "phrase.txt").write_text("a test\n")
        run_campaign(small_player(), [Budget(8)], 6, out, no_bar, workers)
        lines = [line for name in ("alone", "8") for line in read_lines(out / f"{name}.jsonl")]
        games[workers] = sorted((replace(line, milliseconds=0.0) for line in lines), key=repr)
    assert games[1] == games[2]


def test_games_of_other_weights_are_not_continued(tmp_path: Path) -> None:
    (tmp_path / "phrase.txt").write_text("a test\n")
    run_campaign(small_player(), [], 2, tmp_path, no_bar)
    run_campaign(small_player(), [], 2, tmp_path, no_bar)
    digests = json.loads((tmp_path / "weights.json").read_text())
    assert list(digests) == ["alone"]
    other = small_player()
    next(iter(other.policy.parameters())).data.add_(1.0)
    with pytest.raises(BadCampaign, match=r"alone.jsonl has games of small with other weights: choose another --out"):
        run_campaign(other, [Budget(8)], 2, tmp_path, no_bar)
    (tmp_path / "weights.json").write_text('{"alone": 3}')
    with pytest.raises(BadCampaign, match=r"cannot read .*weights.json: "):
        run_campaign(small_player(), [], 2, tmp_path, no_bar)


def test_a_player_without_search_is_refused_before_the_first_game(tmp_path: Path) -> None:
    (tmp_path / "phrase.txt").write_text("a test\n")
    with pytest.raises(NotSearchable):
        run_campaign(Baseline("greedy"), [Budget(8)], 2, tmp_path, no_bar)
    assert not (tmp_path / "alone.jsonl").exists()


def test_budgets_have_one_order(tmp_path: Path) -> None:
    (tmp_path / "phrase.txt").write_text("a test\n")
    append_games(tmp_path / "alone.jsonl", [line("A", True)])
    for name in ("16ms@shop", "64ms", "16ms", "16ms@boss"):
        append_games(tmp_path / f"{name}.jsonl", [line("A", False, {"rounds": 2.0})])
    assert [row.budget for row in write_results(tmp_path)] == ["alone", "16ms", "16ms@boss", "16ms@shop", "64ms"]


def test_a_folder_without_a_phrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCampaign, match="publish its SHA-256"):
        run_campaign(small_player(), [], 3, tmp_path, no_bar)


class Changing:
    """The small player; it reports each decision as changed, with an expected gain that grows."""

    name, discrete, reorder = "changing", False, "jokers"

    def __init__(self) -> None:
        self._player, self._count = small_player(), 0
        self.findings: list[Finding] = []

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose as the small player."""
        actions = self._player.choose(games, playing)
        self._count += 1
        worlds = np.arange(8, dtype=np.uint64)
        each = Comparison(np.repeat(actions.max(), 2), worlds, 16, PRIORS[4], 1.5)
        each.record(np.repeat([[0.5], [0.5 + 0.1 * self._count]], 8, axis=1))
        self.findings = [Finding(int(actions.max()), each, 1)] * int(playing.sum())
        return actions


def test_games_won_only_with_search_are_kept_as_replays_with_their_moments(tmp_path: Path) -> None:
    seeds = ["LESSON11", "LESSON12"]
    lines, story = play_games(Changing(), seeds)
    story.keep(tmp_path, "16", seeds[1:])
    story.keep(tmp_path, "32", seeds[1:])  # a second time changes nothing
    replay = (tmp_path / "games" / "LESSON12.txt").read_text()
    assert check_compact(replay) is None
    assert len(read_replay(replay)[1]) == lines[1].decisions
    player, notes = read_notes(tmp_path / "games" / "LESSON12.notes.json.gz")
    assert player == "changing" and len(notes) == lines[1].decisions
    assert all(re.match(r"2 decisions in 16 simulations; changed: ", note.search) for note in notes)
    told = json.loads((tmp_path / "games" / "moments.json").read_text())
    assert list(told) == ["LESSON12"]
    assert told["LESSON12"]["budget"] == "16"
    last = lines[1].decisions
    assert [each["decision"] for each in told["LESSON12"]["moments"]] == [last, last - 1, last - 2]
    assert all("changed: " in each["finding"] for each in told["LESSON12"]["moments"])


def test_a_list_in_place_of_the_told_moments_is_refused(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / MOMENTS).write_text("[]")
    with pytest.raises(Unreadable, match="not a JSON object"):
        Story("small", ["A"]).keep(tmp_path, "16ms", ["A"])


@pytest.mark.parametrize("width", ["80", "100", "160"])
def test_the_table_cuts_nothing_off(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    row = BudgetRow("16ms", Share(404, 500, 0.808, 0.77, 0.84), 16.2, 45.1, 0.05, 40, 12, {"Violet Vessel": 12})
    paper().print(table([row]))
    shown = capsys.readouterr().out
    assert "80.8% (77.0% to 84.0%)" in shown and "only alone won" in shown and "…" not in shown
