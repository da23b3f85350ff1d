"""Gymnasium wrappers for single games; each can be used alone, around any variant of `ante/Balatro-v1`.

Those that Gymnasium already has are re-exported: `NormalizeReward`, `TransformReward` (for scaling),
`FrameStackObservation`, `TimeLimit`. Training on the fast path has settings instead: normalise_rewards, curriculum,
max_decisions.
"""

from gymnasium.wrappers import FrameStackObservation, NormalizeReward, TimeLimit, TransformReward

from ante.wrappers.curriculum import Curriculum, Lesson
from ante.wrappers.joker_vectors import JokerVectors
from ante.wrappers.legal import LegalAction
from ante.wrappers.pixels import Pixels
from ante.wrappers.seeds import SeedSampler

__all__ = [
    "Curriculum",
    "FrameStackObservation",
    "JokerVectors",
    "LegalAction",
    "Lesson",
    "NormalizeReward",
    "Pixels",
    "SeedSampler",
    "TimeLimit",
    "TransformReward",
]
