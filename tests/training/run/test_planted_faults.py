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
from tests.training.run.test_survival import TINY, assert_whole, flags

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
    says      parts of its last line on standard error
    """

    planted: str
    settings: dict[str, Any]
    code: int
    says: tuple[str, ...]

    @property
    def is_bug(self) -> bool:
        """Whether the fault is an error in the code of a process."""
        return "bug" in self.planted


LEARNER = "ante.training.learning.ppo:PPOLearner._minibatch"
RUNNER = "ante.training.sampling.runner:BatchRunner.fragment"
CALLBACK = "ray.rllib.callbacks.callbacks:RLlibCallback.on_train_result"
STATE = "ante.training.sampling.runner:BatchRunner.set_state"
GAMES = "ante.training.sampling.runner:BatchRunner.sampler_state"
PLANTED = "planted_faults/sitecustomize.py:"  # where planted bugs are raised
ONE_RUNNER, ONE_LEARNER = {"resources.runners": 1}, {"resources.learners": 1}


def bug(method: str, call: int, says: str = "", kind: str = "bug", **settings: Any) -> Fault:
    """Return a bug in a method; `says`: of its process."""
    owner = method.split(":")[1].split(".")[0]
    sentence = f"ante: ValueError: a planted bug in {owner}; raised at ", f"{PLANTED}", says
    end = "; traceback: runs/faulty/error.txt; continue with: ante train --resume runs/faulty"
    return Fault(f"{method}:{kind}:{call}", settings, 1, (*sentence, end))


STOPS = {
    "gradients without a number": Fault(
        f"{LEARNER}:nan:4",
        {"steps": 256 * 40},
        2,
        (
            "ante: training diverged: none of the last 20 gradient steps had a finite gradient",
            "from the newest checkpoint: ante train --config runs/faulty/config.yaml --from runs/faulty@000000000512",
        ),
    ),
    "bug in the learner": bug(LEARNER, 4),
    "bug in a learner process": bug(LEARNER, 4, " in process ", **ONE_LEARNER),
    "bug in the sampling code": bug(RUNNER, 4),
    "bug in an env runner process": bug(RUNNER, 4, " in env runner 1;", **ONE_RUNNER),
    "bug in an env runner that receives weights": bug(STATE, 5, " in env runner 1;", "worker_bug", **ONE_RUNNER),
    "bug in an env runner that returns its games": bug(GAMES, 2, " in env runner 1;", **ONE_RUNNER),
    "bug in a callback": bug(CALLBACK, 4),
    "bug in the reward": bug(
        "tests.support.rewards:Sound.after", 50, **{"games.reward": "tests.support.rewards:Sound"}
    ),
    "memory that the learner cannot get": Fault(
        f"{LEARNER}:memory:4", {}, 2, ("ante: out of memory: a planted lack of memory; reduce the size",)
    ),
    "memory that a learner process cannot get": Fault(
        f"{LEARNER}:memory:4", ONE_LEARNER, 2, ("ante: out of memory: a planted lack of memory; reduce the size",)
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
    last = begun.stderr.splitlines()[-1]
    assert begun.returncode == fault.code, begun.stderr
    assert all(words in last for words in fault.says), last
    folder = tmp_path / "runs" / "faulty"
    assert find_checkpoint(folder / "checkpoints")[1]["timesteps"] >= 512
    assert ("Traceback" in begun.stderr, (folder / "error.txt").exists()) == (False, fault.is_bug)
    if fault.is_bug:
        written = (folder / "error.txt").read_text()
        assert "Traceback" in written and "sitecustomize.py" in written and "ValueError: a planted bug" in written

    resumed = train(tmp_path, "", ["--resume", "runs/faulty", "--steps", str(SETTINGS["steps"])])
    assert resumed.returncode == 0, resumed.stderr
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
