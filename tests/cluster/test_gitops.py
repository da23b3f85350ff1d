"""The chart applied as GitOps tools do, and the least privilege of a platform."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.conftest import CHART
from tests.cluster.support import Cluster, Failed, Journal, bucket_of, eventually, run, secret_of

pytestmark = pytest.mark.cluster
CI = sorted(file.name.removesuffix("-values.yaml") for file in (CHART / "ci").glob("*-values.yaml"))
TEAMS = ("team-a", "team-b")
# As Argo CD and Flux apply: KubeRay's operator writes the specification of a RayJob back, unchanged.
SERVER_SIDE = ("--server-side", "--force-conflicts", "--field-manager=gitops", "--filename=-")
Object = dict[str, Any]


@pytest.fixture(scope="module")
def teams(cluster: Cluster) -> Iterator[dict[str, str]]:
    """Create the namespaces of two tenants and of others; all admit restricted pods only."""
    found = {name: f"{cluster.namespace}-{name}" for name in (*TEAMS, "others")}
    for name in found.values():
        run("kubectl", "create", "namespace", name)
    for name in (cluster.namespace, *found.values()):
        levels = [f"pod-security.kubernetes.io/{mode}=restricted" for mode in ("enforce", "warn")]
        run("kubectl", "label", "namespace", name, *levels)
    token = ("--from-literal=auth_token=rehearsal",)  # without it, KubeRay deletes a RayJob only after minutes
    cluster.kubectl("create", "secret", "generic", "ray-token", *token)
    yield found
    run("kubectl", "delete", "namespace", *found.values(), "--wait=false")


def objects(cluster: Cluster, teams: dict[str, str], case: str, more: Object | None = None) -> list[Object]:
    """Return the chart's objects of kinds that this cluster serves."""
    values = (CHART / "ci" / f"{case}-values.yaml").read_text()
    for name in TEAMS:
        values = values.replace(f"namespace: {name}", f"namespace: {teams[name]}")
    folder = Path(os.environ.get("TMPDIR", "/tmp"))
    files = [folder / f"{cluster.namespace}-{case}.yaml", folder / f"{cluster.namespace}-more.yaml"]
    files[0].write_text(values)
    files[1].write_text(yaml.safe_dump(more or {}))
    chosen = [part for file in files for part in ("--values", str(file))]
    arguments = (case, str(CHART), *chosen, "--skip-tests", "--api-versions", "ray.io/v1")
    text = cluster.helm("template", *arguments)
    assert text == cluster.helm("template", *arguments)
    served = set(run("kubectl", "api-resources", "--no-headers").split())
    return [found for found in yaml.safe_load_all(text) if found and found["kind"] in served]


def apply(found: list[Object]) -> str:
    """Apply objects as a GitOps tool, and return what kubectl prints. Raises Failed, also for a warning."""
    command = ["kubectl", "apply", *SERVER_SIDE]
    done = subprocess.run(command, input=yaml.safe_dump_all(found), capture_output=True, text=True, timeout=120)
    if done.returncode or "would violate" in done.stderr:
        raise Failed(done.stderr[-3000:])
    return done.stdout


def generations(found: list[Object]) -> dict[str, Any]:
    """Return what changes with an object's configuration."""
    text = run("kubectl", "get", "--filename=-", "--output=json", given=yaml.safe_dump_all(found))
    return {f"{one['kind']}/{one['metadata']['name']}": (one["metadata"]["uid"], one["metadata"].get("generation"),
            one.get("data"), one.get("rules")) for one in json.loads(text)["items"]}  # fmt: skip


