"""Kueue: a RayJob of Helm and a cluster of the notebook's class wait for quota, are admitted, and finish."""

import json
import os
import shlex
from collections.abc import Iterator

import pytest
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import RESUMED, STEPS, Cluster, Journal, ante, eventually, run

from ante.deploy.access import connect
from ante.deploy.codeflare import AnteCluster
from ante.deploy.settings import read_settings

pytestmark = pytest.mark.cluster
NAME, QUEUED, QUEUE = "ante", "queued", "default"
LOW, HIGH = "ante-low", "ante-high"  # workload priority classes


@pytest.fixture(scope="module")
def queued(cluster: Cluster) -> Iterator[Cluster]:
    """Create a namespace with a local queue `default` of a cluster queue `default`, by the command of CLUSTER_KUEUE.

    The granted quota is too small for any workload: Kueue queues every RayJob in a namespace with a queue of this name,
    including the one of `bucket`, and alone decides when a queued one is suspended.
    """
    command = os.environ.get("CLUSTER_KUEUE")
    if not command:
        pytest.skip("CLUSTER_KUEUE is not set")
    run(*shlex.split(command), cluster.namespace, timeout=400)
    grant("150m")
    yield cluster


def grant(cores: str) -> None:
    """Let the cluster queue admit this many cores."""
    path = "/spec/resourceGroups/0/flavors/0/resources/0"
    found = json.loads(run("kubectl", "get", "clusterqueue", QUEUE, "-o", "json"))
    assert found["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["name"] == "cpu"
    patch = [{"op": "replace", "path": f"{path}/nominalQuota", "value": cores}]
    run("kubectl", "patch", "clusterqueue", QUEUE, "--type=json", "--patch", json.dumps(patch))


def admitted(cluster: Cluster, owner: str) -> bool:
    """Return whether Kueue has admitted the workload of an object."""
    for one in cluster.get("workloads.kueue.x-k8s.io")["items"]:
        if any(found["name"] == owner for found in one["metadata"].get("ownerReferences", ())):
            conditions = one.get("status", {}).get("conditions", ())
            return any(found["type"] == "Admitted" and found["status"] == "True" for found in conditions)
    raise ValueError(f"{owner} has no workload")


def conditions(cluster: Cluster, owner: str) -> dict[str, dict[str, str]]:
    """Return the conditions of the workload of an object by type."""
    for one in cluster.get("workloads.kueue.x-k8s.io")["items"]:
        if any(found["name"] == owner for found in one["metadata"].get("ownerReferences", ())):
            return {found["type"]: found for found in one.get("status", {}).get("conditions", ())}
    raise ValueError(f"{owner} has no workload")


def log_of(cluster: Cluster, release: str) -> str:
    """Return the logs of the submitters of one release that exist now."""
    label = f"app.kubernetes.io/instance={release},app.kubernetes.io/component=submitter"
    pods = [pod["metadata"]["name"] for pod in cluster.get("pods", selector=label)["items"]]
    return "\n".join(cluster.kubectl("logs", pod, "--tail=-1", check=False) for pod in pods)


@pytest.fixture
def priorities(queued: Cluster) -> Iterator[None]:
    """Let workloads of the cluster queue preempt those of lower priority, and create two classes."""
    preemption = ("kubectl", "patch", "clusterqueue", QUEUE, "--type=merge", "--patch")
    before = json.loads(run("kubectl", "get", "clusterqueue", QUEUE, "-o", "json"))
    version = before["apiVersion"]
    run(*preemption, json.dumps({"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}))
    for name, value in ((LOW, 100), (HIGH, 1000)):
        about = {"apiVersion": version, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}
        run("kubectl", "apply", "-f", "-", given=json.dumps(about))
    yield
    run("kubectl", "delete", "workloadpriorityclass", LOW, HIGH, "--ignore-not-found")
    run(*preemption, json.dumps({"spec": {"preemption": before["spec"].get("preemption")}}))


def sets(bucket: str, run_name: str) -> list[str]:
    """Return settings in addition to small.yaml."""
    return [
        f"training.name={run_name}", f"queue.name={QUEUE}", "objectStore.enabled=false", "networkPolicies.enabled=false",
        f"s3.endpoint=http://{bucket}-objectstore:9000", f"s3.existingSecret={bucket}-s3",
        "job.deletion.workersAfterSeconds=5",
    ]  # fmt: skip


def lines(text: list[str]) -> list[str]:
    """Return settings as arguments of helm and of `ante cluster`."""
    return ["--values", str(SMALL), *(part for pair in text for part in ("--set", pair))]


def test_both_wait_for_quota_are_admitted_and_finish(queued: Cluster, bucket: str, journal: Journal) -> None:
    given = sets(bucket, f"{queued.namespace}-job")
    printed = ante("cluster", "preflight", "-n", queued.namespace, "--no-pod", "--json", *lines(given), check=False)
    found = {line["name"]: line for line in map(json.loads, printed.splitlines())}
    journal.note("preflight red", settings="queue", says=found["queue"])
    assert found["queue"]["state"] == "fail" and f"cluster queue {QUEUE} has 0.15 of cpu" in found["queue"]["words"]

    queued.helm("install", NAME, str(CHART), *lines(given), timeout=180)
    eventually("a pending workload", 60, lambda: not admitted(queued, NAME))
    assert queued.pods("head") == []
    grant("300m")  # exactly the request of one of the two
    eventually("admitted", 120, lambda: admitted(queued, NAME))
    journal.note("RayJob admitted")

    settings = read_settings(
        (SMALL,), tuple(sets(bucket, f"{queued.namespace}-notebook")), name=QUEUED, namespace=queued.namespace
    )
    cluster = AnteCluster(settings, connect(namespace=queued.namespace).api_client)
    cluster.apply()
    eventually("a second, pending workload", 60, lambda: not admitted(queued, QUEUED))
    assert queued.get("raycluster", QUEUED)["spec"]["suspend"] is True
    eventually("the job's end", 900, lambda: queued.job(NAME) in ("Complete", "Failed"), every=2)
    assert queued.job(NAME) == "Complete", queued.log()[-3000:]
    journal.note("RayJob complete", steps=queued.steps())

    eventually("the second is admitted", 240, lambda: admitted(queued, QUEUED))
    journal.note("notebook's cluster admitted")
    cluster.wait_ready(timeout=420)
    said = "\n".join(cluster.lines(cluster.train()))
    cluster.down()
    journal.note("notebook's cluster trained")
    assert "16,384 steps" in said, said[-3000:]
    queued.helm("uninstall", NAME, "--wait", "--timeout", "180s", timeout=240)


def test_a_training_of_low_priority_yields_to_one_of_high_priority_and_continues(
    queued: Cluster, bucket: str, journal: Journal, priorities: None
) -> None:
    """The quota suffices for one of the two. The low one continues from its checkpoints in the bucket."""
    low, high = f"{queued.namespace}-low", f"{queued.namespace}-high"
    grant("300m")
    more = ["training.config.checkpoints.every=1", "training.config.steps=400000", f"queue.priorityClass={LOW}"]
    queued.helm("install", low, str(CHART), *lines([*sets(bucket, low), *more]), timeout=180)
    eventually("the low one is admitted", 120, lambda: admitted(queued, low))
    eventually("it has saved a checkpoint", 600, lambda: STEPS.search(log_of(queued, low)), every=2)
    journal.note("low priority trains")

    queued.helm("install", high, str(CHART), *lines([*sets(bucket, high), f"queue.priorityClass={HIGH}"]), timeout=180)
    eventually("the high one is admitted", 180, lambda: admitted(queued, high))
    found = eventually("the low one is evicted", 60, lambda: conditions(queued, low).get("Evicted"))
    assert (found["status"], found["reason"]) == ("True", "Preempted"), found
    assert not admitted(queued, low)
    assert queued.get("rayjob", low)["spec"]["suspend"] is True
    label = f"app.kubernetes.io/instance={low}"
    eventually("its pods end", 240, lambda: not queued.get("pods", selector=label)["items"], every=2)
    journal.note("low priority has yielded")

    eventually("the end of the high one", 900, lambda: queued.job(high) in ("Complete", "Failed"), every=2)
    assert queued.job(high) == "Complete", log_of(queued, high)[-3000:]
    queued.helm("uninstall", high, "--wait", "--timeout", "180s", timeout=240)
    eventually("the low one is admitted again", 240, lambda: admitted(queued, low))
    resumed = eventually("it continues", 600, lambda: RESUMED.search(log_of(queued, low)), every=2)
    journal.note("low priority continues", steps=int(resumed[1].replace(",", "")))
    assert int(resumed[1].replace(",", "")) > 0
    queued.helm("uninstall", low, "--wait", "--timeout", "180s", timeout=240)
