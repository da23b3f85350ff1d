"""Strategies mined from games: sets of jokers, main hand and levelled hand with which more games are won.

A game is a transaction: what the player has when ANTE begins. A set is frequent if enough games have it, and is proposed
if the win rate with it is significantly higher than in all games, and higher than with each of its parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.hands import HANDS
from ante.catalog.hands import by_name as hand_by_name
from ante.catalog.jokers import JOKERS, by_key
from ante.knowledge.measuring.statistics import q_values, wilson
from ante.knowledge.measuring.table import RATE
from ante.knowledge.winning.starts import Starts

LEAST = 20  # games with a set
LONGEST = 3  # items of a set
LEAST_LEVELS = 3  # levels beyond the first, for a hand to count as levelled
LEAST_MORE = 0.05  # by which the win rate of a proposed set exceeds that of each part
MAIN, LEVELS = "main:", "levels:"  # prefixes of items that are hands; other items are keys of jokers

Items = tuple[str, ...]


@dataclass(frozen=True)
class Mined:
    """A frequent set of at least two items among the games that reached ANTE.

    n, wins  games with the set, and those of them that are won
    support  share of the won games that have the set
    rate     win rate with the set; low, high: its 95 % interval (Wilson)
    lift     rate divided by the win rate of all games
    more     smallest difference from the win rate of a part, a set with one item less
    p, q     chance of as many wins if the set did not matter (hypergeometric); false discovery rate among all sets
    """

    items: Items
    n: int
    wins: int
    support: float
    rate: float
    low: float
    high: float
    lift: float
    more: float
    p: float
    q: float

    @property
    def proposed(self) -> bool:
        """Whether the set is to be validated."""
        return self.q <= RATE and self.more >= LEAST_MORE


def items_of(s: Any) -> set[str]:
    """Return the items of one game: jokers, the hand played most, and the hand with the most levels if it has enough."""
    found = {JOKERS[int(s.jokers[slot].id)].key for slot in range(int(s.n_jokers))}
    found.add(MAIN + HANDS[int(np.argmax(s.plays))].name)
    best = int(np.argmax(s.levels))
    if s.levels[best] > LEAST_LEVELS:
        found.add(LEVELS + HANDS[best].name)
    return found


def frequent(games: Sequence[set[str]], least: int, longest: int) -> Iterator[tuple[Items, NDArray[np.bool_]]]:
    """Yield the sets that at least `least` games have, the smaller ones first, and which games have them.

    A set is counted only if all its parts are frequent (Apriori).
    """
    names = sorted(set().union(*games))
    has: dict[tuple[str, ...], NDArray[np.bool_]] = {
        (name,): np.array([name in each for each in games], dtype=np.bool_) for name in names
    }
    level = {items: mask for items, mask in has.items() if mask.sum() >= least}
    singles = sorted(level)
    while level:
        yield from level.items()
        longer = {}
        for items, mask in level.items() if len(next(iter(level))) < longest else ():
            for single in singles:
                joined = items + single
                if single[0] > items[-1] and all(part in level for part in combinations(joined, len(items))):
                    both = mask & has[single]
                    if both.sum() >= least:
                        longer[joined] = both
        level = longer


def mine(starts: Starts, least: int = LEAST, longest: int = LONGEST) -> list[Mined]:
    """Return all frequent sets of at least two items, the most significant first; none if no game is won."""
    from scipy.stats import hypergeom

    won = starts.won
    counts = {
        items: (int(mask.sum()), int((mask & won).sum()))
        for items, mask in frequent([items_of(s) for s in starts.states], least, longest)
    }
    sets = [items for items in counts if len(items) > 1]
    if not sets or not won.any():
        return []
    n, wins = np.array([counts[items] for items in sets]).T
    p = np.minimum(1.0, hypergeom.sf(wins - 1, len(won), int(won.sum()), n))
    q = q_values(p)
    low, high = wilson(wins, n)
    rate = wins / n
    found = []
    for i in np.lexsort((np.arange(len(sets)), p)):
        parts = [counts[part] for part in combinations(sets[i], len(sets[i]) - 1)]
        more = rate[i] - max(hits / size for size, hits in parts)
        shares = (wins[i] / won.sum(), rate[i], low[i], high[i], rate[i] / won.mean(), more, p[i], q[i])
        found.append(Mined(sets[i], int(n[i]), int(wins[i]), *map(float, shares)))
    return found


def jokers_of(items: Items) -> tuple[int, ...]:
    """Return the numbers of the jokers among the items."""
    return tuple(int(by_key[key]) for key in items if not key.startswith((MAIN, LEVELS)))


def hand_of(items: Items, prefix: str) -> int:
    """Return the hand with this prefix among the items, -1 for none."""
    return next((int(hand_by_name[item.removeprefix(prefix)]) for item in items if item.startswith(prefix)), -1)


def name_of(items: Items) -> str:
    """Return a set of items in words."""
    words = {MAIN: "mostly ", LEVELS: "levels of "}
    names = []
    for item in items:
        prefix = next((each for each in words if item.startswith(each)), None)
        names.append(words[prefix] + item.removeprefix(prefix) if prefix else JOKERS[by_key[item]].name)
    return " + ".join(names)
