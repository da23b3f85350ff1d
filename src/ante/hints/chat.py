"""An advisor behind an OpenAI-compatible API with `response_format: json_schema`, such as vLLM or llama.cpp."""

import asyncio
import base64
from typing import Any

import openai
from pydantic import BaseModel, Field

from ante.hints.advice import SCHEMA_NAME, ModelList, Reply, schema_of, tokens_of
from ante.hints.question import Question
from ante.hints.settings import AdvisorSettings
from ante.http.client import BadReply, BoundedClient, read_reply

NO_KEY = "none"  # for servers without authentication, because the client requires a key


class Message(BaseModel):
    """A message of a chat completion."""

    content: str | None = None


class Choice(BaseModel):
    """A choice of a chat completion."""

    message: Message


class Completion(BaseModel):
    """The parsed part of a chat completion; `usage` is not validated."""

    choices: list[Choice] = Field(min_length=1)
    usage: Any = None


class ChatAdvisor:
    """An advisor that uses `/v1/chat/completions`."""

    def __init__(self, settings: AdvisorSettings, key: str | None) -> None:
        self.settings, self.model = settings.complete(), settings.model or ""
        headers = {"Host": settings.host_header} if settings.host_header else {}
        self._client = openai.AsyncOpenAI(
            base_url=settings.endpoint,
            api_key=key or NO_KEY,
            timeout=settings.timeout_seconds,
            max_retries=0,
            default_headers=headers,
            http_client=BoundedClient(settings.timeout_seconds),
        )

    async def ask(self, question: Question) -> Reply:
        """Return the raw response. Raises openai.OpenAIError, BadReply, TimeoutError."""
        session = self.settings.session_header
        async with asyncio.timeout(self.settings.timeout_seconds):
            raw = await self._client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[  # type: ignore[arg-type]
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": content_of(question)},
                ],
                max_tokens=self.settings.answer_tokens,
                temperature=0.0,
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": SCHEMA_NAME, "schema": schema_of(question), "strict": True},
                },
                extra_headers={session: question.session} if session else {},
            )
        found = read_reply(Completion, raw.http_response.content, "chat completion")
        text = found.choices[0].message.content
        if text is None:
            raise BadReply("the completion contains no text")
        usage = found.usage if isinstance(found.usage, dict) else {}
        return Reply(text, tokens_of(usage.get("total_tokens")), tokens_of(usage.get("completion_tokens")))

    async def models(self) -> list[str]:
        """Return the names of the server's models. Raises openai.OpenAIError, BadReply, TimeoutError."""
        async with asyncio.timeout(self.settings.timeout_seconds):
            raw = await self._client.models.with_raw_response.list()
        return read_reply(ModelList, raw.http_response.content, "list of models").names()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def content_of(question: Question) -> Any:
    """Return the user message: text, and the image if there is one."""
    if question.picture is None:
        return question.text
    data = base64.b64encode(question.picture).decode()
    return [
        {"type": "text", "text": question.text},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
