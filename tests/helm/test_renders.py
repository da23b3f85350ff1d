"""The chart's rendered objects: valid for Kubernetes and KubeRay, as reviewed, and equal to those of other clients."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ante.deploy.chart import images, read_chart_values
from ante.deploy.pod_programs.credentials import read_plan
from ante.deploy.settings import Settings
from ante.deploy.spec import objects
from tests.helm.renders import CI, GOLDEN, settled, values_of, written
from tests.support.helm import CHART, PROGRAM, Values, lint, merged_values, render, render_by_program, render_files
from tests.support.manifests import Object, check_all

MUCH: dict[str, Values] = {  # components that the CI values leave out
    "everything": {
        "image": {"digest": "sha256:" + "0" * 64, "pullSecrets": ["registry"]},
        "head": {
            "cpus": 3,
            "cpuRequest": "500m",
            "memoryRequest": "1Gi",
            "annotations": {"a": "b"},
            "runsClaim": "runs",
        },
        "cpuWorkers": {
            "enabled": True,
            "replicas": 3,
            "labels": {"team": "cards"},
            "extraVolumes": [{"name": "weights", "persistentVolumeClaim": {"claimName": "weights", "readOnly": True}}],
            "extraVolumeMounts": [{"name": "weights", "mountPath": "/weights", "readOnly": True}],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"team": "cards"}},
                }
            ],
        },
        "gpuWorkers": {
            "affinity": {"nodeAffinity": {}},
            "priorityClassName": "high",
            "runtimeClassName": "nvidia",
            "gpuResource": "nvidia.com/mig-1g.10gb",
            "terminationGracePeriodSeconds": 300,
        },
        "training": {
            "name": "long-run",
            "runnerCpus": 0.3,
            "runnerGpus": 0.15,
            "learnerGpus": 0.4,
            "gamesPerRunner": 17,
            "metricsPort": 9100,
            "args": ["--algo.lr", "1e-3", "it's a word"],
            "config": {
                "steps": 100_000_000,
                "policy": {"hidden": [64, 64]},
                "algo": {"lr": 0.0003},
                "resources": {"memory_gb": 99, "games_per_runner": 3},
            },
        },
        "envValueFrom": {
            "NODE": {"fieldRef": {"fieldPath": "spec.nodeName"}},
            "ABOUT": {"configMapKeyRef": {"name": "about", "key": "text"}},
        },
        "env": {"ZED": "1", "HOME": "/home", "ALPHA": "b c"},
        "notifications": {"existingSecret": "chat", "urlKey": "hook"},
        "prices": {"cpuHour": 0.0425, "gpuHour": 3, "currency": "EUR"},
        "gcsFaultTolerance": {"enabled": True, "redisAddress": "redis:6379", "existingSecret": "redis"},
        "llm": {"enabled": True, "endpoint": "https://llm.example/v1", "model": "m", "existingSecret": "key"},
        "events": {"url": "nats://nats.nats:4222", "existingSecret": "nats"},
        "s3": {
            "caConfigMap": "ca",
            "verify": False,
            "prefix": "",
            "addressing": "virtual",
            "encryption": "aws:kms",
            "kmsKey": "key-1",
        },
        "auth": {"existingSecret": "ray-token"},
        "security": {"platformUser": True, "readOnlyRootFilesystem": False},
        "job": {
            "activeDeadlineSeconds": 99,
            "preRunningDeadlineSeconds": 9,
            "deletion": {"jobAfterSeconds": 7},
            "backoffLimit": 0,
        },
    },
    "no job": {"job": {"enabled": False}, "queue": {"name": "q"}, "auth": {"mode": "disabled"}},
    "suspended": {"job": {"suspend": True}, "serviceAccount": {"create": False, "name": "mine"}},
    "own autoscaling": {"autoscaling": {"enabled": True, "upscalingMode": "Aggressive"}},
    "many groups": {
        "gpuWorkers": {"replicas": 2, "tolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 300}]},
        "cpuWorkers": {"memory": "20Gi", "nodeSelector": {"pool": "cpu"}},
        "extraWorkers": {
            "large": {
                "like": "gpu",
                "gpus": 4,
                "cpus": 32,
                "memory": "128Gi",
                "replicas": 1,
                "gpuResource": "amd.com/gpu",
            },
            "cheap": {"like": "cpu", "spot": True, "replicas": 5, "runnersPerWorker": 3, "labels": {"team": "cards"}},
            "empty": {"like": "cpu", "replicas": 0, "nodeSelector": {}},
            "off": {"like": "gpu", "enabled": False},
        },
        "training": {"learners": 2, "learnerGpus": 0.5},
    },
    "mirror": {"imageRegistry": "registry.internal:5000/mirror/", "image": {"repository": "ghcr.io/ante/ray"}},
    "mirror of a short name": {
        "imageRegistry": "registry.internal",
        "llmServer": {"enabled": True, "kind": "stub"},
        "llm": {"model": "fake", "enabled": True},
    },
    "only further groups": {
        "gpuWorkers": {"enabled": False},
        "extraWorkers": {"small": {"like": "gpu", "replicas": 2}},
        "training": {"metricsPort": 9100},
        "monitoring": {"podMonitor": {"enabled": True}},
    },
    "a sweep of several trials at a time": {
        "gpuWorkers": {"replicas": 2, "cpus": 6},
        "training": {
            "learners": 4,
            "learnerGpus": 0.5,
            "config": {"algo": {"batch": 2048}},
            "sweep": {"search": {"algo.lr": {"low": 1e-4, "high": 1e-3, "log": True}}, "method": "pbt", "trials": 8},
        },
    },
    "a comparison, one run at a time": {
        "training": {
            "config": {"algo": {"batch": 4096}},
            "compare": {"seeds": [0, 1], "entries": {"fast": {"settings": {"algo": {"lr": 1e-3}}}, "slow": {}}},
            "metricsPort": 9100,
        },
    },
    "one core, many learners": {
        "gpuWorkers": {"replicas": 3, "cpus": 5, "gpus": 2},
        "training": {"learners": 4, "learnerGpus": 1, "runnerGpus": 0.0, "runnerCpus": 0.7},
    },
}
ALL: dict[str, Values] = {**{name: values_of(name) for name in CI}, "defaults": {}, **MUCH}


def as_read(found: Object) -> Object:
    """Return the object with its settings files parsed."""
    found = json.loads(json.dumps(found))
    for name in {"train.yaml", "sweep.yaml", "compare.yaml"} & found.get("data", {}).keys():
        found["data"][name] = yaml.safe_load(found["data"][name])
    return dict(found)


@pytest.mark.parametrize("name", ALL)
def test_lint_finds_nothing_and_every_object_is_valid(name: str) -> None:
    assert lint(ALL[name]) == []
    check_all(render(ALL[name]).objects)


@pytest.mark.parametrize("name", CI)
def test_rendered_objects_equal_the_reviewed_ones(name: str) -> None:
    reviewed = (GOLDEN / f"{name}.yaml").read_text()
    assert written(render(values_of(name))) == reviewed, "review, then: python -m tests.helm.renders"


@pytest.mark.parametrize("name", [name for name in ALL if not ALL[name].get("servicesOnly")])
def test_helm_makes_the_objects_that_the_python_spec_makes(name: str) -> None:
    settings = Settings.from_values(merged_values(ALL[name]), name="crown", namespace="cards")
    rendered = {(one["kind"], one["metadata"]["name"]): as_read(one) for one in
                render(ALL[name], name="crown", namespace="cards").objects}  # fmt: skip
    wanted = objects(settings)
    assert {one["kind"] for one in wanted} >= {"ConfigMap", "RayJob" if settings.job.enabled else "RayCluster"}
    for one in wanted:
        assert rendered[one["kind"], one["metadata"]["name"]] == as_read(one)


@pytest.mark.skipif(PROGRAM is None, reason="the program helm is not installed")
@pytest.mark.parametrize("name", ALL)
def test_the_program_renders_the_same_for_a_cluster_that_has_kuberay(name: str) -> None:
    def by_name(found: list[Object]) -> dict[Any, Object]:
        return {(one["kind"], one["metadata"]["name"]): settled(one) for one in found}

    assert by_name(render_by_program(ALL[name])) == by_name(render(ALL[name]).objects)


@pytest.mark.parametrize("name", ALL)
def test_two_renders_are_equal_and_need_no_cluster(name: str) -> None:
    values = {"skipCrdCheck": True, **ALL[name]}
    one, two = render_files(values), render_files(values)
    assert one == two
    rendered = render(ALL[name])
    assert not rendered.kind("Secret"), "credentials are not part of what is rendered"
    hooks = {found["metadata"].get("annotations", {}).get("helm.sh/hook") for found in rendered.objects}
    assert hooks <= {None, "test"}


@pytest.mark.parametrize("file", sorted((CHART / "templates").rglob("*.*")), ids=lambda file: file.name)
def test_no_template_depends_on_chance_time_or_the_cluster(file: Path) -> None:
    words = r"\b(lookup|rand\w+|uuidv4|now|genCA|genSelfSignedCert|genSignedCert|genPrivateKey|bcrypt|htpasswd)\b"
    actions = re.findall(r"\{\{-?(?!\s*/\*)(.*?)\}\}", file.read_text(), re.DOTALL)
    assert not [action for action in actions if re.search(words, re.sub(r'"[^"]*"', "", action))]


def plan(values: Values) -> list[dict[str, Any]]:
    """Return the Secrets that the Job creates or reads."""
    (job,) = render(values).kind("Job").values()
    pod = job["spec"]["template"]["spec"]
    return json.loads(pod["initContainers"][0]["args"][0]) if "initContainers" in pod else []


def secrets_of_job(values: Values) -> set[str]:
    """Return the Secrets that the Job's environment refers to."""
    (job,) = render(values).kind("Job").values()
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return {entry["valueFrom"]["secretKeyRef"]["name"] for entry in container["env"] if "valueFrom" in entry}


