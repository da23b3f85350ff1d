"""Counts of the recorded games of a source checkout in which each item takes part."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CARD = r"[SHCD]_[2-9TJQKA]"
STICKERS = {"E": "eternal", "P": "perishable", "R": "rental"}


def games_with(file: Path) -> Counter[str]:
    """Count, by item key, the recorded games that own, use, face, open or play it; stakes are named `stake 3`."""
    found: Counter[str] = Counter()
    with gzip.open(file, "rt") as lines:
        for line in lines:
            found.update(set(takes_part(json.loads(line))))
    return found


def takes_part(run: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of all items that take part in a recorded game, with repetitions."""
    yield run["deck"]
    yield f"stake {run['stake']}"
    before = run["start"]
    for step in run["steps"]:
        do, after = step["do"], step["after"]
        yield from decided(do, before)
        yield from present(after)
        if "scored" in step:
            yield step["scored"]["hand"]
        before = after


def decided(do: list[Any], before: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of items that a decision used, opened or received."""
    if do[0] == "use":
        yield plain(before["consumables"][do[1]])
    elif do[0] == "pick":
        taken = before["pack"][do[1]]
        yield from marks(taken) if re.match(CARD, taken) else [plain(taken)]
    elif do[0] == "open":
        yield re.sub(r"_\d$", "", before["packs"][do[1]][0])
    elif do[0] == "skip":
        yield before["skip_tag"]
    elif do[0] == "play":
        for text, _ in do[1]:
            yield from marks(text)


def present(after: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of items that are owned, held or faced after a decision."""
    for text in after.get("jokers", []):
        yield plain(text)
        yield from marks(text.partition("$")[0])
        for letter in re.findall(r"\+([EPR])", text):
            yield STICKERS[letter]
    for text in after.get("hand", []):
        yield from marks(text)
    yield from after.get("vouchers", [])
    yield from after.get("tags", [])
    if after["phase"] == "play":
        yield after["blind"]


def plain(text: str) -> str:
    """Return the key at the start of an item's text."""
    return re.split(r"[/+$]", text)[0]


def marks(text: str) -> Iterator[str]:
    """Yield the keys of a card's or joker's enhancement, edition and seal."""
    yield from re.findall(r"(?::|/|=)(\w+)", text)
