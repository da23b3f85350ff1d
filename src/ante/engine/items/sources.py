"""Sources of cards, and the random streams of each source.

Each kind of card has its own enum of sources, so that a source cannot be used for a kind it does not make. A source
without a stream in `core/rng.py` raises KeyError at import.
"""

from enum import IntEnum

import numpy as np

from ante.catalog.jokers import COMMON, RARE, UNCOMMON
from ante.engine.core.rng import Stream


class JokerSource(IntEnum):
    """The source of a joker."""

    SHO = 0  # shop row
    BUF = 1  # Buffoon pack
    JUD = 2  # Judgement
    SOU = 3  # The Soul
    WRA = 4  # Wraith
    RIF = 5  # Riff-Raff
    UTA = 6  # Uncommon Tag
    RTA = 7  # Rare Tag
    TOP = 8  # Top-up Tag


class TarotSource(IntEnum):
    """The source of a Tarot."""

    SHO = 0  # shop row
    AR1 = 1  # Arcana pack
    EMP = 2  # The Emperor
    EIGHT_BALL = 3  # 8 Ball, Purple Seal
    VAG = 4  # Vagabond
    SUP = 5  # Superposition
    CAR = 6  # Cartomancer
    HAL = 7  # Hallucination


class PlanetSource(IntEnum):
    """The source of a Planet."""

    SHO = 0  # shop row
    PL1 = 1  # Celestial pack
    PRI = 2  # The High Priestess


class SpectralSource(IntEnum):
    """The source of a Spectral."""

    SHO = 0  # shop row
    AR2 = 1  # Arcana pack, Omen Globe
    SPE = 2  # Spectral pack
    SEA = 3  # Seance
    SIXTH = 4  # Sixth Sense


class CardSource(IntEnum):
    """The source of a playing card."""

    SHO = 0  # shop row
    STA = 1  # Standard pack


# The rarity of sources that do not draw one.
RARITY_OF_SOURCE = {
    JokerSource.WRA: RARE,
    JokerSource.RIF: COMMON,
    JokerSource.UTA: UNCOMMON,
    JokerSource.RTA: RARE,
    JokerSource.TOP: COMMON,
}


def streams_of(prefix: str, sources: type[IntEnum]) -> np.ndarray:
    """Return the stream `<prefix>_<source>` of every source, (n,) int64. Raises KeyError if one is not declared."""
    return np.array([Stream[f"{prefix}_{source.name}"] for source in sources], dtype=np.int64)


def joker_streams(source: JokerSource) -> list[Stream]:
    """Return the streams of a source's jokers, by rarity. The Soul makes only Legendary jokers."""
    if source == JokerSource.SOU:
        return [Stream.JOKER4] * 5
    common, uncommon, rare = (Stream[f"JOKER{rarity}_{source.name}"] for rarity in (1, 2, 3))
    return [common, common, uncommon, rare, rare]  # rarities 0 and 4 are not used


FIXED_RARITY = np.array([RARITY_OF_SOURCE.get(source, 0) for source in JokerSource], dtype=np.int64)  # 0 = drawn
RARITY_STREAM = np.array(  # used only if the rarity is drawn
    [0 if source in RARITY_OF_SOURCE else Stream[f"RARITY_{source.name}"] for source in JokerSource], dtype=np.int64
)
JOKER_STREAM = np.array([joker_streams(source) for source in JokerSource], dtype=np.int64)  # by source, then rarity
EDITION_STREAM = streams_of("EDI", JokerSource)
TAROT_STREAM = streams_of("TAROT", TarotSource)
PLANET_STREAM = streams_of("PLANET", PlanetSource)
SPECTRAL_STREAM = streams_of("SPECTRAL", SpectralSource)
ENHANCED_STREAM = streams_of("ENHANCED", CardSource)
FRONT_STREAM = streams_of("FRONT", CardSource)
