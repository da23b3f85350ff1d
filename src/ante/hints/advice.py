"""What an advisor answers, how an answer is checked, and who may be an advisor."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ante.errors import BalatroError
from ante.hints.question import Question

LONGEST_REASON = 120  # characters
SCHEMA_NAME = "balatro_hint"


class Answer(BaseModel):
    """The JSON object that is asked for: whole numbers, since grammars of servers know no ranges of fractions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    option: int = Field(ge=0, description="Number of the best option.")
    confidence: int = Field(ge=0, le=100, description="How sure, in percent.")
    outlook: int = Field(ge=0, le=100, description="Chance of beating this ante's boss, in percent.")
    reason: str = Field(max_length=LONGEST_REASON, description="Why, in one short sentence.")


@dataclass(frozen=True)
class Advice:
    """A valid, legal hint.

    entry       number of the decision in the shortlist of the state that was asked about
    decision    the same as a macro decision
    confidence  and outlook in percent
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
    """An answer that was not used; `cause` is unreadable, schema or illegal."""

    def __init__(self, cause: str, words: str) -> None:
        super().__init__(f"the answer was discarded ({cause}): {words}")
        self.cause = cause


@dataclass(frozen=True)
class Reply:
    """What came back: the text, and the tokens of question and answer together."""

    text: str
    tokens: int


class Advisor(Protocol):
    """Somebody far away who can be asked."""

    model: str

    async def ask(self, question: Question) -> Reply:
        """The raw reply. Raises what its client raises."""

    async def close(self) -> None:
        """Connections are let go."""


def schema_of(question: Question) -> dict[str, Any]:
    """The JSON schema of an answer to this question, its numbers bounded by the options that there are."""
    names = list(Answer.model_fields)
    whole = {"type": "integer", "minimum": 0, "maximum": 100}
    return {
        "type": "object",
        "properties": {
            "option": {**whole, "maximum": len(question.options) - 1},
            "confidence": whole,
            "outlook": whole,
            "reason": {"type": "string", "maxLength": LONGEST_REASON},
        },
        "required": names,
        "additionalProperties": False,
    }


def check(question: Question, text: str) -> Answer:
    """The answer, if it can be used for this question. Raises Discarded."""
    try:
        found = json.loads(text)
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
    """The hint that a checked answer means."""
    option = question.options[answer.option]
    return Advice(option.entry, option.decision, option.name, answer.confidence, answer.outlook, answer.reason, source)
