"""Sweeps on a real Ray: they stop trials early, copy the best ones, survive the death of their process, and use a store."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from ante.training.run_store.checkpoints import find_checkpoint, read_metadata
from ante.training.settings.config import make_config
from ante.training.sweeps.saved import Point
from ante.training.sweeps.spec import read_sweep
from tests.storage.server import SECRET, Server
from tests.support.tiny import TINY

pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
SHORT = {"evaluation.trial_games": 8, "evaluation.games": 4}


@contextmanager
def quiet(before: dict[int, list[Point]]) -> Iterator[Any]:
    yield lambda point: None


def written(folder: Path, **keys: Any) -> Path:
    """Write the file of a sweep of tiny trials and return it."""
    common = {"name": "small", "runs": str(folder), "settings": {**TINY, **SHORT}, "steps": 2048, "every": 512}
    search = {"algo.lr": {"low": 1e-4, "high": 1e-2, "log": True}, "algo.epochs": {"choices": [1, 2]}}
    file = folder / "small.yaml"
    file.write_text(yaml.safe_dump({**common, "search": search, **keys}))
    return file


def run(file: Path) -> Any:
    """Run a sweep in this process and return its results."""
    from ante.training.sweeps.tuning import run_sweep

    return run_sweep(read_sweep(file), quiet, lambda words: None)


@pytest.mark.ray
@pytest.mark.nightly
@pytest.mark.usefixtures("local_ray")
def test_six_trials_copy_the_best_and_the_result_is_a_run(tmp_path: Path) -> None:
    from ante.training.players.release import player_from, read_release, write_release
    from ante.training.run.progress import progressed
    from ante.training.run_store.checkpoints import find_checkpoint
    from ante.training.settings.config import config_of_run
    from ante.training.sweeps.space import FACTORS
    from ante.training.sweeps.tuning import run_sweep

    search = {"algo.lr": {"low": 1e-4, "high": 1e-2, "log": True}}
    method = {"kind": "pbt", "quantile": 0.33, "resample": 0.0}
    file = written(tmp_path, search=search, method=method, trials=6, steps=1024)
    sweep, found = read_sweep(file), run(file)
    assert [[point.steps for point in trial.points] for trial in found.trials] == [[512, 1024]] * 6
    taken = [(trial.number, trial.points[1].parent) for trial in found.trials if trial.points[1].parent != trial.number]
    assert len(taken) == 2, "two of six copy others in the one comparison between evaluations"
    first = [trial.points[0] for trial in found.trials]
    for number, parent in taken:
        moved = found.trials[number].points[1].values["algo.lr"] / first[parent].values["algo.lr"]
        assert any(moved == pytest.approx(factor) for factor in FACTORS) or moved < 1.25
        better = sorted((point.score for point in first), reverse=True)
        assert first[parent].score >= better[1] and first[number].score <= better[3]
    assert [point.values for point in first] == sweep.starts()
    assert json.loads((sweep.folder / "results.json").read_text())["best"] == found.best.number
    assert all((sweep.folder / name).stat().st_size > 10_000 for name in ("lineage.png", "trials.png"))
    assert player_from(sweep.folder / "best").name == "best"
    assert json.loads((sweep.folder / "best" / "evaluation.json").read_text())["games"] == 4
    assert read_release(write_release(sweep.folder / "best", tmp_path / "release"))[1]["trained"]["timesteps"] == 1024
    progressed(config_of_run(sweep.folder / "best"), find_checkpoint(sweep.folder / "best" / "checkpoints")[1])
    assert run(file).trials == found.trials, "a complete sweep is left as it is"

    executed = plant_pickles(sweep.folder / "tune")
    for checkpoint in sweep.folder.glob("tune/*/checkpoint_*"):
        if json.loads((checkpoint / "trial" / "metadata.json").read_text())["steps"] == 1024:
            shutil.rmtree(checkpoint)  # as if the sweep had been stopped in between
            break
    resumed = run_sweep(sweep, quiet, lambda words: None)
    assert not executed.exists(), "a pickle in the folder was loaded"
    assert [[point.steps for point in trial.points] for trial in resumed.trials] == [[512, 1024]] * 6
    assert [trial.points[0].score for trial in resumed.trials] == [point.score for point in first]


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


def plant_pickles(place: Path) -> Path:
    """Replace all of Tune's state by pickles that create a file; return that file."""
    executed, files = place / "executed", [file for file in place.rglob("*") if file.suffix == ".pkl"]
    states = list(place.rglob("experiment_state-*.json"))
    assert {file.name for file in files} >= {"tuner.pkl", "params.pkl"} and states
    trap = pickle.dumps(Trap(executed))
    for file in files:
        file.write_bytes(trap)
    for folder in {file.parent for file in files}:
        (folder / "error.pkl").write_bytes(trap)
    for file in states:
        file.write_text(json.dumps({"_type": "CLOUDPICKLE_FALLBACK", "value": trap.hex()}))
    pickle.loads(trap)
    assert executed.exists(), "the trap works"
    executed.unlink()
    return executed


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.ray
@pytest.mark.nightly
def test_a_sweep_of_sixteen_trials_continues_after_its_process_is_killed(tmp_path: Path) -> None:
    """SIGKILL when a quarter of the evaluations is done; ended trials do not train again."""
    settings = {**TINY, **SHORT, "games.max_decisions": 400}
    file = written(tmp_path, settings=settings, method={"kind": "asha", "reduction": 2}, trials=16)
    command = [sys.executable, "-m", "ante.cli", "sweep", str(file)]
    record = tmp_path / "small" / "trials.jsonl"
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as first:
        deadline = time.monotonic() + 300
        while len(lines(record)) < 16:
            assert first.poll() is None and time.monotonic() < deadline, first.stderr and first.stderr.read()
            time.sleep(0.1)
        first.send_signal(signal.SIGKILL)
    before = lines(record)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    ended = [(each["trial"], each["steps"]) for each in before if each["ended"]]
    after = lines(record)
    assert ended and all(
        last <= steps for trial, last in ended for steps in [max(e["steps"] for e in after if e["trial"] == trial)]
    )
    assert len({(each["trial"], each["steps"]) for each in after}) == len(after), "no evaluation is repeated"
    results = json.loads((tmp_path / "small" / "results.json").read_text())
    states = [each["state"] for each in results["trials"]]
    assert len(states) == 16 and set(states) <= {"finished", "stopped early"}
    assert f"--preset {tmp_path / 'small' / 'best.yaml'}" in done.stdout
    unchanged = [each for each in before if (each["trial"], each["steps"]) in ended]
    assert all(each in after for each in unchanged)


