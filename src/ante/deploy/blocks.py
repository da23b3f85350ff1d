"""Blocks of values.yaml: pods of a Ray cluster, a platform that several trainings share, jobs and security."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, field_validator, model_validator
from pydantic.alias_generators import to_camel

from ante.training.settings.field import Settings as Checked

NAME = r"^([a-z0-9]([a-z0-9-]{0,19}[a-z0-9])?)?$"
QUANTITY = re.compile(r"^(\d+(?:\.\d+)?)(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$")
FACTORS = {None: 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
           "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}  # fmt: skip


def quantity(text: str) -> float:
    """Return a Kubernetes quantity as a number: cores or bytes. Raises ValueError."""
    found = QUANTITY.match(str(text))
    if not found:
        raise ValueError(f"{text!r} is not a quantity such as 500m, 2, 512Mi or 16Gi")
    return float(found[1]) * FACTORS[found[2]]


def mirrored(registry: str, repository: str) -> str:
    """Return an image's repository in a registry, which it may be in already."""
    registry = registry.rstrip("/")
    if repository.startswith(f"{registry}/"):
        return repository
    first, slash, rest = repository.partition("/")
    foreign = slash and (first == "localhost" or "." in first or ":" in first)
    return f"{registry}/{rest if foreign else repository}"


class Part(Checked):
    """One block of values.yaml."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Pod(Part):
    """Resources and scheduling of the pods of one group."""

    cpus: int = Field(2, ge=1, description="CPU limit, and Ray's CPU resource on workers.")
    cpu_request: str = Field("", description="CPU request of a pod; by default cpus.")
    memory: str = Field("8Gi", description="Memory limit.")
    memory_request: str = Field("", description="Memory request; by default the limit.")
    object_store_mib: int = Field(
        1024, ge=80, description="Size of Ray's object store per pod in MiB, part of its memory."
    )
    scratch: str = Field("20Gi", description="Ephemeral disk of a pod for runs, spilled objects and caches.")
    node_selector: dict[str, str] = Field({}, description="Node selector of the pods.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of the pods.")
    affinity: dict[str, Any] = Field({}, description="Affinity of the pods.")
    topology_spread_constraints: tuple[dict[str, Any], ...] = Field(
        (), description="Topology spread constraints of the pods."
    )
    extra_volumes: tuple[dict[str, Any], ...] = Field((), description="Additional volumes, as in a pod.")
    extra_volume_mounts: tuple[dict[str, Any], ...] = Field(
        (), description="Mounts of these volumes in the Ray container."
    )
    priority_class_name: str = Field("", description="Priority class of the pods.")
    runtime_class_name: str = Field("", description="Runtime class, such as nvidia.")
    labels: dict[str, str] = Field({}, description="Additional labels of the pods.")
    annotations: dict[str, str] = Field({}, description="Additional annotations of the pods.")
    termination_grace_period_seconds: int = Field(
        120, ge=60, description="Termination grace period in seconds: up to 30 to drain Ray, the rest for uploads."
    )

    @field_validator("cpu_request", "memory_request", "memory", "scratch")
    @classmethod
    def _a_quantity(cls, text: str) -> str:
        if text:
            quantity(text)
        return text


class Head(Pod):
    """The head pod: Ray's control plane, dashboard and the training driver. Ray schedules no tasks there."""

    memory: str = Field("12Gi", description="Memory limit, including the driver and its report.")
    runs_claim: str = Field(
        "",
        description="Name of an existing PersistentVolumeClaim for runs and queued uploads, which then outlive the pod; "
        "its ephemeral disk by default.",
    )


class Workers(Pod):
    """A worker group."""

    enabled: bool = Field(True, description="Create the worker group.")
    replicas: int = Field(1, ge=0, description="Number of pods; with autoscaling the initial number.")
    min_replicas: int = Field(0, ge=0, description="Minimum number of pods, with autoscaling.")
    max_replicas: int = Field(
        1, ge=0, description="Maximum number of pods, with autoscaling; the run is planned for this number."
    )
    runners_per_worker: int | Literal["auto"] = Field(
        "auto", description="Env runners per pod; auto: as many as fit its CPUs and GPU shares in addition to learners."
    )


class GpuWorkers(Workers):
    """Worker group with GPUs: the learner and env runners."""

    cpus: int = Field(8, ge=1, description="CPU limit, and Ray's CPU resource.")
    memory: str = Field("32Gi", description="Memory limit.")
    object_store_mib: int = Field(
        4096, ge=80, description="Size of Ray's object store per pod in MiB, part of its memory."
    )
    gpus: int = Field(1, ge=0, description="GPUs per pod.")
    gpu_resource: str = Field("nvidia.com/gpu", description="Resource name of a GPU; MIG slices have different names.")


