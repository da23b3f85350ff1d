"""Least privilege of the pods, and no secrets in plain text."""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from tests.helm.renders import CI, values_of
from tests.support.helm import render
from tests.support.manifests import Object, Refused, check_all

PROBED = ("server", "ray-head", "ray-worker")  # containers with probes
TOKEN = {"ante-preflight", "ante-bucket"}  # pods that call the API server; with autoscaling also the head


def pods(found: Object) -> Iterator[tuple[str, Object]]:
    """Yield every pod of an object with its name: metadata and spec."""
    name, spec = found["metadata"]["name"], found.get("spec", {})
    if found["kind"] == "Pod":
        yield name, found
    elif found["kind"] in ("RayJob", "RayCluster"):
        cluster = spec.get("rayClusterSpec", spec)
        yield "head", cluster["headGroupSpec"]["template"]
        yield from ((group["groupName"], group["template"]) for group in cluster["workerGroupSpecs"])
        if "submitterPodTemplate" in spec:
            yield "submitter", spec["submitterPodTemplate"]
    elif isinstance(spec.get("template"), dict):
        yield re.sub(r"-[0-9a-f]{8}$", "", name) if found["kind"] == "Job" else name, spec["template"]


PODS = [
    pytest.param(case, name, pod, id=f"{case}, {name}")
    for case in CI
    for found in render(values_of(case)).objects
    for name, pod in pods(found)
]


@pytest.mark.parametrize(("case", "name", "pod"), PODS)
def test_a_pod_is_nobody_holds_little_and_says_how_much_it_takes(case: str, name: str, pod: Object) -> None:
    spec = pod["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert ("runAsUser" in spec["securityContext"]) == (case != "openshift")
    scaled = name == "head" and bool(values_of(case).get("autoscaling"))
    assert spec["automountServiceAccountToken"] == (name in TOKEN or scaled)
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    for volume in spec.get("volumes", []):
        assert set(volume) - {"name"} <= {"emptyDir", "configMap", "secret", "persistentVolumeClaim"}
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        security = container["securityContext"]
        assert security == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        for amounts in ("requests", "limits"):
            assert {"cpu", "memory"} <= set(container["resources"][amounts])
        assert container["imagePullPolicy"] == "IfNotPresent" and ":latest" not in container["image"]
        assert any(mount["mountPath"] == "/tmp" for mount in container["volumeMounts"])  # the root is read-only
        if container["name"] in PROBED:
            assert {"readinessProbe", "livenessProbe"} <= set(container)


def test_there_are_pods_of_every_kind() -> None:
    names = {value.values[1] for value in PODS}
    assert names == {
        "head",
        "gpu",
        "cpu",
        "submitter",
        "ante-bucket",
        "ante-objectstore",
        "ante-llm",
        "ante-preflight",
        "ante-decisions",
    }


@pytest.mark.parametrize("case", CI)
def test_a_secret_in_plain_environment_would_be_found(case: str) -> None:
    objects = render(values_of(case)).objects
    check_all(objects)
    for number, found in enumerate(objects):
        for name, _ in pods(found):
            if name == "submitter":
                continue
            broken: list[Any] = deepcopy(objects)
            target = dict(pods(broken[number]))[name]["spec"]["containers"][0]
            target["env"] = [*target["env"], {"name": "WANDB_API_KEY", "value": "abcdef"}]
            with pytest.raises(Refused, match="plain"):
                check_all([broken[number]])


@pytest.mark.parametrize("case", CI)
def test_every_pod_is_cut_off_and_let_through_by_name_only(case: str) -> None:
    found = render(values_of(case))
    policies = found.kind("NetworkPolicy")
    deny = policies["ante-deny"]["spec"]
    assert deny["policyTypes"] == ["Ingress", "Egress"] and "ingress" not in deny
    for one in found.objects:
        for _, pod in pods(one):
            assert deny["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    for name, policy in policies.items():
        for rule in [*policy["spec"].get("ingress", []), *policy["spec"].get("egress", [])]:
            peers = rule.get("from", rule.get("to"))
            assert peers, f"{name} admits all sources"
            inside = all("podSelector" in peer and "namespaceSelector" not in peer for peer in peers)
            assert inside or rule["ports"], f"{name} admits others at any port"


def test_services_find_the_pods_they_are_for() -> None:
    found = render(values_of("gpu"))
    labels = {name: pod["metadata"]["labels"] for one in found.objects for name, pod in pods(one)}
    for service, pod in {"dashboard": "head", "objectstore": "ante-objectstore", "console": "ante-objectstore",
                         "llm": "ante-llm"}.items():  # fmt: skip
        selector = found.kind("Service")[f"ante-{service}"]["spec"]["selector"]
        assert [name for name, each in labels.items() if selector.items() <= each.items()] == [pod]
    budget = found.kind("PodDisruptionBudget")["ante-objectstore"]["spec"]
    selector = budget["selector"]["matchLabels"]
    assert sum(selector.items() <= each.items() for each in labels.values()) == 1


@pytest.mark.parametrize("case", CI)
def test_no_budget_blocks_a_drain(case: str) -> None:
    for budget in render(values_of(case)).kind("PodDisruptionBudget").values():
        assert budget["spec"]["maxUnavailable"] == 1 and "minAvailable" not in budget["spec"]


def test_the_head_is_kept_on_request() -> None:
    budgets = render({"podDisruptionBudget": {"keepHead": True}}).kind("PodDisruptionBudget")
    assert budgets["ante-head"]["spec"]["minAvailable"] == 1


@pytest.mark.parametrize("case", CI)
def test_secrets_are_read_by_name_only(case: str) -> None:
    for name, role in render(values_of(case)).kind("Role").items():
        for rule in role["rules"]:
            if "secrets" in rule["resources"] and not name.endswith("-admin"):
                assert rule.get("resourceNames") or rule["verbs"] == ["create"]
