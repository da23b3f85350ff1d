"""The game settings of a run."""

from typing import Any

from ante.training.settings.config import TrainConfig


def rules(config: TrainConfig) -> dict[str, Any]:
    """Return the rules of a run's games."""
    names = ("deck", "stake", "challenge", "reorder")
    return {name: getattr(config.games, name) for name in names} | {"reward": config.games.weighted_reward}


def env_config(config: TrainConfig) -> dict[str, Any]:
    """Return the settings of a run's environment; potential-based shaping uses the learner's discount."""
    reward = config.games.weighted_reward.discounted(config.algo.gamma)
    return rules(config) | {"max_decisions": config.games.max_decisions, "reward": reward}
