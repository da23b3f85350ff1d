"""Recall of pairs that people recommend: how many of them the measurement finds."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ante.errors import BalatroError, first_fault
from ante.knowledge.content import scoring_jokers
from ante.knowledge.measuring.table import Table, is_synergy
from ante.knowledge.names import key_of
from ante.yaml_files import read_yaml

Text = Annotated[str, Field(min_length=1, max_length=200)]


class BadList(BalatroError, ValueError):
    """A list of pairs cannot be read."""


class PublishedPair(BaseModel):
    """A pair of jokers that a source recommends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    one: Text
    other: Text
    source: Text


class Published(BaseModel):
    """A list of pairs, and the sources by their short names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: dict[Text, Text] = Field(default_factory=dict)
    pairs: tuple[PublishedPair, ...] = Field(min_length=1, max_length=20_000)


@dataclass(frozen=True)
class RecalledPair:
    """A recommended pair and its measurement.

    scoring  whether both jokers act while a hand is scored
    verdict  `synergy`, `overlap`, `independent` (never interacts), or `uncertain`
    """

    one: str
    other: str
    source: str
    scoring: bool
    effect: float
    half: float
    acts: float
    verdict: str


@dataclass(frozen=True)
class Recalled:
    """How many recommended pairs are measured synergies: of all, and of those whose jokers act on a played hand."""

    pairs: tuple[RecalledPair, ...]
    confirmed: int
    scoring: int
    confirmed_scoring: int


def read_published(file: Path | None = None) -> Published:
    """Return a list of pairs, by default that of the package. Raises BadList, Unreadable."""
    place = file or Path(str(files("ante.knowledge") / "measured" / "published.yaml"))
    try:
        return Published.model_validate(read_yaml(place))
    except ValidationError as error:
        raise BadList(f"cannot read {place}: {first_fault(error)}") from None


def recalled(table: Table, published: Published) -> Recalled:
    """Return the measurement of every recommended pair. Raises UnknownName, BadList."""
    index = {frozenset(pair): i for i, pair in enumerate(zip(table.pairs["one"], table.pairs["other"], strict=True))}
    scoring = scoring_jokers()
    synergy = is_synergy(table.pairs["effect"], table.pairs["q"])
    rows = []
    for each in published.pairs:
        keys = frozenset((key_of("joker", each.one), key_of("joker", each.other)))
        if keys not in index:
            raise BadList(f"{each.one} + {each.other} is not a pair of different measured jokers")
        i = index[keys]
        effect, acts = float(table.pairs["effect"][i]), float(table.pairs["acts"][i])
        words = "synergy" if effect > 0 else "overlap"
        verdict = words if synergy[i] else ("independent" if acts == 0 else "uncertain")
        half = float(table.pairs["half"][i])
        rows.append(RecalledPair(each.one, each.other, each.source, keys <= scoring, effect, half, acts, verdict))
    found = np.array([row.verdict == "synergy" for row in rows])
    both = np.array([row.scoring for row in rows])
    return Recalled(tuple(rows), int(found.sum()), int(both.sum()), int((found & both).sum()))
