"""Stopping in order: what Ctrl-C and a termination ask for."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(frozen=True)
class Stop:
    """A signal that came, and when, by time.monotonic()."""

    number: int
    at: float


@contextmanager
def stopping() -> Iterator[list[Stop]]:
    """Yields a list that is no longer empty once Ctrl-C or a termination was asked for. A second Ctrl-C interrupts."""
    asked: list[Stop] = []

    def ask(number: int, _: FrameType | None) -> None:
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.append(Stop(number, time.monotonic()))

    old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
