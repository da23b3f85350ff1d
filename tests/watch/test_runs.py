"""The list of runs and their comparison: states, damaged folders, stores, and the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ante import files
from ante.cli import outcome
from ante.files import FOLDER_LOCK, held, is_held
from ante.training.settings.config import make_config
from ante.watch.runs import list_runs, read_run

HOLD = """
import sys
from pathlib import Path
from ante.files import held
with held(Path(sys.argv[1])) as mine:
    print(mine, flush=True)
    sys.stdin.read()
"""
HEAD = "iteration,steps,games,seconds,blinds,win_rate,ante,games_counted\n"
EVALUATION = {
    "games": 100,
    "wins": {"rate": 0.25, "low": 0.175, "high": 0.343},
    "mean_blinds": 12.5,
    "mean_blinds_half_width": 0.75,
    "mean_ante": 4.5,
    "mean_ante_half_width": 0.25,
}


def make(folder: Path, rows: int = 2, saved: int | None = 2, evaluated: bool = False, **settings: Any) -> Path:
    """Write the files of a run; the means of its row i are i, and its last checkpoint has `saved` updates."""
    (folder / "checkpoints").mkdir(parents=True)
    changes = {"name": folder.name, "runs": str(folder.parent), "steps": 4000, **settings}
    (folder / "config.yaml").write_text(make_config(changes).to_yaml())
    lines = [f"{i},{1000 * i},{10 * i},{60.0 * i},{i}.5,0.0{i},{i}.25,{i}\n" for i in range(1, rows + 1)]
    (folder / "metrics.csv").write_text(HEAD + "".join(lines))
    if saved is not None:
        (folder / "checkpoints" / "latest.json").write_text(json.dumps({"iteration": saved, "timesteps": 1000 * saved}))
    if evaluated:
        (folder / "evaluation.json").write_text(json.dumps(EVALUATION | {"steps": 1000 * (saved or 0)}))
    return folder


@pytest.fixture
def ante(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a command and returns its exit code and output."""
    monkeypatch.setenv("COLUMNS", "220")

    def run(*words: str) -> tuple[int, str]:
        code = outcome(list(words))
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return code, printed.out + printed.err

    return run


@pytest.mark.parametrize(
    ("saved", "evaluated", "state"),
    [(2, False, "stopped"), (1, False, "failed"), (None, False, "failed"), (2, True, "finished")],
)
def test_the_state_follows_from_the_files(tmp_path: Path, saved: int | None, evaluated: bool, state: str) -> None:
    assert read_run(make(tmp_path / "run", saved=saved, evaluated=evaluated)).state == state


def test_an_evaluation_before_the_last_checkpoint_does_not_finish_a_run(tmp_path: Path) -> None:
    run = make(tmp_path / "run", evaluated=True)
    later = {"iteration": 2, "timesteps": 3000}
    (run / "checkpoints" / "latest.json").write_text(json.dumps(later))
    assert read_run(run).state == "stopped"
    (run / "evaluation.json").write_text(json.dumps(EVALUATION | {"steps": 3000}))
    os.utime(run / "evaluation.json", (1000, 1000))  # a copy need not keep times
    assert read_run(run).state == "finished"


def test_a_run_is_running_as_long_as_a_process_holds_its_lock(tmp_path: Path) -> None:
    run = make(tmp_path / "run", saved=1)
    lock = run / FOLDER_LOCK
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stdout.readline() == "True\n"
        assert read_run(run).state == "running"
        process.kill()
    assert lock.exists() and read_run(run).state == "failed"


def test_looking_at_a_lock_does_not_stop_a_training_that_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / FOLDER_LOCK
    lock.touch()
    with lock.open() as reader:
        files.fcntl.flock(reader, files.fcntl.LOCK_SH)
        monkeypatch.setattr(files.time, "sleep", lambda _: files.fcntl.flock(reader, files.fcntl.LOCK_UN))
        with held(lock) as mine:
            assert mine and is_held(lock)
    assert not is_held(lock) and not is_held(tmp_path / "missing")


def test_a_run_is_read_with_its_last_and_best_metrics(tmp_path: Path) -> None:
    found = read_run(make(tmp_path / "run", rows=3, evaluated=True))
    assert (found.metric("steps"), found.metric("blinds"), found.target) == (3000, 3.5, 4000)
    assert found.best == {"blinds": 3.5, "win_rate": 0.03}
    assert found.evaluation and found.evaluation.blinds == (12.5, 11.75, 13.25)
    assert (found.kind, found.game) == ("ppo, mlp", "b_red, stake 1")


