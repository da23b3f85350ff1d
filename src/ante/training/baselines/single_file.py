"""PPO in one plain torch training loop: the baseline of `ante bench train`.

Same games, network, batch, epochs and loss as the two RLlib paths; dense float32 observations, autograd, one process.
It saves and reports nothing.
"""

import gymnasium
import numpy as np
import torch
from ray.rllib.core.columns import Columns

from ante.engine.actions import N_DISCRETE
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE, masked_space
from ante.training.numerics import torch_ops
from ante.training.policies.mlp import MaskedPolicy
from ante.training.sampling.games import env_config
from ante.training.settings.algorithms import Clipped
from ante.training.settings.config import TrainConfig
from ante.training.settings.schedule import value_at


class SingleFilePPO:
    """`iterate()` samples one batch and learns from it."""

    def __init__(self, config: TrainConfig) -> None:
        assert isinstance(config.algo, Clipped)
        self.algo, n = config.algo, config.resources.games_per_runner
        self.games = Games(n, **env_config(config))
        self.games.reset()
        self.policy = MaskedPolicy(
            observation_space=masked_space(),
            action_space=gymnasium.spaces.Discrete(N_DISCRETE),
            model_config=config.policy.network(),
        )
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=value_at(config.algo.lr, 0))
        self.steps = -(-config.algo.batch // n)
        self.ended = 0  # total number of finished games

    def outputs(self, flat: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return masked logits (m, actions) and values (m,)."""
        seen = {Columns.OBS: {"observations": flat, "action_mask": legal}}
        found = self.policy.forward_train(seen)
        return found[Columns.ACTION_DIST_INPUTS], self.policy.compute_values(seen, found[Columns.EMBEDDINGS])

    def iterate(self) -> int:
        """Run one iteration and return its number of steps."""
        algo, games, shape = self.algo, self.games, (self.steps, self.games.n)
        flat, legal = torch.zeros(*shape, FLAT_SIZE), torch.zeros(*shape, N_DISCRETE, dtype=torch.int8)
        actions = torch.zeros(shape, dtype=torch.int64)
        log_probs, values, rewards, alive = (torch.zeros(shape) for _ in range(4))
        for t in range(self.steps):
            flat[t], legal[t] = torch.from_numpy(games.flat), torch.from_numpy(games.masks)
            with torch.no_grad():
                logits, values[t] = self.outputs(flat[t], legal[t])
                distribution = torch.distributions.Categorical(logits=logits)
                actions[t] = distribution.sample()
                log_probs[t] = distribution.log_prob(actions[t])
            games.step(actions[t].numpy())
            rewards[t] = torch.from_numpy(games.rewards)
            alive[t] = torch.from_numpy((games.outcome == 0).astype(np.float32))
            ended = np.flatnonzero(games.outcome)
            self.ended += len(ended)
            games.reset(ended)
        with torch.no_grad():
            last = self.outputs(torch.from_numpy(games.flat), torch.from_numpy(games.masks))[1]
        advantages, later = torch.zeros(shape), torch.zeros(shape[1])
        for t in range(self.steps - 1, -1, -1):
            after = last if t == self.steps - 1 else values[t + 1]
            surprise = rewards[t] + algo.gamma * after * alive[t] - values[t]
            later = surprise + algo.gamma * algo.gae_lambda * alive[t] * later
            advantages[t] = later
        kept = flat, legal, actions, log_probs, advantages, advantages + values
        self.learn([each.flatten(0, 1) for each in kept])
        return actions.numel()

    def learn(self, kept: list[torch.Tensor]) -> None:
        """Train all epochs on the batch: flat, legal, actions, log-probabilities, advantages, targets."""
        algo = self.algo
        kept[4] = (kept[4] - kept[4].mean()) / kept[4].std().clamp_min(1e-4)
        for _ in range(algo.epochs):
            for which in torch.randperm(len(kept[0])).split(algo.minibatch):
                flat, legal, actions, log_probs, advantages, targets = (each[which] for each in kept)
                logits, values = self.outputs(flat, legal)
                now = (*torch_ops.masked_stats(logits, legal.bool(), actions), values)
                loss, _ = torch_ops.ppo(now, log_probs, advantages, targets, algo.clip, 1.0, value_at(algo.entropy, 0))
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), algo.grad_clip)
                self.optimizer.step()
