"""The masked policy: illegal actions have probability 0; actions are sampled or the most likely ones."""

import os

import gymnasium
import numpy as np
import pytest

from ante.env.games import Games, Outcome
from ante.env.layout import masked_space

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


def policy(seed: int = 0):
    from ante.training.policies.mlp import MaskedPolicy

    torch.manual_seed(seed)
    made = MaskedPolicy(
        observation_space=masked_space(), action_space=gymnasium.spaces.Discrete(143), model_config={"hidden": [32, 32]}
    )
    torch.nn.init.normal_(made.policy.weight, std=3.0)  # clearly unequal probabilities
    return made


@pytest.mark.parametrize("likeliest", [False, True])
def test_every_choice_is_legal_to_the_end_of_the_game(likeliest: bool) -> None:
    from ante.training.acting.player import make_player

    games = Games(32, "b_plasma", 5, reorder="none", max_decisions=300)
    games.reset()
    player, playing = make_player(policy(), "x", likeliest), np.ones(32, dtype=np.bool_)
    while playing.any():
        actions = player.choose(games, playing)
        assert games.masks[np.flatnonzero(playing), actions[playing]].all()
        assert (actions[~playing] == -1).all()
        games.step(actions)
        playing &= games.outcome == Outcome.PLAYING


def test_probabilities_of_illegal_actions_are_zero_and_entropy_is_finite() -> None:
    from ray.rllib.core.columns import Columns

    games = Games(16)
    games.reset()
    seen = {"observations": torch.from_numpy(games.flat), "action_mask": torch.from_numpy(games.masks)}
    out = policy().forward_train({Columns.OBS: seen})
    logits = out[Columns.ACTION_DIST_INPUTS]
    probabilities = logits.softmax(dim=1)
    assert probabilities[torch.from_numpy(games.masks) == 0].max() == 0
    assert torch.isfinite(torch.distributions.Categorical(logits=logits).entropy()).all()
    values = policy().compute_values({Columns.OBS: seen}, out[Columns.EMBEDDINGS])
    assert values.shape == (16,)


def test_the_same_seed_samples_the_same_game() -> None:
    from ante.agents.evaluate import evaluate
    from ante.agents.seed_lists import evaluation_seeds
    from ante.training.acting.player import make_player

    made = policy()
    one, two = (evaluate(make_player(made, "x", seed=3), evaluation_seeds(4), max_decisions=200) for _ in range(2))
    assert [record.actions for record in one.records] == [record.actions for record in two.records]
