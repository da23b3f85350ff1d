"""Many games as one Gymnasium vector environment: `make_vec(..., vectorization_mode="vector_entry_point")`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ante.checks import BadValue, UnknownChoice, chosen, flag, is_list, seed_number, whole_number, whole_numbers
from ante.engine.run import one_seed
from ante.env.games import MAX_DECISIONS, MAX_GAMES, Games
from ante.env.reward import AnyReward
from ante.env.single import (
    ACTIONS,
    ILLEGAL,
    PICTURE,
    RENDER_MODES,
    EnvironmentClosed,
    IllegalAction,
    NeedsReset,
    check_rendering,
    illegal_action,
    observation_space,
    picture_of,
)
from ante.env.spaces import LegalDiscrete, LegalMultiDiscrete, LegalStructured, LegalStructuredBatch, pack
from ante.env.text import describe


class BalatroVectorEnv(VectorEnv[Any, Any, Any]):
    """num_envs runs of Balatro, stepped in one compiled pass.

    Takes the arguments of `BalatroEnv`, and

    autoreset_mode  NEXT_STEP (the step after the end resets the game and ignores its action), SAME_STEP (the last
                    observation is in info["final_obs"]) or DISABLED (reset with options["reset_mask"])
    copy            False: reset and step return views of the buffers, which the next step overwrites
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
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
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        self.num_envs = num_envs = whole_number("num_envs", num_envs, 1, MAX_GAMES)
        self.autoreset_mode = autoreset_mode_of(autoreset_mode)
        check_rendering(render_mode, render_size, picture)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode, self.render_size, self._picture = render_mode, render_size, picture
        self._observation, self._copy, self._begun = observation, flag("copy", copy), False
        self._raises = chosen("illegal", illegal, ILLEGAL) == "raise"
        discrete = chosen("actions", actions, ACTIONS) == "discrete"
        self.single_observation_space = observation_space(observation)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.games = Games(
            num_envs,
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
            rngs=[one_seed(None) for _ in range(num_envs)],
        )
        self.single_action_space = LegalDiscrete(self.games) if discrete else LegalStructured(self.games)
        self.action_space = LegalMultiDiscrete(self.games) if discrete else LegalStructuredBatch(self.games)
        self._ended = np.zeros(num_envs, dtype=np.bool_)
        self._every = np.ones(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all games, or those of options["reset_mask"].

        seed     an integer (game i uses seed + i) or one for each game
        options  seed (a game seed, or one for each game to reset), deck, stake, challenge, only for these runs

        Raises BadValue for invalid seeds and masks, and the errors of `Games.reset`; nothing changes then.
        """
        if self.closed:
            raise EnvironmentClosed
        mask, options = self._mask_of(options)
        which = np.flatnonzero(mask)
        seeds = self._seeds_of(seed)
        self.games.parse_options(options, len(which))
        for i in which:
            if seeds[i] is not None:
                self.games.rngs[i] = one_seed(seeds[i])
        if seed is not None:
            self._np_random, self._np_random_seed = self.games.rngs[0], seeds[0]
        self.games.reset(which, options)
        self._ended[which] = False
        self._begun = all(self.games.seeds)
        return self._observed(), self._infos(mask)

    def _mask_of(self, options: Any) -> tuple[NDArray[np.bool_], Any]:
        """Return which games to reset, and the other options. Raises BadValue."""
        if not isinstance(options, dict) or "reset_mask" not in options:
            return self._every, options
        mask = options["reset_mask"]
        if (
            not is_list(mask)
            or len(mask) != self.num_envs
            or any(not isinstance(each, (bool, np.bool_)) for each in mask)
        ):
            raise BadValue("options['reset_mask']", mask, f"use {self.num_envs} booleans, one for each game")
        return np.array(mask), {name: value for name, value in options.items() if name != "reset_mask"}

    def _seeds_of(self, seed: Any) -> list[int | None]:
        """Return a generator seed for each game, None to keep its generator. Raises BadValue."""
        if is_list(seed):
            if len(seed) != self.num_envs:
                raise BadValue("seed", seed, f"use a whole number, or {self.num_envs} of them, one for each game")
            return [seed_number(each) for each in seed]
        first = seed_number(seed)
        return [None if first is None else seed_number(first + i) for i in range(self.num_envs)]

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one action in every game.

        Raises, before any game changes, IllegalAction for an illegal action, BadValue for actions that are not one
        integer for each game, NeedsReset before a reset, and EnvironmentClosed.
        """
        self._require_games()
        games = self.games
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            raise NeedsReset(f"games {np.flatnonzero(self._ended).tolist()} are over: reset them with reset_mask")
        numbers = self._numbers(actions)
        if self._raises:
            refused = games.refused(numbers, self._ended)
            if refused >= 0:
                raise self._illegal(refused, actions, numbers)
        games.step(numbers, self._ended)
        terminated, truncated = games.terminated, games.truncated
        rewards = games.rewards.copy()
        self._ended = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            return self._autoreset(rewards, terminated, truncated)
        return self._observed(), rewards, terminated, truncated, self._infos(self._every)

    def _numbers(self, actions: Any) -> NDArray[np.int64]:
        """Return the actions as numbers, (num_envs,), which may be illegal. Raises BadValue."""
        if self.games.discrete:
            return whole_numbers("actions", actions, (self.num_envs,))
        return pack(actions, self.num_envs)

    def _illegal(self, i: int, actions: Any, numbers: NDArray[np.int64]) -> IllegalAction:
        """Return the error for the illegal action of game i."""
        return illegal_action(self.games, i, int(numbers[i]), alone=False)

    def _autoreset(self, rewards: Any, terminated: Any, truncated: Any) -> Any:
        """Return the results of a SAME_STEP step in which games ended, with their last observations in the info."""
        ended = self._ended
        last = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended):
            last[i] = self._one(int(i))
        final = {name: (values, ended.copy()) for name, values in self._game_info().items()}
        self.games.reset(np.flatnonzero(ended))
        self._ended = np.zeros_like(ended)
        infos = self._infos(self._every)
        infos["final_obs"], infos["_final_obs"] = last, ended.copy()
        infos["final_info"] = {
            key: value
            for name, (values, mask) in final.items()
            for key, value in ((name, _blank_where(~ended, values)), (f"_{name}", mask))
        }
        infos["_final_info"] = ended.copy()
        return self._observed(), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Return every game as a frame or as text, by render_mode. Raises NeedsReset, EnvironmentClosed."""
        self._require_games()
        if self.render_mode == "ansi":
            return tuple(describe(s) for s in self.games.states)
        if self.render_mode == "rgb_array":
            draw = picture_of(self._picture)
            return tuple(draw(s, *self.render_size) for s in self.games.states)
        return None

    def _require_games(self) -> None:
        """Raise EnvironmentClosed or NeedsReset if a game has not started."""
        if self.closed:
            raise EnvironmentClosed
        if not self._begun:
            missing = [i for i, seed in enumerate(self.games.seeds) if not seed]
            raise NeedsReset(f"games {missing} have not started: call reset first")

    def _observed(self) -> Any:
        games = self.games
        if self._observation == "flat":
            return games.flat.copy() if self._copy else games.flat
        views: dict[str, NDArray[Any]] = (
            {"observations": games.flat, "action_mask": games.masks}
            if self._observation == "masked"
            else games.observed()
        )
        return {name: view.copy() for name, view in views.items()} if self._copy else views

    def _one(self, i: int) -> Any:
        games = self.games
        if self._observation == "flat":
            return games.flat[i].copy()
        if self._observation == "masked":
            return {"observations": games.flat[i].copy(), "action_mask": games.masks[i].copy()}
        return {name: view[i].copy() for name, view in games.observed().items()}

    def _game_info(self) -> dict[str, NDArray[Any]]:
        return self.games.info()

    def _infos(self, mask: NDArray[np.bool_]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for name, values in self._game_info().items():
            infos[name] = values if mask.all() else _blank_where(~mask, values)
            infos[f"_{name}"] = mask.copy()
        return infos


def autoreset_mode_of(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the mode of this name. Raises UnknownChoice."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise UnknownChoice("autoreset_mode", mode, [each.value for each in AutoresetMode]) from None


def _blank_where(mask: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
    """Return the values, with None or 0 where the mask is set, as Gymnasium leaves entries without a value."""
    values = values.copy()
    values[mask] = None if values.dtype == object else 0
    return values
