"""PPO in one loop, as one would write it by hand in plain torch: what `ante bench train` compares with.

The same games, network, batch, epochs and loss as the two RLlib paths; dense float32 observations, autograd, one
process. It keeps nothing and reports nothing.
"""

import gymnasium
import numpy as np
import torch
from ray.rllib.core.columns import Columns

from ante.engine.actions import N_DISCRETE
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE, masked_space
from ante.training import twins
from ante.training.config import TrainConfig, value_at
from ante.training.games import env_config
from ante.training.policy import MaskedPolicy


class SingleFilePPO:
    """`iterate()` plays one batch and learns from it."""

    def __init__(self, config: TrainConfig) -> None:
        self.config, n = config, config.games
        self.games = Games(n, **env_config(config))
        self.games.reset()
        self.policy = MaskedPolicy(
            observation_space=masked_space(),
            action_space=gymnasium.spaces.Discrete(N_DISCRETE),
            model_config={"hidden": list(config.hidden)},
        )
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=value_at(config.lr, 0))
        self.steps = -(-config.batch // n)
        self.ended = 0  # games, since the beginning

    def outputs(self, flat: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Masked logits (m, actions) and values (m,)."""
        seen = {Columns.OBS: {"observations": flat, "action_mask": legal}}
        found = self.policy.forward_train(seen)
        return found[Columns.ACTION_DIST_INPUTS], self.policy.compute_values(seen, found[Columns.EMBEDDINGS])

    def iterate(self) -> int:
        """One iteration; answers its steps."""
        config, games, shape = self.config, self.games, (self.steps, self.games.n)
        flat, legal = torch.zeros(*shape, FLAT_SIZE), torch.zeros(*shape, N_DISCRETE, dtype=torch.int8)
        actions = torch.zeros(shape, dtype=torch.int64)
        log_probs, values, rewards, alive = (torch.zeros(shape) for _ in range(4))
        for t in range(self.steps):
            flat[t], legal[t] = torch.from_numpy(games.flat), torch.from_numpy(games.masks)
            with torch.no_grad():
                logits, values[t] = self.outputs(flat[t], legal[t])
                chances = torch.distributions.Categorical(logits=logits)
                actions[t] = chances.sample()
                log_probs[t] = chances.log_prob(actions[t])
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
            surprise = rewards[t] + config.gamma * after * alive[t] - values[t]
            later = surprise + config.gamma * config.gae_lambda * alive[t] * later
            advantages[t] = later
        kept = flat, legal, actions, log_probs, advantages, advantages + values
        self.learn([each.flatten(0, 1) for each in kept])
        return actions.numel()

    def learn(self, kept: list[torch.Tensor]) -> None:
        """All epochs over the batch: flat, legal, actions, log-probabilities, advantages, targets."""
        config = self.config
        kept[4] = (kept[4] - kept[4].mean()) / kept[4].std().clamp_min(1e-4)
        for _ in range(config.epochs):
            for which in torch.randperm(len(kept[0])).split(config.minibatch):
                flat, legal, actions, log_probs, advantages, targets = (each[which] for each in kept)
                logits, values = self.outputs(flat, legal)
                now = (*twins.masked_stats(logits, legal.bool(), actions), values)
                loss, _ = twins.ppo(now, log_probs, advantages, targets, config.clip, 1.0, value_at(config.entropy, 0))
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), config.grad_clip)
                self.optimizer.step()
