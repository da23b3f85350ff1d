"""The notebooks run from the first to the last cell, and contain neither credentials nor output."""

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ante.agents.baselines import Baseline
from ante.agents.record import record_game
from ante.env.replay import Heading, read_replay
from ante.storage.opening import open_store
from ante.training.settings.config import make_config
from ante.watch.episode import recorded
from ante.watch.render.frames import poster
from ante.watch.render.video import write_video
from tests.deploy.test_cluster import SECRET, job_server, made, ready
from tests.support.apiserver import Cluster
from tests.support.manifests import SECRET_NAME, URL_WITH_PASSWORD

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def execute(name: str, folder: Path, **parameters: Any) -> str:
    """Run a notebook with other values in its parameter cell and return its printed output."""
    (file,) = (ROOT / "notebooks").glob(f"{name}*.ipynb")
    book = nbformat.read(file, as_version=4)
    (place,) = (i for i, cell in enumerate(book.cells) if "parameters" in cell.metadata.get("tags", ()))
    given = "\n".join(f"{key} = {value!r}" for key, value in parameters.items())
    unknown = [key for key in parameters if f"{key} = " not in book.cells[place].source]
    assert not unknown
    book.cells.insert(place + 1, nbformat.v4.new_code_cell(given))
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute(
        env={**os.environ, "PYTHONPATH": paths}
    )
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    return json.dumps([output.get("text") or output.get("data") for output in outputs])


def game(seed: str) -> Any:
    replay = record_game(Baseline("random"), Heading(seed))
    heading, actions = read_replay(replay)
    return recorded(heading, actions, discrete=False)


@pytest.mark.slow
def test_a_cluster_is_proved_started_used_and_taken_away(kubernetes: Cluster, tmp_path: Path) -> None:
    ready(kubernetes)
    kubernetes.put({**json.loads(json.dumps(SECRET)), "metadata": {"name": "notebook-s3", "namespace": "default"}})
    frame = poster(game("TESTSEED"))
    write_video(tmp_path / "played.mp4", [frame] * 3)
    store = open_store(tmp_path / "store")
    store.put_file("notebook/episodes/000000008192-A.mp4", tmp_path / "played.mp4")
    with job_server() as (port, jobs):
        kubernetes.ports[8265] = port
        search = {"search": {"algo.lr": {"low": 1e-4, "high": 5e-3}}, "trials": 8}
        said = execute("1", tmp_path, PRESET="gpu", STORE=str(tmp_path / "store"), SWEEP=search)
    assert "16,384 steps" in said
    assert "SUCCEEDED" in said
    assert "notebook/episodes/000000008192-A.mp4" in said
    assert "video/mp4" in said or "<video" in said
    assert "--name notebook" in jobs.submitted[0]["entrypoint"]
    assert "name: notebook-sweep" in jobs.submitted[1]["entrypoint"]
    assert made(kubernetes) == {"Secret/ante-s3", "Secret/notebook-s3"}


@pytest.mark.slow
def test_a_seed_is_explored_and_played(tmp_path: Path) -> None:
    said = execute("2", tmp_path, SEED="TESTSEED", PLAYER="random")
    assert "image/png" in said
    assert "TESTSEED" in said


@pytest.mark.slow
def test_a_run_is_analysed(tmp_path: Path) -> None:
    """Without a folder in its settings, as after `make train`: the newest run."""
    run, folder = tmp_path / "runs" / "run", tmp_path / "notebooks"
    run.mkdir(parents=True)
    folder.mkdir()
    (run / "config.yaml").write_text(make_config({"name": "run"}).to_yaml())
    rows = [f"{i},{i * 8192},{i * 40},{i * 2},{1 + i / 9},{1 + i / 20},0,{2 - i / 20}" for i in range(1, 20)]
    header = "iteration,steps,games,seconds,blinds,ante,win_rate,entropy"
    (run / "metrics.csv").write_text("\n".join([header, *rows]) + "\n")
    said = execute("3", folder, PLAYERS=("random", "greedy"), GAMES=4)
    assert "155,648 steps in 38 s" in said
    assert "median 4,096" in said
    assert "greedy" in said
    assert (folder / "report.html").stat().st_size > 1000


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_no_cell_holds_a_credential_or_an_output(file: Path) -> None:
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        assert not URL_WITH_PASSWORD.search(cell.source)
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            assert not SECRET_NAME.search(cell.source)
            compile(cell.source, str(file), "exec")


def test_the_stories_are_numbered_and_all_executed_here() -> None:
    assert [file.stem[:2] for file in NOTEBOOKS] == ["1-", "2-", "3-", "4-"]


@pytest.mark.nightly
@pytest.mark.ray
@pytest.mark.slow
def test_a_first_agent_is_trained_and_shown(tmp_path: Path) -> None:
    said = execute("4", tmp_path, STEPS=16_384, GAMES=4)
    assert "ready after" in said and "4 games on the same seeds" in said and "white-stake" in said
    assert (tmp_path / "runs/first-agent/report.html").is_file()
    assert "video/mp4" in said or "<video" in said


@pytest.mark.slow
def test_a_run_that_is_missing_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(CellExecutionError, match=r"there is no run in \.\./runs"):
        execute("3", tmp_path / "notebooks")
