"""Capacity: GPUs of the nodes, whether a training fits nodes, quotas and a Kueue queue, and what its pods cost."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ante.deploy.access import Object
from ante.deploy.blocks import quantity
from ante.deploy.placement import block_of, pods_of
from ante.deploy.settings import PRICES, BadSettings, Settings
from ante.deploy.spec import cluster_spec, ray_job, submitter

Amounts = dict[str, float]
GPU = re.compile(r"[\w.-]+/([\w.-]*gpu[\w.-]*|mig-[\w.-]+)|gpu\.[\w.-]+/[\w.-]+")  # names of resources
PRODUCTS = ("nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator")  # labels of nodes


@dataclass
class Host:
    """Free resources of one node."""

    name: str
    labels: dict[str, str]
    taints: list[Object]
    free: Amounts
    most: Amounts


@dataclass(frozen=True)
class PodRequest:
    """A pod to place."""

    part: str
    requests: Amounts
    selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Object, ...] = ()


def amounts(found: Object) -> Amounts:
    """Convert quantities to numbers: cores, bytes or counts."""
    return {name: quantity(str(amount)) for name, amount in found.items()}


def pod_requests(pod: Object) -> Amounts:
    """Return the requests of a pod: the sum over its containers, or its largest init container."""
    total: Amounts = {"pods": 1.0}
    for container in pod["containers"]:
        for name, amount in amounts(container.get("resources", {}).get("requests", {})).items():
            total[name] = total.get(name, 0.0) + amount
    for container in pod.get("initContainers", ()):
        for name, amount in amounts(container.get("resources", {}).get("requests", {})).items():
            total[name] = max(total.get(name, 0.0), amount)
    return total


def free_nodes(nodes: Sequence[Object], pods: Sequence[Object]) -> list[Host]:
    """Return the schedulable nodes with their free resources."""
    found = {}
    for node in nodes:
        if node.get("spec", {}).get("unschedulable"):
            continue
        most = amounts(node["status"]["allocatable"])
        name, labels = node["metadata"]["name"], node["metadata"].get("labels", {})
        found[name] = Host(name, labels, node.get("spec", {}).get("taints", []), dict(most), most)
    for name, pod in open_pods(pods):
        if host := found.get(name):
            take(host, pod_requests(pod["spec"]))
    return list(found.values())


def open_pods(pods: Sequence[Object]) -> Iterator[tuple[str, Object]]:
    """Yield the pods that have not ended, with the name of their node, empty without one."""
    for pod in pods:
        if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            yield pod["spec"].get("nodeName", ""), pod


@dataclass(frozen=True)
class NodeGpus:
    """The GPUs of one resource on one node; `users` are the pods that request them, as namespace/name."""

    node: str
    product: str
    resource: str
    total: int
    used: int
    users: tuple[str, ...]
    schedulable: bool

    @property
    def free(self) -> int:
        """Number of GPUs that a new pod can have."""
        return max(0, self.total - self.used) if self.schedulable else 0


def gpus(nodes: Sequence[Object], pods: Sequence[Object]) -> Iterator[NodeGpus]:
    """Yield the GPUs of all nodes."""
    running: dict[str, list[tuple[str, Amounts]]] = {}
    for name, pod in open_pods(pods):
        user = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        running.setdefault(name, []).append((user, pod_requests(pod["spec"])))
    for node in nodes:
        name, labels = node["metadata"]["name"], node["metadata"].get("labels", {})
        product = next((labels[label] for label in PRODUCTS if label in labels), "")
        for resource, total in amounts(node["status"]["allocatable"]).items():
            if not (GPU.fullmatch(resource) and total):
                continue
            used = {user: int(found[resource]) for user, found in running.get(name, ()) if found.get(resource)}
            schedulable = not node.get("spec", {}).get("unschedulable")
            yield NodeGpus(name, product, resource, int(total), sum(used.values()), tuple(used), schedulable)


def hourly_cost(found: Object, most: bool = False) -> tuple[float, str]:
    """Return the price of a RayJob's or RayCluster's pods for an hour and its currency; 0 and "" without prices.

    The prices are in its annotation; its worker groups count with their present number of replicas.

    most  with autoscaling, count the largest number of replicas instead
    """
    *pairs, currency = found["metadata"].get("annotations", {}).get(PRICES, "").split(" ")
    try:
        prices = {name: float(price) for name, _, price in (pair.partition("=") for pair in pairs)}
    except ValueError:
        return 0.0, ""
    spec = found["spec"].get("rayClusterSpec") or found["spec"]
    count_of = "maxReplicas" if most and spec.get("enableInTreeAutoscaling") else "replicas"
    groups = [(1, spec["headGroupSpec"]), *((group[count_of], group) for group in spec["workerGroupSpecs"])]
    total = 0.0
    for count, group in groups:
        for name, amount in pod_requests(group["template"]["spec"]).items():
            unit = "gpuHour" if GPU.fullmatch(name) else {"cpu": "cpuHour", "memory": "gibHour"}.get(name, "")
            total += count * prices.get(unit, 0.0) * (amount / 2**30 if name == "memory" else amount)
    return total, currency


def within_budget(settings: Settings, budget: float) -> Settings:
    """Return the settings with a deadline at which an attempt has cost the budget. Raises BadSettings without prices."""
    hourly, _ = hourly_cost(ray_job(settings), most=True)
    if not hourly:
        raise BadSettings("a budget needs prices: set prices.cpuHour, prices.gibHour or prices.gpuHour")
    seconds = max(1, int(3600 * budget / hourly))
    deadline = min(seconds, settings.job.active_deadline_seconds or seconds)
    job = settings.job.model_copy(update={"active_deadline_seconds": deadline})
    return settings.model_copy(update={"job": job})


def take(host: Host, requests: Amounts) -> None:
    """Subtract a pod's requests from a node's free resources."""
    for name, amount in requests.items():
        host.free[name] = host.free.get(name, 0.0) - amount


def planned_pods(settings: Settings) -> list[PodRequest]:
    """Return the pods of a training, the largest first, with the planned number of pods per group."""
    spec = cluster_spec(settings)
    found = [pod_request("head", spec["headGroupSpec"]["template"]["spec"])]
    for group in spec["workerGroupSpecs"]:
        name = group["groupName"]
        one = pod_request(block_of(name), group["template"]["spec"])
        found += [one] * pods_of(settings, settings.groups[name])
    if settings.job.enabled:
        found.append(pod_request("submitter", submitter(settings)["spec"]))
    return sorted(found, key=lambda one: (-sum("/" in name for name in one.requests), -one.requests.get("memory", 0.0)))


def pod_request(part: str, pod: Object) -> PodRequest:
    """Return the scheduling requirements of one pod."""
    return PodRequest(part, pod_requests(pod), pod.get("nodeSelector", {}), tuple(pod.get("tolerations", ())))


def does_not_fit(settings: Settings, free: list[Host]) -> str:
    """Return why the pods do not fit the nodes, or "" if they do. Each takes the node with least free memory."""
    for number, one in enumerate(pods := planned_pods(settings)):
        allowed = [host for host in free if admits(host, one)]
        fitting = [host for host in allowed if not lacking(host.free, one.requests)]
        if not fitting:
            before = sum(other.part == one.part for other in pods[:number])
            count = sum(other.part == one.part for other in pods)
            return f"{one.part} {before + 1} of {count} does not fit on any node: {reason(free, allowed, one)}"
        take(min(fitting, key=lambda host: host.free.get("memory", 0.0)), one.requests)
    return ""


def reason(hosts: list[Host], allowed: list[Host], one: PodRequest) -> str:
    """Return why no node fits one pod."""
    if not hosts:
        return "the cluster has no schedulable node"
    if not allowed:
        chosen = ", ".join(f"{key}={value}" for key, value in one.selector.items())
        return f"no node has {chosen} and only taints that it tolerates" if chosen else "it tolerates no node's taints"
    for name, amount in one.requests.items():
        most = max(host.most.get(name, 0.0) for host in allowed)
        if most < amount:
            has = f"the largest node has {shown(name, most)}" if most else "no node has any"
            return f"it requests {shown(name, amount)} of {name}, {has}"
    best = min(allowed, key=lambda host: len(lacking(host.free, one.requests)))
    need, free = one.requests, best.free
    parts = [
        f"{shown(name, need[name])} of {name} ({shown(name, max(0.0, free.get(name, 0.0)))} free on {best.name})"
        for name in lacking(free, need)
    ]
    return f"it requests {' and '.join(parts)}"


def lacking(free: Amounts, requests: Amounts) -> list[str]:
    """Return the resources that are insufficient."""
    return [name for name, amount in requests.items() if free.get(name, 0.0) + 1e-9 < amount]


def admits(host: Host, one: PodRequest) -> bool:
    """Return whether the pod matches a node's labels and taints."""
    if any(host.labels.get(key) != value for key, value in one.selector.items()):
        return False
    hard = [taint for taint in host.taints if taint["effect"] in ("NoSchedule", "NoExecute")]
    return all(any(tolerates(toleration, taint) for toleration in one.tolerations) for taint in hard)


