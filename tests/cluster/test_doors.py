"""Helm, command and notebook on a real cluster: equal settings create equal objects, and nothing remains afterwards."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import Cluster, Failed, Journal, ante, bucket_of, eventually, kept_steps, secret_of
from tests.deploy.test_notebooks import execute

from ante.deploy.access import connect
from ante.deploy.codeflare import AnteCluster
from ante.deploy.settings import read_settings

pytestmark = pytest.mark.cluster
NAME = "door"
SHARED = {"app.kubernetes.io/name": "ante", "app.kubernetes.io/instance": NAME}
OWNERSHIP = re.compile(r"(app\.kubernetes\.io/managed-by|helm\.sh/chart|meta\.helm\.sh/release-name(space)?)$")
OF_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "finalizers")
STEPS = 16384


@pytest.fixture(scope="module")
def sets(bucket: str) -> tuple[str, ...]:
    """Return the settings for all three, in addition to small.yaml."""
    return (
        f"s3.endpoint=http://{bucket}-objectstore:9000", f"s3.existingSecret={bucket}-s3", "objectStore.enabled=false",
        "networkPolicies.enabled=false",
    )  # fmt: skip


def flags(sets: tuple[str, ...], run: str) -> list[str]:
    """Return the settings as arguments of `ante cluster` and of helm, which use the same syntax."""
    pairs = [part for pair in (*sets, f"training.name={run}") for part in ("--set", pair)]
    return ["--values", str(SMALL), *pairs]


def live(cluster: Cluster, kind: str) -> dict[str, Any]:
    """Return the training's objects from the API server, without added fields and ownership."""
    selector = ",".join(f"{key}={value}" for key, value in SHARED.items())
    found = cluster.get(f"{kind},configmap,serviceaccount", selector=selector)["items"]
    return {one["kind"]: written(one) for one in found}


def written(found: dict[str, Any]) -> dict[str, Any]:
    """Return one object without the fields that identify its creator."""
    about = {key: value for key, value in found["metadata"].items() if key not in OF_SERVER}
    for key in ("labels", "annotations"):
        kept = {name: value for name, value in about.pop(key, {}).items() if not OWNERSHIP.match(name)}
        if kept:
            about[key] = kept
    rest = {key: value for key, value in found.items() if key != "status"}
    if "train.yaml" in rest.get("data", {}):  # the three use different YAML writers: 1 or 1.0, quotes
        rest["data"] = {"train.yaml": yaml.safe_load(rest["data"]["train.yaml"])}
    return rest | {"metadata": about}


def of_helm(cluster: Cluster, sets: tuple[str, ...], kind: str, *more: str) -> dict[str, Any]:
    """Return the objects of a release, which is then uninstalled."""
    cluster.helm("install", NAME, str(CHART), *flags((*sets, *more), "same"), timeout=180)
    found = live(cluster, kind)
    cluster.helm("uninstall", NAME, "--wait", "--timeout", "180s", timeout=240)
    eventually("Helm's objects gone", 120, lambda: not live(cluster, kind))
    return found


def of_command(cluster: Cluster, sets: tuple[str, ...], kind: str, *more: str) -> dict[str, Any]:
    """Return the objects of `ante cluster`, which are then deleted."""
    door = "submit" if kind == "rayjob" else "up"
    ante("cluster", door, "-n", cluster.namespace, "--name", NAME, *flags((*sets, *more), "same"))
    found = live(cluster, kind)
    ante("cluster", "down", NAME, "-n", cluster.namespace)
    assert not live(cluster, kind)
    return found


def of_notebook(cluster: Cluster, sets: tuple[str, ...]) -> dict[str, Any]:
    """Return the objects of the notebook's class, which are then deleted."""
    settings = read_settings((SMALL,), (*sets, "training.name=same"), name=NAME, namespace=cluster.namespace)
    made = AnteCluster(settings, connect(namespace=cluster.namespace).api_client)
    made.apply()
    found = live(cluster, "raycluster")
    made.down()
    assert not live(cluster, "raycluster")
    return found


