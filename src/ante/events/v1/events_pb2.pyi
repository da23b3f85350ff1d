import datetime
from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar

from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers

DESCRIPTOR: _descriptor.FileDescriptor

class Event(_message.Message):
    __slots__ = (
        "checkpoint_published",
        "correlation_id",
        "decision_request",
        "decision_response",
        "game_begun",
        "game_decision",
        "game_ended",
        "hint_asked",
        "id",
        "run_state",
        "source",
        "subject",
        "time",
        "type",
    )
    ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    GAME_BEGUN_FIELD_NUMBER: _ClassVar[int]
    GAME_DECISION_FIELD_NUMBER: _ClassVar[int]
    GAME_ENDED_FIELD_NUMBER: _ClassVar[int]
    DECISION_REQUEST_FIELD_NUMBER: _ClassVar[int]
    DECISION_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_PUBLISHED_FIELD_NUMBER: _ClassVar[int]
    RUN_STATE_FIELD_NUMBER: _ClassVar[int]
    HINT_ASKED_FIELD_NUMBER: _ClassVar[int]
    id: str
    source: str
    type: str
    subject: str
    time: _timestamp_pb2.Timestamp
    correlation_id: str
    game_begun: GameBegun
    game_decision: GameDecision
    game_ended: GameEnded
    decision_request: DecisionRequest
    decision_response: DecisionResponse
    checkpoint_published: CheckpointPublished
    run_state: RunState
    hint_asked: HintAsked
    def __init__(
        self,
        id: str | None = ...,
        source: str | None = ...,
        type: str | None = ...,
        subject: str | None = ...,
        time: datetime.datetime | _timestamp_pb2.Timestamp | _Mapping | None = ...,
        correlation_id: str | None = ...,
        game_begun: GameBegun | _Mapping | None = ...,
        game_decision: GameDecision | _Mapping | None = ...,
        game_ended: GameEnded | _Mapping | None = ...,
        decision_request: DecisionRequest | _Mapping | None = ...,
        decision_response: DecisionResponse | _Mapping | None = ...,
        checkpoint_published: CheckpointPublished | _Mapping | None = ...,
        run_state: RunState | _Mapping | None = ...,
        hint_asked: HintAsked | _Mapping | None = ...,
    ) -> None: ...

class GameBegun(_message.Message):
    __slots__ = ("challenge", "deck", "locked", "player", "record_version", "seed", "stake")
    SEED_FIELD_NUMBER: _ClassVar[int]
    DECK_FIELD_NUMBER: _ClassVar[int]
    STAKE_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    RECORD_VERSION_FIELD_NUMBER: _ClassVar[int]
    seed: str
    deck: str
    stake: int
    challenge: str
    locked: _containers.RepeatedScalarFieldContainer[str]
    player: str
    record_version: int
    def __init__(
        self,
        seed: str | None = ...,
        deck: str | None = ...,
        stake: int | None = ...,
        challenge: str | None = ...,
        locked: _Iterable[str] | None = ...,
        player: str | None = ...,
        record_version: int | None = ...,
    ) -> None: ...

class GameDecision(_message.Message):
    __slots__ = ("action", "ante", "dollars", "packed_action", "state", "step")
    STEP_FIELD_NUMBER: _ClassVar[int]
    PACKED_ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ANTE_FIELD_NUMBER: _ClassVar[int]
    DOLLARS_FIELD_NUMBER: _ClassVar[int]
    step: int
    packed_action: int
    action: str
    state: str
    ante: int
    dollars: int
    def __init__(
        self,
        step: int | None = ...,
        packed_action: int | None = ...,
        action: str | None = ...,
        state: str | None = ...,
        ante: int | None = ...,
        dollars: int | None = ...,
    ) -> None: ...

class GameEnded(_message.Message):
    __slots__ = ("ante", "blinds", "decisions", "outcome", "reward", "state")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ANTE_FIELD_NUMBER: _ClassVar[int]
    BLINDS_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    outcome: str
    ante: int
    blinds: int
    decisions: int
    reward: float
    state: str
    def __init__(
        self,
        outcome: str | None = ...,
        ante: int | None = ...,
        blinds: int | None = ...,
        decisions: int | None = ...,
        reward: float | None = ...,
        state: str | None = ...,
    ) -> None: ...

