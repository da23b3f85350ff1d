"""values.yaml: every value is documented and used, and refused if it is misspelt or of the wrong type."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ante.deploy.chart import ChartValues
from ante.deploy.placement import DERIVED_KEYS
from ante.deploy.settings import CHART_ONLY, Settings
from tests.support.helm import CHART, ChartError, Values, render, render_as_is, render_files

ROOT = CHART.parent.parent
TEXT = (CHART / "values.yaml").read_text()
SKIP = ("skipCrdCheck",)  # has a separate test
FULL: Values = {
    "cpuWorkers": {"enabled": True, "spot": True},
    "training": {"metricsPort": 9100},
    "llm": {"enabled": True, "model": "m", "vision": True, "existingSecret": "key"},
    "events": {"url": "nats://nats:4222", "existingSecret": "nats"},
    "eventArchive": {"enabled": True, "keepDays": 7},
    "llmServer": {"enabled": True},
    "decisionService": {
        "enabled": True,
        "tokenSecret": "t",
        "tlsSecret": "tls",
        "clientCaSecret": "clients",
        "maxReplicas": 2,
    },
    "runCatalogue": {"enabled": True, "tokenSecret": "readers"},
    "prices": {"cpuHour": 0.04},
    "notifications": {"existingSecret": "chat"},
    "networkPolicies": {"llmDownloads": True},
    "monitoring": {"podMonitor": {"enabled": True}, "dashboard": {"enabled": True}, "alerts": {"enabled": True}},
    "ingress": {"enabled": True, "dashboardHost": "one", "consoleHost": "two"},
    "route": {"enabled": True},
}
TENANT = {"name": "x", "namespace": "y"}
BASES: tuple[Values, ...] = (  # a value has an effect only if its component is enabled
    FULL,
    {},
    FULL | {"autoscaling": {"enabled": True}, "gcsFaultTolerance": {"enabled": True, "redisAddress": "redis:1"}}
    | {"training": {"metricsPort": 9100, "runnerGpus": 0.1, "learnerGpus": 0.5}},
    FULL | {"llmServer": {"enabled": True, "kind": "llamacpp", "modelPath": "/models/x"}},
    {"llm": {"enabled": True, "model": "m", "endpoint": "http://llm"}, "objectStore": {"enabled": False},
     "queue": {"name": "q"}, "cpuWorkers": {"enabled": True}, "training": {"learnerGpus": 0},
     "networkPolicies": {"llmDownloads": True},
     "gcsFaultTolerance": {"enabled": True, "redisAddress": "redis:1", "existingSecret": "redis"}},
    {"platform": {"namespace": "shared"}, "objectStore": {"enabled": False}},
)  # fmt: skip


def leaves(model: BaseModel, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldInfo, Any]]:
    """Yield every value: its path, its declaration, its default."""
    for name, field in type(model).model_fields.items():
        value, key = getattr(model, name), (*path, field.alias or name)
        if isinstance(value, BaseModel):
            yield from leaves(value, key)
        elif key not in (("name",), ("namespace",)):
            yield key, field, value


DEFAULTS = yaml.safe_load(TEXT)
LEAVES = list(leaves(ChartValues()))


@pytest.mark.parametrize("tool", ["write_chart", "write_dashboard"])
def test_generated_files_are_fresh(tool: str) -> None:
    done = subprocess.run([sys.executable, f"tools/{tool}.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_defaults_are_those_of_the_python_settings() -> None:
    shared = {key: value for key, value in DEFAULTS.items() if key not in CHART_ONLY}
    assert Settings.model_validate(shared) == Settings()
    assert set(CHART_ONLY) >= {field.alias for name, field in ChartValues.model_fields.items()
                               if name not in Settings.model_fields}  # fmt: skip


def test_every_value_has_a_comment_above_it() -> None:
    lines = TEXT.splitlines()
    keys = [number for number, line in enumerate(lines) if re.match(r" *[\w]+:", line)]
    assert len(keys) > 150
    bare = [lines[number] for number in keys if not lines[number - 1].lstrip().startswith("# ")]
    assert bare == []


def set_at(path: tuple[str, ...], value: Any) -> Values:
    """Return values with one value set."""
    for key in reversed(path):
        value = {key: value}
    return dict(value)


def over(base: Values, more: Values) -> Values:
    """Merge values into others, block by block."""
    both = {key: over(base[key], value) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
            for key, value in more.items()}  # fmt: skip
    return {**base, **both}


def others(field: FieldInfo, default: Any) -> Iterator[Any]:
    """Yield other values of a setting."""
    kinds = [kind for kind in (field.annotation, *get_args(field.annotation)) if get_origin(kind) is Literal]
    yield from (choice for kind in kinds for choice in get_args(kind) if choice != default)
    if isinstance(default, bool):
        yield from (True, False)
    elif isinstance(default, int | float):
        yield from (default + 1, default * 0.9, 9200)
    elif isinstance(default, dict):
        yield from ({"other": "x"}, {"OTHER": {"fieldRef": {"fieldPath": "spec.nodeName"}}}, {"x": {"like": "cpu"}})
    elif isinstance(default, tuple):
        yield from (["other"], [7], [{"kind": "User", "name": "x"}], [{"name": "x", "namespace": "y"}])
    else:
        yield from ("other", "7m", "9.9.9", "http://other:1", "sha256:" + "1" * 64, 3)


def rendered_texts(values: Values) -> dict[str, str] | None:
    """Return everything rendered; None if the values are refused."""
    try:
        return render_files({"skipCrdCheck": True, **values})
    except ChartError:
        return None


BEFORE = {number: rendered_texts(base) for number, base in enumerate(BASES)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "field", "default"), [pytest.param(*leaf, id=".".join(leaf[0])) for leaf in LEAVES if leaf[0] != SKIP]
)
def test_every_value_changes_what_is_rendered(path: tuple[str, ...], field: FieldInfo, default: Any) -> None:
    for number, base in enumerate(BASES):
        for value in others(field, default):
            after = rendered_texts(over(base, set_at(path, value)))
            if after is not None and after != BEFORE[number]:
                return
    raise AssertionError(f"{'.'.join(path)} changes nothing")


def test_the_bases_are_rendered() -> None:
    assert None not in BEFORE.values()


BLOCKS = sorted({path[:-1] for path, _, _ in LEAVES})


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: ".".join(path) or "top")
def test_a_key_that_does_not_exist_is_refused_everywhere(path: tuple[str, ...]) -> None:
    with pytest.raises(ChartError, match="misspelt"):
        render(set_at((*path, "misspelt"), 1))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gpuWorkers": {"replicas": "two"}}, "gpuWorkers.replicas|gpuWorkers/replicas"),
        ({"gpuWorkers": {"replicas": -1}}, "minimum"),
        ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
        ({"head": {"terminationGracePeriodSeconds": 5}}, "60"),
        ({"monitoring": {"alerts": {"stall": "five minutes"}}}, "stall"),
        ({"llmServer": {"kind": "chatbot"}}, "kind"),
        ({"objectStore": {"resources": {"limits": {"cpu": 2}}}}, "cpu"),
        ({"training": {"args": "--algo.lr 1"}}, "args"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(values: Values, words: str) -> None:
    with pytest.raises(ChartError, match=words):
        render(values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gpuWorkers": {"enabled": False}}, "the cluster has no worker pod"),
        ({"gpuWorkers": {"runnersPerWorker": 0}}, "the cluster has no env runner"),
        ({"gpuWorkers": {"runnersPerWorker": 8}}, "8 runners x 1 cores and 1 learners do not fit"),
        ({"gpuWorkers": {"gpus": 0}}, "1 learners x 1 GPU do not fit into a pod of gpuWorkers with 0"),
        ({"training": {"learners": 0}}, "training.learners 0 would train in the head"),
        ({"gpuWorkers": {"replicas": 0}, "cpuWorkers": {"enabled": True}}, "1 learners need pods of gpuWorkers"),
        (
            {
                "gpuWorkers": {"enabled": False},
                "cpuWorkers": {"enabled": True, "spot": True},
                "training": {"learnerGpus": 0},
            },
            "the learner would run on spot pods.*set cpuWorkers.spot false",
        ),
        ({"head": {"cpuRequest": "4500m", "cpus": 4}}, "head.cpuRequest 4500m is more than the limit, head.cpus 4"),
        (
            {"gpuWorkers": {"memoryRequest": "9Gi", "memory": "9000Mi"}},
            "gpuWorkers.memoryRequest 9Gi is more than the limit, gpuWorkers.memory 9000Mi",
        ),
        (
            {"autoscaling": {"enabled": True}, "gpuWorkers": {"minReplicas": 3, "maxReplicas": 2, "replicas": 2}},
            "gpuWorkers.replicas 2 is not between minReplicas 3 and maxReplicas 2",
        ),
        (
            {"autoscaling": {"enabled": True}, "gpuWorkers": {"maxReplicas": 2, "replicas": 3}},
            "gpuWorkers.replicas 3 is not between minReplicas 0 and maxReplicas 2",
        ),
        ({"queue": {"priorityClass": "high"}}, "queue.priorityClass needs queue.name"),
        ({"env": {"WANDB_API_KEY": "x"}}, "env.WANDB_API_KEY looks like a secret"),
        ({"env": {"my_token": "x"}}, "env.my_token looks like a secret"),
        ({"llm": {"enabled": True}}, "llm.enabled needs llm.model"),
        ({"llmServer": {"enabled": True}}, "llmServer.enabled needs llm.model"),
        ({"llm": {"model": "m"}, "llmServer": {"enabled": True, "kind": "stub"}}, "set llm.model fake"),
        ({"llm": {"model": "m"}, "llmServer": {"enabled": True}}, "model m must be downloaded"),
        ({"gcsFaultTolerance": {"enabled": True}}, "redisAddress"),
        ({"monitoring": {"alerts": {"enabled": True}}}, "set training.metricsPort"),
        ({"decisionService": {"enabled": True}}, "needs decisionService.tokenSecret or clientCaSecret"),
        (
            {"decisionService": {"enabled": True, "clientCaSecret": "c"}},
            "clientCaSecret needs decisionService.tlsSecret",
        ),
        ({"s3": {"podRole": True}}, "objectStore.enabled false"),
        ({"platform": {"namespace": "shared"}}, "namespace shared has the services: set objectStore.enabled"),
        ({"tenants": [TENANT], "objectStore": {"scopedUser": False}}, "objectStore.scopedUser true"),
        ({"tenants": [TENANT, TENANT]}, "tenant x is listed twice"),
        ({"tenants": [{**TENANT, "name": "X"}]}, "tenants"),
        ({"queue": {"name": "q"}, "autoscaling": {"enabled": True}}, "admits a workload as a whole"),
        ({"ingress": {"enabled": True}}, "ingress.dashboardHost"),
        ({"extraWorkers": {"head": {"like": "cpu"}}}, "extraWorkers.head: choose another name"),
        ({"extraWorkers": {"x": {"like": "cpu", "replica": 2}}}, "extraWorkers"),
        (
            {"extraWorkers": {"x": {"like": "gpu", "runnersPerWorker": 9}}},
            "pod of extraWorkers.x with 8: lower extraWorkers.x.",
        ),
        ({"fullnameOverride": "Ante_1"}, "is not a valid name"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(values: Values, words: str) -> None:
    with pytest.raises(ChartError, match=words):
        render(values)


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in DERIVED_KEYS.items() for key in keys])
def test_the_chart_derives_the_keys_that_the_python_spec_derives(kind: str, key: str) -> None:
    with pytest.raises(ChartError, match=rf"training\.{kind}\.{key} is derived from the cluster"):
        render({"training": {kind: {key: "mine"}}})


def test_a_limit_of_tokens_is_no_secret() -> None:
    assert render({"env": {"LLM_TOKENS_TOTAL": "5000000"}}).kind("RayJob")


@pytest.mark.parametrize(
    ("values", "port"),
    [
        ({"events": {"url": "nats://bus", "existingSecret": "n"}}, 4222),
        ({"events": {"url": "tls://bus:5222", "existingSecret": "n"}}, 5222),
        ({"gcsFaultTolerance": {"enabled": True, "redisAddress": "memory"}}, 6379),
        ({"gcsFaultTolerance": {"enabled": True, "redisAddress": "rediss://memory"}}, 6379),
        ({"llm": {"enabled": True, "model": "m", "endpoint": "http://llm"}}, 80),
    ],
)
def test_a_service_outside_is_reached_at_the_port_of_its_scheme(values: Values, port: int) -> None:
    outside = [
        to["port"]
        for policy in render(values).kind("NetworkPolicy").values()
        for rule in policy["spec"].get("egress", ())
        for to in rule.get("ports", ())
        if any("ipBlock" in peer for peer in rule.get("to", ()))
    ]
    assert port in outside


def test_a_cluster_without_kuberay_is_told_what_to_install() -> None:
    with pytest.raises(ChartError, match=r"does not serve ray\.io/v1: install KubeRay first, helm repo add kuberay"):
        render_as_is({})


def test_a_longer_name_than_objects_may_have_is_refused() -> None:
    with pytest.raises(ChartError, match="at most 39 letters"):
        render({}, name="a" * 41)
