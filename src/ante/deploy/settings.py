"""Settings of a training cluster: one model for Helm's values.yaml, the notebook and `ante cluster`.

Keys are camelCase, as in values.yaml; Python names are their snake_case. Settings name Secrets and never contain their
values. `placement.py` derives numbers (runners, games), `spec.py` the Kubernetes objects.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from ante import __version__
from ante.deploy.blocks import (
    COMPONENTS,
    Auth,
    Autoscaling,
    CpuWorkers,
    EventBus,
    GcsFaultTolerance,
    GpuWorkers,
    GroupName,
    Head,
    Job,
    MoreCpuWorkers,
    MoreGpuWorkers,
    MoreWorkers,
    Notifications,
    Part,
    Platform,
    Prices,
    Queue,
    Security,
    ServiceAccount,
    mirrored,
    with_base,
)
from ante.errors import BalatroError
from ante.files import Unreadable
from ante.messages import check_url
from ante.yaml_files import parse_yaml, read_yaml

# Keys of values.yaml that only the chart has, mostly for services that it deploys.
CHART_ONLY = (
    "objectStore", "llmServer", "decisionService", "eventArchive", "runCatalogue", "networkPolicies", "monitoring",
    "podDisruptionBudget", "ingress", "route", "preflight", "rbac", "servicesOnly", "tenants", "skipCrdCheck", "global",
    "nameOverride", "fullnameOverride",
)  # fmt: skip
# Services of the chart, the block that contains their address, and the address.
SERVICES = (("objectStore", "s3", "http://{name}-objectstore:9000"), ("llmServer", "llm", "http://{name}-llm:8000/v1"))
IMAGES = ("image", "vllmImage", "llamacppImage")  # keys of images in the values and in the blocks of services
PRICES = "ante/prices"  # annotation by which `ante cluster` computes costs
SECRET_WORDS = re.compile(
    r"(PASSWORD|PASSWD|SECRET|TOKEN(?!S)|ACCESS_KEY|API_KEY|PRIVATE_KEY|CREDENTIAL)", re.IGNORECASE
)


class BadSettings(BalatroError, ValueError):
    """Invalid settings of a cluster."""


class Image(Part):
    """The image of all Ray pods."""

    repository: str = Field("ante-ray", min_length=1, description="Image repository, including the registry.")
    tag: str = Field(__version__, description="Image tag.")
    digest: str = Field(
        "", pattern=r"^(sha256:[0-9a-f]{64})?$", description="Image digest, sha256:...; takes precedence over the tag."
    )
    pull_policy: Literal["IfNotPresent", "Always", "Never"] = Field("IfNotPresent", description="Image pull policy.")
    pull_secrets: tuple[str, ...] = Field((), description="Names of image pull Secrets.")
    cache_path: str = Field(
        "/opt/ante/cache", description="Directory of the image with compiled code, copied at pod start."
    )

    @property
    def reference(self) -> str:
        """The reference under which nodes pull it."""
        return f"{self.repository}@{self.digest}" if self.digest else f"{self.repository}:{self.tag}"


class Ray(Part):
    """Version of Ray."""

    version: str = Field("2.58.0", pattern=r"^\d+\.\d+\.\d+$", description="Ray version in the image.")


class Training(Part):
    """The training run and its processes."""

    name: str = Field(
        "",
        pattern=r"^([A-Za-z0-9][\w.-]{0,99})?$",
        description="Name of the run in the bucket; by default the name of the release.",
    )
    config: dict[str, Any] = Field(
        {}, description="Settings of `ante train`, except those derived from the worker groups."
    )
    args: tuple[str, ...] = Field((), description="Additional arguments of the command.")
    sweep: dict[str, Any] = Field(
        {},
        description="Keys of a file of `ante sweep`, which then runs instead of `ante train`. training.config is shared by "
        "all trials; training.learners is the number of trials at a time, among which the env runners are divided.",
    )
    compare: dict[str, Any] = Field(
        {},
        description="Keys of a file of `ante compare`, which then runs instead of `ante train`. training.config is shared by "
        "all entries; training.learners is the number of runs at a time, among which the env runners are divided.",
    )
    runner_cpus: float = Field(1.0, gt=0, description="CPUs per env runner.")
    runner_gpus: float = Field(0.0, ge=0, description="GPU share per env runner; 0 runs the policy on the CPU.")
    games_per_runner: int | Literal["auto"] = Field("auto", description="Games per env runner; auto: 64 per CPU.")
    learners: int = Field(1, ge=0, description="Number of learner processes, on GPU workers if there are any.")
    learner_gpus: float = Field(1.0, ge=0, description="GPU share per learner; 0 trains on the CPU.")
    metrics_port: int = Field(
        0, ge=0, le=65535, description="Port of the driver's Prometheus metrics; 0 disables them."
    )


class S3(Part):
    """The S3 bucket for artifacts."""

    endpoint: str = Field("", description="URL of the S3 server; AWS if empty.")
    bucket: str = Field("ante", min_length=3, description="Name of the bucket.")
    prefix: str = Field("runs", pattern=r"^[^/].*[^/]$|^[^/]$|^$", description="Prefix of all runs in the bucket.")
    region: str = Field("us-east-1", description="Region of the bucket.")
    pod_role: bool = Field(
        False, description="Pods authenticate with the role of their service account, without a Secret."
    )
    existing_secret: str = Field("", description="Existing Secret with the credentials; NAME-s3 by default.")
    access_key_key: str = Field("S3_ACCESS_KEY_ID", description="Key of the Secret for the access key.")
    secret_key_key: str = Field("S3_SECRET_ACCESS_KEY", description="Key of the Secret for the secret key.")
    addressing: Literal["path", "virtual", "auto"] = Field(
        "path", description="Position of the bucket in addresses: path, virtual (a host name) or auto."
    )
    encryption: Literal["", "AES256", "aws:kms", "aws:kms:dsse"] = Field(
        "",
        description="Server-side encryption of new objects: AES256, aws:kms or aws:kms:dsse; the bucket's default if empty.",
    )
    kms_key: str = Field("", description="Key of a KMS encryption; the account's default key if empty.")
    verify: bool = Field(True, description="Verify the server's TLS certificate.")
    ca_config_map: str = Field("", description="ConfigMap with the CA certificate in ca.crt.")

    @field_validator("endpoint")
    @classmethod
    def _a_url(cls, endpoint: str) -> str:
        if "@" in endpoint or "?" in endpoint or "#" in endpoint:
            raise ValueError("it contains credentials or a query: put keys into the Secret named in s3.existingSecret")
        if endpoint:
            check_url(endpoint)
        return endpoint

    @model_validator(mode="after")
    def _a_key_of_kms(self) -> "S3":
        if self.kms_key and not self.encryption.startswith("aws:kms"):
            raise ValueError("kms_key is set without a KMS encryption: set encryption to aws:kms")
        return self

    @property
    def url(self) -> str:
        """URL of the store."""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


class Llm(Part):
    """The LLM for hints."""

    enabled: bool = Field(False, description="Use the LLM in training.")
    endpoint: str = Field("", description="OpenAI-compatible URL, such as http://llm:8000/v1.")
    model: str = Field("", description="Name of the model.")
    vision: bool = Field(False, description="Send images of the game.")
    existing_secret: str = Field("", description="Existing Secret with the API key; none by default.")
    api_key_key: str = Field("LLM_API_KEY", description="Key of the Secret.")

    @model_validator(mode="after")
    def _is_named(self) -> "Llm":
        if self.enabled and not (self.endpoint and self.model):
            raise ValueError("llm.enabled needs llm.endpoint and llm.model")
        return self


class Settings(Part):
    """All settings of a training cluster."""

    name: str = Field(
        "ante", pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=40, description="Name of all objects."
    )
    namespace: str = Field("default", pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", description="Namespace.")
    image_registry: str = Field(
        "", description="Registry, with a path if needed, that replaces the registry of all images."
    )
    image: Image = Image()
    ray: Ray = Ray()
    head: Head = Head()
    gpu_workers: GpuWorkers = GpuWorkers()
    cpu_workers: CpuWorkers = CpuWorkers()
    extra_workers: dict[GroupName, MoreWorkers] = Field(
        {},
        description="Further worker groups: a name, then like (gpu or cpu) and values that differ from gpuWorkers or "
        "cpuWorkers.",
    )
    training: Training = Training()
    job: Job = Job()
    s3: S3 = S3()
    llm: Llm = Llm()
    events: EventBus = EventBus()
    platform: Platform = Platform()
    queue: Queue = Queue()
    autoscaling: Autoscaling = Autoscaling()
    auth: Auth = Auth()
    gcs_fault_tolerance: GcsFaultTolerance = GcsFaultTolerance()
    prices: Prices = Prices()
    notifications: Notifications = Notifications()
    security: Security = Security()
    service_account: ServiceAccount = ServiceAccount()
    env: dict[str, str] = Field({}, description="Additional environment variables of all Ray pods; no secrets.")
    env_value_from: dict[str, dict[str, Any]] = Field(
        {}, description="Additional environment variables by reference: name, then valueFrom as in a container."
    )
    env_from_secrets: tuple[str, ...] = Field((), description="Secrets whose keys are set as environment variables.")

    @model_validator(mode="before")
    @classmethod
    def _derived(cls, values: Any) -> Any:
        try:
            found = with_base(values) if values.get("extraWorkers") else values
            return with_platform(with_registry(found) if values.get("imageRegistry") else found)
        except (AttributeError, TypeError):
            return values  # not mappings, which is reported for the block itself

    @field_validator("extra_workers")
    @classmethod
    def _no_component(cls, groups: dict[str, MoreWorkers]) -> dict[str, MoreWorkers]:
        for name in groups:
            if name in COMPONENTS:
                raise ValueError(f"{name} is the name of other pods: choose another one")
        return groups

    @field_validator("env")
    @classmethod
    def _no_secrets(cls, env: dict[str, str]) -> dict[str, str]:
        for name in env:
            if SECRET_WORDS.search(name):
                raise ValueError(f"{name} looks like a secret: store it in a Secret and name that in envFromSecrets")
        return env

    @property
    def run(self) -> str:
        """Name of the run in the bucket."""
        return self.training.name or self.name

    @property
    def s3_secret(self) -> str:
        """Secret with the credentials of the store; empty if pods have a role."""
        if self.s3.pod_role:
            return ""
        tenant = self.platform.tenant
        return self.s3.existing_secret or (f"{self.platform.name}-s3-{tenant}" if tenant else f"{self.name}-s3")

    @property
    def chart_makes_s3_secret(self) -> bool:
        """Whether `helm install` creates `s3_secret`, with the server of the bucket."""
        return not self.s3.existing_secret and self.s3.endpoint == SERVICES[0][2].format(name=self.name)

    @property
    def account(self) -> str:
        """Name of the service account."""
        return self.service_account.name or (self.name if self.service_account.create else "default")

    @property
    def groups(self) -> "dict[str, GpuWorkers | CpuWorkers]":
        """The enabled worker groups, by their names in Ray."""
        every: dict[str, GpuWorkers | CpuWorkers] = {"gpu": self.gpu_workers, "cpu": self.cpu_workers}
        every |= {name: self.extra_workers[name] for name in sorted(self.extra_workers)}
        return {name: group for name, group in every.items() if group.enabled}

    @staticmethod
    def from_values(values: Mapping[str, Any], **more: Any) -> "Settings":
        """Return the settings for the keys of a values.yaml and `more` (name, namespace). Raises BadSettings.

        Of the chart's services, only the addresses are kept, unless the values contain others.
        """
        kept = {key: value for key, value in values.items() if key not in CHART_ONLY} | more
        name = kept.get("name", Settings.model_fields["name"].default)
        for block, shared, url in SERVICES:
            if (values.get(block) or {}).get("enabled") and not (kept.get(shared) or {}).get("endpoint"):
                kept = merged(kept, {shared: {"endpoint": url.format(name=name)}})
        return make_settings(kept)

    def to_values(self) -> dict[str, Any]:
        """Return what differs from the defaults, in the form of values.yaml, without name and namespace."""
        found: dict[str, Any] = self.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"name", "namespace", "extra_workers"}
        )
        whole = self.model_dump(mode="json", by_alias=True, include={"extra_workers"})
        return found | (whole if self.extra_workers else {})


def with_registry(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with all image repositories in the registry of imageRegistry."""
    registry, own = values["imageRegistry"], merged({"image": {"repository": Image().repository}}, values)

    def moved(block: Mapping[str, Any]) -> dict[str, Any]:
        images = {key: block[key] for key in IMAGES if (block.get(key) or {}).get("repository")}
        return {key: {**image, "repository": mirrored(registry, image["repository"])} for key, image in images.items()}

    services = {service: moved(own.get(service) or {}) for service, *_ in SERVICES}
    return merged(own, moved(own) | {service: found for service, found in services.items() if found})


