"""A platform and the trainings of its tenants: they find each other, and other pods, keys and roles do not match."""

import json
from typing import Any

import pytest
import yaml

from ante.deploy.access import KINDS
from ante.deploy.preflight import NEEDED, READ
from tests.helm.renders import values_of
from tests.helm.test_safety import pods
from tests.support.helm import CHART, PROGRAM, Rendered, render, render_by_program
from tests.support.manifests import Object

PLATFORM = render(values_of("platform"), name="ante", namespace="platform")
ALICE = render(values_of("tenant"), name="first", namespace="team-a")

Label = dict[str, str]


def matches(selector: Object, labels: Label) -> bool:
    """Return whether a label selector matches."""
    assert all(one["operator"] in ("In", "NotIn") for one in selector.get("matchExpressions", []))
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        (labels.get(one["key"]) in one["values"]) == (one["operator"] == "In")
        for one in selector.get("matchExpressions", [])
    )


def peer_matches(peer: Object, home: str, namespace: str, labels: Label) -> bool:
    """Return whether a peer of a policy in namespace `home` matches a pod."""
    if "ipBlock" in peer:
        return False
    if "namespaceSelector" in peer:
        if not matches(peer["namespaceSelector"], {"kubernetes.io/metadata.name": namespace}):
            return False
    elif home != namespace:
        return False
    return matches(peer.get("podSelector", {}), labels)


def about(rendered: Rendered, home: str, way: str, pod: Label) -> list[Object]:
    """Return the policies of a release in namespace `home` that isolate a pod in this direction."""
    every = [one for one in rendered.objects if one["kind"] == "NetworkPolicy"]
    return [
        one["spec"]
        for one in every
        if one["metadata"]["namespace"] == home
        and way.capitalize() in one["spec"]["policyTypes"]
        and matches(one["spec"]["podSelector"], pod)
    ]


def lets(rendered: Rendered, home: str, way: str, pod: Label, other: tuple[str, Label], port: int | str) -> bool:
    """Return whether the policies of a release let a pod in namespace `home` exchange traffic with a pod of another."""
    end = {"ingress": "from", "egress": "to"}[way]
    for spec in about(rendered, home, way, pod):
        for rule in spec.get(way, []):
            ports = {one["port"] for one in rule.get("ports", [])}
            if (not ports or port in ports) and any(peer_matches(peer, home, *other) for peer in rule[end]):
                return True
    return False


def labels_of(rendered: Rendered, name: str) -> Label:
    """Return the labels of one of the pods of a release."""
    return next(pod["metadata"]["labels"] for one in rendered.objects for each, pod in pods(one) if each == name)


HEAD, WORKER = labels_of(ALICE, "head"), labels_of(ALICE, "cpu")
SERVICES = {"objectstore": 9000, "llm": 8000, "decisions": 50051}
DECISIONS = {"decisionService": {"enabled": True, "tokenSecret": "decisions"}}
SERVING = render({**values_of("platform"), **DECISIONS}, name="ante", namespace="platform")


@pytest.mark.parametrize("service", SERVICES)
def test_pods_of_a_tenant_reach_the_services_and_others_do_not(service: str) -> None:
    server, port = labels_of(SERVING, f"ante-{service}"), SERVICES[service]
    for pod in (HEAD, WORKER):
        assert lets(ALICE, "team-a", "egress", pod, ("platform", server), port)
        assert lets(SERVING, "platform", "ingress", server, ("team-a", pod), port)
        assert lets(SERVING, "platform", "ingress", server, ("team-b", pod), port)
        assert not lets(SERVING, "platform", "ingress", server, ("team-c", pod), port)
        assert not lets(ALICE, "team-a", "egress", pod, ("team-b", server), port)
    assert not lets(SERVING, "platform", "ingress", server, ("team-a", {"app": "other"}), port)


def test_no_policy_lets_one_tenant_into_pods_of_another() -> None:
    for port in (6379, 8265, 8080, 10001):
        assert not lets(ALICE, "team-a", "ingress", HEAD, ("team-b", {**HEAD, "app.kubernetes.io/instance": "b"}), port)


