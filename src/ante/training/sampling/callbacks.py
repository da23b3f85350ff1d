"""RLlib callbacks on the fast path: `on_episode_end` with a game's statistics, but without its steps.

Games that started from a saved position (`practice`) are excluded, as they are from statistics.
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
    """A finished game with the parts of RLlib's SingleAgentEpisode interface that callbacks use.

    Observations, actions and single rewards are not available, since the fast path does not store them per game.

    info    of the last step, as the environment returns it: ante, round, blinds, blind, chips, target, money, outcome,
                    seed, action_mask
    steps   number of decisions
    total   sum of rewards
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
        """Always True: callbacks receive finished games only."""
        return True

    def __len__(self) -> int:
        """Number of decisions."""
        return self.steps

    def env_steps(self) -> int:
        """Number of decisions."""
        return self.steps

    def get_return(self) -> float:
        """Return the sum of rewards."""
        return self.total

    def get_infos(self, indices: int = -1) -> dict[str, Any]:
        """Return the last info, the only one stored. Raises IndexError for other indices."""
        if indices != -1:
            raise IndexError(
                f"info {indices} is not stored on the fast path: use index -1, or train with algo.kind rllib-ppo"
            )
        return self.info


def has_callback(name: str, classes: Any, functions: Any) -> bool:
    """Return whether a callback of this name was given, as a method or as a function."""
    inherited = getattr(RLlibCallback, name)
    return bool(force_list(functions)) or any(getattr(made, name) is not inherited for made in force_list(classes))


def ended_games(
    info: dict[str, Any], which: Iterable[int], steps: Any, returns: Any, truncated: Any
) -> list[tuple[int, EndedGame]]:
    """Return the games at `which` with their indices; info, steps, returns, truncated are of all games, (n,) each."""
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


def warn_of_unsupported(config: Any) -> None:
    """Warn about each given callback that the fast path never calls."""
    for name in NEVER_CALLED:
        if has_callback(name, config.callbacks_class, getattr(config, f"callbacks_{name}")):
            warnings.warn(
                f"{name} is never called on the fast path, which has no episodes while games are played: "
                "use on_episode_end or on_sample_end, or train with algo.kind rllib-ppo",
                stacklevel=2,
            )
