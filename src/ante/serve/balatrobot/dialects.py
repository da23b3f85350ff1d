"""The words of the two dialects: 1.5, which existing clients expect, and 2.0, in which items are named by their keys.

Both spellings are accepted in requests; replies use those of the session's dialect.
"""

from dataclasses import dataclass

from ante.catalog.cards import EDITIONS, ENHANCEMENTS, SEALS, Seal
from ante.catalog.decks import DECKS, Stake

SPELLINGS = ("1.5", "2.0")


@dataclass(frozen=True)
class Dialect:
    """The words of one dialect, by number of the catalogue; index 0 of modifiers is empty."""

    name: str
    decks: tuple[str, ...]
    stakes: tuple[str, ...]
    editions: tuple[str, ...]
    enhancements: tuple[str, ...]
    seals: tuple[str, ...]

    @property
    def keyed(self) -> bool:
        """Whether this is dialect 2.0, with its additional fields."""
        return self.name == "2.0"


def upper(key: str) -> str:
    """Return a key without its prefix, in capitals: `b_red` as `RED`."""
    return key.split("_", 1)[-1].upper()


STAKES = ("", *(stake.name.lower() for stake in Stake))
DIALECTS = {
    "1.5": Dialect(
        "1.5",
        tuple(upper(row.key) for row in DECKS),
        tuple(stake.upper() for stake in STAKES),
        tuple(row.key.upper() for row in EDITIONS),
        tuple(upper(row.key) for row in ENHANCEMENTS),
        tuple(row.key.upper() for row in SEALS),
    ),
    "2.0": Dialect(
        "2.0",
        tuple(row.key for row in DECKS),
        tuple(stake and f"stake_{stake}" for stake in STAKES),
        tuple(row.key and f"e_{row.key}" for row in EDITIONS),
        tuple(row.key for row in ENHANCEMENTS),
        tuple(row.key for row in SEALS),
    ),
}


def numbers(field: str) -> dict[str, int]:
    """Return the number of each word of a field, in all dialects."""
    return {word: i for dialect in DIALECTS.values() for i, word in enumerate(getattr(dialect, field)) if word}


DECK_NUMBERS, STAKE_NUMBERS = numbers("decks"), numbers("stakes")
EDITION_NUMBERS, ENHANCEMENT_NUMBERS = numbers("editions"), numbers("enhancements")
SEAL_NUMBERS = numbers("seals")
assert {Seal(i) for i in SEAL_NUMBERS.values()} == set(Seal) - {Seal.NONE}
