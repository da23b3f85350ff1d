"""Creation, listing, inspection, suspension and deletion of trainings in a namespace."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from ante.deploy.access import Access, NoCluster, NotThere, Object, Rejected
from ante.deploy.blocks import COMPONENTS
from ante.deploy.capacity import hourly_cost
from ante.deploy.spec import QUEUE_LABEL
from ante.errors import BalatroError

SELECTOR = "app.kubernetes.io/name=ante"
INSTANCE = "app.kubernetes.io/instance"
COMPONENT = "app.kubernetes.io/component"
SERVICES = frozenset(COMPONENTS) - {"head", "gpu", "cpu", "submitter"}
CONTAINERS = {"head": "ray-head", "submitter": "ray-job-submitter"}  # by part; of workers ray-worker
DASHBOARD_PORT = 8265
KINDS_OF_TRAINING = ("RayJob", "RayCluster", "ConfigMap", "ServiceAccount")  # in the order of deletion
SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "finalizers")
ENDED = ("Complete", "Failed")
FOLLOW_SECONDS = 1.0  # between two looks at the pods and the state of a training whose log is followed
OUTAGE_SECONDS = 300.0  # without a response of the API server, after which a log is no longer followed
SUSPENDED = ("suspended", "Suspended")  # of a RayCluster, of a RayJob


class ManagedByHelm(BalatroError, ValueError):
    """Helm manages an object."""


@dataclass(frozen=True)
class PodState:
    """One pod of a training."""

    name: str
    part: str  # head, gpu, cpu, submitter, or a group of extraWorkers
    phase: str
    ready: bool
    restarts: int
    node: str
    why: str  # why it is not running
    begun: float  # in seconds since 1970


@dataclass(frozen=True)
class Training:
    """A RayJob, or a RayCluster for submitted jobs. `begun` is in seconds since 1970."""

    name: str
    namespace: str
    kind: str
    state: str
    reason: str
    cluster: str  # its RayCluster, empty if none
    begun: float
    failed: int  # failed attempts of the RayJob
    suspended: bool
    entrypoint: str
    job_status: str  # Ray's status: PENDING, RUNNING, SUCCEEDED or FAILED
    hourly: float  # price of its pods for an hour, 0 without prices
    cost: float  # of the present attempt so far, or of the last one
    currency: str

    @property
    def spent(self) -> str:
        """Cost and price for an hour, empty without prices."""
        return f"{self.cost:,.2f} {self.currency} ({self.hourly:,.2f} per hour)" if self.hourly else ""

    def as_json(self) -> Object:
        """Return the training as plain data."""
        return asdict(self)


def training_of(found: Object) -> Training:
    """Return the fields of an object of KubeRay."""
    status, spec, about = found.get("status", {}), found["spec"], found["metadata"]
    job = found["kind"] == "RayJob"
    state = (status.get("jobDeploymentStatus") if job else status.get("state")) or "New"
    begun, (hourly, currency) = seconds_of(about.get("creationTimestamp")), hourly_cost(found)
    first = seconds_of(status.get("startTime")) if job else begun
    last = seconds_of(status.get("endTime")) or time.time()
    hours = max(0.0, last - first) / 3600 if first and state not in SUSPENDED else 0.0
    return Training(
        about["name"], about["namespace"], found["kind"], state,
        status.get("message") or status.get("reason") or "",
        (status.get("rayClusterName") or "") if job else about["name"],
        begun, int(status.get("failed") or 0), bool(spec.get("suspend")),
        spec.get("entrypoint", ""), status.get("jobStatus", ""), hourly, hours * hourly, currency,
    )  # fmt: skip


def seconds_of(time: str | None) -> float:
    """Return a timestamp of Kubernetes in seconds since 1970, 0 if there is none."""
    return datetime.fromisoformat(time).timestamp() if time else 0.0


def trainings(access: Access, everywhere: bool = False) -> list[Training]:
    """Return the trainings of the namespace, or of all namespaces, without the RayClusters of RayJobs."""
    namespace = "" if everywhere else None
    jobs = [training_of(found) for found in access.list("RayJob", namespace, SELECTOR)]
    theirs = {(job.namespace, job.cluster) for job in jobs}
    clusters = [
        training_of(found)
        for found in access.list("RayCluster", namespace, SELECTOR)
        if not owned(found)
    ]  # fmt: skip
    return jobs + [one for one in clusters if (one.namespace, one.name) not in theirs]


def owned(found: Object) -> bool:
    """Return whether the object belongs to a RayJob."""
    return any(owner["kind"] == "RayJob" for owner in found["metadata"].get("ownerReferences", ()))


def training(access: Access, name: str) -> Training:
    """Return a training by name. Raises NotThere, which lists the existing ones."""
    for kind in ("RayJob", "RayCluster"):
        if found := access.find(kind, name):
            return training_of(found)
    known = ", ".join(one.name for one in trainings(access)) or "none; ante cluster submit starts one"
    raise NotThere(f"no training {name!r} in namespace {access.namespace}; existing: {known}")


def pods(access: Access, name: str) -> list[PodState]:
    """Return the pods of a training, the head first, without those of services."""
    found = access.list("Pod", labels=f"{INSTANCE}={name}")
    states = [pod for pod in map(pod_state, found) if pod.part and pod.part not in SERVICES]
    return sorted(states, key=lambda pod: (pod.part != "head", pod.part, pod.begun, pod.name))


def pod_state(pod: Object) -> PodState:
    """Return the fields of a pod."""
    status, about = pod.get("status", {}), pod["metadata"]
    containers = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    conditions = {one["type"]: one for one in status.get("conditions", ())}
    phase = "Terminating" if about.get("deletionTimestamp") else status.get("phase", "Unknown")
    return PodState(
        about["name"], about.get("labels", {}).get(COMPONENT, ""), phase,
        conditions.get("Ready", {}).get("status") == "True",
        sum(int(one.get("restartCount", 0)) for one in containers),
        pod.get("spec", {}).get("nodeName", ""), why(conditions, containers, status),
        seconds_of(about.get("creationTimestamp")),
    )  # fmt: skip


def why(conditions: dict[str, Any], containers: list[Any], status: Object) -> str:
    """Return why a pod is not running: scheduling, its image, a Secret, or a failed container."""
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return str(scheduled.get("message") or scheduled.get("reason") or "not scheduled")
    for one in containers:
        waiting = one.get("state", {}).get("waiting")
        if waiting and waiting.get("reason") not in ("PodInitializing", "ContainerCreating"):
            return f"{one['name']}: {waiting['reason']} {waiting.get('message', '')}".strip()
        for state in (one.get("state", {}), one.get("lastState", {})):
            ended = state.get("terminated")
            if ended and ended.get("exitCode"):
                return f"{one['name']}: exited with code {ended['exitCode']} ({ended.get('reason', 'Error')})"
    return str(status.get("message") or "")


def head_pod(access: Access, name: str) -> str:
    """Return the name of the running head pod. Raises NotThere, with the reason if there is none."""
    heads = [pod for pod in pods(access, name) if pod.part == "head" and pod.phase != "Terminating"]
    running = [pod for pod in heads if pod.phase == "Running" and pod.ready]
    if running:
        return running[-1].name
    state = f"is {heads[-1].phase} {heads[-1].why}".strip() if heads else "does not exist"
    raise NotThere(f"the head of {name} {state}: see ante cluster status {name}")


def started(access: Access, name: str, part: str) -> list[str]:
    """Return the names of the pods of one part that have a log, oldest first."""
    return [pod.name for pod in pods(access, name) if pod.part == part and pod.phase != "Pending"]


def container_of(part: str) -> str:
    """Return the name of the main container of a pod of this part, which may have others, such as the autoscaler."""
    return CONTAINERS.get(part, "ray-worker")


def follow_pods(
    access: Access, name: str, part: str, tail: int | None, since: int | None, report: Callable[[str], None]
) -> Iterator[str]:
    """Yield the log lines of the pods of one part as one stream until the training ends, also those of later pods.

    report  receives the state of the training when it changes and no pod has a log to follow

    Raises NotThere, also when the training is deleted, NotAllowed, and NoCluster after OUTAGE_SECONDS without a response.
    """
    lines: SimpleQueue[str | BalatroError] = SimpleQueue()
    readers: dict[str, Thread] = {}
    told = ""
    persistent = Retrying(
        retry=retry_if_exception_type(NoCluster),
        stop=stop_after_delay(OUTAGE_SECONDS),
        wait=wait_fixed(FOLLOW_SECONDS),
        reraise=True,
    )
    while True:
        state = persistent(training, access, name).state
        for pod in persistent(started, access, name, part):
            if pod not in readers:
                arguments = (access, pod, container_of(part), tail, since, lines.put)
                readers[pod] = Thread(target=read_log, args=arguments, daemon=True)
                readers[pod].start()
        silent = True
        with suppress(Empty):
            while True:
                line = lines.get(timeout=FOLLOW_SECONDS)
                if isinstance(line, BalatroError):
                    raise line
                yield line
                silent = False
        if silent and state in ENDED:
            return
        if silent and state != told and not any(reader.is_alive() for reader in readers.values()):
            report(f"{name} is {state}")
            told = state


def read_log(
    access: Access,
    pod: str,
    container: str,
    tail: int | None,
    since: int | None,
    write: Callable[[str | BalatroError], None],
) -> None:
    """Follow the log of a pod to its end, over lost connections and restarts of its container: each line once.

    write  receives the lines, and at the end the error if the log may not be read
    """
    try:
        for line in lines_of(access, pod, container, tail, since):
            write(line)
    except BalatroError as error:
        write(error)


def lines_of(access: Access, pod: str, container: str, tail: int | None, since: int | None) -> Iterator[str]:
    """Yield the lines for `read_log`. Raises NotAllowed."""
    last, ended = "", False
    while not ended:
        ended = ended_pod(access, pod)  # before it is read, so that nothing is missing at its end
        begin = last
        with suppress(Rejected, NoCluster):  # its container does not run yet, or the connection is lost
            try:
                for line in access.logs(pod, not ended, container, tail=tail, since=since, times=True):
                    stamp, _, words = line.partition(" ")
                    if stamp > begin:
                        yield words
                        last = stamp
            except NotThere:
                return
        tail, since = (None, None) if last else (tail, since)
        if not ended:
            time.sleep(FOLLOW_SECONDS)


def ended_pod(access: Access, pod: str) -> bool:
    """Return whether a pod has ended, so that its log is complete."""
    with suppress(NoCluster):
        found = access.find("Pod", pod)
        return found is None or found.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return False


def make(access: Access, found: list[Object]) -> Iterator[str]:
    """Create the objects in order; a RayJob that has ended is replaced.

    Raises ManagedByHelm for those that Helm manages, and BalatroError for a RayJob that has not ended.
    """
    before = [access.find(one["kind"], one["metadata"]["name"]) for one in found]
    for one in before:
        check_not_helm(one)
    for one in before:
        if one and one["kind"] == "RayJob":
            delete_ended(access, one)
    for one in found:
        access.apply(one)
        yield f"{one['kind']} {one['metadata']['name']}"


def check_not_helm(found: Object | None) -> None:
    """Raise ManagedByHelm if Helm manages the object, because Helm would revert other changes."""
    if found and (release := found["metadata"].get("annotations", {}).get("meta.helm.sh/release-name")):
        raise ManagedByHelm(
            f"{found['kind']} {found['metadata']['name']} belongs to Helm's release {release}: use helm upgrade "
            f"{release}, or helm uninstall {release}"
        )


def delete_training(access: Access, name: str, seconds: float, report: Callable[[str], None]) -> bool:
    """Delete all objects and pods of a training; the bucket is not changed.

    Returns False if a deletion is still in progress after this many seconds. Raises ManagedByHelm, NotThere.
    """
    found = [one for kind in KINDS_OF_TRAINING for one in access.list(kind, labels=f"{SELECTOR},{INSTANCE}={name}")]
    if not found:
        raise NotThere(f"no training {name!r} in namespace {access.namespace}; ante cluster ls lists the existing ones")
    for one in found:
        check_not_helm(one)
    mine = [one for one in found if not (one["kind"] == "RayCluster" and owned(one))]
    for one in mine:
        access.delete(one["kind"], one["metadata"]["name"])
        report(f"{one['kind']} {one['metadata']['name']}")
    end = time.monotonic() + seconds
    for one in found:
        if not access.wait_gone(one["kind"], one["metadata"]["name"], max(0.0, end - time.monotonic())):
            return False
    while pods(access, name):
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def suspend_training(access: Access, name: str, seconds: float) -> bool:
    """Suspend a training: its pods write a checkpoint and are deleted; the object stays. Raises NotThere, ManagedByHelm.

    Returns False if pods still exist after this many seconds.
    """
    now = training(access, name)
    found = controlled(access, now)
    if now.state in ENDED:
        raise BalatroError(f"training {name} is {now.state}: ante cluster down {name} deletes it")
    whole_deletion = without_rules(found) if now.kind == "RayJob" else {}
    access.merge(now.kind, name, {"spec": {**whole_deletion, "suspend": True}})
    end = time.monotonic() + seconds
    while pods(access, name) or training(access, name).state not in SUSPENDED:
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def release_at_end(access: Access, name: str) -> None:
    """Let KubeRay delete the whole cluster of a RayJob that ends, however it ends. Raises ManagedByHelm, NotThere.

    Its deletion rules do not apply to a job that was stopped.
    """
    found = controlled(access, training(access, name))
    access.merge("RayJob", name, {"spec": without_rules(found)})


def controlled(access: Access, now: Training) -> Object:
    """Return the object of a training. Raises ManagedByHelm, and BalatroError if Kueue suspends and resumes it."""
    found = access.get(now.kind, now.name)
    check_not_helm(found)
    if queue := found["metadata"].get("labels", {}).get(QUEUE_LABEL):
        raise BalatroError(
            f"queue {queue} suspends and resumes {now.kind} {now.name}: stop its workload (kubectl kueue stop workload), "
            f"or delete the training with ante cluster down {now.name}"
        )
    return found


def without_rules(found: Object) -> Object:
    """Return changes of a RayJob by which KubeRay deletes its whole cluster, which suspension requires."""
    rules = (found["spec"].get("deletionStrategy") or {}).get("deletionRules", ())
    delays = [rule["condition"].get("ttlSeconds", 0) for rule in rules]
    delay = min(delays, default=found["spec"].get("ttlSecondsAfterFinished", 0))
    return {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": delay, "deletionStrategy": None}


def resume_training(access: Access, name: str, arguments: str = "", seconds: float = 180) -> str:
    """Resume a suspended, failed or finished training from the store. Returns a description. Raises NotThere."""
    now = training(access, name)
    found = access.get(now.kind, name)
    check_not_helm(found)
    if arguments and now.kind == "RayCluster":
        raise BalatroError(
            f"{name} is a RayCluster, whose jobs have their own settings: leave out {arguments}, and give it to ante cluster submit"
        )
    if arguments and not now.entrypoint.startswith("ante train "):
        raise BalatroError(f"{name} is a sweep or a comparison, whose file sets the steps: leave out {arguments}")
    command = {"entrypoint": f"{now.entrypoint} {arguments}"} if arguments else {}
    if now.suspended:
        controlled(access, now)
        access.merge(now.kind, name, {"spec": {"suspend": False, **command}})
        return "is no longer suspended"
    if now.state not in ENDED:
        raise BalatroError(
            f"training {name} is {now.state} and cannot be resumed; ante cluster logs {name} -f follows it"
        )
    again = without_server_fields(found)
    again["spec"] |= command
    delete_job(access, name, seconds)
    access.apply(again)
    return "resumes from its newest checkpoint"


def delete_ended(access: Access, job: Object, seconds: float = 180) -> None:
    """Delete the RayJob of a training that has ended. Raises BalatroError if it has not."""
    now = training_of(job)
    if now.state not in ENDED:
        then = f"resume {now.name} continues it" if now.suspended else f"cancel {now.name} stops it"
        raise BalatroError(
            f"training {now.name} is {now.state} already, and its settings cannot change: ante cluster {then}"
        )
    delete_job(access, now.name, seconds)


def delete_job(access: Access, name: str, seconds: float) -> None:
    """Delete a RayJob and wait until it is gone. Raises BalatroError if it is not after this many seconds."""
    access.delete("RayJob", name)
    if not access.wait_gone("RayJob", name, seconds):
        raise BalatroError(f"RayJob {name} is not deleted after {seconds:.0f} s: see ante cluster status {name}")


def without_server_fields(found: Object) -> Object:
    """Return an object as it was submitted, without what the API server and KubeRay added."""
    about = {key: value for key, value in found["metadata"].items() if key not in SERVER_FIELDS}
    spec = {key: value for key, value in found["spec"].items() if key not in ("jobId", "suspend")}
    return {"apiVersion": "ray.io/v1", "kind": found["kind"], "metadata": about, "spec": spec}


def age(since: float) -> str:
    """Return the elapsed time in kubectl's format."""
    seconds = max(0, int(datetime.now(UTC).timestamp() - since))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
