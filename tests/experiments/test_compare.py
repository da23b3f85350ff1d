"""Comparisons: the interpretation of a specification, the selection of runs, the tables and the curves."""

import json
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from ante.agents.evaluate import wilson
from ante.errors import BalatroError
from ante.experiments import running
from ante.experiments.ablation import ablation, terms_of
from ante.experiments.comparing import prepare, redraw, run
from ante.experiments.results import MEASURES, band, results_of, samples
from ante.experiments.running import Watched
from ante.experiments.spec import BadSpec, cells_of, kept_spec, make_spec, read_spec
from ante.stopping import Stop, Stops

pytestmark = pytest.mark.slow

TWO = {"slow": {"settings": {"algo.lr": 0.01}}, "quick": {"settings": {"algo.lr": 0.06}}}


@pytest.fixture(autouse=True)
def trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ANTE", (sys.executable, str(Path(__file__).with_name("trainer.py"))))
    monkeypatch.setattr(running, "LOOK_SECONDS", 0.02)


def spec_of(**values: Any) -> Any:
    return make_spec({"entries": TWO, "steps": 1000, "eval_games": 8, "seeds": [0, 1], **values})


def calls(out: Path) -> list[str]:
    file = out / "calls.txt"
    return [line.rpartition(" ")[0] for line in file.read_text().splitlines()] if file.exists() else []


def test_settings_of_the_file_of_all_and_of_the_entry_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("algo: {lr: 0.5, gamma: 0.9, clip: 0.3}\n")
    (tmp_path / "spec.yaml").write_text(
        yaml.safe_dump(
            {
                "entries": {"plain": None, "other": {"config": "base.yaml", "settings": {"algo.clip": 0.1}}},
                "settings": {"algo.gamma": 0.8},
                "seeds": [4, 2],
                "steps": 77,
                "eval_games": 5,
            },
            sort_keys=False,
        )
    )
    cells = cells_of(read_spec(tmp_path / "spec.yaml"), tmp_path / "out")
    assert [(cell.entry, cell.config.seed) for cell in cells] == [
        ("plain", 4),
        ("other", 4),
        ("plain", 2),
        ("other", 2),
    ]
    other = cells[1].config
    assert (other.algo.lr, other.algo.gamma, other.algo.clip, other.steps, other.evaluation.games) == (
        0.5,
        0.8,
        0.1,
        77,
        5,
    )
    assert cells[1].folder == tmp_path / "out" / "other" / "seed-4"
    assert cells[0].config.algo.clip == 0.2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"entries": {}}, "entries"),
        ({"players": ("rules", "rules")}, "rules is named twice"),
        ({"entries": {"greedy": {}}}, "greedy is an entry and a player: rename the entry"),
        ({"entries": {"a/b": {}}}, "is also a folder's name"),
        ({"seeds": [1, 1]}, "different numbers"),
        ({"settings": {"seed": 3}}, "seed is common to all entries or derived"),
        ({"settings": {"polcy": "mlp"}}, "did you mean policy"),
        ({"steeps": 3}, "steeps"),
        ({"entries": {"a": {"config": "nothing.yaml"}}}, "cannot read .*nothing.yaml: the file does not exist"),
    ],
)
def test_mistakes_in_a_specification_are_named(values: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BalatroError, match=words):
        cells_of(make_spec({"entries": TWO, **values}), tmp_path)


def test_every_cell_is_run_once_and_a_finished_one_never_again(tmp_path: Path) -> None:
    spec = spec_of()
    after: list[str] = []
    results, failed = run(spec, tmp_path, prepare(spec, tmp_path), 1, Watched(after=after.append))
    assert failed == [] and results.missing == []
    assert after == ["playing 8 games with random, greedy", "writing the report"]
    assert calls(tmp_path) == ["slow 0", "quick 0", "slow 1", "quick 1"]
    assert prepare(spec, tmp_path) == []
    more = spec_of(seeds=[0, 1, 2])
    run(more, tmp_path, prepare(more, tmp_path), 1, Watched())
    assert calls(tmp_path)[4:] == ["slow 2", "quick 2"]


def test_with_a_store_entries_are_apart_and_the_report_is_uploaded(tmp_path: Path) -> None:
    spec, out = spec_of(store=str(tmp_path / "store")), tmp_path / "first"
    places = {cell.label: (cell.config.store, cell.config.name) for cell in cells_of(spec, out)}
    assert len(set(places.values())) == 4
    assert places["slow, seed 1"] == (f"{tmp_path}/store/first/slow", "seed-1")
    run(spec, out, prepare(spec, out), 1, Watched())
    assert kept_spec(out).store == spec.store
    stored = {file.name for file in (tmp_path / "store/first").iterdir() if file.suffix != ".sha256"}
    assert stored == {"compare.yaml", "players.json", "results.json", "report.html"}
    assert (tmp_path / "store/first/report.html").read_bytes() == (out / "report.html").read_bytes()


