"""An advisor behind Claude's API, with structured output."""

import asyncio
import base64
from typing import Any

import anthropic
from anthropic import transform_schema
from pydantic import BaseModel

from ante.hints.advice import ModelList, Reply, schema_of, tokens_of
from ante.hints.question import Question
from ante.hints.settings import KEY_VARIABLE, AdvisorSettings, BadHints
from ante.http.client import BoundedClient, read_reply


class Block(BaseModel):
    """A content block of a message."""

    type: str
    text: str = ""


class Message(BaseModel):
    """The parsed part of a message; `usage` is not validated."""

    content: list[Block]
    usage: Any = None


class ClaudeAdvisor:
    """An advisor that uses `/v1/messages`."""

    def __init__(self, settings: AdvisorSettings, key: str | None) -> None:
        self.settings, self.model = settings.complete(), settings.model or ""
        if key is None:
            raise BadHints(f"provider claude requires an API key: set {KEY_VARIABLE} or ANTHROPIC_API_KEY")
        headers = {"Host": settings.host_header} if settings.host_header else {}
        self._client = anthropic.AsyncAnthropic(
            base_url=settings.endpoint,
            api_key=key,
            timeout=settings.timeout_seconds,
            max_retries=0,
            default_headers=headers,
            http_client=BoundedClient(settings.timeout_seconds),
        )

    async def ask(self, question: Question) -> Reply:
        """Return the raw response. Raises anthropic.AnthropicError, BadReply, TimeoutError."""
        session = self.settings.session_header
        async with asyncio.timeout(self.settings.timeout_seconds):
            raw = await self._client.messages.with_raw_response.create(
                model=self.model,
                system=question.system,
                messages=[{"role": "user", "content": content_of(question)}],
                max_tokens=self.settings.answer_tokens,
                output_config={"format": {"type": "json_schema", "schema": transform_schema(schema_of(question))}},
                extra_headers={session: question.session} if session else {},
            )
        found = read_reply(Message, raw.http_response.content, "message")
        usage = found.usage if isinstance(found.usage, dict) else {}
        read, written = (tokens_of(usage.get(name)) for name in ("input_tokens", "output_tokens"))
        return Reply("".join(block.text for block in found.content if block.type == "text"), read + written, written)

    async def models(self) -> list[str]:
        """Return the names of the key's models. Raises anthropic.AnthropicError, BadReply, TimeoutError."""
        async with asyncio.timeout(self.settings.timeout_seconds):
            raw = await self._client.models.with_raw_response.list(limit=1000)
        return read_reply(ModelList, raw.http_response.content, "list of models").names()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def content_of(question: Question) -> Any:
    """Return the user message: the image if there is one, then the text."""
    text = {"type": "text", "text": question.text}
    if question.picture is None:
        return [text]
    data = base64.b64encode(question.picture).decode()
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}, text]
