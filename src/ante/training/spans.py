"""Spans: named sections of the training path that a profiler can time.

    with span("env"):
        games.step(actions)

Without a listener a span does nothing. A listener (`ante.bench.stopwatch`) receives the spans of its own thread only.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

Listener = Callable[[str], AbstractContextManager[Any]]
NAMES = ("env", "pack", "forward", "sample", "GAE", "copy", "stage", "gradient", "optimizer", "sync")

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_NOTHING = nullcontext()


def span(name: str) -> AbstractContextManager[Any]:
    """Return a context manager for one section; name is one of NAMES."""
    listener = _listener.get()
    return _NOTHING if listener is None else listener(name)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` with the name of each span in this thread; its result is a context manager around the span."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
