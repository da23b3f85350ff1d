"""The kinds of policies and algorithms: built-in ones, and those of other packages.

A kind is a settings class. `kind: NAME` selects one that is registered here or declared as an entry point of the group
`ante.policies` or `ante.algorithms`; `kind: module:Class` imports one.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from ante.plugins import BadPlugin, is_plugin, load, registered
from ante.training.settings.field import Settings

S = TypeVar("S", bound=Settings)


class Kinds(Generic[S]):
    """The available classes for `kind` in one group of settings.

    Args:
        base: Base class of all of them.
        group: The group of settings: policy or algo.
        default: The default kind.
        plugins: The entry point group in which other packages declare kinds.
    """

    def __init__(self, base: type[S], group: str, default: str, plugins: str) -> None:
        self.base, self.group, self.default, self.plugins = base, group, default, plugins
        self.known: dict[str, type[S]] = {}

    def register(self, kind: type[S]) -> type[S]:
        """Add a class under the default of its field `kind`; usable as a decorator."""
        self.known[kind.model_fields["kind"].default] = kind
        return kind

    def names(self) -> list[str]:
        """Return the names that need no import path, including those of other packages."""
        return [*self.known, *registered(self.plugins)]

    def find(self, kind: str) -> type[S]:
        """Return the class of a kind.

        Raises:
            ValueError: The kind does not exist; the message names the nearest one.
            BadPlugin: The class cannot be imported, or is not derived from `base`.
        """
        if kind in self.known:
            return self.known[kind]
        if is_plugin(self.plugins, kind):
            return self._checked(kind, load(self.plugins, kind))
        names = self.names()
        near = get_close_matches(kind, names, 1)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(names)}, or module:Class"
        raise ValueError(f"there is no {self.group}.kind {kind!r}: {hint}")

    def make(self, value: object) -> S:
        """Return validated settings of the kind in a mapping; settings objects are returned unchanged."""
        if isinstance(value, self.base):
            return value
        if not isinstance(value, Mapping):
            raise ValueError(f"must be a group of settings such as {{kind: {self.default}}}")
        return self.find(str(value.get("kind", self.default))).model_validate(dict(value))

    def _checked(self, kind: str, found: Any) -> type[S]:
        if not (isinstance(found, type) and issubclass(found, self.base)):
            raise BadPlugin(
                f"{self.group}.kind {kind!r} names {found!r}, not a class derived from {self.base.__name__}"
            )
        return found
