"""Three trainings of two users in two namespaces on one platform at once, and a fourth user who reaches none of it.

The users are identities without other rights than those of the platform's Roles; their commands impersonate them.
"""

import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.exceptions import ClientError
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import STEPS, Cluster, Failed, Journal, ante, eventually, is_ready, run, secret_of
from tests.cluster.test_services import knocks, stranger

pytestmark = pytest.mark.cluster
NAME, TOTAL, TOKEN = "ante", 614400, "rehearsal-of-readers"
SUBJECT = "{{kind: User, name: {}, apiGroup: rbac.authorization.k8s.io}}"
PLATFORM = """
servicesOnly: true
tenants:
  - {{name: alice, namespace: {a}, trainers: [{alice}]}}
  - {{name: bob, namespace: {b}, trainers: [{bob}], viewers: [{alice}]}}
llm: {{model: fake}}
llmServer:
  enabled: true
  kind: stub
  resources: {{requests: {{cpu: 50m, memory: 64Mi}}, limits: {{cpu: "1", memory: 512Mi}}}}
decisionService:
  enabled: true
  tokenSecret: readers
  resources: {{requests: {{cpu: 50m, memory: 512Mi}}, limits: {{cpu: "2", memory: 2Gi}}}}
runCatalogue:
  enabled: true
  tokenSecret: readers
  seconds: 5
  resources: {{requests: {{cpu: 50m, memory: 256Mi}}, limits: {{cpu: "1", memory: 1Gi}}}}
"""
TENANT = (
    "objectStore.enabled=false", "llm.enabled=true", "llm.model=fake", f"training.config.steps={TOTAL}",
    "training.config.checkpoints.every=10", "training.config.resources.restarts=5", "training.metricsPort=9100",
)  # fmt: skip
RAY_PORTS = (6379, 8265, 10001, 8080, 9100, 52365)
SERVICES = {"objectstore": (9000, 9001), "llm": (8000,), "decisions": (50051, 9400), "catalogue": (8500,)}


@dataclass(frozen=True)
class Run:
    """A training of a user."""

    user: str
    name: str
    where: Cluster

    def pods(self, component: str) -> list[dict[str, Any]]:
        """Return its ready pods of one component."""
        labels = f"app.kubernetes.io/instance={self.name},app.kubernetes.io/component={component}"
        return [pod for pod in self.where.get("pods", selector=labels)["items"] if is_ready(pod)]

    def log(self) -> str:
        """Return the log of its newest submitter."""
        labels = f"app.kubernetes.io/instance={self.name},app.kubernetes.io/component=submitter"
        return self.where.kubectl("logs", f"--selector={labels}", "--tail=-1", check=False)

    def steps(self) -> int:
        """Return the steps of the last iteration in the log, or 0."""
        found = STEPS.findall(self.log())
        return int(found[-1].replace(",", "")) if found else 0


@dataclass(frozen=True)
class Shared:
    """The platform and its trainings."""

    platform: Cluster
    others: Cluster
    runs: tuple[Run, ...]
    begun: float


@contextmanager
def acting(user: str, folder: Path) -> Iterator[dict[str, str]]:
    """Yield an environment in which `ante` and kubectl act as a user: a proxy that impersonates."""
    proxy = subprocess.Popen(
        ["kubectl", f"--as={user}", "proxy", "--port=0", "--reject-paths=^$"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert proxy.stdout is not None
        port = re.search(r":(\d+)", proxy.stdout.readline())
        assert port
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {"server": f"http://127.0.0.1:{port[1]}"}}],
            "users": [{"name": user, "user": {}}],
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": user}}],
        }  # fmt: skip
        file = folder / f"{user}.yaml"
        file.write_text(yaml.safe_dump(config))
        yield {**os.environ, "KUBECONFIG": str(file)}
    finally:
        proxy.terminate()
        proxy.wait()


def stored(platform: Cluster, run: Run) -> str:
    """Return the name of a run in the bucket; a volume may contain data of earlier tests."""
    return f"{platform.namespace}-{run.name}"


def settings(platform: Cluster, run: Run) -> list[str]:
    """Return the settings of a training for helm and `ante cluster`."""
    pairs = (
        f"platform.namespace={platform.namespace}",
        f"platform.tenant={run.user}",
        f"training.name={stored(platform, run)}",
    )
    return ["--values", str(SMALL), *(part for pair in (*TENANT, *pairs) for part in ("--set", pair))]


