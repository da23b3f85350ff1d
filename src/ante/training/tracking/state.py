"""What is remembered of a run in a tracker, in RUN/tracking/NAME.json, so that a resumed run goes on in the same one."""

import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from ante.files import held, write_text
from ante.training.tracking.tracker import BadTracking

FOLDER = "tracking"


@dataclass(frozen=True)
class State:
    """How far a run has been sent.

    id         of the run in the tracker, empty before it began there
    place      where people look at it
    iteration  of the last row that was sent
    error      why rows wait now, in one line; empty where nothing is wrong
    ended      how the run ended, once the tracker knows of it
    """

    id: str = ""
    place: str = ""
    iteration: int = 0
    error: str = ""
    ended: str = ""


def state_file(run: Path, tracker: str) -> Path:
    """Where it stands."""
    return run / FOLDER / f"{tracker}.json"


def read_state(run: Path, tracker: str) -> State:
    """What is remembered; nothing where the run was never sent. Raises BadTracking."""
    file = state_file(run, tracker)
    if not file.exists():
        return State()
    try:
        return State(**json.loads(file.read_text()))
    except (ValueError, TypeError) as error:
        raise BadTracking(f"{file} cannot be read ({error}): remove it to begin another run in {tracker}") from None


def write_state(run: Path, tracker: str, state: State) -> None:
    """It is remembered."""
    file = state_file(run, tracker)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(asdict(state), indent=1) + "\n")


def taken(run: Path, tracker: str) -> AbstractContextManager[bool]:
    """Whether nobody else sends this run to this tracker; nobody will, as long as it is held."""
    return held(run / FOLDER / f".{tracker}.lock")
