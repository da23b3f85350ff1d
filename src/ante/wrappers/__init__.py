"""Wrappers for single games in Gymnasium's manner; each can be used alone, around any variant of `ante/Balatro-v1`.

Where Gymnasium has one already it is that one: `NormalizeReward`, `TransformReward` (to scale), `FrameStackObservation`,
`TimeLimit`. Training on the fast path has its own of these as settings: normalise_rewards, curriculum, max_decisions.
"""

from gymnasium.wrappers import FrameStackObservation, NormalizeReward, TimeLimit, TransformReward

from ante.wrappers.curriculum import Curriculum, Lesson
from ante.wrappers.legal import LegalAction
from ante.wrappers.pixels import Pixels
from ante.wrappers.seeds import SeedSampler

__all__ = [
    "Curriculum",
    "FrameStackObservation",
    "LegalAction",
    "Lesson",
    "NormalizeReward",
    "Pixels",
    "SeedSampler",
    "TimeLimit",
    "TransformReward",
]
