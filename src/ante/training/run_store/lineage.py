"""The lineage of a policy: the policies whose weights its training started from, nearest first.

A run with the setting `init_from` has a file lineage.json, and a release of it has the same list in policy.json.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ante.errors import first_fault
from ante.files import Unreadable, read_object, write_text

LINEAGE = "lineage.json"
KEY = "lineage"  # of the list in both files


class Ancestor(BaseModel):
    """A policy from which training continued.

    name            folder of the run or the release
    checkpoint      of the run; None for a release
    policy          kind of the policy
    steps           environment steps of its training
    weights_sha256  hex SHA-256 of its file of weights
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    checkpoint: str | None
    policy: str
    steps: int
    weights_sha256: str


class _Holder(BaseModel):
    lineage: tuple[Ancestor, ...] = ()


Lineage = tuple[Ancestor, ...]


def write_lineage(folder: Path, lineage: Lineage) -> None:
    """Write lineage.json to a run's folder."""
    write_text(folder / LINEAGE, _Holder(lineage=lineage).model_dump_json(indent=1) + "\n")


def read_lineage(folder: Path) -> Lineage:
    """Return the lineage of the run in this folder; empty if it started from initial weights. Raises Unreadable."""
    file = folder / LINEAGE
    return lineage_in(read_object(file), file) if file.exists() else ()


def lineage_in(content: Mapping[str, Any], file: Path) -> Lineage:
    """Return the lineage in the contents of lineage.json or policy.json. Raises Unreadable, naming the file."""
    try:
        return _Holder.model_validate({KEY: content.get(KEY, ())}).lineage
    except ValidationError as error:
        raise Unreadable(f"cannot read {file}: {first_fault(error)}") from None


def as_json(lineage: Lineage) -> dict[str, Any]:
    """Return the lineage as an entry of a JSON object; an empty object without ancestors."""
    return _Holder(lineage=lineage).model_dump(mode="json") if lineage else {}
