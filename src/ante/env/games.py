"""A batch of games, used by both Gymnasium environments: one record array, and buffers that are updated in place.

Fast loops use `Games` directly: `games.step(actions)` plays, rewards, observes and masks every game in one compiled
pass without allocation.
"""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import BLINDS
from ante.catalog.constants import WIN_ANTE
from ante.checks import INT64, BadValue, UnknownOption, chosen, flag, is_list, whole_number, whole_numbers
from ante.engine.actions import N_DISCRETE, Verb, is_legal, to_macro, verb_of
from ante.engine.blinds import blind_on_deck
from ante.engine.core.rng import seed_hash
from ante.engine.core.rule import rule
from ante.engine.core.state import STREAM_SLOTS, Phase, Status, Table, new_states, restore_states
from ante.engine.run import draw_seed, is_number, locked_bits, one_seed, restart, run_numbers, seed_text, set_seed
from ante.engine.step import step
from ante.engine.validation import validate_states
from ante.env.flat import flatten
from ante.env.layout import FIELDS, FLAT_SIZE, new_observations
from ante.env.observe import REORDER_ALL, REORDER_JOKERS, REORDER_NONE, focus_target, observe
from ante.env.reward import AnyReward, PythonReward, blinds_beaten, find_reward, measure, new_before, record_before
from ante.errors import BalatroError, shown
from ante.plugins import BadPlugin

MAX_DECISIONS = 10_000
N_TABLES = len(Table)
MAX_GAMES = 1 << 20  # per batch
RECORDS: dict[str, Any] = {"states": new_states, "observations": new_observations, "_before": new_before}
OPTIONS = ("seed", "deck", "stake", "challenge")  # of a reset
REORDERS = {"none": REORDER_NONE, "jokers": REORDER_JOKERS, "all": REORDER_ALL}


class Outcome(IntEnum):
    """The outcome of a game."""

    PLAYING = 0
    WON = 1
    LOST = 2
    TRUNCATED = 3  # max_decisions reached


class BadGoal(BalatroError, ValueError):
    """A goal that is not valid."""

    def __init__(self, goal: object, endless: bool) -> None:
        cause = "an endless game does not end at a goal" if endless else f"use an ante from 1 to {WIN_ANTE}"
        super().__init__(f"goal={shown(goal)} is not valid: {cause}")


def goal_number(goal: int, endless: bool) -> int:
    """Return the ante whose boss ends a game as won, or 0 if a won run continues. Raises BadGoal."""
    if not is_number(goal) or not 1 <= goal <= WIN_ANTE or (endless and goal != WIN_ANTE):
        raise BadGoal(goal, endless)
    return 0 if endless else int(goal)


@rule
def is_excluded(action, reorder):
    """Return whether a macro decision reorders something that this environment does not allow to reorder."""
    verb = verb_of(action)
    if verb == Verb.SORT_HAND or verb == Verb.MOVE_CARD:
        return reorder != REORDER_ALL
    return verb == Verb.MOVE_JOKER and reorder == REORDER_NONE


@rule
def is_allowed(s, action, reorder):
    """Return whether a macro decision is legal in this environment."""
    return not is_excluded(action, reorder) and is_legal(s, action)


@rule
def macro_of(s, action, discrete):
    """Return the macro decision of an action, a discrete action if `discrete`; -1, never legal, for an invalid one."""
    if not discrete:
        return int(action)
    if action < 0 or action >= N_DISCRETE:
        return -1
    return to_macro(s, action)


@rule
def first_refused(states, actions, discrete, reorder, skip):
    """Return the first game whose action is illegal, or -1; games marked in `skip` are not checked."""
    for i in range(len(states)):
        if not skip[i] and not is_allowed(states[i], macro_of(states[i], actions[i], discrete), reorder):
            return i
    return -1


