"""Preflight checks of a training's prerequisites."""

from collections.abc import Callable, Iterator

from ante.deploy import capacity
from ante.deploy.access import INSTALL_KUBERAY, Access, NoCluster, NoKind, NotAllowed, NotThere, Rejected
from ante.deploy.checks import Check, bad, good, unsure
from ante.deploy.placement import make_plan, problems
from ante.deploy.proof import DENIED_ROLE, prove, secrets
from ante.deploy.settings import Settings
from ante.deploy.spec import objects, ray_cluster
from ante.errors import BalatroError

OLDEST = (1, 28)  # Kubernetes
NEEDED = (
    *((verb, kind, "") for kind in ("RayJob", "RayCluster", "ConfigMap", "ServiceAccount")
      for verb in ("get", "list", "create", "patch", "delete")),
    ("get", "Pod", ""), ("list", "Pod", ""), ("create", "Pod", ""), ("delete", "Pod", ""),
    ("get", "Pod", "log"), ("create", "Pod", "portforward"), ("get", "Secret", ""),
)  # fmt: skip
OPERATOR = "kuberay-operator"  # in the name of its Deployment, as its charts have it


def preflight(
    connect: Callable[[], Access], settings: Settings, pod: bool, seconds: float, report: Callable[[str], None]
) -> Iterator[Check]:
    """The checks, each as soon as it is known; those that depend on a failed one are left out."""
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
    keys = secrets(access, settings)
    yield from keys
    if not pod:
        yield unsure("pod", "image, bucket and LLM were not tried from inside", "leave out --no-pod")
    elif all(key.state != "fail" for key in keys):
        report("a pod tries image, bucket and LLM")
        yield from prove(access, settings, seconds, report)


def safely(check: Callable[[Access], Check], access: Access) -> Check:
    """Run a check, and report an error as a failed check."""
    try:
        return check(access)
    except NotAllowed as error:
        return unsure("permissions", str(error), DENIED_ROLE)
    except BalatroError as error:
        return bad("api", str(error))


def plan(settings: Settings) -> Iterator[Check]:
    """Whether the settings can run at all."""
    found = problems(settings)
    for words in found:
        yield bad("settings", words)
    if not found:
        cut = make_plan(settings)
        pods = ", ".join(f"{load.pods} {load.group} pods of {load.runners} runners" for load in cut.loads)
        yield good("settings", f"{pods}; {cut.learners} learners; {cut.runners * cut.games} games at once")


def reach(access: Access) -> Check:
    """The API server answers, and is new enough."""
    version = access.version()
    words = f"Kubernetes {version[0]}.{version[1]} at {access.host}"
    return (
        good("api", words) if version >= OLDEST else bad("api", f"{words}: {OLDEST[0]}.{OLDEST[1]} at least is needed")
    )


def namespace(access: Access) -> Check:
    """Check that the namespace exists."""
    try:
        access.get("Namespace", access.namespace)
    except NotThere:
        fix = f"kubectl create namespace {access.namespace}"
        return bad("namespace", f"there is no namespace {access.namespace}", fix)
    except NotAllowed:
        return good("namespace", f"{access.namespace} (not allowed to look at it)")
    return good("namespace", access.namespace)


def kuberay(access: Access) -> Check:
    """Check that the cluster supports RayJob and RayCluster."""
    try:
        found = access.ask("GET", "apis/ray.io/v1", "Ray")["resources"]
    except NoKind:
        return bad("kuberay", "this cluster does not know ray.io/v1", INSTALL_KUBERAY)
    missing = {"rayjobs", "rayclusters"} - {one["name"] for one in found}
    if missing:
        return bad("kuberay", f"ray.io/v1 lacks {', '.join(sorted(missing))}", INSTALL_KUBERAY)
    return good("kuberay", "ray.io/v1 with RayJob and RayCluster")


def operator(access: Access) -> Check:
    """Check that KubeRay's operator runs."""
    try:
        found = [one for one in access.list("Deployment", "") if OPERATOR in one["metadata"]["name"]]
    except NotAllowed:
        return unsure("operator", "not allowed to look for KubeRay's operator in other namespaces")
    if not found:
        return unsure("operator", f"no Deployment is called {OPERATOR}: does KubeRay's operator run?", INSTALL_KUBERAY)
    one = found[0]
    where = f"{one['metadata']['namespace']}/{one['metadata']['name']}"
    image = one["spec"]["template"]["spec"]["containers"][0]["image"]
    if not one.get("status", {}).get("readyReplicas"):
        return bad(
            "operator",
            f"{where} has no pod that is ready",
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
    return good("permissions", f"all that is needed in {access.namespace}")


def accepted(access: Access, settings: Settings) -> Check:
    """The API server would take the objects as they are (nothing is made)."""
    try:
        for one in [*objects(settings)[:-1], objects(settings)[-1], ray_cluster(settings)]:
            access.apply(one, dry_run=True)
    except NoKind:
        return bad("objects", "RayJob and RayCluster could not be tried", INSTALL_KUBERAY)
    except Rejected as error:
        return bad("objects", str(error), "KubeRay may be older than 1.6, or an admission rule of the cluster objects")
    return good("objects", "the API server takes all of them (dry run)")


def nodes(access: Access, settings: Settings) -> Check:
    """Every pod finds a node, beside what runs there."""
    if not access.may("list", "Node"):
        return unsure("capacity", "not allowed to list nodes: whether the pods fit is unknown", DENIED_ROLE)
    free = capacity.rooms(access.list("Node"), access.list("Pod", ""))
    lack = capacity.does_not_fit(settings, free)
    if lack:
        fix = "lower cpus, memory, gpus or replicas, or add nodes (nodes that come by themselves: nothing to do)"
        return bad("capacity", lack, fix)
    return good("capacity", f"{len(capacity.wanted_pods(settings))} pods fit on {len(free)} nodes")


def quota(access: Access, settings: Settings) -> Check:
    """The quotas of the namespace leave enough. No words where there are none."""
    found = access.list("ResourceQuota")
    lack = capacity.over_quota(settings, found)
    if lack:
        return bad("quota", lack, "ask for more, or lower cpus, memory, gpus or replicas")
    return good("quota", ", ".join(one["metadata"]["name"] for one in found))


def queue(access: Access, settings: Settings) -> Check:
    """The queue exists and can ever admit the training. No words without a queue."""
    name = settings.queue.name
    if not name:
        return good("queue", "")
    try:
        local = access.get("LocalQueue", name)
    except NoKind as error:
        return bad("queue", str(error))
    except NotThere:
        there = ", ".join(one["metadata"]["name"] for one in access.list("LocalQueue")) or "none"
        return bad(
            "queue", f"there is no local queue {name!r} in {access.namespace}", f"set queue.name to one of: {there}"
        )
    try:
        cluster = access.get("ClusterQueue", local["spec"]["clusterQueue"])
    except NotAllowed:
        return unsure("queue", f"{name} is there; not allowed to look at its quota")
    if lack := capacity.queue_lacks(settings, cluster):
        return bad("queue", lack, "raise its nominalQuota, or lower cpus, memory, gpus or replicas")
    return good("queue", f"{name}, admitted by {cluster['metadata']['name']}")
