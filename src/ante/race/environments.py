"""The race as PettingZoo environments: `RaceEnv` (AEC, one player at a time) and `ParallelRaceEnv` (both at once)."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from ante.checks import chosen, seed_number
from ante.engine.actions import N_DISCRETE
from ante.env.games import MAX_DECISIONS, OPTIONS
from ante.env.single import ILLEGAL, EnvironmentClosed, IllegalAction, NeedsReset, action_number, illegal_action
from ante.env.single import observation_space as solo_space
from ante.env.text import describe
from ante.race.races import COLUMN, LARGEST_LOG_SCORE, VIEW, WAIT, Races, Result
from ante.race.rules import LIVES, SEATS

AGENTS = tuple(f"player_{seat}" for seat in range(SEATS))
SEAT = {agent: seat for seat, agent in enumerate(AGENTS)}
N_ACTIONS = N_DISCRETE + 1
REWARDS = {Result.WON: 1.0, Result.LOST: -1.0}
OBSERVATIONS = ("dict", "flat")
RENDER_MODES = ("ansi",)
Discrete = spaces.Discrete[Any]


def view_space() -> spaces.Box:
    """Return the space of what a player sees of the race; columns as in `races.VIEW`."""
    high = np.full(len(VIEW._fields), 1.0, dtype=np.float32)
    high[[COLUMN.lives, COLUMN.opponent_lives]] = LIVES
    high[COLUMN.opponent_log_score] = LARGEST_LOG_SCORE
    high[COLUMN.opponent_hands] = 100.0
    return spaces.Box(np.zeros_like(high), high, dtype=np.float32)


class Table:
    """One race with spaces, observations and checks, which both environments share.

    deck, stake    of both games, as in `BalatroEnv`
    seed           game seed of every race; None draws a new one at each reset
    observation    of a player's own game: dict or flat, as in `BalatroEnv`
    reorder        allowed reordering: none, jokers or all
    illegal        raise IllegalAction, or ignore: nothing changes
    max_decisions  steps of a player after which the race is truncated
    render_mode    None or ansi
    """

    def __init__(
        self,
        deck: str | int = "b_red",
        stake: int = 1,
        seed: str | None = None,
        observation: str = "dict",
        reorder: str = "all",
        illegal: str = "raise",
        max_decisions: int = MAX_DECISIONS,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = None if render_mode is None else chosen("render_mode", render_mode, RENDER_MODES)
        self.observation = chosen("observation", observation, OBSERVATIONS)
        self.raises = chosen("illegal", illegal, ILLEGAL) == "raise"
        self.races = Races(1, deck, stake, seed, reorder=(reorder, reorder), max_decisions=max_decisions)
        self.closed = False
        self.started = False
        self.rng = seeding.np_random(None)[0]
        self.observation_spaces = {agent: self.new_space() for agent in AGENTS}
        self.action_spaces: dict[str, Discrete] = {agent: spaces.Discrete(N_ACTIONS) for agent in AGENTS}

    def new_space(self) -> spaces.Dict:
        """Return the space of one player's observation."""
        return spaces.Dict(
            {
                "observation": solo_space(self.observation),
                "race": view_space(),
                "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8),
            }
        )

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Start a race. Options other than those of a game are ignored, as PettingZoo's test requires."""
        if self.closed:
            raise EnvironmentClosed
        number = seed_number(seed)
        known = {name: value for name, value in (options or {}).items() if name in OPTIONS and name != "challenge"}
        for games in self.races.games:
            games.parse_options(known or None, 1)
        if number is not None:
            self.rng = seeding.np_random(number)[0]
        for games in self.races.games:
            games.rngs[0] = self.rng
        self.races.reset(known or None)
        self.started = True

    def waits(self, seat: int) -> bool:
        """Return whether a player can only wait."""
        return bool(self.races.waiting()[0, seat])

    def mask(self, seat: int) -> NDArray[np.int8]:
        """Return the legal actions of a player, (N_ACTIONS,): those of the game, or only WAIT."""
        out = np.zeros(N_ACTIONS, dtype=np.int8)
        if self.waits(seat):
            out[WAIT] = 1
        else:
            out[:WAIT] = self.races.games[seat].masks[0]
        return out

    def observe(self, seat: int) -> dict[str, Any]:
        """Return a player's observation: the own game, the race, and the action mask."""
        games = self.races.games[seat]
        own: Any = (
            games.flat[0].copy()
            if self.observation == "flat"
            else {name: view[0].copy() for name, view in games.observed().items()}
        )
        return {"observation": own, "race": self.races.view(seat)[0], "action_mask": self.mask(seat)}

    def info(self, seat: int) -> dict[str, Any]:
        """Return seed, ante, lives and result of a player."""
        result = Result(int(self.races.results(seat)[0]))
        return {
            "seed": str(self.races.seeds[0]),
            "ante": int(self.races.games[seat].states[0].ante),
            "lives": int(self.races.races[0].lives[seat]),
            "result": result.name.lower(),
        }

    def step(self, actions: dict[int, Any]) -> None:
        """Play one action of each of these seats. Raises IllegalAction, BadValue, NeedsReset, EnvironmentClosed."""
        if self.closed:
            raise EnvironmentClosed
        if not self.started:
            raise NeedsReset("no race has started: call reset first")
        numbers = np.full((1, SEATS), -1, dtype=np.int64)
        for seat, action in actions.items():
            numbers[0, seat] = action_number(action)
            if self.raises and not self.is_legal(seat, int(numbers[0, seat])):
                raise self.illegal(seat, int(numbers[0, seat]))
        acting = np.array([[seat in actions for seat in range(SEATS)]])
        self.races.step(numbers, acting)

    def is_legal(self, seat: int, action: int) -> bool:
        """Return whether a player can take this action now."""
        return 0 <= action < N_ACTIONS and bool(self.mask(seat)[action])

    def illegal(self, seat: int, action: int) -> IllegalAction:
        """Return the error for an illegal action, which names the legal ones."""
        if self.waits(seat):
            return IllegalAction(f"{action}", f"{WAIT} wait for the opponent", seat)
        if action == WAIT:
            return IllegalAction(f"{WAIT} (wait)", "any action but waiting: the opponent's turn is not due", seat)
        return illegal_action(self.races.games[seat], 0, action, alone=False)

    def render(self) -> str | None:
        """Return both games as text with render_mode ansi. Raises NeedsReset."""
        if not self.started:
            raise NeedsReset("no race has started: call reset first")
        if self.render_mode != "ansi":
            return None
        lives = self.races.races[0].lives
        return "\n\n".join(
            f"{agent}, {lives[seat]} of {LIVES} lives\n{describe(self.races.games[seat].states[0])}"
            for agent, seat in SEAT.items()
        )

    def reward(self, seat: int) -> float:
        """Return 1 for a race that was won, -1 for one that was lost, else 0."""
        return REWARDS.get(Result(int(self.races.results(seat)[0])), 0.0)

    @property
    def over(self) -> bool:
        """Whether the race has ended with a last life."""
        return bool(self.races.races[0].over)

    @property
    def truncated(self) -> bool:
        """Whether the race has ended at max_decisions."""
        return bool(self.races.truncated[0])