@rule
def step_observe_all(
    states,
    actions,
    discrete,
    reorder,
    goal,
    limit,
    weights,
    skip,
    before,
    steps,
    observations,
    flat,
    rewards,
    outcome,
):
    """Play one action in every game, then write rewards, outcomes, observations and masks.

    states        (n,) state_t, changed in place
    actions       (n,) int64: discrete actions if `discrete`, else macro decisions. An illegal one changes nothing and
                  has reward 0, except for the discount of a potential over time
    reorder       which reordering is allowed, as in `observe`
    goal          the ante whose boss ends a game as won; 0 = a won run continues
    limit         steps after which a game is truncated
    weights       (DISCOUNT + 1,) float64 of the reward
    skip          (n,) uint8: 1 = this game has just started; it is only observed, and its reward is 0
    before        (n,) before_t, scratch space
    steps         (n,) int64, incremented
    observations  (n,) observation_t, overwritten
    flat          (n, FLAT_SIZE) float32, overwritten; (0, 0) for no vectors
    rewards       (n,) float64, overwritten
    outcome       (n,) uint8, overwritten with Outcome
    """
    for i in range(len(states)):
        s = states[i]
        rewards[i] = 0.0
        outcome[i] = 0
        if not skip[i]:
            rewards[i], status = play_rewarded(s, actions[i], discrete, reorder, goal, weights, before[i])
            steps[i] += 1
            outcome[i] = outcome_of(status, steps[i], limit, goal)
        observe(s, observations[i], reorder)
        if len(flat) > 0:
            flatten(observations[i], flat[i])


@rule
def play_rewarded(s, action, discrete, reorder, goal, weights, before):
    """Play one action of `step_observe_all`. Returns its reward and the Status."""
    record_before(s, before)
    decision = macro_of(s, action, discrete)
    status = int(Status.ILLEGAL) if is_excluded(decision, reorder) else step(s, decision)
    if goal < WIN_ANTE and beats_goal(s, before, goal):
        status = int(Status.WON)
    return measure(s, before, status, ends(status, goal), weights), status


@rule
def beats_goal(s, before, goal):
    """Return whether this step has beaten the boss of the goal's ante, or of a later ante in which the game began."""
    beaten = before.phase == Phase.PLAY and s.phase == Phase.ROUND_END
    return beaten and s.beat_boss != 0 and 0 < goal <= before.ante


@rule
def ends(status, goal):
    """Return whether this status ends a game."""
    return status == Status.LOST or (status == Status.WON and goal > 0)


@rule
def outcome_of(status, steps, limit, goal):
    """Return the Outcome of a step with this status."""
    if ends(status, goal):
        return 2 if status == Status.LOST else 1
    return 3 if steps >= limit else 0


@rule
def deal(states, which, decks, stakes, challenges, steps):
    """Reset the games at these indices with the seeds and profiles in their records."""
    for i in which:
        restart(states[i], decks[i], stakes[i], challenges[i])
        steps[i] = 0


@rule
def reseed(states, which, steps):
    """Continue the games at these indices with the seeds in their records, all streams undrawn."""
    for i in which:
        s = states[i]
        s.seed_hash = seed_hash(s)
        s.n_streams = 0
        for k in range(STREAM_SLOTS):
            s.stream_ids[k] = 0
        steps[i] = 0


@rule
def observe_games(states, which, reorder, observations, flat):
    """Write the observations of the games at these indices."""
    for i in which:
        observe(states[i], observations[i], reorder)
        if len(flat) > 0:
            flatten(observations[i], flat[i])


@rule
def read_games(states, numbers, amounts):
    """Write figures of every game.

    numbers  (n, 6): ante, round, dollars, next blind, blinds beaten, overflows
    amounts  (n, 2): chips and target
    """
    for i in range(len(states)):
        s = states[i]
        numbers[i, 0] = s.ante
        numbers[i, 1] = s.round_number
        numbers[i, 2] = s.dollars
        numbers[i, 3] = s.blind if s.phase == Phase.PLAY or s.phase == Phase.OVER else blind_on_deck(s)
        numbers[i, 4] = blinds_beaten(s)
        numbers[i, 5] = 0
        for table in range(N_TABLES):
            numbers[i, 5] += s.overflows[table]
        amounts[i, 0] = s.chips
        amounts[i, 1] = focus_target(s)


