"""What a run's games are made of."""

from typing import Any

from ante.training.config import TrainConfig


def rules(config: TrainConfig) -> dict[str, Any]:
    """What a run's games are played by."""
    names = ("deck", "stake", "challenge", "reorder")
    return {name: getattr(config, name) for name in names} | {"reward": config.paid}


def env_config(config: TrainConfig) -> dict[str, Any]:
    """What is learned in: a potential is discounted as the learner discounts, so that it cannot mislead."""
    reward = config.paid.discounted(config.gamma)
    return rules(config) | {"max_decisions": config.max_decisions, "reward": reward}
