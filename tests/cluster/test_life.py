"""The life of a training by `ante cluster`: submit to down, with one followed log over all of it."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.cluster.conftest import ROOT, SMALL
from tests.cluster.support import (
    STEPS,
    Cluster,
    Followed,
    Journal,
    ante,
    bucket_of,
    eventually,
    followed_log,
    kept_steps,
)
from tests.cluster.test_faults import lost_steps

pytestmark = pytest.mark.cluster
NAME = "life"
BATCH, EVERY = 2048, 5
MORE_STEPS = 5_000_000


@pytest.fixture(scope="module")
def submitted(cluster: Cluster, bucket: str, journal: Journal) -> Cluster:
    """Submit a long training and wait for its first checkpoints."""
    sets = (
        f"s3.endpoint=http://{bucket}-objectstore:9000", f"s3.existingSecret={bucket}-s3", "objectStore.enabled=false",
        "training.config.steps=4000000", f"training.config.checkpoints.every={EVERY}", f"training.name={run_name(cluster)}",
        "job.submitterBackoffLimit=20",
    )  # fmt: skip
    pairs = [part for pair in sets for part in ("--set", pair)]
    begin = time.monotonic()
    printed = ante("cluster", "submit", "-n", cluster.namespace, "--name", NAME, "--values", str(SMALL), *pairs)
    assert f"ante cluster logs {NAME} -f" in printed
    eventually("checkpoints", 900, lambda: steps(cluster) > 2 * EVERY * BATCH, every=2)
    journal.note("submitted", seconds=round(time.monotonic() - begin), steps=steps(cluster))
    return cluster


@pytest.fixture(scope="module")
def followed(submitted: Cluster) -> Iterator[Followed]:
    """Follow the log in the background to the end of the job."""
    with followed_log(submitted, NAME, ROOT / "runs/cluster/followed.log") as found:
        yield found


def run_name(cluster: Cluster) -> str:
    """Return the name of the run, unique in the volume."""
    return f"{cluster.namespace}-life"


def steps(cluster: Cluster) -> int:
    """Return the steps of the last iteration in the log."""
    found = STEPS.findall(cluster.log())
    return int(found[-1].replace(",", "")) if found else 0


def command(cluster: Cluster, *words: str, **options: float) -> str:
    """Run `ante cluster` in the namespace."""
    return ante("cluster", words[0], NAME, *words[1:], "-n", cluster.namespace, **options)


def execute(cluster: Cluster, text: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the head with `ante cluster exec`."""
    words = [sys.executable, "-m", "ante.cli", "cluster", "exec", NAME, text, "-n", cluster.namespace]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def test_it_is_listed_and_its_log_is_cut_by_age(submitted: Cluster) -> None:
    (row,) = (one for one in json.loads(ante("cluster", "ls", "-n", submitted.namespace, "--json"))
              if one["name"] == NAME)  # fmt: skip
    assert (row["kind"], row["state"], row["job_status"]) == ("RayJob", "Running", "RUNNING")
    found = json.loads(command(submitted, "status", "--json"))
    assert {pod["part"]: pod["ready"] for pod in found["pods"] if pod["part"] != "submitter"} == {
        "head": True,
        "cpu": True,
    }
    whole = command(submitted, "logs")
    recent = command(submitted, "logs", "--since", "10s")
    assert 0 < len(STEPS.findall(recent)) < len(STEPS.findall(whole))
    assert command(submitted, "logs", "--tail", "3").count("\n") == 3


def test_commands_run_in_its_head(submitted: Cluster, journal: Journal) -> None:
    done = execute(submitted, "sh -c 'echo out; echo why >&2; exit 3'")
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "why\n")
    done = execute(submitted, "nosuch --flag")
    journal.note("exec of a missing program", code=done.returncode, says=done.stderr)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"ante: pod \S+ has no program 'nosuch'.*\n", done.stderr), done.stderr


def test_suspended_it_has_no_pods_and_resumed_it_continues_from_its_checkpoint(
    submitted: Cluster, followed: Followed, bucket: str, journal: Journal
) -> None:
    eventually("the followed log", 60, followed.steps)
    begin = time.monotonic()
    command(submitted, "suspend")
    suspended, reached = time.monotonic() - begin, followed.steps()
    assert not submitted.pods("head") + submitted.pods("cpu") + submitted.pods("submitter")
    with bucket_of(submitted, bucket) as found:
        kept = kept_steps(found, run_name(submitted))
    begin = time.monotonic()
    command(submitted, "resume", "--steps", str(MORE_STEPS))
    eventually("it resumes", 600, followed.restarts)
    (pod,) = submitted.pods("submitter")
    assert f"--steps {MORE_STEPS}" in submitted.kubectl("get", "pod", pod, "--output", "jsonpath={.spec.containers[0]}")
    eventually("it goes on", 600, lambda: followed.steps() > kept)
    figures = {
        "suspended_in": round(suspended),
        "reached": reached,
        "kept": kept,
        "resumed_in": round(time.monotonic() - begin),
    }
    journal.note("suspended and resumed", **figures, steps_lost=(lost := lost_steps(followed.text())))
    assert max(lost) <= EVERY * BATCH


def test_its_followed_log_goes_on_after_the_loss_of_submitter_and_head(
    submitted: Cluster, followed: Followed, journal: Journal
) -> None:
    (pod,) = submitted.pods("submitter")
    submitted.kubectl("delete", "pod", pod, "--force", "--grace-period=0")
    eventually("another submitter", 120, lambda: pod not in (now := submitted.pods("submitter", True)) and now)
    reached = followed.steps()
    eventually("its lines", 120, lambda: followed.steps() > reached + 5 * BATCH)
    restarts = followed.restarts()
    submitted.kubectl("delete", "pod", submitted.pods("head")[0], "--force", "--grace-period=0")
    eventually("it resumes", 600, lambda: followed.restarts() > restarts)
    reached = followed.steps()
    eventually("it goes on", 120, lambda: followed.steps() > reached)
    journal.note("followed log", after="submitter and head", steps_lost=lost_steps(followed.text()))
    assert followed.process.poll() is None


def test_cancelled_it_writes_a_checkpoint_and_ends_and_down_deletes_it(
    submitted: Cluster, followed: Followed, bucket: str, journal: Journal
) -> None:
    begin = time.monotonic()
    command(submitted, "cancel")
    assert followed.process.wait(300) == 0
    seconds = round(time.monotonic() - begin)
    with bucket_of(submitted, bucket) as found:
        kept = kept_steps(found, run_name(submitted))
    journal.note("cancelled", log_ended_after=seconds, state=submitted.job(NAME), kept=kept, reached=followed.steps())
    lines = [line for line in followed.text().splitlines() if STEPS.match(line + "  ")]
    journal.note("followed log", lines=len(lines), distinct=len(set(lines)), restarts=followed.restarts())
    assert kept == followed.steps(), "the checkpoint is from the last iteration"
    assert len(set(lines)) > 0.9 * len(lines), "only a new submitter repeats lines, those of a job that still runs"
    assert submitted.job(NAME) in ("Complete", "Failed")
    command(submitted, "down")
    labels = f"app.kubernetes.io/instance={NAME}"
    left = submitted.get("rayjobs,rayclusters,pods,configmaps,serviceaccounts", selector=labels)["items"]
    assert [one["metadata"]["name"] for one in left] == []