def test_shared_settings_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("algo: {lr: 0.5, gamma: 0.9, clip: 0.3}\n")
    (tmp_path / "all.yaml").write_text("algo: {gamma: 0.8, clip: 0.2}\nsteps: 3\n")
    text = "config: all.yaml\nsettings: {algo.clip: 0.1}\nsteps: 77\nseeds: [0]\nentries: {one: {config: own.yaml}}\n"
    (tmp_path / "spec.yaml").write_text(text)
    spec = read_spec(tmp_path / "spec.yaml")
    prepare(spec, tmp_path / "out")
    for found in (spec, kept_spec(tmp_path / "out")):
        (cell,) = cells_of(found, tmp_path / "out")
        algo = cell.config.algo
        assert (algo.lr, algo.gamma, algo.clip, cell.config.steps) == (0.5, 0.8, 0.1, 77)


def test_a_broken_run_continues_and_a_failing_one_stops_no_other(tmp_path: Path) -> None:
    entries = {**TWO, "breaks": {"settings": {"algo.entropy": 7.0}}, "fails": {"settings": {"algo.entropy": 9.0}}}
    spec, troubles = spec_of(entries=entries, seeds=[0]), {}
    watched = Watched(ended=lambda cell, trouble: troubles.update({cell.entry: trouble}))
    results, failed = run(spec, tmp_path, prepare(spec, tmp_path), 2, watched)
    assert {cell.entry for cell in failed} == {"breaks", "fails"}
    assert troubles["fails"] == "exit code 3: the teapot is empty" and troubles["slow"] == ""
    states = {each.entry: (each.state, each.steps) for each in results.cells}
    assert states == {
        "slow": ("done", 1000),
        "quick": ("done", 1000),
        "breaks": ("begun", 500),
        "fails": ("missing", 0),
    }
    assert [row.name for row in results.rows] == ["slow", "quick", "random", "greedy"]
    results, failed = run(spec, tmp_path, prepare(spec, tmp_path), 2, Watched())
    assert [cell.entry for cell in failed] == ["fails"]
    assert sorted(calls(tmp_path)) == sorted(["slow 0", "quick 0", "breaks 0", "fails 0", "breaks 0", "fails 0"])


def test_so_many_run_side_by_side_and_no_more(tmp_path: Path) -> None:
    now: set[str] = set()
    most = 0

    def begun(cell: Any) -> None:
        nonlocal most
        now.add(cell.label)
        most = max(most, len(now))

    spec = spec_of(seeds=[0, 1, 2])
    run(spec, tmp_path, prepare(spec, tmp_path), 3, Watched(begun, ended=lambda cell, _: now.discard(cell.label)))
    assert most == 3 and now == set()


def test_a_stop_reaches_each_run_once_and_no_other_run_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = tmp_path / "waits.py"
    waits.write_text(
        "import pathlib, signal, sys, time\n"
        "heard = []\n"
        "signal.signal(signal.SIGINT, lambda *_: heard.append(1))\n"
        f"pathlib.Path({str(tmp_path)!r}, 'ready').touch()\n"
        "while not heard: time.sleep(0.01)\n"
        "time.sleep(0.3)\n"
        f"pathlib.Path({str(tmp_path)!r}, 'heard').write_text(str(len(heard)))\n"
    )
    monkeypatch.setattr(running, "ANTE", (sys.executable, str(waits)))
    stops, out = Stops(), tmp_path / "out"

    def looked(_: Any, steps: int) -> None:
        if (tmp_path / "ready").exists():
            stops.append(Stop(2, time.monotonic()))

    spec = spec_of()
    results, failed = run(spec, out, prepare(spec, out), 1, Watched(looked=looked), stops)
    assert (tmp_path / "heard").read_text() == "1"
    assert failed == [] and [each.state for each in results.cells] == ["missing"] * 4


def test_the_table_agrees_with_the_games(tmp_path: Path) -> None:
    spec = spec_of()
    results, _ = run(spec, tmp_path, prepare(spec, tmp_path), 2, Watched())
    rows = {row.name: row for row in results.rows}
    for entry in TWO:
        files = [tmp_path / entry / f"seed-{seed}" / "evaluation.json" for seed in (0, 1)]
        records = [record for file in files for record in json.loads(file.read_text())["records"]]
        for name in ("ante", "blinds", "reward"):
            mean = sum(record[name] for record in records) / len(records)
            found = rows[entry].measures[name]
            assert found.value == pytest.approx(mean) and found.low < mean < found.high
    quick = rows["quick"]
    assert quick.measures["win"].value == 2 / 16 and quick.measures["win"].high > wilson(2, 16).high - 1e-9
    assert rows["slow"].measures["win"].value == 0.0 and rows["slow"].measures["win"].high > 0.1
    assert rows["slow"].ahead is None and quick.ahead is not None
    # Both played the same games, one blind apart; the rest is variance of training: seeds are one blind apart.
    assert quick.ahead.value == pytest.approx(1.0) and quick.ahead.low >= 0.0 and quick.ahead.high <= 2.0
    assert (quick.seeds, quick.games, quick.memory_gb) == (2, 16, 2.0)
    assert quick.seconds == pytest.approx(420.0) and quick.steps_per_second == pytest.approx(1000 / 420)
    assert rows["greedy"].seconds is None and rows["greedy"].games == 8
    assert set(results.differences) == {"algo.lr"}


