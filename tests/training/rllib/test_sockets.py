"""All sockets of a running training are tried from another address: none is open without a token."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import requests

from tests.support.network import LOOPBACK, listening, own_address

grpc = pytest.importorskip("grpc")

pytestmark = pytest.mark.ray
AUTHENTICATION = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS")
BARE = {name: value for name, value in os.environ.items() if name not in AUTHENTICATION}
JOBS = "/api/job_agent/jobs/"
# One method of each gRPC service in Ray's processes: workers, raylets, object managers, GCS, agents.
METHODS = (
    "CoreWorkerService/PushTask",
    "NodeManagerService/GetSystemConfig",
    "ObjectManagerService/Push",
    "NodeInfoGcsService/GetAllNodeInfo",
    "ReporterService/ReportMetrics",
)
JOIN = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False)
    print("joined", len(ray.nodes()))
except BaseException as error:
    print("refused", repr(error)[:2000])
"""
# Ray as in pods: on the machine's address, protected by the token alone.
TOKEN_ALONE = """
import sys, ray
ray.init(address="local", include_dashboard=False, log_to_driver=False, num_cpus=1)
print("ready", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Ray:
    """The processes of a Ray: the command that started it, and its descendants."""

    tree: list[psutil.Process]

    @classmethod
    def of(cls, process: "subprocess.Popen[str]") -> "Ray":
        """Return the processes of a running command."""
        driver = psutil.Process(process.pid)
        return cls([driver, *driver.children(recursive=True)])

    @property
    def commands(self) -> list[str]:
        """Return their command lines."""
        return [" ".join(each.cmdline()) for each in self.tree if each.is_running()]

    @property
    def sockets(self) -> set[tuple[str, int]]:
        """Return address and port of each listening socket."""
        return listening(self.tree)

    @property
    def ports(self) -> list[int]:
        """Return the ports of all sockets."""
        return sorted({port for _, port in self.sockets})

    def named(self, pattern: str) -> str:
        """Return the first command line with this text."""
        return next(found[1] for each in self.commands if (found := re.search(pattern, each)))

    @property
    def token(self) -> str:
        """Return the token, readable only by its owner."""
        return next(each.environ()["RAY_AUTH_TOKEN"] for each in self.tree if "raylet" in each.name())


LET_IN = ("accepted", "waiting")  # the token is accepted; a job waits for a free core


def post(host: str, port: int, token: str | None = None, command: str = "true") -> str:
    """Post a job and return the status of the response, or why there is none."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = requests.post(f"http://{host}:{port}{JOBS}", json={"entrypoint": command}, headers=headers, timeout=60)
    except requests.ReadTimeout:
        return "waiting"
    except requests.RequestException:
        return "no HTTP"
    return "accepted" if "submission_id" in answer.text else str(answer.status_code)


def call(host: str, port: int) -> set[str]:
    """Call Ray's services without the token and return the results."""
    found = set()
    with grpc.insecure_channel(f"{host}:{port}", [("grpc.enable_http_proxy", 0)]) as channel:
        for method in METHODS:
            try:
                channel.unary_unary(f"/ray.rpc.{method}")(b"", timeout=5)
                found.add("OK")
            except grpc.RpcError as error:
                found.add(error.code().name)
    return found


def join(address: str, token: str | None = None) -> str:
    """Join with a driver and return the result."""
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token} if token else {}
    local = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"} if address.startswith("127.") else {}
    command = [sys.executable, "-c", JOIN, address]
    return subprocess.run(command, env={**BARE, **own, **local}, capture_output=True, text=True, timeout=400).stdout


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ray, Path]]:
    """Start `ante train` with a separate env runner and served metrics; return its Ray and the run's folder."""
    place = tmp_path_factory.mktemp("sockets")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = (
        "--name open --steps 100000000 --resources.games-per-runner 16 --algo.batch 512 --algo.minibatch 256 --algo.epochs 1 "
        f"--policy.kind mlp --policy.hidden 16 --resources.runners 1 --resources.object-store-gb 0.1 --tracking.metrics-port {port}"
    )
    command = [sys.executable, "-m", "ante.cli", "train", *words.split()]
    run = subprocess.Popen(command, cwd=place, env=BARE, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 600
        while not (place / "runs/open/metrics.csv").exists():
            assert run.poll() is None and time.monotonic() < until, run.stderr and run.stderr.read()
            time.sleep(0.2)
        yield Ray.of(run), place / "runs/open"
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=600)


