"""What callbacks hear of games on the fast path: `on_episode_end`, with how a game went but not its steps.

Games that began in the middle (`practice`) are not told: they do not count for statistics.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.utils import force_list

NEVER_CALLED = ("on_episode_created", "on_episode_start", "on_episode_step")


@dataclass(frozen=True)
class EndedGame:
    """A game that has just ended, answering what callbacks ask of RLlib's SingleAgentEpisode.

    It knows no observations, actions and single rewards, since the fast path keeps none by game.

    info    of the last step, as the environment's: ante, round, blinds, blind, chips, target, money, outcome, seed,
            action_mask
    steps   decisions of the game
    total   sum of its rewards
    """

    info: dict[str, Any] = field(repr=False)
    steps: int
    total: float
    is_terminated: bool
    is_truncated: bool

    @property
    def id_(self) -> str:
        """The game's seed."""
        return str(self.info["seed"])

    @property
    def is_done(self) -> bool:
        """Always: only ended games are told."""
        return True

    def __len__(self) -> int:
        """Decisions."""
        return self.steps

    def env_steps(self) -> int:
        """Decisions."""
        return self.steps

    def get_return(self) -> float:
        """Sum of rewards."""
        return self.total

    def get_infos(self, indices: int = -1) -> dict[str, Any]:
        """The last info; there is no other. Raises IndexError where another one is asked for."""
        if indices != -1:
            raise IndexError(f"info {indices} is not kept on the fast path: ask for -1, or train with path: stock")
        return self.info


def hears(name: str, classes: Any, functions: Any) -> bool:
    """Whether a callback of this name was given, as a method or as a function."""
    inherited = getattr(RLlibCallback, name)
    return bool(force_list(functions)) or any(getattr(made, name) is not inherited for made in force_list(classes))


def ended_games(
    info: dict[str, Any], which: Iterable[int], steps: Any, returns: Any, truncated: Any
) -> list[tuple[int, EndedGame]]:
    """The games at `which`, each with its number; info, steps, returns, truncated are of all games, (n,) each."""
    return [
        (
            int(i),
            EndedGame(
                {name: values[i] for name, values in info.items()},
                int(steps[i]),
                float(returns[i]),
                not truncated[i],
                bool(truncated[i]),
            ),
        )
        for i in which
    ]


def warn_of_silence(config: Any) -> None:
    """A warning stands for each callback that was given and that the fast path never calls."""
    for name in NEVER_CALLED:
        if hears(name, config.callbacks_class, getattr(config, f"callbacks_{name}")):
            warnings.warn(
                f"{name} is never called on the fast path, which has no episodes while games are played: "
                "use on_episode_end or on_sample_end, or train with path: stock",
                stacklevel=2,
            )
