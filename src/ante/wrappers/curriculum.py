"""Easier games first: a list of lessons, each promoted from once enough of its games are won."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import gymnasium
from gymnasium.core import ActType, ObsType

from ante.engine.rounds import WIN_ANTE
from ante.errors import BalatroError


@dataclass(frozen=True)
class Lesson:
    """One kind of game.

    goal         the ante whose boss ends a game as won, 1 to 8
    deck, stake  of its games; None leaves the environment's own
    promote      share of the last games won at which the next lesson begins
    """

    goal: int = WIN_ANTE
    deck: str | None = None
    stake: int | None = None
    promote: float = 0.5


class Curriculum(gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs):
    """Games of the first lesson, then of the next; the last lesson stays.

    A game that beats the boss of its lesson's goal ends there: terminated, info["outcome"] == "won", and `bonus` is added
    to its reward (the environment itself pays a win for the eighth ante's boss only). Each reset's info has `lesson`, from 1.

    window  games that a lesson's share of wins is counted over; none is promoted before so many
    """

    def __init__(
        self, env: gymnasium.Env[ObsType, ActType], lessons: Sequence[Lesson], window: int = 50, bonus: float = 0.0
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, lessons=lessons, window=window, bonus=bonus)
        gymnasium.Wrapper.__init__(self, env)
        if not lessons or window < 1 or any(not 1 <= lesson.goal <= WIN_ANTE for lesson in lessons):
            raise BalatroError(
                f"a curriculum needs lessons with goals from 1 to {WIN_ANTE}, and a window of a game at least"
            )
        self.lessons, self.window, self.bonus = tuple(lessons), window, bonus
        self.at = 0
        self._won: deque[bool] = deque(maxlen=window)

    @property
    def lesson(self) -> Lesson:
        """The present one."""
        return self.lessons[self.at]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Begin a game of the present lesson; options of the caller come first."""
        if len(self._won) == self.window and sum(self._won) >= self.lesson.promote * self.window:
            self.at = min(self.at + 1, len(self.lessons) - 1)
            self._won.clear()
        own = {name: value for name in ("deck", "stake") if (value := getattr(self.lesson, name)) is not None}
        seen, info = self.env.reset(seed=seed, options={**own, **(options or {})})
        return seen, {**info, "lesson": self.at + 1}

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action; the game may end as won at the lesson's goal."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        # The ante rises in the step that beats its boss.
        if not terminated and self.lesson.goal < WIN_ANTE and info["ante"] > self.lesson.goal:
            terminated, truncated = True, False
            reward, info = float(reward) + self.bonus, {**info, "outcome": "won"}
        if terminated or truncated:
            self._won.append(info["outcome"] == "won")
        return seen, reward, terminated, truncated, {**info, "lesson": self.at + 1}
