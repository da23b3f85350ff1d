"""Positions of queries as records: replayed from a seed, read from a replay, a validated record, or fields in JSON."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import grpc
import numpy as np

from ante.engine.actions import N_VERBS, verb_of
from ante.engine.core.records import record_type
from ante.engine.core.state import Phase, Status, copy_states, load_state, state_t
from ante.engine.drivers.random_play import step_all
from ante.engine.run import new_run
from ante.engine.validation import BadState, validate_states
from ante.env.games import Games
from ante.env.layout import observation_t
from ante.env.replay import Heading, action_text, read_decision, read_heading
from ante.errors import BalatroError
from ante.files import parse_json
from ante.serve.balatrobot.form import form_of
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.visible import LONGEST, position_seen

MESSAGE_BYTES = 1 << 20  # of a request
MOST_DECISIONS = 5_000  # of a run; the longest games of the released policy have fewer than 1,000
MOST_REPLAY = 256 << 10  # characters of a replay
KEPT_RUNS = 1_024  # positions of runs that are kept
LOOKED_BACK = 4  # decisions that the kept position of a run may lag behind
LARGEST_ACTION = 1 << 46
NO_POSITION = "the query has no position: set run, replay, record, visible or gamestate"
SEEN_BYTES = observation_t.fields["action_mask"][1] if observation_t.fields else 0  # the mask depends on the player


class Refused(BalatroError):
    """A query that gets no decision.

    Attributes:
        code: The status code of the call.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def malformed(message: object) -> Refused:
    """Return the refusal of a malformed query."""
    return Refused(grpc.StatusCode.INVALID_ARGUMENT, str(message))


class Runs:
    """Positions of runs, replayed from their seeds; the latest ones are kept. Not thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, np.recarray] = OrderedDict()

    def position(self, heading: Heading, actions: Sequence[int]) -> np.recarray:
        """Return the position after these macro decisions, (1,) state_t, read only. Raises Refused."""
        if len(actions) > MOST_DECISIONS:
            raise malformed(f"the run has {len(actions):,} decisions: at most {MOST_DECISIONS:,} are replayed")
        try:
            numbers = np.asarray(actions, dtype=np.int64)
        except OverflowError:
            raise malformed("a packed decision exceeds 64 bits") from None
        start = repr(heading).encode()
        key = key_of(start, numbers)
        if (states := self._kept.get(key)) is None:
            states, done = self._earlier(heading, start, numbers)
            self._play(states, numbers, done)
            states.flags.writeable = False
            self._kept[key] = states
            if len(self._kept) > KEPT_RUNS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return states

    def _earlier(self, heading: Heading, start: bytes, numbers: np.ndarray) -> tuple[np.recarray, int]:
        """Return a copy of an earlier position of the run, and the number of decisions before it."""
        for done in range(len(numbers) - 1, max(-1, len(numbers) - 1 - LOOKED_BACK), -1):
            if (found := self._kept.get(key_of(start, numbers[:done]))) is not None:
                return copy_states(found), done
        return batch_of([new_run(**asdict(heading))]), 0

    def _play(self, states: np.recarray, numbers: np.ndarray, done: int) -> None:
        """Play the decisions from number `done` on. Raises Refused."""
        status = np.empty(1, dtype=np.int64)
        for number in range(done, len(numbers)):
            action = numbers[number]
            status[0] = Status.ILLEGAL
            if 0 <= action < LARGEST_ACTION:
                step_all(states, numbers[number : number + 1], status)  # SPEED: `step` takes eight times as long
            if status[0] == Status.ILLEGAL:
                words = (
                    action_text(int(action)) if 0 <= action < LARGEST_ACTION and verb_of(action) < N_VERBS else action
                )
                raise malformed(f"decision {number + 1} of the run is illegal in its state: {words}")


def key_of(start: bytes, numbers: np.ndarray) -> bytes:
    """Return the key of a run's position."""
    return hashlib.blake2b(start + b"\n" + numbers.tobytes(), digest_size=16).digest()


def position_of(query: "pb.Query", runs: Runs) -> np.recarray:
    """Return the position of a query, (1,) state_t; a record and a form are not validated yet. Raises Refused."""
    kind = query.WhichOneof("position")
    try:
        if kind == "run":
            return runs.position(heading_of(query.run), query.run.actions)
        if kind == "replay":
            return runs.position(*prefix_of(query.replay))
        if kind == "record":
            return batch_of([load_state(query.record)])
        if kind == "visible":
            return batch_of([position_seen(query.visible)])
        if kind == "gamestate":
            return batch_of([position_of_gamestate(query.gamestate)])
    except Refused:
        raise
    except ValueError as error:  # of the engine's and the replay's errors, and of load_state
        raise malformed(error) from None
    raise malformed(NO_POSITION)


def position_of_gamestate(text: str) -> Any:
    """Return the game of a gamestate of BalatroBot, a record with everything unseen drawn again. Raises BalatroError."""
    if len(text) > LONGEST:
        raise malformed(f"the gamestate has {len(text):,} characters: at most {LONGEST:,} are read")
    return position_seen(json.dumps(form_of(parse_json(text, "the gamestate"))))


def batch_of(records: Sequence[Any]) -> np.recarray:
    """Return copies of single records or batches of one as a batch, (n,) state_t.

    SPEED: copied as bytes; NumPy copies records field by field.
    """
    joined = bytearray().join(record.tobytes() for record in records)
    return np.frombuffer(joined, dtype=record_type(state_t)).view(np.recarray)


def rows_of(states: np.recarray) -> np.ndarray:
    """Return the bytes of each record of a batch, (n, bytes), a view."""
    return states.view(np.uint8).reshape(len(states), -1)


def heading_of(run: "pb.Run") -> Heading:
    """Return the start of a run."""
    return Heading(run.seed, run.deck or Heading.deck, run.stake or 1, run.challenge or None)


def prefix_of(text: str) -> tuple[Heading, list[int]]:
    """Return the heading and the macro decisions of a replay, which may lack its end. Raises BadReplay, Refused."""
    if len(text) > MOST_REPLAY:
        raise malformed(f"the replay has {len(text):,} characters: at most {MOST_REPLAY:,} are read")
    lines = text.splitlines()
    heading, first = read_heading([*lines, ""])
    body = [(number, line) for number, line in enumerate(lines[first - 1 :], first) if line[:1].isalpha()]
    return heading, [read_decision(line, number) for number, line in body if not line.startswith("end ")]


def faults_of(states: np.recarray, untrusted: np.ndarray) -> dict[int, Refused]:
    """Return the refusals of positions, (n,) state_t, by index: records that are not valid, and games that are over.

    Compiled code may run on all others.
    """
    found: dict[int, Refused] = {}
    if untrusted.any():
        try:
            validate_states(rows_of(states)[untrusted].reshape(-1).view(state_t))
        except BadState:
            for i in np.flatnonzero(untrusted):
                try:
                    validate_states(states[i : i + 1])
                except BadState as error:
                    found[int(i)] = malformed(error)
    for i in np.flatnonzero(states["phase"] == Phase.OVER):
        found.setdefault(int(i), Refused(grpc.StatusCode.FAILED_PRECONDITION, "the game is over: nothing to decide"))
    return found


def hashes_of(games: Games) -> list[str]:
    """Return the hash of what a player sees of each game of a table."""
    seen = rows_of(games.observations)[:, :SEEN_BYTES]
    return [hashlib.blake2b(row.tobytes(), digest_size=16).hexdigest() for row in seen]
