"""Settings of an advisor, and the environment variables that set them."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ante.errors import BalatroError
from ante.messages import check_url, foreign

VARIABLES = {  # environment variables and the settings that they set
    "LLM_PROVIDER": "provider",
    "LLM_ENDPOINT": "endpoint",
    "LLM_MODEL": "model",
    "LLM_HOST_HEADER": "host_header",
    "LLM_SESSION_HEADER": "session_header",
    "LLM_VISION": "vision",
    "LLM_TIMEOUT_SECONDS": "timeout_seconds",
    "LLM_CONCURRENCY": "concurrency",
    "LLM_TOKENS_PER_HOUR": "tokens_per_hour",
    "LLM_TOKENS_TOTAL": "tokens_total",
    "LLM_DOLLARS_PER_MILLION": "dollars_per_million",
    "LLM_PROMPT": "prompt",
    "LLM_KNOWLEDGE": "knowledge",
}
KEY_VARIABLE = "LLM_API_KEY"


class BadHints(BalatroError, ValueError):
    """Invalid settings of hints."""


class AdvisorSettings(BaseModel):
    """Settings of one advisor, without the API key, which the environment variable `key_variable` contains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Literal["openai", "claude"] = Field(
        "openai", description="API of the server: openai for any OpenAI-compatible server, or claude."
    )
    endpoint: str | None = Field(
        None, description="URL of the server, such as http://llm:8000/v1; optional for claude."
    )
    model: str | None = Field(
        None,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]+$",
        max_length=200,
        description="Name of the model in the server's list.",
    )
    key_variable: str = Field(KEY_VARIABLE, description="Environment variable with the API key; optional.")
    host_header: str | None = Field(
        None, pattern=r"^[A-Za-z0-9_.:\[\]-]+$", description="Host header, for gateways that route by it."
    )
    session_header: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
        description="Header that routes the requests of a game to one replica; its value is a hash of the seed.",
    )
    vision: bool = Field(False, description="Send the rendered frame in addition to the text.")
    prompt: Literal["v1", "v2"] = Field(
        "v2", description="Version of the prompt; v2 explains the visible cards, v1 names them."
    )
    knowledge: str | None = Field(
        None,
        pattern=r"^[^\x00-\x1f\x7f-\x9f@]+$",
        max_length=1000,
        description="Graph whose measured effects of the visible jokers are added to questions: default, a file or a Bolt "
        "URL without credentials.",
    )
    timeout_seconds: float = Field(
        3.0, gt=0, le=120, description="Time limit of one request including retries, in seconds."
    )
    tries: int = Field(2, ge=1, le=5, description="Attempts per request, with random pauses.")
    concurrency: int = Field(4, ge=1, le=64, description="Concurrent requests.")
    answer_tokens: int = Field(256, ge=60, le=2000, description="Token limit of an answer.")
    tokens_per_hour: int = Field(
        2_000_000, ge=0, description="Token limit of requests and answers per sliding hour; 0 for none."
    )
    tokens_total: int = Field(0, ge=0, description="Token limit of all requests and answers of a process; 0 for none.")
    dollars_per_million: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="Price of a million tokens, for reports; 0 if unknown."
    )
    breaker_failures: int = Field(5, ge=1, description="Consecutive failures that open the circuit breaker.")
    breaker_seconds: float = Field(20.0, gt=0, description="Time that the circuit breaker stays open, in seconds.")
    cache: str | None = Field(
        None, description="SQLite file for caching answers; by default they are cached in memory."
    )

    @field_validator("endpoint")
    @classmethod
    def _a_url(cls, endpoint: str | None) -> str | None:
        if endpoint is not None:
            check_url(endpoint)
            if "@" in endpoint:
                raise ValueError(f"it must not contain credentials: put the key into {KEY_VARIABLE}")
        return endpoint

    def complete(self) -> "AdvisorSettings":
        """Return the settings if they name an advisor. Raises BadHints."""
        if self.provider == "openai" and not self.endpoint:
            raise BadHints("LLM_ENDPOINT is not set: set it, such as http://llm:8000/v1, or use hints of the rules")
        if not self.model:
            raise BadHints("LLM_MODEL is not set: ante hints probe lists the server's models")
        return self


def read_settings(environment: Mapping[str, str], **overrides: Any) -> AdvisorSettings:
    """Read settings from LLM_* variables, with overrides (None is ignored). Raises BadHints."""
    values: dict[str, Any] = {
        name: environment[variable] for variable, name in VARIABLES.items() if environment.get(variable)
    }
    values |= {name: value for name, value in overrides.items() if value is not None}
    try:
        return AdvisorSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        variable = next((v for v, n in VARIABLES.items() if n == name), name)
        cause = first["msg"].removeprefix("Value error, ")
        # an endpoint may contain credentials, which must not be shown
        given = "it" if name == "endpoint" else repr(foreign(first["input"], longest=80))
        raise BadHints(f"{variable}: {given} is invalid: {cause}") from None


def read_key(settings: AdvisorSettings, environment: Mapping[str, str]) -> str | None:
    """Return the API key in the environment, if any. Only the client stores it. Raises BadHints."""
    names = (settings.key_variable, *(("ANTHROPIC_API_KEY",) if settings.provider == "claude" else ()))
    for name in names:
        key = environment.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise BadHints(
                f"{name} contains characters that are invalid in a header: set the key alone, without line breaks"
            )
        if key:
            return key
    return None