class CpuWorkers(Workers):
    """Worker group without GPUs: env runners, and the learner if there is no GPU group."""

    enabled: bool = Field(False, description="Create the worker group.")
    cpus: int = Field(8, ge=1, description="CPU limit, and Ray's CPU resource.")
    memory: str = Field("16Gi", description="Memory limit.")
    object_store_mib: int = Field(
        2048, ge=80, description="Size of Ray's object store per pod in MiB, part of its memory."
    )
    spot: bool = Field(False, description="Use spot nodes: the pods tolerate their taints and may be preempted.")


class MoreGpuWorkers(GpuWorkers):
    """A further worker group; values that it leaves out are those of gpuWorkers."""

    like: Literal["gpu"] = Field(description="The group whose values it takes.")
    enabled: bool = Field(True, description="Create the worker group.")


class MoreCpuWorkers(CpuWorkers):
    """A further worker group; values that it leaves out are those of cpuWorkers."""

    like: Literal["cpu"] = Field(description="The group whose values it takes.")
    enabled: bool = Field(True, description="Create the worker group.")


def like_of(group: Any) -> Any:
    """Return which group a further group takes its values of."""
    return group.get("like") if isinstance(group, Mapping) else getattr(group, "like", None)


GroupName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,13}[a-z0-9])?$")]
MoreWorkers = Annotated[
    Annotated[MoreGpuWorkers, Tag("gpu")] | Annotated[MoreCpuWorkers, Tag("cpu")],
    Discriminator(like_of, custom_error_type="like", custom_error_message="set like: gpu or like: cpu"),
]
COMPONENTS = (
    "head",
    "gpu",
    "cpu",
    "submitter",
    "preflight",
    "bucket",
    "objectstore",
    "llm",
    "decisions",
    "catalogue",
    "archive",
)  # labels


