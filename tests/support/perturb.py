"""Changes one number of the catalogue at a time, and detects whether the game changes.

The engine reads the catalogue once, into the arrays of `engine/core/tables.py`. `changed` replaces one number of a row
(or one constant), rebuilds those arrays and replaces the old ones; uncompiled code then plays with the new number.
Compiled code contains frozen arrays, so tests that use this module run with `NUMBA_DISABLE_JIT=1`.

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
    not numba.config.DISABLE_JIT, reason="compiled code contains a frozen catalogue: run `make test-nojit`"
)

# Modules of the engine that convert the catalogue to arrays and numbers, in the order of their imports.
DERIVED = ("ante.engine.core.tables",)

Scenario = Callable[[], Any]  # plays a game and returns a comparable result: bytes, numbers, anything


@dataclass(frozen=True)
class Number:
    """One number of the catalogue.

    module, table   location of its row; a constant is a table without rows
    row             index of the row, None for a constant
    field           field of the row, "" for a constant
    part            index in a tuple or key in a mapping; None if the field itself is the number
    value           the number
    """

    module: ModuleType
    table: str
    row: int | None
    field: str
    part: Any
    value: Any

    def __str__(self) -> str:
        """Return its location, such as `JOKERS[22].chips` or `JOKERS[31].ranks[0]`."""
        row = "" if self.row is None else f"[{self.row}].{self.field}"
        return self.table + row + ("" if self.part is None else f"[{self.part!r}]")

    def table_with(self, value: Any) -> Any:
        """Return the whole table with another value at this location."""
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
    """Return whether a value of the catalogue is a number; flags are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def parts_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield part and value of every number in a field."""
    if is_number(value):
        yield None, value
    elif isinstance(value, tuple):
        yield from ((i, part) for i, part in enumerate(value) if is_number(part))
    elif isinstance(value, Mapping):
        yield from ((key, part) for key, part in value.items() if is_number(part))


def numbers_of(module: ModuleType, table: str, without: tuple[str, ...] = (), first: int = 0) -> list[Number]:
    """Return every number of a table from row `first` on; `without` lists the fields that identify a row."""
    return [
        Number(module, table, index, field.name, part, value)
        for index, row in enumerate(getattr(module, table))
        if index >= first
        for field in fields(row)
        if field.name not in without
        for part, value in parts_of(getattr(row, field.name))
    ]


def constants_of(module: ModuleType, *names: str) -> list[Number]:
    """Return every number in these constants of a module."""
    return [
        Number(module, name, None, "", part, value) for name in names for part, value in parts_of(getattr(module, name))
    ]


def other_values(value: Any) -> tuple[Any, ...]:
    """Return the values that replace a number, one after the other, until the game changes."""
    if isinstance(value, IntEnum):
        return tuple(member for member in type(value) if member != value)
    kind = type(value)
    wanted = (value + 1, value - 1, 2 * value, value / 2, 1, 0, 10 * value)
    found = dict.fromkeys(kind(w) for w in wanted)
    return tuple(w for w in found if w != value and (w >= 0 or value < 0))


@contextmanager
def changed(number: Number, value: Any) -> Iterator[None]:
    """Set another value at this location within the context."""
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
    """Replace an array or a number by its rebuilt version, if it differs."""
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
    """Replace this object by the new one in every module of Ante that has it under this name."""
    for module in [m for key, m in sys.modules.items() if key.startswith("ante.")]:
        if vars(module).get(name) is old:
            restore.append(lambda module=module: setattr(module, name, old))  # type: ignore[misc]
            setattr(module, name, new)


def outcome(scenario: Scenario) -> Any:
    """Return the result of a scenario; an expected step that fails is a result too."""
    try:
        return scenario()
    except AssertionError:
        return "another course"


def unread(numbers: Iterable[Number], scenarios: Callable[[Number], Iterable[Scenario]]) -> list[str]:
    """Return the numbers without an effect: in all of their scenarios, with all of `other_values`."""
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
    """Return whether any scenario has another result with this value."""
    with changed(number, value):
        return any(outcome(scenario) != usual[scenario] for scenario in played)


def fingerprint(s: Any) -> bytes:
    """Return a whole game as bytes, field by field: the padding between fields is arbitrary memory."""
    return b"".join(field_bytes(s[name]) for name in s.dtype.names)


def field_bytes(value: Any) -> bytes:
    """Return the bytes of one field, of the fields of a record, or of an array of records."""
    array = np.asarray(value)
    if array.dtype.names is None:
        return bytes(array.tobytes())
    return b"".join(field_bytes(array[name]) for name in array.dtype.names)
