"""Who a name means where somebody plays: a baseline, the rule-based advisor, a run, a release."""

from pathlib import Path

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.evaluate import Player
from ante.errors import BalatroError


def player_of(name: str, likeliest: bool, checkpoint: str) -> Player:
    """A baseline by name, or the policy of a run's or a release's folder; RUN@NAME is that checkpoint of it.

    Raises BalatroError.
    """
    if name in AGENTS:
        return Baseline(name)
    if name == "rules":
        from ante.hints.player import RulesPlayer

        return RulesPlayer()
    if "@" in name and not Path(name).exists():
        name, _, checkpoint = name.rpartition("@")
    if not Path(name).is_dir():
        raise BalatroError(
            f"there is no player {name!r}: choose {', '.join(AGENTS)}, rules, a run's folder such as runs/ppo, or a released "
            "policy such as models/white-stake"
        )
    from ante.training.release import player_from

    return player_from(Path(name), checkpoint, likeliest)
