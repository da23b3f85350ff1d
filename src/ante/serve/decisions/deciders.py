"""Deciders: players that decide single positions, with probabilities and values where they have them.

A player usually follows whole games. The service sees positions one at a time, so a decider places them into a table of
games, in which the player decides. A player that remembers earlier decisions is refused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Player
from ante.engine.actions import Verb, to_macro, verb_of
from ante.engine.core.state import MAX_HAND
from ante.env.games import Games
from ante.errors import BalatroError
from ante.search.player import NotSearchable, SearchPlayer, Settings, finding_text
from ante.search.protocol import Positions, Searchable, Thinker
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.training.acting.player import PolicyPlayer
from ante.training.acting.thinker import ShortlistThinker
from ante.training.players.advised import AdvisedPlayer
from ante.training.policies.protocol import GameState, on_host

MOST_OPTIONS = 16
MOST_SELECTIONS = 2 * MAX_HAND  # of cards, one by one, until a player of the discrete view must have decided
SEEDS = "POSITION"  # seed of every placed game: no player may depend on the real one


class CannotDecide(BalatroError):
    """A player that cannot decide single positions."""


class Undecided(RuntimeError):
    """A player that selects cards without end."""


@dataclass
class Choice:
    """One decision.

    decision    macro decision
    strategy    what decided
    confidence  probability of the decision; None for players without probabilities
    value       the player's estimate of the position
    options     macro decisions with their probabilities, the likeliest first
    """

    decision: int
    strategy: "pb.Strategy"
    confidence: float | None = None
    value: float | None = None
    options: Sequence[tuple[int, float]] = ()
    used_llm: bool = False
    reason: str = ""


class Decider(Protocol):
    """What the service needs of a player."""

    @property
    def name(self) -> str:
        """Name of the player."""

    @property
    def digest(self) -> str:
        """Seal of its model, SHA-256 in hex; empty without one."""

    @property
    def strategy(self) -> "pb.Strategy":
        """What decides, unless a single decision states otherwise."""

    @property
    def discrete(self) -> bool:
        """Whether its tables have the discrete view."""

    @property
    def reorder(self) -> str:
        """The reordering that it uses."""

    def decide(self, games: Games, until: float = math.inf) -> list[Choice]:
        """Return a choice for every game, none of which is over. The games may be changed.

        until  by time.monotonic(), when a player that can should end its search
        """


class Tables:
    """Tables of games by their size, for positions that are decided together."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, bool, str], Games] = {}

    def place(self, states: np.recarray, decider: Decider) -> Games:
        """Return a table with copies of these positions, (n,) state_t, observed."""
        key = len(states), decider.discrete, decider.reorder
        games = self._tables.get(key)
        if games is None:
            games = Games(len(states), discrete=decider.discrete, reorder=decider.reorder, endless=True)
            games.seeds[:] = [f"{SEEDS}{i}" for i in range(games.n)]
            self._tables[key] = games
        games.continue_from(states)
        return games


@dataclass
class ThinkingDecider:
    """A shortlist policy, with or without search: the most likely candidate, or the best one found."""

    name: str
    digest: str
    reorder: str
    thinker: Thinker
    searcher: SearchPlayer | None = None
    discrete: bool = field(default=False, init=False)

    @property
    def strategy(self) -> "pb.Strategy":
        """Search or policy."""
        return pb.STRATEGY_SEARCH if self.searcher else pb.STRATEGY_POLICY

    def decide(self, games: Games, until: float = math.inf) -> list[Choice]:
        """See Decider."""
        positions = Positions(games.states, games.observations, games.flat, games.reorder)
        views = self.thinker.view(positions)
        order = np.argsort(-views.log_probs, axis=1, kind="stable")[:, :MOST_OPTIONS]
        rows = np.arange(len(order))[:, None]
        chances = np.exp(views.log_probs[rows, order].astype(np.float64))
        decisions = views.decisions[rows, order]
        options = [
            [(d, p) for d, p in zip(row, likely, strict=True) if p > 0.0]
            for row, likely in zip(decisions.tolist(), chances.tolist(), strict=True)
        ]
        found = [
            Choice(listed[0][0], pb.STRATEGY_POLICY, listed[0][1], float(rating), listed)
            for listed, rating in zip(options, views.ratings, strict=True)
        ]
        if self.searcher:
            self._search(self.searcher, positions, found, until)
        return found

    def _search(self, searcher: SearchPlayer, positions: Positions, found: list[Choice], until: float) -> None:
        """Replace choices by what search finds; every decision has the whole budget of one."""
        budget = np.full(len(found), searcher.allowance())
        for i, (choice, finding) in enumerate(zip(found, searcher.search(positions, budget, until), strict=True)):
            if finding.comparison is not None:
                choice.strategy, choice.decision = pb.STRATEGY_SEARCH, finding.decision
                choice.confidence = dict(choice.options).get(finding.decision)
                choice.reason = finding_text(positions.states[i], finding)


