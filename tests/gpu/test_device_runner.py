"""Fragments of the device runner equal those of CPU games and the policy, step by step."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ante.env.games import Games, Outcome
from tests.gpu.sampling import FRAGMENTS, SEED, SETTINGS, STEPS
from tests.gpu.test_equality import HAS_DEVICE, ROOT, SIMULATOR

torch = pytest.importorskip("torch")
pytest.importorskip("numba_cuda")
pytestmark = pytest.mark.slow
N = SETTINGS["resources.games_per_runner"]


def sampled(out: Path, kind: str) -> dict[str, np.ndarray]:
    """Return the output of tests/gpu/sampling.py, on the device if there is one, else on the simulator."""
    simulated = {} if HAS_DEVICE else SIMULATOR
    command = [sys.executable, "-m", "tests.gpu.sampling", str(out), kind]
    subprocess.run(command, env={**os.environ, **simulated}, cwd=ROOT, check=True)
    with np.load(out) as data:
        return dict(data)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Return fragments of the mlp policy."""
    return sampled(tmp_path_factory.mktemp("sampling") / "played.npz", "mlp")


def test_dqn_explores_on_the_device_and_marks_what_the_cpus_games_show(tmp_path: Path) -> None:
    from ante.engine.core.state import Phase
    from ante.training.numerics.packed_rows import flat_row_t, unpack
    from ante.training.sampling.fragment import BOSS, JOKER

    found = sampled(tmp_path / "dqn.npz", "dqn")
    games = games_of_the_cpu()
    games.reset()
    for k in range(FRAGMENTS):
        rows = found[f"{k}.rows"].reshape(-1).view(flat_row_t).reshape(STEPS, N)
        for t in range(STEPS):
            assert np.array_equal(unpack(rows[t])[1], games.masks)
            assert games.masks[np.arange(N), found[f"{k}.actions"][t]].all()
            phase, jokers = games.states["phase"].copy(), games.states["n_jokers"].copy()
            games.step(found[f"{k}.actions"][t])
            beaten = (
                (phase == Phase.PLAY) & (games.states["phase"] == Phase.ROUND_END) & (games.states["beat_boss"] != 0)
            )
            wanted = BOSS * (beaten | (games.outcome == Outcome.WON)) + JOKER * (games.states["n_jokers"] > jokers)
            assert np.array_equal(found[f"{k}.marks"][t], wanted)
            assert np.array_equal(found[f"{k}.rewards"][t], games.rewards.astype(np.float32))
            games.reset(np.flatnonzero(games.outcome))
    log_probs = whole(found, "log_probs")
    likely = log_probs > np.log(0.5)  # epsilon is 0.5: the best action has at least this probability, others less
    assert 0.4 < likely.mean() < 0.95


@pytest.mark.nightly
def test_the_planner_plays_games_on_the_device_as_on_the_cores(tmp_path: Path) -> None:
    from ante.training.policies.planner import UNDECIDED, planned_row_t
    from ante.training.policies.registry import new_policy
    from ante.training.sampling.games import env_config
    from ante.training.settings.config import make_config
    from tests.gpu.sampling import KINDS

    found = sampled(tmp_path / "planner.npz", "planner")
    config = make_config({**SETTINGS, **KINDS["planner"]})
    n = config.resources.games_per_runner
    policy, games = new_policy(config), Games(n, **env_config(config), seed=SEED, discrete=False)
    games.reset()
    state, everyone = policy.make_state(n), np.arange(n)
    for k in range(FRAGMENTS):
        rows = found[f"{k}.rows"].reshape(-1).view(planned_row_t).reshape(STEPS, n)
        for t in range(STEPS):
            wanted = np.zeros(n, dtype=planned_row_t)
            policy.pack(games, wanted)
            state.observe(games, wanted)
            assert rows[t].tobytes() == wanted.tobytes(), (k, t)
            actions = found[f"{k}.actions"][t]
            state.advance(everyone, actions // 25)
            games.step(policy.decisions(rows[t], actions))
            assert np.array_equal(found[f"{k}.rewards"][t], games.rewards.astype(np.float32))
            ended = np.flatnonzero(games.outcome)
            games.reset(ended)
            state.begin(ended)
        assert (rows["plan"] == UNDECIDED).any() and (rows["plan"] != UNDECIDED).any()
    assert whole(found, "cut").any(), "games end"
    assert np.isfinite(found["sampled"]).all()


def whole(played: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Concatenate one array of all fragments."""
    return np.concatenate([played[f"{k}.{name}"] for k in range(FRAGMENTS)])


def games_of_the_cpu() -> Games:
    from ante.training.sampling.games import env_config
    from ante.training.settings.config import make_config

    return Games(N, **env_config(make_config(SETTINGS)), seed=SEED)


def test_rows_rewards_and_ends_are_those_of_the_cpus_games(played: dict[str, np.ndarray]) -> None:
    from ante.training.policies.mlp_rows import flat_row_t, pack_flat
    from ante.training.sampling.fragment import EpisodeTally

    games, tally = games_of_the_cpu(), EpisodeTally(np.zeros(N))
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


def test_decisions_are_sampled_from_the_policy(played: dict[str, np.ndarray]) -> None:
    from ante.training.numerics.packed_rows import unpack
    from ante.training.policies.mlp_rows import PackedPolicy, flat_row_t

    seen, answered = PackedPolicy.spaces()
    hidden = {"hidden": list(SETTINGS["policy.hidden"])}
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
    # Samples follow the policy: over all steps, mean surprise equals entropy within four standard errors.
    surprise = -whole(played, "log_probs").reshape(-1) - entropies.numpy()
    assert abs(surprise.mean()) < 4 * surprise.std() / np.sqrt(len(surprise))
    assert entropies.mean() > 0.5


def test_what_it_samples_can_be_learned_from(played: dict[str, np.ndarray]) -> None:
    sampled = played["sampled"].reshape(2, -1)
    assert sampled.shape[1] == 3 * N
    assert np.isfinite(sampled).all()
    assert (sampled[0] != 0).any()
