"""Games that clients play step by step, limited in number, length and idle time."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ante.engine.core.records import as_records
from ante.engine.core.state import Phase, Status, copy_states
from ante.engine.run import new_seed, one_seed
from ante.engine.step import step
from ante.env.replay import Heading, RefusedDecision, action_text, outcome, read_decision, write_replay
from ante.env.story import changes, decision_words
from ante.env.text import describe, seed_of
from ante.errors import BalatroError, shown
from ante.hints.question import games_at, lists_of, options_of, without_seed
from ante.serve.mcp.results import Choice, EndedGame, GameView
from ante.watch.episode import begin, fingerprint

MOST_GAMES = 32
MOST_DECISIONS = 10_000  # of one game
IDLE_SECONDS = 3600.0  # after which a game may be replaced by another


class NoSuchGame(BalatroError, ValueError):
    """A game does not exist."""


class GameLimit(BalatroError, ValueError):
    """A limit of games or decisions is reached, or a decision is stale."""


@dataclass
class PlayedGame:
    """One game.

    states   (1,) state_t, the game now
    hidden   whether its seed is hidden until it ends
    used     when it was used last
    """

    heading: Heading
    states: np.recarray
    hidden: bool
    used: float
    actions: list[int] = field(default_factory=list)

    def play(self, decision: str, expected: str | None) -> str:
        """Take a decision and return its effects. Raises BadReplay, RefusedDecision, GameLimit; nothing changes then.

        expected  the state for which the decision was made; None to take it in any state
        """
        if expected is not None and expected != fingerprint(self.states[0]):
            raise GameLimit(f"state {shown(expected)} is not the current one: the game has moved on; show it again")
        if len(self.actions) >= MOST_DECISIONS:
            raise GameLimit(f"the game has {MOST_DECISIONS:,} decisions, the limit: end it and start another")
        before = copy_states(self.states)[0]
        action = played(self.states[0], decision)
        self.actions.append(action)
        words = [decision_words(before, action), *changes(before, self.states[0])]
        return "; ".join(word for word in words if word)

    def replay(self) -> str:
        """Return the game as a replay."""
        return write_replay(self.heading, self.actions)


def played(s: Any, decision: str) -> int:
    """Take a decision, written as in replays, and return it. Raises BadReplay, RefusedDecision."""
    if not decision.isascii() or "\n" in decision:
        raise RefusedDecision(f"{shown(decision)} is not a decision: write one line of ASCII, such as play 0,3,4")
    action = read_decision(decision.strip(), 1)
    if step(s, np.int64(action)) == Status.ILLEGAL:
        legal = ", ".join(choice.decision for choice in choices_of(s)[:12]) or "none, the game is over"
        raise RefusedDecision(f"{decision.strip()} is illegal now; legal are, among others: {legal}")
    return action


def position(heading: Heading, decisions: Sequence[str]) -> np.recarray:
    """Return the game after these decisions, (1,). Raises BadReplay, RefusedDecision and the errors of `begin`."""
    states = begin(heading)
    for number, decision in enumerate(decisions, 1):
        try:
            played(states[0], decision)
        except BalatroError as error:
            raise RefusedDecision(f"decision {number}: {str(error).removeprefix('line 1: ')}") from None
    return states


def choices_of(s: Any) -> list[Choice]:
    """Return the candidate decisions of a game."""
    return [choice_of(option.decision, option.name, option.facts) for option in candidates_of(s)[1]]


def candidates_of(s: Any) -> tuple[Any, list[Any]]:
    """Return the list of candidates of a game, candidates_t, and its legal options."""
    states = as_records(np.zeros(1, dtype=s.dtype))
    states[0] = s
    listed = lists_of(games_at(states, "jokers"))[0]
    return listed, options_of(s, listed)


def choice_of(decision: int, name: str, facts: str = "", probability: float | None = None) -> Choice:
    """Return a decision as a Choice."""
    return Choice(decision=action_text(decision), meaning=name, facts=facts, probability=probability)


class GameTable:
    """All games of a server, by identifier."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._games: dict[str, PlayedGame] = {}
        self._clock = clock
        self._rng = one_seed(None)

    def begin(self, heading: Heading | None, deck: str, stake: int) -> GameView:
        """Start a game; without a heading, with a hidden random seed. Raises GameLimit and the errors of `begin`."""
        self._make_room()
        given = heading or Heading(new_seed(self._rng).decode(), deck, stake)
        states = begin(given)
        name = secrets.token_hex(8)
        given = replace(given, seed=seed_of(states[0]))
        self._games[name] = PlayedGame(given, states, heading is None, self._clock())
        return self.view(name)

    def _make_room(self) -> None:
        """Drop games that were idle for too long if the table is full. Raises GameLimit."""
        if len(self._games) < MOST_GAMES:
            return
        now = self._clock()
        for name in [name for name, game in self._games.items() if now - game.used > IDLE_SECONDS]:
            del self._games[name]
        if len(self._games) >= MOST_GAMES:
            raise GameLimit(f"{MOST_GAMES} games are in progress, the limit: end one of them with end_game")

    def __getitem__(self, name: str) -> PlayedGame:
        """Return a game. Raises NoSuchGame."""
        if name not in self._games:
            raise NoSuchGame(f"there is no game {shown(name)}: start one with new_game")
        game = self._games[name]
        game.used = self._clock()
        return game

    def play(self, name: str, decision: str, expected: str | None) -> GameView:
        """Take a decision in a game. Raises NoSuchGame and the errors of `PlayedGame.play`."""
        happened = self[name].play(decision, expected)
        return self.view(name, happened)

    def view(self, name: str, happened: str = "") -> GameView:
        """Return a game as its player sees it. Raises NoSuchGame."""
        game = self[name]
        s = game.states[0]
        text = describe(without_seed(s)).replace(", seed \n", "\n", 1) if game.hidden else describe(s)
        return GameView(
            game=name,
            seed=None if game.hidden else game.heading.seed,
            deck=game.heading.deck,
            stake=game.heading.stake,
            decisions=len(game.actions),
            phase=Phase(int(s.phase)).name.lower(),
            over=bool(s.phase == Phase.OVER),
            won=bool(s.won),
            text=text,
            choices=choices_of(s),
            state=fingerprint(s),
            happened=happened,
        )

    def end(self, name: str) -> EndedGame:
        """Remove a game and return its replay. Raises NoSuchGame."""
        game = self[name]
        del self._games[name]
        return EndedGame(game=name, seed=game.heading.seed, outcome=outcome(game.states[0]), replay=game.replay())
