"""Checks whether the pods of a training fit the nodes and the quotas of a namespace. Plain data in, text out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ante.deploy.access import Object
from ante.deploy.placement import pods_of
from ante.deploy.settings import Settings, quantity
from ante.deploy.spec import cluster_spec, submitter

Amounts = dict[str, float]


@dataclass
class Room:
    """Free resources of one node."""

    name: str
    labels: dict[str, str]
    taints: list[Object]
    free: Amounts
    most: Amounts


@dataclass(frozen=True)
class Wanted:
    """A pod to place."""

    part: str
    asks: Amounts
    selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Object, ...] = ()


def amounts(found: Object) -> Amounts:
    """Quantities as numbers: cores, bytes, pieces."""
    return {name: quantity(str(amount)) for name, amount in found.items()}


def pod_asks(pod: Object) -> Amounts:
    """What the scheduler keeps free for a pod: its containers together, or its largest init container."""
    total: Amounts = {"pods": 1.0}
    for container in pod["containers"]:
        for name, amount in amounts(container.get("resources", {}).get("requests", {})).items():
            total[name] = total.get(name, 0.0) + amount
    for container in pod.get("initContainers", ()):
        for name, amount in amounts(container.get("resources", {}).get("requests", {})).items():
            total[name] = max(total.get(name, 0.0), amount)
    return total


def rooms(nodes: Sequence[Object], pods: Sequence[Object]) -> list[Room]:
    """Nodes that take pods, less what the pods that run there keep."""
    found = {}
    for node in nodes:
        if node.get("spec", {}).get("unschedulable"):
            continue
        most = amounts(node["status"]["allocatable"])
        name, labels = node["metadata"]["name"], node["metadata"].get("labels", {})
        found[name] = Room(name, labels, node.get("spec", {}).get("taints", []), dict(most), most)
    for pod in pods:
        room = found.get(pod["spec"].get("nodeName", ""))
        if room and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            take(room, pod_asks(pod["spec"]))
    return list(found.values())


def take(room: Room, asks: Amounts) -> None:
    """Place the pod on the node."""
    for name, amount in asks.items():
        room.free[name] = room.free.get(name, 0.0) - amount


def wanted_pods(settings: Settings) -> list[Wanted]:
    """Pods of a training, the largest first; of a group as many as the run is planned for."""
    spec = cluster_spec(settings)
    found = [wanted("head", spec["headGroupSpec"]["template"]["spec"])]
    for group in spec["workerGroupSpecs"]:
        name = group["groupName"]
        one = wanted(f"{name}Workers", group["template"]["spec"])
        found += [one] * pods_of(settings, settings.groups[name])
    if settings.job.enabled:
        found.append(wanted("submitter", submitter(settings)["spec"]))
    return sorted(found, key=lambda one: (-sum("/" in name for name in one.asks), -one.asks.get("memory", 0.0)))


def wanted(part: str, pod: Object) -> Wanted:
    """Return one pod to place."""
    return Wanted(part, pod_asks(pod), pod.get("nodeSelector", {}), tuple(pod.get("tolerations", ())))


def does_not_fit(settings: Settings, free: list[Room]) -> str:
    """Why the pods find no nodes, in a sentence; empty where all do. Each goes where the least is left over."""
    for number, one in enumerate(pods := wanted_pods(settings)):
        allowed = [room for room in free if admits(room, one)]
        fitting = [room for room in allowed if not lacking(room.free, one.asks)]
        if not fitting:
            before = sum(other.part == one.part for other in pods[:number])
            count = sum(other.part == one.part for other in pods)
            return f"{one.part} {before + 1} of {count} finds no node: {reason(free, allowed, one)}"
        take(min(fitting, key=lambda room: room.free.get("memory", 0.0)), one.asks)
    return ""


def reason(free: list[Room], allowed: list[Room], one: Wanted) -> str:
    """Return why no node fits one pod."""
    if not free:
        return "there is no node that takes pods"
    if not allowed:
        chosen = ", ".join(f"{key}={value}" for key, value in one.selector.items())
        return f"no node has {chosen} and taints that it tolerates" if chosen else "it tolerates no node's taints"
    for name, amount in one.asks.items():
        most = max(room.most.get(name, 0.0) for room in allowed)
        if most < amount:
            has = f"the largest node has {shown(name, most)}" if most else "no node has any"
            return f"it asks for {shown(name, amount)} of {name}, {has}"
    best = min(allowed, key=lambda room: len(lacking(room.free, one.asks)))
    parts = [
        f"{shown(name, one.asks[name])} of {name} ({shown(name, max(0.0, best.free.get(name, 0.0)))} free on {best.name})"
        for name in lacking(best.free, one.asks)
    ]
    return f"it asks for {' and '.join(parts)}"


def lacking(free: Amounts, asks: Amounts) -> list[str]:
    """Return the resources that are insufficient."""
    return [name for name, amount in asks.items() if free.get(name, 0.0) + 1e-9 < amount]


def admits(room: Room, one: Wanted) -> bool:
    """Return whether the pod matches a node's labels and taints."""
    if any(room.labels.get(key) != value for key, value in one.selector.items()):
        return False
    hard = [taint for taint in room.taints if taint["effect"] in ("NoSchedule", "NoExecute")]
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
    for one in wanted_pods(settings):
        for name, amount in one.asks.items():
            found[name] = found.get(name, 0.0) + amount
    return found


def over_quota(settings: Settings, quotas: Sequence[Object]) -> str:
    """Which ResourceQuota leaves too little, in a sentence; empty where all suffice."""
    need, limits = total(settings), limit_total(settings)
    for quota in quotas:
        hard = amounts(quota.get("status", {}).get("hard", quota["spec"].get("hard", {})))
        used = amounts(quota.get("status", {}).get("used", {}))
        for name, most in hard.items():
            wants = limits.get(name.removeprefix("limits.")) if name.startswith("limits.") else need.get(
                name.removeprefix("requests.")
            )  # fmt: skip
            left = most - used.get(name, 0.0)
            if wants and wants > left + 1e-9:
                plain = name.removeprefix("requests.").removeprefix("limits.")
                return (
                    f"quota {quota['metadata']['name']} leaves {shown(plain, max(0.0, left))} of {name}, the training asks "
                    f"for {shown(plain, wants)}"
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
    """What a queue of Kueue can never give, in a sentence; empty where it can."""
    most: Amounts = {}
    for group in cluster_queue["spec"].get("resourceGroups", ()):
        for flavor in group["flavors"]:
            for one in flavor["resources"]:
                most[one["name"]] = most.get(one["name"], 0.0) + quantity(str(one["nominalQuota"]))
    for name, amount in total(settings).items():
        if name != "pods" and amount > most.get(name, 0.0) + 1e-9:
            has = shown(name, most[name]) if name in most else "none"
            return (
                f"cluster queue {cluster_queue['metadata']['name']} has {has} of {name}, the training asks for "
                f"{shown(name, amount)}"
            )
    return ""
