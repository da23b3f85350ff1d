"""Small policies on shortlists with weights from a fixed seed."""

from typing import Any

import gymnasium
import numpy as np
import torch


def small(kind: type, hidden: tuple[int, ...] = (32, 24)) -> Any:
    """Return a policy of this class."""
    torch.manual_seed(1)
    return kind(
        observation_space=gymnasium.spaces.Box(0, 255, (8,), np.uint8),
        action_space=gymnasium.spaces.Discrete(8),
        model_config={"hidden": hidden, "entry": 16},
    )
