"""SB3's view of the games: the same games as our vector environment, and MaskablePPO on the same network."""

import os
from pathlib import Path

import numpy as np
import pytest

from ante.env.games import Games
from ante.training.settings.config import make_config
from tests.support.checkpoints import restore, save

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


def test_the_vec_env_of_sb3_plays_the_games_of_the_vector_environment() -> None:
    """Step by step: observations, masks, rewards, ends, final observations; games are lost and truncated."""
    from ante.env.vector import BalatroVectorEnv
    from ante.training.baselines.sb3 import GamesVecEnv

    n, limit = 12, 60
    ours = BalatroVectorEnv(n, observation="masked", max_decisions=limit, autoreset_mode="SameStep")
    theirs = GamesVecEnv(Games(n, max_decisions=limit))
    theirs.seed(7)
    seen, flat = ours.reset(seed=7)[0], theirs.reset()
    rng, lengths, returns = np.random.default_rng(1), np.zeros(n, dtype=int), np.zeros(n)
    outcomes = set()
    for _ in range(3 * limit):
        masks = np.stack(theirs.env_method("action_masks"))
        np.testing.assert_array_equal(seen["observations"], flat)
        np.testing.assert_array_equal(seen["action_mask"], masks)
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        seen, rewards, terminated, truncated, infos = ours.step(actions)
        flat, got, done, infos_of_sb3 = theirs.step(actions)
        np.testing.assert_array_equal(got, rewards.astype(np.float32))
        np.testing.assert_array_equal(done, terminated | truncated)
        lengths, returns = lengths + 1, returns + rewards
        for i in range(n):
            assert bool(infos_of_sb3[i]) == done[i]
            if done[i]:
                np.testing.assert_array_equal(
                    infos_of_sb3[i]["terminal_observation"], infos["final_obs"][i]["observations"]
                )
                assert infos_of_sb3[i]["TimeLimit.truncated"] == truncated[i]
                assert infos_of_sb3[i]["episode"] == {"r": pytest.approx(returns[i]), "l": lengths[i]}
                outcomes.add(str(infos["final_info"]["outcome"][i]))
        lengths[done], returns[done] = 0, 0.0
    assert outcomes == {"lost", "truncated"}
    with pytest.raises(AttributeError, match="games have no method 'render'"):
        theirs.env_method("render")


def test_maskable_ppo_learns_with_our_network_and_takes_legal_actions_only() -> None:
    from ante.training.baselines.sb3 import maskable_ppo

    made = maskable_ppo(
        make_config(
            {
                "algo.kind": "sb3-maskable-ppo",
                "resources.games_per_runner": 16,
                "algo.batch": 512,
                "algo.minibatch": 256,
                "algo.epochs": 2,
                "policy.hidden": (32, 24),
            }
        )
    )
    sizes = {tuple(p.shape) for p in made.policy.parameters() if p.ndim == 2}
    assert sizes == {(32, made.observation_space.shape[0]), (24, 32), (made.action_space.n, 24), (1, 24)}
    before = [p.detach().clone() for p in made.policy.parameters()]
    games, chosen = made.env.games, []
    step = games.step

    def watched(actions: np.ndarray) -> None:
        chosen.append(games.masks[np.arange(games.n), actions].all())
        step(actions)

    games.step = watched
    made.learn(512)
    assert (made.num_timesteps, len(chosen), all(chosen)) == (512, 32, True)
    for old, new in zip(before, made.policy.parameters(), strict=True):
        assert not torch.equal(old, new)


SMALL = {
    "resources.games_per_runner": 16,
    "algo.batch": 256,
    "algo.minibatch": 64,
    "algo.epochs": 1,
    "policy.hidden": (24, 16),
}
ALGOS = ("sb3-maskable-ppo", "sb3-a2c", "sb3-dqn")


def seen(games: Games) -> dict[str, object]:
    """Return the observations of all games in the form that RLlib passes to a module."""
    observations, masks = torch.from_numpy(games.flat), torch.from_numpy(games.masks)
    return {"obs": {"observations": observations, "action_mask": masks}}


