"""On a real Ray whose nodes offer what our pods offer, training joins the cluster and lands where the plan says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ante.deploy.placement import make_plan, train_values
from ante.deploy.settings import make_settings
from ante.deploy.spec import objects

pytestmark = pytest.mark.ray

SETTINGS = {
    "gpuWorkers": {"replicas": 1, "cpus": 2, "gpus": 0, "runnersPerWorker": 1},
    "cpuWorkers": {"enabled": True, "replicas": 1, "cpus": 2, "runnersPerWorker": 2},
    "training": {
        "learnerGpus": 0,
        "runnerCpus": 0.5,
        "gamesPerRunner": 8,
        "config": {"batch": 512, "minibatch": 128, "epochs": 1, "hidden": [16]},
    },
}
SCRIPT = """
import json, sys
import ray
from ante.training.algorithm import build
from ante.training.config import make_config

algorithm = build(make_config(json.loads(sys.argv[1])))
left = {node: {name: amount for name, amount in free.items() if name.startswith("ante_")}
        for node, free in ray._private.state.available_resources_per_node().items()}
nodes = {node["NodeID"]: node["Resources"] for node in ray.nodes()}
result = algorithm.train()
print(json.dumps({"left": left, "nodes": nodes, "steps": result["num_env_steps_sampled_lifetime"],
                  "runners": result["env_runners"]["num_healthy_workers"] if "num_healthy_workers" in result["env_runners"] else None}))
algorithm.stop()
"""


def head_without_cores() -> Any:
    """A Ray cluster of one head. Tried again where its daemon gives up on a busy machine, as `init_ray` does."""
    from ray.cluster_utils import Cluster

    for left in (2, 1, 0):
        try:
            arguments = {"num_cpus": 0, "object_store_memory": 100 * 2**20, "include_dashboard": False}
            return Cluster(initialize_head=True, head_node_args=arguments)
        except Exception as error:  # Ray has no class for it
            if not left or "timed out during startup" not in str(error):
                raise
    return None


def test_actors_go_where_the_plan_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = make_settings(SETTINGS)
    plan = make_plan(settings)
    spec = objects(settings)[-1]["spec"]["rayClusterSpec"]
    cluster = head_without_cores()
    try:
        for group in spec["workerGroupSpecs"]:
            params = group["rayStartParams"]
            places = json.loads(json.loads(params["resources"]))  # as a shell would hand it to `ray start`
            cluster.add_node(
                num_cpus=int(params["num-cpus"]), resources=places, object_store_memory=100 * 2**20
            )  # fmt: skip
        cluster.wait_for_nodes()
        values = {**train_values(settings), "runs": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps(values)], capture_output=True, text=True, timeout=400,
            env={**os.environ, "RAY_ADDRESS": cluster.address},
        )  # fmt: skip
    finally:
        cluster.shutdown()
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    offered = [node for node in found["nodes"].values() if "ante_runner" in node]
    assert sum(node["ante_runner"] for node in offered) == plan.runners == 3
    assert sum(node.get("ante_learner", 0) for node in offered) == 1
    for node, left in found["left"].items():  # every place is taken, so each group holds what it was to hold
        if "ante_runner" in found["nodes"][node]:
            assert left.get("ante_runner", 0) == 0
            assert left.get("ante_learner", 0) == 0
    assert found["steps"] >= 512
