"""One game as a Gymnasium environment: `gymnasium.make("ante/Balatro-v1")`."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from numpy.typing import NDArray

from ante.checks import MOST, BadValue, chosen, seed_number, whole_number
from ante.env import layout
from ante.env.games import MAX_DECISIONS, OUTCOME_NAMES, Games
from ante.env.reward import AnyReward
from ante.env.spaces import LegalDiscrete, LegalStructured, pack
from ante.env.text import action_name, describe, macro_name
from ante.errors import BalatroError, NotInstalled

OBSERVATIONS = ("dict", "flat", "masked")
ACTIONS = ("discrete", "structured")
ILLEGAL = ("raise", "ignore")
RENDER_MODES = ("rgb_array", "ansi")
LARGEST_FRAME = 8192  # sides, pixels
PICTURE = "ante.watch.render.draw:draw"  # a name, not an import: rendering is a layer above the environments


class EnvironmentClosed(BalatroError, ClosedEnvironmentError):
    """An operation on a closed environment."""

    def __init__(self) -> None:
        super().__init__("the environment is closed: create a new one")


class NeedsReset(BalatroError, ResetNeeded):
    """A step without a game, or after the game's end."""


class IllegalAction(BalatroError, ValueError):
    """An action that is illegal in the current state."""

    def __init__(self, action: str, legal: str, game: int | None = None) -> None:
        where = "" if game is None else f" in game {game}"
        super().__init__(
            f"illegal action{where}: {action}. Legal now: {legal}. Choose a number that the action mask allows"
        )


def action_number(action: Any) -> int:
    """Return the number of a discrete action, which may be illegal. Raises BadValue."""
    return whole_number("action", action, -MOST - 1)


def illegal_action(games: Games, i: int, action: int, alone: bool = True) -> IllegalAction:
    """Return the error for this action of game i, with its meaning and the legal actions."""
    s = games.states[i]
    words = f"{action} ({action_name(s, action)})" if games.discrete else macro_name(s, action)
    numbers = [int(n) for n in np.flatnonzero(games.masks[i])]
    shown = ", ".join(f"{n} {action_name(s, n)}" for n in numbers[:12])
    more = f" and {len(numbers) - 12} more" if len(numbers) > 12 else ""
    return IllegalAction(words, (shown + more) or "none, the game is over", None if alone else i)


def observation_space(kind: str) -> gymnasium.spaces.Space[Any]:
    """Return the space of one observation of this kind."""
    if chosen("observation", kind, OBSERVATIONS) == "dict":
        return layout.dict_space()
    return layout.flat_space() if kind == "flat" else layout.masked_space()


def check_rendering(mode: str | None, size: Any, picture: Any) -> None:
    """Check the settings of rendering. Raises UnknownChoice or BadValue."""
    if mode is not None:
        chosen("render_mode", mode, RENDER_MODES)
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise BadValue("render_size", size, "use a width and a height, such as (640, 360)")
    for name, side in zip(("width", "height"), size, strict=True):
        whole_number(f"{name} of render_size", side, 1, LARGEST_FRAME)
    if not callable(picture) and not (isinstance(picture, str) and picture.count(":") == 1):
        raise BadValue("picture", picture, "use a function, or its name as module:function")


