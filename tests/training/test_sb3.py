"""SB3's view of the games: the same games as our own vector environment, and MaskablePPO on the same network."""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


def test_the_vec_env_of_sb3_plays_the_games_of_the_vector_environment() -> None:
    """Step by step: observations, masks, rewards, ends, last sights; games are lost and cut off on the way."""
    from ante.env.games import Games
    from ante.env.vector import BalatroVectorEnv
    from ante.training.sb3 import GamesVecEnv

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
        flat, got, done, told = theirs.step(actions)
        np.testing.assert_array_equal(got, rewards.astype(np.float32))
        np.testing.assert_array_equal(done, terminated | truncated)
        lengths, returns = lengths + 1, returns + rewards
        for i in range(n):
            assert bool(told[i]) == done[i]
            if done[i]:
                np.testing.assert_array_equal(told[i]["terminal_observation"], infos["final_obs"][i]["observations"])
                assert told[i]["TimeLimit.truncated"] == truncated[i]
                assert told[i]["episode"] == {"r": pytest.approx(returns[i]), "l": lengths[i]}
                outcomes.add(str(infos["final_info"]["outcome"][i]))
        lengths[done], returns[done] = 0, 0.0
    assert outcomes == {"lost", "truncated"}
    with pytest.raises(AttributeError, match="games have no method 'render'"):
        theirs.env_method("render")


def test_maskable_ppo_learns_with_our_network_and_takes_legal_actions_only() -> None:
    from ante.training.config import TrainConfig
    from ante.training.sb3 import maskable_ppo

    made = maskable_ppo(TrainConfig(games=16, batch=512, minibatch=256, epochs=2, hidden=(32, 24)))
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