def test_a_training_that_a_tenant_creates_without_policies_is_closed_to_other_namespaces() -> None:
    """`ante cluster submit` creates a RayJob only; the platform's policies hold in the namespaces of tenants."""
    pod = {**HEAD, "app.kubernetes.io/instance": "second"}
    neighbour, operator = {**pod, "app.kubernetes.io/instance": "third"}, {"app.kubernetes.io/name": "kuberay"}
    for home in ("team-a", "team-b"):
        assert about(PLATFORM, home, "ingress", pod) and not about(PLATFORM, home, "egress", pod)
        for port in (6379, 8265, 8080, 10001, 52365):
            for stranger in (("others", {"app": "other"}), ("others", pod), (home, {"app": "other"})):
                assert not lets(PLATFORM, home, "ingress", pod, stranger, port)
            assert lets(PLATFORM, home, "ingress", pod, (home, neighbour), port)
            assert lets(PLATFORM, home, "ingress", pod, ("kuberay-system", operator), port) == (port == 8265)
        for name in ("metrics", "training"):
            assert lets(PLATFORM, home, "ingress", pod, ("monitoring", {"app": "prometheus"}), name)
    containers = next(pod for one in ALICE.objects for name, pod in pods(one) if name == "head")["spec"]["containers"]
    assert {"metrics", "training"} <= {port["name"] for port in containers[0]["ports"]}


def test_a_platform_in_a_namespace_of_its_tenants_keeps_its_services_closed_to_their_pods() -> None:
    """Policies add up: one for trainings must not select the services."""
    values = values_of("platform") | {"tenants": [{"name": "alice", "namespace": "platform"}]}
    found = render(values, name="ante", namespace="platform")
    for service in ("objectstore", "llm"):
        server = labels_of(found, f"ante-{service}")
        assert not lets(found, "platform", "ingress", server, ("platform", HEAD), 1)


def environment(rendered: Rendered, kind: str = "head") -> dict[str, Any]:
    """Return the environment of a Ray container."""
    pod = next(pod for one in rendered.objects for name, pod in pods(one) if name == kind)
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in pod["spec"]["containers"][0]["env"]}


@pytest.mark.parametrize(("tenant", "namespace"), [("alice", "team-a"), ("bob", "team-b")])
def test_a_training_has_the_address_and_the_credentials_that_the_platform_gives_its_tenant(
    tenant: str, namespace: str
) -> None:
    training = render(
        {**values_of("tenant"), "platform": {"namespace": "platform", "tenant": tenant}}, "one", namespace
    )
    found = environment(training)
    services = PLATFORM.kind("Service")
    for name, service in (("S3_ENDPOINT_URL", "objectstore"), ("LLM_ENDPOINT", "llm")):
        host, _, port = found[name].removeprefix("http://").removesuffix("/v1").partition(":")
        service_name, of = host.removesuffix(".svc").split(".")
        assert of == "platform" and int(port) in {one["port"] for one in services[service_name]["spec"]["ports"]}
        assert service_name == f"ante-{service}"
    (job,) = PLATFORM.kind("Job").values()
    plan = json.loads(job["spec"]["template"]["spec"]["initContainers"][0]["args"][0])
    (mine,) = (entry for entry in plan if entry["namespace"] == namespace)
    keys = found["S3_ACCESS_KEY_ID"]["secretKeyRef"], found["S3_SECRET_ACCESS_KEY"]["secretKeyRef"]
    assert [key["name"] for key in keys] == [mine["name"]] * 2
    assert [key["key"] for key in keys] == [mine["user_key"], mine["secret_key"]]
    entrypoint = training.kind("RayJob")["one"]["spec"]["entrypoint"]
    assert f"--store s3://ante/{mine['prefixes'][0]} " in entrypoint


def test_a_platform_has_no_training() -> None:
    kinds = {found["kind"] for found in PLATFORM.objects}
    assert not kinds & {"RayJob", "RayCluster"}
    assert not {"ante-train", "ante-dashboard"} & {found["metadata"]["name"] for found in PLATFORM.objects}


