"""`ante bench bus`: its latencies and its table, on a small scale."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from ante.bench.bus import measure as bus
from ante.bench.bus.nats_server import program
from ante.cli import outcome
from ante.events.urls import BadBus
from ante.stopping import ending


@pytest.mark.parametrize("handler", ["same", "other"])
def test_latencies_of_the_log(tmp_path: Path, handler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus, "WARM", 20)
    row = asyncio.run(bus.latencies(str(tmp_path / "events.sqlite"), handler, 500.0, 0.2))
    assert (row.bus, row.handler, row.events) == ("SQLite log", handler, 100)
    assert 0 < row.ack_p50 <= row.ack_p95 <= row.ack_p99 and 0 < row.p50 <= row.p95 <= row.p99


def test_a_short_measurement_counts_one_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus, "WARM", 2)
    row = asyncio.run(bus.latencies(str(tmp_path / "events.sqlite"), "same", 500.0, 0.001))
    assert row.events == 1 and row.ack_p50 == row.ack_p99 > 0


def test_a_slow_handler_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def handled(bus: object, consumer: str, n: int, ready: Callable[[], None]) -> list[float]:
        ready()
        await asyncio.sleep(60.0)
        return []

    monkeypatch.setattr(bus, "handled", handled)
    monkeypatch.setattr(bus, "LAST_SECONDS", 0.1)
    monkeypatch.setattr(bus, "WARM", 20)
    with pytest.raises(BadBus, match=r"not all of 25 events reach the handler .* give a lower --rate than 500"):
        asyncio.run(bus.latencies(str(tmp_path / "events.sqlite"), "same", 500.0, 0.01))


class Refusing:
    """A bus that refuses a consumer, and its third event."""

    published = 0

    async def publish(self, event: object) -> int:
        self.published += 1
        if self.published == 3:
            raise BadBus("the bus is full")
        return self.published

    async def subscribe(self, consumer: str, since: str) -> None:
        raise BadBus("no permission")


def test_an_event_that_the_bus_refuses_ends_the_measurement() -> None:
    with pytest.raises(BadBus, match="the bus is full"):
        asyncio.run(bus.publish_at(Refusing(), 1000.0, 20, lambda event, due: None))


def test_a_handler_that_cannot_subscribe_ends_the_measurement(tmp_path: Path) -> None:
    async def handle(url: str, handler: str) -> None:
        async with bus.handling(Refusing(), url, handler, 5):
            pass

    with pytest.raises(BadBus, match="no permission"):
        asyncio.run(asyncio.wait_for(handle("", "same"), 20.0))
    with pytest.raises(BadBus, match="the process that handles events has ended"):
        asyncio.run(handle(str(tmp_path), "other"))


def test_kills_without_a_later_acknowledgement_are_valid_json() -> None:
    found = bus.Kills(1, 1, 1.0, 0, 0, 0, 0, 0, 0, back=float("nan")).as_json()
    assert json.loads(json.dumps(found, allow_nan=False))["back"] is None


@pytest.mark.slow
def test_the_command_prints_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"bench bus --seconds 0.3 --events 400 --kills 1 --out {tmp_path / 'bus.json'}"
    assert outcome(words.split()) == 0
    found, shown = json.loads((tmp_path / "bus.json").read_text()), capsys.readouterr().out
    assert len(found["rows"]) == 4 and found["kills"]["lost"] == found["kills"]["handled_twice"] == 0
    assert "NATS" in shown and "nats-server killed" in shown


def servers_under(folder: Path) -> list[int]:
    """Return the processes of nats-server whose files are in this folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (each / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"nats-server") and any(bytes(folder) in word for word in words):
                found.append(int(each.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists() or program() is None, reason="needs /proc and nats-server")
@pytest.mark.parametrize("moment", ["--seconds 60", "--seconds 0.1 --events 100000 --kills 1000"])
def test_a_terminated_measurement_leaves_no_server(tmp_path: Path, moment: str) -> None:
    measuring = subprocess.Popen(
        [sys.executable, "-m", "ante.cli", "bench", "bus", *moment.split()],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wanted = "killed" if "kills" in moment else "nats"
    try:
        while not (servers := servers_under(tmp_path)) or not list(tmp_path.glob(f"*/{wanted}")):
            assert measuring.poll() is None
            time.sleep(0.1)
        measuring.send_signal(signal.SIGTERM)
        assert measuring.wait(20) == 128 + signal.SIGTERM
        assert servers_under(tmp_path) == []
    finally:
        measuring.kill()
        for server in servers_under(tmp_path):
            os.kill(server, signal.SIGKILL)
    assert servers and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_termination_leaves_the_block_and_restores_the_handlers(
    number: signal.Signals, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(signal.signal, number, signal.signal(number, signal.SIG_DFL)))  # nohup ignores SIGHUP
    before, closed = signal.getsignal(number), []
    with pytest.raises(SystemExit) as left, ending():
        try:
            os.kill(os.getpid(), number)
            time.sleep(5)
        finally:
            closed.append(True)
    assert left.value.code == 128 + number and closed and signal.getsignal(number) == before