def test_a_cluster_is_the_same_through_all_doors(cluster: Cluster, sets: tuple[str, ...], journal: Journal) -> None:
    helm = of_helm(cluster, sets, "raycluster", "job.enabled=false")
    assert set(helm) == {"RayCluster", "ConfigMap", "ServiceAccount"}
    assert of_command(cluster, sets, "raycluster") == helm
    assert of_notebook(cluster, sets) == helm
    journal.note("doors", kind="RayCluster", objects=sorted(helm), bytes=len(json.dumps(helm)))


def test_a_job_is_the_same_through_both_its_doors(cluster: Cluster, sets: tuple[str, ...], journal: Journal) -> None:
    helm = of_helm(cluster, sets, "rayjob", "job.suspend=true")
    assert set(helm) == {"RayJob", "ConfigMap", "ServiceAccount"}
    assert of_command(cluster, sets, "rayjob", "job.suspend=true") == helm
    journal.note("doors", kind="RayJob", objects=sorted(helm), bytes=len(json.dumps(helm)))


def kept(cluster: Cluster, bucket: str, run: str) -> int:
    """Return the steps of a run's newest checkpoint in the bucket."""
    with bucket_of(cluster, bucket) as found:
        return kept_steps(found, run)


def pods_of_door(cluster: Cluster) -> list[str]:
    """Return the training's remaining pods."""
    return [
        pod["metadata"]["name"] for pod in cluster.get("pods", selector=f"app.kubernetes.io/instance={NAME}")["items"]
    ]


def test_up_and_submit_train_and_down_leaves_claims_only(
    cluster: Cluster, bucket: str, sets: tuple[str, ...], journal: Journal
) -> None:
    run, where = f"{cluster.namespace}-cli", ("-n", cluster.namespace)
    journal.note("ante cluster up begins")
    others = (*sets, f"training.config.steps={10 * STEPS}")  # the submitted job brings its own settings
    ante("cluster", "up", *where, "--name", NAME, *flags(others, run))
    eventually("cluster ready", 300, lambda: len(cluster.pods("head", True) + cluster.pods("cpu", True)) == 2)
    journal.note("cluster ready")
    ante("cluster", "submit", *where, "--name", NAME, *flags(sets, run))
    log = ante("cluster", "logs", NAME, "-f", *where, timeout=900)
    journal.note("trained through up and submit", steps=kept(cluster, bucket, run))
    assert f"{STEPS:,} steps" in log, log[-3000:]
    assert kept(cluster, bucket, run) == STEPS
    ante("cluster", "down", NAME, *where)
    assert pods_of_door(cluster) == []
    assert not live(cluster, "raycluster")


@pytest.fixture()
def seen(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Record the objects of a short-lived RayCluster while it exists."""
    found: dict[str, Any] = {}
    over = threading.Event()

    def look() -> None:
        while not over.wait(1):
            try:
                now = live(cluster, "raycluster")
            except Failed:
                continue
            if "RayCluster" in now:
                found.update(now)

    thread = threading.Thread(target=look)
    thread.start()
    yield found
    over.set()
    thread.join()


def test_the_notebook_runs_whole_and_leaves_claims_only(
    cluster: Cluster, bucket: str, sets: tuple[str, ...], seen: dict[str, Any], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, journal: Journal,
) -> None:  # fmt: skip
    run = f"{cluster.namespace}-notebook"
    for name, text in secret_of(cluster, f"{bucket}-s3").items():
        monkeypatch.setenv(name, text)
    journal.note("notebook begins")
    with cluster.forwarded(f"service/{bucket}-objectstore", 9000) as port:
        monkeypatch.setenv("S3_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        changes = [*sets, f"training.name={run}"]
        said = execute("1", tmp_path, VALUES=str(SMALL), CHANGES=changes, NAME=NAME, NAMESPACE=cluster.namespace)
    journal.note("notebook over", steps=kept(cluster, bucket, run))
    assert f"{STEPS:,} steps" in said and "SUCCEEDED" in said
    assert "video/mp4" in said or "<video" in said
    assert kept(cluster, bucket, run) == STEPS
    assert (
        seen["RayCluster"]["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["image"]
        == "ante-ray:test"
    )
    assert pods_of_door(cluster) == []
    assert not live(cluster, "raycluster")
