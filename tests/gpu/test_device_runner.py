"""Fragments of the runner whose games lie on a device are what the CPU's games and the policy say, step by step."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ante.env.games import Games, Outcome
from tests.gpu.sampling import FRAGMENTS, SEED, SETTINGS, STEPS
from tests.gpu.test_equality import HAS_DEVICE, ROOT, SIMULATOR

torch = pytest.importorskip("torch")
pytest.importorskip("numba_cuda")
pytestmark = pytest.mark.slow
N = SETTINGS["games"]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """What tests/gpu/sampling.py found, on the device or else on the simulator."""
    out = tmp_path_factory.mktemp("sampling") / "played.npz"
    simulated = {} if HAS_DEVICE else SIMULATOR
    subprocess.run(
        [sys.executable, "-m", "tests.gpu.sampling", out], env={**os.environ, **simulated}, cwd=ROOT, check=True
    )
    with np.load(out) as data:
        return dict(data)


def whole(played: dict[str, np.ndarray], name: str) -> np.ndarray:
    """One array of all fragments, step after step."""
    return np.concatenate([played[f"{k}.{name}"] for k in range(FRAGMENTS)])


def games_of_the_cpu() -> Games:
    from ante.training.config import TrainConfig
    from ante.training.games import env_config

    return Games(N, **env_config(TrainConfig(**SETTINGS)), seed=SEED)


def test_rows_rewards_and_ends_are_those_of_the_cpus_games(played: dict[str, np.ndarray]) -> None:
    from ante.training.packed import flat_row_t, pack_flat
    from ante.training.rollout import Tally

    games, tally = games_of_the_cpu(), Tally(np.zeros(N))
    games.reset()
    row, outcomes = np.zeros(N, dtype=flat_row_t), set()

    def packed() -> np.ndarray:
        pack_flat(games.flat, games.masks, row)
        return row.view(np.uint8).reshape(N, -1).copy()

    for k in range(FRAGMENTS):
        part = {name: played[f"{k}.{name}"] for name in ("rows", "actions", "rewards", "cut", "terminal", "places")}
        rows, last_sights = part["rows"].reshape(STEPS, N, -1), []
        for t in range(STEPS):
            assert np.array_equal(rows[t], packed()), (k, t)
            games.step(part["actions"][t])
            assert np.array_equal(part["rewards"][t], games.rewards.astype(np.float32))
            assert np.array_equal(part["cut"][t], games.outcome != 0)
            assert np.array_equal(part["terminal"][t], games.terminated)
            ended = np.flatnonzero(games.outcome)
            outcomes |= set(games.outcome[ended].tolist())
            tally.add(games, ended, np.zeros(N, dtype=np.bool_))
            off = np.flatnonzero(games.outcome == Outcome.TRUNCATED)
            last_sights += [(t * N + i, packed()[i]) for i in off]
            games.reset(ended)
        assert part["places"].tolist() == [place for place, _ in last_sights]
        extra = played[f"{k}.extra"].reshape(N + len(last_sights), -1)
        assert np.array_equal(extra, np.stack([*packed(), *(sight for _, sight in last_sights)]))
    assert outcomes == {Outcome.LOST, Outcome.TRUNCATED}
    assert len(tally.last) >= N
    assert np.array_equal(np.array(tally.last), played["statistics"])
    assert np.array_equal(tally.returns, played["returns"])


def test_decisions_are_the_policys(played: dict[str, np.ndarray]) -> None:
    from ante.training.packed import PackedPolicy, flat_row_t
    from ante.training.rows import unpack

    seen, answered = PackedPolicy.spaces()
    hidden = {"hidden": list(SETTINGS["hidden"])}
    policy = PackedPolicy(observation_space=seen, action_space=answered, model_config=hidden)
    prefix = "weights."
    policy.load_state_dict(
        {
            name.removeprefix(prefix): torch.from_numpy(array)
            for name, array in played.items()
            if name.startswith(prefix)
        }
    )
    rows = whole(played, "rows").reshape(-1).view(flat_row_t)
    actions = whole(played, "actions").reshape(-1)
    with torch.no_grad():
        log_probs, entropies, values = policy.evaluate(rows, actions)
    assert unpack(rows)[1][np.arange(len(rows)), actions].all()
    assert np.allclose(log_probs, whole(played, "log_probs").reshape(-1), atol=1e-4)
    assert np.allclose(values, whole(played, "values").reshape(-1), atol=1e-4)
    # Draws follow the policy: over all steps, surprise is what entropy says, within four standard errors.
    surprise = -whole(played, "log_probs").reshape(-1) - entropies.numpy()
    assert abs(surprise.mean()) < 4 * surprise.std() / np.sqrt(len(surprise))
    assert entropies.mean() > 0.5


def test_what_it_samples_can_be_learned_from(played: dict[str, np.ndarray]) -> None:
    sampled = played["sampled"].reshape(2, -1)
    assert sampled.shape[1] == 3 * N
    assert np.isfinite(sampled).all()
    assert (sampled[0] != 0).any()
