"""Comparison of the engine with files of recorded reference data, whose form is detected from their fields."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ante.engine.drivers.survey import survey
from ante.errors import BalatroError, first_fault, shown
from ante.files import Unreadable, parse_json, read_text
from ante.verification.difference import Difference
from ante.verification.record_models import GameRecord, HandRecord, Record, SeedRecord
from ante.verification.recorded_games import compare_run
from ante.verification.recorded_hands import compare_hand

LARGEST_GOLDEN = 256 << 20  # bytes of a file, compressed or not
SHOWN = 10  # differences kept per file


class BadGolden(BalatroError, ValueError):
    """A file is not reference data in a supported form."""


@dataclass(frozen=True)
class Checked:
    """Result of the comparison of one file.

    form         seeds, games or hands
    compared     number of compared records
    equal        number of records that agree in every field
    left_out     number of records named in --skip, or marked doubtful in the file
    differences  the first differences
    """

    file: str
    form: str
    compared: int
    equal: int
    left_out: int
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return asdict(self)


def compare_seed(run: dict[str, Any]) -> Difference | None:
    """Return the first field of a surveyed seed in which the engine differs."""
    got = survey(run["seed"], run["deck"], run["stake"], len(run["antes"]))
    where = f"{run['seed']} {run['deck']} stake {run['stake']}"
    for ante, (mine, wanted) in enumerate(zip(got["antes"], run["antes"], strict=True), 1):
        for field, value in wanted.items():
            if mine.get(field) != value:
                return Difference(field, mine.get(field), value, f"{where} ante {ante}")
    for field, value in run.items():
        if got.get(field) != value:
            return Difference(field, got.get(field), value, where)
    return None


@dataclass(frozen=True)
class Form:
    """A form of records: the fields that identify it, the model of its records, and their comparison."""

    keys: tuple[str, ...]
    model: type[Record]
    compare: Callable[[dict[str, Any]], Difference | None]


FORMS = {
    "seeds": Form(("seed", "antes", "legendary"), SeedRecord, compare_seed),
    "games": Form(("seed", "steps", "start"), GameRecord, compare_run),
    "hands": Form(("played", "held", "expect"), HandRecord, compare_hand),
}


def read_records(file: Path) -> list[Any]:
    """Read a file's records: a JSON list, an object with `runs`, or JSON lines; gzip or plain. Raises BadGolden."""
    try:
        return records_of(read_text(file, LARGEST_GOLDEN), file)
    except Unreadable as error:
        raise BadGolden(str(error)) from None


def records_of(text: str, file: Path) -> list[Any]:
    """Return the records of a text in one of the three layouts. Raises Unreadable."""
    lines = text.splitlines()
    if len(lines) > 1 and lines[0].startswith("{") and lines[0].endswith("}"):  # JSON lines
        return [parse_json(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line]
    whole = parse_json(text, file)
    found = whole.get("runs", [whole]) if isinstance(whole, dict) else whole
    return found if isinstance(found, list) else []


def form_of(file: Path, records: list[Any]) -> str:
    """Return the form of these records. Raises BadGolden."""
    for name, form in FORMS.items():
        if records and all(isinstance(record, dict) and all(key in record for key in form.keys) for record in records):
            return name
    known = "; ".join(f"{name} have {', '.join(form.keys)}" for name, form in FORMS.items())
    raise BadGolden(f"{file} contains no reference data in a supported form: {known}")


def check_records(file: Path, form: Form, records: list[dict[str, Any]]) -> None:
    """Validate all records. Raises BadGolden, which names the first invalid record and its field."""
    for number, record in enumerate(records, 1):
        try:
            form.model.model_validate_json(json.dumps(record))
        except ValidationError as error:
            raise BadGolden(f"{file}, record {number}, {first_fault(error)}") from None


def name_of(record: dict[str, Any]) -> str:
    """Return a record's name for --skip: its id, or its seed."""
    name = record.get("id")
    return str(record.get("seed", "") if name is None else name)


def check_names(files: Iterable[Path], names: Iterable[str]) -> None:
    """Raise BadGolden if no record of the files has one of these names."""
    unknown = set(names)
    for file in files if unknown else ():
        unknown -= {name_of(record) for record in read_records(file) if isinstance(record, dict)}
    if unknown:
        raise BadGolden(f"--skip {shown(min(unknown))}: no record has this id or seed")


def check(
    file: Path,
    skip: frozenset[str] = frozenset(),
    begin: Callable[[int], None] = lambda _: None,
    advance: Callable[[], None] = lambda: None,
) -> Checked:
    """Compare every record of a file. Raises BadGolden, also if all records are left out.

    skip     names of records to leave out
    begin    called with the number of records
    advance  called after each record
    """
    records = read_records(file)
    form = form_of(file, records)
    check_records(file, FORMS[form], records)
    compare = FORMS[form].compare
    begin(len(records))
    compared, different, left_out = 0, 0, 0
    differences: list[Difference] = []
    for record in records:
        if name_of(record) in skip or record.get("expected_seems_wrong"):
            left_out += 1
        else:
            compared += 1
            found = compare(record)
            if found:
                different += 1
                differences += [found] if len(differences) < SHOWN else []
        advance()
    if not compared:
        raise BadGolden(f"{file}: all {left_out:,} records are left out, so nothing is compared: leave out fewer")
    return Checked(str(file), form, compared, compared - different, left_out, tuple(differences))