def test_bootstrap_samples_are_what_drawing_by_hand_gives() -> None:
    rng = np.random.default_rng(1)
    games = rng.random((3, len(MEASURES), 5))
    drawn = rng.multinomial(5, np.full(5, 0.2), size=400) / 5
    seen = samples(games, drawn, np.random.default_rng(7))
    runs = np.random.default_rng(7).multinomial(3, np.full(3, 1 / 3), size=400)
    for b in (0, 17, 399):
        some = np.repeat(np.arange(3), runs[b])
        these = np.repeat(np.arange(5), np.rint(5 * drawn[b]).astype(int))
        slow = [np.mean([games[s, m, g] for s in some for g in these]) for m in range(len(MEASURES))]
        np.testing.assert_allclose(seen[:, b], slow)


def test_a_band_goes_as_far_as_the_shortest_seed_and_holds_every_seed() -> None:
    nan = np.nan
    one = np.array([10.0, 20.0, 30.0, 40.0]), np.array([nan, 1.0, 2.0, 3.0])
    two = np.array([10.0, 20.0, 30.0]), np.array([3.0, 3.0, 3.0])
    found = band([one, two])
    assert found.x[0] == 20.0 and found.x[-1] == 30.0
    assert (found.mean[0], found.low[0], found.high[0]) == (2.0, 1.0, 3.0)
    assert (found.mean[-1], found.low[-1], found.high[-1]) == (2.5, 2.0, 3.0)


def test_what_is_stored_is_enough_to_draw_the_report_again(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("algo: {gamma: 0.9}\n")
    values = {"entries": {"a": {"config": "base.yaml"}}, "steps": 1000, "eval_games": 8, "seeds": [3]}
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(values))
    spec, out = read_spec(tmp_path / "spec.yaml"), tmp_path / "out"
    first, _ = run(spec, out, prepare(spec, out), 1, Watched())
    (tmp_path / "base.yaml").unlink()
    (out / "report.html").unlink()
    done = calls(out)
    again = redraw(out)
    assert again.rows == first.rows and again.bands == first.bands and calls(out) == done
    assert json.loads((out / "results.json").read_text())["rows"][0]["name"] == "a"
    assert (out / "report.html").is_file()
    assert cells_of(kept_spec(out), out)[0].config.algo.gamma == 0.9
    with pytest.raises(BadSpec, match="contains no comparison"):
        results_of(tmp_path)


def test_runs_that_have_begun_keep_their_settings(tmp_path: Path) -> None:
    spec = spec_of()
    run(spec, tmp_path, prepare(spec, tmp_path), 2, Watched())
    other = spec_of(entries={**TWO, "slow": {"settings": {"algo.lr": 0.02}}})
    with pytest.raises(BalatroError, match=r"algo.lr is 0\.01 in this run and cannot become 0\.02"):
        prepare(other, tmp_path)
    longer = spec_of(steps=2000)
    assert len(prepare(longer, tmp_path)) == 4