def test_runs_of_a_comparison_are_found_and_other_folders_are_named(tmp_path: Path) -> None:
    make(tmp_path / "cmp" / "ppo" / "seed-0")
    make(tmp_path / "cmp" / "ppo" / "seed-1")
    (tmp_path / "notes" / "old").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "cmp")
    (tmp_path / ".hidden").mkdir()
    found = list_runs(tmp_path)
    assert [run.name for run in found.runs] == ["cmp/ppo/seed-0", "cmp/ppo/seed-1"]
    assert list(found.others) == ["notes"]


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("config.yaml", "a: [", "config.yaml: line"),
        ("config.yaml", "a: 1", "does not contain the settings of a run"),
        ("metrics.csv", HEAD + "1,x,1,1,1,1,1,1\n", "line 2, column 'steps' is 'x'"),
        ("evaluation.json", "[1]", "not a JSON object"),
        ("evaluation.json", '{"games": 3}', "not the evaluation of a run"),
        ("checkpoints/latest.json", "{", "invalid JSON"),
    ],
)
def test_a_damaged_run_is_one_line_and_the_others_are_listed(
    tmp_path: Path, ante: Callable[..., tuple[int, str]], file: str, text: str, why: str
) -> None:
    make(tmp_path / "whole")
    (make(tmp_path / "broken") / file).write_text(text)
    code, said = ante("runs", str(tmp_path))
    (line,) = (line for line in said.splitlines() if line.startswith("not listed: broken: "))
    assert code == 0 and why in line and "whole" in said


def test_the_list_is_sorted_filtered_and_says_what_each_run_reached(
    tmp_path: Path, ante: Callable[..., tuple[int, str]]
) -> None:
    make(tmp_path / "old", rows=4, saved=4, evaluated=True)
    for file in ("config.yaml", "metrics.csv", "evaluation.json", "checkpoints/latest.json"):
        os.utime(tmp_path / "old" / file, (1000, 1000))
    make(tmp_path / "new")

    def order(*words: str) -> list[str]:
        data = json.loads(ante("runs", str(tmp_path), "--json", *words)[1])
        return [run["name"] for run in data["runs"]]

    assert order() == ["new", "old"]
    assert order("--sort", "steps") == order("--sort", "evaluation") == ["old", "new"]
    assert order("--match", "n*") == ["new"]
    said = ante("runs", str(tmp_path))[1]
    for part in (
        "4.0k (100%)",
        "2.0k (50%)",
        "finished",
        "stopped",
        "12.50 (11.75 to 13.25)",
        "25.0% (17.5% to 34.3%)",
    ):
        assert part in said


def test_a_narrow_list_leaves_out_columns(
    tmp_path: Path, ante: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "one", evaluated=True)
    monkeypatch.setenv("COLUMNS", "80")
    table, _, left_out = ante("runs", str(tmp_path))[1].partition("columns that need a wider terminal:")
    assert max(map(len, table.splitlines())) <= 80
    assert " eval wins" in " ".join(left_out.split()) and "12.50 (11.75 to 13.25)" in table


def test_two_runs_are_compared(tmp_path: Path, ante: Callable[..., tuple[int, str]]) -> None:
    one = make(tmp_path / "one", evaluated=True)
    two = make(tmp_path / "two", **{"algo.lr": 0.0123, "games.stake": 2})
    said = ante("runs", str(one), str(two))[1]
    assert [line.split()[1] for line in said.splitlines() if "0.0123" in line] == ["algo.lr"]
    for part in ("games.stake", "12.50 (11.75 to 13.25)", "not evaluated", "b_red, stake 2"):
        assert part in said
    assert "games.deck" not in said, "equal settings are left out"
    data = json.loads(ante("runs", str(one), str(two), "--json")[1])
    assert data["settings"] == {
        "algo.lr": {"one": data["runs"]["one"]["config"]["algo.lr"], "two": 0.0123},
        "games.stake": {"one": 1, "two": 2},
    }
    for other, why in ((tmp_path / "three", "has no config.yaml"), (one, "given twice")):
        code, said = ante("runs", str(one), str(other))
        assert code == 2 and why in said


def test_a_run_below_runs_is_found_by_its_name(
    tmp_path: Path, ante: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "runs" / "one")
    make(tmp_path / "runs" / "two")
    monkeypatch.chdir(tmp_path)
    assert list(json.loads(ante("runs", "one", "two", "--json")[1])["runs"]) == ["one", "two"]


def test_the_runs_of_a_store_are_listed_without_its_checkpoints(
    tmp_path: Path, ante: Callable[..., tuple[int, str]]
) -> None:
    make(tmp_path / "done", evaluated=True)
    part = make(tmp_path / "part")
    (part / "checkpoints" / "000000002000" / "run").mkdir(parents=True)
    (part / "checkpoints" / "000000002000" / "run" / "config.yaml").write_bytes((part / "config.yaml").read_bytes())
    url = f"file://{tmp_path}"
    data = json.loads(ante("runs", url, "--json", "--sort", "name")[1])
    assert [(run["name"], run["state"]) for run in data["runs"]] == [("done", "finished"), ("part", "unfinished")]
    both = json.loads(ante("runs", f"{url}/done", f"{url}/part", "--json")[1])
    assert list(both["runs"]) == ["done", "part"]
    code, said = ante("runs", f"{url}/done", f"{url}/none")
    assert code == 2 and "is not a run" in said