def outputs_of(model: object, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return logits (or action values) and state values computed by Stable-Baselines3."""
    with torch.no_grad():
        tensor = torch.from_numpy(flat)
        if hasattr(model, "q_net"):
            return model.q_net(tensor).numpy(), np.zeros(len(flat))
        distribution = model.policy.get_distribution(tensor).distribution  # type: ignore[attr-defined]
        return distribution.logits.numpy(), model.policy.predict_values(tensor).numpy()[:, 0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("algo", ALGOS)
def test_a_library_s_policy_becomes_ours_and_goes_on_from_its_checkpoint(algo: str, tmp_path: Path) -> None:
    from ray.rllib.core.columns import Columns

    from ante.training.policies.registry import read_policy
    from ante.training.rllib.build import build
    from ante.training.run.progress import Progressed, row_of

    config = make_config(
        {**SMALL, "steps": 4000, "games.max_decisions": 40, "algo.lr": ((0, 1e-3), (1000, 1e-4))}
    ).with_changes({"algo.kind": algo})
    made, done = build(config), Progressed()
    rows = [row_of(made.train(), done, 1.0) for _ in range(5)]
    assert [row["steps"] for row in rows] == [256, 512, 768, 1024, 1280]
    assert (rows[-1]["illegal"] == 0.0) == (algo == "sb3-maskable-ppo")
    assert rows[-1]["lr"] == pytest.approx(1e-4)
    assert np.isfinite([rows[-1]["policy_loss"], rows[-1]["return"], rows[-1]["ante"]]).all()

    games, policy = made.model.env.games, made.policy()
    logits, values = outputs_of(made.model, games.flat)
    with torch.no_grad():
        ours = policy.forward_inference(seen(games))[Columns.ACTION_DIST_INPUTS].numpy()
        judged = policy.compute_values(seen(games)).numpy()
    legal = games.masks != 0
    assert (ours[~legal] < -1e8).all()
    for i in range(games.n):  # logits are equal up to a constant
        mine, theirs = ours[i][legal[i]], logits[i][legal[i]]
        scale = 1000.0 if algo == "sb3-dqn" else 1.0
        np.testing.assert_allclose(mine - mine.mean(), scale * (theirs - theirs.mean()), atol=2e-3 * scale**0.5)
    np.testing.assert_allclose(judged, values, atol=1e-4)

    save(made, config, tmp_path / "here")
    kept = read_policy(tmp_path / "here")
    for one, other in zip(kept.parameters(), policy.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    again = build(config)
    restore(again, tmp_path / "here")
    assert again.model.num_timesteps == 1280
    before, after = made.model.get_parameters(), again.model.get_parameters()
    assert before.keys() == after.keys()
    for name in before["policy"]:
        torch.testing.assert_close(before["policy"][name], after["policy"][name])
    assert again.train()["env_runners"]["num_env_steps_sampled"] == 256


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        (
            "policy.kind",
            "shortlist",
            "algo.kind sb3-a2c is not supported with policy.kind shortlist; use policy.kind mlp",
        ),
        ("algo.overlap", True, "algo.overlap is a setting of algo.kind ppo or dqn only; leave it out"),
        ("games.curriculum", ({"goal": 1},), "games.curriculum is not supported with algo.kind sb3-a2c; use algo.kind"),
        ("resources.runners", 2, "resources.runners 2 is not supported with algo.kind sb3-a2c; use algo.kind"),
    ],
)
def test_what_a_library_does_not_have_is_refused(setting: str, value: object, words: str) -> None:
    from ante.training.settings.config import BadConfig, make_config

    with pytest.raises(BadConfig, match=words):
        make_config({"algo.kind": "sb3-a2c", setting: value})


@pytest.mark.slow
def test_a_run_of_a_library_s_algorithm_is_a_run_like_others(tmp_path: object) -> None:
    from ante.notebook import Run, evaluate, train

    place = {
        "runs": str(tmp_path),
        "name": "a2c",
        "algo.kind": "sb3-a2c",
        "resources.memory_gb": 0,
        "evaluation.games": 3,
        "evaluation.every": 2,
        "evaluation.trial_games": 3,
    }
    small = {name: value for name, value in SMALL.items() if name != "algo.epochs"}  # a2c makes one pass
    run = train(steps=1000, **{"games.max_decisions": 300}, **small, **place)
    assert run.steps == 1024 and run.report.is_file() and run.video.stat().st_size > 5000
    assert 0.0 < run.metrics.illegal.iloc[-1] <= 1.0
    again = train(run.config, resume=True, steps=2000)
    assert again.steps == 2048 and list(again.metrics.steps) == [256 * i for i in range(1, 9)]
    found = evaluate(Run(run.folder), "greedy", games=3, reward="blinds")
    assert list(found.table.index) == ["a2c", "greedy"]
