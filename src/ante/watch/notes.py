"""A player's estimates for its decisions: value, likeliest options, hint, plan and search, stored next to a replay."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat, ValidationError

from ante.env.games import Games
from ante.errors import BalatroError, first_fault
from ante.files import Unreadable, read_json, write_gzip

SHOWN = 5  # options kept per decision
LEAST = 0.001  # least probability of an option that is kept
DIGITS = 4
Decision = Annotated[int, Field(ge=0, lt=1 << 46)]  # a macro decision
Chance = Annotated[float, Field(ge=0, le=1.001)]  # rounded


class BadNotes(BalatroError, ValueError):
    """Notes cannot be read, or belong to another game."""


@dataclass(frozen=True)
class Note:
    """Estimates for one decision.

    value    expected sum of future rewards, in the units of the player's training
    options  macro decisions with their probabilities, the likeliest first
    chance   probability of the decision taken; None if it was not among the player's options
    hint     hint that the player received, empty without one
    plan     plan for this blind or shop, empty for players without plans
    search   what was searched and why the choice changed, empty for players without search
    """

    value: float | None
    options: tuple[tuple[int, float], ...]
    chance: float | None
    hint: str = ""
    plan: str = ""
    search: str = ""


@runtime_checkable
class Explained(Protocol):
    """A player that explains its decisions (an `agents.evaluate.Player` with one more method)."""

    name: str
    discrete: bool
    reorder: str

    def explain(self, games: Games, taken: int) -> Note:
        """Return the Note on the single game of `games` before the macro decision `taken`."""


def note_of(
    decisions: NDArray[np.int64], probabilities: NDArray[Any], taken: int, value: float, hint: str = "", plan: str = ""
) -> Note:
    """Return the Note on macro decisions (k,) with these probabilities (k,), without options below LEAST.

    A decision may be listed several times, such as a sale that makes room for one of two jokers: it becomes one option.
    """
    chances: dict[int, float] = {}
    for decision, probability in zip(decisions.tolist(), probabilities.tolist(), strict=True):
        chances[decision] = chances.get(decision, 0.0) + probability
    likeliest = sorted(chances.items(), key=lambda each: -each[1])[:SHOWN]
    options = tuple((decision, round(each, DIGITS)) for decision, each in likeliest if each >= LEAST)
    chance = round(chances[taken], DIGITS) if taken in chances else None
    return Note(round(value, DIGITS), options, chance, hint, plan)


def notes_beside(replay: Path) -> Path:
    """Return the file of a replay's notes."""
    return replay.with_name(replay.name.removesuffix(".gz").removesuffix(".txt") + ".notes.json.gz")


def write_notes(file: Path, player: str, notes: Iterable[Note]) -> None:
    """Write notes to a gzipped JSON file: {player, notes: [[value, [[decision, probability] ...], chance, hint, plan, search] ...]}."""
    rows = [[note.value, note.options, note.chance, note.hint, note.plan, note.search] for note in notes]
    text = json.dumps({"player": player, "notes": rows}, separators=(",", ":"))
    write_gzip(file, text.encode())


KeptNote = tuple[FiniteFloat | None, tuple[tuple[Decision, Chance], ...], Chance | None, str, str, str]
WITHOUT_PLAN = 4  # columns of a row of the oldest version


def completed(row: Any) -> Any:
    """Add empty texts to a row of an older version, which stored no plan or no search."""
    missing = len(KeptNote.__args__) - len(row) if isinstance(row, list) else 0  # type: ignore[attr-defined]
    return [*row, *[""] * missing] if missing and len(row) >= WITHOUT_PLAN else row


class KeptNotes(BaseModel):
    """The contents of a notes file; plan and search are optional."""

    player: str
    notes: list[Annotated[KeptNote, BeforeValidator(completed)]]


def read_notes(file: Path) -> tuple[str, list[Note]]:
    """Return the player's name and its notes. Raises BadNotes."""
    try:
        kept = KeptNotes.model_validate_json(json.dumps(read_json(file)))
    except Unreadable as error:
        raise BadNotes(str(error)) from None
    except ValidationError as error:
        raise BadNotes(f"cannot read the notes {file}: {first_fault(error)}") from None
    return kept.player, [Note(*row) for row in kept.notes]
