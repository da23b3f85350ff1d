"""Reads W&B's file of a run: a log in LevelDB's format (blocks of 32 KiB) of protobuf records."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEADER, BLOCK = b":W&B", 32768
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def chunks(data: bytes) -> Iterator[bytes]:
    """Yield the records' bytes, joined across block boundaries."""
    assert data[:4] == HEADER
    at, parts = 7, b""
    while at + 7 <= len(data):
        room = BLOCK - at % BLOCK
        if room < 7:
            at += room
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (WHOLE, LAST):
            yield parts
            parts = b""


def read_wandb(file: Path) -> dict[str, Any]:
    """Return id, name, project, group, config, history rows, summary and exit code of a run's file."""
    from wandb.proto import wandb_internal_pb2 as pb

    found: dict[str, Any] = {"config": {}, "rows": [], "summary": {}}
    for chunk in chunks(file.read_bytes()):
        record = pb.Record.FromString(chunk)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run = record.run
            found |= {"id": run.run_id, "name": run.display_name, "project": run.project, "group": run.run_group}
            found["config"] |= {each.key: json.loads(each.value_json) for each in run.config.update}
        elif kind == "config":
            found["config"] |= {
                each.key or each.nested_key[0]: json.loads(each.value_json) for each in record.config.update
            }
        elif kind == "history":
            found["rows"].append({e.key or e.nested_key[0]: json.loads(e.value_json) for e in record.history.item})
        elif kind == "summary":
            found["summary"] |= {e.key or e.nested_key[0]: json.loads(e.value_json) for e in record.summary.update}
        elif kind == "exit":
            found["exit"] = record.exit.exit_code
    return found
