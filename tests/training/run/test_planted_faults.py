"""`ante train` with a fault planted into one of its processes: its message, its exit code, and what a resumed run has.

The table in docs/explanation/fault-tolerance.md lists these cases.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ante.training.run_store.checkpoints import find_checkpoint
from tests.training.run.test_survival import TINY, assert_whole, flags, optimizer_steps, rows

pytestmark = [
    pytest.mark.ray,
    pytest.mark.nightly,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
ROOT = Path(__file__).resolve().parents[3]
ITERATIONS = 8
SETTINGS = {**TINY, "checkpoints.every": 2, "steps": 256 * ITERATIONS}


class Fault(NamedTuple):
    """A fault, and what `ante train` does.

    planted   as in tests/support/planted_faults
    settings  of the run
    code      exit code of the command
    says      parts of its standard error
    """

    planted: str
    settings: dict[str, Any]
    code: int
    says: tuple[str, ...]


LEARNER = "ante.training.learning.ppo:PPOLearner._minibatch"
RUNNER = "ante.training.sampling.runner:BatchRunner.fragment"
CALLBACK = "ray.rllib.callbacks.callbacks:RLlibCallback.on_train_result"
STOPS = {
    "gradients without a number": Fault(
        f"{LEARNER}:nan:4", {}, 2, ("ante: training diverged: no gradient of the last 3 iterations was finite",)
    ),
    "bug in the learner": Fault(f"{LEARNER}:bug:4", {}, 1, ("Traceback", "ValueError: a planted bug in PPOLearner")),
    "bug in a learner process": Fault(
        f"{LEARNER}:bug:4", {"resources.learners": 1}, 1, ("Traceback", "ValueError: a planted bug in PPOLearner")
    ),
    "bug in the sampling code": Fault(
        f"{RUNNER}:bug:4", {}, 1, ("Traceback", "ValueError: a planted bug in BatchRunner")
    ),
    "bug in an env runner process": Fault(
        f"{RUNNER}:bug:4",
        {"resources.runners": 1},
        2,
        ("ante: env runner 1 failed", "ValueError: a planted bug in BatchRunner"),
    ),
    "bug in a callback": Fault(f"{CALLBACK}:bug:4", {}, 1, ("Traceback", "ValueError: a planted bug in RLlibCallback")),
    "bug in the reward": Fault(
        "tests.support.rewards:Sound.after:bug:50",
        {"games.reward": "tests.support.rewards:Sound"},
        1,
        ("Traceback", "ValueError: a planted bug in Sound"),
    ),
}


def train(folder: Path, planted: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run `ante train` with a fault, or with none if `planted` is empty."""
    paths = [ROOT / "tests/support/planted_faults", ROOT / "src", ROOT]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "ANTE_FAULT": planted,
        "ANTE_FAULT_ONCE": str(folder / "once"),
    }
    command = [sys.executable, "-m", "ante.cli", "train", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)


@pytest.mark.parametrize("name", STOPS)
def test_a_fault_ends_the_run_with_its_cause_and_without_it_the_run_continues(name: str, tmp_path: Path) -> None:
    fault = STOPS[name]
    begun = train(tmp_path, fault.planted, ["--name", "faulty", *flags({**SETTINGS, **fault.settings})])
    assert begun.returncode == fault.code, begun.stderr
    assert all(words in begun.stderr for words in fault.says), begun.stderr
    folder = tmp_path / "runs" / "faulty"
    assert find_checkpoint(folder / "checkpoints")[1]["timesteps"] >= 512

    resumed = train(tmp_path, "", ["--resume", "runs/faulty"])
    assert resumed.returncode == 0, resumed.stderr
    skipped = sum(int(float(row["nonfinite_grad_steps"])) for row in rows(folder))
    if skipped:  # gradients without a number change nothing: the checkpoints are from before or after them
        assert optimizer_steps(folder) == {ITERATIONS - skipped}
        assert [int(row["steps"]) for row in rows(folder)] == [256 * i for i in range(1, ITERATIONS + 1)]
    else:
        assert_whole(folder, ITERATIONS)


@pytest.mark.parametrize(
    ("method", "settings", "says"),
    [
        (RUNNER, {"resources.runners": 1}, ""),
        (LEARNER, {"resources.learners": 1}, "a process was lost (ActorDiedError"),
    ],
)
def test_a_process_that_the_kernel_kills_is_replaced(
    method: str, settings: dict[str, Any], says: str, tmp_path: Path
) -> None:
    done = train(tmp_path, f"{method}:kill:4", ["--name", "faulty", *flags({**SETTINGS, **settings})])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "once").exists() and says in done.stderr
    assert_whole(tmp_path / "runs" / "faulty", ITERATIONS)
