"""What commands with players share: a player by name, alone or with an advisor."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
