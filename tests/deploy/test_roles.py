"""Every request of `ante cluster` in its namespace is one that the roles of the chart and of k8s/ allow."""

import re

import pytest
import yaml

from tests.deploy.conftest import Ante
from tests.deploy.test_cluster import ready
from tests.helm.test_platform import PLATFORM, roles, rules
from tests.support.apiserver import PATH, Cluster, verb_of
from tests.support.helm import CHART
from tests.support.manifests import Object

STATIC = CHART.parent.parent / "k8s" / "rbac.yaml"
ROLES = {
    "chart": roles(PLATFORM, "team-a")["ante-trainer"],
    "manifest": next(one for one in yaml.safe_load_all(STATIC.read_text()) if one["kind"] == "Role"),
}
COMMANDS = (
    ("preflight", "--preset", "gpu", "--set", "queue.name=missing"), ("submit", "--preset", "gpu", "--name", "first"),
    ("status", "first"), ("ls",), ("logs", "first"), ("suspend", "first"), ("resume", "first"), ("down", "first"),
)  # fmt: skip


def rights(request: str) -> set[tuple[str, str, str]]:
    """Return the rights that a request within a namespace needs: verb, group, resource. Secrets are granted by name."""
    method, _, path = request.partition(" ")
    found = PATH.match(path)
    if not (found and found["namespace"]) or found["plural"] == "secrets":
        return set()
    group = (found["group"] or "").partition("/")[0]
    if found["part"] in ("portforward", "exec"):  # a websocket is opened with GET; Kubernetes 1.35 also requires create
        return {(verb, group, f"{found['plural']}/{found['part']}") for verb in ("get", "create")}
    return {(verb_of(method, found["name"]), group, "/".join(filter(None, (found["plural"], found["part"]))))}


@pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))
def test_every_request_of_the_commands_is_allowed(role: Object, kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    kubernetes.logs["submitter"] = "step 1\n"
    for words in COMMANDS:
        ante(*words)
    ante("up", "--preset", "cpu", "--name", "waiting")
    ante("submit", "--preset", "cpu", "--name", "waiting")  # through a tunnel to its head
    wanted = set().union(*map(rights, kubernetes.requests))
    assert {("create", "", "pods"), ("get", "", "pods/portforward"), ("get", "", "pods/log"),
            ("list", "", "resourcequotas"), ("list", "kueue.x-k8s.io", "localqueues"),
            ("delete", "ray.io", "rayjobs")} <= wanted  # fmt: skip
    assert wanted - rules(role) == set()
    assert not any(re.search(r"/secrets$", request) for request in kubernetes.requests), "Secrets are read by name"
