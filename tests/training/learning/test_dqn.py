"""DQN: action values with exact solutions, a Gymnasium environment at its published level, rare steps, and resuming."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ante.engine.core.state import Phase  # noqa: E402
from ante.training.numerics.packed_rows import MASK_BYTES, flat_row_t  # noqa: E402
from ante.training.policies.q_network import EVAL_EPSILON  # noqa: E402
from ante.training.run_store.state_files import read_state, write_state  # noqa: E402
from ante.training.sampling.fragment import BOSS, JOKER, Trajectory  # noqa: E402
from ante.training.settings.config import BadConfig, make_config  # noqa: E402
from tests.training.learning.test_updates import learned, made  # noqa: E402

SMALL: dict[str, Any] = {
    "algo.kind": "dqn",
    "algo.replay": 4000,
    "algo.replay_after": 1,
    "resources.games_per_runner": 16,
    "policy.hidden": (32,),
}


def shown(states: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return packed rows (n,) of positions given as numbers, one bit each; legal (n, actions) bool."""
    rows = np.zeros(len(states), dtype=flat_row_t)
    rows["bits"][np.arange(len(states)), states // 8] = 1 << (states % 8)
    masks = np.zeros((len(states), 8 * MASK_BYTES), dtype=np.uint8)
    masks[:, : legal.shape[1]] = legal
    rows["mask"] = np.packbits(masks, axis=1, bitorder="little")
    return rows


def q_values(policy: Any, states: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the policy's action values, (n, actions of `legal`)."""
    with torch.no_grad():
        return policy.q_values(policy.stage(shown(states, legal))).numpy()[:, : legal.shape[1]]


class Corridor:
    """Six positions in a row, actions left and right, and a third one that pays best and is legal in position 2 only.

    The right end has reward 1 and ends the game; each step costs 0.1.
    """

    n = 6
    legal = np.ones((n, 3), dtype=np.bool_)
    legal[:, 2] = np.arange(n) == 2

    @staticmethod
    def step(place: int, action: int) -> tuple[int, float, bool]:
        if action == 2:
            return 0, 0.5, False
        after = max(0, place - 1) if action == 0 else place + 1
        return (after, 0.9, True) if after == Corridor.n else (after, -0.1, False)

    @classmethod
    def exact(cls, gamma: float) -> np.ndarray:
        """Return action values by value iteration; NaN for illegal actions."""
        found = np.where(cls.legal, 0.0, np.nan)
        for _ in range(2000):
            for place, action in np.argwhere(cls.legal):
                after, reward, over = cls.step(place, action)
                found[place, action] = reward + (0.0 if over else gamma * np.nanmax(found[after]))
        return found


def wandered(rng: np.random.Generator, steps: int, games: int) -> Trajectory:
    """Return a fragment of random legal moves through the corridor, truncated after some steps."""
    places, shape = rng.integers(0, Corridor.n, games), (steps, games)
    rows, actions = np.zeros(shape, dtype=flat_row_t), np.empty(shape, dtype=np.int64)
    rewards, cut, terminal = np.empty(shape, dtype=np.float32), np.zeros(shape, bool), np.zeros(shape, bool)
    sights, at = [], []
    for t in range(steps):
        legal = Corridor.legal[places]
        rows[t] = shown(places, legal)
        actions[t] = np.where(legal, rng.random(legal.shape), -1.0).argmax(axis=1)
        for i in range(games):
            places[i], rewards[t, i], terminal[t, i] = Corridor.step(places[i], actions[t, i])
            cut[t, i] = terminal[t, i] or rng.random() < 0.05
            if cut[t, i] and not terminal[t, i]:
                at.append(t * games + i)
                sights.append(shown(places[i : i + 1], Corridor.legal[places[i : i + 1]])[0])
            if cut[t, i]:
                places[i] = rng.integers(0, Corridor.n)
    extra = np.array([*shown(places, Corridor.legal[places]), *sights], dtype=flat_row_t)
    logs = np.zeros(shape, dtype=np.float32)
    return Trajectory(rows, actions, logs, rewards, cut, terminal, extra, np.array(at, dtype=np.int64), np.zeros(3), 0)


@pytest.mark.parametrize(
    "plain",
    [
        pytest.param({}, id="all"),
        pytest.param(
            {"algo.double": False, "algo.duelling": False, "algo.priority": 0.0}, id="plain", marks=pytest.mark.slow
        ),
    ],
)
def test_the_action_values_of_a_small_game_are_exact(plain: dict[str, Any]) -> None:
    """One-step values do not depend on the behaviour policy; an illegal action has value 0, even if it would pay."""
    torch.manual_seed(0)
    settings = {
        "algo.n_step": 1,
        "algo.target_every": 10,
        "algo.gamma": 0.8,
        "algo.batch": 512,
        "algo.minibatch": 128,
        "algo.epochs": 1,
        **plain,
    }
    _, learner = made(
        **SMALL,
        **settings,
        **{"algo.lr": ((0, 5e-3), (80_000, 1e-4)), "algo.priority_correction": 1.0},
    )
    rng = np.random.default_rng(0)
    for turn in range(160):
        feed(learner, wandered(rng, 32, 16), turn * 512)
    found = q_values(learner._policy(), np.arange(Corridor.n), Corridor.legal)
    exact = Corridor.exact(0.8)
    np.testing.assert_allclose(found[Corridor.legal], exact[Corridor.legal], atol=0.03)
    assert (found[~Corridor.legal] < -1e8).all()
    assert np.nanargmax(exact[1]) == 1 and np.nanargmax(exact[3]) == 0, (
        "the optimal policy returns for the third action repeatedly"
    )


def feed(learner: Any, trace: Trajectory, steps: int) -> dict[str, Any]:
    """Make one update after this many steps and return its metrics."""
    from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

    from ante.training.sampling.training_data import Fragments

    config, timesteps = learner.config, {NUM_ENV_STEPS_SAMPLED_LIFETIME: steps}
    results = learner.update(
        training_data=Fragments([trace]),
        timesteps=timesteps,
        num_epochs=config.num_epochs,
        minibatch_size=config.minibatch_size,
    )
    return dict(results["default_policy"])


def test_rows_and_dense_observations_have_equal_values() -> None:
    from ray.rllib.core.columns import Columns

    runner, _ = made(**SMALL, **{"algo.batch": 256})
    (trace,) = runner.sample()
    policy, games = runner.module, runner.games
    rows = runner._rows_now()
    dense = {"observations": torch.from_numpy(games.flat), "action_mask": torch.from_numpy(games.masks)}
    with torch.no_grad():
        packed = policy.q_values(policy.stage(rows))
        found, best = policy._outputs({Columns.OBS: dense})
    np.testing.assert_allclose(packed.numpy(), found.numpy(), atol=1e-3)
    np.testing.assert_allclose(best.numpy(), np.where(games.masks, found.numpy(), -np.inf).max(axis=1), atol=1e-6)
    with torch.no_grad():
        probabilities = policy._forward({Columns.OBS: dense})[Columns.ACTION_DIST_INPUTS].softmax(dim=1).numpy()
    assert (probabilities[games.masks == 0] == 0).all(), "evaluations choose legal actions"
    slips = EVAL_EPSILON / games.masks.sum(axis=1)
    np.testing.assert_allclose(probabilities.max(axis=1), 1 - EVAL_EPSILON + slips, rtol=1e-4)
    assert np.array_equal(probabilities.argmax(axis=1), packed.numpy().argmax(axis=1))
    policy.explore.fill_(0.0)
    chosen = policy.act(rows, torch.Generator().manual_seed(0))[0]
    assert np.array_equal(chosen, packed.numpy().argmax(axis=1))
    assert (trace.log_probs < 0).any(), "it explored before"


def test_rare_steps_are_marked() -> None:
    runner, _ = made(
        **SMALL,
        **{"algo.batch": 1024, "games.max_decisions": 400},
    )
    runner.sample()
    step, seen = runner.games.step, []

    def watched(actions: np.ndarray) -> None:
        before = runner.games.states.n_jokers.copy()
        step(actions)
        seen.append(runner.games.states.n_jokers > before)

    runner.games.step = watched
    for _ in range(30):
        seen.clear()
        (trace,) = runner.sample()
        assert np.array_equal(trace.marks & JOKER != 0, np.stack(seen))
        if np.any(seen):
            break
    assert np.any(seen), "a joker was gained"
    states = runner.games.states
    *_, hook = runner.hooks
    hook.fragment_begins(1)
    hook._before = np.full(16, Phase.PLAY), states.n_jokers.copy()
    states.phase[:], states.beat_boss[:] = Phase.ROUND_END, np.arange(16) % 2
    hook.stepped(0)
    assert np.array_equal(hook._marks[0] & BOSS != 0, np.arange(16) % 2 == 1)


def test_smaller_minibatches_accumulated_make_the_same_gradient_steps() -> None:
    settings = {**SMALL, "algo.batch": 512, "algo.replay_after": 500, "algo.lr": 1e-3, "algo.epochs": 1}
    runner, whole = made(**settings, **{"algo.minibatch": 256})
    quarters = made(**settings, **{"algo.minibatch": 64, "algo.accumulate": 4})[1]
    quarters._policy().set_state(whole._policy().get_state())
    quarters._update_target()
    begin = {name: np.array(value) for name, value in whole._policy().get_state().items()}
    for k in range(3):
        trace = runner.sample()[0]
        rows = [feed(each, trace, 512 * (k + 1)) for each in (whole, quarters)]
        assert int(rows[0]["updates"]) == int(rows[1]["updates"]) == 2 * (k + 1)
    for (name, one), two in zip(whole._policy().named_parameters(), quarters._policy().parameters(), strict=True):
        moved = np.abs(one.detach().numpy() - begin[name]).max()
        assert moved > 1e-4 and np.quantile(np.abs((one - two).detach().numpy()), 0.99) < 0.02 * moved, name


@pytest.mark.parametrize(("every", "just_copied"), [(4, True), (3, False)])
def test_the_target_network_is_copied_after_every_so_many_gradient_steps(every: int, just_copied: bool) -> None:
    settings = {"algo.batch": 512, "algo.minibatch": 128, "algo.epochs": 1, "algo.target_every": every}
    runner, learner = made(**SMALL, **settings)

    def copied() -> bool:
        target, online = learner._target.state_dict(), learner._policy().state_dict()
        return all(torch.equal(value, target[name]) for name, value in online.items() if name != "explore")

    assert copied()
    row = feed(learner, runner.sample()[0], 0)
    assert (int(row["updates"]), copied()) == (4, just_copied)
    logged = {"epochs": 1, "policy_lag": 0, "replay_steps": 512, "num_module_steps_trained": 512}
    assert {name: float(row[name]) for name in logged} == logged
    newer = replace(runner.sample()[0], version=1)
    assert [float(feed(learner, newer, 512 * k)["policy_lag"]) for k in (1, 2)] == [0, 1]


def test_a_restored_learner_continues_identically(tmp_path: Path) -> None:
    settings = {
        **SMALL,
        "algo.batch": 512,
        "algo.minibatch": 128,
        "algo.replay_after": 1000,
        "algo.target_every": 3,
        "algo.epochs": 2,
    }
    runner, one = made(**settings)
    other = made(**settings)[1]
    fragments = [runner.sample()[0] for _ in range(9)]
    results = [feed(one, trace, 512 * k) for k, trace in enumerate(fragments[:6])]
    assert [int(row["updates"]) for row in results] == [0, 8, 16, 24, 32, 40]
    assert np.isnan(float(results[0]["vf_loss"])) and float(results[-1]["replay_steps"]) == 3072
    write_state(tmp_path, one.get_state())
    other.set_state(read_state(tmp_path))
    for k, trace in enumerate(fragments[6:], 6):
        rows = [feed(each, trace, 512 * k) for each in (one, other)]
        for name in ("vf_loss", "q_mean", "updates", "replay_steps", "epsilon"):
            assert float(rows[0][name]) == float(rows[1][name]), name
    weights = [each._policy().get_state() for each in (one, other)]
    assert all(np.array_equal(value, weights[1][name]) for name, value in weights[0].items())
    light = one.get_state(components="rl_module")
    assert "replay" not in light and "target" not in light, "runners do not receive the replay buffer"


@pytest.mark.ray
def test_a_stopped_run_goes_on_with_its_replay(local_ray: None, tmp_path: Path) -> None:
    from ante.training.players.release import read_release, write_release
    from ante.training.rllib.build import build
    from ante.training.run.evaluate import evaluate_run
    from ante.training.run.loop import begin
    from ante.training.run.memory_budget import Sizes
    from ante.training.run.progress import Progressed, row_of, save
    from ante.training.run.videos import keep_games, write_best

    settings = {
        **SMALL,
        "algo.batch": 256,
        "algo.minibatch": 64,
        "algo.epochs": 2,
        "games.max_decisions": 40,
        "algo.replay_after": 500,
    }
    config = make_config(
        {"runs": str(tmp_path), "evaluation.games": 2, "algo.epsilon": ((0, 1.0), (1000, 0.1)), **settings}
    )
    run, done = build(config), Progressed(sizes=Sizes(config.algo.minibatch, config.resources.games_per_runner))
    for _ in range(4):
        done.row = row_of(run.train(), done, 1.0)
    assert (done.row["updates"], done.row["replay_steps"], done.steps) == (24, 1024, 1024)
    assert done.row["epsilon"] == pytest.approx(0.1) and np.isnan(done.row["policy_loss"])
    assert float(run.env_runner.module.explore) == pytest.approx(0.1), "the runner has received it"
    (tmp_path / config.name).mkdir()
    (tmp_path / config.name / "config.yaml").write_text(config.to_yaml())
    save(config, run, done)
    before = run.learner_group._learner.replay.state()
    run.stop()
    again, went_on = begin(config, True, lambda stage: None)
    learner = again.learner_group._learner
    after = learner.replay.state()
    assert after["arrays"] == before["arrays"] and after["spans"] == before["spans"]
    assert learner.updates == 24
    row = row_of(again.train(), went_on, 1.0)
    assert (row["updates"], row["replay_steps"], row["steps"]) == (32, 1280, 1280)
    again.stop()
    player, report = evaluate_run(config, lambda _: None)[0]
    kept = keep_games(config, player, report, went_on.steps, final=True)
    assert write_best(config, kept)[0].stat().st_size > 5000
    policy, _ = read_release(write_release(config.folder, tmp_path / "released"))
    assert type(policy) is type(learner._policy())


@pytest.mark.nightly
@pytest.mark.slow
def test_taxi_is_solved_almost_optimally() -> None:
    """Taxi-v3 of Gymnasium, which has action masks: within 0.5 of the best policy on the same 100 games.

    Gymnasium's own threshold of 8 depends on the luck of 100 games: the optimal policy scores about that.
    """
    gymnasium = pytest.importorskip("gymnasium")
    torch.manual_seed(0)
    env = gymnasium.make("Taxi-v3").unwrapped
    table = env.P
    masks = np.array([env.action_mask(state) for state in range(500)]).astype(np.bool_)
    starts = np.flatnonzero(env.initial_state_distrib)
    after, reward, over = (np.array([[table[s][a][0][k] for a in range(6)] for s in range(500)]) for k in (1, 2, 3))
    settings = {
        "algo.n_step": 5,
        "algo.target_every": 50,
        "algo.gamma": 0.95,
        "algo.batch": 512,
        "algo.minibatch": 256,
        "algo.epochs": 4,
    }
    _, learner = made(
        **{**SMALL, "policy.hidden": (128,), "algo.replay": 20_000},
        **settings,
        **{"algo.lr": 1e-3, "algo.epsilon": 0.2},
    )
    policy, rng, games = learner._policy(), np.random.default_rng(0), 16
    generator, states, ages = torch.Generator().manual_seed(0), rng.choice(starts, games), np.zeros(games)
    shape = 32, games
    for turn in range(500):
        rows, actions = np.zeros(shape, dtype=flat_row_t), np.empty(shape, dtype=np.int64)
        rewards, cut, terminal = np.empty(shape, dtype=np.float32), np.zeros(shape, bool), np.zeros(shape, bool)
        sights, places = [], []
        for t in range(shape[0]):
            rows[t] = shown(states, masks[states])
            actions[t] = policy.act(rows[t], generator)[0]
            rewards[t], terminal[t] = reward[states, actions[t]] / 20.0, over[states, actions[t]]
            states, ages = after[states, actions[t]].astype(np.int64), ages + 1
            off = ~terminal[t] & (ages >= 200)
            cut[t] = terminal[t] | off
            places += (t * games + np.flatnonzero(off)).tolist()
            sights += list(shown(states[off], masks[states[off]]))
            states = np.where(cut[t], rng.choice(starts, games), states)
            ages[cut[t]] = 0
        extra = np.array([*shown(states, masks[states]), *sights], dtype=flat_row_t)
        logs = np.zeros(shape, dtype=np.float32)
        trace = Trajectory(
            rows, actions, logs, rewards, cut, terminal, extra, np.array(places, np.int64), np.zeros(3), 0
        )
        feed(learner, trace, 512 * turn)
    exact = np.zeros((500, 6))
    for _ in range(200):
        exact = reward + 0.99 * np.where(over, 0.0, exact.max(axis=1)[after.astype(np.int64)])
    best = mean_return(exact.argmax(axis=1), env)
    found = mean_return(q_values(policy, np.arange(500), masks).argmax(axis=1), env)
    assert best > 7.5 and found >= best - 0.5, (best, found)


def mean_return(choices: np.ndarray, env: Any, seed: int = 0) -> float:
    """Return the mean return over 100 games of at most 200 steps."""
    returns = []
    for game in range(100):
        state, _ = env.reset(seed=seed + game)
        total = 0.0
        for _ in range(200):
            state, reward, over, *_ = env.step(int(choices[state]))
            total += float(reward)
            if over:
                break
        returns.append(total)
    return float(np.mean(returns))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"policy.kind": "entities"}, "algo.kind dqn is not supported with policy.kind entities; use policy.kind mlp"),
        ({"algo.kl_target": 0.01}, "algo.kl_target is a setting of algo.kind ppo or appo only; leave it out"),
        ({"hints.source": "rules"}, "hints.source rules is not supported with algo.kind dqn"),
        ({"resources.learners": 2}, "resources.learners 2 is not supported with algo.kind dqn"),
        ({"algo.replay": 2000}, "is smaller than two batches of 8192"),
        ({"algo.epsilon": 1.5}, "must not be above 1"),
    ],
)
def test_what_dqn_cannot_do_is_refused_in_a_sentence(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        make_config({"algo.kind": "dqn", **settings})


def test_learned_is_shared_with_other_updates() -> None:
    """The runner of `made` is the one in the configuration."""
    from ante.training.sampling.runner import BatchRunner

    runner, learner = made(**SMALL, **{"algo.batch": 512})
    assert type(runner) is BatchRunner
    weights, results = learned(learner, runner.sample()[0])
    assert "explore" in weights and float(results["updates"]) > 0
