"""Files of recorded truth, recognised by what is in them, held against the engine."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ante.engine.survey import survey
from ante.errors import BalatroError
from ante.golden.difference import Difference
from ante.golden.hands import compare_hand
from ante.golden.traces import compare_run

SHOWN = 10  # differences kept of each file


class BadGolden(BalatroError, ValueError):
    """A file that is not recorded truth in a form known here."""


@dataclass(frozen=True)
class Checked:
    """What came of one file.

    form         seeds, games or hands
    compared     records that were compared
    equal        those that agree in every field
    left_out     records named in --skip, or marked doubtful in the file
    differences  the first ones: where, field, got, wanted
    """

    file: str
    form: str
    compared: int
    equal: int
    left_out: int
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def compare_seed(run: dict[str, Any]) -> Difference | None:
    """The first field of a surveyed seed that the engine fills otherwise."""
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


FORMS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], Difference | None]]] = {
    "seeds": (("seed", "antes", "legendary"), compare_seed),
    "games": (("seed", "steps", "start"), compare_run),
    "hands": (("played", "held", "expect"), compare_hand),
}


def read_records(file: Path) -> list[dict[str, Any]]:
    """The records of a file: one JSON list, one object with `runs`, or an object a line; gzip or plain. Raises BadGolden."""
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
        return list(records_of(text))
    except (OSError, EOFError, ValueError) as error:
        raise BadGolden(f"cannot read {file}: {error}") from None


def records_of(text: str) -> Iterator[dict[str, Any]]:
    """Records of a text in one of the three layouts."""
    lines = text.splitlines()
    try:
        whole = json.loads(lines[0] if len(lines) > 1 else text)
        if len(lines) > 1:  # an object a line
            yield whole
            yield from (json.loads(line) for line in lines[1:] if line)
            return
    except ValueError:
        whole = json.loads(text)
    found = whole.get("runs", [whole]) if isinstance(whole, dict) else whole
    yield from found


def form_of(file: Path, records: list[dict[str, Any]]) -> str:
    """Which form these records have. Raises BadGolden."""
    for form, (keys, _) in FORMS.items():
        if records and all(isinstance(record, dict) and all(key in record for key in keys) for record in records):
            return form
    known = "; ".join(f"{form} have {', '.join(keys)}" for form, (keys, _) in FORMS.items())
    raise BadGolden(f"{file} holds no recorded truth in a form known here: {known}")


def name_of(record: dict[str, Any]) -> str:
    """How a record is named in --skip: its id, or its seed."""
    return str(record.get("id") or record["seed"])


def check(
    file: Path,
    skip: frozenset[str] = frozenset(),
    begin: Callable[[int], None] = lambda _: None,
    advance: Callable[[], None] = lambda: None,
) -> Checked:
    """Compare every record of a file. Raises BadGolden.

    skip     names of records to leave out
    begin    told how many records there are
    advance  told of each one that is done
    """
    records = read_records(file)
    form = form_of(file, records)
    compare = FORMS[form][1]
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
    return Checked(str(file), form, compared, compared - different, left_out, tuple(differences))
