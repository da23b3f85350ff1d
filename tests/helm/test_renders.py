"""The chart's rendered objects: valid for Kubernetes and KubeRay, as reviewed, and equal to those of other clients."""

import json
from typing import Any

import pytest
import yaml

from ante.deploy.settings import Settings
from ante.deploy.spec import objects
from tests.helm.renders import CI, GOLDEN, settled, values_of, written
from tests.support.helm import PROGRAM, Values, lint, merged_values, render, render_by_program
from tests.support.manifests import Object, check_all

MUCH: dict[str, Values] = {  # components that the CI values leave out
    "everything": {
        "image": {"digest": "sha256:" + "0" * 64, "pullSecrets": ["registry"]},
        "head": {"cpus": 3, "cpuRequest": "500m", "memoryRequest": "1Gi", "annotations": {"a": "b"}},
        "cpuWorkers": {"enabled": True, "replicas": 3, "labels": {"team": "cards"}},
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
    "one core, many learners": {
        "gpuWorkers": {"replicas": 3, "cpus": 5, "gpus": 2},
        "training": {"learners": 4, "learnerGpus": 1, "runnerGpus": 0.0, "runnerCpus": 0.7},
    },
}
ALL: dict[str, Values] = {**{name: values_of(name) for name in CI}, "defaults": {}, **MUCH}


def as_read(found: Object) -> Object:
    """Return the object with its settings file parsed."""
    found = json.loads(json.dumps(found))
    if "train.yaml" in found.get("data", {}):
        found["data"]["train.yaml"] = yaml.safe_load(found["data"]["train.yaml"])
    return dict(found)


@pytest.mark.parametrize("name", ALL)
def test_lint_finds_nothing_and_every_object_is_valid(name: str) -> None:
    assert lint(ALL[name]) == []
    check_all(render(ALL[name]).objects)


@pytest.mark.parametrize("name", CI)
def test_rendered_objects_equal_the_reviewed_ones(name: str) -> None:
    reviewed = (GOLDEN / f"{name}.yaml").read_text()
    assert written(render(values_of(name))) == reviewed, "review, then: python -m tests.helm.renders"


@pytest.mark.parametrize("name", ALL)
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


def test_secrets_are_new_in_each_install_and_nowhere_but_in_secrets() -> None:
    one, two = render({}), render({})
    assert set(one.kind("Secret")) == {"ante-objectstore", "ante-s3"}
    for name, secret in one.kind("Secret").items():
        for key, value in secret["data"].items():
            if key != "MINIO_ROOT_USER":
                assert value != two.kind("Secret")[name]["data"][key]
            elsewhere = [found for found in one.objects if found["kind"] != "Secret"]
            assert value not in json.dumps(elsewhere)


def test_secrets_that_exist_are_named_and_not_made() -> None:
    found = render({"objectStore": {"existingSecret": "root"}, "s3": {"existingSecret": "user"}})
    assert found.kind("Secret") == {}
    named = {
        entry["valueFrom"]["secretKeyRef"]["name"]
        for entry in found.kind("Job")["ante-bucket"]["spec"]["template"]["spec"]["containers"][0]["env"]
        if "valueFrom" in entry
    }
    assert named == {"root", "user"}


def test_the_notes_name_commands_for_the_enabled_components() -> None:
    notes = render(
        {"objectStore": {"enabled": False}, "job": {"enabled": False}}, name="crown", namespace="cards"
    ).notes
    assert "helm test crown -n cards" in notes and "ante cluster submit" in notes
    assert "console" not in notes and "rayjob" not in notes
    assert "service/crown-console 9001" in render({}, name="crown").notes
    assert "WARNING" not in render({"objectStore": {"image": {"repository": "docker.io/pgsty/silo", "tag": "1"}}}).notes
