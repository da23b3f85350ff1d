"""Players for commands: by name, alone or with an advisor."""

import sys
from typing import TYPE_CHECKING, Literal, TypeVar

from ante.agents.releases import policy_folder
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.agents.evaluate import Player
    from ante.search.player import SearchPlayer
    from ante.training.players.advised import AdvisedPlayer

P = TypeVar("P")


def player_of(name: str, likeliest: bool, checkpoint: str) -> "Player":
    """Return a baseline by name, the policy in the folder of a run or release, or the player of a decision service.

    RUN@NAME selects a checkpoint, grpc://HOST:PORT a service. nats://HOST:PORT, or several of these separated by commas,
    is a path: the first that works decides. Raises BalatroError.
    """
    if name.startswith(("nats://", "tls://")) or ("," in name and "://" in name):
        from ante.serve.decisions.path import PathPlayer

        return PathPlayer(name)
    if name.startswith(("grpc://", "grpcs://")):
        from ante.serve.decisions.client import RemotePlayer

        return RemotePlayer(name)
    from ante.training.players.by_name import player_of as found

    return one_thread(found(name, likeliest, checkpoint))


def searching(player: "Player", budget: str) -> "SearchPlayer":
    """Return a player that improves this one by search. Raises BadBudget, NotSearchable."""
    from ante.search.budget import budget_of
    from ante.search.player import SearchPlayer

    return SearchPlayer(player, budget_of(budget))


def advised_player_of(
    name: str,
    hints: Literal["rules", "llm"],
    likeliest: bool,
    checkpoint: str,
    share: float = 0.05,
    unsure: float = 0.7,
) -> "AdvisedPlayer":
    """Return the policy in the folder of a run or release, with an advisor. Raises BalatroError."""
    folder = policy_folder(name)
    if not folder.is_dir():
        raise BalatroError(
            f"--hints requires a trained policy, not {name}: give a run's folder, or use the player rules"
        )
    from ante.training.players.advised import advised_from

    return one_thread(advised_from(folder, hints, share, unsure, checkpoint, likeliest))


def one_thread(player: P) -> P:
    """Return the player; a policy then uses one thread. More hardly help, and wait for each other on a busy machine."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    return player
