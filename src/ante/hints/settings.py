"""Settings of an advisor: a validated model, and the environment variables it is read from."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ante.errors import BalatroError
from ante.messages import check_url, foreign

VARIABLES = {  # of the environment: the setting that each of them gives
    "LLM_PROVIDER": "provider",
    "LLM_ENDPOINT": "endpoint",
    "LLM_MODEL": "model",
    "LLM_HOST_HEADER": "host_header",
    "LLM_SESSION_HEADER": "session_header",
    "LLM_VISION": "vision",
    "LLM_TIMEOUT_SECONDS": "timeout_seconds",
    "LLM_CONCURRENCY": "concurrency",
    "LLM_TOKENS_PER_HOUR": "tokens_per_hour",
}
KEY_VARIABLE = "LLM_API_KEY"


class BadHints(BalatroError, ValueError):
    """Invalid settings of hints."""


class HintSettings(BaseModel):
    """Settings of one advisor. Holds no secret: the key stays in the environment, under the name `key_variable`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Literal["openai", "claude"] = Field(
        "openai", description="How it is spoken to: any OpenAI-compatible server, or Claude's own API."
    )
    endpoint: str | None = Field(None, description="URL of the server, such as http://llm:8000/v1; Claude has its own.")
    model: str | None = Field(
        None,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]+$",
        max_length=200,
        description="Name of the model, as the server lists it.",
    )
    key_variable: str = Field(KEY_VARIABLE, description="Environment variable that holds the key, if there is one.")
    host_header: str | None = Field(
        None, pattern=r"^[A-Za-z0-9_.:\[\]-]+$", description="Host header, where a gateway chooses the service by it."
    )
    session_header: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
        description="Name of a header that keeps a game at one replica; its value is made of the game's seed.",
    )
    vision: bool = Field(False, description="Send the rendered frame beside the text.")
    prompt: str = Field("v1", pattern=r"^v\d+$", description="Version of the prompt.")
    timeout_seconds: float = Field(3.0, gt=0, le=120, description="Hard deadline of one request, retries included.")
    tries: int = Field(2, ge=1, le=5, description="Attempts per request, with random pauses between.")
    concurrency: int = Field(4, ge=1, le=64, description="Concurrent requests.")
    answer_tokens: int = Field(256, ge=60, le=2000, description="Longest answer.")
    tokens_per_hour: int = Field(2_000_000, ge=0, description="Tokens of questions and answers, by a sliding hour.")
    breaker_failures: int = Field(5, ge=1, description="Consecutive failures after which requests pause.")
    breaker_seconds: float = Field(20.0, gt=0, description="How long that is.")
    cache: str | None = Field(None, description="SQLite file of answers already given; in memory without one.")

    @field_validator("endpoint")
    @classmethod
    def _a_url(cls, endpoint: str | None) -> str | None:
        if endpoint is not None:
            check_url(endpoint)
            if "@" in endpoint:
                raise ValueError(f"it must carry no credentials: put the key into {KEY_VARIABLE}")
        return endpoint

    def complete(self) -> "HintSettings":
        """Return the settings if they name an advisor. Raises BadHints."""
        if self.provider == "openai" and not self.endpoint:
            raise BadHints("no LLM is named: set LLM_ENDPOINT, such as http://llm:8000/v1, or hint with rules")
        if not self.model:
            raise BadHints("no model is named: set LLM_MODEL; ante hints probe lists what the server has")
        return self


def read_settings(environment: Mapping[str, str], **overrides: Any) -> HintSettings:
    """Settings from LLM_* variables, some of them replaced (None replaces nothing). Raises BadHints."""
    values: dict[str, Any] = {
        name: environment[variable] for variable, name in VARIABLES.items() if environment.get(variable)
    }
    values |= {name: value for name, value in overrides.items() if value is not None}
    try:
        return HintSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        variable = next((v for v, n in VARIABLES.items() if n == name), name)
        cause = first["msg"].removeprefix("Value error, ")
        # an endpoint may carry what must not be shown
        given = "it" if name == "endpoint" else repr(foreign(first["input"], longest=80))
        raise BadHints(f"{variable}: {given} cannot be used: {cause}") from None


def read_key(settings: HintSettings, environment: Mapping[str, str]) -> str | None:
    """The key, if the environment holds one. It is handed to the client and kept nowhere else. Raises BadHints."""
    names = (settings.key_variable, *(("ANTHROPIC_API_KEY",) if settings.provider == "claude" else ()))
    for name in names:
        key = environment.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise BadHints(
                f"{name} holds characters that a header cannot carry: set the key alone, without line breaks"
            )
        if key:
            return key
    return None
