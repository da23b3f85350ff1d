"""The protocol of advisors, their answers, and the validation of answers."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ante.errors import BalatroError
from ante.hints.question import Question
from ante.messages import foreign, printable

LONGEST_REASON = 120  # characters
MOST_TOKENS = 1_000_000  # largest plausible token count of a request; larger ones are ignored
MOST_MODELS = 1000
SCHEMA_NAME = "balatro_hint"


class Answer(BaseModel):
    """The requested JSON object. It has integers only, because servers' grammars do not support ranges of floats."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    option: int = Field(ge=0, description="Number of the best option.")
    confidence: int = Field(ge=0, le=100, description="How sure, in percent.")
    outlook: int = Field(ge=0, le=100, description="Chance of beating this ante's boss, in percent.")
    reason: str = Field(description="Why, in one short sentence; a longer one is truncated.")

    @field_validator("reason")
    @classmethod
    def _shown_on_terminals(cls, reason: str) -> str:
        return printable(reason, LONGEST_REASON)


@dataclass(frozen=True)
class Advice:
    """A valid, legal hint.

    entry       number of the decision in the list of candidates
    decision    the macro decision
    confidence  in percent, like outlook
    source      rules, llm or cache
    """

    entry: int
    decision: int
    text: str
    confidence: int
    outlook: int
    reason: str
    source: str


class Discarded(BalatroError, ValueError):
    """An answer is invalid; `cause` is unreadable, schema or illegal."""

    def __init__(self, cause: str, words: str) -> None:
        super().__init__(f"the answer was discarded ({cause}): {foreign(words)}")
        self.cause = cause


@dataclass(frozen=True)
class Reply:
    """A raw response: its text, the total tokens of request and response, and those of the response alone."""

    text: str
    tokens: int
    written: int = 0


class ModelName(BaseModel):
    """A model of a server."""

    id: str


class ModelList(BaseModel):
    """The response of `/v1/models`."""

    data: list[ModelName]

    def names(self) -> list[str]:
        """Return the names, sanitised for terminals."""
        return [foreign(model.id) for model in self.data[:MOST_MODELS]]


class Advisor(Protocol):
    """A remote advisor."""

    model: str

    async def ask(self, question: Question) -> Reply:
        """Return the raw response. Raises its client's errors."""

    async def close(self) -> None:
        """Close the connections."""


def tokens_of(count: object) -> int:
    """Return the server's token count; 0 if it is invalid."""
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS else 0


def schema_of(question: Question) -> dict[str, Any]:
    """Return the JSON schema of an answer, with numbers limited to the question's options."""
    reason = {"reason": {"type": "string", "maxLength": LONGEST_REASON}}
    first, last = (reason, {}) if question.prompt != "v1" else ({}, reason)  # what is decided after it follows from it
    whole = {"type": "integer", "minimum": 0, "maximum": 100}
    properties = {
        **first,
        "option": {**whole, "maximum": len(question.options) - 1},
        "confidence": whole,
        "outlook": whole,
        **last,
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parsed(text: str) -> Any:
    """Return the JSON value of a response; a reason at its end may be cut by the server's token limit. Raises ValueError."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.rstrip("\\") + '"}')


def check(question: Question, text: str) -> Answer:
    """Return the answer if it is valid for this question. Raises Discarded."""
    try:
        found = parsed(text)
    except (ValueError, RecursionError):
        raise Discarded("unreadable", f"not JSON: {text[:60]!r}") from None
    try:
        answer = Answer.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        raise Discarded("schema", f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if answer.option >= len(question.options):
        raise Discarded("illegal", f"option {answer.option}, of {len(question.options)} numbered from 0")
    return answer


def advice_of(question: Question, answer: Answer, source: str) -> Advice:
    """Return the hint of a validated answer."""
    option = question.options[answer.option]
    return Advice(option.entry, option.decision, option.name, answer.confidence, answer.outlook, answer.reason, source)
