"""The reference of observations and actions, generated from `ante.env.layout` and `ante.engine.actions`."""

import inspect
import re
from operator import itemgetter
from typing import Any

import numpy as np
from tools.reference.tables import cell, table

HEAD = """# Observations and actions

An observation contains nothing that is hidden from a player of the game. Choose a view:

| environment | observation | action | use it |
| --- | --- | --- | --- |
| `ante/BalatroShortlist-v1` | dict: [candidates](#the-shortlist-view), flat vector, mask | index of a candidate, a whole decision | first: it learns the most by far |
| `ante/Balatro-v1`, `observation="masked"` | dict: `observations` (the [flat vector](#flat-observation)) and `action_mask` | [discrete](#actions) | networks on one vector |
| `ante/Balatro-v1`, `observation="flat"` | the flat vector alone; the mask is `info["action_mask"]` | discrete | libraries that accept only a vector |
| `ante/Balatro-v1`, `observation="dict"` (default) | dict of the [fields](#dict-observation), with `action_mask` | discrete, or `actions="structured"` | your own encoders of cards and items |
| `ante/BalatroLive-v0` | as `ante/Balatro-v1` | the same, without what the protocol lacks | [a game behind BalatroBot](../how-to/balatrobot.md#train-or-test-an-agent-on-it) |

256 games at once, with random legal candidates:

```python
import gymnasium
import numpy as np
import ante.lookahead  # registers ante/BalatroShortlist-v1

envs = gymnasium.make_vec("ante/BalatroShortlist-v1", num_envs=256, vectorization_mode="vector_entry_point")
observation, info = envs.reset(seed=0)
rng = np.random.default_rng(0)
for _ in range(100):
    mask = observation["action_mask"].astype(bool)  # (256, 25)
    mask[~mask.any(axis=1), 0] = True  # games that ended in the last step: any action starts the next game
    actions = np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)
    observation, rewards, terminated, truncated, info = envs.step(actions)
```

`info` contains `ante`, `round`, `blinds` (beaten), `blind`, `chips`, `target`, `money`, `outcome`, `seed` and `overflows`, and in `ante/Balatro-v1` also
`action_mask`, the mask of the discrete view. In a vector environment these are arrays, and Gymnasium's `_NAME` marks the games that they describe.

"""


ACTIONS = """
## Actions

A macro action is one int64, which `ante.engine.actions.pack_action` composes from its parts.

"""
DISCRETE = """
The discrete view (`Discrete({size})`) numbers single steps: select cards one by one, then act on the selection. `action_mask` marks the legal
numbers. The n-th number of a verb refers to the n-th slot from the left. `SELECT` adds a card to the selection and is illegal for a selected
card; `CLEAR` empties the selection. `MOVE_JOKER` and `MOVE_CARD` exchange a slot with its right neighbour. `SORT_HAND` sorts by rank (34) or suit (35).
With `actions="structured"` an action is a dict of the parts of a macro action, with `cards` as 24 zeros and ones.

The last observation of a game has an empty mask, because no action is legal. In a vector environment with `NEXT_STEP` autoreset this row is
returned once, and the next action of that game is ignored. Give such rows a legal number before you sample:

```python
mask[~mask.any(axis=1), 0] = 1
```

"""


ENCODINGS = [
    ("log", "20 times the logarithm (base 10), which is between 0 and 12.75"),
    ("ratio", "128 + 50 times the logarithm (base 10) of the ratio: 128 is a ratio of 1, 178 of 10, 78 of 0.1"),
    ("chance", "250 times the probability"),
    ("count", "50 times the number of cards"),
]
ITEM_ESTIMATES = [
    (
        "joker that is offered or held",
        "1 to 4",
        "ratio: score with and without the joker, for Full House, Flush, Straight and Pair",
    ),
    ("joker that is held", "5", "128 + the value that the joker has grown to"),
    ("Planet card", "1", "log: score of a typical hand of its kind"),
    ("Planet card", "2", "10 times the level of its hand"),
    ("Planet card", "3", "4 times the number of times that its hand was played"),
    ("purchase", "5", "20 + dollars left afterwards"),
    ("purchase", "6", "40 times the dollars of interest lost, modulo 256 if interest is gained"),
]


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
            f"A float32 vector of {FLAT_SIZE} numbers, each between {-FLAT_LIMIT:g} and {FLAT_LIMIT:g}. It contains the 13 leftmost cards of the hand; "
            "the dict has all of them.\n",
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
            "\nColumns of a block:\n",
            table(("from", "content"), numbers),
            f"\nThe price and the six estimates are integers from 0 to 255 divided by {view.ONE:g}. The price is in dollars; for a sale it is the sell value. "
            "`flags` are, in this order: " + ", ".join(f"`{name}`" for name in flags()) + ".\n",
            "\nAn estimate is encoded as a byte before the division:\n",
            table(("encoding", "byte"), ENCODINGS),
            "\nThe estimates of a candidate depend on its verb and item:\n",
            table(("candidate", "estimate", "content"), [*estimates(), *ITEM_ESTIMATES]),
            "\nAll other candidates, such as Tarot cards, vouchers and packs, have only the two estimates of purchases.\n",
            "\n`strengths` has ten numbers: the logarithm (base 10) of the score that a typical hand of each kind reaches with the jokers "
            "and levels of the game, divided by 2, for "
            + ", ".join(f"`{name}`" for name in reference_hands())
            + ", in this order; "
            "then the logarithm of the chips that are missing to beat the blind, divided by 2.\n",
            "\nColumns of `candidate_ids`:\n",
            table(("column", "content", "number of values"), ids),
            "\n`item` and `trait` use the item ids of `ante.env.entities.ids`:\n",
            table(("`item`", "meaning"), item_ids()),
            "\n`trait` is (enhancement x number of editions + edition) x number of seals + seal, with the numbers of `ante.catalog.cards`.\n",
            "\n`purpose` is 1 + the number of the poker hand for a play, and for other candidates: "
            + ", ".join(f"{value} `{name}`" for name, value in purposes())
            + ".\n",
        ]
    )


def reference_hands() -> list[str]:
    """Return the names of the poker hands of `strengths`."""
    from ante.catalog.hands import Hand
    from ante.lookahead.reference_hands import FIRST_REFERENCE_HAND, N_REFERENCE_HANDS

    return [hand.name.lower().replace("_", " ") for hand in list(Hand)[FIRST_REFERENCE_HAND:][:N_REFERENCE_HANDS]]


def item_ids() -> list[tuple[str, str]]:
    """Return the first id of each class of items and its meaning."""
    from ante.env.entities import ids
    from ante.lookahead.records import TAG_BASE

    return [
        ("0", "none"),
        (str(ids.FACE_DOWN_CARD), "face-down card"),
        (str(ids.STONE_CARD), "Stone card"),
        (f"{ids.CARD_BASE} + 13 x suit + rank - 2", "playing card"),
        (f"{ids.JOKER_BASE} + number of the joker", "joker, counted from 1"),
        (f"{ids.CONSUMABLE_BASE} + number of the consumable", "consumable, counted from 1"),
        (f"{ids.VOUCHER_BASE} + number of the voucher", "voucher, counted from 1"),
        (f"{ids.BOOSTER_BASE} + kind of the pack", "booster pack, counted from 0"),
        (f"{TAG_BASE} + number of the tag", "tag"),
    ]


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
