"""Stopping in order: what Ctrl-C and a termination ask for."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

HEARD = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Stop:
    """A signal that came, and when, by time.monotonic()."""

    number: int
    at: float


class Stops(list[Stop]):
    """The signals that came."""

    def listen(self) -> None:
        """Ctrl-C and terminations come here from now on. A second Ctrl-C interrupts."""
        for number in HEARD:
            signal.signal(number, self._ask)

    def _ask(self, number: int, _: FrameType | None) -> None:
        if self and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.append(Stop(number, time.monotonic()))


@contextmanager
def stopping() -> Iterator[Stops]:
    """Yields a list that is no longer empty once Ctrl-C or a termination was asked for. A second Ctrl-C interrupts.

    Who starts Ray meanwhile calls `listen` again: it takes SIGTERM for itself, and exits at once.
    """
    stops, old = Stops(), {number: signal.getsignal(number) for number in HEARD}
    stops.listen()
    try:
        yield stops
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
