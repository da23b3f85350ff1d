"""The fast path as an RLlib algorithm: fragments, reproducible curves, checkpoints, lost runners, remote learners."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.training.settings.config import make_config
from tests.support.checkpoints import restore, save

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
SMALL = {
    "resources.games_per_runner": 16,
    "algo.batch": 512,
    "algo.minibatch": 256,
    "algo.epochs": 2,
    "policy.hidden": (32,),
    "games.max_decisions": 60,
}


def algorithm(learners: int = 0, **settings: Any) -> Any:
    from ante.training.rllib.build import fast_config
    from ante.training.rllib.cluster import start_ray
    from ante.training.settings.config import make_config

    start_ray()
    run = make_config({**SMALL, **settings})
    config = fast_config(run)
    config.learners(num_learners=learners)
    made = config.build_algo()
    made.run = run
    return made


def weights(made: Any) -> dict[str, np.ndarray]:
    state = made.learner_group.get_state()["learner"]["rl_module"]["default_policy"]
    return {name: np.asarray(value) for name, value in state.items()}


def same(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def runner_weights(made: Any) -> list[dict[str, np.ndarray]]:
    group = made.env_runner_group
    states = group.foreach_env_runner(
        lambda runner: runner.get_state()["rl_module"], local_env_runner=group.num_remote_env_runners() == 0
    )
    return [{name: np.asarray(value) for name, value in state.items()} for state in states]


def curve(made: Any, iterations: int) -> list[tuple[float, ...]]:
    rows = []
    for _ in range(iterations):
        result = made.train()
        runners, learner = result["env_runners"], result["learners"]["default_policy"]
        rows.append(
            (runners["episode_return_mean"], runners["num_episodes"], learner["policy_loss"], learner["entropy"])
        )
    return rows


def test_a_fragment_agrees_with_the_games_and_the_policy() -> None:
    """A fragment is replayed, row by row, with a dense network and slow sums."""
    from ante.training.numerics.packed_rows import unpack
    from tests.support import estimates

    made = algorithm(
        **{"resources.bf16": "off", "games.max_decisions": 24},
    )
    runner, (steps, n) = made.env_runner, (32, 16)
    rewards, ends, later = [], [], []
    games = runner.games
    original = games.step

    def watched(actions: np.ndarray) -> None:
        original(actions)
        rewards.append(games.rewards.copy())
        ends.append(games.outcome.copy())
        later.append(games.flat.copy())

    games.step = watched
    rollout = runner.sample()[0]
    assert len(rollout) == steps * n
    legal = unpack(rollout.rows)[1]
    assert legal[np.arange(len(legal)), rollout.actions].all()
    with torch.no_grad():
        log_probs, _, values = runner.module.evaluate(rollout.rows, rollout.actions)
        features = runner.module.trunk(torch.from_numpy(np.concatenate(later)))
        reached = runner.module.value(features).squeeze(-1).numpy().reshape(steps, n)
    np.testing.assert_allclose(rollout.log_probs, log_probs.numpy(), atol=3e-5)
    outcomes = np.array(ends)
    assert (outcomes == 2).any() and (outcomes == 3).any(), "games are lost and truncated in this fragment"
    after = np.where((outcomes == 1) | (outcomes == 2), 0.0, reached)
    slow = estimates.gae(
        np.array(rewards),
        values.numpy().reshape(steps, n),
        after,
        outcomes != 0,
        made.config.gamma,
        made.config.lambda_,
    )
    np.testing.assert_allclose(rollout.advantages.reshape(steps, n), slow[0], atol=1e-3)
    np.testing.assert_allclose(rollout.targets.reshape(steps, n), slow[1], atol=1e-3)
    metrics = runner.get_metrics()
    assert int(metrics["num_episodes"]) == int((outcomes != 0).sum())
    assert metrics["bytes_per_step"] < 1000
    made.stop()


@pytest.mark.parametrize("overlap", [False, True])
def test_the_same_seed_gives_the_same_curve_and_another_one_does_not(overlap: bool) -> None:
    one, two, other = (algorithm(seed=seed, **{"algo.overlap": overlap}) for seed in (3, 3, 4))
    first = curve(one, 4)
    assert curve(two, 4) == first
    assert curve(other, 4) != first
    assert same(weights(one), weights(two))
    for made in (one, two, other):
        made.stop()


@pytest.mark.parametrize(("settings", "lags"), [({}, [0, 0, 0]), ({"algo.overlap": True}, [0, 1, 1])])
def test_the_lag_is_told(settings: dict[str, Any], lags: list[int]) -> None:
    made = algorithm(**settings)
    logged = [made.train()["learners"]["default_policy"]["policy_lag"] for _ in range(3)]
    assert logged == lags
    made.stop()


def test_a_restored_run_has_the_same_weights_optimizer_and_runner(tmp_path: Path) -> None:
    made = algorithm(seed=1)
    curve(made, 2)
    save(made, made.run, tmp_path / "early")
    early = weights(made)
    curve(made, 2)
    assert not same(early, weights(made))
    restore(made, tmp_path / "early")  # into a live run: its runner must be updated
    for group in runner_weights(made):
        assert same(early, group)
    fresh = algorithm(seed=1)
    restore(fresh, tmp_path / "early")
    assert same(early, weights(fresh))
    assert same(early, runner_weights(fresh)[0])
    steps = [
        state["step"]
        for state in fresh.learner_group._learner._get_optimizer_state()["default_policy_default_optimizer"]["state"][
            "state"
        ].values()
    ]
    assert steps and all(float(step) == 2 * 2 * 2 for step in steps)
    fresh.train()
    assert not same(early, weights(fresh))
    made.stop()
    fresh.stop()


def test_runners_know_the_steps_of_the_run_after_a_resume_too(tmp_path: Path) -> None:
    made = algorithm()
    curve(made, 2)
    assert made.env_runner.global_steps == 1024
    save(made, made.run, tmp_path / "here")
    fresh = algorithm(**{"resources.games_per_runner": 8})
    restore(fresh, tmp_path / "here")
    assert fresh.env_runner.global_steps == 1024
    made.stop()
    fresh.stop()


@pytest.mark.parametrize("overlap", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_a_killed_runner_costs_samples_not_the_run(overlap: bool) -> None:
    import time

    import ray

    made = algorithm(
        **{"resources.runners": 2, "resources.games_per_runner": 8, "algo.overlap": overlap},
    )
    assert made.train()["env_runners"]["num_env_steps_sampled"] == 512
    actors = made.env_runner_group._worker_manager.actors()
    ray.kill(actors[1], no_restart=False)
    sampled = []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        result = made.train()
        sampled.append(int(result["env_runners"]["num_env_steps_sampled"]))
        if 512 in sampled and 256 in sampled and sampled[-1] == 512:
            break
    assert 256 in sampled, "the other runner continued alone"
    assert sampled[-1] == 512, "the lost one was restarted"
    if not overlap:
        assert all(same(weights(made), group) for group in runner_weights(made))
    made.stop()


@pytest.mark.parametrize(("learners", "runners"), [(1, 0), pytest.param(2, 2, marks=pytest.mark.nightly)])
def test_learners_in_processes_of_their_own(learners: int, runners: int) -> None:
    made = algorithm(
        learners,
        **{"resources.runners": runners, "resources.games_per_runner": 8, "algo.batch": 512 // learners},
    )
    results = [made.train() for _ in range(2)]
    for result in results:
        assert result["env_runners"]["num_env_steps_sampled"] >= 512
        assert np.isfinite(result["learners"]["default_policy"]["policy_loss"])
    states = made.learner_group.foreach_learner(lambda learner: learner.get_state()["rl_module"]["default_policy"])
    got = [answer.get() for answer in states]
    assert len(got) == learners
    assert all(same(got[0], other) for other in got[1:])
    assert all(same(dict(got[0]), group) for group in runner_weights(made))
    made.stop()


def test_a_lost_fragment_is_counted_and_nothing_learned_is_no_error() -> None:
    from ante.training.sampling.training_data import Fragments

    made = algorithm()
    before = weights(made)
    learned = made.learner_group.update(training_data=Fragments([]), timesteps={}, num_epochs=1, minibatch_size=64)
    assert len(learned) == 1
    assert same(before, weights(made))
    made.stop()


def test_a_fragment_that_the_store_has_lost_is_left_out_and_the_other_one_is_learned_from() -> None:
    import ray
    from ray._private.internal_api import free

    from ante.training.sampling.training_data import Fragments

    made = algorithm(**{"algo.epochs": 1})
    lost, kept = (ray.put(made.env_runner.sample()[0]) for _ in range(2))
    free([lost])
    with pytest.raises(ray.exceptions.ObjectLostError):
        ray.get(lost, timeout=30)
    before = weights(made)
    (learned,) = made.learner_group.update(training_data=Fragments([lost, kept]), num_epochs=1, minibatch_size=64)
    logged = learned["default_policy"]
    assert (logged["fragments_lost"].peek(), logged["num_module_steps_trained"].peek()) == (1, 512)
    assert not same(before, weights(made))
    made.stop()


def test_callbacks_are_called_with_the_fragments() -> None:
    from ray.rllib.callbacks.callbacks import RLlibCallback

    from ante.training.rllib.build import fast_config

    class Counting(RLlibCallback):
        def on_sample_end(self, *, env_runner: Any, metrics_logger: Any, samples: list[Any], **_: Any) -> None:
            metrics_logger.log_value("seen", sum(map(len, samples)), reduce="sum")

        def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **_: Any) -> None:
            result["logged"] = True

    made = fast_config(make_config(SMALL)).callbacks(Counting).build_algo()
    result = made.train()
    assert (int(result["env_runners"]["seen"]), result["logged"]) == (512, True)
    made.stop()


def test_ended_games_are_passed_to_callbacks_with_their_statistics() -> None:
    from ante.training.rllib.build import fast_config
    from ante.training.rllib.stock import GameMetrics

    class Ends(GameMetrics):
        def on_episode_end(self, *, episode: Any, metrics_logger: Any, env_index: int, **others: Any) -> None:
            metrics_logger.log_value("ends", 1, reduce="sum")
            for name, value in (("logged_return", episode.get_return()), ("logged_length", len(episode))):
                metrics_logger.log_value(name, value, window=200)
            metrics_logger.log_value("logged_ante", float(episode.get_infos(-1)["ante"]), window=200)
            assert episode.is_done and (episode.is_terminated or len(episode) == SMALL["games.max_decisions"])
            assert 0 <= env_index < SMALL["resources.games_per_runner"] and len(episode.id_) == 8

        def on_episode_step(self, **_: Any) -> None:
            raise AssertionError("never called")

    with pytest.warns(UserWarning, match="on_episode_step is never called on the fast path"):
        made = fast_config(make_config(SMALL)).callbacks(Ends).build_algo()
    logged = made.train()["env_runners"]
    assert 0 < logged["num_episodes"] == logged["ends"] < 200
    assert logged["logged_return"] == pytest.approx(logged["episode_return_mean"])
    assert logged["logged_length"] == pytest.approx(logged["episode_len_mean"])
    assert logged["logged_ante"] == pytest.approx(logged["ante"])
    made.stop()


@pytest.mark.nightly
def test_the_driver_never_sees_a_step() -> None:
    import ray

    made = algorithm(**{"resources.runners": 1})
    group = made.env_runner_group
    (answer,) = group.foreach_env_runner("fragment", local_env_runner=False)
    reference, metrics = answer[:2]
    assert isinstance(reference, ray.ObjectRef)
    assert len(ray.cloudpickle.dumps(metrics)) < 10_000
    rollout = ray.get(reference)
    assert rollout.nbytes / len(rollout) == pytest.approx(metrics["bytes_per_step"])
    assert rollout.nbytes / len(rollout) < 1000
    made.stop()


def test_an_update_gives_the_weights_of_plain_torch() -> None:
    """Repeat all epochs and minibatches with dense vectors, autograd and torch's Adam."""
    from ante.training.numerics import torch_ops
    from ante.training.sampling.training_data import Fragments

    made = algorithm(
        **{
            "resources.bf16": "off",
            "algo.lr": 3e-3,
            "algo.epochs": 3,
            "algo.minibatch": 128,
            "policy.hidden": (24, 16),
        },
        seed=5,
    )
    learner = made.learner_group._learner
    (rollout,) = made.env_runner.sample()
    policy = learner.module["default_policy"].unwrapped()
    dense = type(policy)(
        observation_space=policy.observation_space,
        action_space=policy.action_space,
        model_config={"hidden": [24, 16]},
    )
    dense.set_state(policy.get_state())
    made.learner_group.update(training_data=Fragments([rollout]), num_epochs=3, minibatch_size=128)
    optimizer = torch.optim.Adam(dense.parameters(), lr=3e-3, fused=False)
    gains = (rollout.advantages - rollout.advantages.mean()) / rollout.advantages.std()
    rng = np.random.default_rng((5, 1))
    for _ in range(3):
        for which in np.split(rng.permutation(512), 4):
            kept = (each[which] for each in (rollout.actions, rollout.log_probs, gains, rollout.targets))
            actions, *others = (torch.from_numpy(each) for each in kept)
            loss, _ = torch_ops.ppo(dense.evaluate(rollout.rows[which], actions), *others, 0.2, 1.0, 0.01)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(dense.parameters(), 0.5)
            optimizer.step()
    start = made.env_runner.module.get_state()
    for name, value in ((name, each.detach().numpy()) for name, each in dense.named_parameters()):
        moved = np.abs(value - start[name])
        assert moved.max() > 2e-3, f"{name} has learned"
        off = np.abs(weights(made)[name] - value)
        # Adam makes a full step even for a noisy gradient, so single weights may differ.
        assert np.quantile(off, 0.99) < 0.02 * moved.max(), name
    log_probs = policy.evaluate(rollout.rows, rollout.actions)[0].detach()
    np.testing.assert_allclose(log_probs, dense.evaluate(rollout.rows, rollout.actions)[0].detach(), atol=2e-3)
    made.stop()


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is available")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"resources.runner_gpus": 1.0}, "requires 1 GPUs in its own process, but 0 are available"),
        ({"resources.learner_gpus": 0.5}, "0.5 GPUs in its own process"),
        (
            {
                "resources.runners": 2,
                "resources.runner_gpus": 0.25,
                "resources.learners": 1,
                "resources.learner_gpus": 0.5,
            },
            "1 GPUs in separate processes",
        ),
    ],
)
def test_a_gpu_that_is_not_there_is_a_sentence(settings: dict[str, Any], words: str) -> None:
    from ante.training.rllib.build import build
    from ante.training.rllib.cluster import NoGpu

    with pytest.raises(NoGpu, match=words):
        build(make_config({**SMALL, **settings}))