def test_the_job_creates_the_secrets_that_pods_use() -> None:
    assert {entry["name"]: entry["create"] for entry in plan({})} == {"ante-objectstore": True, "ante-s3": True}
    assert secrets_of_job({}) == {"ante-objectstore", "ante-s3"}
    read_plan(json.dumps(plan({})))
    unscoped = plan({"objectStore": {"scopedUser": False, "existingSecret": "root"}})
    assert [(entry["name"], entry["create"], entry.get("copy", False)) for entry in unscoped] == [
        ("root", False, False),
        ("ante-s3", True, True),
    ]


def test_with_existing_secrets_the_job_has_no_access_to_the_api() -> None:
    values: Values = {"objectStore": {"existingSecret": "root"}, "s3": {"existingSecret": "user"}}
    assert plan(values) == [] and secrets_of_job(values) == {"root", "user"}
    found = render(values)
    (job,) = found.kind("Job").values()
    assert job["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
    assert "ante-bucket" not in found.kind("Role")


def test_a_changed_job_has_another_name_because_jobs_are_immutable() -> None:
    (one,), (same,) = render({}).kind("Job"), render({"head": {"cpus": 3}}).kind("Job")
    (other,) = render({"image": {"tag": "next"}}).kind("Job")
    assert one == same != other


@pytest.mark.parametrize("name", ["mirror", "mirror of a short name"])
def test_all_images_are_from_the_mirror_that_ante_images_lists(name: str, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(ALL[name]))
    listed = {one.image for one in images(read_chart_values((file,))) if one.used}
    text = json.dumps(render(ALL[name]).objects)
    used = set(re.findall(r'"image": "([^"]+)"', text))
    assert used <= listed and all(one.startswith("registry.internal") for one in used)
    assert not any("ghcr.io" in one for one in used)


def test_further_groups_are_in_ray_and_in_the_policies() -> None:
    found = render(MUCH["many groups"])
    groups = found.kind("RayJob")["ante"]["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert [(group["groupName"], group["replicas"]) for group in groups] == [
        ("gpu", 2), ("cheap", 5), ("empty", 0), ("large", 1)
    ]  # fmt: skip
    large = groups[3]["template"]["spec"]
    assert large["containers"][0]["resources"]["limits"]["amd.com/gpu"] == "4"
    assert large["tolerations"][0]["tolerationSeconds"] == 300
    assert "nodeSelector" not in groups[2]["template"]["spec"]
    selected = found.kind("NetworkPolicy")["ante-ray"]["spec"]["podSelector"]["matchExpressions"][0]["values"]
    labels = {group["template"]["metadata"]["labels"]["app.kubernetes.io/component"] for group in groups}
    assert labels <= set(selected)


def test_the_notes_name_commands_for_the_enabled_components() -> None:
    notes = render(
        {"objectStore": {"enabled": False}, "job": {"enabled": False}}, name="crown", namespace="cards"
    ).notes
    assert "helm test crown -n cards" in notes and "ante cluster submit" in notes
    assert "console" not in notes and "rayjob" not in notes
    assert "service/crown-console 9001" in render({}, name="crown").notes
    assert "WARNING" not in render({"objectStore": {"image": {"repository": "docker.io/pgsty/silo", "tag": "1"}}}).notes
