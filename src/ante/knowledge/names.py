"""Names of the game's items as people write them, and the key of each."""

import re
from collections.abc import Iterable
from functools import cache

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.decks import DECKS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.errors import BalatroError, close_to, shown

PREFIX = re.compile(r"^(the |j_|bl_|b_)")
SUFFIX = {"joker": " joker", "deck": " deck"}


class UnknownName(BalatroError, ValueError):
    """No item of a kind has this name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        near = close_to(name.title(), names) or close_to(name, names)
        hint = f"did you mean {near[0]}?" if near else f"see ante know {kind} --help"
        super().__init__(f"there is no {kind} {shown(name)}: {hint}")


@cache
def names_of(kind: str) -> dict[str, str]:
    """Return the names of a kind of item (joker, hand, boss, deck) by key."""
    if kind == "joker":
        return {row.key: row.name for row in JOKERS[1:]}
    if kind == "hand":
        return {row.name: row.name for row in HANDS}
    if kind == "boss":
        return {row.key: row.name for row in BLINDS if row.blind > Blind.BIG}
    return {row.key: row.name for row in DECKS}


def plain(kind: str, name: str) -> str:
    """Return a name in lower case, without punctuation, article and prefix of its key."""
    lowered = PREFIX.sub("", " ".join(name.lower().split()))
    return re.sub(r"[\W_]", "", lowered.removesuffix(SUFFIX.get(kind, "\0")) or lowered)


@cache
def _keys(kind: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, name in names_of(kind).items():
        for words in (plain(kind, name), re.sub(r"\W", "", name.lower()), plain("", key)):
            found.setdefault(words, key)
    return found


def key_of(kind: str, name: str) -> str:
    """Return the key of an item by its name or key, in any case. Raises UnknownName."""
    known = _keys(kind)
    exact = re.sub(r"\W", "", name.lower())
    for words in (exact, plain("", name), plain(kind, name)):
        if words in known:
            return known[words]
    raise UnknownName(kind, name, names_of(kind).values())