IN_A_STORE = """
import sys
from contextlib import nullcontext
from pathlib import Path
from ante.training.rllib.cluster import init_ray
from ante.training.sweeps.spec import read_sweep
from ante.training.sweeps.tuning import run_sweep

init_ray(address="local", num_cpus=4, resources={"rollout": 2, "learning": 2})
started = []
found = run_sweep(read_sweep(Path(sys.argv[1])), lambda _: nullcontext(started.append), lambda words: None)
print(len(started), [[point.steps for point in trial.points] for trial in found.trials])
"""


@pytest.mark.ray
@pytest.mark.s3
@pytest.mark.nightly
def test_trials_with_runners_and_learners_train_into_a_store_and_continue_on_another_machine(
    server: Server, tmp_path: Path
) -> None:
    """The second start has none of the files of the first; the resources are those of the algorithm's processes."""
    places = {"resources.runners": 1, "resources.runner_resource": "rollout"}
    places |= {"resources.learners": 1, "resources.learner_resource": "learning", "resources.runner_cpus": 0.5}
    keys = {"method": "random", "trials": 2, "steps": 1024, "parallel": 1}
    store = f"s3:///sweeps/{tmp_path.name}"
    file = written(tmp_path, settings={**TINY, **SHORT, **places}, store=store, **keys)
    environment = {**os.environ, **server.environment()}

    def start() -> str:
        done = subprocess.run(
            [sys.executable, "-c", IN_A_STORE, str(file)], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    assert start() == "4 [[512, 1024], [512, 1024]]"
    secrets = [
        path for path in (tmp_path / "small").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert secrets == []
    shutil.rmtree(tmp_path / "small")
    assert start() == "0 [[512, 1024], [512, 1024]]"
    assert (tmp_path / "small" / "best" / "evaluation.json").exists()
    words = ("artifacts", "get", f"{store}/small/best/checkpoints", "fetched", "--pointer", "best")
    subprocess.run([sys.executable, "-m", "ante.cli", *words], env=environment, cwd=tmp_path, check=True)
    found = find_checkpoint(tmp_path / "small/best/checkpoints")[0]
    for name in read_metadata(found)["files"]:
        assert (tmp_path / "fetched" / name).read_bytes() == (found / name).read_bytes()


def test_a_trial_requests_the_resources_of_all_its_processes() -> None:
    from ante.training.sweeps.trial import bundles_of

    def bundles(**resources: Any) -> list[dict[str, float]]:
        return bundles_of(make_config({**TINY, **{f"resources.{name}": value for name, value in resources.items()}}))

    assert bundles() == [{"CPU": 1.0}]
    assert bundles(runner_gpus=0.25, learner_gpus=0.5) == [{"CPU": 1.0, "GPU": 0.75}]
    assert bundles(learner_gpus=1.0, learner_resource="trainer") == [{"CPU": 1.0, "GPU": 1.0, "trainer": 1.0}]
    assert bundles(learners=1, learner_cpus=2.0) == [{"CPU": 1.0}, {"CPU": 2.0}]
    assert bundles(learners=1, learner_gpus=0.5, learner_cpus=1.5) == [{"CPU": 1.0}, {"CPU": 1.5, "GPU": 0.5}]
    assert bundles(runners=2, runner_cpus=0.5, runner_resource="rollout", learner_gpus=1.0) == [
        {"CPU": 1.0, "GPU": 1.0},
        {"CPU": 0.5, "rollout": 1.0},
        {"CPU": 0.5, "rollout": 1.0},
    ]
    assert bundles(runners=1, learners=2, learner_gpus=1.0, learner_resource="trainer") == [
        {"CPU": 1.0},
        {"CPU": 1.0},
        {"GPU": 1.0, "trainer": 1.0},
        {"GPU": 1.0, "trainer": 1.0},
    ]
