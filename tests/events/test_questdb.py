"""The sink of events for QuestDB: its statements and rows, and a real server.

QUESTDB_JAR names the server's jar (Maven Central, org.questdb:questdb), which needs a Java runtime of version 17 or later.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

httpx2 = pytest.importorskip("httpx2")
pytest.importorskip("questdb")

from ante.cli import outcome  # noqa: E402
from ante.events.bus import Delivery  # noqa: E402
from ante.events.log import LogBus  # noqa: E402
from ante.events.messages import event_of  # noqa: E402
from ante.events.questdb_sink import PASSWORD, USER, QuestDbSink, columns_of, statement_of  # noqa: E402
from ante.events.urls import BadBus  # noqa: E402
from ante.events.v1 import events_pb2 as pb  # noqa: E402
from tests.events.conftest import ended, state  # noqa: E402
from tests.events.test_store import filled  # noqa: E402

JAR = os.environ.get("QUESTDB_JAR", "")
needs_questdb = pytest.mark.skipif(
    not (JAR and shutil.which("java")), reason="QUESTDB_JAR is not set, or there is no Java runtime"
)
ACCESS = {USER: "ante", PASSWORD: "secret"}


def delivered(events: list[Any]) -> list[Delivery]:
    return [Delivery(number, event) for number, event in enumerate(events, 1)]


class Server:
    """A QuestDB server on 127.0.0.1 that requires a user and a password."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url, self._folder = f"questdb://127.0.0.1:{port}", folder
        settings = {
            "HTTP_BIND_TO": f"127.0.0.1:{port}",
            "HTTP_USER": ACCESS[USER],
            "HTTP_PASSWORD": ACCESS[PASSWORD],
            "HTTP_MIN_ENABLED": "false",
            "PG_ENABLED": "false",
            "LINE_TCP_ENABLED": "false",
            "TELEMETRY_ENABLED": "false",
            "SHARED_WORKER_COUNT": "1",
        }
        self._environment = os.environ | {f"QDB_{name}": value for name, value in settings.items()}
        self._client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", auth=tuple(ACCESS.values()), timeout=10.0)

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            words = ["java", "-Xmx512m", "-Dnoebug", "-cp", JAR, "io.questdb.ServerMain", "-d", str(self._folder)]
            self._process = subprocess.Popen(words, env=self._environment, stdout=log, stderr=log)
        end = time.monotonic() + 120
        while time.monotonic() < end and self._process.poll() is None:
            try:
                self.rows("SELECT 1")
                return
            except httpx2.HTTPError:
                time.sleep(0.2)
        raise AssertionError((self._folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def rows(self, statement: str) -> list[dict[str, Any]]:
        """Return the rows of a statement."""
        answer = self._client.get("/exec", params={"query": statement})
        answer.raise_for_status()
        found = answer.json()
        names = [each["name"] for each in found.get("columns", [])]
        return [dict(zip(names, row, strict=True)) for row in found.get("dataset", [])]

    def rows_when(self, statement: str, n: int) -> list[dict[str, Any]]:
        """Return the rows once there are n: written rows become visible a little later."""
        end = time.monotonic() + 60
        while len(found := self.rows(statement)) < n and time.monotonic() < end:
            time.sleep(0.1)
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("questdb"))
    found.start()
    yield found
    found.kill()


@needs_questdb
@pytest.mark.slow
def test_every_kind_of_event_is_stored_once_with_all_values(server: Server) -> None:
    events = filled()
    with QuestDbSink(server.url, ACCESS) as sink:
        sink.write(delivered(events))
        sink.write(delivered(events))  # as after a lost acknowledgement
        marker = state(1, "marker")
        sink.write(delivered([marker]))
    server.rows_when(f"SELECT id FROM ante_run_state WHERE id = '{marker.id}'", 1)
    for each in events:
        name, columns = columns_of(Delivery(1, each))
        (row,) = server.rows_when(f"SELECT * FROM ante_{name} WHERE id = '{each.id}'", 1)
        assert {key: row[key] for key in columns} == columns and row["source"] == "test"
        assert row["time"][:23] == each.time.ToJsonString()[:23]


@needs_questdb
@pytest.mark.slow
def test_events_survive_a_killed_server_and_the_sink_goes_on(server: Server) -> None:
    with QuestDbSink(server.url, ACCESS) as sink:
        sink.write(delivered([ended("before")]))
        server.kill()
        server.start()
        sink.write(delivered([ended("after")]))
    found = server.rows_when("SELECT subject FROM ante_game_ended WHERE subject IN ('before', 'after')", 2)
    assert sorted(row["subject"] for row in found) == ["after", "before"]


@needs_questdb
@pytest.mark.slow
def test_the_command_moves_a_log_and_a_wrong_password_leaves_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "events.sqlite"

    async def fill() -> None:
        bus = LogBus(log)
        for number in range(50):
            await bus.publish(event_of("test", f"game-{number}", pb.GameEnded(outcome="won", blinds=number)))
        await bus.close()

    asyncio.run(fill())
    words = ["events", "archive", str(log), "--to", server.url]
    monkeypatch.setenv(USER, "ante")
    monkeypatch.setenv(PASSWORD, "wrong")
    assert outcome(words) == 2 and "cannot create the table" in capsys.readouterr().err
    monkeypatch.setenv(PASSWORD, "secret")
    assert outcome(words) == 0 and "50 events" in capsys.readouterr().out
    assert outcome(words) == 0 and ": 0 events" in capsys.readouterr().out
    statement = "SELECT blinds FROM ante_game_ended WHERE subject LIKE 'game-%'"
    assert sum(row["blinds"] for row in server.rows_when(statement, 50)) == sum(range(50))


def test_each_kind_has_a_statement_with_its_columns() -> None:
    for each in filled():
        name, columns = columns_of(Delivery(1, each))
        statement = statement_of(name)
        assert f"ante_{name} (" in statement and all(f" {key} " in statement for key in columns)
    assert "blinds LONG" in statement_of("game_ended") and "reward DOUBLE" in statement_of("game_ended")


def test_large_unsigned_numbers_keep_their_bits_and_missing_ones_are_null() -> None:
    _, columns = columns_of(Delivery(1, state(2**64 - 1)))
    assert columns["steps"] == -1 and columns["win_rate"] is None


@pytest.mark.parametrize("url", ["questdb://", "questdb://host", "questdb://u:p@host:9000", "questdb://host:9000/x"])
def test_a_bad_url_is_refused(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["events", "archive", str(tmp_path / "events.sqlite"), "--to", url]) == 2
    assert "use questdb://HOST:PORT" in capsys.readouterr().err


def test_days_are_for_files_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["events", "archive", str(tmp_path / "events.sqlite"), "--to", "questdb://127.0.0.1:9", "--days", "3"]
    assert outcome(words) == 2 and "TTL" in capsys.readouterr().err


def test_a_server_that_is_away_is_reported() -> None:
    with QuestDbSink("questdb://127.0.0.1:9", {}) as sink, pytest.raises(BadBus, match="cannot create the table"):
        sink.write(delivered([ended()]))
