"""The notebook's class against a Kubernetes API in memory: the same objects as `ante cluster up`."""

import json
from pathlib import Path
from typing import Any

import pytest

from ante.deploy.access import NoKind, NotAllowed, Rejected
from ante.deploy.codeflare import AnteCluster
from ante.deploy.placement import DoesNotFit, train_values
from ante.deploy.settings import preset, presets, read_settings
from ante.training.settings.config import make_config, read_config
from ante.training.sweeps.spec import read_sweep
from tests.deploy.conftest import Ante
from tests.deploy.test_cluster import job_server, made, run_with
from tests.support.apiserver import Cluster

ADDED = ("uid", "resourceVersion", "creationTimestamp")


def plain(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the objects without the fields that identify their creator, by kind."""
    return [
        {key: value for key, value in found.items() if key != "status"}
        | {"metadata": {key: value for key, value in found["metadata"].items() if key not in ADDED}}
        for kind in ("ServiceAccount", "ConfigMap", "RayCluster")
        for found in json.loads(json.dumps(cluster.all(kind)))
    ]


@pytest.mark.parametrize("name", presets())
def test_notebook_and_command_make_the_same_objects(name: str, kubernetes: Cluster, ante: Ante) -> None:
    cluster = AnteCluster(read_settings((preset(name),), name="mine"))
    cluster.apply()
    notebook = plain(kubernetes)
    assert len(notebook) == 3
    cluster.down()
    assert made(kubernetes) == set()
    assert ante("up", "--preset", name, "--name", "mine")[0] == 0
    assert plain(kubernetes) == notebook


def test_a_cluster_is_ready_trains_and_leaves_nothing(kubernetes: Cluster, tmp_path: Path) -> None:
    cluster = AnteCluster({"name": "mine", "queue": {"name": "night"}})
    cluster.apply()
    cluster.wait_ready(timeout=10)
    assert (
        kubernetes.objects["RayCluster", "default", "mine"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
        == "night"
    )
    details = cluster.details(print_to_console=False)
    assert (details.name, details.num_workers) == ("mine", 1)
    with job_server() as (port, jobs):
        kubernetes.ports[8265] = port
        job = cluster.train()
        assert list(cluster.lines(job)) == ["8,192 steps", "16,384 steps"]
        assert cluster.job_status(job) == "SUCCEEDED"
        with pytest.raises(DoesNotFit, match="search is empty"):
            cluster.train(sweep={"search": {}, "trials": 2})
        cluster.train(name="rates", sweep={"search": {"algo.lr": {"choices": [1e-3, 2e-3]}}, "trials": 2})
        cluster.down()
    (tmp_path / "sweep").mkdir()
    words = run_with(tmp_path / "sweep", jobs.submitted[1]["entrypoint"])
    sweep = read_sweep(Path(words[1]))
    assert (words[0], sweep.name, sweep.trials, sweep.settings["resources"]["learners"]) == ("sweep", "rates", 2, 0)
    words = run_with(tmp_path, jobs.submitted[0]["entrypoint"])
    assert words == ["train", "--config", words[2], "--name", "mine", "--store", "s3://ante/runs", "--resume", "auto"]
    assert read_config(Path(words[2])) == make_config(train_values(cluster.settings))
    assert jobs.tokens == {"Bearer ray-token"}
    assert made(kubernetes) == set()


def test_waiting_for_a_cluster_tells_why_and_ends(
    kubernetes: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.deploy.codeflare.POLL_SECONDS", 0.1)
    words = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    kubernetes.pod_states["gpu"] = {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}],
    }
    cluster = AnteCluster({"name": "mine"})
    cluster.apply()
    kubernetes.objects["RayCluster", "default", "mine"]["status"] = {"state": "", "reason": "pods wait"}
    with pytest.raises(TimeoutError, match="1 Insufficient"):
        cluster.wait_ready(timeout=1)
    assert capsys.readouterr().out.count(words) == 1


def test_refusals_are_raised_not_printed(kubernetes: Cluster) -> None:
    cluster = AnteCluster({"name": "mine"})
    kubernetes.denied.add(("patch", "rayclusters"))
    with pytest.raises(NotAllowed, match=r"k8s/rbac\.yaml"):
        cluster.apply()
    kubernetes.denied.clear()
    cluster.settings = cluster.settings.model_copy(update={"env": {"A": 1}})  # not a string: the API server refuses it
    with pytest.raises(Rejected, match="env"):
        cluster.apply()
    del kubernetes.groups["ray.io/v1"]
    with pytest.raises(NoKind, match="install KubeRay"):
        AnteCluster({"name": "mine"}).apply()


def test_settings_that_cannot_run_make_no_cluster(kubernetes: Cluster) -> None:
    with pytest.raises(DoesNotFit, match="the cluster has no worker pod"):
        AnteCluster({"gpuWorkers": {"replicas": 0}})
