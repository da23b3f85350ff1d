"""Hints in one env runner: selects positions, requests hints for them, collects the responses and logs them.

All calls are non-blocking. Positions are sent to the broker (an actor) in batches, and responses are fetched when
available. A response labels the position of its request; by then the game has continued (decision 17).
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import DISCRETE, FIRST, Verb, cards_of, target_of, to_of, verb_of
from ante.engine.core.records import as_records
from ante.engine.core.state import Phase, new_states
from ante.engine.validation import validate_states
from ante.env.games import Games, Outcome
from ante.env.reward import blinds_beaten
from ante.hints.broker import Delivered, hint_field, plain
from ante.hints.budget import DecisionBudget
from ante.lookahead.candidates import decisions_of
from ante.training.advice.mailbox import BrokerLost, Mailbox
from ante.training.policies.protocol import GamePolicy
from ante.training.sampling.fragment import Labelled, end_to_end
from ante.training.sampling.saved_games import (
    array_like,
    read_generators,
    read_records,
    save_generators,
    save_records,
)
from ante.training.settings.schedule import Schedule

EXCHANGE_EVERY = 16  # steps between exchanges with the broker
REMEMBERED = 50_000  # positions that are not sent again
KEPT = 256  # most recent hinted positions, from which new games may start
BEGUN = 0.25  # share of new games that start from a hinted position, if hints are used as an exploration prior
OPEN = 4096  # limit of pending requests; the oldest are dropped first
TRIES_AFTER = 64  # exchanges before reconnecting to a lost broker


@dataclass(frozen=True)
class HintPlan:
    """A run's hint settings for runners and learners.

    broker      name of the actor
    share       maximum share of decisions to request hints for
    confidence  the policy counts as uncertain if the probability of its most likely action is below this value
    imitation   schedule over steps: weight of the imitation loss
    prior       schedule over steps:  probability of following a hint
    shaping     weight of the learned potential
    """

    broker: str
    share: float
    confidence: float
    imitation: Schedule
    prior: Schedule
    shaping: float


@dataclass
class HintRequest:
    """A pending request for one position.

    row     the policy's observation, state  the record (1,), action  the action taken
    record  its line in the log, filled in as values become known
    """

    row: NDArray[Any]
    state: NDArray[Any]
    action: int
    record: dict[str, Any]


@dataclass
class HintRequester:
    """The requests of one runner."""

    plan: HintPlan
    player: int
    policy: GamePolicy
    reorder: str
    mailbox: Mailbox
    budget: DecisionBudget = field(init=False)
    credits: int = 0
    potential: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self.budget = DecisionBudget(self.plan.share)
        self._tickets = count()
        self._asked: dict[int, HintRequest] = {}
        self._outbox: list[int] = []
        self._seen: dict[int, None] = {}
        self._labelled: list[tuple[NDArray[Any], int]] = []
        self._kept: deque[tuple[NDArray[Any], int]] = deque(maxlen=KEPT)
        self._closed: list[dict[str, Any]] = []
        self._compared = self._agreed = 0
        self._exchanges = self._wait_until = 0
        self._steps = 0

    def begin(self, games: Games, seed: int) -> None:
        """Reset to a new batch of games."""
        self._of_game: list[list[HintRequest]] = [[] for _ in range(games.n)]
        self._kept.clear()
        self._rng = np.random.default_rng(seed)
        self.followed = np.full(games.n, -1, dtype=np.int64)

    def observe(
        self, games: Games, rows: NDArray[Any], confidences: NDArray[np.float32], actions: NDArray[np.int64]
    ) -> None:
        """Process one step of all games: send the least certain decisions, within budget and broker limits.

        rows (n,) row_t, confidences (n,) probability of the most likely action, actions (n,) the actions taken
        """
        n, room = len(rows), 0
        if self.credits > len(self._outbox):
            room = min(self.budget.allows(n), self.credits - len(self._outbox))
        places = self._unsure(rows, confidences, room) if room else []
        self.budget.take(n, places)
        for i in places:
            self._open(games, i, rows, float(confidences[i]), int(actions[i]))
        self._steps += 1
        if self._steps % EXCHANGE_EVERY == 0:
            self.exchange()

    def _unsure(self, rows: NDArray[Any], confidences: NDArray[np.float32], room: int) -> list[int]:
        """Return up to `room` game indices in ascending order: the least certain positions that were not sent yet."""
        seen = rows["seen"] if rows.dtype.names and "seen" in rows.dtype.names else rows  # without recurrent state
        unsure = np.flatnonzero(confidences < self.plan.confidence)
        places: list[int] = []
        for i in unsure[np.argsort(confidences[unsure], kind="stable")]:
            key = hash(seen[i].tobytes())
            if key not in self._seen:
                self._seen[key] = None
                places.append(int(i))
            if len(places) == room:
                break
        while len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return sorted(places)

    def _open(self, games: Games, i: int, rows: NDArray[Any], confidence: float, action: int) -> None:
        """Create a request for game i."""
        s, ticket, state = games.states[i], next(self._tickets), new_states(1)
        state.view(np.uint8)[:] = games.states[i : i + 1].view(np.uint8)
        record = {
            "player": self.player,
            "decision": self.budget.decisions - len(rows) + i,
            "seed": str(games.seeds[i]),
            "step": int(games.steps[i]),
            "ante": int(s.ante),
            "phase": Phase(int(s.phase)).name.lower(),
            "confidence": confidence,
            "used_llm": False,
            "hint": None,
            **plain(None),
            "seconds": None,
            "outcome": None,
            "blinds": None,
        }
        ask = HintRequest(rows[i : i + 1].copy(), state, action, record)
        self._asked[ticket] = ask
        self._of_game[i].append(ask)
        self._outbox.append(ticket)
        if len(self._asked) > OPEN:
            self._give_up(next(iter(self._asked)))

    def _give_up(self, ticket: int) -> None:
        """Drop a pending request."""
        self._settle(self._asked.pop(ticket))
        if ticket in self._outbox:
            self._outbox.remove(ticket)

    def _settle(self, ask: HintRequest) -> None:
        """Mark a request as answered or unanswered; its log line is written once its game has ended."""
        ask.record.setdefault("answered", True)
        if ask.record["outcome"] is not None:
            self._close(ask)

    def _close(self, ask: HintRequest) -> None:
        self._closed.append({name: value for name, value in ask.record.items() if name != "answered"})

    def ended(self, games: Games, ended: NDArray[np.int64]) -> None:
        """Record the outcome of the finished games in their log lines."""
        for i in ended:
            for ask in self._of_game[i]:
                ask.record["outcome"] = Outcome(int(games.outcome[i])).name.lower()
                ask.record["blinds"] = int(blinds_beaten(games.states[i]))
                if "answered" in ask.record:
                    self._close(ask)
            self._of_game[i] = []

    def exchange(self) -> None:
        """Send new requests and fetch responses; a lost broker is retried later."""
        self._exchanges += 1
        if self._exchanges < self._wait_until:
            return
        try:
            self._send()
            taken = self.mailbox.fetch()
        except BrokerLost:
            self.credits, self._wait_until = 0, self._exchanges + TRIES_AFTER
            for ticket in list(self._asked):
                self._give_up(ticket)
            return
        if taken is not None:
            self.credits, self.potential = taken.credits, taken.potential
            for delivered in taken.delivered:
                self._receive(delivered)

    def _send(self) -> None:
        """Send new requests and log lines. Raises BrokerLost."""
        if self._outbox:
            states = end_to_end([self._asked[ticket].state for ticket in self._outbox])
            self.mailbox.ask(self._outbox, states, self.reorder)
            self.credits -= len(self._outbox)
            self._outbox = []
        if self._closed or self._compared:
            self.mailbox.note(self._closed, self._compared, self._agreed)
            self._closed, self._compared, self._agreed = [], 0, 0

    def _receive(self, delivered: Delivered) -> None:
        """Process one response, or its absence, for a pending request."""
        ask = self._asked.pop(delivered.ticket, None)
        if ask is None:
            return  # the request was dropped
        advice, label = delivered.advice, None
        if advice is not None:
            label = number_of(self.policy, ask, advice.decision)
        if label is not None:
            agreed = label == ask.action
            self._compared, self._agreed = self._compared + 1, self._agreed + agreed
            self._labelled.append((ask.row, label))
            self._kept.append((ask.state, label))
            ask.record |= {"hint": hint_field(advice, agreed), "used_llm": advice.source != "rules", **plain(advice)}  # type: ignore[union-attr]
        ask.record["seconds"] = delivered.seconds
        self._settle(ask)

    def saved(self) -> dict[str, Any]:
        """Return the hinted positions from which games may start, and what games follow, as plain values."""
        states = end_to_end([state for state, _ in self._kept]) if self._kept else new_states(0)
        return {
            "states": save_records(states),
            "actions": np.array([action for _, action in self._kept], dtype=np.int64),
            "followed": self.followed.copy(),
            "rng": save_generators([self._rng]),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Set what `saved` returned, for as many games. Raises ValueError or BadState if it does not fit."""
        actions = saved["actions"].tolist()
        states = read_records(saved["states"], min(len(actions), KEPT))
        validate_states(states)
        self.followed = array_like(saved["followed"], self.followed, "followed hints").copy()
        (self._rng,) = read_generators(saved["rng"], 1)
        self._kept = deque(((states[k : k + 1], action) for k, action in enumerate(actions)), maxlen=KEPT)

    def labelled(self) -> Labelled | None:
        """Return the hinted positions since the last call, or None."""
        if not self._labelled:
            return None
        rows, actions = zip(*self._labelled, strict=True)
        self._labelled = []
        return Labelled(end_to_end(list(rows)), np.array(actions, dtype=np.int64))

    def renew(self, games: Games, which: NDArray[np.int64], begun: NDArray[np.bool_]) -> None:
        """Replace some of these newly reset games by hinted positions and mark them in `begun` (n,)."""
        self.followed[which] = -1
        if not self._kept:
            return
        for i in which[self._rng.random(len(which)) < BEGUN]:
            if self._kept:
                state, action = self._kept.pop()
                games.put(np.array([i]), as_records(state), trusted=True)
                begun[i], self.followed[i] = True, action


def number_of(policy: GamePolicy, ask: HintRequest, decision: int) -> int | None:
    """Return the policy's action for this macro decision, or None if it has none."""
    if policy.discrete:
        return discrete_step(ask.state[0], decision)
    entries = ask.row["list"]["entries"]
    numbers = np.arange(int(ask.row["list"]["n"][0]))
    found = np.flatnonzero(decisions_of(np.repeat(entries, len(numbers), axis=0), numbers) == decision)
    return int(found[0]) if len(found) else None


def discrete_step(s: Any, decision: int) -> int | None:
    """Return the discrete action towards a macro decision: select, clear, or the decision itself."""
    verb, target, to = Verb(int(verb_of(decision))), int(target_of(decision)), int(to_of(decision))
    wanted, selected = int(cards_of(decision)), int(s["selected"])
    if wanted and selected & ~wanted:
        return int(FIRST[Verb.CLEAR])
    missing = wanted & ~selected
    if missing:
        return (missing & -missing).bit_length() - 1
    same = (DISCRETE[:, 0] == verb) & (DISCRETE[:, 1] == target) & (DISCRETE[:, 2] == to)
    found = np.flatnonzero(same)
    return int(found[0]) if len(found) else None
