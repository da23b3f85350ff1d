"""Placement of the work on pods, validated before any pod is created.

Env runners and learners are Ray actors. Each pod offers one unit of `ante_runner` or `ante_learner` per planned actor,
and each actor requires one unit. Ray can therefore place the actors only as planned here.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ante.deploy.blocks import GpuWorkers, Workers, quantity
from ante.deploy.settings import BadSettings, Settings, merged
from ante.training.settings.config import BadConfig, make_config
from ante.training.settings.values import has
from ante.training.sweeps.spec import make_sweep

RUNNER, LEARNER = "ante_runner", "ante_learner"  # Ray resources
GAMES_PER_CORE = 64
LEARNER_CPUS = 1  # cores that a learner uses, whether or not Ray counts them
RUNNER_MEMORY, LEARNER_MEMORY, RAY_MEMORY = 0.5e9, 1.5e9, 0.4e9  # bytes, resident; `import torch` alone is 0.5e9
DATA = "/var/lib/ante"  # mount path of a pod's volume for runs, caches and home directory
OWN = {  # settings of `ante train` that are derived from the cluster, and what to set instead
    "name": "training.name", "runs": "", "store": "s3", "resume": "",
    "resources.runners": "gpuWorkers.runnersPerWorker and cpuWorkers.runnersPerWorker",
    "resources.games_per_runner": "training.gamesPerRunner",
    "resources.runner_cpus": "training.runnerCpus", "resources.runner_gpus": "training.runnerGpus",
    "resources.learners": "training.learners", "resources.learner_gpus": "training.learnerGpus",
    "resources.runner_resource": "", "resources.learner_resource": "", "resources.memory_gb": "head.memory",
    "tracking.metrics_port": "training.metricsPort",
}  # fmt: skip
DERIVED_KEYS = {  # of the files of sweeps and comparisons, and what to set instead
    "sweep": {
        "name": "training.name", "runs": "training.name", "store": "s3", "parallel": "training.learners",
        "config": "training.config", "settings": "training.config",
    },
    "compare": {
        "store": "s3", "config": "training.config", "settings": "training.config",
        "seed_file": "training.compare.eval_games",
    },
}  # fmt: skip


class DoesNotFit(BadSettings):
    """The actors do not fit the pods."""


@dataclass(frozen=True)
class Load:
    """The actors of one pod of a group."""

    group: str
    pods: int
    runners: int
    learners: int


@dataclass(frozen=True)
class Plan:
    """The placement of a whole run."""

    loads: tuple[Load, ...]
    games: int  # per runner
    learners: int

    @property
    def runners(self) -> int:
        """Number of env runners in all pods."""
        return sum(load.pods * load.runners for load in self.loads)

    def load(self, group: str) -> Load:
        """Return the actors of one pod of a group."""
        return next(load for load in self.loads if load.group == group)


def block_of(group: str) -> str:
    """Return the block of values.yaml that describes a group."""
    return f"{group}Workers" if group in ("gpu", "cpu") else f"extraWorkers.{group}"


def pods_of(settings: Settings, group: Workers) -> int:
    """Return the planned number of pods: with autoscaling the maximum, else the replicas."""
    return group.max_replicas if settings.autoscaling.enabled else group.replicas


def gpus_of(group: Workers) -> int:
    """Return the number of GPUs per pod."""
    return group.gpus if isinstance(group, GpuWorkers) else 0


def learner_group(settings: Settings) -> str:
    """Return the name of the group that runs the learners."""
    return next(iter(settings.groups), "")


def learners_per_pod(settings: Settings, name: str) -> int:
    """Return the number of learners per pod of a group."""
    pods = pods_of(settings, settings.groups[name])
    return math.ceil(settings.training.learners / pods) if name == learner_group(settings) and pods else 0


def runners_per_pod(settings: Settings, name: str) -> int:
    """Return the number of env runners per pod: the configured one, or as many as fit in addition to the learners."""
    group, training = settings.groups[name], settings.training
    if group.runners_per_worker != "auto":
        return int(group.runners_per_worker)
    learners = learners_per_pod(settings, name)
    fits = math.floor((group.cpus - learners * LEARNER_CPUS) / training.runner_cpus + 1e-6)
    if training.runner_gpus:
        left = gpus_of(group) - learners * training.learner_gpus
        fits = min(fits, math.floor(left / training.runner_gpus + 1e-6))
    return max(0, fits)


def make_plan(settings: Settings) -> Plan:
    """Return the placement without validation."""
    training = settings.training
    loads = tuple(
        Load(name, pods_of(settings, group), runners_per_pod(settings, name), learners_per_pod(settings, name))
        for name, group in settings.groups.items()
    )
    games = training.games_per_runner
    if games == "auto":
        games = GAMES_PER_CORE * max(1, math.floor(training.runner_cpus))
    return Plan(loads, games, training.learners)


def train_values(settings: Settings) -> dict[str, Any]:
    """Return the settings of `ante train` in the cluster: the user's, and those derived from the groups.

    Several runs at a time divide the env runners. A trial of a sweep learns in its own process, in a learner's place.
    """
    plan, training = make_plan(settings), settings.training
    several = training.sweep or training.compare
    learners = 0 if training.sweep else 1 if training.compare else training.learners
    resources = {
        "runners": plan.runners // max(1, training.learners) if several else plan.runners,
        "games_per_runner": plan.games,
        "runner_cpus": training.runner_cpus, "runner_gpus": training.runner_gpus, "runner_resource": RUNNER,
        "learners": learners, "learner_gpus": training.learner_gpus, "learner_resource": LEARNER,
        "memory_gb": 0,
    }  # fmt: skip
    own: dict[str, Any] = {"runs": f"{DATA}/runs", "resources": resources}
    if training.metrics_port:
        own["tracking"] = {"metrics_port": training.metrics_port, "metrics_host": "0.0.0.0"}
    return merged(training.config, own)


def sweep_values(settings: Settings) -> dict[str, Any]:
    """Return the keys of a sweep's file, except the shared settings: the user's, and those derived from the cluster."""
    own = {
        "name": settings.run,
        "runs": f"{DATA}/runs",
        "store": settings.s3.url,
        "parallel": settings.training.learners,
    }
    return {**settings.training.sweep, **own}


def problems(settings: Settings) -> list[str]:
    """Return a sentence for each reason why these settings cannot run."""
    found = [*group_problems(settings), *share_problems(settings), *whole_problems(settings)]
    return found or list(training_problems(settings))


def check_fits(settings: Settings) -> Plan:
    """Return the plan of valid settings. Raises DoesNotFit with all reasons."""
    found = problems(settings)
    if found:
        raise DoesNotFit("these settings cannot run: " + "; ".join(found))
    return make_plan(settings)


def group_problems(settings: Settings) -> Iterator[str]:
    """Yield the problems of single pods and of replica counts."""
    pods = {"head": settings.head, **{block_of(name): group for name, group in settings.groups.items()}}
    for name, pod in pods.items():
        memory, store = quantity(pod.memory), pod.object_store_mib * 2**20
        if pod.cpu_request and quantity(pod.cpu_request) > pod.cpus:
            yield f"{name}.cpuRequest {pod.cpu_request} is more than the limit, {name}.cpus {pod.cpus}"
        if pod.memory_request and quantity(pod.memory_request) > memory:
            yield f"{name}.memoryRequest {pod.memory_request} is more than the limit, {name}.memory {pod.memory}"
        if store > 0.6 * memory:
            yield (
                f"{name}.objectStoreMib {pod.object_store_mib} is more than 60 % of {name}.memory {pod.memory}, "
                "which includes it: processes would be killed"
            )
    for name, group in settings.groups.items():
        if not settings.autoscaling.enabled:
            continue
        if group.min_replicas > group.max_replicas:
            yield f"{block_of(name)}.minReplicas {group.min_replicas} is more than maxReplicas {group.max_replicas}"
        elif not group.min_replicas <= group.replicas <= group.max_replicas:
            yield f"{block_of(name)}.replicas {group.replicas} is not between minReplicas and maxReplicas"


def share_problems(settings: Settings) -> Iterator[str]:
    """Yield why actors do not fit into one pod: each actor alone, then all actors together."""
    training = settings.training
    for share, what in ((training.runner_gpus, "runnerGpus"), (training.learner_gpus, "learnerGpus")):
        if share > 1 and share != int(share):
            yield f"training.{what} {share} is not supported by Ray: use a share below 1, or whole GPUs"
    for load in make_plan(settings).loads:
        group = settings.groups[load.group]
        yield from cpu_problems(settings, load, group)
        yield from gpu_problems(settings, load, group)
        yield from memory_problems(load, group)


def cpu_problems(settings: Settings, load: Load, group: Workers) -> Iterator[str]:
    """Yield problems with the cores of one pod."""
    name, cpus = block_of(load.group), settings.training.runner_cpus
    if load.runners and cpus > group.cpus:
        yield f"an env runner needs {cpus:g} cores, a pod of {name} has {group.cpus}: lower training.runnerCpus"
        return
    need = load.runners * cpus + load.learners * LEARNER_CPUS
    if need > group.cpus + 1e-6:
        yield (
            f"{load.runners} runners x {cpus:g} cores and {load.learners} learners x {LEARNER_CPUS} need {need:g} cores, "
            f"a pod of {name} has {group.cpus}: lower {name}.runnersPerWorker"
        )


def gpu_problems(settings: Settings, load: Load, group: Workers) -> Iterator[str]:
    """Yield problems with the GPUs of one pod."""
    name, training, gpus = block_of(load.group), settings.training, gpus_of(group)
    if load.runners and training.runner_gpus > gpus:
        yield (
            f"an env runner needs {training.runner_gpus:g} of a GPU, a pod of {name} has {gpus}: "
            f"set training.runnerGpus 0 or {name}.runnersPerWorker 0"
        )
        return
    if load.learners and training.learner_gpus > gpus:
        yield f"a learner needs {training.learner_gpus:g} GPU, a pod of {name} has {gpus}: lower training.learnerGpus"
        return
    need = load.runners * training.runner_gpus + load.learners * training.learner_gpus
    if need > gpus + 1e-6:
        yield (
            f"{load.runners} runners x {training.runner_gpus:g} GPU and {load.learners} learners x "
            f"{training.learner_gpus:g} need {need:g} GPUs, a pod of {name} has {gpus}: lower {name}.runnersPerWorker"
        )


def memory_problems(load: Load, group: Workers) -> Iterator[str]:
    """Yield problems with the memory of one pod."""
    need = load.runners * RUNNER_MEMORY + load.learners * LEARNER_MEMORY + RAY_MEMORY + group.object_store_mib * 2**20
    if need > quantity(group.memory):
        yield (
            f"{load.runners} runners, {load.learners} learners and the object store need about {need / 2**30:.1f}Gi, a pod "
            f"of {block_of(load.group)} has {group.memory}: raise its memory or lower its runnersPerWorker"
        )


def whole_problems(settings: Settings) -> Iterator[str]:
    """Yield problems of the cluster as a whole."""
    plan, training = make_plan(settings), settings.training
    if not settings.groups or not sum(load.pods for load in plan.loads):
        yield "the cluster has no worker pod: enable gpuWorkers or cpuWorkers with replicas"
        return
    home = learner_group(settings)
    if not training.learners:
        yield "training.learners 0 would train in the head, which offers neither cores nor GPUs: set at least 1"
    elif not plan.load(home).pods:
        yield f"{training.learners} learners need pods of {block_of(home)}, which has none: raise its replicas"
    elif getattr(settings.groups[home], "spot", False):
        yield (
            "the learner would run on spot pods, and each preemption stops the training: "
            f"set {block_of(home)}.spot false"
        )
    if training.sweep and training.compare:
        yield "training.sweep and training.compare are both set: remove one"
    if training.compare and training.metrics_port and training.learners > 1:
        yield "training.metricsPort serves one run, and training.compare has several at a time: set training.metricsPort 0, or training.learners 1"
    if not plan.runners and not training.sweep:
        yield "the cluster has no env runner: raise cpus or runnersPerWorker of a group"
    if settings.queue.name and settings.autoscaling.enabled:
        yield f"queue {settings.queue.name} admits a workload as a whole, but autoscaling changes it: disable one"
    if settings.queue.priority_class and not settings.queue.name:
        yield "queue.priorityClass needs queue.name"


def training_problems(settings: Settings) -> Iterator[str]:
    """Yield the first setting that `ante train` would reject."""
    for path, instead in OWN.items():
        if has(settings.training.config, path):
            yield f"training.config.{path} is derived from the cluster" + (
                f": set {instead} instead" if instead else ""
            )
            return
    for kind, keys in DERIVED_KEYS.items():
        for key in sorted(keys.keys() & getattr(settings.training, kind).keys()):
            yield f"training.{kind}.{key} is derived from the cluster: set {keys[key]} instead"
            return
    try:
        if settings.training.sweep:
            make_sweep(sweep_values(settings), train_values(settings), "training.sweep")
        else:
            make_config(train_values(settings))
    except BadConfig as error:
        cause, mark, way_out = str(error).partition("; ")
        for path, instead in OWN.items():
            way_out = re.sub(rf"\b{re.escape(path)}\b", instead or path, way_out) if "." in path else way_out
        yield f"training.config: {cause}{mark}{way_out}"
