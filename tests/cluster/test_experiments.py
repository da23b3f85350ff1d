"""Sweeps and a comparison on the cluster's workers: each loses its head, continues from the bucket and ends there."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.conftest import SMALL
from tests.cluster.support import Cluster, Journal, ante, bucket_of, eventually

pytestmark = pytest.mark.cluster
EVALUATED = re.compile(r"^trial (\d+): blinds \S+ after ([\d,]+) steps", re.MULTILINE)
SHARED = {
    "policy": {"kind": "shortlist", "hidden": [64, 64]},  # which soon beats blinds, so that few scores are equal
    "algo": {"batch": 1024, "minibatch": 256, "epochs": 3},
    "evaluation": {"games": 8, "trial_games": 32},
}
SEARCH = {"algo.lr": {"low": 1e-4, "high": 5e-3, "log": True}, "algo.entropy": {"low": 1e-3, "high": 3e-2}}
SWEEPS = {
    "asha": {"method": {"kind": "asha", "grace": 1024}, "trials": 16, "steps": 9216, "every": 1024},
    "pbt": {"method": "pbt", "trials": 6, "steps": 3072, "every": 1024},
}
COMPARED = {
    "seeds": [0, 1],
    "steps": 8192,
    "eval_games": 8,
    "entries": {"slow": {"settings": {"algo.lr": 1e-4}}, "fast": {"settings": {"algo.lr": 1e-3}}},
}


@pytest.fixture
def name(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[str]:
    """Return the name of the job, and delete it afterwards."""
    found = str(request.param)
    yield found
    ante("cluster", "down", found, "-n", cluster.namespace)


def submit(cluster: Cluster, bucket: str, name: str, training: dict[str, Any], folder: Path) -> None:
    """Submit a job with two workers, each with places for a learner and an env runner."""
    values = folder / "values.yaml"
    changes = {
        "cpuWorkers": {"replicas": 2},
        "training": {"name": f"{cluster.namespace}-{name}", "learners": 2, "config": SHARED, **training},
        "job": {"submitterBackoffLimit": 6},
        "s3": {"endpoint": f"http://{bucket}-objectstore:9000", "existingSecret": f"{bucket}-s3"},
        "objectStore": {"enabled": False},
    }
    values.write_text(yaml.safe_dump(changes))
    files = ("--values", str(SMALL), "--values", str(values))
    ante("cluster", "submit", "-n", cluster.namespace, "--name", name, *files)


def finish(cluster: Cluster, bucket: str, name: str, folder: Path) -> dict[str, bytes]:
    """Wait for the end of the job and return its files in the bucket, without checkpoints."""

    def ended() -> str:
        cluster.log()  # a submitter's log is lost with its pod
        return found if (found := cluster.job(name)) in ("Complete", "Failed") else ""

    assert eventually("the end", 1500, ended, every=3) == "Complete"
    prefix = f"runs/{cluster.namespace}-{name}/"
    with bucket_of(cluster, bucket) as found:
        keys = [one.key for one in found.objects.filter(Prefix=prefix)]
        kept = [key for key in keys if "/tune/" not in key and not re.search(r"/checkpoints/\d", key)]
        return {key.removeprefix(prefix): found.Object(key).get()["Body"].read() for key in kept}


def lose_head(cluster: Cluster) -> None:
    """Kill the head pod at once."""
    cluster.kubectl("delete", "pod", cluster.pods("head")[0], "--force", "--grace-period=0")


@pytest.mark.parametrize("name", SWEEPS, indirect=True)
def test_a_sweep_continues_after_the_loss_of_its_head(
    cluster: Cluster, bucket: str, journal: Journal, name: str, tmp_path: Path
) -> None:
    cluster.heard.clear()
    begin = time.monotonic()
    submit(cluster, bucket, name, {"sweep": {"search": SEARCH, **SWEEPS[name]}}, tmp_path)
    enough = SWEEPS[name]["trials"] * (0.5 if name == "asha" else 1.4)
    eventually("evaluations", 1200, lambda: len(EVALUATED.findall(cluster.log())) >= enough, every=2)
    before, pods = set(EVALUATED.findall(cluster.log())), set(cluster.heard)
    lose_head(cluster)
    files = finish(cluster, bucket, name, tmp_path)
    results = json.loads(files["results.json"])
    states = [trial["state"] for trial in results["trials"]]
    after = {found for pod in cluster.heard.keys() - pods for found in EVALUATED.findall(cluster.heard[pod])}
    again = len(states) if name == "pbt" else 0  # a population compares its kept evaluations again
    figures = {
        "seconds": round(time.monotonic() - begin),
        "evaluations_before": len(before),
        "repeated": len(before & after) - again,
        "states": {state: states.count(state) for state in sorted(set(states))},
    }
    journal.note(f"{name} sweep", **figures)
    assert len(states) == SWEEPS[name]["trials"]
    assert set(states) <= ({"finished", "stopped early"} if name == "asha" else {"finished"})
    assert (states.count("stopped early") > 0) == (name == "asha")
    assert after, "the new submitter's log was read"
    assert 0 <= figures["repeated"] < len(before) - again, "evaluations before the loss are kept"
    assert files["trials.png"].startswith(b"\x89PNG")
    assert json.loads(files["best/checkpoints/latest.json"])["name"].startswith(f"{SWEEPS[name]['steps']:012d}")
    assert yaml.safe_load(files["best.yaml"])["algo"]["batch"] == SHARED["algo"]["batch"]


@pytest.mark.parametrize("name", ["compared"], indirect=True)
def test_a_comparison_continues_after_the_loss_of_its_head(
    cluster: Cluster, bucket: str, journal: Journal, name: str, tmp_path: Path
) -> None:
    cluster.heard.clear()
    begin = time.monotonic()
    submit(cluster, bucket, name, {"compare": COMPARED}, tmp_path)
    place = f"runs/{cluster.namespace}-{name}"

    def stored() -> list[str]:
        with bucket_of(cluster, bucket) as found:
            keys = [one.key.removeprefix(f"{place}/") for one in found.objects.filter(Prefix=place)]
        return [key for key in keys if key.endswith("evaluation.json")]

    finished = eventually("the first run", 1200, stored, every=5)
    lose_head(cluster)
    files = finish(cluster, bucket, name, tmp_path)
    results = json.loads(files["results.json"])
    journal.note("comparison", seconds=round(time.monotonic() - begin), finished_before=finished)
    assert {row["name"] for row in results["rows"]} == {*COMPARED["entries"], "random", "greedy"}
    assert {cell["state"] for cell in results["cells"]} == {"done"}
    assert b"<html" in files["report.html"]
    assert {f"{entry}/seed-{seed}/config.yaml" for entry in COMPARED["entries"] for seed in COMPARED["seeds"]} <= set(
        files
    )
