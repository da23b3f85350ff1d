"""Graceful stops on Ctrl-C, termination, Ctrl-\\ and closed terminals."""

import os
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

TERMINATIONS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
HANDLED = (signal.SIGINT, *TERMINATIONS)


@dataclass(frozen=True)
class Stop:
    """A received signal and its time by time.monotonic()."""

    number: int
    at: float


class Stops(list[Stop]):
    """The received signals."""

    def listen(self) -> None:
        """Install the signal handlers. A second Ctrl-C interrupts. Signals ignored by nohup stay ignored."""
        for number in HANDLED:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._record)

    def _record(self, number: int, _: FrameType | None) -> None:
        if self and number == signal.SIGINT:
            raise KeyboardInterrupt
        if number == signal.SIGHUP:
            leave_terminal()
        self.append(Stop(number, time.monotonic()))


def leave_terminal() -> None:
    """Redirect terminal output to /dev/null, because writing to a closed terminal fails."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode):  # a closed terminal is no longer reported as one
                os.dup2(nowhere, stream)
    os.close(nowhere)


@contextmanager
def unheard() -> Iterator[None]:
    """Shield child processes from terminal signals, which would end them before this process."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGQUIT))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


@contextmanager
def restored(numbers: Iterable[int]) -> Iterator[None]:
    """Restore the handlers of these signals after the block."""
    old = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def stopping() -> Iterator[Stops]:
    """Yield a list that is no longer empty after Ctrl-C or a termination. A second Ctrl-C interrupts.

    After starting Ray, call `listen` again: Ray replaces the handler of SIGTERM by one that exits immediately.
    """
    stops = Stops()
    with restored(HANDLED):
        stops.listen()
        yield stops


@contextmanager
def ending() -> Iterator[None]:
    """Raise SystemExit at a termination, so that `finally` blocks end the processes that were started."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)  # the shell's exit code for a process that this signal ended

    with restored(TERMINATIONS):
        for number in TERMINATIONS:
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, leave)
        yield
