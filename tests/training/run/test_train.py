"""`ante train` on the command line: a run, its folder, resuming, stopping, and errors."""

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import pyarrow.parquet
import pytest
import yaml

from ante.events.log import stored_in

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
SMALL = [
    "--policy.kind",
    "mlp",
    "--resources.games-per-runner",
    "16",
    "--algo.batch",
    "512",
    "--algo.minibatch",
    "256",
    "--algo.epochs",
    "1",
    "--policy.hidden",
    "32",
    "--evaluation.games",
    "4",
    "--checkpoints.every",
    "2",
]


def ante(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ante.cli", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def latest(folder: Path) -> dict[str, float]:
    return dict(json.loads((folder / "checkpoints" / "latest.json").read_text()))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which `ante train` has created runs/small."""
    folder = tmp_path_factory.mktemp("train")
    bus = ["--tracking.events", str(folder / "events.sqlite")]
    done = ante("train", "--name", "small", "--steps", "2000", "--games.deck", "b_blue", *SMALL, *bus, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "mean ante" in done.stdout and "episode.mp4" in done.stdout
    return folder


def test_a_run_leaves_everything_in_its_folder(place: Path) -> None:
    run = place / "runs" / "small"
    config = yaml.safe_load((run / "config.yaml").read_text())
    kept = (config["steps"], config["games"]["deck"], config["policy"]["hidden"])
    assert kept == (2000, "b_blue", [32])
    written = rows(run)
    assert [int(row["iteration"]) for row in written] == list(range(1, len(written) + 1))
    assert int(written[-1]["steps"]) >= 2000
    assert int(written[-1]["games"]) > 10
    assert float(written[-1]["entropy"]) > 0
    assert pyarrow.parquet.read_table(run / "metrics.parquet").num_rows == len(written)
    assert any((run / "tensorboard").iterdir())
    found = latest(run)
    assert found["timesteps"] == int(written[-1]["steps"])
    assert {"reward", "games", "timestamp", "iteration"} <= set(found)
    assert (run / "checkpoints" / "best.json").exists()
    report = json.loads((run / "evaluation.json").read_text())
    assert (report["player"], report["games"], report["deck"]) == ("small", 4, "b_blue")
    index = json.loads((run / "episodes" / "index.json").read_text())["episodes"]
    assert sum(row["final"] for row in index) == 4 and sum("best" in row["why"] for row in index) == 1
    assert {"highest_hand", "most_blinds", "longest_game"} == {rule for row in index for rule in row["highlights"]}
    assert all((run / "episodes" / row[name]).is_file() for row in index for name in ("replay", "notes") if row[name])
    assert json.loads((run / "machine.json").read_text())["cores"] >= 1
    assert (run / "report.html").read_text().count("data-trace=") > len(index)
    with av.open(str(run / "episode.mp4")) as video:
        assert sum(1 for _ in video.decode(video=0)) > 20


def test_its_events_tell_the_same_as_its_files(place: Path) -> None:
    events = [each.event for each in stored_in(place / "events.sqlite", 10**6)]
    assert {event.source for event in events} == {"train/small"}
    states = [event.run_state for event in events if event.HasField("run_state")]
    written = rows(place / "runs" / "small")
    assert [state.steps for state in states[:-1]] == [int(row["steps"]) for row in written]
    assert [state.state for state in states] == ["learning"] * len(written) + ["finished"]
    published = [event.checkpoint_published for event in events if event.HasField("checkpoint_published")]
    assert published[-1].steps == latest(place / "runs" / "small")["timesteps"]
    assert published[-1].model_digest == latest(place / "runs" / "small")["seal"]


def test_a_trained_policy_is_evaluated_and_played(place: Path) -> None:
    done = ante("eval", "runs/small", "--games", "3", "--json", cwd=place)
    assert json.loads(done.stdout)["games"] == 3
    done = ante("play", "runs/small", "--seed", "TESTSEED", "--video", "a.mp4", cwd=place)
    assert done.returncode == 0, done.stderr
    assert (place / "a.mp4").stat().st_size > 5000


def test_another_run_starts_from_it_and_its_release_says_so(place: Path) -> None:
    done = ante("train", "--from", "runs/small", "--name", "other", "--steps", "512", *SMALL[:-2], cwd=place)
    assert done.returncode == 0, done.stderr
    (ancestor,) = json.loads((place / "runs" / "other" / "lineage.json").read_text())["lineage"]
    best = json.loads((place / "runs" / "small" / "checkpoints" / "best.json").read_text())["checkpoint"]
    weights = place / "runs" / "small" / "checkpoints" / best / "weights.npz"
    assert ancestor["weights_sha256"] == hashlib.sha256(weights.read_bytes()).hexdigest()
    assert ante("export", "runs/other", "models/other", cwd=place).returncode == 0
    assert f"started from | `small`, checkpoint {best}" in (place / "models" / "other" / "README.md").read_text()
    done = ante("train", "--from", "runs/small", "--name", "wide", *SMALL, "--policy.hidden", "64", cwd=place)
    assert (done.returncode, (place / "runs" / "wide").exists()) == (2, False)
    assert "runs/small has policy.hidden [32], but this run has policy.hidden [64]" in done.stderr


def test_a_run_is_not_overwritten(place: Path) -> None:
    done = ante("train", "--name", "small", *SMALL, cwd=place)
    assert done.returncode == 2
    assert "run runs/small exists: continue it with --resume runs/small" in done.stderr


def test_resuming_goes_on_where_the_run_stopped(place: Path) -> None:
    run = place / "runs" / "small"
    before, old = latest(run), rows(run)
    done = ante("train", "--resume", "runs/small", "--steps", "4000", cwd=place)
    assert done.returncode == 0, done.stderr
    after, new = latest(run), rows(run)
    assert after["timesteps"] >= 4000 > before["timesteps"]
    assert new[: len(old)] == old
    assert int(new[len(old)]["steps"]) > int(old[-1]["steps"])
    assert after["games"] > before["games"]
    assert after["iteration"] == len(new)


def test_resuming_a_complete_run_says_so_and_changes_nothing(place: Path) -> None:
    run = place / "runs" / "small"
    before = {file: file.stat().st_mtime_ns for file in run.rglob("*") if file.is_file() and file.name != ".lock"}
    done = ante("train", "--resume", "runs/small", cwd=place)
    assert done.returncode == 0, done.stderr
    steps = latest(run)["timesteps"]
    assert f"run runs/small is complete ({steps:,} of 4,000 steps); raise --steps to continue" in done.stderr
    assert {file: file.stat().st_mtime_ns for file in before} == before
    (run / "evaluation.json").unlink()  # as if the run was killed before its evaluation
    done = ante("train", "--resume", "runs/small", cwd=place)
    assert (done.returncode, "is complete" in done.stderr) == (0, False), done.stderr
    assert (run / "evaluation.json").exists() and latest(run)["timesteps"] == steps


def test_a_resumed_run_keeps_its_learning_settings(place: Path) -> None:
    done = ante("train", "--resume", "runs/small", "--algo.lr", "0.1", cwd=place)
    assert done.returncode == 2
    assert "lr is 0.0003 in this run and cannot become 0.1" in done.stderr


def test_a_truncated_checkpoint_is_refused_and_training_continues_from_the_previous_one(place: Path) -> None:
    run = place / "runs" / "small"
    checkpoint = run / "checkpoints" / str(latest(run)["checkpoint"])
    file = max((path for path in checkpoint.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    whole, steps = file.read_bytes(), int(latest(run)["timesteps"])
    before = sorted(path.name for path in (run / "checkpoints").iterdir() if path.is_dir())[-2]
    file.write_bytes(whole[: len(whole) // 2])
    done = ante("eval", "runs/small", "--checkpoint", "latest", cwd=place)
    assert done.returncode == 2
    assert "is damaged" in done.stderr and file.name in done.stderr
    done = ante("train", "--resume", "runs/small", "--steps", str(steps), cwd=place)
    assert done.returncode == 0, done.stderr
    assert "is damaged" in done.stderr and "trying the previous one" in done.stderr
    assert f"after {int(before[:12]):,} steps" in done.stderr
    assert [int(row["iteration"]) for row in rows(run)] == list(range(1, latest(run)["iteration"] + 1))
    assert latest(run)["timesteps"] == steps


def test_control_c_leaves_a_checkpoint_to_resume_from(place: Path) -> None:
    command = [sys.executable, "-m", "ante.cli", "train", "--name", "long", "--steps", "100000000", *SMALL]
    process = subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, text=True)
    run = place / "runs" / "long"
    deadline = time.monotonic() + 120
    while not ((run / "metrics.csv").exists() and len(rows(run)) >= 3):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "continue with: ante train --resume runs/long" in said
    assert latest(run)["iteration"] == len(rows(run))
    assert not (run / "evaluation.json").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stepz: 5\n", "unknown setting 'stepz': did you mean steps?"),
        ("games: {deck: b_rad}\n", "did you mean b_red"),
        ("deck: b_red\n", "unknown setting 'deck': did you mean games.deck?"),
        ("steps: many\n", "steps: Input should be a valid integer"),
    ],
)
def test_a_bad_file_is_a_sentence_and_makes_no_run(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    done = ante("train", "--config", "c.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.nightly
def test_mlflow_agrees_with_metrics_csv_across_a_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "tracked").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    wait = ["--tracking.wait-seconds", "120"]
    first = ante(
        "train", "--name", "told", "--steps", "1500", "--tracking.trackers", "mlflow", *wait, *SMALL, cwd=tmp_path
    )
    again = ante("train", "--resume", "runs/told", "--steps", "3000", cwd=tmp_path)
    assert "mlflow: 3 rows in file://" in first.stderr and "mlflow: 6 rows in file://" in again.stderr, again.stderr
    run = json.loads((tmp_path / "runs/told/tracking/mlflow.json").read_text())["id"]
    client = MlflowClient()
    for name in ("steps", "entropy", "return"):
        written = [float(row[name]) for row in rows(tmp_path / "runs/told")]
        assert [each.value for each in client.get_metric_history(run, name)] == written and len(written) == 6
    there = client.get_run(run)
    evaluated = json.loads((tmp_path / "runs/told/evaluation.json").read_text())
    assert there.data.metrics["evaluation/mean_blinds"] == evaluated["mean_blinds"]
    assert there.data.tags["resumed.steps"] == "3000" and there.info.status == "FINISHED"
