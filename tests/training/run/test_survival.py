"""Runs with little memory and killed runs: they reduce their sizes or restart, and complete."""

import csv
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from ante.training.run.memory import MemoryGauge
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.run_store.state_files import read_state

pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
TINY = {
    "resources.games_per_runner": 16,
    "algo.batch": 256,
    "algo.minibatch": 256,
    "algo.epochs": 1,
    "policy.kind": "mlp",
    "policy.hidden": (16,),
    "games.max_decisions": 60,
    "evaluation.games": 1,
    "resources.object_store_gb": 0.1,
}


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def sizes(folder: Path) -> list[tuple[int, int]]:
    """Return minibatch and games of each iteration."""
    return [(int(row["minibatch"]), int(row["games_per_runner"])) for row in rows(folder)]


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, resume: bool = False, **settings: Any) -> Path:
    """Run `ante train` in this process, without its final evaluation."""
    from ante.training.run import loop
    from ante.training.settings.config import make_config

    monkeypatch.setattr(loop, "conclude", lambda *_: None)
    return loop.train(make_config({**TINY, "runs": str(folder), **settings}), resume)


def test_a_run_with_little_memory_reduces_its_sizes_permanently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take = MemoryGauge.take
    monkeypatch.setattr(MemoryGauge, "take", lambda gauge: gauge.read() or take(gauge))  # one reading per iteration
    folder = run(monkeypatch, tmp_path, steps=256 * 6, **{"resources.memory_gb": 0.3})
    assert sizes(folder) == [(256, 16), (256, 16), (128, 16), (64, 16), (64, 8), (64, 8)]
    said = capsys.readouterr()
    assert "if it remains, minibatch and games are reduced" in said.err
    assert [said.err.count(words) for words in ("from 256 to 128", "from 128 to 64", "from 16 to 8")] == [1, 1, 1]
    assert "cannot be reduced further" in said.err
    assert "driver" in said.out and "Ray itself" in said.out
    peaks = [float(row["memory_peak_gb"]) for row in rows(folder)]
    assert peaks == sorted(peaks) and 0.3 < peaks[0] < 8
    assert not (folder / "spill").exists()
    run(monkeypatch, tmp_path, resume=True, steps=256 * 7, **{"resources.memory_gb": 0.3})
    assert sizes(folder)[6] == (64, 8), "smaller sizes outlive the process"
    run(monkeypatch, tmp_path, resume=True, steps=256 * 8, **{"resources.memory_gb": 8.0})
    assert sizes(folder)[7] == (256, 16), "another budget, another try"


def optimizer_steps(folder: Path) -> set[int]:
    """Return Adam's step counts, over all parameters, in the latest checkpoint."""
    checkpoint, _ = find_checkpoint(folder / "checkpoints")
    learner = read_state(checkpoint)["learner_group"]["learner"]
    parameters = learner["optimizer"]["default_policy_default_optimizer"]["state"]["state"]
    return {int(each["step"]) for each in parameters.values()}


def assert_whole(folder: Path, iterations: int) -> None:
    """Check that the run made each iteration once, with one gradient step each, and that its checkpoints are intact."""
    assert [int(row["iteration"]) for row in rows(folder)] == list(range(1, iterations + 1))
    assert [int(row["steps"]) for row in rows(folder)] == [256 * i for i in range(1, iterations + 1)]
    assert optimizer_steps(folder) == {iterations}
    assert find_checkpoint(folder / "checkpoints")[1]["timesteps"] == 256 * iterations
    find_checkpoint(folder / "checkpoints", "best")


def flags(settings: dict[str, Any]) -> list[str]:
    """Return settings as command-line flags."""
    named = {name.replace("_", "-"): value for name, value in settings.items()}
    values = {name: value if isinstance(value, tuple) else (value,) for name, value in named.items()}
    return [word for name, value in values.items() for word in (f"--{name}", *map(str, value))]


