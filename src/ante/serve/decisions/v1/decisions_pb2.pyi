import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Priority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRIORITY_UNSPECIFIED: _ClassVar[Priority]
    PRIORITY_INTERACTIVE: _ClassVar[Priority]
    PRIORITY_BULK: _ClassVar[Priority]

class Strategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STRATEGY_UNSPECIFIED: _ClassVar[Strategy]
    STRATEGY_POLICY: _ClassVar[Strategy]
    STRATEGY_SEARCH: _ClassVar[Strategy]
    STRATEGY_HINTS: _ClassVar[Strategy]
    STRATEGY_SCRIPTED: _ClassVar[Strategy]
    STRATEGY_FALLBACK: _ClassVar[Strategy]
PRIORITY_UNSPECIFIED: Priority
PRIORITY_INTERACTIVE: Priority
PRIORITY_BULK: Priority
STRATEGY_UNSPECIFIED: Strategy
STRATEGY_POLICY: Strategy
STRATEGY_SEARCH: Strategy
STRATEGY_HINTS: Strategy
STRATEGY_SCRIPTED: Strategy
STRATEGY_FALLBACK: Strategy

class GetServiceInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServiceInfoResponse(_message.Message):
    __slots__ = ("player", "model_digest", "strategy", "reorder", "version", "record_version", "record_bytes", "message_bytes", "queries")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    MODEL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    REORDER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    RECORD_VERSION_FIELD_NUMBER: _ClassVar[int]
    RECORD_BYTES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    player: str
    model_digest: str
    strategy: Strategy
    reorder: str
    version: str
    record_version: int
    record_bytes: int
    message_bytes: int
    queries: int
    def __init__(self, player: _Optional[str] = ..., model_digest: _Optional[str] = ..., strategy: _Optional[_Union[Strategy, str]] = ..., reorder: _Optional[str] = ..., version: _Optional[str] = ..., record_version: _Optional[int] = ..., record_bytes: _Optional[int] = ..., message_bytes: _Optional[int] = ..., queries: _Optional[int] = ...) -> None: ...

class GetDecisionRequest(_message.Message):
    __slots__ = ("query",)
    QUERY_FIELD_NUMBER: _ClassVar[int]
    query: Query
    def __init__(self, query: _Optional[_Union[Query, _Mapping]] = ...) -> None: ...

class GetDecisionResponse(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: Answer
    def __init__(self, answer: _Optional[_Union[Answer, _Mapping]] = ...) -> None: ...

class GetDecisionsRequest(_message.Message):
    __slots__ = ("queries",)
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    queries: _containers.RepeatedCompositeFieldContainer[Query]
    def __init__(self, queries: _Optional[_Iterable[_Union[Query, _Mapping]]] = ...) -> None: ...

class GetDecisionsResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[Answer]
    def __init__(self, answers: _Optional[_Iterable[_Union[Answer, _Mapping]]] = ...) -> None: ...

class StreamDecisionsRequest(_message.Message):
    __slots__ = ("query",)
    QUERY_FIELD_NUMBER: _ClassVar[int]
    query: Query
    def __init__(self, query: _Optional[_Union[Query, _Mapping]] = ...) -> None: ...

class StreamDecisionsResponse(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: Answer
    def __init__(self, answer: _Optional[_Union[Answer, _Mapping]] = ...) -> None: ...

class Query(_message.Message):
    __slots__ = ("request_id", "game_id", "sequence", "state_hash", "priority", "timeout", "alternatives", "describe", "run", "replay", "record", "visible", "gamestate")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    GAME_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    DESCRIBE_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    REPLAY_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    GAMESTATE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    game_id: str
    sequence: int
    state_hash: str
    priority: Priority
    timeout: _duration_pb2.Duration
    alternatives: int
    describe: bool
    run: Run
    replay: str
    record: bytes
    visible: str
    gamestate: str
    def __init__(self, request_id: _Optional[str] = ..., game_id: _Optional[str] = ..., sequence: _Optional[int] = ..., state_hash: _Optional[str] = ..., priority: _Optional[_Union[Priority, str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., alternatives: _Optional[int] = ..., describe: _Optional[bool] = ..., run: _Optional[_Union[Run, _Mapping]] = ..., replay: _Optional[str] = ..., record: _Optional[bytes] = ..., visible: _Optional[str] = ..., gamestate: _Optional[str] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("seed", "deck", "stake", "challenge", "actions")
    SEED_FIELD_NUMBER: _ClassVar[int]
    DECK_FIELD_NUMBER: _ClassVar[int]
    STAKE_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    seed: str
    deck: str
    stake: int
    challenge: str
    actions: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, seed: _Optional[str] = ..., deck: _Optional[str] = ..., stake: _Optional[int] = ..., challenge: _Optional[str] = ..., actions: _Optional[_Iterable[int]] = ...) -> None: ...

class Alternative(_message.Message):
    __slots__ = ("action", "packed_action", "probability")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PACKED_ACTION_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    action: str
    packed_action: int
    probability: float
    def __init__(self, action: _Optional[str] = ..., packed_action: _Optional[int] = ..., probability: _Optional[float] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("action", "packed_action", "description", "strategy", "reason", "confidence", "value", "alternatives", "used_llm", "player", "model_digest", "state_hash")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PACKED_ACTION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    USED_LLM_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    MODEL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    action: str
    packed_action: int
    description: str
    strategy: Strategy
    reason: str
    confidence: float
    value: float
    alternatives: _containers.RepeatedCompositeFieldContainer[Alternative]
    used_llm: bool
    player: str
    model_digest: str
    state_hash: str
    def __init__(self, action: _Optional[str] = ..., packed_action: _Optional[int] = ..., description: _Optional[str] = ..., strategy: _Optional[_Union[Strategy, str]] = ..., reason: _Optional[str] = ..., confidence: _Optional[float] = ..., value: _Optional[float] = ..., alternatives: _Optional[_Iterable[_Union[Alternative, _Mapping]]] = ..., used_llm: _Optional[bool] = ..., player: _Optional[str] = ..., model_digest: _Optional[str] = ..., state_hash: _Optional[str] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("request_id", "decision", "refusal")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    decision: Decision
    refusal: Refusal
    def __init__(self, request_id: _Optional[str] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...
