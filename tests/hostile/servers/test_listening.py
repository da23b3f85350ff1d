"""Every server of the command line listens on the loopback interface alone."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.support.network import LOOPBACK, listening, own_address

SECONDS = 120.0  # until a server has started; the first one may compile
SERVERS = {  # command and number of sockets
    "watch": ("watch {runs} --serve --port 0", 1),
    "runs": ("serve runs {runs} --port 0", 1),
    "mcp": ("serve mcp --runs {runs} --port 0", 1),
    "balatrobot": ("serve balatrobot --sessions 2 --port 0", 2),
    "decisions": ("serve decisions greedy --port 0 --metrics-port {free}", 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_listens_on_loopback_alone(name: str, tmp_path: Path) -> None:
    words, count = SERVERS[name]
    (tmp_path / "runs").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as unused:
        free = unused.getsockname()[1]
    command = [sys.executable, "-m", "ante.cli", *words.format(runs=tmp_path / "runs", free=free).split()]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path)
    try:
        end = time.monotonic() + SECONDS
        while len(found := sockets(process.pid)) < count and process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
        assert len(found) == count, (tmp_path / "log").read_text()
        assert {address for address, _ in found} <= LOOPBACK
        for _, port in found:
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((own_address(), port), timeout=10)
    finally:
        process.kill()
        process.wait()


def sockets(pid: int) -> set[tuple[str, int]]:
    """Return the listening sockets of a process and its descendants."""
    try:
        server = psutil.Process(pid)
        return listening([server, *server.children(recursive=True)])
    except psutil.Error:
        return set()