def tolerates(toleration: Object, taint: Object) -> bool:
    """Return whether a toleration matches a taint."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    same = toleration["key"] == taint["key"]
    return same and (toleration.get("operator") == "Exists" or toleration.get("value") == taint.get("value"))


def shown(name: str, amount: float) -> str:
    """Return an amount in human-readable form."""
    return f"{amount / 2**30:.1f}Gi" if name in ("memory", "ephemeral-storage") else f"{amount:g}"


def total(settings: Settings) -> Amounts:
    """Return the total requests of all pods of a training."""
    found: Amounts = {}
    for one in planned_pods(settings):
        for name, amount in one.requests.items():
            found[name] = found.get(name, 0.0) + amount
    return found


def over_quota(settings: Settings, quotas: Sequence[Object]) -> str:
    """Return which ResourceQuota the training exceeds, or "" if none."""
    need, limits = total(settings), limit_total(settings)
    for quota in quotas:
        hard = amounts(quota.get("status", {}).get("hard", quota["spec"].get("hard", {})))
        used = amounts(quota.get("status", {}).get("used", {}))
        for name, most in hard.items():
            needed = limits.get(name.removeprefix("limits.")) if name.startswith("limits.") else need.get(
                name.removeprefix("requests.")
            )  # fmt: skip
            left = most - used.get(name, 0.0)
            if needed and needed > left + 1e-9:
                plain = name.removeprefix("requests.").removeprefix("limits.")
                return (
                    f"quota {quota['metadata']['name']} leaves {shown(plain, max(0.0, left))} of {name}, the training "
                    f"requests {shown(plain, needed)}"
                )
    return ""


def limit_total(settings: Settings) -> Amounts:
    """Return the total limits of all pods of a training."""
    groups = [(settings.head, 1), *((group, pods_of(settings, group)) for group in settings.groups.values())]
    found = {"cpu": 0.0, "memory": 0.0}
    for pod, count in groups:
        found["cpu"] += pod.cpus * count
        found["memory"] += quantity(pod.memory) * count
    return found


def queue_lacks(settings: Settings, cluster_queue: Object) -> str:
    """Return which resource of the training exceeds the nominal quota of a ClusterQueue, or "" if none."""
    most: Amounts = {}
    for group in cluster_queue["spec"].get("resourceGroups", ()):
        for flavor in group["flavors"]:
            for one in flavor["resources"]:
                most[one["name"]] = most.get(one["name"], 0.0) + quantity(str(one["nominalQuota"]))
    for name, amount in total(settings).items():
        if name != "pods" and amount > most.get(name, 0.0) + 1e-9:
            has = shown(name, most[name]) if name in most else "none"
            return (
                f"cluster queue {cluster_queue['metadata']['name']} has {has} of {name}, the training requests "
                f"{shown(name, amount)}"
            )
    return ""