def picture_of(picture: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that draws a game, given itself or as `module:name`. Raises NotInstalled."""
    if callable(picture):
        return picture
    module, name = picture.split(":")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        raise NotInstalled(error) from error


class BalatroEnv(gymnasium.Env[Any, Any]):
    """One run of Balatro, from the first blind to a loss or the win of ante 8.

    deck, stake    of every run: `b_red` (or `red`) to `b_erratic`, 1 to 8
    seed           game seed of every run; None draws a new one at each reset
    actions        discrete (a number 0..142, cards are selected one by one) or structured (verb, target, to, cards)
    observation    dict (layout.FIELDS), flat (a float32 vector), or masked (the vector and its action mask)
    reward         name in reward.REWARDS, a registered name or module:Class, a Reward or a PythonReward
    reorder        allowed reordering: none, jokers, or all (jokers, hand cards, sorting)
    illegal        raise IllegalAction, or ignore: nothing changes, reward 0
    max_decisions  steps after which the game is truncated; selecting a card is a step
    endless        True: a won run continues
    challenge      one of the 20 challenges (`omelette`), which has its own deck and stake; None for no challenge
    locked         items that the profile has not unlocked: keys (`j_blueprint`), or `fresh` for a new profile
    render_mode    None, rgb_array or ansi
    render_size    width and height of a frame
    picture        function that draws a frame: `module:function` or (s, width, height) -> uint8[h, w, 3]

    A copy by `copy.deepcopy` or `pickle`, with or without wrappers, continues and samples exactly like the original.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        deck: str | int = "b_red",
        stake: int = 1,
        seed: str | None = None,
        actions: str = "discrete",
        observation: str = "dict",
        reward: str | AnyReward = "shaped",
        reorder: str = "all",
        illegal: str = "raise",
        max_decisions: int = MAX_DECISIONS,
        endless: bool = False,
        challenge: str | int | None = None,
        locked: str | Iterable[str] = (),
        render_mode: str | None = None,
        render_size: tuple[int, int] = (640, 360),
        picture: str | Callable[..., Any] = PICTURE,
    ) -> None:
        check_rendering(render_mode, render_size, picture)
        self.render_mode, self.render_size, self._picture = render_mode, render_size, picture
        self._closed = False
        self._observation = observation
        self._raises = chosen("illegal", illegal, ILLEGAL) == "raise"
        discrete = chosen("actions", actions, ACTIONS) == "discrete"
        self.observation_space = observation_space(observation)
        self.games = Games(
            1,
            deck,
            stake,
            seed,
            reward,
            reorder,
            max_decisions,
            endless,
            challenge,
            locked,
            flat=observation != "dict",
            discrete=discrete,
        )
        self.action_space = LegalDiscrete(self.games) if discrete else LegalStructured(self.games)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the generator, which Gymnasium creates lazily."""
        assert self.np_random is not None
        return self.__dict__

    @property
    def state(self) -> np.record:
        """The game's record. Copy it to save the game."""
        return self.games.states[0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a run. options: seed (a game seed), deck, stake, challenge, only for this run.

        Raises BadValue for an invalid generator seed, and the errors of `Games.reset`; nothing changes then.
        """
        if self._closed:
            raise EnvironmentClosed
        self.games.parse_options(options, 1)
        super().reset(seed=seed_number(seed))
        self.games.rngs[0] = self.np_random
        self.games.reset(options=options)
        return self._observed(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action.

        Raises IllegalAction for an illegal one, BadValue for one that is not an integer or a structured action,
        NeedsReset before a reset and after the end, and EnvironmentClosed.
        """
        self._require_game()
        games = self.games
        if games.outcome[0]:
            raise NeedsReset(f"the game is over, {OUTCOME_NAMES[games.outcome[0]]}: call reset before the next step")
        numbers = self._numbers(action)
        if self._raises and games.refused(numbers) >= 0:
            raise self._illegal(action, numbers)
        games.step(numbers)
        return (
            self._observed(),
            float(games.rewards[0]),
            bool(games.terminated[0]),
            bool(games.truncated[0]),
            self._info(),
        )

    def render(self) -> Any:
        """Return the game as a frame or as text, by render_mode. Raises NeedsReset, EnvironmentClosed."""
        self._require_game()
        if self.render_mode == "ansi":
            return describe(self.state)
        if self.render_mode == "rgb_array":
            width, height = self.render_size
            return picture_of(self._picture)(self.state, width, height)
        return None

    def close(self) -> None:
        """Close the environment; later calls raise EnvironmentClosed."""
        self._closed = True

    def _require_game(self) -> None:
        """Raise EnvironmentClosed or NeedsReset if there is no game."""
        if self._closed:
            raise EnvironmentClosed
        if not self.games.seeds[0]:
            raise NeedsReset("no game has started: call reset first")

    def _numbers(self, action: Any) -> NDArray[np.int64]:
        """Return the action as a number, (1,), which may be illegal. Raises BadValue."""
        return np.array([action_number(action)]) if self.games.discrete else pack(action)

    def _illegal(self, action: Any, numbers: NDArray[np.int64]) -> IllegalAction:
        """Return the error for an illegal action."""
        return illegal_action(self.games, 0, int(numbers[0]))

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of discrete actions; masked algorithms of other libraries call this method."""
        return self.games.masks[0].astype(np.bool_)

    def _observed(self) -> Any:
        games = self.games
        if self._observation == "flat":
            return games.flat[0].copy()
        if self._observation == "masked":
            return {"observations": games.flat[0].copy(), "action_mask": games.masks[0].copy()}
        return {name: view[0].copy() for name, view in games.observed().items()}

    def _game_info(self) -> dict[str, NDArray[Any]]:
        return self.games.info()

    def _info(self) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, values in self._game_info().items():
            value = values[0]
            plain[name] = value.item() if isinstance(value, np.generic) else value
        return plain
