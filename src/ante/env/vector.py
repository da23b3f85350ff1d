"""Many games as one Gymnasium vector environment: `make_vec(..., vectorization_mode="vector_entry_point")`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ante.env.games import MAX_DECISIONS, Games, chosen, one_seed
from ante.env.reward import Reward
from ante.env.single import ACTIONS, ILLEGAL, PICTURE, illegal_action, observation_space, picture_of
from ante.env.spaces import LegalDiscrete, LegalMultiDiscrete, LegalStructured, LegalStructuredBatch, pack
from ante.env.text import describe


class BalatroVectorEnv(VectorEnv[Any, Any, Any]):
    """num_envs runs of Balatro, stepped in one compiled pass.

    Takes the arguments of `BalatroEnv`, and

    autoreset_mode  NEXT_STEP (the step after the end deals the next game and ignores its action), SAME_STEP (the
                    last observation goes to info["final_obs"]) or DISABLED (reset with options["reset_mask"])
    copy            False: reset and step answer views of the buffers, overwritten by the next step
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        deck: str | int = "b_red",
        stake: int = 1,
        seed: str | None = None,
        actions: str = "discrete",
        observation: str = "dict",
        reward: str | Reward = "shaped",
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
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode, self.render_size, self._picture = render_mode, render_size, picture
        self._observation, self._copy = observation, copy
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
        """Begin all games, or those of options["reset_mask"].

        seed     an integer (game i gets seed + i) or one for each game
        options  seed (a game seed, or one for each game that begins), deck, stake, challenge, for these runs only
        """
        options = dict(options or {})
        mask = np.asarray(options.pop("reset_mask", self._every), dtype=np.bool_)
        which = np.flatnonzero(mask)
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
            for i in which:
                if seeds[i] is not None:
                    self.games.rngs[i] = one_seed(seeds[i])
            self._np_random, self._np_random_seed = self.games.rngs[0], seeds[0]
        self.games.reset(which, options)
        self._ended[which] = False
        return self._observed(), self._infos(mask)

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one action in every game. Raises IllegalAction, before anything is played, where one is not allowed."""
        games = self.games
        numbers = np.asarray(actions, dtype=np.int64).reshape(self.num_envs) if games.discrete else pack(actions)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            raise RuntimeError(f"games {np.flatnonzero(self._ended).tolist()} are over: reset them with reset_mask")
        if self._raises:
            refused = games.refused(numbers, self._ended)
            if refused >= 0:
                raise illegal_action(games, refused, int(numbers[refused]), alone=False)
        games.step(numbers, self._ended)
        terminated, truncated = games.terminated, games.truncated
        rewards = games.rewards.copy()
        self._ended = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            return self._observed_anew(rewards, terminated, truncated)
        return self._observed(), rewards, terminated, truncated, self._infos(self._every)

    def _observed_anew(self, rewards: Any, terminated: Any, truncated: Any) -> Any:
        """Answer of a SAME_STEP step in which games ended: they are dealt again, their last sight is in the info."""
        ended = self._ended
        last = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended):
            last[i] = self._one(int(i))
        final = {name: (values, ended.copy()) for name, values in self.games.info().items()}
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
        """Every game as a frame or as text, by render_mode."""
        if self.render_mode == "ansi":
            return tuple(describe(s) for s in self.games.states)
        if self.render_mode == "rgb_array":
            draw = picture_of(self._picture)
            return tuple(draw(s, *self.render_size) for s in self.games.states)
        return None

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

    def _infos(self, mask: NDArray[np.bool_]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for name, values in self.games.info().items():
            infos[name] = values if mask.all() else _blank_where(~mask, values)
            infos[f"_{name}"] = mask.copy()
        return infos


def _blank_where(mask: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
    """The values, with None or 0 where the mask is set, as Gymnasium leaves what no game has said."""
    values = values.copy()
    values[mask] = None if values.dtype == object else 0
    return values
