"""The measured games as JSON lines: one for the reference, one for each training seed and milestone.

Lines are appended as soon as their games are played, so that an interrupted measurement continues after the last one.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from ante.agents.evaluate import Report
from ante.errors import first_fault
from ante.files import Unreadable, append_lines, parse_json, whole_lines
from ante.training.settings.field import Settings

FILE = "games.jsonl"
REFERENCE = -1  # in place of a training seed


class Record(Settings):
    """The games of one policy.

    Args:
        seed: Training seed; REFERENCE for the released policy.
        minutes: The milestone.
        seconds: Training time of the checkpoint, which is the first one at or after the milestone.
        steps: Environment steps of its training.
        checkpoint: Its name.
        weights_sha256: Hex SHA-256 of its weights.
        play_seconds: Duration of the games.
        games: Number of games, on the first seeds of the benchmark.
        won: Which were won, as hexadecimal text of packed bits in the order of the seeds.
    """

    seed: int
    minutes: float = 0.0
    seconds: float = 0.0
    steps: int = 0
    checkpoint: str = ""
    weights_sha256: str
    play_seconds: float = 0.0
    games: int = Field(ge=1)
    won: str

    def wins(self) -> NDArray[np.float64]:
        """Return 1 for each game that was won, else 0: (games,)."""
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(self.won), dtype=np.uint8))
        if len(bits) != 8 * -(-self.games // 8):
            raise ValueError(f"won has {len(bits)} bits for {self.games} games")
        return bits[: self.games].astype(np.float64)


def packed_wins(report: Report) -> str:
    """Return which games were won, as in `Record.won`."""
    return np.packbits([record.outcome == "won" for record in report.records]).tobytes().hex()


def read_records(out: Path) -> list[Record]:
    """Return the records in a folder; the rest of an interrupted write is skipped. Raises Unreadable."""
    file = out / FILE
    records: list[Record] = []
    for number, line in enumerate(whole_lines(file), 1):
        try:
            records.append(Record.model_validate(parse_json(line, file)))
            records[-1].wins()
        except ValidationError as error:
            raise Unreadable(f"cannot read {file}, line {number}: {first_fault(error)}: remove the line") from None
        except ValueError as error:
            raise Unreadable(f"cannot read {file}, line {number}: {error}: remove the line") from None
    return records


def append_record(out: Path, record: Record) -> None:
    """Append a line."""
    append_lines(out / FILE, [json.dumps(record.model_dump())])


def find(records: Sequence[Record], seed: int, minutes: float) -> Record | None:
    """Return the record of a training seed at a milestone."""
    return next((each for each in records if (each.seed, each.minutes) == (seed, minutes)), None)
