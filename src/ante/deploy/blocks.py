"""Blocks of values.yaml: the pods of a Ray cluster, and a platform that several trainings share."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, field_validator
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
COMPONENTS = ("head", "gpu", "cpu", "submitter", "preflight", "bucket", "objectstore", "llm", "decisions")  # labels


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
