"""Hosted Claude as advisor, by its own API, with structured output."""

import base64
from typing import Any

import anthropic
from anthropic import transform_schema

from ante.hints.advice import Reply, schema_of
from ante.hints.question import Question
from ante.hints.settings import KEY_VARIABLE, BadHints, HintSettings


class ClaudeAdvisor:
    """Asks `/v1/messages`."""

    def __init__(self, settings: HintSettings, key: str | None) -> None:
        self.settings, self.model = settings.complete(), settings.model or ""
        if key is None:
            raise BadHints(f"Claude needs a key: set {KEY_VARIABLE} or ANTHROPIC_API_KEY")
        headers = {"Host": settings.host_header} if settings.host_header else {}
        self._client = anthropic.AsyncAnthropic(
            base_url=settings.endpoint,
            api_key=key,
            timeout=settings.timeout_seconds,
            max_retries=0,
            default_headers=headers,
        )

    async def ask(self, question: Question) -> Reply:
        """The raw reply. Raises anthropic.AnthropicError."""
        session = self.settings.session_header
        found = await self._client.messages.create(
            model=self.model,
            system=question.system,
            messages=[{"role": "user", "content": content_of(question)}],
            max_tokens=self.settings.answer_tokens,
            output_config={"format": {"type": "json_schema", "schema": transform_schema(schema_of(question))}},
            extra_headers={session: question.session} if session else {},
        )
        text = "".join(block.text for block in found.content if block.type == "text")
        return Reply(text, found.usage.input_tokens + found.usage.output_tokens)

    async def models(self) -> list[str]:
        """Names of the models that the key may use. Raises anthropic.AnthropicError."""
        return [model.id async for model in self._client.models.list()]

    async def close(self) -> None:
        """Connections are let go."""
        await self._client.close()


def content_of(question: Question) -> Any:
    """The user message: text, and the picture before it where there is one."""
    text = {"type": "text", "text": question.text}
    if question.picture is None:
        return [text]
    data = base64.b64encode(question.picture).decode()
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}, text]
