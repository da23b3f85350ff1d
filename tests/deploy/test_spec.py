"""The objects of a training: valid by KubeRay's and Kubernetes' schemas, without secrets; invalid changes are found."""

import json
import shlex
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ante.deploy.settings import Settings, make_settings, preset, presets, read_settings
from ante.deploy.spec import objects
from ante.experiments.spec import cells_of, read_spec
from ante.training.sweeps.spec import read_sweep
from ante.yaml_files import as_yaml
from tests.support.manifests import Object, Refused, check, check_all, plain_secrets, read_all

EVERYTHING: dict[str, Any] = {
    "image": {"digest": "sha256:" + "0" * 64, "pullSecrets": ["registry"]},
    "cpuWorkers": {"enabled": True, "spot": True, "nodeSelector": {"pool": "cheap"}, "annotations": {"a": "b"}},
    "gpuWorkers": {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "priorityClassName": "high",
        "runtimeClassName": "nvidia",
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        "labels": {"team": "cards"},
    },
    "autoscaling": {"enabled": True},
    "auth": {"existingSecret": "ray-token"},
    "gcsFaultTolerance": {"enabled": True, "redisAddress": "redis:6379", "existingSecret": "redis"},
    "job": {"activeDeadlineSeconds": 3600, "preRunningDeadlineSeconds": 600, "deletion": {"jobAfterSeconds": 7200}},
    "s3": {"endpoint": "https://s3.example.com", "caConfigMap": "ca", "verify": False},
    "llm": {"enabled": True, "endpoint": "http://llm:8000/v1", "model": "m", "existingSecret": "llm-key"},
    "training": {"metricsPort": 9108, "args": ["--games.deck", "b_blue"], "config": {"algo": {"lr": 0.001}}},
    "env": {"NCCL_DEBUG": "WARN"},
    "envFromSecrets": ["wandb"],
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/ante"}},
}
ALL: dict[str, Settings] = {
    **{name: read_settings((preset(name),)) for name in presets()},
    **{f"{name}, no job": read_settings((preset(name),), ("job.enabled=false",)) for name in presets()},
    "defaults": Settings(),
    "everything": make_settings(EVERYTHING),
    "role of the pods": make_settings({"s3": {"podRole": True}, "serviceAccount": {"create": False, "name": "mine"}}),
    "no token": make_settings({"auth": {"mode": "disabled"}, "security": {"readOnlyRootFilesystem": False}}),
}


def job_of(values: dict[str, Any]) -> Object:
    return objects(make_settings(values))[-1]


def groups(job: Object) -> list[Object]:
    cluster = job["spec"]["rayClusterSpec"]
    return [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]