@pytest.mark.parametrize("case", CI)
def test_a_second_apply_changes_nothing(cluster: Cluster, teams: dict[str, str], journal: Journal, case: str) -> None:
    found = objects(cluster, teams, case)
    apply(found)
    try:
        for one in found:
            if one["kind"] == "RayJob":  # KubeRay writes it back with its finalizer
                name = one["metadata"]["name"]
                eventually("finalizer", 60, lambda name=name: cluster.get("rayjob", name)["metadata"]["finalizers"])
        before = generations(found)
        again = apply(objects(cluster, teams, case))
        given = yaml.safe_dump_all(found)
        changes = run("kubectl", "diff", *SERVER_SIDE, given=given)
        assert changes == "" and generations(found) == before
        journal.note("applied twice", case=case, objects=len(found), lines=len(again.splitlines()))
    finally:
        run(
            "kubectl",
            "delete",
            "--filename=-",
            "--wait=true",
            "--timeout=170s",
            timeout=180,
            given=yaml.safe_dump_all(found),
        )


@pytest.fixture(scope="module")
def platform(cluster: Cluster, teams: dict[str, str]) -> list[Object]:
    """Install the platform with a MinIO that runs."""
    minio = {"image": {"repository": "ante.local/minio", "tag": "1"}}
    more = {"objectStore": minio, "llmServer": {"enabled": False}, "fullnameOverride": "ante"}
    found = objects(cluster, teams, "platform", more)
    apply(found)
    return found


def may(user: str, namespace: str, verb: str, what: str, name: str = "") -> bool:
    """Return whether a user may do something."""
    kind, _, part = what.partition("/")
    target = (f"{kind}/{name}" if name else kind, f"--subresource={part}")
    command = ("kubectl", "auth", "can-i", verb, *target, f"--as={user}", f"--namespace={namespace}")
    return run(*command, check=False).strip() == "yes"


def test_roles_allow_what_they_say_and_no_more(cluster: Cluster, teams: dict[str, str], platform: list[Object]) -> None:
    mine, other = teams["team-a"], teams["team-b"]
    trains = (
        ("create", "rayjobs.ray.io"),
        ("delete", "rayclusters.ray.io"),
        ("create", "configmaps"),
        ("get", "pods/log"),
    )
    for verb, what in trains:
        assert may("alice", mine, verb, what)
        assert may("bob", other, verb, what)
        assert may("alice", other, verb, what) == (verb == "get")  # a viewer there
        assert not may("bob", mine, verb, what)
        assert not may("alice", cluster.namespace, verb, what)
        assert not may("mallory", mine, verb, what)
    for user in ("alice", "bob"):
        for namespace in (cluster.namespace, mine, other):
            assert not may(user, namespace, "get", "secrets") and not may(user, namespace, "create", "pods/exec")
    job = f"system:serviceaccount:{cluster.namespace}:ante-bucket"
    assert may(job, mine, "create", "secrets") and may(job, mine, "get", "secrets", "ante-s3-alice")
    for verb in ("list", "get", "patch", "delete"):
        assert not may(job, mine, verb, "secrets")
    assert not may(job, other, "get", "secrets", "ante-s3-alice") and not may(job, mine, "get", "pods")


