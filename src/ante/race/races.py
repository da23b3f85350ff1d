"""A batch of races: two batches of games, one for each seat, which the rules of the race connect."""

from collections import namedtuple
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Player
from ante.checks import whole_number
from ante.engine.actions import N_DISCRETE, Verb, verb_of
from ante.env.games import MAX_DECISIONS, Games, Outcome, observe_games
from ante.race.rules import (
    ILLEGAL,
    NO_SEAT,
    SEATS,
    announce_duels,
    banned_bits,
    decision_of,
    is_before_duel,
    is_waiting,
    lose_round,
    new_races,
    referee,
)

WAIT = N_DISCRETE  # the only legal action of a seat that waits

# What a player sees of the race, in addition to its own game.
VIEW: Any = namedtuple(
    "VIEW",
    (
        "lives",
        "opponent_lives",
        "duel",  # 1 during a duel
        "waiting",  # 1 = the player has selected a duel, or has no hand left in it
        "opponent_log_score",  # log10(1 + the opponent's chips in the duel), 0 without a duel
        "opponent_hands",  # the opponent's hands left in the duel, 0 without a duel
    ),
)
COLUMN = VIEW(*range(len(VIEW._fields)))
LARGEST_LOG_SCORE = 400.0  # of a score beyond the largest number


class Result(IntEnum):
    """The result of a race for one player."""

    PLAYING = 0
    WON = 1
    LOST = 2
    DRAWN = 3  # both players lost their last life in the same step
    TRUNCATED = 4  # max_decisions reached