def rules(role: Object) -> set[tuple[str, str, str]]:
    """Return the permissions of a role that hold for all names: verb, group, resource."""
    return {
        (verb, group, resource)
        for rule in role["rules"]
        if "resourceNames" not in rule
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def roles(rendered: Rendered, namespace: str) -> dict[str, Object]:
    """Return the roles of a namespace."""
    found = (one for one in rendered.objects if one["kind"] == "Role" and one["metadata"]["namespace"] == namespace)
    return {one["metadata"]["name"]: one for one in found}


def test_a_trainer_has_what_ante_cluster_needs_and_a_viewer_changes_nothing() -> None:
    found = roles(PLATFORM, "team-a")
    assert set(found) == {"ante-viewer", "ante-trainer", "ante-bucket"}
    for verb, kind, part in (*NEEDED, *READ):
        prefix, plural, _ = KINDS[kind]
        group = prefix.split("/")[1] if prefix.startswith("apis/") else ""
        assert (verb, group, f"{plural}/{part}" if part else plural) in rules(found["ante-trainer"])
    assert {verb for verb, _, _ in rules(found["ante-viewer"])} == {"get", "list", "watch"}
    for name in ("ante-viewer", "ante-trainer"):
        assert not any(resource in ("secrets", "pods/exec") for _, _, resource in rules(found[name]))


def test_a_trainer_of_one_release_changes_that_release_only() -> None:
    found = roles(ALICE, "team-a")
    changes = {each for each in rules(found["first-trainer"]) if each[0] not in ("get", "list", "watch")}
    assert changes == {("create", "", "pods/portforward")}
    assert {name for rule in found["first-trainer"]["rules"] for name in rule.get("resourceNames", [])} == {
        "first",
        "first-train",
        "ray-token",
    }


def test_a_release_in_a_queue_lets_its_people_read_it_and_others_need_no_rights_of_kueue() -> None:
    queue = ("get", "kueue.x-k8s.io", "localqueues")
    for values, expected in (({"queue": {"name": "q"}}, True), ({}, False)):
        found = roles(render(values), "default")
        assert [queue in rules(found[f"ante-{name}"]) for name in ("viewer", "trainer")] == [expected] * 2


def test_an_admin_may_grant_every_right_of_the_roles_that_the_chart_creates() -> None:
    """Kubernetes refuses a Role with rights that its author lacks."""
    values = {"queue": {"name": "q"}, "rbac": {"admins": [{"kind": "User", "name": "x"}]}}
    found = roles(render(values), "default")
    admin = rules(found.pop("ante-admin"))
    for role in found.values():
        for rule in role["rules"]:
            wanted = [
                (verb, group, one) for group in rule["apiGroups"] for one in rule["resources"] for verb in rule["verbs"]
            ]
            assert [each for each in wanted if not {each, ("*", *each[1:])} & admin] == []


def test_without_admins_no_role_grants_more_than_a_training_needs() -> None:
    assert not [name for name in render({}).kind("Role") if name.endswith("-admin")]
    for role in render({}).kind("Role").values():
        assert not any("*" in (verb, group, resource) for verb, group, resource in rules(role))


def test_subjects_are_bound_in_the_namespaces_of_their_tenants() -> None:
    bound = {
        (one["metadata"]["namespace"], one["roleRef"]["name"], subject["name"])
        for one in PLATFORM.objects
        if one["kind"] == "RoleBinding"
        for subject in one["subjects"]
    }
    job = {(namespace, "ante-bucket", "ante-bucket") for namespace in ("platform", "team-a", "team-b")}
    assert bound == job | {
        ("platform", "ante-admin", "operations"),
        ("team-a", "ante-trainer", "alice"),
        ("team-b", "ante-trainer", "bob"),
        ("team-b", "ante-viewer", "alice"),
    }


def test_the_static_role_reads_named_secrets_only() -> None:
    text = (CHART.parent.parent / "k8s" / "rbac.yaml").read_text()
    role = next(one for one in yaml.safe_load_all(text) if one["kind"] == "Role")
    assert not any(resource == "secrets" for _, _, resource in rules(role))


def test_a_local_queue_is_created_for_tenants_with_a_cluster_queue() -> None:
    (queue,) = (one for one in PLATFORM.objects if one["kind"] == "LocalQueue")
    assert queue["metadata"]["namespace"] == "team-a" and queue["spec"] == {"clusterQueue": "research"}
    assert queue["apiVersion"] == "kueue.x-k8s.io/v1beta2", "a render without a cluster is for a recent Kueue"
    job = ALICE.kind("RayJob")["first"]["metadata"]["labels"]
    assert job["kueue.x-k8s.io/queue-name"] == queue["metadata"]["name"]


@pytest.mark.skipif(PROGRAM is None, reason="the program helm is not installed")
@pytest.mark.parametrize(
    ("served", "chosen"),
    [(("v1beta1",), "v1beta1"), (("v1beta1", "v1beta2"), "v1beta2"), (("v1beta2",), "v1beta2"), ((), "v1beta2")],
)
def test_a_local_queue_has_a_version_that_the_cluster_serves(served: tuple[str, ...], chosen: str) -> None:
    apis = tuple(f"kueue.x-k8s.io/{version}" for version in served)
    found = render_by_program(values_of("platform"), namespace="platform", apis=apis)
    (queue,) = (one for one in found if one["kind"] == "LocalQueue")
    assert queue["apiVersion"] == f"kueue.x-k8s.io/{chosen}"


def test_metrics_and_alerts_of_a_platform_are_about_all_tenants() -> None:
    monitor = PLATFORM.kind("PodMonitor")["ante"]["spec"]
    assert monitor["namespaceSelector"]["matchNames"] == ["platform", "team-a", "team-b"]
    assert matches(monitor["selector"], HEAD) and matches(monitor["selector"], WORKER)
    expressions = [rule["expr"] for group in PLATFORM.kind("PrometheusRule")["ante"]["spec"]["groups"]
                   for rule in group["rules"]]  # fmt: skip
    assert not any("run=" in expression for expression in expressions)
    assert sum('namespace=~"platform|team-a|team-b"' in expression for expression in expressions) == 3
