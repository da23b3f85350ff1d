"""An OpenAI-compatible server as advisor: vLLM, llama.cpp, or any other that knows `response_format: json_schema`."""

import base64
from typing import Any

import openai

from ante.hints.advice import SCHEMA_NAME, Reply, schema_of
from ante.hints.question import Question
from ante.hints.settings import HintSettings

NO_KEY = "none"  # the client insists on one; servers in the cluster mostly ask for none


class ChatAdvisor:
    """Asks `/v1/chat/completions`."""

    def __init__(self, settings: HintSettings, key: str | None) -> None:
        self.settings, self.model = settings.complete(), settings.model or ""
        headers = {"Host": settings.host_header} if settings.host_header else {}
        self._client = openai.AsyncOpenAI(
            base_url=settings.endpoint,
            api_key=key or NO_KEY,
            timeout=settings.timeout_seconds,
            max_retries=0,
            default_headers=headers,
        )

    async def ask(self, question: Question) -> Reply:
        """The raw reply. Raises openai.OpenAIError."""
        session = self.settings.session_header
        found = await self._client.chat.completions.create(
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
        text = found.choices[0].message.content if found.choices else None
        return Reply(text or "", found.usage.total_tokens if found.usage else 0)

    async def models(self) -> list[str]:
        """Names of the models that the server has. Raises openai.OpenAIError."""
        return [model.id async for model in self._client.models.list()]

    async def close(self) -> None:
        """Connections are let go."""
        await self._client.close()


def content_of(question: Question) -> Any:
    """The user message: text, and the picture beside it where there is one."""
    if question.picture is None:
        return question.text
    data = base64.b64encode(question.picture).decode()
    return [
        {"type": "text", "text": question.text},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