BLIND_NAMES = np.array([row.name for row in BLINDS], dtype=object)
OBSERVED = tuple(f.name for f in FIELDS)
OUTCOME_NAMES = np.array([member.name.lower() for member in Outcome], dtype=object)


class GamesRef:
    """A reference from an action space to its games. Copied with them, it refers to the copies; alone, to none."""

    def __init__(self) -> None:
        self._games: weakref.ref[Games] | None = None

    def __call__(self) -> "Games | None":
        """Return the games, or None."""
        return self._games() if self._games else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy no games: `Games.__setstate__` sets them again."""
        return GamesRef, ()

    def set(self, games: "Games") -> None:
        """Refer to these games."""
        self._games = weakref.ref(games)


class Games:
    """n games that are played in parallel.

    states        (n,) state_t, the games
    observations  (n,) observation_t; `observed()` returns them as a dict of views
    flat          (n, FLAT_SIZE) float32, or (0, 0) with flat=False
    masks         (n, N_DISCRETE) int8, a view of the observations
    rewards       (n,) float64
    outcome       (n,) uint8, Outcome after the last step
    steps         (n,) int64, steps taken in the current game
    seeds         n game seeds

    rngs  one generator per game, so that a game does not depend on the others
    goal  the ante, 1 to 8, whose boss ends a game as won

    Raises UnknownSeed, UnknownReward, UnknownChoice, BadGoal, BadValue, and the errors of `run_numbers` and
    `locked_bits`.
    """

    def __init__(
        self,
        n: int,
        deck: str | int = "b_red",
        stake: int = 1,
        seed: str | None = None,
        reward: str | AnyReward = "shaped",
        reorder: str = "all",
        max_decisions: int = MAX_DECISIONS,
        endless: bool = False,
        challenge: str | int | None = None,
        locked: str | Iterable[str] = (),
        flat: bool = True,
        discrete: bool = True,
        rngs: Sequence[np.random.Generator] | None = None,
        goal: int = WIN_ANTE,
    ) -> None:
        self.n = n = whole_number("num_envs", n, 1, MAX_GAMES)
        self.deck, self.stake, self.challenge = run_numbers(deck, stake, challenge)
        self.fixed_seed = None if seed is None else seed_text(seed)
        self.reward = find_reward(reward)
        self.weights = self.reward.weights
        self.reorder = REORDERS[chosen("reorder", reorder, list(REORDERS))]
        self.limit, self.discrete = whole_number("max_decisions", max_decisions, 1), discrete
        self.goal = goal_number(goal, flag("endless", endless))
        self.states = new_states(n)
        self.states.locked[:] = locked_bits(locked)
        self.observations = new_observations(n)
        self.flat: NDArray[np.float32] = np.zeros((n, FLAT_SIZE) if flat else (0, 0), dtype=np.float32)
        self.masks: NDArray[np.int8] = self.observations["action_mask"]
        self.rewards = np.zeros(n)
        self.outcome = np.zeros(n, dtype=np.uint8)
        self.steps = np.zeros(n, dtype=np.int64)
        self.decks = np.full(n, self.deck, dtype=np.int64)
        self.stakes = np.full(n, self.stake, dtype=np.int64)
        self.challenges = np.full(n, self.challenge, dtype=np.int64)
        self.seeds: NDArray[np.object_] = np.full(n, "", dtype=object)
        self.rngs = list(rngs) if rngs is not None else [one_seed(i) for i in range(n)]
        self._before = new_before(n)
        self._skip = np.zeros(n, dtype=np.uint8)
        self._all = np.arange(n)
        self._numbers = np.zeros((n, 6), dtype=np.int64)
        self._amounts = np.zeros((n, 2))
        self.ref = GamesRef()
        self.ref.set(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except the masks, which are a view; records as bytes, including padding."""
        plain = {name: value for name, value in self.__dict__.items() if name != "masks"}
        return plain | {name: plain[name].view(np.uint8) for name in RECORDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Bind the masks and the action space of a copy to its own observations."""
        self.__dict__.update(state)
        for name, blank in RECORDS.items():
            records = blank(self.n)
            records.view(np.uint8)[:] = state[name]
            setattr(self, name, records)
        self.masks = self.observations["action_mask"]
        if self.ref() is not None:  # a shallow copy
            self.ref = GamesRef()
        self.ref.set(self)

    def reset(self, which: NDArray[np.int64] | None = None, options: dict[str, Any] | None = None) -> None:
        """Reset games and observe them.

        which    indices, all by default
        options  seed (one, or one for each of `which`), deck, stake, challenge: only for these games

        Raises UnknownOption, BadValue, and the errors of `run_numbers`, before anything changes.
        """
        indices = self._all if which is None else self._indices(which)
        self._deal(indices, options)
        self._skip[indices] = 0
        self.outcome[indices] = 0
        self.rewards[indices] = 0.0
        observe_games(self.states, indices, self.reorder, self.observations, self.flat)

    def _indices(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices if these games exist, since compiled code does not check them. Raises BadValue."""
        return whole_numbers("which", which, (np.size(which),), -self.n, self.n - 1)

    def parse_options(
        self, options: Mapping[str, Any] | None, count: int
    ) -> tuple[tuple[int, int, int], list[str | None]]:
        """Return deck, stake and challenge, and the game seeds (None for a random one) of `count` games to reset."""
        if options is None:
            return (self.deck, self.stake, self.challenge), [self.fixed_seed] * count
        if not isinstance(options, Mapping):
            raise BadValue("options", options, f"use a dict of {', '.join(OPTIONS)}")
        for name in options:
            if name not in OPTIONS:
                raise UnknownOption(name, OPTIONS)
        seeds = options.get("seed", self.fixed_seed)
        if not is_list(seeds):
            seeds = [seeds] * count
        if len(seeds) != count:
            raise BadValue("options['seed']", seeds, f"use one game seed, or {count}, one for each game to reset")
        return self._kind_of_run(options), [None if seed is None else seed_text(seed) for seed in seeds]

    def _deal(self, indices: NDArray[np.int64], options: Mapping[str, Any] | None = None) -> None:
        """Start new games at these indices, without observing them."""
        kind, seeds = self.parse_options(options, len(indices))
        self.decks[indices], self.stakes[indices], self.challenges[indices] = kind
        for i, seed in zip(indices, seeds, strict=True):
            if seed is None:
                self.seeds[i] = draw_seed(self.states[i], self.rngs[i])
            else:
                set_seed(self.states[i], seed)
                self.seeds[i] = seed
        deal(self.states, indices, self.decks, self.stakes, self.challenges, self.steps)

    def put(self, which: NDArray[np.int64], states: np.recarray, trusted: bool = False) -> None:
        """Continue from saved states, each with a new random seed, so that later draws differ.

        which    (k,) indices; states (k,) state_t, which are copied
        trusted  True for records of this process's games: they are not validated (1.6 ms each)

        Raises BadState.
        """
        which = self._indices(which)
        if not trusted:
            validate_states(states)
        self.states.view(np.uint8).reshape(self.n, -1)[which] = states.view(np.uint8).reshape(len(which), -1)
        for i in which:
            self.seeds[i] = draw_seed(self.states[i], self.rngs[i])
        reseed(self.states, which, self.steps)
        self._skip[which] = 0
        self.outcome[which] = 0
        self.rewards[which] = 0.0
        observe_games(self.states, which, self.reorder, self.observations, self.flat)

    def continue_from(self, states: np.recarray) -> None:
        """Replace all games by copies of these records of this process, (n,) state_t, with 0 steps; `seeds` stays."""
        restore_states(self.states, states)
        self.steps[:] = 0
        self._skip[:] = 0
        self.outcome[:] = 0
        self.rewards[:] = 0.0
        observe_games(self.states, self._all, self.reorder, self.observations, self.flat)

    def _kind_of_run(self, options: Mapping[str, Any]) -> tuple[int, int, int]:
        """Return deck, stake and challenge of runs with these options; a challenge replaces deck and stake."""
        if options.get("challenge") is not None:
            return run_numbers(options.get("deck", "b_red"), options.get("stake", 1), options["challenge"])
        if "challenge" in options or "deck" in options or "stake" in options:
            return run_numbers(options.get("deck", self.deck), options.get("stake", self.stake), None)
        return self.deck, self.stake, self.challenge

    def refused(self, actions: NDArray[np.int64], renew: NDArray[np.bool_] | None = None) -> int:
        """Return the first game whose action is illegal, or -1. Actions of games to renew are ignored."""
        skip = self._skip if renew is None else renew.view(np.uint8)
        actions = self._fit(actions)
        return int(first_refused(self.states, actions, self.discrete, self.reorder, skip))

    def _fit(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the actions in the type and shape that compiled code requires. Raises BadValue."""
        if actions.__class__ is np.ndarray and actions.dtype is INT64 and actions.shape == self.rewards.shape:
            return actions
        return whole_numbers("actions", actions, (self.n,))

    def step(self, actions: NDArray[np.int64], renew: NDArray[np.bool_] | None = None) -> None:
        """Play one action in every game and fill all buffers.

        actions  (n,) int64
        renew    (n,) bool: these games are reset instead, with reward 0 (Gymnasium's NEXT_STEP)
        """
        skip, actions = self._skip, self._fit(actions)
        if renew is not None and renew.any():
            self._deal(np.flatnonzero(renew))
            skip = renew.view(np.uint8)
        own = self.reward if isinstance(self.reward, PythonReward) else None
        before = own.before(self.states) if own else None
        step_observe_all(
            self.states,
            actions,
            self.discrete,
            self.reorder,
            self.goal,
            self.limit,
            self.weights,
            skip,
            self._before,
            self.steps,
            self.observations,
            self.flat,
            self.rewards,
            self.outcome,
        )
        if own:
            self._pay(own.after(before, self.states, self.outcome), skip)

    def _pay(self, rewards: NDArray[np.float64], skip: NDArray[np.uint8]) -> None:
        """Store the rewards (n,) of a PythonReward; games that were reset get 0. Raises BadPlugin."""
        if np.shape(rewards) != (self.n,):
            raise BadPlugin(f"{self.reward.name} returned rewards of shape {np.shape(rewards)}, expected ({self.n},)")
        if np.asarray(rewards).dtype.kind not in "fiu" or not np.isfinite(rewards).all():
            raise BadPlugin(f"{self.reward.name} returned {shown(rewards)}: rewards must be finite numbers")
        self.rewards[:] = np.where(skip, 0.0, rewards)

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """The games that were won or lost in the last step, (n,)."""
        return (self.outcome == Outcome.WON) | (self.outcome == Outcome.LOST)

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """The games that were truncated in the last step, (n,)."""
        return self.outcome == Outcome.TRUNCATED

    def observed(self) -> dict[str, NDArray[Any]]:
        """Return the observations as a dict of views, (n, ...) each."""
        return {name: self.observations[name] for name in OBSERVED}

    def info(self) -> dict[str, NDArray[Any]]:
        """Return the contents of Gymnasium's info for every game, (n,) each; new arrays."""
        read_games(self.states, self._numbers, self._amounts)
        return {
            "ante": self._numbers[:, 0].copy(),
            "round": self._numbers[:, 1].copy(),
            "blinds": self._numbers[:, 4].copy(),
            "blind": BLIND_NAMES[self._numbers[:, 3]],
            "chips": self._amounts[:, 0].copy(),
            "target": self._amounts[:, 1].copy(),
            "overflows": self._numbers[:, 5].copy(),
            "money": self._numbers[:, 2].copy(),
            "outcome": OUTCOME_NAMES[self.outcome],
            "seed": self.seeds.copy(),
            "action_mask": self.masks.copy(),
        }
