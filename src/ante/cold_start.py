"""What a process does when compiled code is missing: by default it logs a warning; a command compiles with progress."""

import logging
from collections.abc import Callable


def warn() -> None:
    """Log that compilation begins."""
    logging.getLogger("ante").warning(
        "compiling the engine for this processor: minutes, once per version; `ante warmup` compiles it in parallel"
    )


ACTIONS: list[Callable[[], None]] = [warn]  # empty once it has run


def when_cold(action: Callable[[], None]) -> None:
    """Call `action` once, before this process compiles the first missing function of the engine."""
    ACTIONS[:] = [action]


def missing() -> None:
    """Called with each function that is not in the cache; calls the action the first time."""
    if ACTIONS:
        ACTIONS.pop()()
