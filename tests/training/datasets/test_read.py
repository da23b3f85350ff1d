"""Minibatches, versions, statistics and queries of datasets, and their errors."""

import gzip
import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.record import record_game
from ante.agents.seed_lists import dataset_seeds
from ante.cli import main
from ante.cli.learn.data import ExportData
from ante.env.replay import BadReplay, Heading
from ante.errors import BalatroError
from ante.training.datasets.export import export
from ante.training.datasets.layout import ABOUT, OUTCOMES, BadDataset
from ante.training.datasets.read import Dataset, Steps
from ante.training.datasets.scripts import played_scripts, replay_scripts
from ante.training.datasets.steps import VERB_NAMES
from ante.training.datasets.summary import summarise
from ante.training.datasets.write import STEPS, write_dataset
from tests.training.datasets.conftest import GAMES

DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "datasets.md"


def keys(batches: list[Steps]) -> list[tuple[int, int]]:
    return [
        (int(game), int(step)) for batch in batches for game, step in zip(batch["game"], batch["step"], strict=True)
    ]


def test_an_epoch_is_every_step_once_in_an_order_that_the_seed_decides(recorded: Path) -> None:
    dataset = Dataset(recorded)
    first = list(dataset.batches(1000, seed=3, columns=["step"]))
    assert [len(batch) for batch in first[:-1]] == [1000] * (len(dataset) // 1000)
    assert len(set(keys(first))) == len(dataset) == len(keys(first))
    assert keys(first) == keys(list(dataset.batches(1000, seed=3, columns=["step"])))
    assert keys(first) != keys(list(dataset.batches(1000, seed=4, columns=["step"])))
    assert keys(first) != sorted(keys(first))


def test_rows_stay_together_when_they_are_shuffled(greedy: Path) -> None:
    dataset = Dataset(greedy)
    whole = dataset.read(range(dataset.groups))
    row_of = {key: i for i, key in enumerate(keys([whole]))}
    for batch in dataset.batches(333, seed=1):
        which = np.array([row_of[key] for key in keys([batch])])
        for name in batch.columns:
            assert np.array_equal(batch[name], whole[name][which], equal_nan=name in ("log_prob", "value")), name


def test_held_out_games_are_whole_and_the_same_for_every_seed(greedy: Path) -> None:
    dataset = Dataset(greedy)
    parts = {
        (part, seed): {game for game, _ in keys(list(dataset.batches(64, seed, part, held=0.25, columns=["step"])))}
        for part in ("train", "held")
        for seed in (0, 1)
    }
    assert parts["held", 0] == parts["held", 1]
    assert len(parts["held", 0]) == GAMES / 4
    assert parts["train", 0] | parts["held", 0] == set(range(GAMES))
    assert not parts["train", 0] & parts["held", 0]


@pytest.mark.slow
def test_row_groups_hold_twenty_thousand_steps(recorded: Path, tmp_path: Path) -> None:
    once = Dataset(recorded)
    block = once.read([0])
    assert once.groups == 1 + (len(once) - 1) // 20_000
    columns = dict(block.columns)
    columns["verb"] = np.array([VERB_NAMES.index(verb) for verb in columns["verb"]], dtype=np.int8)
    columns["outcome"] = np.array([OUTCOMES.index(each) for each in columns["outcome"]], dtype=np.int8)
    write_dataset(tmp_path / "thrice", [columns] * 3, once.about)
    many = Dataset(tmp_path / "thrice")
    sizes = [pq.ParquetFile(many.file).metadata.row_group(i).num_rows for i in range(many.groups)]
    assert sizes[:-1] == [20_000] * (len(sizes) - 1) and sum(sizes) == 3 * len(block)
    assert np.array_equal(many.read(range(many.groups))["action"], np.tile(block["action"], 3))
    assert sorted(keys([many.read([1])])) != sorted(keys([many.read([0])]))
    assert set(many.read([1])["verb"]) <= set(VERB_NAMES)


def test_another_version_of_the_observation_is_refused(greedy: Path, tmp_path: Path) -> None:
    table = pq.read_table(greedy / STEPS)
    about = {**json.loads(table.schema.metadata[ABOUT]), "observation": "000000000000"}
    pq.write_table(table.replace_schema_metadata({ABOUT: json.dumps(about)}), tmp_path / STEPS)
    with pytest.raises(BadDataset, match=r"has observation version '000000000000'.* expected [0-9a-f]{12}"):
        Dataset(tmp_path)
    pq.write_table(table.replace_schema_metadata({}), tmp_path / STEPS)
    with pytest.raises(BadDataset, match="is not an Ante dataset"):
        Dataset(tmp_path)
    (tmp_path / STEPS).write_bytes((greedy / STEPS).read_bytes()[:-100])
    with pytest.raises(BadDataset, match="no dataset in"):
        Dataset(tmp_path)


def test_partial_datasets_are_removed_and_existing_ones_kept(greedy: Path, tmp_path: Path) -> None:
    lost = tmp_path / "game.txt"
    lost.write_text(
        "ante replay 1\nseed TESTSEED\n\nplay 0  # before any blind\nend lost in ante 1 with $4 after 1 decisions\n"
    )
    with pytest.raises(BadDataset, match="game TESTSEED does not allow the recorded decision of step 0"):
        export(tmp_path / "bad", [replay_scripts([lost])], "shortlist")
    assert [path.name for path in tmp_path.iterdir()] == ["game.txt"]
    lost.write_text("ante replay 1\n")
    with pytest.raises(BadReplay, match=r"game\.txt: line 2"):
        replay_scripts([lost])
    with pytest.raises(BadDataset, match="are never overwritten"):
        export(greedy, [])


def test_figures_are_those_of_the_games(greedy: Path) -> None:
    found = summarise(Dataset(greedy))
    report = evaluate(Baseline("greedy"), dataset_seeds(GAMES, 7))
    assert (found.games, found.wins, found.mean_blinds) == (GAMES, report.wins, report.mean_blinds)
    assert found.steps == sum(record.decisions for record in report.records) == sum(found.verbs.values())
    assert found.mean_return == pytest.approx(report.mean_reward)
    assert found.bytes == (greedy / STEPS).stat().st_size
    assert found.ratio > 4  # the required compression


def test_a_seed_of_games_is_kept() -> None:
    assert dataset_seeds(3, 5) == dataset_seeds(4, 5)[:3] != dataset_seeds(3, 6)
    games = [
        script for part in played_scripts(Baseline("greedy"), dataset_seeds(3, 5), Heading(""), 2) for script in part
    ]
    assert [game.heading.seed for game in games] == dataset_seeds(3, 5)


def test_the_queries_of_the_page_run(greedy: Path) -> None:
    queries = re.findall(r"```sql\n(.*?)```", DOCS.read_text(), re.S)
    assert len(queries) >= 2
    found = [duckdb.sql(query.replace("data/greedy", str(greedy))).fetchall() for query in queries]
    counted = {verb: steps for verb, steps, *_ in found[0]}
    assert counted == summarise(Dataset(greedy)).verbs
    assert all(found)


def test_export_and_stats_as_a_user_types_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.setattr("sys.argv", ["ante", "data", *words])
            main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    folder = str(tmp_path / "random")
    code, out, _ = run("export", "random", "--out", folder, "--games", "3", "--stake", "2", "--view", "flat")
    assert code == 0 and "3 games" in out
    found = json.loads(run("stats", folder, "--json")[1])
    assert (found["games"], found["about"]["stake"], found["about"]["view"]) == (3, 2, "flat")
    assert "bytes per step" in run("stats", folder)[1]
    assert run("export", "random", "--out", folder)[0] == 2
    code, _, message = run("export", "rendom", "--out", str(tmp_path / "x"))
    assert code == 2 and "there is no player 'rendom'" in message
    assert run("stats", str(tmp_path))[2].startswith("ante: no dataset in")
    code, out, _ = run("export", "rules", "--out", str(tmp_path / "rules"), "--games", "2", "--view", "flat")
    assert code == 0 and "2 games" in out


def test_a_source_that_does_not_exist_is_refused_beside_replays(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(record_game(Baseline("random"), Heading("TESTSEED", "b_red", 1)))
    export = ExportData((str(tmp_path / "a.txt"), str(tmp_path / "misspelt.txt")), out=tmp_path / "out")
    with pytest.raises(BalatroError, match=r"misspelt.txt is not a replay, unlike .*a.txt"):
        export.run()
    assert not (tmp_path / "out").exists()


def test_the_compressed_replays_of_a_run_are_found(tmp_path: Path) -> None:
    text = record_game(Baseline("random"), Heading("TESTSEED", "b_red", 1))
    (tmp_path / "a.txt").write_text(text)
    with gzip.open(tmp_path / "b.txt.gz", "wt") as stream:
        stream.write(text)
    assert ExportData((str(tmp_path),), out=tmp_path / "out").replay_files() == [
        tmp_path / "a.txt",
        tmp_path / "b.txt.gz",
    ]
