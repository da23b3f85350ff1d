"""Players by name: a baseline, the rule-based advisor, a run, a release, or a class of another package."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.evaluate import Player
from ante.agents.releases import policy_at, released_policies
from ante.errors import BalatroError
from ante.plugins import PLAYERS, BadPlugin, is_plugin, load, raised, registered

ATTRIBUTES: dict[str, Callable[[Any], bool]] = {  # of a player
    "name": lambda value: isinstance(value, str),
    "discrete": lambda value: isinstance(value, bool),
    "reorder": lambda value: isinstance(value, str),
    "choose": callable,
}


def player_of(name: str, likeliest: bool, checkpoint: str) -> Player:
    """Return the player of this name.

    Args:
        name: A baseline, `rules`, a released policy such as `white-stake`, the folder of a run or a release (RUN@NAME
            selects a checkpoint), a registered player, or `module:Class`.
        likeliest: Whether a policy takes its most likely action instead of sampling one.
        checkpoint: The checkpoint of a run, if the name contains none.

    Raises:
        BalatroError: The player does not exist, or cannot be loaded.
    """
    if name in AGENTS:
        return Baseline(name)
    if name == "rules":
        from ante.hints.rules import RulesPlayer

        return RulesPlayer()
    if is_plugin(PLAYERS, name) and not Path(name).is_dir():
        return external_player(name)
    folder, checkpoint = policy_at(name, checkpoint)
    if not folder.is_dir():
        known = ", ".join((*AGENTS, "rules", *registered(PLAYERS), *released_policies()))
        raise BalatroError(
            f"there is no player {name!r}: choose {known}, the folder of a run or a release such as runs/ppo, or a class "
            "as module:Class"
        )
    from ante.training.players.release import player_from

    return player_from(folder, checkpoint, likeliest)


def external_player(name: str) -> Player:
    """Return the player of an entry point or `module:Class`; a class is called without arguments.

    Raises:
        BadPlugin: The player cannot be loaded, or lacks an attribute of `ante.agents.evaluate.Player`.
    """
    found = load(PLAYERS, name)
    try:
        player = found() if isinstance(found, type) else found
        wrong = [each for each, test in ATTRIBUTES.items() if not test(getattr(player, each, None))]
    except Exception as error:
        raise BadPlugin(f"{name!r} cannot be created without arguments: {raised(error)}") from error
    if wrong:
        raise BadPlugin(
            f"{name!r} lacks {', '.join(wrong)}: a player implements ante.agents.evaluate.Player (examples/player.py)"
        )
    made: Player = player
    return made