@pytest.fixture(scope="module")
def shared(cluster: Cluster, journal: Journal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Install the platform, and start a training by Helm and one by each user with `ante cluster submit`."""
    a, b, others = (Cluster(f"{cluster.namespace}-{name}") for name in ("a", "b", "others"))
    for one in (a, b, others):
        run("kubectl", "create", "namespace", one.namespace)
    cluster.kubectl("create", "secret", "generic", "readers", f"--from-literal=token={TOKEN}")
    alice, bob = (SUBJECT.format(user) for user in ("alice", "bob"))
    values = PLATFORM.format(a=a.namespace, b=b.namespace, alice=alice, bob=bob)
    begin = time.monotonic()
    cluster.helm("install", NAME, str(CHART), "--values", str(SMALL), "--values", "-", given=values, timeout=300)
    for service in SERVICES:
        eventually(f"{service} ready", 300, lambda service=service: cluster.pods(service, True))
    journal.note("platform ready", seconds=round(time.monotonic() - begin), services=list(SERVICES))
    runs = Run("alice", "first", a), Run("alice", "second", a), Run("bob", "third", b)
    begin = time.monotonic()
    a.helm("install", "first", str(CHART), *settings(cluster, runs[0]), timeout=300)
    folder = tmp_path_factory.mktemp("users")
    for one in runs[1:]:
        with acting(one.user, folder) as environment:
            words = ("-n", one.where.namespace, "--name", one.name, *settings(cluster, one))
            ante("cluster", "submit", *words, env=environment)
    found = Shared(cluster, others, runs, begin)
    eventually("all three train", 900, lambda: all(one.steps() for one in runs), every=3)
    journal.note(
        "three trainings at once", seconds=round(time.monotonic() - begin), steps=[one.steps() for one in runs]
    )
    yield found
    for one in (a, b, others):
        run("kubectl", "delete", "namespace", one.namespace, "--wait=false")


def address(pod: dict[str, Any]) -> str:
    """Return the address of a pod."""
    return str(pod["status"]["podIP"])


def doors(shared: Shared) -> list[str]:
    """Return host and port of every socket of the platform and of its trainings."""
    found = []
    for service, ports in SERVICES.items():
        (pod,) = shared.platform.pods(service, True)
        found += [f"{address(shared.platform.get('pod', pod))}:{port}" for port in ports]
    for one in shared.runs:
        (head,), (worker,) = one.pods("head"), one.pods("cpu")
        found += [f"{address(head)}:{port}" for port in RAY_PORTS]
        found += [f"{address(worker)}:{port}" for port in (8080, 52365)]
    return found


def from_head(one: Run, *targets: str) -> dict[str, bool]:
    """Return which ports the head of a training can connect to."""
    return knocks(one.where, one.pods("head")[0]["metadata"]["name"], *targets, container="ray-head")


def test_a_fourth_user_reaches_nothing_and_trainings_all_they_need(shared: Shared, journal: Journal) -> None:
    every = doors(shared)
    fourth = stranger(shared.others.namespace)
    assert knocks(fourth, "stranger", *every) == dict.fromkeys(every, False)
    labels = ("app.kubernetes.io/name=ante", "app.kubernetes.io/instance=first", "app.kubernetes.io/component=head")
    fourth.kubectl("label", "pod", "stranger", *labels)  # as a pod of a training looks
    time.sleep(5)
    assert knocks(fourth, "stranger", *every) == dict.fromkeys(every, False)
    needed = [f"{NAME}-{service}.{shared.platform.namespace}.svc:{SERVICES[service][0]}"
              for service in ("objectstore", "llm", "decisions")]  # fmt: skip
    for one in shared.runs:
        assert from_head(one, *needed) == dict.fromkeys(needed, True), one
    theirs = [f"{address(shared.runs[2].pods('head')[0])}:{port}" for port in RAY_PORTS]
    assert from_head(shared.runs[0], *theirs) == dict.fromkeys(theirs, False), "a tenant reaches pods of another"
    journal.note(
        "fourth user", tried=len(every), open=0, needed_by_trainings=len(needed), of_another_tenant=len(theirs)
    )


def test_users_act_within_their_roles(shared: Shared, tmp_path: Path, journal: Journal) -> None:
    first, second, third = shared.runs
    a, b = first.where.namespace, third.where.namespace

    def refused(user: str, *words: str) -> str:
        """Return the error of a command that a user may not run."""
        with acting(user, tmp_path) as environment, pytest.raises(Failed) as caught:
            ante("cluster", *words, env=environment)
        assert "exited with 2" in str(caught.value) and "Traceback" not in str(caught.value)
        return str(caught.value)

    with acting("alice", tmp_path) as alice:
        mine = json.loads(ante("cluster", "ls", "-n", a, "--json", env=alice))
        assert {one["name"] for one in mine} == {"first", "second"}
        seen = json.loads(ante("cluster", "status", "third", "-n", b, "--json", env=alice))  # as a viewer there
        assert seen["training"]["state"] in ("Running", "Complete")
        assert "steps" in ante("cluster", "logs", "third", "-n", b, env=alice)
    assert "not allowed" in refused("alice", "down", "third", "-n", b)
    for words in (("ls", "-n", a), ("logs", "second", "-n", a), ("down", "second", "-n", a)):
        assert "not allowed" in refused("bob", *words)
        assert "not allowed" in refused("mallory", *words)
    assert "get and create of pods/exec" in refused("alice", "exec", "second", "ls", "-n", a)
    assert "not allowed" in refused(
        "alice", "submit", "-n", shared.platform.namespace, *settings(shared.platform, second)
    )
    journal.note(
        "roles", states=[one.where.get("rayjob", one.name)["status"]["jobDeploymentStatus"] for one in shared.runs]
    )


def catalogue(shared: Shared) -> dict[str, Any]:
    """Return the rows of the platform's catalogue by name."""
    with shared.platform.forwarded(f"service/{NAME}-catalogue", 8500) as port:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/live.json", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            found = json.loads(answer.read())
    rows = {row["name"]: row for row in found["data"]["runs"]}
    names = [f"{one.user}/{stored(shared.platform, one)}" for one in shared.runs]
    return {name: rows[name] for name in names if name in rows}


def test_all_finish_and_the_catalogue_lists_them(shared: Shared, journal: Journal) -> None:
    names = {f"{one.user}/{stored(shared.platform, one)}" for one in shared.runs}
    live = eventually("runs in the catalogue", 120, lambda: (rows := catalogue(shared)) and set(rows) == names and rows)
    journal.note("catalogue", live={name: (row["state"], row["steps"]) for name, row in live.items()})

    def states() -> list[str]:
        return [one.where.job(one.name) for one in shared.runs]

    eventually("all end", 1500, lambda: all(state in ("Complete", "Failed") for state in states()), every=5)
    seconds = round(time.monotonic() - shared.begun)
    assert states() == ["Complete"] * 3, [one.log()[-1000:] for one in shared.runs]
    journal.note("all three finished", seconds=seconds, steps=[one.steps() for one in shared.runs])
    assert [one.steps() for one in shared.runs] == [TOTAL] * 3
    rows = eventually("finished in the catalogue", 120, lambda: (rows := catalogue(shared))
                      and all(row["state"] == "finished" for row in rows.values()) and rows, every=3)  # fmt: skip
    assert {name: row["steps"] for name, row in rows.items()} == dict.fromkeys(names, TOTAL)
    journal.note("catalogue", states={name: row["state"] for name, row in rows.items()})


def test_credentials_open_their_own_prefix_only(shared: Shared, journal: Journal) -> None:
    """The Secrets that the platform put into the namespaces of its tenants, tried against the bucket."""
    wheres = {one.user: one.where for one in shared.runs}
    found = {}
    with shared.platform.forwarded(f"service/{NAME}-objectstore", 9000) as port:
        for user, where in wheres.items():
            keys = secret_of(where, f"{NAME}-s3-{user}")
            client = boto3.client(
                "s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
                aws_access_key_id=keys["S3_ACCESS_KEY_ID"], aws_secret_access_key=keys["S3_SECRET_ACCESS_KEY"],
            )  # fmt: skip
            mine = [item["Key"] for item in client.list_objects_v2(Bucket="ante", Prefix=f"runs/{user}/")["Contents"]]
            found[user] = len(mine)
            wanted = {stored(shared.platform, one) for one in shared.runs if one.user == user}
            assert {key.split("/")[2] for key in mine} >= wanted
            (other,) = (one for one in wheres if one != user)
            name = next(stored(shared.platform, one) for one in shared.runs if one.user == other)
            for action in (
                lambda client=client, other=other: client.list_objects_v2(Bucket="ante", Prefix=f"runs/{other}/"),
                lambda client=client: client.list_objects_v2(Bucket="ante"),
                lambda client=client, key=f"runs/{other}/{name}/config.yaml": client.get_object(Bucket="ante", Key=key),
                lambda client=client, key=f"runs/{other}/x": client.put_object(Bucket="ante", Key=key, Body=b"1"),
            ):
                with pytest.raises(ClientError, match="AccessDenied"):
                    action()
    journal.note("credentials", objects_of_their_own=found, refused=8)
