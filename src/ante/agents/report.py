"""Reports as tables for people."""

from collections.abc import Sequence

from rich.table import Table

from ante.agents.evaluate import Report, Share


def percent(share: Share) -> str:
    """A share with its 95 % interval."""
    return f"{share.rate:.1%} ({share.low:.1%} to {share.high:.1%})" if share.trials else "-"


def players_table(reports: Sequence[Report]) -> Table:
    """A row for each player on the same games."""
    first = reports[0]
    table = Table(title=f"{first.games} games, {first.deck}, stake {first.stake} (95 % intervals)")
    for heading in ("player", "wins", "mean ante", "blinds beaten", "decisions", "return"):
        table.add_column(heading, justify="left" if heading == "player" else "right")
    for report in reports:
        table.add_row(
            report.player,
            percent(report.wins),
            f"{report.mean_ante:.2f} ± {report.mean_ante_half_width:.2f}",
            f"{report.mean_blinds:.2f} ± {report.mean_blinds_half_width:.2f}",
            f"{report.mean_decisions:,.0f}",
            f"{report.mean_reward:.3f}",
        )
    return table


def blinds_table(report: Report) -> Table:
    """How often each blind was beaten by those who came to it."""
    table = Table(title=f"{report.player}: blinds beaten by those who played them")
    for heading in ("ante", "blind", "played", "skipped", "beaten"):
        table.add_column(heading, justify="left" if heading == "blind" else "right")
    for row in report.blinds:
        table.add_row(str(row.ante), row.blind, str(row.cleared.trials), str(row.skipped), percent(row.cleared))
    return table
