"""Injected faults, one by one, in one training: it completes all steps, and no fault costs more than one interval.

The loss of a single env runner costs no steps, since its iteration learns from the other runners' fragments. Such a
smaller iteration is made up for by an additional one, so a run can end with as many more iterations as there were such
losses, and with part of a batch more than configured.
"""

import csv
import os
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.cluster.conftest import CHART, ROOT, VALUES
from tests.cluster.support import OPERATOR, RESUMED, STEPS, Cluster, Journal, bucket_of, eventually, run

pytestmark = pytest.mark.cluster
NAME = "ante"
BATCH, EVERY = 4096, 5
ITERATIONS = int(os.environ.get("CLUSTER_ITERATIONS", "600"))  # enough for all faults, one after the other
GROUPS = (
    f"training.config.algo.batch={BATCH},training.config.checkpoints.every={EVERY},training.config.steps={BATCH * ITERATIONS},"
    "training.config.policy.kind=shortlist,training.config.resources.restarts=5,training.config.evaluation.games=8"
)


def dropped(cluster: Cluster, pod: str) -> None:
    """Delete a pod without grace period, as after a power failure of its node."""
    cluster.kubectl("delete", "pod", pod, "--force", "--grace-period=0")


def worker_killed(cluster: Cluster) -> None:
    """Kill the first worker; either one may run the learner."""
    dropped(cluster, cluster.pods("gpu", True)[0])


def other_worker_killed(cluster: Cluster) -> None:
    dropped(cluster, cluster.pods("gpu", True)[-1])


def head_killed(cluster: Cluster) -> None:
    dropped(cluster, cluster.pods("head", True)[0])


def entrypoint_killed(cluster: Cluster) -> None:
    cluster.kubectl(
        "exec", cluster.pods("head", True)[0], "-c", "ray-head", "--", "pkill", "-9", "-f", "bin/ante train"
    )


def object_store_restarted(cluster: Cluster) -> None:
    dropped(cluster, cluster.pods("objectstore", True)[0])


def operator_killed(cluster: Cluster) -> None:
    run("kubectl", "delete", "pod", "--all-namespaces", "--selector", OPERATOR, "--force", "--grace-period=0")


def api_server_gone_for_a_minute(cluster: Cluster) -> None:
    """Stop and start the API server with the cluster's commands."""
    stop, start = os.environ.get("CLUSTER_API_STOP"), os.environ.get("CLUSTER_API_START")
    if not stop or not start:
        pytest.skip("CLUSTER_API_STOP and CLUSTER_API_START are not set")
    run("bash", "-c", stop)
    time.sleep(60)
    run("bash", "-c", start, timeout=180)
    eventually("API server", 180, lambda: cluster.get("namespace", cluster.namespace))


HOG = """
import os, signal, sys, time
victims = [int(p) for p in os.listdir("/proc") if p.isdigit()]
def name(pid):
    try: return open(f"/proc/{pid}/cmdline").read()
    except OSError: return ""
ray = [pid for pid in victims if "ray::" in name(pid) and "IDLE" not in name(pid)]
for pid in ray: open(f"/proc/{pid}/oom_score_adj", "w").write("1000")
taken = []
while all(os.path.exists(f"/proc/{pid}") for pid in ray):
    taken.append(bytearray(64 << 20)); time.sleep(0.05)
print("killed one of", ray, "after", len(taken) * 64, "MB")
"""


def memory_runs_out_in_a_worker(cluster: Cluster) -> None:
    """Exceed the pod's memory limit; the kernel kills Ray's actor first."""
    pod = cluster.pods("gpu", True)[0]
    print(cluster.kubectl("exec", pod, "-c", "ray-worker", "--", "python", "-c", HOG, timeout=180))


def disk_full_in_a_worker(cluster: Cluster) -> None:
    """Write more than a volume's limit, so that the kubelet evicts the pod."""
    pod = cluster.pods("gpu", True)[0]
    cluster.kubectl(
        "exec", pod, "-c", "ray-worker", "--", "sh", "-c", "dd if=/dev/zero of=/tmp/fill bs=1M count=3400", timeout=180
    )
    eventually("eviction", 180, lambda: pod not in cluster.pods("gpu", True))