@pytest.mark.nightly
def test_a_run_killed_ten_times_ends_with_all_its_updates_and_no_lost_checkpoint(tmp_path: Path) -> None:
    """SIGKILL, once during the start, then at random moments, until 60 iterations are done."""
    folder, moment = tmp_path / "runs" / "killed", random.Random(7)
    ante = [sys.executable, "-m", "ante.cli", "train"]
    fresh = [*ante, "--name", "killed", "--steps", str(60 * 256), "--checkpoints.every", "2", *flags(TINY)]

    def start() -> subprocess.Popen[str]:
        begun = (folder / "config.yaml").exists()
        command = [*ante, "--resume", "runs/killed"] if begun else fresh
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    for kill in range(10):
        process = start()
        if kill == 0:
            time.sleep(moment.uniform(0.5, 6.0))
        else:
            deadline = time.monotonic() + 120
            while not (folder / "metrics.csv").exists() or len(rows(folder)) < 5 * kill:
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < deadline
                time.sleep(0.01)
            time.sleep(moment.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for pointer in (folder / "checkpoints").glob("*.json"):
            find_checkpoint(folder / "checkpoints", pointer.stem)
    process = start()
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert_whole(folder, 60)
    assert json.loads((folder / "evaluation.json").read_text())["games"] == 1
    assert [path.name for path in (folder / "checkpoints").iterdir() if path.name.startswith(".")] == []


def test_a_killed_learner_restarts_from_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import ray

    from ante.training.run import loop

    build, columns, built = loop.build, loop.memory_columns, []
    monkeypatch.setattr(loop, "build", lambda config: built.append(build(config)) or built[-1])

    def killing(gauge: Any, sizes: Any) -> dict[str, float]:
        if len(built) == 1 and built[0].iteration == 3:
            ray.kill(next(iter(built[0].learner_group._worker_manager.actors().values())))
        return columns(gauge, sizes)

    monkeypatch.setattr(loop, "memory_columns", killing)
    folder = run(
        monkeypatch,
        tmp_path,
        steps=256 * 5,
        **{"checkpoints.every": 2, "resources.learners": 1},
    )
    said = capsys.readouterr().err
    assert said.count("a process was lost (ActorDiedError") == 1
    assert "restart 1 of 3" in said and "after 512 steps" in said
    assert_whole(folder, 5)


def losing(monkeypatch: pytest.MonkeyPatch, moments: list[int]) -> None:
    """Lose a process before the n-th iteration, counted across restarts, for each n of moments."""
    from ray.exceptions import ActorDiedError
    from ray.rllib.algorithms import Algorithm

    original, begun = Algorithm.train, []

    def train(algorithm: Any) -> Any:
        begun.append(1)
        if len(begun) in moments:
            raise ActorDiedError()
        return original(algorithm)

    monkeypatch.setattr(Algorithm, "train", train)


def test_losses_are_counted_again_from_each_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    losing(monkeypatch, [1, 2, 5, 8])  # two before the first checkpoint, then one after each of two
    folder = run(
        monkeypatch,
        tmp_path,
        steps=256 * 5,
        **{"checkpoints.every": 2, "resources.restarts": 2},
    )
    said = capsys.readouterr().err
    assert [said.count(f"restart {i} of 2") for i in (1, 2, 3)] == [3, 1, 0]
    assert_whole(folder, 5)


def test_a_loss_while_the_run_restarts_counts_as_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ray.exceptions import ActorDiedError

    from ante.training.run import loop

    restore, begun = loop.restore_algorithm, []

    def lost_once(*words: Any) -> Any:
        begun.append(1)
        if len(begun) == 1:
            raise ActorDiedError()
        return restore(*words)

    losing(monkeypatch, [3])
    monkeypatch.setattr(loop, "restore_algorithm", lost_once)
    folder = run(monkeypatch, tmp_path, steps=256 * 4, **{"checkpoints.every": 2, "resources.restarts": 2})
    said = capsys.readouterr().err
    assert len(begun) == 2 and [said.count(f"restart {i} of 2") for i in (1, 2)] == [1, 1]
    assert_whole(folder, 4)


def test_too_many_losses_in_a_row_end_the_run_with_their_cause_and_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.exceptions import ActorDiedError

    losing(monkeypatch, [3, 4, 5])
    with pytest.raises(ActorDiedError):
        run(
            monkeypatch,
            tmp_path,
            steps=256 * 5,
            **{"checkpoints.every": 2, "resources.restarts": 2},
        )
    assert find_checkpoint(tmp_path / "ppo" / "checkpoints")[1]["timesteps"] == 512


def test_short_evaluations_choose_the_best_checkpoint_and_change_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ante.agents.evaluate import evaluate
    from ante.agents.seed_lists import evaluation_seeds
    from ante.training.acting.player import make_player
    from ante.training.policies.registry import load_policy

    blind = run(monkeypatch, tmp_path, name="blind", steps=256 * 4, **{"algo.lr": 0.01})
    seen = run(
        monkeypatch,
        tmp_path,
        name="seen",
        steps=256 * 4,
        **{"algo.lr": 0.01, "evaluation.every": 2, "evaluation.trial_games": 3},
    )
    own = ("seconds", "per_second", "memory", "eval")
    lines = [
        [{name: value for name, value in row.items() if not any(word in name for word in own)} for row in rows(folder)]
        for folder in (blind, seen)
    ]
    assert lines[0] == lines[1]
    tries = [float(row["eval_blinds"]) for row in rows(seen)]
    assert [math.isnan(value) for value in tries] == [True, False, True, False]
    policy, metadata = load_policy(seen, "best")
    assert metadata["iteration"] == (2 if tries[1] >= tries[3] else 4)
    report = evaluate(make_player(policy, "again"), evaluation_seeds(3), max_decisions=60)
    assert report.mean_blinds == metadata["trial"] == max(tries[1], tries[3])


def test_a_run_without_finite_gradients_ends_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.training.run.health import Diverged

    without_numbers(monkeypatch, range(3, 100))
    settings = {"checkpoints.every": 1, "algo.minibatch": 64}
    with pytest.raises(Diverged, match=r"last 20 gradient steps.*lower algo.lr.*ppo@000000000512 --name NEW"):
        run(monkeypatch, tmp_path, steps=256 * 20, **settings)
    assert [int(float(row["nonfinite_grad_steps"])) for row in rows(tmp_path / "ppo")] == [0, 0, *[4] * 5]
    kept = [path.name[:12] for path in sorted((tmp_path / "ppo" / "checkpoints").glob("0*"))]
    assert kept == ["000000000256", "000000000512"], "none while iterations are wasted"


def test_a_checkpoint_that_is_due_waits_for_an_iteration_that_is_not_wasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_numbers(monkeypatch, (4, 5))
    folder = run(monkeypatch, tmp_path, steps=256 * 8, **{"checkpoints.every": 4, "checkpoints.keep": 9})
    assert [path.name[:12] for path in sorted((folder / "checkpoints").glob("0*"))] == ["000000001536", "000000002048"]
    assert optimizer_steps(folder) == {6}


def without_numbers(monkeypatch: pytest.MonkeyPatch, iterations: Collection[int]) -> None:
    """Replace the gradients of these iterations, counted from 1, by NaN."""
    from ante.training.learning.ppo import PPOLearner

    learn, minibatch, begun = PPOLearner._learn, PPOLearner._minibatch, []

    def counted(learner: Any, *parts: Any) -> None:
        begun.append(1)
        learn(learner, *parts)

    def without_number(learner: Any, *parts: Any) -> Any:
        gradients, means = minibatch(learner, *parts)
        return {key: each * math.nan if len(begun) in iterations else each for key, each in gradients.items()}, means

    monkeypatch.setattr(PPOLearner, "_learn", counted)
    monkeypatch.setattr(PPOLearner, "_minibatch", without_number)


def test_iterations_that_lose_all_fragments_end_the_run_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ante.training.run.health import NoFragments
    from ante.training.sampling.training_data import Fragments

    rollouts, begun = Fragments.rollouts, []

    def lost(fragments: Any, estimated: Any) -> Any:
        begun.append(1)
        return ([], len(fragments.shares)) if len(begun) > 3 else rollouts(fragments, estimated)

    monkeypatch.setattr(Fragments, "rollouts", lost)
    with pytest.raises(NoFragments, match=r"in the last 10 iterations.*ppo continues from 000000000512$"):
        run(monkeypatch, tmp_path, steps=256 * 40, **{"checkpoints.every": 2})
    assert [float(row["fragments_lost"]) for row in rows(tmp_path / "ppo")] == [0.0] * 3 + [1.0] * 10


def test_an_error_that_a_learner_raises_is_not_a_lost_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    from ante.training.run import loop

    class Broken(ValueError):
        pass

    @ray.remote
    def broken() -> None:
        raise Broken("a bug in the learner")

    calls = []
    monkeypatch.setattr(loop, "learn", lambda *_: calls.append(1) or ray.get(broken.remote()))
    with pytest.raises(Broken, match="a bug in the learner"):
        run(monkeypatch, tmp_path, steps=256)
    assert calls == [1]


def test_an_error_that_a_runner_raises_ends_the_run_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ante.training.failures import RunnerFailed

    settings = {"resources.runners": 1, "games.reward": "tests.support.rewards:Faulty"}
    with pytest.raises(RunnerFailed, match=r"(?s)env runner 1 failed:.*rewards.py.*a bug in the reward"):
        run(monkeypatch, tmp_path, steps=256, **settings)
