"""Handling of illegal actions for algorithms without action masks."""

from copy import deepcopy
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.core import ActType, ObsType

from ante.checks import chosen, finite
from ante.env.single import NeedsReset, action_number

CHOICES = ("random", "refuse")


class LegalAction(gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs):
    """Replace illegal discrete actions before they reach the game, and report them in info["illegal"].

    instead  random: draw a legal action instead (from the environment's own generator, so that seeds reproduce games);
             refuse: play nothing; the step has reward `penalty` and changes nothing, and does not count for
             `max_decisions` either: put a TimeLimit around this wrapper for players that may insist
    penalty  added to the reward of a step with an illegal action, 0 or less

    Raises UnknownChoice, BadValue.
    """

    def __init__(self, env: gymnasium.Env[ObsType, ActType], instead: str = "random", penalty: float = 0.0) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, instead=instead, penalty=penalty)
        gymnasium.Wrapper.__init__(self, env)
        self._instead = chosen("instead", instead, CHOICES)
        self._penalty = finite("penalty", penalty, high=0.0)
        self._last: tuple[Any, dict[str, Any]] | None = None  # own copies, if steps may be refused
        self._playing = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Start a game."""
        seen, info = self.env.reset(seed=seed, options=options)
        self._playing = True
        self._keep(seen, info)
        return seen, info

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action or its replacement. Raises BadValue, NeedsReset."""
        if not self._playing:
            raise NeedsReset("no game is in play: call reset before the next step")
        mask, number = self.get_wrapper_attr("action_masks")(), action_number(action)
        illegal = bool(mask.any()) and not (0 <= number < len(mask) and mask[number])
        if illegal and self._last is not None:
            seen, info = deepcopy(self._last)
            return seen, self._penalty, False, False, {**info, "illegal": True}
        if illegal:
            action = self.np_random.choice(np.flatnonzero(mask))
        seen, reward, terminated, truncated, info = self.env.step(action)
        self._playing = not (terminated or truncated)
        self._keep(seen, info)
        return (
            seen,
            float(reward) + (self._penalty if illegal else 0.0),
            terminated,
            truncated,
            {**info, "illegal": illegal},
        )

    def _keep(self, seen: Any, info: dict[str, Any]) -> None:
        """Keep what a refused step returns, apart from the caller's, who may change it."""
        if self._instead == "refuse":
            self._last = deepcopy((seen, info))