@pytest.fixture(scope="module")
def token_alone() -> Iterator[Ray]:
    """Start a Ray on the machine's address."""
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}
    command = [sys.executable, "-c", TOKEN_ALONE]
    process = subprocess.Popen(
        command, env={**BARE, **secret}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout and "ready" in process.stdout.readline()
        yield Ray.of(process)
    finally:
        process.communicate(timeout=120)


def test_a_training_listens_on_loopback_alone(training: tuple[Ray, Path]) -> None:
    ray, _ = training
    assert len(ray.sockets) >= 8
    assert {address for address, _ in ray.sockets} <= LOOPBACK, sorted(ray.sockets)
    for port in ray.ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((own_address(), port), timeout=10)


def test_nobody_without_the_token_of_a_training_is_served(training: tuple[Ray, Path], tmp_path: Path) -> None:
    ray, _ = training
    agent, gcs = int(ray.named(r"agent.*--listen-port=(\d+)")), ray.named(r"--gcs-address=(\S+)")
    if agent not in ray.ports:
        pytest.skip(f"another Ray of this machine uses port {agent}")
    mine = tmp_path / "executed"
    posts = {port: post("127.0.0.1", port, command=f"touch {mine}") for port in ray.ports}
    assert posts[agent] == "401" and "accepted" not in posts.values(), posts
    assert post("127.0.0.1", agent, "f" * 64, f"touch {mine}") == "403"
    assert post("127.0.0.1", agent, ray.token) in LET_IN, "the same request with the token is served"
    assert join(gcs).startswith("refused") and join(gcs, "f" * 64).startswith("refused")
    assert join(gcs, ray.token).startswith("joined 1")
    assert not mine.exists(), "a job without the token was executed"


def test_the_token_of_a_training_is_in_no_command_line_and_no_file(training: tuple[Ray, Path]) -> None:
    ray, folder = training
    assert len(ray.token) == 64 and not [each for each in ray.commands if ray.token in each]
    session = Path(ray.named(r"--session[-_]dir=(\S+)"))
    files = [each for place in (session, folder) for each in place.rglob("*") if each.is_file()]
    assert any(each.name == "raylet.out" for each in files)
    assert not [each for each in files if ray.token.encode() in each.read_bytes()]
    assert not (Path.home() / ".ray/auth_token").exists()


def test_a_ray_on_the_address_of_the_machine_is_guarded_by_its_token(token_alone: Ray, tmp_path: Path) -> None:
    here = own_address()
    open_ports = sorted({port for address, port in token_alone.sockets if address not in LOOPBACK})
    assert len(open_ports) >= 8
    agent = int(token_alone.named(r"agent.*--listen-port=(\d+)"))
    if agent not in open_ports:
        pytest.skip(f"another Ray of this machine uses port {agent}")
    mine = tmp_path / "executed"
    posts = {port: post(here, port, command=f"touch {mine}") for port in open_ports}
    assert posts[agent] == "401" and "accepted" not in posts.values(), posts
    assert post(here, agent, "f" * 64, f"touch {mine}") == "403"
    calls = {port: call(here, port) for port in open_ports}
    assert not [port for port, found in calls.items() if "OK" in found], calls
    assert sum("UNAUTHENTICATED" in found for found in calls.values()) >= 4, calls
    gcs = token_alone.named(r"--gcs-address=(\S+)")
    assert gcs.startswith(here) and join(gcs).startswith("refused")
    assert join(gcs, token_alone.token).startswith("joined 1") and post(here, agent, token_alone.token) in LET_IN
    assert not mine.exists(), "a job without the token was executed"
