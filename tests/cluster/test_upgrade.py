"""Upgrades of a release: more workers, another image, rollback, uninstall; idle cluster and running training."""

import json
import os
import shlex
import time

import pytest
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import RESUMED, Cluster, Journal, eventually, run
from tests.cluster.test_helm import left

pytestmark = pytest.mark.cluster
NAME = "ante"
FORCE = ("--force-conflicts",)  # Helm 4 must override the operator's changes of the RayJob
LONG = "training.config.steps=2000000"


@pytest.fixture(scope="module")
def next_image(image: str) -> str:
    """Return a second tag of the image on the nodes, set by the command of CLUSTER_TAG, such as `ctr images tag`."""
    command = os.environ.get("CLUSTER_TAG")
    if not command:
        pytest.skip("CLUSTER_TAG is not set")
    run(*shlex.split(command), "docker.io/library/ante-ray:test", "docker.io/library/ante-ray:next")
    return "image.tag=next"


def change(cluster: Cluster, verb: str, *sets: str, chart: str = str(CHART)) -> None:
    """Install or upgrade, with the settings of small.yaml and these."""
    pairs = [part for pair in (f"training.name={cluster.namespace}", *sets) for part in ("--set", pair)]
    force = FORCE if verb == "upgrade" else ()
    cluster.helm(verb, NAME, chart, "--values", str(SMALL), *pairs, *force, timeout=300)


def images(cluster: Cluster, component: str) -> list[str]:
    """Return the images of the ready pods of one component that are not being deleted."""
    found = cluster.get("pods", selector=f"app.kubernetes.io/component={component}")["items"]
    ready = cluster.pods(component, True)
    return [pod["spec"]["containers"][0]["image"] for pod in found if pod["metadata"]["name"] in ready]


def stands(cluster: Cluster, tag: str, workers: int) -> bool:
    """Wait until a head and this many workers are ready, all of one image, and no others exist."""
    wanted = [f"ante-ray:{tag}"]
    return (
        images(cluster, "head") == wanted
        and images(cluster, "cpu") == wanted * workers
        and len(cluster.pods("cpu")) == workers
    )


def away(cluster: Cluster, journal: Journal) -> None:
    """Check that only the claim and its credentials are left of the release."""
    cluster.helm("uninstall", NAME, "--wait", "--timeout", "240s", timeout=300)
    eventually("only claims and credentials left", 240, lambda: not left(cluster))
    claims = [claim["metadata"]["name"] for claim in cluster.get("persistentvolumeclaims")["items"]]
    assert len(claims) == 1
    journal.note("uninstalled", claims=claims)


def test_a_cluster_that_waits_takes_more_workers_and_another_image_and_goes_back(
    cluster: Cluster, next_image: str, journal: Journal
) -> None:
    waits = "job.enabled=false"
    change(cluster, "install", waits)
    eventually("cluster ready", 420, lambda: stands(cluster, "test", 1))
    head = cluster.pods("head")
    journal.note("one worker")
    change(cluster, "upgrade", waits, "cpuWorkers.replicas=2")
    eventually("second worker", 300, lambda: len(cluster.pods("cpu", True)) == 2)
    journal.note("two workers")
    assert cluster.pods("head") == head, "additional workers do not replace the head"
    change(cluster, "upgrade", waits, "cpuWorkers.replicas=2", next_image)
    eventually("all pods of the new image", 420, lambda: stands(cluster, "next", 2))
    journal.note("new image")
    cluster.helm("rollback", NAME, "1", *FORCE, timeout=300)
    eventually("back again", 420, lambda: stands(cluster, "test", 1))
    journal.note("rolled back")
    assert cluster.pods("head") != head
    away(cluster, journal)


def trains(cluster: Cluster, beyond: int) -> bool:
    """Return whether the training runs and has exceeded these steps."""
    assert cluster.job(NAME) != "Failed", cluster.log()[-3000:]
    return cluster.steps() > beyond


def test_a_training_is_paused_changed_and_goes_on_and_back(cluster: Cluster, next_image: str, journal: Journal) -> None:
    change(cluster, "install", LONG)
    eventually("checkpoints", 600, lambda: trains(cluster, 5 * 2048))
    journal.note("trains", steps=cluster.steps())
    change(cluster, "upgrade", LONG, "job.suspend=true")
    eventually("paused", 240, lambda: cluster.job(NAME) == "Suspended" and not cluster.pods("head"))
    reached = cluster.steps()
    journal.note("paused", steps=reached)
    change(cluster, "upgrade", LONG, "cpuWorkers.replicas=2", next_image)
    eventually("continues with two workers of the new image", 600, lambda: stands(cluster, "next", 2))
    eventually("trains again", 600, lambda: trains(cluster, reached))
    journal.note("goes on", steps=cluster.steps(), resumed=RESUMED.findall(cluster.log()))
    assert len(RESUMED.findall(cluster.log())) == 1
    cluster.helm("rollback", NAME, "2", *FORCE, timeout=300)  # the suspended revision
    eventually("paused again", 240, lambda: cluster.job(NAME) == "Suspended" and not cluster.pods("head"))
    reached = cluster.steps()
    cluster.helm("rollback", NAME, "1", *FORCE, timeout=300)
    eventually("back to one worker of the old image", 600, lambda: stands(cluster, "test", 1))
    eventually("trains as before", 600, lambda: trains(cluster, reached))
    journal.note("rolled back", steps=cluster.steps(), resumed=RESUMED.findall(cluster.log()))
    away(cluster, journal)


def test_a_training_runs_on_while_its_release_is_upgraded_from_the_previous_chart(
    cluster: Cluster, journal: Journal
) -> None:
    previous = os.environ.get("CLUSTER_PREVIOUS")
    if not previous:
        pytest.skip("CLUSTER_PREVIOUS is not set")
    cluster.heard.clear()
    run_name = f"training.name={cluster.namespace}-previous"
    change(cluster, "install", LONG, run_name, "networkPolicies.enabled=false", chart=previous)
    eventually("checkpoints", 600, lambda: trains(cluster, 5 * 2048))
    pods, uid = cluster.pods("head") + cluster.pods("cpu"), cluster.get("rayjob", NAME)["metadata"]["uid"]
    begin = time.monotonic()
    change(cluster, "upgrade", LONG, run_name)
    seconds, reached = time.monotonic() - begin, cluster.steps()
    eventually("trains on", 300, lambda: trains(cluster, reached + 20 * 2048))
    releases = [one["chart"] for one in json.loads(cluster.helm("history", NAME, "--output=json"))]
    journal.note("upgraded", charts=releases, seconds=round(seconds), steps_lost=0, steps=[reached, cluster.steps()])
    assert cluster.pods("head") + cluster.pods("cpu") == pods and not RESUMED.search(cluster.log())
    assert cluster.get("rayjob", NAME)["metadata"]["uid"] == uid and len(set(releases)) == 2
    away(cluster, journal)
