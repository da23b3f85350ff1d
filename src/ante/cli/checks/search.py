"""The output of `ante bench search`: progress and table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from ante.cli.players import player_of
from ante.cli.shown import game_bar, paper

if TYPE_CHECKING:
    from ante.experiments.search_campaign import BudgetRow

LOST_TO, MOST_BLINDS = "lost most often to", 3


def run_search(player: str, budgets: Sequence[str], games: int, workers: int, out: Path, as_json: bool) -> int:
    """Play a campaign and print its results. Raises BalatroError."""
    from ante.experiments.search_campaign import RESULTS, run_campaign
    from ante.search.budget import budget_of

    searched = [budget_of(each) for each in budgets]
    rows = run_campaign(player_of(player, True, "best"), searched, games, out, game_bar, workers)
    if as_json:
        print((out / RESULTS).read_text(), end="")
    else:
        paper().print(table(rows))
    return 0


def table(rows: Sequence["BudgetRow"]) -> Table:
    """Return a row for each budget."""
    from ante.agents.report import percent
    from ante.tables import FittedTable

    optional = (LOST_TO, "simulations", "changed", "ms per decision")
    shown = FittedTable(title="games won by budget (95 % intervals)", optional=optional)
    for head in (
        "budget",
        "games",
        "won",
        "ms per decision",
        "simulations",
        "changed",
        "only search won",
        "only alone won",
        LOST_TO,
    ):
        shown.add_column(head, justify="left" if head in ("budget", LOST_TO) else "right")
    for row in rows:
        cells = f"{row.milliseconds:.2f}", f"{row.simulations:.1f}", f"{row.changed:.1%}", str(row.more), str(row.fewer)
        lost_to = ", ".join(f"{name} {count}" for name, count in list(row.lost_to.items())[:MOST_BLINDS])
        shown.add_row(row.budget, str(row.wins.trials), percent(row.wins), *cells, lost_to)
    return shown
