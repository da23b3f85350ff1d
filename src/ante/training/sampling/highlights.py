"""Highlights: first wins, best and oddest games of training by the rules of `ante.watch.highlights`.

The hook records the actions of the games in play. A finished game that is better than all earlier ones of its runner by
a rule is added to the runner's metrics. The driver compares the games of all runners and writes the best ones at
checkpoints (`ante.training.run.highlights`).
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
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


class BestGames:
    """The best games by rule.

    games  the game that is best by each rule
    """

    def __init__(self) -> None:
        self.games: dict[str, PlayedGame] = {}
        self._figures: dict[str, float] = {}

    def add(self, games: Iterable[PlayedGame]) -> None:
        """Add each game to `games` for the rules by which it is best."""
        for game in games:
            for rule in ahead(game.figures, self._figures):
                self.games[rule], self._figures[rule] = game, game.figures[rule]

    def is_ahead(self, figures: Mapping[str, float]) -> bool:
        """Return whether a game with these figures would be best by a rule."""
        return bool(ahead(figures, self._figures))

    def take(self) -> list[PlayedGame]:
        """Empty `games` and return each once. Later games are still compared with them."""
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

    def dealt(self, seeds: np.random.SeedSequence, before: Games | None) -> None:
        """See RunnerHook."""
        n = self.games.n
        self._all = np.arange(n)
        self._actions = np.empty((n, self.games.limit), dtype=np.int64)  # memory is used for the steps that are played
        self._highest_hand = np.zeros(n)
        self._recorded = np.zeros(n, dtype=np.int64)  # steps of the current games at the end of a fragment
        self._whole = np.ones(n, dtype=np.bool_)  # games whose steps are all recorded

    def fragment_begins(self, steps: int) -> None:
        """See RunnerHook."""
        self._whole &= self.games.steps == self._recorded

    def stepped(self, t: int) -> None:
        """See RunnerHook."""
        games = self.games
        self._actions[self._all, games.steps - 1] = self.runner.decisions
        np.maximum(self._highest_hand, games.states.view(np.ndarray)["hand_total"], out=self._highest_hand)

    def ended(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        which = which[self._whole[which] & ~self.runner.begun[which]]
        for i, figures in zip(which.tolist(), self._figures_of(which), strict=True):
            if self.best.is_ahead(figures):
                self.best.add([self._game(i, figures)])

    def _figures_of(self, which: NDArray[np.int64]) -> Iterator[dict[str, float]]:
        """Yield the figures of these finished games by rule."""
        games, states = self.games, self.games.states.view(np.ndarray)
        decisions, jokers = states["decisions"][which], states["n_jokers"][which]
        beaten = states["round_number"][which] - np.isin(states["phase"][which], (Phase.PLAY, Phase.OVER))
        highest = np.minimum(self._highest_hand[which], sys.float_info.max)
        rank = hand_rank((states["plays"][which] > 0).argmax(axis=1))  # hands are numbered from the best one
        won = (games.outcome[which] == Outcome.WON) & (games.goal == WIN_ANTE)
        all_games = {"highest_hand": highest, "most_blinds": beaten, "longest_game": decisions}
        wins = {"shortest_win": decisions, "fewest_jokers": jokers, "best_poker_hand": rank}
        for row, i in enumerate(which.tolist()):
            columns = all_games | wins if won[row] else all_games
            first = {first_win(self._heading(i)): 1.0} if won[row] else {}
            yield {rule: float(column[row]) for rule, column in columns.items()} | first

    def _heading(self, i: int) -> Heading:
        games = self.games
        deck, challenge = DECKS[games.decks[i]].key, CHALLENGES[games.challenges[i]].key or None
        return Heading(games.seeds[i], deck, int(games.stakes[i]), challenge)

    def _game(self, i: int, figures: dict[str, float]) -> PlayedGame:
        games, actions = self.games, self._actions[i, : self.games.steps[i]].copy()
        total = float(self.runner.tally.returns[i] + games.rewards[i])
        return PlayedGame(self._heading(i), actions, games.discrete, total, figures)

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
