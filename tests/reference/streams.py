"""A second implementation of the game's random streams from their description, in plain Python.

Slow and obvious; both implementations are compared with draws of LuaJIT in `tests/golden/vectors.json.gz`.
"""

import math
import struct
from collections.abc import Container

WORDS = ((31, 45, 1, 18), (19, 30, 6, 28), (24, 48, 9, 7), (21, 39, 17, 8))
ALL_64 = (1 << 64) - 1


def text_hash(text: str) -> float:
    """Return a number in [0, 1) for a text, hashed from its last character."""
    number = 1.0
    for place in range(len(text), 0, -1):
        turn = 1.1239285023 / number * ord(text[place - 1]) * math.pi + math.pi * place
        number = turn - math.floor(turn)
    return number


def uniform(value: float) -> float:
    """Return the first number of the generator seeded by a value."""
    words = []
    for _, _, cleared, _ in WORDS:
        value = value * math.pi + math.e
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        words.append(bits + (1 << cleared) if bits < 1 << cleared else bits)
    for _ in range(11):
        for i, (q, a, cleared, b) in enumerate(WORDS):
            word = words[i]
            kept = word >> cleared << cleared
            words[i] = ((((word << q) & ALL_64) ^ word) >> a) ^ ((kept << b) & ALL_64)
    low = (words[0] ^ words[1] ^ words[2] ^ words[3]) & ((1 << 52) - 1)
    return float(struct.unpack("<d", struct.pack("<Q", low | 1023 << 52))[0]) - 1.0


class Streams:
    """The streams of one seed, each at the state after its last draw."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.states: dict[str, float] = {}

    def draw(self, key: str) -> float:
        """Return the next number in [0, 1) of the stream of a key, such as `cdt1` or `Tarotcar1_resample2`."""
        state = self.states[key] if key in self.states else text_hash(key + self.seed)
        turn = 2.134453429141 + state * 1.72431234
        self.states[key] = float(f"{turn - math.floor(turn):.13f}")
        return uniform((self.states[key] + text_hash(self.seed)) / 2)

    def pick(self, key: str, pool: list[str], taken: Container[str] = ()) -> str:
        """Return the entry of a pool that the stream selects; taken ones are resampled on streams _resample2, 3 ..."""
        tries = 1
        name = key
        while (found := pool[math.floor(self.draw(name) * len(pool))]) in taken:
            tries += 1
            name = f"{key}_resample{tries}"
        return found
