"""How commands show errors: as one sentence, without secrets; exit code 2 for a user's error, 1 for a bug."""

import errno
import re
import sys
import traceback
from pathlib import Path

from ante.errors import BalatroError
from ante.files import write_text
from ante.messages import foreign, masked

REPORT = "error.txt"  # traceback of the last bug, in the folder of a run
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Ray colours names of processes
LONGEST_MESSAGE = 400  # characters of a bug's message in its sentence
MACHINE_ERRORS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EIO,
    errno.EFBIG,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
)


def sentence_of(error: BaseException) -> str | None:
    """Return the message for a user error or exhausted resources; None for a bug."""
    if isinstance(error, BalatroError):
        return str(error)
    if isinstance(error, MemoryError):
        return (
            f"out of memory{f': {error}' if str(error) else ''}; reduce the size of the task, or close other programs"
        )
    if isinstance(error, OSError) and (error.filename is not None or error.errno in MACHINE_ERRORS):
        return f"cannot read or write: {error}"
    return None


def refused(message: str) -> int:
    """Print the message of a user's error, and return the exit code."""
    say(message)
    return 2


def say(message: str) -> None:
    """Print an error message without secrets and control characters."""
    plain = "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in message)
    print(f"ante: {masked(plain)}", file=sys.stderr)


def bug_in_run(error: Exception, folder: Path) -> int:
    """Write the traceback of a bug that ended a training to its folder, print a sentence, and return the exit code."""
    from ante.training.failures import failure_of

    failure = failure_of(error)
    place = " in ".join(filter(None, (failure.place, failure.process)))
    what = ": ".join(filter(None, (failure.kind, foreign(failure.message, longest=LONGEST_MESSAGE))))
    sentence = f"{what}; raised at {place}"
    text = COLOUR.sub("", "".join(traceback.format_exception(error)))
    try:
        write_text(folder / REPORT, masked(f"{sentence}\n\n{text}"))
        kept = f"traceback: {folder / REPORT}"
    except OSError as problem:
        print(masked(text), file=sys.stderr)
        kept = f"the traceback above cannot be written to {folder / REPORT} ({problem})"
    say(f"{sentence}; {kept}; continue with: ante train --resume {folder}")
    return 1
