"""Highlights: first wins, best and oddest games of training by the rules of `ante.watch.highlights`.

The hook records the actions of the games in play. A finished game that is better than all earlier ones of its runner by
a rule is added to the runner's metrics. The driver compares the games of all runners and writes the best ones at
checkpoints (`ante.training.run.highlights`).
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.challenges import CHALLENGES
from ante.catalog.constants import WIN_ANTE
from ante.catalog.decks import DECKS
from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.env.replay import Heading
from ante.training.sampling.fragment import Trajectory
from ante.training.sampling.hooks import RunnerHook
from ante.training.sampling.saved_games import array_like
from ante.watch.highlights import ahead, first_win, hand_rank

if TYPE_CHECKING:
    from ante.training.sampling.runner import BatchRunner

HIGHLIGHTS = "highlights"  # key in the metrics of runners


@dataclass(frozen=True)
class PlayedGame:
    """A finished game, played from its beginning.

    actions   (decisions,) int64, discrete actions if `discrete`, else macro decisions
    total     sum of rewards
    figures   its figure by rule, without the rules that exclude it
    """

    heading: Heading
    actions: NDArray[np.int64] = field(repr=False)
    discrete: bool
    total: float
    figures: dict[str, float]

    def saved(self) -> dict[str, Any]:
        """Return the game as plain values, for checkpoints."""
        return vars(self) | {"heading": vars(self.heading)}


def read_game(saved: dict[str, Any]) -> PlayedGame:
    """Return a game from the values of `PlayedGame.saved`. Raises TypeError or KeyError."""
    return PlayedGame(**saved | {"heading": Heading(**saved["heading"])})


class BestGames:
    """The best games by rule.

    games    the game that is best by each rule, until it is taken
    figures  its figure by rule, also after that
    """

    def __init__(self) -> None:
        self.games: dict[str, PlayedGame] = {}
        self.figures: dict[str, float] = {}

    def add(self, games: Iterable[PlayedGame]) -> None:
        """Add each game to `games` for the rules by which it is best."""
        for game in games:
            for rule in ahead(game.figures, self.figures):
                self.games[rule], self.figures[rule] = game, game.figures[rule]

    def take(self) -> list[PlayedGame]:
        """Empty `games` and return each game once."""
        taken = list({id(game): game for game in self.games.values()}.values())
        self.games = {}
        return taken


class Highlights(RunnerHook):
    """Records the actions of all games and keeps the best games. It does not affect them.

    Games that started from a saved position, or before this runner did, cannot be replayed and are left out.
    """

    def __init__(self, runner: "BatchRunner") -> None:
        super().__init__(runner)
        self.best = BestGames()
        self._recorded: NDArray[np.int64]
        self._highest_hand: NDArray[np.float64]
        self._whole: NDArray[np.bool_]

    def dealt(self, seeds: np.random.SeedSequence, before: Games | None) -> None:
        """See RunnerHook."""
        self._prepare()

    def saved(self) -> dict[str, Any]:
        """See RunnerHook: the actions of the games in progress, one after the other, and the best figures."""
        steps = self._recorded
        played = [actions[:n] for actions, n in zip(self._actions, steps, strict=True)]
        return {
            "steps": steps.copy(),
            "actions": np.concatenate(played),
            "highest_hand": self._highest_hand.copy(),
            "whole": self._whole.copy(),
            "figures": dict(self.best.figures),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """See RunnerHook."""
        self._prepare()
        self._recorded = array_like(saved["steps"], self._recorded, "steps of highlights").copy()
        self._highest_hand = array_like(saved["highest_hand"], self._highest_hand, "highest hands").copy()
        self._whole = array_like(saved["whole"], self._whole, "games that are whole").copy()
        if not ((self._recorded >= 0) & (self._recorded < self.games.limit)).all():
            raise ValueError("the steps of highlights are out of range")
        actions = array_like(saved["actions"], np.empty(self._recorded.sum(), dtype=np.int64), "actions of highlights")
        for i, played in enumerate(np.split(actions, np.cumsum(self._recorded)[:-1])):
            self._actions[i, : len(played)] = played
        self.best.figures = {str(rule): float(figure) for rule, figure in saved["figures"].items()}

    def _prepare(self) -> None:
        n = self.games.n
        self._all = np.arange(n)
        self._actions = np.empty((n, self.games.limit), dtype=np.int64)  # memory is used for the steps that are played
        self._highest_hand = np.zeros(n)
        self._recorded = np.zeros(n, dtype=np.int64)  # steps of the current games at the end of a fragment
        self._whole = np.ones(n, dtype=np.bool_)  # games whose steps are all recorded

    def fragment_begins(self, steps: int) -> None:
        """See RunnerHook."""
        self._whole &= self.games.steps == self._recorded
        self._states = self.games.states.view(
            np.ndarray
        )  # SPEED: a view of recarrays takes longer than a step's record
        self._totals = self._states["hand_total"]

    def stepped(self, t: int) -> None:
        """See RunnerHook."""
        self._actions[self._all, self.games.steps - 1] = self.runner.decisions
        np.maximum(self._highest_hand, self._totals, out=self._highest_hand)

    def ended(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        games, states = self.games, self._states
        phases, won = states["phase"][which], games.outcome[which] == Outcome.WON
        figures = {
            "highest_hand": self._highest_hand[which],
            "most_blinds": states["round_number"][which] - ((phases == Phase.PLAY) | (phases == Phase.OVER)),
            "longest_game": states["decisions"][which],
        }
        promising = won if games.goal == WIN_ANTE else np.zeros_like(won)
        for rule, column in figures.items():
            promising = promising | (column > self.best.figures.get(rule, -1.0))
        promising &= self._whole[which] & ~self.runner.begun[which]
        for row in np.flatnonzero(promising).tolist():
            found = {rule: min(float(column[row]), sys.float_info.max) for rule, column in figures.items()}
            self.best.add([self._game(int(which[row]), found)])

    def _heading(self, i: int) -> Heading:
        games = self.games
        deck, challenge = DECKS[games.decks[i]].key, CHALLENGES[games.challenges[i]].key or None
        return Heading(games.seeds[i], deck, int(games.stakes[i]), challenge)

    def _game(self, i: int, figures: dict[str, float]) -> PlayedGame:
        """Return a finished game, with the figures of wins added if it was won."""
        games, heading, s = self.games, self._heading(i), self.games.states[i]
        if games.outcome[i] == Outcome.WON and games.goal == WIN_ANTE:
            best_hand = int(np.flatnonzero(s.plays)[0])  # hands are numbered from the best one
            figures = figures | {"shortest_win": figures["longest_game"], "fewest_jokers": float(s.n_jokers)}
            figures |= {"best_poker_hand": float(hand_rank(best_hand)), first_win(heading): 1.0}
        total = float(self.runner.tally.returns[i] + games.rewards[i])
        return PlayedGame(heading, self._actions[i, : games.steps[i]].copy(), games.discrete, total, figures)

    def renewed(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        self._highest_hand[which] = 0.0
        self._whole[which] = True

    def finish(self, trajectory: Trajectory) -> None:
        """See RunnerHook."""
        self._recorded[:] = self.games.steps

    def metrics(self) -> dict[str, Any]:
        """See RunnerHook."""
        return {HIGHLIGHTS: self.best.take()}
