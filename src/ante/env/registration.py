"""Registration of the environments in Gymnasium."""

import gymnasium

NAME = "ante/Balatro-v1"


def register_environments() -> None:
    """Register `ante/Balatro-v1` and its vector form in Gymnasium. Repeated calls change nothing."""
    if NAME not in gymnasium.registry:
        gymnasium.register(
            id=NAME,
            entry_point="ante.env.single:BalatroEnv",
            vector_entry_point="ante.env.vector:BalatroVectorEnv",
        )
