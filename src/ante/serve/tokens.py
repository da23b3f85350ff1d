"""Tokens of clients, from a file or an environment variable, for the servers that other machines can reach."""

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ante.errors import BalatroError
from ante.files import Unreadable, read_bytes

LEAST_TOKEN = 16  # characters
LARGEST_FILE = 1 << 20
LOOPBACKS = ("127.0.0.1", "::1", "localhost")


class BadAccess(BalatroError, ValueError):
    """Options of access that are not valid."""


@dataclass(frozen=True)
class Tokens:
    """Where tokens are. They are read at the start.

    Attributes:
        token_file: File with one token per line; a second one allows the first to be replaced without downtime.
        token_env: Name of an environment variable with a token.
    """

    token_file: Path | None = None
    token_env: str | None = None

    def tokens(self, environment: Mapping[str, str] = os.environ) -> tuple[bytes, ...]:
        """Return the accepted tokens; none if the service requires none. Raises BadAccess."""
        found: list[str] = []
        if self.token_file:
            found += read_small(self.token_file).decode("utf-8", "replace").split()
        if self.token_env:
            found += environment.get(self.token_env, "").split()
        if (self.token_file or self.token_env) and not found:
            raise BadAccess(
                f"there is no token in {self.token_file or self.token_env}: write one of {LEAST_TOKEN} characters"
            )
        if any(len(token) < LEAST_TOKEN for token in found):
            raise BadAccess(
                f"a token has fewer than {LEAST_TOKEN} characters: use a longer one, such as openssl rand -hex 32"
            )
        return tuple(token.encode() for token in found)


def knows(tokens: tuple[bytes, ...], token: bytes) -> bool:
    """Return whether a token is accepted; the time does not depend on where a wrong one differs."""
    return any([hmac.compare_digest(token, known) for known in tokens])


def read_small(file: Path) -> bytes:
    """Return a small file. Raises BadAccess."""
    try:
        return read_bytes(file, LARGEST_FILE)
    except Unreadable as error:
        raise BadAccess(str(error)) from None
