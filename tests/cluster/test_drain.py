"""A node is drained during a training: cordon, drain, uncordon. At most one interval between checkpoints is lost."""

import time
from collections.abc import Iterator

import pytest
from tests.cluster.conftest import CHART, ROOT, SMALL
from tests.cluster.support import RESUMED, Cluster, Followed, Journal, eventually, followed_log, run
from tests.cluster.test_faults import lost_steps

pytestmark = pytest.mark.cluster
NAME = "drained"  # of the release: a drain selects pods of all namespaces by label
BATCH, EVERY = 2048, 10
SETS = (
    f"training.config.steps=4000000,training.config.checkpoints.every={EVERY},training.config.resources.restarts=5,"
    "job.submitterBackoffLimit=20"
)
DRAINS = {
    "worker": ",app.kubernetes.io/component=cpu",
    "head": ",app.kubernetes.io/component=head",
    "all pods of the training": ",app.kubernetes.io/component in (head, cpu, submitter)",
    "with the object store": "",
}


@pytest.fixture(scope="module")
def followed(cluster: Cluster) -> Iterator[Followed]:
    """Start a long training, follow its log, and wait for its first checkpoints."""
    sets = ("--values", str(SMALL), "--set", f"{SETS},training.name={cluster.namespace}")
    cluster.helm("install", NAME, str(CHART), *sets, timeout=300)
    eventually("it starts", 900, cluster.steps, every=2)
    with followed_log(cluster, NAME, ROOT / "runs/cluster/drained.log") as found:
        eventually("two checkpoints", 300, lambda: found.steps() > 2 * EVERY * BATCH)
        yield found


@pytest.mark.parametrize("pods", DRAINS)
def test_a_drain_costs_at_most_one_interval(cluster: Cluster, followed: Followed, pods: str, journal: Journal) -> None:
    begin, restarts = followed.steps(), followed.restarts()
    eventually("another checkpoint", 600, lambda: followed.steps() > begin + EVERY * BATCH)
    node = cluster.get("pod", cluster.pods("head", True)[0])["spec"]["nodeName"]
    run("kubectl", "cordon", node)
    clock = time.monotonic()
    try:
        selector = f"--pod-selector=app.kubernetes.io/instance={NAME}{DRAINS[pods]}"
        run("kubectl", "drain", node, selector, "--delete-emptydir-data", "--timeout=240s", timeout=300)
        drained = time.monotonic() - clock
    finally:
        run("kubectl", "uncordon", node)
    eventually("it resumes", 600, lambda: followed.restarts() > restarts)
    resumed = int(RESUMED.findall(followed.text())[-1].replace(",", ""))
    eventually("it goes on", 600, lambda: followed.steps() > resumed)
    seconds = time.monotonic() - clock
    losses = [max(0, lost) for lost in lost_steps(followed.text())[restarts:]]  # a halted head logs no more
    failed = cluster.get("rayjob", NAME)["status"].get("failed", 0)
    figures = {"drained_in": round(drained), "goes_on_after": round(seconds), "steps_lost": losses, "failed": failed}
    journal.note("drained", pods=pods, **figures)
    assert cluster.job(NAME) == "Running" and failed == 0, "a drain is not a failed attempt"
    assert max(losses) <= EVERY * BATCH
