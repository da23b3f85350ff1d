"""The parts of `ante know` about what trainings saw: refresh the estimates over all runs, and show them."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ante.cli.games.know_store import opened
from ante.cli.games.know_wins import percent, points
from ante.cli.options import Count
from ante.cli.shown import show
from ante.messages import number_of

OBSERVED = "observed in trainings, not a causal effect: the policy chooses what it buys, and richer games buy more"
NONE_SEEN = "no estimates: train with --tracking.knowledge STORE, then run ante know refresh --store STORE"


@dataclass(frozen=True)
class Refresh:
    """Aggregate what trainings saw into estimates: do games with a joker, or a pair, win more often than the others?

    Trainings with --tracking.knowledge write their counts to the graph. Runs are compared within themselves (Mantel and
    Haenszel). The estimates are observations, not causal effects.

    Try:
      ante know refresh --store knowledge.lbug
      ante know refresh --store bolt://127.0.0.1:7687 --least 100
    """

    store: str
    """File or Bolt URL to which trainings have written."""
    least: Count = 20
    """Least number of games with a joker or a pair, and without it, for an estimate."""
    json: bool = False
    """Print one JSON object: runs, games, estimates, significant."""

    def run(self) -> int:
        """Write the estimates. Raises StoreUnavailable, OtherSchema."""
        from ante.knowledge.observing.refresh import refresh

        with opened(self.store, write=True) as graph:
            found = refresh(graph, self.least)
        single = sum(not each.other for each in found.estimates)
        numbers = {
            "runs": found.runs,
            "games": found.games,
            "jokers": single,
            "pairs": len(found.estimates) - single,
            "significant": found.significant,
        }
        if self.json:
            print(json.dumps(numbers, indent=1))
            return 0
        print(
            f"{number_of(found.runs, 'run')}, {number_of(found.games, 'game')}: estimates of {number_of(single, 'joker')} and "
            f"{number_of(numbers['pairs'], 'pair')}, {found.significant:,} of them significant"
        )
        return 0


@dataclass(frozen=True)
class KnowSeen:
    """Show what trainings saw: the win rate of games with a joker, or with each pair of it, against the other games.

    A game counts with what it held when ante 4 began. The difference in win rate is an observation, not a causal effect;
    `more` is by how much the difference of a pair exceeds that of its better joker.

    Try:
      ante know seen --store knowledge.lbug                  (all jokers)
      ante know seen baron --store knowledge.lbug --json     (a joker and its pairs)
      ante know seen --pairs --store knowledge.lbug
    """

    name: Positional[Annotated[str | None, arg(metavar="JOKER")]] = None
    """Name or key of a joker; by default all jokers are shown."""
    store: str = "default"
    """Graph: a file, or a Bolt URL; that of this version contains no runs."""
    pairs: bool = False
    """Show pairs instead of jokers."""
    most: Count = 20
    """Maximum number of rows, the largest differences first."""
    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the estimates. Raises UnknownName, StoreUnavailable."""
        from ante.knowledge import queries
        from ante.knowledge.names import key_of

        key = key_of("joker", self.name) if self.name is not None else None
        with opened(self.store) as graph:
            rows = [] if self.pairs else queries.seen(graph.backend, self.most, key)
            rows += queries.seen_pairs(graph.backend, self.most, key) if key or self.pairs else []
        if not rows and not self.json:
            print(NONE_SEEN)
            return 0
        heads = (
            "held when ante 4 began",
            "games",
            "won (95 %)",
            "lift",
            "difference, points (95 %)",
            "more",
            "q",
            "runs",
        )
        show(rows, heads, [cells(row) for row in rows], self.json)
        if not self.json:
            print(OBSERVED)
        return 0


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of an estimate."""
    more = f"{100 * row['more']:+.0f}" if "more" in row else ""
    won = f"{percent(row['rate'])} ({percent(row['rate_low'])} to {percent(row['rate_high'])})"
    numbers = (f"{row['lift']:.2f}", points(row), more, f"{row['q']:.2g}", f"{row['runs']}")
    return (row["name"], f"{row['games']:,}", won, *numbers)


def in_words(row: dict[str, Any]) -> str:
    """Return an estimate of a joker in one line."""
    return (
        f"observed in trainings, not causal: {row['games']:,} games held it when ante 4 began, {percent(row['rate'])} won, "
        f"{points(row)} points against the others"
    )
