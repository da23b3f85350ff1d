"""Reports as tables for the console."""

from collections.abc import Sequence

from rich.table import Table

from ante.agents.evaluate import BLIND_NAMES, Report, Share, paired_difference
from ante.tables import FittedTable


def percent(share: Share) -> str:
    """Return a fraction with its 95 % interval."""
    return f"{share.rate:.1%} ({share.low:.1%} to {share.high:.1%})" if share.trials else "-"


def players_table(reports: Sequence[Report]) -> Table:
    """Return a row for each player on the same games, with the difference to the first player, game by game."""
    first = reports[0]
    against = (f"more blinds than {first.player}",) if len(reports) > 1 else ()
    title = f"{first.games} games, {first.deck}, stake {first.stake} (95 % intervals)"
    table = FittedTable(title=title, optional=("decisions", "mean ante", *against))
    for heading in ("player", "wins", "mean ante", "blinds beaten", *against, "decisions"):
        table.add_column(heading, justify="left" if heading == "player" else "right")
    for report in reports:
        more = "" if report is first else "{:+.2f} ± {:.2f}".format(*paired_difference(report, first))
        table.add_row(
            report.player,
            percent(report.wins),
            f"{report.mean_ante:.2f} ± {report.mean_ante_half_width:.2f}",
            f"{report.mean_blinds:.2f} ± {report.mean_blinds_half_width:.2f}",
            *(more for _ in against),
            f"{report.mean_decisions:,.0f}",
        )
    return table


def blinds_table(report: Report) -> Table:
    """Return how often each blind was beaten when it was played."""
    table = Table(title=f"{report.player}: blinds beaten by those who played them")
    for heading in ("ante", "blind", "played", "skipped", "beaten"):
        table.add_column(heading, justify="left" if heading == "blind" else "right")
    for row in report.blinds:
        table.add_row(str(row.ante), row.blind, str(row.cleared.trials), str(row.skipped), percent(row.cleared))
    return table


def blinds_of_all(reports: Sequence[Report]) -> Table:
    """Return a column for each player with the fraction of blinds beaten, and the number played."""
    table = Table(title="blinds beaten by those who played them (95 % intervals)")
    for heading in ("ante", "blind", *(report.player for report in reports)):
        table.add_column(heading, justify="left" if heading == "blind" else "right")
    rates = [{(row.ante, row.blind): row.cleared for row in report.blinds} for report in reports]
    order = {(row.ante, BLIND_NAMES.index(row.blind)) for report in reports for row in report.blinds}
    for ante, number in sorted(order):
        blind = BLIND_NAMES[number]
        shares = [found.get((ante, blind)) for found in rates]
        cells = (f"{percent(share)} of {share.trials}" if share and share.trials else "-" for share in shares)
        table.add_row(str(ante), blind, *cells)
    return table
