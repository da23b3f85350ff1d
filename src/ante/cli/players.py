"""What commands with players share: a player by name, and a progress bar over games."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.agents.evaluate import Player
    from ante.training.advised import AdvisedPlayer


def player_of(name: str, likeliest: bool, checkpoint: str) -> "Player":
    """A baseline by name, or the policy of a run's or a release's folder; RUN@NAME is that checkpoint of it.

    Raises BalatroError.
    """
    from ante.training.players import player_of as found

    return found(name, likeliest, checkpoint)


def advised_player_of(
    name: str,
    hints: Literal["rules", "llm"],
    likeliest: bool,
    checkpoint: str,
    share: float = 0.05,
    unsure: float = 0.7,
) -> "AdvisedPlayer":
    """The policy of a run's or a release's folder with an advisor at its side. Raises BalatroError."""
    if not Path(name).is_dir():
        raise BalatroError(
            f"--hints advises trained policies, and {name} is none: name a run's folder, or play the advisor: rules"
        )
    from ante.training.advised import advised_from

    return advised_from(Path(name), hints, share, unsure, checkpoint, likeliest)


@contextmanager
def game_bar(games: int, about: str) -> Iterator[Any]:
    """A progress bar over games; yields what to call with the number that ended."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(about), BarColumn(), MofNCompleteColumn(), TextColumn("games, left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(about, total=games)
        yield lambda ended: bar.advance(task, ended)
