"""Objects from other packages, named by an entry point or as `module:attribute`.

A package registers a player, a reward, a policy or an algorithm under a name with an entry point of the group
`ante.players`, `ante.rewards`, `ante.policies` or `ante.algorithms`:

    [project.entry-points."ante.players"]
    cautious = "mypackage.bots:Cautious"

Without packaging, `mypackage.bots:Cautious` refers to the same class, also for modules in the current folder, unless
that is the folder of a release or a checkpoint.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb
from typing import Any

from ante.errors import BalatroError

MANIFESTS = ("policy.json", "metadata.json")  # in the folder of a release or a checkpoint, which may be downloaded
PLAYERS, REWARDS = "ante.players", "ante.rewards"  # groups of entry points


class BadPlugin(BalatroError, ValueError):
    """A plugin object cannot be loaded or has the wrong type."""


@cache
def registered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group, by name."""
    return {entry.name: entry for entry in entry_points(group=group)}


def is_plugin(group: str, name: str) -> bool:
    """Return whether this is the name of an entry point of the group, or of the form `module:attribute`."""
    module, colon, attribute = name.partition(":")
    return name in registered(group) or (bool(colon) and dotted(module) and dotted(attribute))


def raised(error: BaseException) -> str:
    """Return an error of another package's code in one line, with its place."""
    last = extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}, raised in {last.filename}, line {last.lineno}"


def dotted(name: str) -> bool:
    """Return whether this is one identifier or several joined by dots."""
    return all(part.isidentifier() for part in name.split("."))


def load(group: str, name: str) -> Any:
    """Return the object of an entry point or `module:attribute`. Raises BadPlugin."""
    entry = registered(group).get(name) or EntryPoint(name, name, group)
    here = Path.cwd()
    if "" not in sys.path and str(here) not in sys.path and not any((here / each).exists() for each in MANIFESTS):
        sys.path.append(str(here))  # at the end, so it hides no installed module
    try:
        module = import_module(entry.module)
    except ImportError as error:
        raise BadPlugin(
            f"cannot import {entry.module!r} of {name!r} ({error}): install it, or start in its folder"
        ) from error
    except (Exception, SystemExit) as error:
        raise BadPlugin(f"cannot import {entry.module!r} of {name!r}: {raised(error)}") from error
    if not entry.attr:
        raise BadPlugin(f"entry point {name!r} names only module {entry.module!r}: declare it as module:attribute")
    found: Any = module
    for part in entry.attr.split("."):
        if not hasattr(found, part):
            raise BadPlugin(f"module {entry.module!r} has no {entry.attr!r}, to which {name!r} refers")
        found = getattr(found, part)
    return found
