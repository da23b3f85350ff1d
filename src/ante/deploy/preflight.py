"""Preflight checks of a training's prerequisites."""

from collections.abc import Callable, Iterator

from ante.deploy import capacity
from ante.deploy.access import INSTALL_KUBERAY, Access, NoCluster, NoKind, NotAllowed, NotThere, Rejected
from ante.deploy.checks import Check, bad, good, unsure
from ante.deploy.placement import make_plan, problems
from ante.deploy.proof import DENIED_ROLE, account, run_preflight_pod, secrets
from ante.deploy.settings import Settings
from ante.deploy.spec import objects, ray_cluster
from ante.errors import BalatroError

OLDEST = (1, 28)  # minimum Kubernetes version
NEEDED = (
    *((verb, kind, "") for kind in ("RayJob", "RayCluster", "ConfigMap", "ServiceAccount")
      for verb in ("get", "list", "create", "patch", "delete")),
    ("get", "Pod", ""), ("list", "Pod", ""), ("create", "Pod", ""), ("delete", "Pod", ""),
    ("get", "Pod", "log"),
    # Clients that open a websocket send GET, others POST; Kubernetes 1.35 requires create of both.
    ("get", "Pod", "portforward"), ("create", "Pod", "portforward"),
)  # fmt: skip
READ = (("list", "ResourceQuota", ""), ("get", "LocalQueue", ""), ("list", "LocalQueue", ""))  # by the preflight only
REJECTED = "KubeRay may be older than 1.6, or a webhook rejects them: that of Kueue before 0.17 needs queue.name"
OPERATOR = "kuberay-operator"  # part of its Deployment's name in KubeRay's charts


def preflight(
    connect: Callable[[], Access], settings: Settings, pod: bool, seconds: float, report: Callable[[str], None]
) -> Iterator[Check]:
    """Yield each check as it completes, without those that depend on a failed one."""
    yield from plan(settings)
    try:
        access = connect()
        yield reach(access)
    except (NoCluster, NotAllowed) as error:
        yield bad("api", str(error))
        return
    found = [namespace(access)]
    yield found[0]
    if found[0].state == "fail":
        return
    for check in (kuberay, operator, permissions, lambda one: accepted(one, settings)):
        found.append(safely(check, access))
        yield found[-1]
    for check in (lambda one: nodes(one, settings), lambda one: quota(one, settings), lambda one: queue(one, settings)):
        one = safely(check, access)
        if one.words:
            yield one
    keys = [*secrets(access, settings), *account(access, settings)]
    yield from keys
    if not pod:
        yield unsure("pod", "image, bucket and LLM were not tested from a pod", "leave out --no-pod")
    elif all(key.state != "fail" and key.name != "bucket" for key in keys):
        report("testing image, bucket and LLM from a pod")
        try:
            yield from run_preflight_pod(access, settings, seconds, report)
        except BalatroError as error:
            yield bad("pod", str(error))


def safely(check: Callable[[Access], Check], access: Access) -> Check:
    """Run a check, and report an error as a failed check."""
    try:
        return check(access)
    except NotAllowed as error:
        return unsure("permissions", str(error), DENIED_ROLE)
    except BalatroError as error:
        return bad("api", str(error))


def plan(settings: Settings) -> Iterator[Check]:
    """Check whether the settings can run."""
    found = problems(settings)
    for words in found:
        yield bad("settings", words)
    if not found:
        cut = make_plan(settings)
        pods = ", ".join(f"{load.pods} {load.group} pods of {load.runners} runners" for load in cut.loads)
        yield good("settings", f"{pods}; {cut.learners} learners; {cut.runners * cut.games} games at once")


def reach(access: Access) -> Check:
    """Check that the API server responds and has a supported version."""
    version = access.version()
    words = f"Kubernetes {version[0]}.{version[1]} at {access.host}"
    return (
        good("api", words)
        if version >= OLDEST
        else bad("api", f"{words}: at least {OLDEST[0]}.{OLDEST[1]} is required")
    )


def namespace(access: Access) -> Check:
    """Check that the namespace exists."""
    try:
        access.get("Namespace", access.namespace)
    except NotThere:
        fix = f"kubectl create namespace {access.namespace}"
        return bad("namespace", f"namespace {access.namespace} does not exist", fix)
    except NotAllowed:
        return good("namespace", f"{access.namespace} (not allowed to get it)")
    return good("namespace", access.namespace)


