"""The same data give the same update with 1, 2 and 4 learners and 1, 4 and 16 runners, also after the loss of a runner.

Recorded fragments stand for the runners. The learners are threads of this process, with a stub of the all-reduce;
tests/training/learning/test_learner.py compares one and two learners in processes.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.training.learning.test_updates import made

torch = pytest.importorskip("torch")
GAMES, STEPS = 16, 32
SETTINGS = {"algo.normalise_values": True, "algo.value_weight": 0.5, "algo.lr": 1e-3, "algo.batch": GAMES * STEPS}


class AllReduce:
    """A stub of `torch.distributed.all_reduce` for threads; `rank` is set in each of them."""

    def __init__(self, learners: int) -> None:
        self.barrier = threading.Barrier(learners, timeout=60)
        self.values: list[Any] = [None] * learners
        self.here = threading.local()

    def __call__(self, tensor: Any, op: Any = torch.distributed.ReduceOp.SUM) -> None:
        """Replace the tensor of each thread by the sum, or the minimum, over all of them."""
        self.values[self.here.rank] = tensor.clone()
        self.barrier.wait()
        whole = torch.stack(self.values)
        self.barrier.wait()
        tensor.copy_(whole.amin(dim=0) if op == torch.distributed.ReduceOp.MIN else whole.sum(dim=0))


def of_games(trajectory: Any, games: slice) -> Any:
    """Return the part of a trajectory that a runner with these games would have sent."""
    from ante.training.sampling.fragment import end_to_end

    names = ("rows", "actions", "log_probs", "rewards", "cut", "terminal")
    numbers = np.arange(GAMES)[games]
    steps, game = trajectory.places // GAMES, trajectory.places % GAMES
    mine = np.isin(game, numbers)
    places = steps[mine] * len(numbers) + np.searchsorted(numbers, game[mine])
    extra = end_to_end([trajectory.extra[:GAMES][games], trajectory.extra[GAMES:][mine]])
    columns = {name: np.ascontiguousarray(getattr(trajectory, name)[:, games]) for name in names}
    return replace(trajectory, **columns, extra=extra, places=places)


def recorded(kind: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return a runner, the trajectory and values that it has played, and its weights."""
    runner, _ = made(**SETTINGS, **{"algo.kind": kind})
    runner.deal()
    trajectory, values = runner._played(STEPS)
    assert trajectory.cut.any()
    return runner, (trajectory, values), dict(runner.module.get_state())


def fragments_of(kind: str, runner: Any, played: Any, runners: int) -> list[Any]:
    """Return the fragments that this number of runners would have sent of the same games."""
    trajectory, values = played
    size, found = GAMES // runners, []
    for i in range(runners):
        games = slice(i * size, (i + 1) * size)
        part = of_games(trajectory, games)
        found.append(part if kind == "appo" else runner._estimated(part, np.ascontiguousarray(values[:, games])))
    return found


def updated(kind: str, weights: dict[str, Any], fragments: list[Any], learners: int) -> list[dict[str, np.ndarray]]:
    """Return the gradients and statistics of each learner after one update on these fragments."""
    from ante.training.sampling.training_data import Fragments

    group = [made(**SETTINGS, **{"algo.kind": kind})[1] for _ in range(learners)]
    reduce = AllReduce(learners)

    def update(rank: int) -> dict[str, np.ndarray]:
        learner, reduce.here.rank = group[rank], rank
        learner._policy().set_state(weights)
        learner.config = learner.config.copy(copy_frozen=False)
        learner.config.num_learners = learners if learners > 1 else 0
        shard = Fragments(fragments).shard(learners)[rank][0]
        metrics = learner.update(training_data=shard, num_epochs=1, minibatch_size=None)["default_policy"]
        found = {name: each.grad.numpy().copy() for name, each in learner._policy().named_parameters()}
        found |= {name: getattr(learner._policy().value, name).numpy() for name in ("count", "mean", "spread")}
        return found | {name: np.array(float(metrics[name])) for name in ("policy_loss", "vf_loss", "entropy")}

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(learners) as pool:
        patch.setattr(torch.distributed, "all_reduce", reduce)
        return list(pool.map(update, range(learners)))


def assert_same(found: list[dict[str, np.ndarray]], wanted: dict[str, np.ndarray], case: Any) -> None:
    """Check that all learners made this update, up to rounding."""
    for each in found:
        for name, value in wanted.items():
            close = 1e-5 * float(np.abs(value).max()) + 1e-7
            np.testing.assert_allclose(each[name], value, rtol=1e-3, atol=close, err_msg=f"{case} {name}")


@pytest.mark.parametrize("kind", ["ppo", "appo"])
def test_the_numbers_of_learners_and_runners_do_not_change_the_update(kind: str) -> None:
    runner, played, weights = recorded(kind)
    fragments = {runners: fragments_of(kind, runner, played, runners) for runners in (1, 4, 16)}
    (wanted,) = updated(kind, weights, fragments[1], 1)
    assert max(float(np.abs(value).max()) for value in wanted.values()) > 1e-2
    for runners, parts in fragments.items():
        for learners in (1, 2, 4):
            assert_same(updated(kind, weights, parts, learners), wanted, (runners, learners))


@pytest.mark.parametrize("lost", [1, 2, 5])
def test_lost_runners_cost_their_steps_only(lost: int) -> None:
    """The other fragments are learned from as one learner would, though their number does not divide evenly."""
    runner, played, weights = recorded("ppo")
    parts = fragments_of("ppo", runner, played, 16)
    left = parts[:-lost]
    (wanted,) = updated("ppo", weights, left, 1)
    for learners in (2, 4):
        assert_same(updated("ppo", weights, left, learners), wanted, learners)
    (whole,) = updated("ppo", weights, parts, 1)
    assert float(whole["count"][0]) == GAMES * STEPS and float(wanted["count"][0]) == (GAMES - lost) * STEPS
