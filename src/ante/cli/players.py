"""What commands with players share: a player by name, and a progress bar over games."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ante.agents.evaluate import Player


def player_of(name: str, likeliest: bool, checkpoint: str) -> "Player":
    """A baseline by name, or the policy of a run's or a release's folder; RUN@NAME is that checkpoint of it.

    Raises BalatroError.
    """
    from ante.training.players import player_of as found

    return found(name, likeliest, checkpoint)


@contextmanager
def game_bar(games: int, about: str) -> Iterator[Any]:
    """A progress bar over games; yields what to call with the number that ended."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(about), BarColumn(), MofNCompleteColumn(), TextColumn("games, left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(about, total=games)
        yield lambda ended: bar.advance(task, ended)
