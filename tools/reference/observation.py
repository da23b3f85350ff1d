"""The reference of observations and actions, generated from `ante.env.layout` and `ante.engine.actions`."""

import inspect
import re
from operator import itemgetter
from typing import Any

import numpy as np
from tools.reference.tables import cell, table

HEAD = """# Observations and actions

An observation contains nothing that is hidden from a player of the game. `observation="dict"` gives the fields of the first table,
`"flat"` the vector of the second, `"masked"` the vector together with its action mask.

"""


ACTIONS = """
## Actions

A macro action is one int64, which `ante.engine.actions.pack_action` composes from its parts.

"""
DISCRETE = """
The discrete view (`Discrete({size})`) numbers single steps: select cards one by one, then act on the selection.
`action_mask` marks the legal numbers.

The last observation of a game has an empty mask, because no action is legal. In a vector environment with `NEXT_STEP` autoreset this row is
returned once, and the next action of that game is ignored. Give such rows a legal number before you sample:

```python
mask[~mask.any(axis=1), 0] = 1
```

"""


SHORTLIST = """
## The shortlist view

`ante/BalatroShortlist-v1` lists at most 25 whole decisions; an action is an index into this list. `import ante.lookahead` registers it. A
list may leave out legal decisions, and illegal candidates, such as items that are too expensive, have mask 0.
`env.unwrapped.describe_candidates()` returns the list as text.
"""


def actions() -> str:
    """Return the layout of macro actions and the numbers of the discrete view."""
    from ante.engine import actions as source

    parts = re.findall(r"bits (\d+-\d+) +(\w+)(?: \(Verb\))?:? *(.*)", source.__doc__ or "")
    verbs = []
    for verb in source.Verb:
        numbers = [i for i, row in enumerate(source.DISCRETE) if row[0] == verb]
        verbs.append(
            (str(int(verb)), f"`{verb.name}`", span(numbers), "yes" if source.TAKES_SELECTION[numbers[0]] else "")
        )
    return (
        ACTIONS
        + table(
            ("bits", "part", "content"),
            [(bits, f"`{name}`", cell(text) or "number of the verb, below") for bits, name, text in parts],
        )
        + "\n"
        + DISCRETE.format(size=source.N_DISCRETE)
        + table(("verb", "name", "discrete numbers", "takes the selected cards"), verbs)
        + "\n"
    )


def span(numbers: list[int]) -> str:
    """Return consecutive numbers as a range."""
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def page() -> str:
    """Return the page."""
    from ante.env.layout import AT, FIELDS, FLAT, FLAT_LIMIT, FLAT_SIZE

    fields = [
        (
            f"`{f.name}`",
            np.dtype(f.dtype).name,
            f"`{f.shape}`",
            f"{f.low:g} to {f.high:g}",
            cell(f.about),
            " ".join(f"`{c}`" for c in f.columns),
        )
        for f in FIELDS
    ]
    flat = [(str(at), f"`{name}`", str(width), cell(about)) for at, (name, width, about) in zip(AT, FLAT, strict=True)]
    return "\n".join(
        [
            HEAD + "## Dict observation\n",
            table(("field", "type", "shape", "range", "content", "columns"), fields),
            "\n## Flat observation\n",
            f"A float32 vector of {FLAT_SIZE} numbers, each between {-FLAT_LIMIT:g} and {FLAT_LIMIT:g}.\n",
            table(("from", "part", "width", "content"), flat),
            actions(),
            shortlist(),
        ]
    )


def shortlist() -> str:
    """Return the layout of the shortlist view."""
    from ante.engine.actions import Verb
    from ante.lookahead import environments as view
    from ante.lookahead.records import KIND_OF_VERB, N_KINDS

    about = dict(
        re.findall(r"^(\w+) +\(.*?\) ?\w*[,:] ((?:.|\n )*)", (view.__doc__ or "").replace("int8:", "int8,"), re.M)
    )
    spaces = [
        (f"`{name}`", str(space.dtype), f"`{space.shape}`", bounds(space), cell(" ".join(about[name].split())))
        for name, space in view.shortlist_space().items()
    ]
    kinds = []
    for kind in range(N_KINDS):
        verbs = ", ".join(f"`{verb.name}`" for verb in Verb if KIND_OF_VERB[verb] == kind)
        kinds.append((str(kind), span([kind * view.N_NUMBERS, (kind + 1) * view.N_NUMBERS - 1]), verbs))
    numbers = [(f"{at}", f"`{name}`") for name, at in view.NUMBER._asdict().items()]
    ids = [(f"{at}", f"`{name}`", str(view.ID_SIZES[at])) for name, at in view.CANDIDATE_ID._asdict().items()]
    return "\n".join(
        [
            SHORTLIST,
            table(("key", "type", "shape", "range", "content"), spaces),
            "\nBlocks of `candidates`, one for each kind of candidate:\n",
            table(("kind", "columns", "verbs"), kinds),
            f"\nColumns of a block; estimates, whose meaning depends on the verb, and prices are divided by {view.ONE:g}:\n",
            table(("from", "content"), numbers),
            "\n`flags` are, in this order: " + ", ".join(f"`{name}`" for name in flags()) + ".\n",
            "\nEstimates of plays and discards, in order, before the division: `log` is 20 per decade, `ratio` 50 per decade "
            "around 128, `chance` 250 for 1, `count` 50 per card. The first estimates of a joker are its gain for each tested reference hand, as `ratio`.\n",
            table(("verb", "estimate", "content"), estimates()),
            "\nColumns of `candidate_ids`:\n",
            table(("column", "content", "number of values"), ids),
            "\n`purpose` is 1 + the number of the poker hand for a play, and for other candidates: "
            + ", ".join(f"{value} `{name}`" for name, value in purposes())
            + ".\n",
        ]
    )


def bounds(space: Any) -> str:
    """Return the least and the largest value of a space."""
    return f"{space.low.min():g} to {space.high.max():g}"


def flags() -> list[str]:
    """Return the names of a candidate's flags, from bit 0."""
    from ante.lookahead import records

    [names] = re.findall(r"^(.+) = FLAGS", inspect.getsource(records), re.M)
    found = names.split(", ")
    assert [getattr(records, name) for name in found] == list(records.FLAGS)
    return [name.lower() for name in found]


def purposes() -> list[tuple[str, int]]:
    """Return name and number of the purposes of discards and swaps."""
    from ante.lookahead import records

    names = [(name, value) for name, value in vars(records).items() if name.startswith("PURPOSE_")]
    return [
        (name.removeprefix("PURPOSE_").lower().replace("_", " "), value)
        for name, value in sorted(names, key=itemgetter(1))
    ]


def estimates() -> list[tuple[str, str, str]]:
    """Return verb, name and comment of each estimate in the source of the records."""
    from ante.lookahead import records

    found = []
    for verb, block in re.findall(r'columns\(\s*"(PLAY|DISCARD)",\n(.*?)\n\)', inspect.getsource(records), re.S):
        for name, about in re.findall(r'"(\w+)",  # (.*)', block):
            found.append((f"`{verb}`", f"`{name}`", cell(about)))
    return found
