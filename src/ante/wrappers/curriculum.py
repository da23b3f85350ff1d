"""A curriculum: a list of lessons of increasing difficulty, advanced by win rate."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import gymnasium
from gymnasium.core import ActType, ObsType

from ante.catalog.challenges import CHALLENGES
from ante.catalog.constants import WIN_ANTE
from ante.checks import BadValue, finite, whole_number
from ante.engine.run import run_numbers
from ante.env.games import goal_number
from ante.env.single import NeedsReset
from ante.errors import DeckOfChallenge


@dataclass(frozen=True)
class Lesson:
    """One lesson: a kind of game.

    goal         the ante whose boss ends a game as won, 1 to 8
    deck, stake  of its games; None for those of the environment
    promote      fraction of recent games won at which the next lesson begins
    """

    goal: int = WIN_ANTE
    deck: str | None = None
    stake: int | None = None
    promote: float = 0.5

    def __post_init__(self) -> None:
        """Raise BadGoal, BadValue, UnknownDeck or UnknownStake for invalid values."""
        goal_number(self.goal, endless=False)
        finite("promote", self.promote, 0.0, 1.0)
        run_numbers("b_red" if self.deck is None else self.deck, 1 if self.stake is None else self.stake, None)


class Curriculum(gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs):
    """Plays the lessons one after the other; the last lesson continues indefinitely.

    A game that beats the boss of its lesson's goal ends there: terminated, info["outcome"] == "won", and `bonus` is
    added to its reward (the environment itself rewards a win only for the eighth ante's boss). Each reset's info has
    `lesson`, from 1. A game that a reset cuts after its first step, such as by a TimeLimit around this wrapper, counts
    as not won.

    window  number of recent games for the win rate of a lesson; no promotion before

    Raises BadValue, and DeckOfChallenge if the environment plays a challenge and a lesson names a deck or a stake.
    """

    def __init__(
        self, env: gymnasium.Env[ObsType, ActType], lessons: Sequence[Lesson], window: int = 50, bonus: float = 0.0
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, lessons=lessons, window=window, bonus=bonus)
        gymnasium.Wrapper.__init__(self, env)
        if not isinstance(lessons, Sequence) or not lessons or any(not isinstance(each, Lesson) for each in lessons):
            raise BadValue("lessons", lessons, "use a list of one or more Lessons")
        self.lessons, self.window = tuple(lessons), whole_number("window", window, 1)
        self.bonus = finite("bonus", bonus)
        challenge = getattr(getattr(env.unwrapped, "games", None), "challenge", 0)
        if challenge and any(each.deck is not None or each.stake is not None for each in lessons):
            raise DeckOfChallenge(CHALLENGES[challenge].key)
        self.at = 0
        self._won: deque[bool] = deque(maxlen=self.window)
        self._playing, self._steps = False, 0

    @property
    def lesson(self) -> Lesson:
        """The current lesson."""
        return self.lessons[self.at]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Start a game of the current lesson; the caller's options take precedence."""
        at, won = self.at, self._won.copy()
        if self._playing and self._steps:
            won.append(False)
        if len(won) == self.window and sum(won) >= self.lesson.promote * self.window:
            at = min(at + 1, len(self.lessons) - 1)
            won.clear()
        own = {name: value for name in ("deck", "stake") if (value := getattr(self.lessons[at], name)) is not None}
        seen, info = self.env.reset(seed=seed, options={**own, **(options or {})})
        self.at, self._won, self._playing, self._steps = at, won, True, 0
        return seen, {**info, "lesson": self.at + 1}

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action; the game may end as won at the lesson's goal. Raises NeedsReset before a reset and after the end."""
        if not self._playing:
            raise NeedsReset("no game is in play: call reset before the next step")
        seen, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        # The ante increases in the step that beats its boss.
        if not terminated and self.lesson.goal < WIN_ANTE and info["ante"] > self.lesson.goal:
            terminated, truncated = True, False
            reward, info = float(reward) + self.bonus, {**info, "outcome": "won"}
        if terminated or truncated:
            self._playing = False
            self._won.append(info["outcome"] == "won")
        return seen, reward, terminated, truncated, {**info, "lesson": self.at + 1}