def with_base(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values in which each group of extraWorkers has the values of gpuWorkers or cpuWorkers that it leaves out."""
    found = {}
    for name, group in values["extraWorkers"].items():
        base = values.get(f"{group.get('like')}Workers") or {}
        found[name] = {**{key: value for key, value in base.items() if key != "enabled"}, **group}
    return {**values, "extraWorkers": found}


class Platform(Part):
    """A platform that several trainings share: a release with servicesOnly, in this or another namespace."""

    namespace: str = Field(
        "",
        pattern=r"^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$",
        description="Namespace of the platform; none by default. It sets s3.endpoint and llm.endpoint.",
    )
    name: str = Field("ante", description="Name of the platform's release.")
    tenant: str = Field(
        "",
        pattern=NAME,
        description="Tenant of the platform whose training this is: the run is stored in s3.prefix/TENANT with the "
        "credentials in Secret NAME-s3-TENANT.",
    )

    def address(self, service: str, port: int) -> str:
        """Return the URL of one of the platform's services."""
        return f"http://{self.name}-{service}.{self.namespace}.svc:{port}"


class Tenant(Part):
    """A person, team or run that shares the platform from a namespace."""

    name: str = Field(pattern=NAME, min_length=1, description="Name.")
    namespace: str = Field(min_length=1, description="Namespace of its trainings, which exists.")
    prefixes: tuple[str, ...] = Field(
        (), description="Prefixes of the bucket that it may read and write; s3.prefix/NAME by default."
    )
    existing_secret: str = Field(
        "",
        description="Secret of the platform's namespace with its bucket credentials, which then also exist in the "
        "tenant's namespace. By default they are created as Secret RELEASE-s3-NAME of the tenant's namespace.",
    )
    cluster_queue: str = Field(
        "", description="Cluster queue of Kueue, for which a local queue named like the release is created."
    )
    viewers: tuple[dict[str, str], ...] = Field((), description="Subjects who may read trainings and their logs.")
    trainers: tuple[dict[str, str], ...] = Field((), description="Subjects who may also run trainings.")


class EventBus(Part):
    """The event bus, a NATS server outside the chart, to which trainings and the decision service publish."""

    url: str = Field("", description="URL, such as nats://nats.nats:4222; none by default.")
    existing_secret: str = Field(
        "", description="Existing Secret with the token of clients, key token; none by default."
    )


class Queue(Part):
    """Kueue integration."""

    name: str = Field("", description="Local queue that admits the workload; none by default.")
    priority_class: str = Field("", description="Workload priority class.")


class Autoscaling(Part):
    """Ray's autoscaler."""

    enabled: bool = Field(False, description="Scale worker groups between minReplicas and maxReplicas.")
    idle_timeout_seconds: int = Field(300, ge=10, description="Time in seconds after which an idle pod is removed.")
    upscaling_mode: Literal["Default", "Aggressive", "Conservative"] = Field("Default", description="Upscaling mode.")


class Auth(Part):
    """Authentication of Ray."""

    mode: Literal["token", "disabled"] = Field(
        "token", description="token: dashboard and job submission require a token."
    )
    existing_secret: str = Field(
        "", description="Existing Secret with the token in key auth_token; KubeRay creates one by default."
    )


class GcsFaultTolerance(Part):
    """GCS fault tolerance: Ray's control state in Redis, so that workers survive a restart of the head."""

    enabled: bool = Field(False, description="Enable it. A RayJob's driver is not recovered.")
    redis_address: str = Field("", description="Address of Redis, such as redis:6379.")
    existing_secret: str = Field("", description="Existing Secret with the password; none by default.")
    password_key: str = Field("password", description="Key of the Secret.")

    @model_validator(mode="after")
    def _has_redis(self) -> "GcsFaultTolerance":
        if self.enabled and not self.redis_address:
            raise ValueError("gcsFaultTolerance.enabled needs gcsFaultTolerance.redisAddress")
        return self


class Deletion(Part):
    """Deletion after the training ends, in seconds. With a queue, workersAfterSeconds applies to the whole cluster."""

    workers_after_seconds: int = Field(
        60,
        ge=0,
        description="Delay until the worker pods and their GPUs are released; with autoscaling, Ray removes idle workers.",
    )
    cluster_after_seconds: int = Field(
        3600, ge=0, description="Delay until the head, with dashboard and logs, is deleted."
    )
    job_after_seconds: int = Field(0, ge=0, description="Delay until the RayJob is deleted; 0 keeps it.")


class Job(Part):
    """The RayJob of the training."""

    enabled: bool = Field(True, description="Create a RayJob with its cluster; false: a RayCluster for submitted jobs.")
    backoff_limit: int = Field(3, ge=0, description="Retries on a new cluster after the training fails.")
    submitter_backoff_limit: int = Field(5, ge=0, description="Retries on the same cluster.")
    active_deadline_seconds: int = Field(
        604800, ge=0, description="Time limit of an attempt in seconds, 7 days by default; 0 for none."
    )
    pre_running_deadline_seconds: int = Field(0, ge=0, description="Time limit for starting, in seconds; 0 for none.")
    suspend: bool = Field(False, description="Create it suspended; a queue sets this field itself.")
    deletion: Deletion = Deletion()


class Prices(Part):
    """Prices for estimated and actual costs; without them, no costs are shown."""

    cpu_hour: float = Field(0.0, ge=0, description="Price of a core for an hour.")
    gib_hour: float = Field(0.0, ge=0, description="Price of a GiB of memory for an hour.")
    gpu_hour: float = Field(0.0, ge=0, description="Price of a GPU for an hour.")
    currency: str = Field("USD", pattern=r"^\w{1,10}$", description="Currency of the prices.")

    @property
    def note(self) -> str:
        """The prices as text, empty without any: an annotation of the training."""
        found = {"cpuHour": self.cpu_hour, "gibHour": self.gib_hour, "gpuHour": self.gpu_hour}
        known = any(found.values())
        return " ".join([*(f"{name}={price:g}" for name, price in found.items()), self.currency]) if known else ""


class Notifications(Part):
    """A webhook that receives the end or the failure of the training."""

    existing_secret: str = Field("", description="Existing Secret with the URL of the webhook; none by default.")
    url_key: str = Field("url", description="Key of the Secret for the URL.")


class Security(Part):
    """Security context of the pods."""

    platform_user: bool = Field(False, description="Leave user and groups to the platform, as on OpenShift.")
    run_as_user: int = Field(1000, ge=1, description="User id of the processes.")
    run_as_group: int = Field(1000, ge=0, description="Group id of the processes.")
    fs_group: int = Field(1000, ge=0, description="Group id of the volumes.")
    read_only_root_filesystem: bool = Field(True, description="Mount the root filesystem read-only.")


class ServiceAccount(Part):
    """The service account of the pods."""

    create: bool = Field(True, description="Create it.")
    name: str = Field("", description="Name; by default the release's name.")
    annotations: dict[str, str] = Field({}, description="Annotations, such as a cloud provider's role.")
