import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Event(_message.Message):
    __slots__ = ("id", "source", "type", "subject", "time", "correlation_id", "game_begun", "game_decision", "game_ended", "decision_request", "decision_response", "checkpoint_published", "run_state", "hint_asked")
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
    def __init__(self, id: _Optional[str] = ..., source: _Optional[str] = ..., type: _Optional[str] = ..., subject: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., correlation_id: _Optional[str] = ..., game_begun: _Optional[_Union[GameBegun, _Mapping]] = ..., game_decision: _Optional[_Union[GameDecision, _Mapping]] = ..., game_ended: _Optional[_Union[GameEnded, _Mapping]] = ..., decision_request: _Optional[_Union[DecisionRequest, _Mapping]] = ..., decision_response: _Optional[_Union[DecisionResponse, _Mapping]] = ..., checkpoint_published: _Optional[_Union[CheckpointPublished, _Mapping]] = ..., run_state: _Optional[_Union[RunState, _Mapping]] = ..., hint_asked: _Optional[_Union[HintAsked, _Mapping]] = ...) -> None: ...

class GameBegun(_message.Message):
    __slots__ = ("seed", "deck", "stake", "challenge", "locked", "player", "record_version")
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
    def __init__(self, seed: _Optional[str] = ..., deck: _Optional[str] = ..., stake: _Optional[int] = ..., challenge: _Optional[str] = ..., locked: _Optional[_Iterable[str]] = ..., player: _Optional[str] = ..., record_version: _Optional[int] = ...) -> None: ...

class GameDecision(_message.Message):
    __slots__ = ("step", "packed_action", "action", "state", "ante", "dollars")
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
    def __init__(self, step: _Optional[int] = ..., packed_action: _Optional[int] = ..., action: _Optional[str] = ..., state: _Optional[str] = ..., ante: _Optional[int] = ..., dollars: _Optional[int] = ...) -> None: ...

class GameEnded(_message.Message):
    __slots__ = ("outcome", "ante", "blinds", "decisions", "reward", "state")
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
    def __init__(self, outcome: _Optional[str] = ..., ante: _Optional[int] = ..., blinds: _Optional[int] = ..., decisions: _Optional[int] = ..., reward: _Optional[float] = ..., state: _Optional[str] = ...) -> None: ...

class DecisionRequest(_message.Message):
    __slots__ = ("request_id", "game_id", "sequence", "position", "seed", "deck", "stake", "challenge", "actions")
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
    def __init__(self, request_id: _Optional[str] = ..., game_id: _Optional[str] = ..., sequence: _Optional[int] = ..., position: _Optional[str] = ..., seed: _Optional[str] = ..., deck: _Optional[str] = ..., stake: _Optional[int] = ..., challenge: _Optional[str] = ..., actions: _Optional[_Iterable[int]] = ...) -> None: ...

class DecisionResponse(_message.Message):
    __slots__ = ("request_id", "action", "packed_action", "strategy", "confidence", "value", "used_llm", "player", "model_digest", "state_hash", "seconds", "refusal")
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
    def __init__(self, request_id: _Optional[str] = ..., action: _Optional[str] = ..., packed_action: _Optional[int] = ..., strategy: _Optional[str] = ..., confidence: _Optional[float] = ..., value: _Optional[float] = ..., used_llm: _Optional[bool] = ..., player: _Optional[str] = ..., model_digest: _Optional[str] = ..., state_hash: _Optional[str] = ..., seconds: _Optional[float] = ..., refusal: _Optional[str] = ...) -> None: ...

class CheckpointPublished(_message.Message):
    __slots__ = ("run", "path", "steps", "games", "model_digest", "best", "mean_return")
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
    def __init__(self, run: _Optional[str] = ..., path: _Optional[str] = ..., steps: _Optional[int] = ..., games: _Optional[int] = ..., model_digest: _Optional[str] = ..., best: _Optional[bool] = ..., mean_return: _Optional[float] = ...) -> None: ...

class RunState(_message.Message):
    __slots__ = ("run", "state", "steps", "total_steps", "games", "iteration", "mean_return", "win_rate")
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
    def __init__(self, run: _Optional[str] = ..., state: _Optional[str] = ..., steps: _Optional[int] = ..., total_steps: _Optional[int] = ..., games: _Optional[int] = ..., iteration: _Optional[int] = ..., mean_return: _Optional[float] = ..., win_rate: _Optional[float] = ...) -> None: ...

class HintAsked(_message.Message):
    __slots__ = ("seed", "step", "ante", "confidence", "advisor", "text", "agreed", "packed_action", "seconds", "outcome")
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
    def __init__(self, seed: _Optional[str] = ..., step: _Optional[int] = ..., ante: _Optional[int] = ..., confidence: _Optional[float] = ..., advisor: _Optional[str] = ..., text: _Optional[str] = ..., agreed: _Optional[bool] = ..., packed_action: _Optional[int] = ..., seconds: _Optional[float] = ..., outcome: _Optional[str] = ...) -> None: ...