class Races:
    """n races, each with two seats.

    games  the games of each seat; observations and masks are those of single games
    races  (n,) race_t
    seeds  n game seeds, the same for both seats

    deck, stake, seed  of every race, as in `Games`
    discrete, reorder  of each seat, as in `Games`
    max_decisions      steps of a seat after which a race is truncated

    Raises the errors of `Games`.
    """

    def __init__(
        self,
        n: int,
        deck: str | int = "b_red",
        stake: int = 1,
        seed: str | None = None,
        discrete: tuple[bool, bool] = (True, True),
        reorder: tuple[str, str] = ("all", "all"),
        max_decisions: int = MAX_DECISIONS,
        flat: bool = True,
        rngs: Sequence[np.random.Generator] | None = None,
    ) -> None:
        self.n = n
        self.limit = whole_number("max_decisions", max_decisions, 1)
        self.games = tuple(
            Games(n, deck, stake, seed, reorder=order, endless=True, flat=flat, discrete=kind, rngs=rngs)
            for kind, order in zip(discrete, reorder, strict=True)
        )
        for games in self.games:
            games.states.locked |= banned_bits()
        self.races = new_races(n)

    @property
    def seeds(self) -> NDArray[np.object_]:
        """The game seeds, (n,)."""
        return self.games[0].seeds

    def reset(self, options: dict[str, Any] | None = None) -> None:
        """Start all races. options: those of `Games.reset`. Raises its errors, before anything changes."""
        one, other = self.games
        one.reset(options=options)
        other.reset(options={**(options or {}), "seed": list(one.seeds)})
        self.races = new_races(self.n)

    def waiting(self) -> NDArray[np.bool_]:
        """Return which seats cannot act now, (n, 2)."""
        races = self.races
        stopped = (races.over != 0) | self.truncated
        return (races.ready != 0) | (races.finished != 0) | stopped[:, None]

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """The races that ended at max_decisions, (n,)."""
        steps = np.maximum(self.games[0].steps, self.games[1].steps)
        return (steps >= self.limit) & (self.races.over == 0)

    @property
    def ended(self) -> NDArray[np.bool_]:
        """The races that are over or truncated, (n,)."""
        return (self.races.over != 0) | self.truncated

    def refused(self, actions: NDArray[np.int64], acting: NDArray[np.bool_]) -> tuple[int, int] | None:
        """Return race and seat of the first illegal action, or None: actions and acting (n, 2)."""
        for i, seat in np.argwhere(acting):
            waits = is_waiting(self.races[i], seat)
            if waits or self._decision(i, seat, actions) == ILLEGAL:
                return int(i), int(seat)
        return None

    def _decision(self, i: int, seat: int, actions: NDArray[np.int64]) -> int:
        games = self.games[seat]
        return decision_of(games.states[i], int(actions[i, seat]), games.discrete, games.reorder)

    def step(self, actions: NDArray[np.int64], acting: NDArray[np.bool_] | None = None) -> None:
        """Play one action of each seat that acts, and observe the games.

        actions  (n, 2) int64; those of waiting seats are ignored, illegal ones change nothing
        acting   (n, 2) bool, by default both seats of every race
        """
        acting = ~self.waiting() if acting is None else acting & ~self.waiting()
        changed = np.zeros(self.n, dtype=np.bool_)
        for seat in range(SEATS):
            changed |= self._play(seat, actions, acting[:, seat])
        races = self.races
        due = (races.duel != 0) | races.ready.all(axis=1) | (races.lives <= 0).any(axis=1)
        for i in np.flatnonzero(due & acting.any(axis=1)):
            referee(self.games[0].states[i], self.games[1].states[i], races[i])
            changed[i] = True
        for games in self.games:
            changed |= announce_duels(games.states)
        for games in self.games:
            observe_games(games.states, np.flatnonzero(changed), games.reorder, games.observations, games.flat)

    def _play(self, seat: int, actions: NDArray[np.int64], acting: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Play the actions of a seat where it acts (n,). Returns in which games its round was lost, (n,)."""
        games, races, plays = self.games[seat], self.races, acting.copy()
        for i in np.flatnonzero(acting & is_before_duel(games.states)):
            decision = self._decision(i, seat, actions)
            if decision != ILLEGAL and verb_of(decision) == Verb.SELECT_BLIND:
                races[i].ready[seat] = 1
                plays[i] = False
        games.states.target[plays & (races.duel != 0)] = np.inf  # a duel continues beyond the opponent's score
        games.step(np.where(plays, actions[:, seat], ILLEGAL))
        games.steps[~acting] -= 1
        lost = plays & (games.outcome == Outcome.LOST)
        for i in np.flatnonzero(lost):
            lose_round(games.states[i], races[i], seat)
        return lost

    def results(self, seat: int) -> NDArray[np.uint8]:
        """Return the Result of each race for a seat, (n,)."""
        races = self.races
        found = np.where(races.winner == seat, Result.WON, Result.LOST)
        found = np.where(races.winner == NO_SEAT, Result.DRAWN, found)
        found = np.where(races.over != 0, found, Result.PLAYING)
        return np.where(self.truncated, Result.TRUNCATED, found).astype(np.uint8)

    def view(self, seat: int) -> NDArray[np.float32]:
        """Return what the player at a seat sees of the race, (n, len(VIEW)); columns by COLUMN."""
        races, opponent = self.races, self.games[1 - seat].states
        out = np.zeros((self.n, len(COLUMN)), dtype=np.float32)
        out[:, COLUMN.lives] = races.lives[:, seat]
        out[:, COLUMN.opponent_lives] = races.lives[:, 1 - seat]
        out[:, COLUMN.duel] = races.duel
        out[:, COLUMN.waiting] = (races.ready[:, seat] != 0) | (races.finished[:, seat] != 0)
        in_duel = races.duel != 0
        out[in_duel, COLUMN.opponent_log_score] = np.nan_to_num(
            np.log10(1.0 + opponent.chips[in_duel]), nan=LARGEST_LOG_SCORE, posinf=LARGEST_LOG_SCORE
        )
        out[in_duel, COLUMN.opponent_hands] = np.where(
            races.finished[in_duel, 1 - seat], 0, opponent.hands_left[in_duel]
        )
        return out


def play_races(players: tuple[Player, Player], seeds: Sequence[str], **settings: Any) -> Races:
    """Play one race for each seed to its end, both players acting in every step, and return the races.

    settings  of `Races`
    """
    one, other = players
    races = Races(
        len(seeds),
        discrete=(one.discrete, other.discrete),
        reorder=(one.reorder, other.reorder),
        **settings,
    )
    races.reset({"seed": list(seeds)})
    actions = np.full((races.n, SEATS), -1, dtype=np.int64)
    while not races.ended.all():
        waiting = races.waiting()
        for seat, player in enumerate(players):
            if not waiting[:, seat].all():
                actions[:, seat] = player.choose(races.games[seat], ~waiting[:, seat])
        races.step(actions)
    return races
