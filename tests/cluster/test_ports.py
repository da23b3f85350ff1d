"""The sockets of head and worker of a training: closed to strangers, and without the token useless to its own pods."""

import json
from collections.abc import Iterator

import pytest
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import Cluster, Journal, eventually
from tests.cluster.test_services import NAME, address, knocks, stranger

pytestmark = pytest.mark.cluster
LISTEN = """
import json, psutil
found = set()
for each in psutil.process_iter():
    try:
        what = each.name()[:15] if each.name() != "python" else (each.cmdline() + ["", ""])[1].rpartition("/")[2][:40]
        for one in each.net_connections("inet"):
            if one.status == psutil.CONN_LISTEN:
                found.add((what, one.laddr.ip, one.laddr.port))
    except psutil.Error:
        pass
print(json.dumps(sorted(found)))
"""
POST = """
import os, sys, urllib.request, urllib.error
token = sys.argv[2] if len(sys.argv) > 2 else ""
headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
request = urllib.request.Request(sys.argv[1], b'{"entrypoint": "true"}', headers)
try:
    print(urllib.request.urlopen(request, timeout=60).status)
except urllib.error.HTTPError as error:
    print(error.code)
except OSError as error:
    print("closed", error)
"""
JOIN = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False)
    print("joined", len(ray.nodes()))
except BaseException as error:
    print("refused", repr(error)[:300])
"""
WITHOUT = ("env", "-u", "RAY_AUTH_TOKEN", "-u", "RAY_AUTH_TOKEN_PATH", "-u", "RAY_AUTH_MODE", "-u", "RAY_ADDRESS")
Listening = dict[str, list[tuple[str, str, int]]]


@pytest.fixture(scope="module")
def running(cluster: Cluster) -> Iterator[Cluster]:
    """Start a training and wait for its head and worker."""
    flags = ("--set", f"training.name={cluster.namespace},training.metricsPort=9100")
    cluster.helm("install", NAME, str(CHART), "--values", str(SMALL), *flags, timeout=300)
    eventually("head and worker ready", 600, lambda: len(cluster.pods("head", True) + cluster.pods("cpu", True)) == 2)
    yield cluster


@pytest.fixture(scope="module")
def listening(running: Cluster, journal: Journal) -> Listening:
    """Return process, address and port of every listening socket, by pod."""
    found = {}
    for component in ("head", "cpu"):
        pod = running.pods(component, True)[0]
        printed = running.kubectl("exec", pod, "--", "python", "-c", LISTEN, timeout=180)
        found[component] = [tuple(each) for each in json.loads(printed)]
        journal.note("sockets", pod=component, sockets=found[component])
    assert {port for _, _, port in found["head"]} >= {6379, 8265}
    return found


def outside(running: Cluster, listening: Listening) -> list[str]:
    """Return host and port of every socket that does not listen on the loopback interface alone."""
    return [
        f"{address(running, component)}:{port}"
        for component, sockets in listening.items()
        for port in sorted({port for _, host, port in sockets if host not in ("127.0.0.1", "::1")})
    ]


def test_no_socket_is_open_to_a_stranger(running: Cluster, listening: Listening, journal: Journal) -> None:
    every = outside(running, listening)
    found = knocks(stranger(running.namespace), "stranger", *every)
    journal.note("sockets", tried_by_a_stranger=len(found), open=[door for door, is_open in found.items() if is_open])
    assert set(found) == set(every) and not any(found.values())


def test_without_the_token_no_pod_of_the_training_posts_a_job(running: Cluster, journal: Journal) -> None:
    head, worker = address(running, "head"), running.pods("cpu", True)[0]
    secret = running.get("rayjob", NAME)["status"]["rayClusterName"]
    token = running.kubectl("get", "secret", secret, "--output", "go-template={{.data.auth_token | base64decode}}")
    results = {}
    for url in (f"http://{head}:8265/api/jobs/", f"http://{head}:52365/api/job_agent/jobs/"):
        for name, given in (("no token", ()), ("another", ("0" * 64,)), ("the token", (token,))):
            command = ("exec", worker, "--", *WITHOUT, "python", "-c", POST, url, *given)
            results[url.partition(head)[2] + " " + name] = running.kubectl(*command, timeout=180).strip()
    journal.note("sockets", jobs=results)
    assert [results[name] for name in results if name.endswith("no token")] == ["401", "401"]
    assert [results[name] for name in results if name.endswith("another")] == ["403", "403"]
    assert results[":8265/api/jobs/ the token"] == "200"


def test_without_the_token_no_driver_joins(running: Cluster, journal: Journal) -> None:
    target, worker = f"{address(running, 'head')}:6379", running.pods("cpu", True)[0]
    command = ("exec", worker, "--", *WITHOUT, "timeout", "240", "python", "-c", JOIN, target)
    said = running.kubectl(*command, timeout=300, check=False)
    journal.note("sockets", join=said.strip()[-300:])
    assert "joined" not in said