def test_a_separate_seed_file_is_used_for_all_entries(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("\n".join(f"SEED{i}" for i in range(1, 8)))
    with pytest.raises(BalatroError, match="fewer than 8 games"):
        cells_of(spec_of(seed_file=tmp_path / "seeds.txt"), tmp_path)
    spec, out = spec_of(seed_file=tmp_path / "seeds.txt", eval_games=6, seeds=[0]), tmp_path / "out"
    results, failed = run(spec, out, prepare(spec, out), 1, Watched())
    assert failed == [] and {row.games for row in results.rows} == {6}
    assert (out / "slow" / "seed-0" / "own-seeds.json").is_file() and prepare(spec, out) == []


def test_entries_with_other_rules_are_refused(tmp_path: Path) -> None:
    entries = {"white": {}, "red": {"settings": {"games.stake": 2}}}
    with pytest.raises(BadSpec, match=r"entries differ in games.stake \(1 and 2\).*move it to settings"):
        cells_of(spec_of(entries=entries), tmp_path)


def test_other_evaluation_seeds_are_played_although_training_is_complete(tmp_path: Path) -> None:
    seeds, out = tmp_path / "seeds.txt", tmp_path / "out"
    seeds.write_text("\n".join(f"SEED{i}" for i in range(1, 8)))
    spec = spec_of(seed_file=seeds, eval_games=6, seeds=[0])
    run(spec, out, prepare(spec, out), 1, Watched())
    assert prepare(spec, out) == [] and (out / "players.json").is_file()
    seeds.write_text("\n".join(f"DEES{i}" for i in range(1, 8)))  # at the same place
    assert [cell.entry for cell in prepare(spec, out)] == ["slow", "quick"]
    assert not (out / "players.json").exists() and not (out / "slow" / "seed-0" / "own-seeds.json").exists()


def test_other_players_play_again_by_other_rules(tmp_path: Path) -> None:
    spec = spec_of(seeds=[0])
    run(spec, tmp_path, prepare(spec, tmp_path), 1, Watched())
    file = tmp_path / "players.json"
    assert {report["deck"] for report in json.loads(file.read_text())} == {"b_red"}
    for entry in TWO:
        shutil.rmtree(tmp_path / entry)
    blue = spec_of(seeds=[0], settings={"games.deck": "b_blue"})
    left = prepare(blue, tmp_path)
    assert not file.exists()
    run(blue, tmp_path, left, 1, Watched())
    assert {report["deck"] for report in json.loads(file.read_text())} == {"b_blue"}
    assert prepare(blue, tmp_path) == [] and file.exists()


def test_a_comparison_needs_its_file_of_seeds_only_once(tmp_path: Path) -> None:
    seeds, out = tmp_path / "seeds.txt", tmp_path / "out"
    seeds.write_text("\n".join(f"SEED{i}" for i in range(1, 8)))
    spec = spec_of(seed_file=seeds, eval_games=6, seeds=[0])
    results, _ = run(spec, out, prepare(spec, out), 1, Watched())
    seeds.unlink()
    assert redraw(out).rows == results.rows
    assert prepare(kept_spec(out), out) == [] and (out / "players.json").exists()


def test_an_evaluation_from_before_the_last_checkpoint_is_not_the_result(tmp_path: Path) -> None:
    spec = spec_of(seeds=[0])
    run(spec, tmp_path, prepare(spec, tmp_path), 2, Watched())
    stale = (tmp_path / "slow" / "seed-0" / "evaluation.json").read_text()
    longer = spec_of(seeds=[0], steps=2000)
    run(longer, tmp_path, prepare(longer, tmp_path), 2, Watched())
    assert prepare(longer, tmp_path) == []
    (tmp_path / "slow" / "seed-0" / "evaluation.json").write_text(stale)  # as if stopped before its evaluation
    assert [cell.entry for cell in prepare(longer, tmp_path)] == ["slow"]


def test_players_of_the_same_name_have_a_row_each(tmp_path: Path) -> None:
    players = (str(tmp_path / "a" / "seed-0"), str(tmp_path / "b" / "seed-0"))
    spec, out = spec_of(players=players, seeds=[0]), tmp_path / "out"
    results, _ = run(spec, out, prepare(spec, out), 1, Watched())
    assert [row.name for row in results.rows] == ["slow", "quick", "seed-0", players[1]]


def test_an_ablation_leaves_out_one_term_at_a_time_and_keeps_the_rest(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        "games: {reward: shaped, reward_terms: {ante: 0.3, progress: 0.1}}\nalgo: {lr: 0.02}\n"
    )
    cells = cells_of(ablation(tmp_path / "base.yaml", [5], 1000, 8), tmp_path / "out")
    paid = {cell.entry: terms_of(cell.config) for cell in cells}
    whole = {"win": 5.0, "blind": 0.2, "progress": 0.1, "ante": 0.3}
    assert paid.pop("whole") == whole
    assert paid == {f"without-{name}": {key: weight for key, weight in whole.items() if key != name} for name in whole}
    assert {(cell.config.algo.lr, cell.config.seed) for cell in cells} == {(0.02, 5)}
    with pytest.raises(BalatroError, match="reward sparse has only the term win"):
        (tmp_path / "sparse.yaml").write_text("games: {reward: sparse}\n")
        ablation(tmp_path / "sparse.yaml", [0], 1000, 8)


@pytest.mark.parametrize("rows", ["", "iteration,steps\n1,300\n2", "steps\n300\n", "steps\n5\n300\n"])
def test_the_steps_of_a_run_are_those_of_its_last_complete_row(rows: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text(rows)
    assert running.steps_of(SimpleNamespace(folder=tmp_path)) == (300 if rows else 0)


@pytest.mark.parametrize("rows", ["steps\n" + "1" * 200_000, "steps\nx\n", "other\n1\n", "steps\n\n"])
def test_metrics_that_cannot_be_read_count_as_none(rows: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text(rows)
    assert running.steps_of(SimpleNamespace(folder=tmp_path)) == 0
