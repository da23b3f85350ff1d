"""The output of `ante bench llm`: progress and table."""

import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ante.cli.players import player_of, searching
from ante.cli.shown import game_bar, paper

if TYPE_CHECKING:
    from ante.agents.evaluate import Player
    from ante.experiments.leaderboard import Row
    from ante.experiments.llm_player import LlmPlayer

LLM = "llm"  # the row of the language model
PATIENCE = 60.0  # seconds of a request, unless LLM_TIMEOUT_SECONDS is set


@dataclass(frozen=True)
class Model:
    """Options of the language model; None leaves a setting to its LLM_* variable."""

    url: str | None
    name: str | None
    key_variable: str | None
    answer_tokens: int
    prices: tuple[float, float]


def run_llm(rows: Sequence[str], model: Model, games: int, out: Path, as_json: bool) -> int:
    """Play the missing games of these rows and print all results of the folder. Raises BalatroError."""
    from ante.experiments.leaderboard import RESULTS, Prices, run_leaderboard

    with ExitStack() as stack:
        players: list[Player] = [
            stack.enter_context(closing(llm_player(model))) if row == LLM else row_player(row) for row in rows
        ]
        found = run_leaderboard(players, games, out, game_bar, Prices(*model.prices))
    if as_json:
        print((out / RESULTS).read_text(), end="")
    else:
        paper().print(table(found))
    return 0


def row_player(row: str) -> "Player":
    """Return the player of a row: PLAYER, or PLAYER+BUDGET with search. Raises BalatroError."""
    name, plus, budget = row.rpartition("+")
    return searching(player_of(name, True, "best"), budget) if plus else player_of(row, True, "best")


def llm_player(model: Model) -> "LlmPlayer":
    """Return the language model as a player. Raises BadHints, NotInstalled."""
    from ante.experiments.llm_player import LlmPlayer
    from ante.hints.settings import read_settings

    overrides: dict[str, Any] = {
        "endpoint": model.url,
        "model": model.name,
        "key_variable": model.key_variable,
        "answer_tokens": model.answer_tokens,
        "timeout_seconds": None if os.environ.get("LLM_TIMEOUT_SECONDS") else PATIENCE,
    }
    return LlmPlayer(read_settings(os.environ, **overrides), os.environ)


def table(rows: Sequence["Row"]) -> Table:
    """Return a row for each player, the best one first."""
    from ante.agents.report import percent
    from ante.tables import FittedTable

    optional = ("decisions", "s a game", "mean ante", "requests")
    shown = FittedTable(title="leaderboard (95 % intervals, amounts per game)", optional=optional)
    heads = ("player", "games", "won", "blinds beaten", "mean ante", "decisions", "s a game")
    for head in (*heads, "requests", "invalid answers", "tokens", "dollars"):
        shown.add_column(head, justify="left" if head == "player" else "right")
    for row in rows:
        model = (number(row.requested, ",.0f"), number(row.invalid, ".1%"), number(row.tokens, ",.0f"))
        shown.add_row(
            row.player,
            str(row.wins.trials),
            percent(row.wins),
            f"{row.blinds:.2f} ± {row.blinds_half_width:.2f}",
            f"{row.ante:.2f}",
            f"{row.decisions:,.0f}",
            f"{row.seconds:,.2f}",
            *model,
            number(row.dollars, ".4f"),
        )
    return shown


def number(value: float, form: str) -> str:
    """Return a figure as text, or a dash if there is none."""
    return format(value, form) if value == value else "-"