def with_platform(values: Any) -> Any:
    """Return values with the addresses and the prefix of a platform, unless they contain others."""
    try:
        platform = Platform.model_validate(values.get("platform") or {})
    except (AttributeError, ValidationError):
        return values  # reported for the block itself
    more: dict[str, dict[str, str]] = {"s3": {}, "llm": {}}
    for service, block, port in (("objectstore", "s3", 9000), ("llm", "llm", 8000)):
        if platform.namespace and not (values.get(block) or {}).get("endpoint"):
            more[block]["endpoint"] = platform.address(service, port) + ("/v1" if block == "llm" else "")
    prefix = S3.model_fields["prefix"].default
    if platform.tenant and (values.get("s3") or {}).get("prefix", prefix) == prefix:
        more["s3"]["prefix"] = f"{prefix}/{platform.tenant}"
    return merged(values, {block: found for block, found in more.items() if found})


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Validate settings. Raises BadSettings, which suggests the most similar key for an unknown one."""
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        raise BadSettings(sentence(error)) from None


def sentence(error: ValidationError) -> str:
    """Return the first error as text."""
    first = error.errors()[0]
    path = [str(key) for key in first["loc"] if key not in ("int", "literal['auto']", "[key]")]
    if path[0] == "extraWorkers" and path[2:3] in (["gpu"], ["cpu"]):  # the kind of group, not a key
        del path[2]
    place = ".".join(path)
    if first["type"] == "extra_forbidden":
        known = keys_at(first["loc"][:-1])
        near = get_close_matches(str(first["loc"][-1]), known, 1)
        return f"unknown setting {place}: " + (f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}")
    if first["type"] == "value_error":  # a message of these models, which contains the value unless it is a secret
        return f"setting {place}: {first['msg'].removeprefix('Value error, ')}"
    cause = first["msg"]
    given = f", got {first['input']!r}" if isinstance(first["input"], str | int | float | bool | None) else ""
    return f"setting {place}: {cause}{given}"


def keys_at(path: tuple[int | str, ...]) -> list[str]:
    """Return the keys of a block."""
    if path[:1] == ("extraWorkers",):
        model: type[BaseModel] = MoreGpuWorkers if path[2] == "gpu" else MoreCpuWorkers
        return [field.alias or name for name, field in model.model_fields.items()]
    model = Settings
    for key in path:
        names = {field.alias: field.annotation for field in model.model_fields.values()} | {
            name: field.annotation for name, field in model.model_fields.items()
        }
        model = names[str(key)]  # type: ignore[assignment]
    return [field.alias or name for name, field in model.model_fields.items()]


def released(registry: str | None) -> dict[str, Any]:
    """Return the values of the images that a release published to a registry; none without a registry."""
    return {"image": {"repository": f"{registry.rstrip('/')}/{Image().repository}"}} if registry else {}


def read_settings(
    files: tuple[Path, ...] = (), sets: tuple[str, ...] = (), base: Mapping[str, Any] | None = None, **more: Any
) -> Settings:
    """Read settings from `base`, overridden by values files, key=value pairs and `more`, key by key.

    Later files override earlier ones. `more` are name and namespace, ignored if None. Raises BadSettings.
    """
    values: dict[str, Any] = dict(base or {})
    for file in files:
        values = merged(values, read_values(file))
    for pair in sets:
        values = merged(values, one_value(pair))
    return Settings.from_values(values, **{key: value for key, value in more.items() if value is not None})


def presets() -> dict[str, Path]:
    """Return Ante's own values files, by name."""
    return {file.stem: file for file in sorted((Path(__file__).parent / "presets").glob("*.yaml"))}


