"""`ante bench bus`: its latencies and its table, on a small scale."""

import asyncio
import json
from pathlib import Path

import pytest

from ante.bench.bus import measure as bus
from ante.cli import outcome


@pytest.mark.parametrize("handler", ["same", "other"])
def test_latencies_of_the_log(tmp_path: Path, handler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus, "WARM", 20)
    row = asyncio.run(bus.latencies(str(tmp_path / "events.sqlite"), handler, 500.0, 0.2))
    assert (row.bus, row.handler, row.events) == ("SQLite log", handler, 100)
    assert 0 < row.ack_p50 <= row.ack_p95 <= row.ack_p99 and 0 < row.p50 <= row.p95 <= row.p99


@pytest.mark.slow
def test_the_command_prints_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"bench bus --seconds 0.3 --events 400 --kills 1 --out {tmp_path / 'bus.json'}"
    assert outcome(words.split()) == 0
    found, shown = json.loads((tmp_path / "bus.json").read_text()), capsys.readouterr().out
    assert len(found["rows"]) == 4 and found["kills"]["lost"] == found["kills"]["handled_twice"] == 0
    assert "NATS" in shown and "nats-server killed" in shown