def kuberay(access: Access) -> Check:
    """Check that the cluster supports RayJob and RayCluster."""
    try:
        found = access.call("GET", "apis/ray.io/v1", "Ray")["resources"]
    except NoKind:
        return bad("kuberay", "the cluster does not serve ray.io/v1", INSTALL_KUBERAY)
    missing = {"rayjobs", "rayclusters"} - {one["name"] for one in found}
    if missing:
        return bad("kuberay", f"ray.io/v1 lacks {', '.join(sorted(missing))}", INSTALL_KUBERAY)
    return good("kuberay", "ray.io/v1 with RayJob and RayCluster")


def operator(access: Access) -> Check:
    """Check that KubeRay's operator runs."""
    try:
        found = [one for one in access.list("Deployment", "") if OPERATOR in one["metadata"]["name"]]
    except NotAllowed:
        return unsure("operator", "not allowed to list Deployments in other namespaces to find KubeRay's operator")
    if not found:
        return unsure("operator", f"no Deployment is named {OPERATOR}: does KubeRay's operator run?", INSTALL_KUBERAY)
    one = found[0]
    where = f"{one['metadata']['namespace']}/{one['metadata']['name']}"
    image = one["spec"]["template"]["spec"]["containers"][0]["image"]
    if not one.get("status", {}).get("readyReplicas"):
        return bad(
            "operator",
            f"{where} has no ready pod",
            f"kubectl --namespace {one['metadata']['namespace']} get pods",
        )
    return good("operator", f"{where} ({image.rpartition('/')[2]})")


def permissions(access: Access) -> Check:
    """Check the permissions for up, submit, logs, dashboard and down."""
    denied = [
        f"{verb} {kind.lower()}s" + (f"/{part}" if part else "")
        for verb, kind, part in NEEDED
        if not access.may(verb, kind, part)
    ]
    if denied:
        return bad("permissions", f"not allowed in {access.namespace}: {', '.join(denied)}", DENIED_ROLE)
    return good("permissions", f"all required permissions in {access.namespace}")


def accepted(access: Access, settings: Settings) -> Check:
    """Check that the API server accepts the objects, by a dry run."""
    try:
        for one in [*objects(settings)[:-1], objects(settings)[-1], ray_cluster(settings)]:
            access.apply(one, dry_run=True)
    except NoKind:
        return bad("objects", "RayJob and RayCluster could not be tested", INSTALL_KUBERAY)
    except Rejected as error:
        return bad("objects", str(error), REJECTED)
    return good("objects", "the API server accepts all objects (dry run)")


def nodes(access: Access, settings: Settings) -> Check:
    """Check that all pods fit on nodes with free resources."""
    if not access.may("list", "Node"):
        return unsure("capacity", "not allowed to list nodes, so it is unknown whether the pods fit", DENIED_ROLE)
    free = capacity.free_nodes(access.list("Node"), access.list("Pod", ""))
    lack = capacity.does_not_fit(settings, free)
    if lack:
        fix = "lower cpus, memory, gpus or replicas, or add nodes (with a cluster autoscaler, ignore this)"
        return bad("capacity", lack, fix)
    return good("capacity", f"{len(capacity.planned_pods(settings))} pods fit on {len(free)} nodes")


def quota(access: Access, settings: Settings) -> Check:
    """Check that the namespace's quotas suffice. The check has no words without a quota."""
    found = access.list("ResourceQuota")
    lack = capacity.over_quota(settings, found)
    if lack:
        return bad("quota", lack, "request a larger quota, or lower cpus, memory, gpus or replicas")
    return good("quota", ", ".join(one["metadata"]["name"] for one in found))


def queue(access: Access, settings: Settings) -> Check:
    """Check that the queue exists and can admit the training. The check has no words without a queue."""
    name = settings.queue.name
    if not name:
        return good("queue", "")
    try:
        local = access.get("LocalQueue", name)
    except NoKind as error:
        return bad("queue", str(error))
    except NotThere:
        known = ", ".join(one["metadata"]["name"] for one in access.list("LocalQueue")) or "none"
        return bad(
            "queue", f"no local queue {name!r} exists in {access.namespace}", f"set queue.name to one of: {known}"
        )
    try:
        cluster = access.get("ClusterQueue", local["spec"]["clusterQueue"])
    except NotAllowed:
        return unsure("queue", f"{name} exists; not allowed to read its quota")
    if lack := capacity.queue_lacks(settings, cluster):
        return bad("queue", lack, "raise its nominalQuota, or lower cpus, memory, gpus or replicas")
    return good("queue", f"{name}, admitted by {cluster['metadata']['name']}")
