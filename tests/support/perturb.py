"""Change one number of the catalogue at a time, and see whether the game changes.

The engine reads the catalogue once, into the arrays of `engine/core/tables.py`. `changed` replaces one number of a row
(or one constant), builds those arrays again and puts them in the place of the old ones; uncompiled code then plays with
the new number. Compiled code has the arrays frozen inside, so tests that use this module run with `NUMBA_DISABLE_JIT=1`.

    numbers = numbers_of(jokers, "JOKERS")
    assert unread(numbers, lambda number: scenarios_of(number)) == []
"""

import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

uncompiled_only = pytest.mark.skipif(
    not numba.config.DISABLE_JIT, reason="compiled code has the catalogue frozen inside: run `make test-nojit`"
)

# Modules of the engine that turn the catalogue into arrays and numbers, in the order of their imports.
DERIVED = ("ante.engine.core.tables",)

Scenario = Callable[[], Any]  # plays some game and returns what became of it: bytes, numbers, anything that compares


@dataclass(frozen=True)
class Number:
    """One number of the catalogue.

    module, table   where its row stands; a constant is a table without rows
    row             index of the row, None for a constant
    field           field of the row, "" for a constant
    part            index in a tuple or key in a mapping, None where the field is the number itself
    value           what it is
    """

    module: ModuleType
    table: str
    row: int | None
    field: str
    part: Any
    value: Any

    def __str__(self) -> str:
        """`JOKERS[22].chips`, `JOKERS[31].ranks[0]`."""
        row = "" if self.row is None else f"[{self.row}].{self.field}"
        return self.table + row + ("" if self.part is None else f"[{self.part!r}]")

    def table_with(self, value: Any) -> Any:
        """The whole table, with another value in this place."""
        table = getattr(self.module, self.table)
        if self.row is None:
            return self._holder_with(table, value)
        row = table[self.row]
        rows = list(table)
        rows[self.row] = replace(row, **{self.field: self._holder_with(getattr(row, self.field), value)})
        return tuple(rows)

    def _holder_with(self, holder: Any, value: Any) -> Any:
        if self.part is None:
            return value
        if isinstance(holder, Mapping):
            return {**holder, self.part: value}
        parts = list(holder)
        parts[self.part] = value
        return tuple(parts)


def is_number(value: Any) -> bool:
    """Whether a value of the catalogue is a number: flags are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def parts_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Part and number of every number in a field."""
    if is_number(value):
        yield None, value
    elif isinstance(value, tuple):
        yield from ((i, part) for i, part in enumerate(value) if is_number(part))
    elif isinstance(value, Mapping):
        yield from ((key, part) for key, part in value.items() if is_number(part))


def numbers_of(module: ModuleType, table: str, without: tuple[str, ...] = (), first: int = 0) -> list[Number]:
    """Every number of a table of rows, from row `first` on; `without` names the fields that identify the row."""
    return [
        Number(module, table, index, field.name, part, value)
        for index, row in enumerate(getattr(module, table))
        if index >= first
        for field in fields(row)
        if field.name not in without
        for part, value in parts_of(getattr(row, field.name))
    ]


def constants_of(module: ModuleType, *names: str) -> list[Number]:
    """Every number among these constants of a module."""
    return [
        Number(module, name, None, "", part, value) for name in names for part, value in parts_of(getattr(module, name))
    ]


def other_values(value: Any) -> tuple[Any, ...]:
    """What a number is changed to, one after the other, until the game changes."""
    if isinstance(value, IntEnum):
        return tuple(member for member in type(value) if member != value)
    kind = type(value)
    wanted = (value + 1, value - 1, 2 * value, value / 2, 1, 0, 10 * value)
    found = dict.fromkeys(kind(w) for w in wanted)
    return tuple(w for w in found if w != value and (w >= 0 or value < 0))


@contextmanager
def changed(number: Number, value: Any) -> Iterator[None]:
    """The game has another value in this place, for as long as the context lasts."""
    restore: list[Callable[[], None]] = []
    try:
        put(getattr(number.module, number.table), number.table_with(value), number.table, restore)
        for name in DERIVED:
            module = sys.modules[name]
            fresh = runpy.run_path(str(module.__file__), run_name=name)
            for attribute, old in list(vars(module).items()):
                if not attribute.startswith("_"):
                    put_derived(old, fresh[attribute], attribute, restore)
        yield
    finally:
        for undo in reversed(restore):
            undo()


def put_derived(old: Any, new: Any, name: str, restore: list[Callable[[], None]]) -> None:
    """Replace an array or a number by one that was built again, if it differs."""
    if isinstance(old, np.ndarray):
        if old.shape != new.shape:
            put(old, new, name, restore)
        elif not np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
            before = old.copy()
            restore.append(lambda: np.copyto(old, before))
            np.copyto(old, new)
    elif is_number(old) and old != new:
        put(old, new, name, restore)


def put(old: Any, new: Any, name: str, restore: list[Callable[[], None]]) -> None:
    """Every module of Ante that holds this object under this name holds the new one."""
    for module in [m for key, m in sys.modules.items() if key.startswith("ante.")]:
        if vars(module).get(name) is old:
            restore.append(lambda module=module: setattr(module, name, old))  # type: ignore[misc]
            setattr(module, name, new)


def outcome(scenario: Scenario) -> Any:
    """What became of the game; a step that the scenario counts on and that fails is an outcome too."""
    try:
        return scenario()
    except AssertionError:
        return "another course"


def unread(numbers: Iterable[Number], scenarios: Callable[[Number], Iterable[Scenario]]) -> list[str]:
    """The numbers that change nothing: in none of their scenarios, with none of `other_values`."""
    usual: dict[Scenario, Any] = {}
    found = []
    for number in numbers:
        played = list(scenarios(number))
        for scenario in played:
            if scenario not in usual:
                usual[scenario] = scenario()
        if not any(differs(number, value, played, usual) for value in other_values(number.value)):
            found.append(str(number))
    return found


def differs(number: Number, value: Any, played: list[Scenario], usual: Mapping[Scenario, Any]) -> bool:
    """Whether any scenario ends otherwise with this value."""
    with changed(number, value):
        return any(outcome(scenario) != usual[scenario] for scenario in played)


def fingerprint(s: Any) -> bytes:
    """Return a whole game, field by field: the padding between the fields is arbitrary memory."""
    return b"".join(field_bytes(s[name]) for name in s.dtype.names)


def field_bytes(value: Any) -> bytes:
    """The bytes of one field, of the fields of a record or of an array of records."""
    array = np.asarray(value)
    if array.dtype.names is None:
        return bytes(array.tobytes())
    return b"".join(field_bytes(array[name]) for name in array.dtype.names)
