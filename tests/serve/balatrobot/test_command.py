"""The command `ante serve balatrobot`, and its speed."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SECONDS = 3.0  # of each measurement


@contextmanager
def command(*options: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start the command and yield its process and its ports."""
    words = [sys.executable, "-m", "ante.cli", "serve", "balatrobot", "--port", "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            lines = []
            for line in process.stdout:
                if not line.startswith("http"):
                    break
                lines.append(line)
            yield process, [int(line.rstrip("/\n").rpartition(":")[2]) for line in lines]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0


def message(method: str, params: dict[str, Any]) -> bytes:
    """Return the bytes of a request."""
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).encode()
    return b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def exchange(port: int, request: bytes) -> bytes:
    """Return the response to a request, over a new connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as stream:
        stream.sendall(request)
        found = b""
        while part := stream.recv(1 << 17):
            found += part
    return found


def call(port: int, method: str, **params: Any) -> Any:
    """Return the result of a call."""
    return json.loads(exchange(port, message(method, params)).partition(b"\r\n\r\n")[2])["result"]


@pytest.mark.slow
def test_the_command_serves_sessions_until_ctrl_c(tmp_path: Path) -> None:
    with command("--sessions", "3", "--dialect", "2.0", "--fair", "--folder", str(tmp_path)) as (_, ports):
        assert len(set(ports)) == 3
        assert [call(port, "health")["mode"] for port in ports] == ["fair"] * 3
        assert call(ports[1], "start", deck="b_red", stake="stake_gold")["stake"] == "stake_gold"
        assert call(ports[1], "save", path="a.jkr")["success"] and (tmp_path / "a.jkr").exists()
        assert call(ports[2], "load", path="a.jkr")["success"]
        assert call(ports[0], "gamestate")["state"] == "MENU"


@pytest.mark.benchmark
@pytest.mark.parametrize(
    ("method", "params"),
    [("gamestate", {}), ("rearrange", {"hand": [1, 0, 2, 3, 4, 5, 6, 7]})],
    ids=["same state", "changed states"],
)
def test_replies_per_second(method: str, params: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Four clients, each request over its own connection, on the machine of the server."""
    counts = [0] * 4

    def client(number: int, port: int, until: float) -> None:
        request = message(method, params)
        while time.monotonic() < until:
            assert exchange(port, request).startswith(b"HTTP/1.1 200")
            counts[number] += 1

    with command() as (process, (port,)):
        call(port, "start", deck="RED", stake="WHITE", seed="TEST123")
        call(port, "select")
        began, busy = time.monotonic(), cpu_seconds(process.pid)
        threads = [threading.Thread(target=client, args=(i, port, began + SECONDS)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed, busy = time.monotonic() - began, cpu_seconds(process.pid) - busy
    with capsys.disabled():
        replies = sum(counts)
        print(f"\n{method}: {replies / elapsed:,.0f} replies/s, {1e3 * busy / replies:.2f} ms of CPU each")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
