"""Stock PPO of RLlib on lists of candidate actions, with the network of `shortlist_ppo.py`.

python -m examples.shortlist_rllib --iterations 50
"""

import argparse
from typing import Any

import gymnasium
import torch
from examples.shortlist_ppo import Net
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.tune.registry import register_env


class ShortlistModule(TorchRLModule, ValueFunctionAPI):
    """The network as an RLModule; illegal candidates have logits of -1e9."""

    def setup(self) -> None:
        """Create the network."""
        self.net = Net()

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self.net(batch[Columns.OBS])[0].logits}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of each observation."""
        return self.net(batch[Columns.OBS])[1]


def config(runners: int = 1, games: int = 16, batch: int = 4096) -> PPOConfig:
    """Return the configuration of the algorithm."""
    register_env("shortlist", lambda _: gymnasium.make("ante.lookahead:ante/BalatroShortlist-v1"))
    return (
        PPOConfig()
        .environment("shortlist")
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=games)
        .training(train_batch_size=batch, minibatch_size=1024, num_epochs=3, lr=5e-4, gamma=0.998, lambda_=0.95)
        .training(grad_clip=0.5, entropy_coeff=0.01)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ShortlistModule))
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=50, help="batches to train on")
    options, algorithm = parser.parse_args(), config().build_algo()
    for iteration in range(options.iterations):
        found = algorithm.train()["env_runners"]
        print(f"iteration {iteration}  {found['num_env_steps_sampled_lifetime']:,.0f} steps  "
              f"return {found.get('episode_return_mean', 0.0):.2f}", flush=True)  # fmt: skip
    algorithm.stop()
