"""Random game seeds, from a generator that an environment or a list of seeds owns."""

import numpy as np
from gymnasium.utils import seeding

from ante.checks import seed_number

ALPHABET = np.frombuffer(b"123456789ABCDEFGHIJKLMNPQRSTUVWXYZ", dtype=np.uint8)  # the game generates no 0 and no O
LENGTH = 8


def one_seed(seed: int | None) -> np.random.Generator:
    """Return the generator of game seeds for an environment of this seed. Raises BadValue."""
    return seeding.np_random(seed_number(seed))[0]


def new_seed(rng: np.random.Generator) -> bytes:
    """Return a random game seed: eight characters of 1-9, A-N, P-Z."""
    return ALPHABET[rng.integers(len(ALPHABET), size=LENGTH)].tobytes()