@pytest.mark.parametrize("seconds", [60, 600])
def test_a_head_has_time_for_its_last_checkpoint_within_the_grace_period(seconds: int) -> None:
    """tests/cluster/test_drain.py runs the hook."""
    head, *workers = (
        group["template"]["spec"] for group in groups(job_of({"head": {"terminationGracePeriodSeconds": seconds}}))
    )
    words = head["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    waits = [int(line.split()[1]) for line in words[2].splitlines() if line.startswith(("timeout", "sleep"))]
    assert len(waits) == 2 and seconds - 30 < sum(waits) < seconds == head["terminationGracePeriodSeconds"]
    assert not any("lifecycle" in pod["containers"][0] for pod in workers)


@pytest.mark.parametrize("name", ALL)
def test_every_object_is_valid_and_written_yaml_reads_back(name: str) -> None:
    found = objects(ALL[name])
    check_all(found)
    assert read_all(as_yaml(found)) == json.loads(json.dumps(found))


def spec_of(found: list[Object]) -> Object:
    return found[-1]["spec"]


def head_container(found: list[Object]) -> Object:
    return spec_of(found)["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]


MUTATIONS: dict[str, Callable[[list[Object]], Any]] = {
    "misspelt field of a RayJob": lambda found: spec_of(found).update(backofflimit=3),
    "misspelt field of a group": lambda found: spec_of(found)["rayClusterSpec"]["headGroupSpec"].update(serviceTyp="x"),
    "misspelt field of a container": lambda found: head_container(found).update(imagePullpolicy="Always"),
    "misspelt resource block": lambda found: head_container(found)["resources"].update(limit={"cpu": "1"}),
    "misspelt kind": lambda found: found[-1].update(kind="RayJobs"),
    "misspelt metadata": lambda found: found[-1]["metadata"].update(nasmespace="default"),
    "misspelt field of a ConfigMap": lambda found: found[1].update(dat={}),
    "misspelt field of a service account": lambda found: found[0].update(imagePullSecret=[]),
    "text for a number": lambda found: spec_of(found).update(backoffLimit="3"),
    "number for text": lambda found: head_container(found)["env"][0].update(value=1),
    "number in a label": lambda found: found[-1]["metadata"]["labels"].update(team=7),
    "number in start parameters": lambda found: spec_of(found)["rayClusterSpec"]["headGroupSpec"][
        "rayStartParams"
    ].update({"num-cpus": 0}),
    "one for a list": lambda found: spec_of(found)["rayClusterSpec"].update(workerGroupSpecs={}),
    "unknown auth mode": lambda found: spec_of(found)["rayClusterSpec"]["authOptions"].update(mode="password"),
    "unknown deletion policy": lambda found: spec_of(found)["deletionStrategy"]["deletionRules"][0].update(
        policy="DeleteAll"
    ),
    "missing name of a variable": lambda found: head_container(found)["env"][0].pop("name"),
    "a secret in a variable": lambda found: head_container(found)["env"].append(
        {"name": "S3_SECRET_ACCESS_KEY", "value": "abc"}
    ),
    "a secret in a URL": lambda found: head_container(found)["env"].append(
        {"name": "S3_ENDPOINT_URL", "value": "https://me:abc@s3.example.com"}
    ),
    "a secret in a ConfigMap": lambda found: found[1]["data"].update(apiKey="abc"),
    "the same object twice": lambda found: found.append(found[0]),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_refused(name: str) -> None:
    found = deepcopy(objects(Settings()))
    check_all(found)
    MUTATIONS[name](found)
    with pytest.raises(Refused):
        check_all(found)


def test_a_duplicate_key_is_refused() -> None:
    with pytest.raises(Refused, match="is duplicated"):
        read_all("spec:\n  a: 1\n  a: 2\n")


def test_secrets_stand_in_references_only() -> None:
    assert list(plain_secrets(objects(make_settings(EVERYTHING))[-1])) == []
    references = {
        entry["name"]: entry["valueFrom"]["secretKeyRef"] for entry in head_env(EVERYTHING) if "valueFrom" in entry
    }
    assert references == {
        "S3_ACCESS_KEY_ID": {"name": "ante-s3", "key": "S3_ACCESS_KEY_ID"},
        "S3_SECRET_ACCESS_KEY": {"name": "ante-s3", "key": "S3_SECRET_ACCESS_KEY"},
        "LLM_API_KEY": {"name": "llm-key", "key": "LLM_API_KEY"},
    }


def head_env(values: dict[str, Any]) -> list[Object]:
    return groups(job_of(values))[0]["template"]["spec"]["containers"][0]["env"]


def test_ray_plans_no_work_on_the_head() -> None:
    head = groups(job_of({}))[0]
    assert head["rayStartParams"]["num-cpus"] == "0"
    assert "nvidia.com/gpu" not in json.dumps(head)


def test_what_ray_counts_with_is_what_the_pod_may_use() -> None:
    worker = groups(job_of({"gpuWorkers": {"cpus": 6, "gpus": 2, "gpuResource": "nvidia.com/mig-1g.5gb"}}))[1]
    limits = worker["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert (worker["rayStartParams"]["num-cpus"], limits["cpu"]) == ("6", "6")
    assert (worker["rayStartParams"]["num-gpus"], limits["nvidia.com/mig-1g.5gb"]) == ("2", "2")
    assert "nvidia.com/gpu" not in limits


def test_places_for_actors_survive_the_shell() -> None:
    """KubeRay puts the start parameters into a command line, which a shell parses."""
    text = groups(job_of({"gpuWorkers": {"runnersPerWorker": 3}}))[1]["rayStartParams"]["resources"]
    (word,) = shlex.split(f"--resources={text}")
    assert json.loads(word.removeprefix("--resources=")) == {"ante_runner": 3, "ante_learner": 1}


def test_every_container_may_do_as_little_as_it_can() -> None:
    templates = [group["template"] for group in groups(job_of({}))] + [job_of({})["spec"]["submitterPodTemplate"]]
    for pod in (template["spec"] for template in templates):
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert set(container["resources"]) == {"requests", "limits"}


def test_with_a_queue_the_whole_cluster_goes_at_once() -> None:
    job = job_of({"queue": {"name": "night", "priorityClass": "low"}})
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "night"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "low"
    assert job["spec"]["shutdownAfterJobFinishes"]
    assert "deletionStrategy" not in job["spec"]


def deletion_rules(job: Object) -> list[tuple[str, str, int]]:
    """Return policy, condition and delay of each rule, as KubeRay 1.7 matches them."""
    found = []
    for rule in job["spec"]["deletionStrategy"]["deletionRules"]:
        ((kind, status),) = ((key, value) for key, value in rule["condition"].items() if key != "ttlSeconds")
        found.append((rule["policy"], f"{kind} {status}", rule["condition"]["ttlSeconds"]))
    return found


def test_a_training_past_its_deadline_releases_its_pods_too() -> None:
    """KubeRay sets jobDeploymentStatus Failed then, and leaves jobStatus RUNNING."""
    ends = "jobStatus SUCCEEDED", "jobDeploymentStatus Failed"
    steps = ("DeleteWorkers", 60), ("DeleteCluster", 3600)
    wanted = [(policy, end, delay) for end in ends for policy, delay in steps]
    assert deletion_rules(job_of({})) == wanted


def test_kuberay_does_not_delete_workers_of_an_autoscaler() -> None:
    """KubeRay rejects a RayJob with both: `DeleteWorkers` not supported with autoscaling enabled."""
    rules = deletion_rules(job_of({"autoscaling": {"enabled": True}}))
    assert {policy for policy, _, _ in rules} == {"DeleteCluster"}


def test_the_platform_may_choose_the_user() -> None:
    pod = groups(job_of({"security": {"platformUser": True}}))[0]["template"]["spec"]
    assert set(pod["securityContext"]) == {"runAsNonRoot", "seccompProfile"}


def test_a_cluster_that_waits_is_made_anew_when_its_settings_change() -> None:
    """KubeRay refuses this for the cluster of a RayJob, which is suspended instead (docs/how-to/deploy.md)."""
    waits = objects(make_settings({"job": {"enabled": False}}))[-1]
    assert waits["spec"]["upgradeStrategy"] == {"type": "Recreate"}
    assert "upgradeStrategy" not in job_of({})["spec"]["rayClusterSpec"]


def test_the_entrypoint_begins_or_goes_on_with_the_same_words() -> None:
    values = {
        "name": "r1",
        "s3": {"bucket": "games", "prefix": "runs"},
        "training": {"args": ["--games.deck", "b blue"]},
    }
    words = (
        "ante train --config /etc/ante/train.yaml --name r1 --store s3://games/runs --resume auto --games.deck 'b blue'"
    )
    assert job_of(values)["spec"]["entrypoint"] == words


def test_a_sweep_and_a_comparison_run_from_files_that_their_commands_accept(tmp_path: Path) -> None:
    search = {"search": {"algo.lr": {"low": 1e-4, "high": 1e-3}}, "trials": 3}
    shared = {"name": "r1", "gpuWorkers": {"runnersPerWorker": 6}}
    values = shared | {
        "training": {"config": {"algo": {"batch": 4096}}, "sweep": search, "args": ["--method", "random"]}
    }
    _, settings, job = objects(make_settings(values))
    assert job["spec"]["entrypoint"] == "ante sweep /etc/ante/sweep.yaml --method random"
    for name, text in settings["data"].items():
        (tmp_path / name).write_text(text)
    sweep = read_sweep(tmp_path / "sweep.yaml")
    assert (sweep.name, sweep.store, sweep.parallel, sweep.trials) == ("r1", "s3://ante/runs", 1, 3)
    trial = sweep.config(sweep.starts()[0], 0)
    assert (trial.algo.batch, trial.resources.runners, trial.resources.learners) == (4096, 6, 0)

    values = shared | {"training": {"config": {"algo": {"batch": 4096}}, "compare": {"entries": {"a": {}, "b": {}}}}}
    _, settings, job = objects(make_settings(values))
    line = "ante compare /etc/ante/compare.yaml --out /var/lib/ante/runs/r1 --parallel 1"
    assert job["spec"]["entrypoint"] == line
    for name, text in settings["data"].items():
        (tmp_path / name).write_text(text)
    cells = cells_of(read_spec(tmp_path / "compare.yaml"), Path("/var/lib/ante/runs/r1"))
    assert {cell.config.store for cell in cells} == {"s3://ante/runs/r1/a", "s3://ante/runs/r1/b"}
    assert {(cell.config.algo.batch, cell.config.resources.runners) for cell in cells} == {(4096, 6)}


def test_a_core_object_is_checked_by_kubernetes_own_schema() -> None:
    check({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ante"}})
    with pytest.raises(Refused, match="Secret/a: type"):
        check({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "type": 5})


@pytest.mark.parametrize("text", ["1e-3", "2", "0.5", "1_000", "+1", ".5", "1E6"])
def test_words_that_look_like_numbers_are_quoted(text: str) -> None:
    assert f"'{text}'" in as_yaml([{"value": text}])