class RaceEnv(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]
    """A race in which the players take turns: PettingZoo's AEC interface. Keyword arguments are those of `Table`.

    After each action the turn passes to the opponent, unless the opponent waits; a player who waits has no turn. So
    the player who was ready first plays first in a duel. Rewards are 1 and -1 at the end of a race, else 0.
    """

    metadata = {  # noqa: RUF012
        "name": "balatro_race_v1",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.table = Table(**settings)
        self.render_mode = self.table.render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = self.table.observation_spaces
        self.action_spaces = self.table.action_spaces

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of a player's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of a player's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a race. options: seed (a game seed), deck, stake; others are ignored."""
        self.table.reset(seed, options)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: self.table.info(seat) for agent, seat in SEAT.items()}
        self.agent_selection = AGENTS[0]
        self._skip_agent_selection = None

    def observe(self, agent: str) -> dict[str, Any]:
        """Return a player's observation."""
        return self.table.observe(SEAT[agent])

    def step(self, action: int | None) -> None:
        """Take the selected player's action; None for a player whose race has ended."""
        if not self.agents:
            raise NeedsReset("the race is over: call reset before the next step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.table.step({SEAT[agent]: action})
        self._cumulative_rewards[agent] = 0.0
        for each, seat in SEAT.items():
            self.rewards[each] = self.table.reward(seat)
            self.terminations[each] = self.table.over
            self.truncations[each] = self.table.truncated
            self.infos[each] = self.table.info(seat)
        opponent = 1 - SEAT[agent]
        if self.table.over or self.table.truncated or not self.table.waits(opponent):
            self.agent_selection = AGENTS[opponent]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Return both games as text with render_mode ansi."""
        return self.table.render()

    def close(self) -> None:
        """Close the environment; later calls raise EnvironmentClosed."""
        self.table.closed = True


class ParallelRaceEnv(ParallelEnv[str, dict[str, Any], int]):  # type: ignore[misc]
    """A race in which both players act in each step: PettingZoo's parallel interface. Keyword arguments as in `Table`.

    A player who waits for a duel, or has no hand left in it, has one legal action: WAIT (the last one).
    """

    metadata = {"name": "balatro_race_v1", "render_modes": list(RENDER_MODES)}  # noqa: RUF012

    def __init__(self, **settings: Any) -> None:
        self.table = Table(**settings)
        self.render_mode = self.table.render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = self.table.observation_spaces
        self.action_spaces = self.table.action_spaces

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of a player's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of a player's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Start a race. options: seed (a game seed), deck, stake; others are ignored."""
        self.table.reset(seed, options)
        self.agents = list(AGENTS)
        return self._every(self.table.observe), self._every(self.table.info)

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Take an action of every player: observations, rewards, terminations, truncations and infos."""
        if not self.agents:
            raise NeedsReset("the race is over or has not started: call reset before the next step")
        missing = [agent for agent in AGENTS if agent not in actions]
        if missing:
            raise IllegalAction(f"none for {', '.join(missing)}", "one action for every player")
        self.table.step({SEAT[agent]: actions[agent] for agent in AGENTS})
        over, truncated = self.table.over, self.table.truncated
        if over or truncated:
            self.agents = []
        return (
            self._every(self.table.observe),
            self._every(self.table.reward),
            dict.fromkeys(AGENTS, over),
            dict.fromkeys(AGENTS, truncated),
            self._every(self.table.info),
        )

    def _every(self, of_seat: Any) -> dict[str, Any]:
        return {agent: of_seat(seat) for agent, seat in SEAT.items()}

    def render(self) -> str | None:
        """Return both games as text with render_mode ansi."""
        return self.table.render()

    def close(self) -> None:
        """Close the environment; later calls raise EnvironmentClosed."""
        self.table.closed = True
