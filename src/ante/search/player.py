"""A player that searches: it compares its candidates by simulations before it decides."""

import hashlib
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Player
from ante.engine.core.records import as_records
from ante.env.games import REORDERS, Games
from ante.env.text import macro_name
from ante.errors import BalatroError
from ante.search.beyond import disabling_sales
from ante.search.budget import Budget
from ante.search.phases import PHASES, PRIORS, Prior, phases_of
from ante.search.protocol import Positions, Searchable
from ante.search.racing import Comparison, raced
from ante.search.rollouts import Simulator
from ante.watch.notes import Explained, Note

FIRST_COST = 1.0  # milliseconds of one simulation before any is measured
KEPT = 10_000  # findings of single games, for notes
AVERAGED = 20_000  # simulations over which its cost is averaged


class NotSearchable(BalatroError):
    """A player that search cannot improve."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"--search is not supported with {name}: {reason}; use a shortlist policy such as white-stake")


@dataclass(frozen=True)
class Settings:
    """Settings of a search, chosen on tuning seeds (docs/explanation/search.md).

    candidates   number of the player's likeliest decisions that are compared at most
    least        least probability of such a candidate
    rounds       rounds until a simulation is cut; decisions until then at most
    share        part of the saved budget that one decision uses at most, times the weight of its phase
    doubt        a candidate is dropped if its advantage is below 0, or below the best one, by this many deviations
    version      of the method; campaigns do not mix results of different versions
    """

    candidates: int = 6
    least: float = 0.002
    rounds: int = 3
    decisions: int = 60
    share: float = 0.3
    doubt: float = 1.5
    version: int = 4


@dataclass(frozen=True)
class Finding:
    """What was searched for one decision.

    comparison  the candidates and their ratings; None if nothing was searched
    chosen      index of the chosen candidate, 0 for the player's own decision
    """

    decision: int
    comparison: Comparison | None
    chosen: int

    @property
    def gain(self) -> float:
        """The expected gain of a change in percent of wins, otherwise 0."""
        return 100.0 * self.comparison.advantage(self.chosen)[0] if self.comparison and self.chosen else 0.0


class SearchPlayer:
    """Improves a player's decisions by search; itself a player for evaluation, videos and the terminal.

    Args:
        player: The player to improve.
        budget: Mean budget per decision.
        settings: Settings of the search.
        seed: Seed of the worlds. Decisions depend on it, on what is seen and, for a budget in milliseconds, on time.
    """

    def __init__(self, player: Player, budget: Budget, settings: Settings | None = None, seed: int = 0) -> None:
        if not isinstance(player, Searchable):
            raise NotSearchable(player.name, "it has no policy with candidates and values")
        self.name, self.discrete, self.reorder = f"{player.name} with search {budget}", False, player.reorder
        self.budget, self.settings, self.seed = budget, settings or Settings(), seed
        self._thinker = player.thinker()
        self._simulator = Simulator(
            self._thinker, REORDERS[player.reorder], self.settings.rounds, self.settings.decisions
        )
        self._games: Games | None = None
        self._saved = np.zeros(0)
        self._cost, self._measured = FIRST_COST, 0
        self.player = player
        self._kept: OrderedDict[bytes, Finding] = OrderedDict()
        self.findings: list[Finding] = []

    @property
    def digest(self) -> str:
        """The digest of the player's weights; empty if it has none."""
        return str(getattr(self.player, "digest", ""))

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a macro decision for each game (n,) int64, -1 where a game is over."""
        which = np.flatnonzero(playing)
        self._save(games, which)
        actions = np.full(games.n, -1, dtype=np.int64)
        found = self.search(Positions.of(games, which), self._saved[which])
        for i, finding in zip(which, found, strict=True):
            actions[i] = finding.decision
            if games.n == 1:
                self._keep(games.states.tobytes(), finding)
            self._saved[i] -= finding.comparison.simulations if finding.comparison else 0
        self.findings = found
        return actions

    def explain(self, games: Games, taken: int) -> Note:
        """Return the player's Note on a decision of one game, with what was searched; see `watch.notes.Explained`."""
        key = games.states.tobytes()
        if key not in self._kept:
            self.choose(games, np.ones(1, dtype=np.bool_))
        found = self._kept[key]
        note = self.player.explain(games, taken) if isinstance(self.player, Explained) else Note(None, (), None)
        return replace(note, search=finding_text(games.states[0], found))

    def _keep(self, key: bytes, finding: Finding) -> None:
        """Store a finding for `explain`, and drop the oldest one beyond KEPT."""
        self._kept[key] = finding
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _save(self, games: Games, which: NDArray[np.int64]) -> None:
        """Add the budget of one decision, in simulations, to that of each game; a new game starts with one."""
        if self._games is not games:
            self._games, self._saved = games, np.zeros(games.n)
        self._saved[games.steps == 0] = 0.0
        self._saved[which] += np.where(
            self._searched(phases_of(as_records(games.states, which))), self.allowance(), 0.0
        )

    def _searched(self, phases: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these phases, indices in PHASES, the budget is for."""
        if self.budget.phase is None:
            return np.ones(len(phases), dtype=np.bool_)
        return phases == PHASES.index(self.budget.phase)

    def allowance(self) -> float:
        """Return the budget of one decision in simulations, at their measured cost."""
        return self.budget.simulations or self.budget.milliseconds / self._cost

    def search(self, positions: Positions, saved: NDArray[np.float64], until: float = math.inf) -> list[Finding]:
        """Return a finding for each position.

        Args:
            positions: The n positions.
            saved: (n,) the number of simulations that each may use at most.
            until: By time.monotonic(), when the search should end. It then returns the best decisions found so far.
        """
        begun = time.process_time()
        views, phases = self._thinker.view(positions), phases_of(positions.states)
        in_time = 1000.0 * max(0.0, until - time.monotonic()) / self._cost / len(saved)
        saved = np.where(self._searched(phases), np.minimum(saved, in_time), 0.0)
        comparisons = [
            self._comparison(positions, views.decisions[i], views.log_probs[i], i, float(saved[i]), PRIORS[phases[i]])
            for i in range(len(saved))
        ]
        simulations = 0
        while time.monotonic() < until and (open_ones := [i for i, each in enumerate(comparisons) if each.open()]):
            simulations += self._stage(positions, comparisons, open_ones)
        self._measure(begun, simulations)
        return [self._finding(each) for each in comparisons]

    def _measure(self, begun: float, simulations: int) -> None:
        """Update the cost of a simulation, in milliseconds; the first search also loads code and does not count."""
        elapsed = 1000.0 * (time.process_time() - begun)
        if simulations and self._measured:
            weight = max(1.0 / self._measured, min(1.0, simulations / AVERAGED))
            self._cost += weight * (elapsed / simulations - self._cost)
        self._measured += 1 if simulations else 0

    def _comparison(
        self,
        positions: Positions,
        decisions: NDArray[np.int64],
        log_probs: NDArray[np.float32],
        i: int,
        saved: float,
        prior: Prior,
    ) -> Comparison:
        """Return the candidates of one position, with their stages."""
        settings, allowance = self.settings, int(min(1.0, self.settings.share * prior.weight) * saved)
        listed = likeliest(decisions, log_probs, settings.least)[: settings.candidates]
        others = disabling_sales(positions.states[i])
        others = others[others != listed[0]]
        candidates = np.concatenate([listed[:1], others, listed[1:][~np.isin(listed[1:], others)]])
        count = raced(len(candidates), allowance)
        worlds = self._worlds(positions, i, allowance // 2) if count else np.zeros(0, dtype=np.uint64)
        return Comparison(candidates[: max(1, count)], worlds, allowance if count else 0, prior, settings.doubt)

    def _worlds(self, positions: Positions, i: int, n: int) -> NDArray[np.uint64]:
        """Return the seeds of n worlds, which depend on the player's seed and on what is seen of the position."""
        digest = hashlib.blake2b(positions.flat[i].tobytes(), digest_size=8).digest()
        rng = np.random.Generator(np.random.PCG64([self.seed, int.from_bytes(digest, "little")]))
        return rng.integers(1, 1 << 63, n, dtype=np.uint64)

    def _stage(self, positions: Positions, comparisons: list[Comparison], which: list[int]) -> int:
        """Simulate the next stage of comparisons. Returns the number of simulations."""
        games, worlds, actions = [], [], []
        for i in which:
            each = comparisons[i]
            seeds = each.worlds[each.next_worlds()]
            games.append(np.full(len(each.left) * len(seeds), i, dtype=np.int64))
            worlds.append(np.tile(seeds, len(each.left)))
            actions.append(np.repeat(each.decisions[each.left], len(seeds)))
        ratings = self._simulator.run(
            positions.states, np.concatenate(games), np.concatenate(worlds), np.concatenate(actions)
        )
        at = 0
        for i, part in zip(which, games, strict=True):
            each = comparisons[i]
            each.record(ratings[at : at + len(part)].reshape(len(each.left), -1))
            at += len(part)
        return len(ratings)

    def _finding(self, comparison: Comparison) -> Finding:
        """Return the decision of a comparison."""
        if not comparison.used:
            return Finding(int(comparison.decisions[0]), None, 0)
        chosen = comparison.chosen()
        return Finding(int(comparison.decisions[chosen]), comparison, chosen)


def likeliest(decisions: NDArray[np.int64], log_probs: NDArray[np.float32], least: float) -> NDArray[np.int64]:
    """Return different decisions (k,) by probability: the likeliest entry, then others of at least `least`.

    A list may contain a decision several times, such as a sale that makes room for either of two jokers. Their
    probabilities are added.
    """
    first = decisions[int(np.argmax(log_probs))]
    different, places = np.unique(decisions, return_inverse=True)
    chances = np.bincount(places, weights=np.exp(log_probs.astype(np.float64)))
    order = np.argsort(-chances, kind="stable")
    others = different[order[chances[order] >= least]]
    return np.concatenate([[first], others[others != first]])


def finding_text(s: Any, finding: Finding) -> str:
    """Return what was searched and why the choice changed, as text; empty if nothing was searched."""
    comparison = finding.comparison
    if comparison is None:
        return ""
    default = float(np.nanmean(comparison.ratings[0]))
    said = f"{len(comparison.decisions)} decisions in {comparison.simulations} simulations"
    best = finding.chosen or comparison.best_other()
    mean, error = comparison.gain(best)
    names = macro_name(s, int(comparison.decisions[0])), macro_name(s, int(comparison.decisions[best]))
    rated = (
        f"{names[1]} is rated {100 * mean:+.1f} ± {100 * error:.1f} points against {names[0]} ({100 * default:.0f} %)"
    )
    return f"{said}; {'changed: ' if finding.chosen else 'kept: '}{rated}"