FAULTS: tuple[Callable[[Cluster], None], ...] = (
    worker_killed, other_worker_killed, head_killed, entrypoint_killed, object_store_restarted, operator_killed,
    api_server_gone_for_a_minute, memory_runs_out_in_a_worker, disk_full_in_a_worker,
)  # fmt: skip


def beyond(cluster: Cluster, goal: int) -> bool:
    """Return whether the training has exceeded these steps. Fails if it has failed."""
    if cluster.job(NAME) == "Failed":
        pytest.fail(cluster.log()[-3000:])
    return cluster.steps() > goal


def chosen() -> list[Callable[[Cluster], None]]:
    """Return all faults, or those whose names contain a word of CLUSTER_FAULTS, such as "worker,disk"."""
    words = os.environ.get("CLUSTER_FAULTS", "").split(",")
    return [fault for fault in FAULTS if any(word in fault.__name__ for word in words)]


def lost_steps(log: str) -> list[int]:
    """Return the steps between the last logged iteration and the restored checkpoint, for each restart of the run."""
    losses, reached = [], 0
    for line in log.splitlines():
        if found := STEPS.match(line):
            reached = int(found[1].replace(",", ""))
        elif found := RESUMED.search(line):
            losses.append(reached - int(found[1].replace(",", "")))
    return losses


def test_a_training_survives_every_loss(cluster: Cluster, journal: Journal) -> None:
    values = ("--values", str(VALUES), "--set", f"{GROUPS},training.name={cluster.namespace}")
    cluster.helm("install", NAME, str(CHART), *values, timeout=180)
    eventually("first checkpoint", 600, lambda: beyond(cluster, BATCH * EVERY))
    for fault in chosen():
        before, begin = cluster.steps(), time.monotonic()
        assert before < BATCH * (ITERATIONS - 3 * EVERY), f"the training ended before {fault.__name__}: make it longer"
        try:
            fault(cluster)
        except pytest.skip.Exception as skipped:
            journal.note("fault left out", fault=fault.__name__, why=str(skipped))
            continue
        eventually(
            f"training continues after {fault.__name__}", 420, lambda goal=before + BATCH * EVERY: beyond(cluster, goal)
        )
        eventually("all pods", 240, lambda: len(cluster.pods("head", True) + cluster.pods("gpu", True)) == 3)
        journal.note("fault", fault=fault.__name__, steps=before, seconds=round(time.monotonic() - begin))
    eventually("the end", 1200, lambda: cluster.job(NAME) in ("Complete", "Failed"), every=3)
    log = cluster.log()
    (ROOT / "runs/cluster/faults.log").write_text(log)
    assert cluster.job(NAME) == "Complete", log[-3000:]
    losses = lost_steps(log)
    journal.note("all faults over", steps=cluster.steps(), lost=losses)
    assert 0 <= cluster.steps() - BATCH * ITERATIONS < BATCH
    assert max(losses, default=0) <= BATCH * EVERY
    rows = rows_of_metrics(cluster)
    assert [iteration for iteration, _ in rows] == list(range(1, len(rows) + 1))
    assert all(0 < later - sooner <= BATCH for (_, sooner), (_, later) in pairwise(rows))
    assert rows[-1][1] == cluster.steps()
    assert 0 <= len(rows) - ITERATIONS <= len(chosen())


def rows_of_metrics(cluster: Cluster) -> list[tuple[int, int]]:
    """Return iterations and steps of metrics.csv in the bucket."""
    with bucket_of(cluster, NAME) as bucket:
        text = bucket.Object(f"runs/{cluster.namespace}/metrics.csv").get()["Body"].read().decode()
    rows = csv.DictReader(text.splitlines())
    return [(round(float(row["iteration"])), round(float(row["steps"]))) for row in rows]