def test_the_job_creates_credentials_with_its_own_account_and_each_reaches_its_prefix_only(
    cluster: Cluster, teams: dict[str, str], platform: list[Object], tmp_path: Path, journal: Journal
) -> None:
    (job,) = (one for one in platform if one["kind"] == "Job")
    pod = job["spec"]["template"]["spec"]
    config = json.loads(run("kubectl", "config", "view", "--raw", "--minify", "--output=json"))
    config["users"][0]["user"] = {"token": cluster.kubectl("create", "token", "ante-bucket").strip()}
    (tmp_path / "config").write_text(json.dumps(config))
    users = tmp_path / "users.json"
    words = [*pod["initContainers"][0]["command"][1:], pod["initContainers"][0]["args"][0], f"--users={users}"]
    for _ in range(2):
        done = subprocess.run([sys.executable, *words], env={**os.environ, "KUBECONFIG": str(tmp_path / "config")},
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert done.stdout.count("exists") == 4
    eventually("object store ready", 120, lambda: cluster.pods("objectstore", True))
    root, own = secret_of(cluster, "ante-objectstore"), secret_of(cluster, "ante-s3")
    with cluster.forwarded("service/ante-objectstore", 9000) as port:
        where = {"S3_ENDPOINT_URL": f"http://127.0.0.1:{port}", "S3_BUCKET_NAME": "ante"}
        words = ["-m", "ante.storage.provision", "--user", f"--users={users}", "--versions=30"]
        done = subprocess.run([sys.executable, *words], env={**os.environ, **root, **own, **where},
                              capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0 and "3 users have access" in done.stdout, done.stderr
    journal.note("platform provisioned", printed=done.stdout.strip())
    with bucket_of(cluster, "ante") as bucket:
        bucket.put_object(Key="runs/bob/secret", Body=b"1")
        alice = secret_of(Cluster(teams["team-a"]), "ante-s3-alice")
        client = bucket.meta.client
    with cluster.forwarded("service/ante-objectstore", 9000) as port:
        import boto3

        keys = {"aws_access_key_id": alice["S3_ACCESS_KEY_ID"], "aws_secret_access_key": alice["S3_SECRET_ACCESS_KEY"]}
        client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1", **keys)
        client.put_object(Bucket="ante", Key="runs/alice/x", Body=b"1")
        assert client.list_objects_v2(Bucket="ante", Prefix="runs/alice/")["KeyCount"] == 1
        for action in (lambda: client.get_object(Bucket="ante", Key="runs/bob/secret"),
                       lambda: client.list_objects_v2(Bucket="ante"),
                       lambda: client.put_object(Bucket="ante", Key="runs/bob/x", Body=b"1")):  # fmt: skip
            with pytest.raises(client.exceptions.ClientError, match="AccessDenied"):
                action()


def test_network_policies_let_tenants_in_and_nobody_else(
    cluster: Cluster, image: str, teams: dict[str, str], platform: list[Object], journal: Journal
) -> None:
    eventually("object store ready", 120, lambda: cluster.pods("objectstore", True))
    address = cluster.get("service", "ante-objectstore")["spec"]["clusterIP"]
    ray = {"app.kubernetes.io/name": "ante", "app.kubernetes.io/component": "cpu"}
    mine, others = teams["team-a"], teams["others"]
    api = json.loads(run("kubectl", "get", "service", "kubernetes", "--output=json"))["spec"]["clusterIP"]
    training = objects(cluster, teams, "tenant", {"platform": {"namespace": cluster.namespace}})
    policies = [{**one, "metadata": {**one["metadata"], "namespace": mine}} for one in training]
    apply([one for one in policies if one["kind"] == "NetworkPolicy"])
    cases = {
        "training": (mine, {**ray, "app.kubernetes.io/instance": "tenant"}, address, "open"),
        "training-elsewhere": (mine, {**ray, "app.kubernetes.io/instance": "tenant"}, api, "closed"),
        "other-of-tenant": (mine, {"app": "other"}, address, "closed"),
        "fourth-user": (others, {**ray, "app.kubernetes.io/instance": "one"}, address, "closed"),
        "other-of-platform": (cluster.namespace, {"app": "other"}, address, "closed"),
    }
    for name, (namespace, labels, host, _) in cases.items():
        pod = dialling(name, labels, image, host, 9000 if host == address else 443)
        run("kubectl", "--namespace", namespace, "apply", "--filename=-", given=yaml.safe_dump(pod))
    found = {name: dialled(Cluster(namespace), name) for name, (namespace, *_) in cases.items()}
    journal.note("dialled the object store", **found)
    assert found == {name: wanted for name, (*_, wanted) in cases.items()}


def dialled(cluster: Cluster, pod: str) -> str:
    """Return what a pod printed: open or closed."""
    return str(eventually(f"{pod} has dialled", 90, lambda: cluster.kubectl("logs", pod).split())[0])


def dialling(name: str, labels: dict[str, str], image: str, host: str, port: int) -> Object:
    """Return a restricted pod that connects to a port, after the seconds that a network may need to apply policies to a new pod."""
    code = f"""
import socket, time
time.sleep(5)
try:
    socket.create_connection(("{host}", {port}), timeout=10)
    print("open")
except OSError:
    print("closed")
"""
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {"name": "dial", "image": image, "command": ["python", "-c", code], "securityContext": security}
    user = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"restartPolicy": "Never", "securityContext": user, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}
