"""A real cluster at KUBECONFIG with KubeRay's operator and an image of Ante; see docs/explanation/fault-tolerance.md.

KUBECONFIG     the cluster; its default namespace is not used, each module has a separate namespace
CLUSTER_LOAD   command that loads an image archive on the nodes, such as `kind load image-archive`; without it the
               images must be loaded already
CLUSTER_IMAGE  the archive, as tests/cluster/image.sh writes it
CLUSTER_TAG    command that gives an image on the nodes a second name, such as `ctr --namespace k8s.io images tag --force`
CLUSTER_KUEUE  command that installs Kueue, with a cluster queue and a local queue, both `default`, for a namespace
CLUSTER_REGISTRY                        registry without TLS that receives a release, and from which the nodes pull it
CLUSTER_STATE_METRICS                   program kube-state-metrics, run next to Prometheus for the alert on pending pods
CLUSTER_OPERATOR                        label=value of the operator's pod, app.kubernetes.io/name=kuberay-operator by default
CLUSTER_PREVIOUS                        folder of the chart's previous version
CLUSTER_API_STOP, CLUSTER_API_START     commands that stop and start the API server
CLUSTER_FAULTS, CLUSTER_ITERATIONS      names of the faults to inject, all by default; iterations of their training, 600
"""

import os
import shlex
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.support import Cluster, Failed, Journal, eventually, run

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm/ante"
VALUES = Path(__file__).parent / "values.yaml"
SMALL = Path(__file__).parent / "small.yaml"


@pytest.fixture(scope="session")
def journal() -> Journal:
    """Collect the figures of this session."""
    folder = ROOT / "runs/cluster"
    folder.mkdir(parents=True, exist_ok=True)
    return Journal(folder / "journal.jsonl")


@pytest.fixture(scope="session")
def image(journal: Journal) -> str:
    """Load the image on the nodes."""
    if not os.environ.get("KUBECONFIG"):
        pytest.fail("KUBECONFIG names no cluster; see docs/explanation/fault-tolerance.md for its requirements")
    try:
        run("kubectl", "get", "crd", "rayjobs.ray.io", "rayclusters.ray.io")
    except Failed as error:
        pytest.fail(f"KubeRay's operator is not installed: {error}")
    if load := os.environ.get("CLUSTER_LOAD"):
        archive = os.environ.get("CLUSTER_IMAGE", str(ROOT / "runs/cluster/image.tar"))
        run(*shlex.split(load), archive, timeout=900)
        journal.note("image loaded", megabytes=Path(archive).stat().st_size // 2**20)
    return "ante-ray:test"


@pytest.fixture(scope="module")
def cluster(image: str) -> Iterator[Cluster]:
    """Create a namespace and delete it afterwards."""
    name = f"ante-{uuid.uuid4().hex[:6]}"
    run("kubectl", "create", "namespace", name)
    yield Cluster(name)
    run("kubectl", "delete", "namespace", name, "--wait=true", "--timeout=240s", timeout=300)


@pytest.fixture(scope="module")
def bucket(cluster: Cluster) -> str:
    """Return the name of a release in the namespace with a bucket and no training; other trainings may use it."""
    name = "store"
    open_to_all = r"networkPolicies.clientPodLabels.app\.kubernetes\.io/name=ante"
    cluster.helm(
        "install", name, str(CHART), "--values", str(VALUES), "--set", f"job.suspend=true,{open_to_all}", timeout=300
    )
    eventually("object store ready", 180, lambda: cluster.pods("objectstore", True))
    return name