class DecisionRequest(_message.Message):
    __slots__ = ("actions", "challenge", "deck", "game_id", "position", "request_id", "seed", "sequence", "stake")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    GAME_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    DECK_FIELD_NUMBER: _ClassVar[int]
    STAKE_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    game_id: str
    sequence: int
    position: str
    seed: str
    deck: str
    stake: int
    challenge: str
    actions: _containers.RepeatedScalarFieldContainer[int]
    def __init__(
        self,
        request_id: str | None = ...,
        game_id: str | None = ...,
        sequence: int | None = ...,
        position: str | None = ...,
        seed: str | None = ...,
        deck: str | None = ...,
        stake: int | None = ...,
        challenge: str | None = ...,
        actions: _Iterable[int] | None = ...,
    ) -> None: ...

class DecisionResponse(_message.Message):
    __slots__ = (
        "action",
        "confidence",
        "model_digest",
        "packed_action",
        "player",
        "refusal",
        "request_id",
        "seconds",
        "state_hash",
        "strategy",
        "used_llm",
        "value",
    )
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PACKED_ACTION_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    USED_LLM_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    MODEL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    action: str
    packed_action: int
    strategy: str
    confidence: float
    value: float
    used_llm: bool
    player: str
    model_digest: str
    state_hash: str
    seconds: float
    refusal: str
    def __init__(
        self,
        request_id: str | None = ...,
        action: str | None = ...,
        packed_action: int | None = ...,
        strategy: str | None = ...,
        confidence: float | None = ...,
        value: float | None = ...,
        used_llm: bool | None = ...,
        player: str | None = ...,
        model_digest: str | None = ...,
        state_hash: str | None = ...,
        seconds: float | None = ...,
        refusal: str | None = ...,
    ) -> None: ...

class CheckpointPublished(_message.Message):
    __slots__ = ("best", "games", "mean_return", "model_digest", "path", "run", "steps")
    RUN_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    MODEL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    BEST_FIELD_NUMBER: _ClassVar[int]
    MEAN_RETURN_FIELD_NUMBER: _ClassVar[int]
    run: str
    path: str
    steps: int
    games: int
    model_digest: str
    best: bool
    mean_return: float
    def __init__(
        self,
        run: str | None = ...,
        path: str | None = ...,
        steps: int | None = ...,
        games: int | None = ...,
        model_digest: str | None = ...,
        best: bool | None = ...,
        mean_return: float | None = ...,
    ) -> None: ...

class RunState(_message.Message):
    __slots__ = ("games", "iteration", "mean_return", "run", "state", "steps", "total_steps", "win_rate")
    RUN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_STEPS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    MEAN_RETURN_FIELD_NUMBER: _ClassVar[int]
    WIN_RATE_FIELD_NUMBER: _ClassVar[int]
    run: str
    state: str
    steps: int
    total_steps: int
    games: int
    iteration: int
    mean_return: float
    win_rate: float
    def __init__(
        self,
        run: str | None = ...,
        state: str | None = ...,
        steps: int | None = ...,
        total_steps: int | None = ...,
        games: int | None = ...,
        iteration: int | None = ...,
        mean_return: float | None = ...,
        win_rate: float | None = ...,
    ) -> None: ...

class HintAsked(_message.Message):
    __slots__ = (
        "advisor",
        "agreed",
        "ante",
        "confidence",
        "outcome",
        "packed_action",
        "seconds",
        "seed",
        "step",
        "text",
    )
    SEED_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    ANTE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    ADVISOR_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    AGREED_FIELD_NUMBER: _ClassVar[int]
    PACKED_ACTION_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    seed: str
    step: int
    ante: int
    confidence: float
    advisor: str
    text: str
    agreed: bool
    packed_action: int
    seconds: float
    outcome: str
    def __init__(
        self,
        seed: str | None = ...,
        step: int | None = ...,
        ante: int | None = ...,
        confidence: float | None = ...,
        advisor: str | None = ...,
        text: str | None = ...,
        agreed: bool | None = ...,
        packed_action: int | None = ...,
        seconds: float | None = ...,
        outcome: str | None = ...,
    ) -> None: ...
