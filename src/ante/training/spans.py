"""Spans: named stretches of work in the training path, which a profiler may time.

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
    """Returns a context for one stretch of work; name is one of NAMES."""
    listener = _listener.get()
    return _NOTHING if listener is None else listener(name)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` with the name of each span of this thread; what it returns surrounds the span."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
