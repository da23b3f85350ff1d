"""State of a run in a tracker, in RUN/tracking/NAME.json, so that a resumed run continues in the same one."""

import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ante.errors import first_fault
from ante.files import NoFile, Unreadable, held, read_object, write_text
from ante.training.tracking.tracker import BadTracking

FOLDER = "tracking"


@dataclass(frozen=True)
class State:
    """The progress of sending a run.

    id         of the run in the tracker, empty before it was created
    place      URL of the run in the tracker
    iteration  of the last row that was sent
    error      why rows are not sent, in one line; empty without an error
    ended      how the run ended, once the tracker has recorded it
    """

    id: str = ""
    place: str = ""
    iteration: int = 0
    error: str = ""
    ended: str = ""


def state_file(run: Path, tracker: str) -> Path:
    """Return the path of the state file."""
    return run / FOLDER / f"{tracker}.json"


STATE = TypeAdapter(State)


def read_state(run: Path, tracker: str) -> State:
    """Read the state; an empty state if the run was never sent. Raises BadTracking."""
    file = state_file(run, tracker)
    try:
        return STATE.validate_json(json.dumps(read_object(file)))
    except NoFile:
        return State()
    except Unreadable as error:
        raise BadTracking(f"{error}; remove it to start another run in {tracker}") from None
    except ValidationError as error:
        raise BadTracking(f"{file}, {first_fault(error)}; remove it to start another run in {tracker}") from None


def write_state(run: Path, tracker: str, state: State) -> None:
    """Write the state."""
    file = state_file(run, tracker)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(asdict(state), indent=1) + "\n")


def taken(run: Path, tracker: str) -> AbstractContextManager[bool]:
    """Lock the sending of this run to this tracker; yield whether this process holds the lock."""
    return held(run / FOLDER / f".{tracker}.lock")
