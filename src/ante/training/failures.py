"""Errors of code in the processes of a training: what is known of them in the main process."""

import re
import traceback
from dataclasses import dataclass
from typing import Any

from ray.exceptions import RayTaskError

FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.MULTILINE)
PROCESS = re.compile(r"\(pid=(\d+)")


@dataclass(frozen=True)
class Failure:
    """An error that code raised; unlike the error itself, it can always be sent to another process.

    kind, message  class and message of the exception
    place          FILE:LINE of the innermost frame; empty if unknown
    traceback      the whole traceback
    process        where it was raised, such as `env runner 1`; empty for the main process
    """

    kind: str
    message: str
    place: str
    traceback: str
    process: str = ""

    @classmethod
    def of(cls, error: BaseException, process: str = "") -> "Failure":
        """Return what is known of an error that was raised in this process."""
        text = "".join(traceback.format_exception(error))
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        return cls(type(error).__name__, str(error), place, text, process)


class RunnerFailed(RuntimeError):
    """An env runner's code raised an error, which a restart would not fix."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)  # Ray copies errors by their arguments
        self.failure = failure

    def __str__(self) -> str:
        return f"{self.failure.process} failed:\n{self.failure.traceback}"


def checked(result: Any) -> Any:
    """Return the result of an env runner. Raises RunnerFailed if it is the failure of its code."""
    if isinstance(result, Failure):
        raise RunnerFailed(result)
    return result


def original(error: BaseException) -> BaseException:
    """Return the error that another process raised, without Ray's error around it."""
    while isinstance(error, RayTaskError):
        error = error.cause
    return error


def failure_of(error: BaseException) -> Failure:
    """Return what is known of an error that ended a training, also if another process raised it."""
    if isinstance(error, RunnerFailed):
        return error.failure
    here = Failure.of(error)
    if not isinstance(error, RayTaskError):
        return here
    cause, text = original(error), str(error)  # the text begins with the process and contains the traceback there
    frames, process = FRAME.findall(text), PROCESS.search(text)
    place = ":".join(frames[-1]) if frames else ""
    return Failure(type(cause).__name__, str(cause), place, here.traceback, f"process {process[1]}" if process else "")
