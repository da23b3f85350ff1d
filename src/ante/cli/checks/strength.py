"""The output of `ante bench strength`: progress, table, picture."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ante.agents.releases import WHITE_STAKE
from ante.cli.shown import compile_missing, paper, step_bar

if TYPE_CHECKING:
    from ante.experiments.strength.plan import Plan
    from ante.experiments.strength.results import Point, StrengthResults


def run_plan(plan: "Plan", out: Path, as_json: bool) -> int:
    """Complete a measurement and show it; return 130 if interrupted. Raises BalatroError."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.experiments.strength.measure import Display, measure
    from ante.stopping import stopping

    compile_missing()
    results = None
    with stopping() as stops, suppress(KeyboardInterrupt):  # raised during games, after a stop
        results = measure(plan, out, Display(step_bar, lambda words: print(words, file=sys.stderr)), stops)
    if results:
        show(results, out, as_json)
    if stops:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    return 0


def show(results: "StrengthResults", out: Path, as_json: bool) -> None:
    """Print the table or JSON, and draw the picture."""
    from ante.experiments.strength.plot import draw
    from ante.experiments.strength.results import RESULTS

    if as_json:
        print(results.to_json(), end="")
    else:
        console = paper()
        console.print(table(results))
        for line in verdict(results):
            console.print(line, soft_wrap=True)
        console.print(f"results  {out / RESULTS}", soft_wrap=True)
    picture = draw(results, WHITE_STAKE, out)
    if not as_json:
        paper().print(f"picture  {picture}", soft_wrap=True)


def points(each: "Point") -> str:
    """Return a difference in points of win rate with its interval."""
    found = each.difference
    return f"{100 * found.value:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def table(results: "StrengthResults") -> Any:
    """Return a row for each milestone that all seeds have, with the differences of each seed."""
    from ante.tables import FittedTable

    seeds = [f"seed {seed}" for seed in results.seeds]
    title = f"{results.recipe} against {WHITE_STAKE} ({results.reference.rate:.1%} of {results.games:,} games won)"
    shown = FittedTable(title=f"{title}, points of win rate", optional=("steps", *reversed(seeds)))
    for head in ("minutes", "steps", "games won", "all seeds", *seeds):
        shown.add_column(head, justify="right")
    for each in results.together:
        own = [next(p for p in of if p.milestone == each.milestone) for of in results.seeds.values()]
        shown.add_row(
            f"{each.minutes:.1f}", f"{each.steps:,.0f}", f"{each.wins.rate:.1%}", points(each), *map(points, own)
        )
    return shown


def verdict(results: "StrengthResults") -> list[str]:
    """Return the minutes to strength as sentences: of all seeds together, and of each one."""
    lines = [f"all seeds: {reached(results.minutes, results.together)}"] if len(results.seeds) > 1 else []
    return lines + [f"seed {seed}: {reached(results.minutes_of(seed), of)}" for seed, of in results.seeds.items()]


def reached(minutes: float | None, of: "tuple[Point, ...]") -> str:
    """Return after how many minutes the lower bound of the difference was at least -3 points."""
    if minutes is not None:
        return f"{minutes:.1f} minutes to strength (the interval of the difference is above -3 points)"
    return f"not as strong after {of[-1].minutes:.1f} minutes" if of else "not measured yet"