def preset(name: str) -> Path:
    """Return the values file of a preset. Raises BadSettings, which lists the presets."""
    known = presets()
    if name not in known:
        raise BadSettings(f"unknown preset {name!r}: choose one of {', '.join(known)}")
    return known[name]


def read_values(file: Path) -> dict[str, Any]:
    """Read the keys of a values file. Raises BadSettings."""
    try:
        values = read_yaml(file)
    except Unreadable as error:
        raise BadSettings(str(error)) from None
    if values is None:  # an empty file
        return {}
    if not isinstance(values, dict):
        raise BadSettings(f"{file} is not a YAML mapping of `key: value` lines")
    return values


def one_value(pair: str) -> dict[str, Any]:
    """Return a pair such as `gpuWorkers.replicas=2` as nested keys; the value is YAML. Raises BadSettings."""
    path, equals, text = pair.partition("=")
    if not equals or not path:
        raise BadSettings(f"--set {pair}: write key=value, such as gpuWorkers.replicas=2")
    try:
        value = parse_yaml(text, f"the value of --set {path}") if text else ""
    except Unreadable as error:
        raise BadSettings(str(error)) from None
    *outer, last = path.split(".")
    nested: dict[str, Any] = {last: value}
    for key in reversed(outer):
        nested = {key: nested}
    return nested


def merged(one: dict[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Return `one` with the keys of `two` merged into it block by block, as Helm merges values."""
    result = dict(one)
    for key, value in two.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result
