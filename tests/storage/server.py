"""A real S3 server for tests that can be killed and restarted, and a proxy whose connections can be cut.

python -m tests.storage.server COMMAND ...    runs a command with a server and its environment variables
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

KEY, SECRET, BUCKET = "testkey", "a-secret-nobody-may-see", "game-runs"
PORTS = ("master", "volume", "filer", "s3", "admin")


def free_ports(count: int) -> list[int]:
    """Return free ports whose gRPC counterparts (10,000 above) are free too."""
    found: list[int] = []
    while len(found) < count:
        with socket.socket() as low, socket.socket() as high:
            low.bind(("127.0.0.1", 0))
            port = low.getsockname()[1]
            if port < 55_000 and port not in found:
                try:
                    high.bind(("127.0.0.1", port + 10_000))
                except OSError:
                    continue
                found.append(port)
    return found


class Server:
    """SeaweedFS on a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ports = folder, dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.process: subprocess.Popen[bytes] | None = None
        self.endpoint = f"http://127.0.0.1:{self.ports['s3']}"

    def start(self) -> None:
        program = Path(sys.executable).with_name("weed")
        flags = [f"-{name}.port={port}" for name, port in self.ports.items()]
        flags += [f"-{name}.port.grpc={port + 10_000}" for name, port in self.ports.items()]
        flags += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.autoCreateBucket=false", "-webdav=false"]
        flags += ["-admin.ui=false", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder.parent / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(program), "mini", *flags, f"-bucket={BUCKET}"],
                env=environment,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        client = self.client()
        for _ in range(1200):
            try:
                client.head_bucket(Bucket=BUCKET)
                client.put_object(Bucket=BUCKET, Key="ready", Body=b"")
                return
            except (BotoCoreError, ClientError):
                assert self.process.poll() is None, (self.folder.parent / "server.log").read_text()[-2000:]
                time.sleep(0.1)
        raise AssertionError((self.folder.parent / "server.log").read_text()[-2000:])

    def kill(self) -> None:
        """Kill the server, as a power failure does."""
        assert self.process
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def client(self, endpoint: str | None = None):
        quick = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, connect_timeout=2)
        return boto3.client(
            "s3",
            endpoint_url=endpoint or self.endpoint,
            region_name="us-east-1",
            config=quick,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )

    def environment(self, endpoint: str | None = None) -> dict[str, str]:
        return {
            "S3_ENDPOINT_URL": endpoint or self.endpoint,
            "S3_BUCKET_NAME": BUCKET,
            "S3_ACCESS_KEY_ID": KEY,
            "S3_SECRET_ACCESS_KEY": SECRET,
        }

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy:
    """A TCP proxy to a server. It counts sent bytes, can cut connections after some bytes, and can flip one bit."""

    def __init__(self, port: int) -> None:
        self.target, self.sent = port, 0
        self.cut_after: int | None = None
        self.flip_at: int | None = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return  # closed
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            threading.Thread(target=self._pump, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, False), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, upward: bool) -> None:
        try:
            while data := source.recv(65_536):
                if upward:
                    if self.flip_at is not None and self.sent + len(data) > self.flip_at:
                        place = max(0, self.flip_at - self.sent)
                        data = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
                        self.flip_at = None
                    self.sent += len(data)
                    if self.cut_after is not None and self.sent > self.cut_after:
                        self.cut_after = None
                        break
                target.sendall(data)
        except OSError:
            pass  # the other end closed the connection, as these tests intend
        for end in (source, target):
            with_shutdown(end)

    def close(self) -> None:
        self.listener.close()


def with_shutdown(end: socket.socket) -> None:
    """Shut down both directions."""
    with suppress(OSError):  # already closed
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def proxy_to(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server.ports["s3"])
    try:
        yield proxy
    finally:
        proxy.close()


def main() -> int:
    """Run the command; the server has a lower priority, since it represents another machine."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "data")
        server.start()
        assert server.process
        subprocess.run(["renice", "-n", "19", "-g", str(server.process.pid)], check=True, stdout=subprocess.DEVNULL)
        with suppress(OSError):  # Linux may schedule by session, which requires this too
            Path(f"/proc/{server.process.pid}/autogroup").write_text("19")
        try:
            return subprocess.run(sys.argv[1:], env={**os.environ, **server.environment()}).returncode
        finally:
            server.remove()


if __name__ == "__main__":
    sys.exit(main())
