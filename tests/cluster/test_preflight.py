"""`ante cluster preflight` on a real cluster: all checks pass, or the right one fails with its message."""

import json
from collections.abc import Iterator

import pytest
from tests.cluster.conftest import CHART, VALUES
from tests.cluster.support import Cluster, Journal, ante, eventually, run

pytestmark = pytest.mark.cluster
NAME = "ante"
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: small}
spec: {hard: {requests.memory: 1Gi}}
"""
AS_ROOT = (  # credentials that can list all buckets
    "s3.existingSecret=ante-objectstore", "s3.accessKeyKey=MINIO_ROOT_USER", "s3.secretKeyKey=MINIO_ROOT_PASSWORD",
)  # fmt: skip
WRONG_SECRET = """
apiVersion: v1
kind: Secret
metadata: {name: wrong}
stringData: {S3_ACCESS_KEY_ID: nobody, S3_SECRET_ACCESS_KEY: not-the-right-one}
"""


@pytest.fixture(scope="module")
def standing(cluster: Cluster) -> Iterator[Cluster]:
    """Install object store, bucket and Secret of a release with a suspended training."""
    cluster.helm("install", NAME, str(CHART), "--values", str(VALUES), "--set", "job.suspend=true", timeout=300)
    eventually("object store ready", 180, lambda: cluster.pods("objectstore", True))
    cluster.kubectl("apply", "-f", "-", given=WRONG_SECRET)
    yield cluster


def checks(cluster: Cluster, *sets: str) -> dict[str, dict[str, str]]:
    """Return the preflight's messages, by check."""
    pairs = [part for pair in sets for part in ("--set", pair)]
    printed = ante(
        "cluster", "preflight", "-n", cluster.namespace, "--values", str(VALUES), "--json", *pairs, check=False
    )
    return {line["name"]: line for line in map(json.loads, printed.splitlines())}


def test_all_is_green_where_all_is_there(standing: Cluster, journal: Journal) -> None:
    found = checks(standing)
    journal.note("preflight", checks={name: line["state"] for name, line in found.items()})
    assert [line for line in found.values() if line["state"] != "ok"] == []
    assert {"api", "kuberay", "permissions", "capacity", "image", "bucket"} <= set(found)


@pytest.mark.parametrize(
    ("check", "sets", "words"),
    [
        ("capacity", ("gpuWorkers.gpus=9",), "nvidia.com/gpu"),
        ("bucket", ("s3.existingSecret=wrong",), "rejects these credentials"),
        ("bucket", ("s3.bucket=not-there",), "check that bucket not-there exists"),
        ("bucket", ("s3.bucket=not-there", *AS_ROOT), "bucket not-there does not exist"),
        ("image", ("image.tag=not-there",), "not-there"),
        ("llm", ("llm.enabled=true", "llm.model=some", "llm.endpoint=http://nobody:8000/v1"), "nobody"),
    ],
)  # fmt: skip
def test_what_is_missing_is_red_and_named(
    standing: Cluster, journal: Journal, check: str, sets: tuple[str, ...], words: str
) -> None:
    found = checks(standing, *sets)
    journal.note("preflight red", settings=sets, says=found.get(check))
    assert found[check]["state"] == "fail" and words in found[check]["words"] + found[check]["fix"], found


def test_a_quota_that_is_too_small_is_named(standing: Cluster, journal: Journal) -> None:
    standing.kubectl("apply", "-f", "-", given=QUOTA)
    try:
        found = checks(standing)
    finally:
        standing.kubectl("delete", "resourcequota", "small")
    red = {name: line for name, line in found.items() if line["state"] == "fail"}
    journal.note("preflight red", settings="quota", says=red)
    assert any("small" in line["words"] + line["fix"] for line in red.values()), found


def test_kuberay_that_is_not_installed_is_named(standing: Cluster, journal: Journal) -> None:
    """Remove the RayJob definition temporarily; no other test may run on this cluster."""
    kept = json.loads(run("kubectl", "get", "crd", "rayjobs.ray.io", "-o", "json"))
    kept["metadata"] = {key: kept["metadata"][key] for key in ("name", "annotations") if key in kept["metadata"]}
    kept.pop("status", None)
    run("kubectl", "delete", "crd", "rayjobs.ray.io", timeout=180)
    try:
        found = checks(standing)
    finally:
        run("kubectl", "create", "-f", "-", given=json.dumps(kept))
    journal.note("preflight red", settings="no RayJob", says=found.get("kuberay"))
    assert found["kuberay"]["state"] == "fail" and "helm" in found["kuberay"]["fix"]
