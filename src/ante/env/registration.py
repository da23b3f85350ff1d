"""Registration of the environments in Gymnasium."""

import gymnasium

NAME = "ante/Balatro-v1"


def register_environments() -> None:
    """`gymnasium.make("ante/Balatro-v1")` and its vector form work. Calling it again changes nothing."""
    if NAME not in gymnasium.registry:
        gymnasium.register(
            id=NAME,
            entry_point="ante.env.single:BalatroEnv",
            vector_entry_point="ante.env.vector:BalatroVectorEnv",
        )
