"""An HTTP client for untrusted servers: bodies are bounded, not decompressed, and redirects are not followed."""

from collections.abc import AsyncIterator
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from ante.errors import BalatroError
from ante.messages import foreign

BODY_BYTES = 4 << 20  # most bytes of a response's body
PLAIN = ("", "identity")
SHOWN = 60  # characters of a body that a message quotes
Model = TypeVar("Model", bound=BaseModel)


class BadReply(BalatroError, ValueError):
    """A response is invalid."""


class BoundedClient(httpx2.AsyncClient):
    """A client whose responses have at most BODY_BYTES. `send` raises BadReply."""

    def __init__(self, timeout_seconds: float) -> None:
        super().__init__(timeout=timeout_seconds, follow_redirects=False, headers={"Accept-Encoding": "identity"})

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """See httpx2."""
        response = await super().send(request, stream=True, **options)
        try:
            check_head(response)
            response.stream = BoundedStream(response.stream)  # type: ignore[arg-type]
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response


class BoundedStream(httpx2.AsyncByteStream):
    """The bytes of a response. Raises BadReply if there are too many."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the chunks of the body."""
        count = 0
        async for chunk in self._stream:
            count += len(chunk)
            if count > BODY_BYTES:
                raise too_long()
            yield chunk

    async def aclose(self) -> None:
        """Release the connection."""
        await self._stream.aclose()


def check_head(response: httpx2.Response) -> None:
    """Raise BadReply for redirects, and for bodies that are too large or encoded."""
    if response.is_redirect:
        raise BadReply(
            f"it redirects to {foreign(response.headers.get('location', 'nowhere'))}, which is not followed: "
            "set the right URL"
        )
    packed = response.headers.get("content-encoding", "").lower()
    if packed not in PLAIN:
        raise BadReply(f"its body is encoded ({foreign(packed, longest=30)}), which was not requested")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 20 or int(length) > BODY_BYTES):
        raise too_long()


def too_long() -> BadReply:
    """Return the error for a body that is too long."""
    return BadReply(f"its body is longer than {BODY_BYTES >> 20} MiB")


def read_reply(model: type[Model], body: bytes, wanted: str) -> Model:
    """Parse the body of a response. Raises BadReply, also for invalid text and JSON that is nested too deeply.

    wanted  name of the expected content, for the message
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        start = foreign(body[: 4 * SHOWN].decode(errors="replace"), longest=SHOWN)
        raise BadReply(
            f"it is not a {wanted} ({place and f'{place}: '}{foreign(first['msg'])}); it begins with {start!r}"
        ) from None