@dataclass
class StepwiseDecider:
    """Any other player: it acts in the table until its decision is complete, card by card in the discrete view."""

    name: str
    digest: str
    player: Player
    strategy: "pb.Strategy"

    @property
    def discrete(self) -> bool:
        """As the player."""
        return self.player.discrete

    @property
    def reorder(self) -> str:
        """As the player."""
        return self.player.reorder

    def decide(self, games: Games, until: float = math.inf) -> list[Choice]:
        """See Decider. Raises Undecided."""
        found: list[Choice | None] = [None] * games.n
        chances = np.ones(games.n)
        for _ in range(MOST_SELECTIONS):
            open_ones = np.array([each is None for each in found])
            actions, likely, values = self._acted(games, open_ones)
            chances *= np.where(open_ones, 1.0 if likely is None else likely, 1.0)
            for i in np.flatnonzero(open_ones):
                decision = int(to_macro(games.states[i], actions[i])) if self.discrete else int(actions[i])
                if verb_of(decision) > Verb.CLEAR:
                    sure = None if likely is None else float(chances[i])
                    found[i] = Choice(decision, self.strategy, sure, None if values is None else float(values[i]))
                    actions[i] = -1
            done = [each for each in found if each is not None]
            if len(done) == games.n:
                return done
            games.step(np.where(open_ones, actions, -1))
        raise Undecided(f"{self.name} has selected cards {MOST_SELECTIONS} times without a decision")

    def _acted(
        self, games: Games, playing: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any] | None, NDArray[Any] | None]:
        """Return actions, their probabilities and the values of the positions, (n,) each; None if unknown."""
        policy = self.player.policy if isinstance(self.player, PolicyPlayer) else None
        if policy is None or not hasattr(policy, "action_log_probs"):
            return self.player.choose(games, playing), None, None
        rows, state = np.zeros(games.n, dtype=policy.row_t), policy.make_state(games.n)
        state.begin_fragment(0)
        policy.pack(games, rows)
        state.observe(games, rows)
        logs, values, _ = policy.action_log_probs(state.view(rows))
        logs = on_host(logs)
        best = logs.argmax(axis=1)
        return policy.decisions(rows, best), np.exp(logs.max(axis=1)), on_host(values)


@dataclass
class AdvisedDecider(StepwiseDecider):
    """A policy with an advisor, which decides where the policy is unsure and the budget permits.

    Attributes:
        player: The policy with advisor.
        alone: The policy without advisor, for probabilities and values; None for others than shortlists.
    """

    player: AdvisedPlayer
    alone: ThinkingDecider | None = None

    def decide(self, games: Games, until: float = math.inf) -> list[Choice]:
        """See Decider."""
        views = self.alone.decide(games) if self.alone else []
        try:
            found = super().decide(games)
            for choice, view in zip(found, views, strict=bool(views)):
                choice.options, choice.value = view.options, view.value
                choice.confidence = dict(view.options).get(choice.decision)
            hints = {seed: hint for (seed, _), hint in self.player.hints.items()}
            for choice, seed in zip(found, games.seeds, strict=True):
                if hint := hints.get(seed):
                    choice.strategy, choice.used_llm = pb.STRATEGY_HINTS, self.player.asks_llm
                    choice.reason = str(hint["text"])
            return found
        finally:
            self.player.forget()


def decider_of(name: str, digest: str, player: Player) -> Decider:
    """Return the decider of a player. Raises CannotDecide."""
    if isinstance(player, SearchPlayer):
        whole = SearchPlayer(player.player, player.budget, Settings(share=math.inf))
        assert isinstance(player.player, Searchable), "SearchPlayer checks it"
        return ThinkingDecider(player.name, digest, player.reorder, player.player.thinker(), whole)
    if isinstance(player, AdvisedPlayer):
        check_memory(player.name, player.policy)
        return AdvisedDecider(player.name, digest, player, pb.STRATEGY_POLICY, thinking(player.alone, digest))
    if isinstance(player, PolicyPlayer):
        check_memory(player.name, player.policy)
        return thinking(player, digest) or StepwiseDecider(name, digest, player, pb.STRATEGY_POLICY)
    return StepwiseDecider(name, digest, player, pb.STRATEGY_SCRIPTED)


def thinking(player: PolicyPlayer, digest: str) -> ThinkingDecider | None:
    """Return the decider of a shortlist policy; None for other policies."""
    try:
        thinker = player.thinker()
    except NotSearchable:
        return None
    if not isinstance(thinker, ShortlistThinker):
        return None
    return ThinkingDecider(player.name, digest, player.reorder, thinker)


def check_memory(name: str, policy: Any) -> None:
    """Raise CannotDecide if a policy remembers earlier decisions of its game."""
    if type(policy.make_state(1)) is not GameState:
        raise CannotDecide(
            f"{name} cannot be served: a {type(policy).__name__} remembers earlier decisions, and a position does not "
            "contain them; serve a policy without memory, such as shortlist, mlp or entities"
        )
