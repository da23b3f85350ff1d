"""The values of the Helm chart: the settings of a cluster, and services that only the chart deploys.

tools/write_chart.py generates helm/ante/values.yaml and values.schema.json from these models.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from ante.deploy.blocks import Part, Tenant
from ante.deploy.settings import SERVICES, BadSettings, Image, Settings, merged, one_value, read_values


class ServiceImage(Part):
    """Image of a service."""

    repository: str = Field(min_length=1, description="Image repository, including the registry.")
    tag: str = Field(description="Image tag.")
    digest: str = Field(
        "", pattern=r"^(sha256:[0-9a-f]{64})?$", description="Image digest, sha256:...; takes precedence over the tag."
    )
    pull_policy: Literal["IfNotPresent", "Always", "Never"] = Field("IfNotPresent", description="Image pull policy.")


class Amounts(Part):
    """Cores and memory."""

    cpu: str = Field(description="CPU quantity, such as 500m or 2.")
    memory: str = Field(description="Memory quantity, such as 512Mi or 2Gi.")


class Resources(Part):
    """Resource requests and limits of a pod."""

    requests: Amounts = Field(description="Resource requests.")
    limits: Amounts = Field(description="Resource limits.")


def resources(cpu: str, memory: str, most_cpu: str, most_memory: str) -> Resources:
    """Return resource requests and limits, given four quantities."""
    return Resources(requests=Amounts(cpu=cpu, memory=memory), limits=Amounts(cpu=most_cpu, memory=most_memory))


class Disk(Part):
    """A PersistentVolumeClaim; it is kept when the release is uninstalled."""

    size: str = Field(description="Size of the volume.")
    storage_class_name: str = Field("", description="Storage class; by default the cluster's default class.")
    existing_claim: str = Field("", description="Name of an existing claim to use instead of creating one.")


class ObjectStore(Part):
    """An S3 server for artifacts, MinIO or compatible with its settings. If disabled, set s3.endpoint."""

    enabled: bool = Field(True, description="Deploy the S3 server.")
    image: ServiceImage = ServiceImage(repository="quay.io/minio/minio", tag="RELEASE.2025-09-07T16-13-09Z")
    command: tuple[str, ...] = Field((), description="Command that replaces the image's entrypoint.")
    args: tuple[str, ...] = Field(
        ("server", "/data", "--address=:9000", "--console-address=:9001"), description="Arguments of the server."
    )
    env: dict[str, str] = Field({}, description="Additional environment variables of the server; no secrets.")
    existing_secret: str = Field(
        "",
        description="Secret with the server's own credentials, keys MINIO_ROOT_USER and MINIO_ROOT_PASSWORD; by default a Job "
        "creates it.",
    )
    scoped_user: bool = Field(
        True,
        description="Create a separate user for training with access to its bucket only. Set to false if the server lacks "
        "MinIO's admin API: training then uses the server's own credentials.",
    )
    storage: Disk = Disk(size="50Gi")
    keep_versions_days: int = Field(
        0, ge=0, description="Days for which replaced and deleted objects are kept (versioning); 0 keeps none."
    )
    live_path: str = Field("/minio/health/live", description="Path of the liveness probe.")
    ready_path: str = Field("/minio/health/ready", description="Path of the readiness probe.")
    resources: Resources = resources("250m", "512Mi", "2", "2Gi")
    node_selector: dict[str, str] = Field({}, description="Node selector of the pod.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of the pod.")
    affinity: dict[str, Any] = Field({}, description="Affinity of the pod.")
    topology_spread_constraints: tuple[dict[str, Any], ...] = Field(
        (), description="Topology spread constraints of the pod."
    )


class LlmServer(Part):
    """An LLM server for hints, which serves llm.model. Disabled by default."""

    enabled: bool = Field(False, description="Deploy the LLM server. If disabled, llm.endpoint names one.")
    kind: Literal["vllm", "llamacpp", "stub"] = Field(
        "vllm", description="vllm (GPUs), llamacpp (CPUs) or stub (rule-based answers, for tests)."
    )
    vllm_image: ServiceImage = ServiceImage(repository="docker.io/vllm/vllm-openai", tag="v0.33.0")
    llamacpp_image: ServiceImage = ServiceImage(repository="ghcr.io/ggml-org/llama.cpp", tag="server")
    model_path: str = Field(
        "", description="Model weights: a path under /models, or a name to download; llm.model by default."
    )
    projector_path: str = Field("", description="Vision projector file under /models, llamacpp only.")
    args: tuple[str, ...] = Field((), description="Additional arguments of the server.")
    storage: Disk = Disk(size="50Gi")
    gpus: int = Field(1, ge=0, description="Number of GPUs, vllm only.")
    gpu_resource: str = Field("nvidia.com/gpu", description="Resource name of a GPU.")
    download_secret: str = Field("", description="Secret with key HF_TOKEN, for gated weights.")
    start_seconds: int = Field(1800, ge=10, description="Time limit for loading the model, in seconds.")
    resources: Resources = resources("1", "4Gi", "8", "32Gi")
    node_selector: dict[str, str] = Field({}, description="Node selector of the pod.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of the pod.")
    affinity: dict[str, Any] = Field({}, description="Affinity of the pod.")
    topology_spread_constraints: tuple[dict[str, Any], ...] = Field(
        (), description="Topology spread constraints of the pod."
    )


class DecisionService(Part):
    """Decisions of a player over gRPC, `ante serve decisions`. Disabled by default."""

    enabled: bool = Field(False, description="Deploy the decision service.")
    player: str = Field(
        "white-stake", min_length=1, description="Player to serve: a released policy, or a folder under /models."
    )
    search: str = Field("", description="Search budget of every decision, such as 16ms; none by default.")
    token_secret: str = Field(
        "", description="Secret with the token of clients, key token; required without clientCaSecret."
    )
    tls_secret: str = Field(
        "",
        description="Secret with tls.crt and tls.key, the certificate of the server; connections are not encrypted "
        "without it.",
    )
    client_ca_secret: str = Field(
        "",
        description="Secret with ca.crt, the authority of client certificates; every client then needs one (mutual TLS).",
    )
    existing_claim: str = Field("", description="Claim with runs or releases, mounted read-only at /models.")
    args: tuple[str, ...] = Field((), description="Additional arguments of ante serve decisions.")
    min_replicas: int = Field(1, ge=1, description="Number of pods.")
    max_replicas: int = Field(1, ge=1, description="Most pods; above minReplicas, they are scaled by their CPU usage.")
    cpu_percent: int = Field(
        70, ge=1, le=100, description="CPU usage, in percent of the request, that scaling aims at."
    )
    client_namespace_labels: dict[str, str] = Field(
        {}, description="Labels of other namespaces whose pods may connect; none by default."
    )
    priority_class_name: str = Field(
        "",
        description="Priority class of the pods: one above that of training pods lets them evict those from full nodes.",
    )
    resources: Resources = resources("500m", "1Gi", "2", "2Gi")
    node_selector: dict[str, str] = Field({}, description="Node selector of the pods.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of the pods.")
    affinity: dict[str, Any] = Field({}, description="Affinity of the pods.")
    topology_spread_constraints: tuple[dict[str, Any], ...] = Field(
        (), description="Topology spread constraints of the pods."
    )


class EventArchive(Part):
    """An archiver that copies the events of events.url into the bucket, `ante events archive`. Disabled by default."""

    enabled: bool = Field(False, description="Deploy the archiver; requires events.url.")
    prefix: str = Field(
        "events", pattern=r"^[\w.-]+(/[\w.-]+)*$", description="Prefix of the archive in the bucket s3.bucket."
    )
    every_seconds: int = Field(
        60, ge=1, le=86_400, description="Time in seconds after which events are written at the latest."
    )
    keep_days: int = Field(0, ge=0, le=36_500, description="Days after which files are deleted; 0 keeps them.")
    resources: Resources = resources("100m", "256Mi", "1", "1Gi")
    node_selector: dict[str, str] = Field({}, description="Node selector of the pod.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of the pod.")


class RunCatalogue(Part):
    """A page of all runs in the bucket, `ante serve runs`. Disabled by default."""

    enabled: bool = Field(False, description="Deploy the run catalogue.")
    token_secret: str = Field("", description="Secret with the token of readers, key token; required.")
    existing_secret: str = Field(
        "", description="Secret with credentials that may list and read the bucket; those of trainings by default."
    )
    seconds: float = Field(30.0, gt=0, description="Time in seconds between two listings of the bucket.")
    links: bool = Field(
        False, description="Send browsers to presigned links of the bucket for videos; browsers must reach it."
    )
    resources: Resources = resources("100m", "512Mi", "1", "1Gi")
    node_selector: dict[str, str] = Field({}, description="Node selector of the pod.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of the pod.")


class NetworkPolicies(Part):
    """NetworkPolicies that deny all traffic of these pods except what they need."""

    enabled: bool = Field(
        True, description="Create the NetworkPolicies; the cluster's network plugin must enforce them."
    )
    dns_namespace_labels: dict[str, str] = Field(
        {"kubernetes.io/metadata.name": "kube-system"}, description="Labels of the DNS servers' namespace."
    )
    dns_ports: tuple[int, ...] = Field((53,), description="Ports of the DNS servers' pods; add 5353 on OpenShift.")
    dns_cidrs: tuple[str, ...] = Field(
        (), description="CIDRs of DNS servers outside pods, such as 169.254.20.10/32 for NodeLocal DNS."
    )
    api_server_cidrs: tuple[str, ...] = Field(
        ("0.0.0.0/0",), description="CIDRs of the API server, used by autoscaling and preflight."
    )
    api_server_ports: tuple[int, ...] = Field((443, 6443), description="Ports of the API server.")
    operator_namespace_labels: dict[str, str] = Field(
        {}, description="Labels of KubeRay's namespace; any namespace by default."
    )
    operator_pod_labels: dict[str, str] = Field(
        {},
        description="Labels of KubeRay's pods, which connect to the head; by default those of KubeRay's chart or of "
        "OpenShift AI.",
    )
    s3_cidrs: tuple[str, ...] = Field(
        ("0.0.0.0/0",), description="CIDRs of an external bucket, if objectStore is disabled."
    )
    llm_cidrs: tuple[str, ...] = Field(
        ("0.0.0.0/0",), description="CIDRs of an external LLM, if llmServer is disabled."
    )
    llm_downloads: bool = Field(False, description="Allow the LLM server to download weights (port 443).")
    monitoring_namespace_labels: dict[str, str] = Field(
        {"kubernetes.io/metadata.name": "monitoring"}, description="Labels of Prometheus' namespace."
    )
    ingress_namespace_labels: dict[str, str] = Field(
        {"kubernetes.io/metadata.name": "ingress-nginx"},
        description="Labels of the ingress controller's namespace (network.openshift.io/policy-group: ingress for routes).",
    )
    client_pod_labels: dict[str, str] = Field(
        {},
        description="Labels of other pods in the namespace that may access dashboard, bucket, LLM and decisions, such as "
        "notebooks.",
    )
    extra_egress: tuple[dict[str, Any], ...] = Field(
        (), description="Additional egress rules of the Ray pods, as in a NetworkPolicy."
    )


class PodMonitor(Part):
    """PodMonitor of the Prometheus operator for head, workers and driver."""

    enabled: bool = Field(False, description="Create it; requires training.metricsPort and the operator's CRDs.")
    labels: dict[str, str] = Field({}, description="Labels by which Prometheus selects it, such as release.")
    interval: str = Field("15s", pattern=r"^[0-9]+(ms|s|m)$", description="Scrape interval.")


class Dashboard(Part):
    """Grafana dashboard as a ConfigMap for Grafana's sidecar."""

    enabled: bool = Field(False, description="Create it.")
    labels: dict[str, str] = Field({"grafana_dashboard": "1"}, description="Labels by which the sidecar selects it.")


class Alerts(Part):
    """Alert rules; see docs/how-to/runbooks.md."""

    enabled: bool = Field(False, description="Create them; requires the CRDs of the Prometheus operator.")
    labels: dict[str, str] = Field({}, description="Labels by which Prometheus selects them, such as release.")
    severity: str = Field("warning", description="Value of the label severity of every alert.")
    stall: str = Field("5m", pattern=r"^[0-9]+(s|m|h)$", description="Time without environment steps before alerting.")
    window: str = Field(
        "15m",
        pattern=r"^[0-9]+(s|m|h)$",
        description="Time window for restarts, skipped gradient steps, lost fragments and pending pods.",
    )
    pending: str = Field(
        "1m", pattern=r"^[0-9]+(s|m|h)$", description="How long a condition must persist before alerting."
    )
    backlog: str = Field(
        "15m", pattern=r"^[0-9]+(s|m|h)$", description="How long uploads may be pending before alerting."
    )
    hint_success: float = Field(0.8, ge=0, le=1, description="Minimum share of successful hints.")
    head_memory: float = Field(0.85, gt=0, le=1, description="Maximum share of the head's memory in use.")


class Monitoring(Part):
    """Prometheus and Grafana."""

    pod_monitor: PodMonitor = PodMonitor()
    dashboard: Dashboard = Dashboard()
    alerts: Alerts = Alerts()


class PodDisruptionBudget(Part):
    """PodDisruptionBudgets of the services, which let one pod at a time be evicted."""

    enabled: bool = Field(True, description="Create them.")
    keep_head: bool = Field(
        False,
        description="Refuse the eviction of the head: a drain of its node waits until the training ends. By default an "
        "evicted training continues from its last checkpoint.",
    )


class Ingress(Part):
    """Ingress of dashboard and console. Dashboard access allows code execution: keep auth.mode token."""

    enabled: bool = Field(False, description="Create it.")
    class_name: str = Field("", description="Ingress class; by default the cluster's default class.")
    annotations: dict[str, str] = Field({}, description="Annotations of the Ingress.")
    dashboard_host: str = Field("", description="Host name of the Ray dashboard; none by default.")
    console_host: str = Field("", description="Host name of the object store's console; none by default.")
    catalogue_host: str = Field("", description="Host name of the run catalogue; none by default.")
    tls_secret: str = Field("", description="Secret with the TLS certificate for both hosts; none by default.")


class Route(Part):
    """OpenShift routes of dashboard and console, with the router's certificate."""

    enabled: bool = Field(False, description="Create them.")
    dashboard_host: str = Field("", description="Host name of the Ray dashboard; chosen by OpenShift by default.")
    console_host: str = Field(
        "", description="Host name of the object store's console; chosen by OpenShift by default."
    )
    catalogue_host: str = Field("", description="Host name of the run catalogue; no route by default.")


class Rbac(Part):
    """Roles for users of this release. A subject has kind and name, and apiGroup or namespace."""

    create: bool = Field(True, description="Create them.")
    viewers: tuple[dict[str, str], ...] = Field((), description="Subjects who may read trainings and their logs.")
    trainers: tuple[dict[str, str], ...] = Field(
        (), description="Subjects who may also change and delete this training and open its dashboard."
    )
    admins: tuple[dict[str, str], ...] = Field(
        (), description="Subjects who may install and change releases in this namespace, including its Secrets."
    )


class Preflight(Part):
    """The pod of `helm test`, which checks bucket, LLM and operator from inside the cluster."""

    resources: Resources = resources("100m", "256Mi", "1", "1Gi")
    deadline_seconds: int = Field(300, ge=10, description="Time limit of the test, in seconds.")


class ChartValues(Settings):
    """All of values.yaml. Name and namespace are those of the release."""

    object_store: ObjectStore = ObjectStore()
    llm_server: LlmServer = LlmServer()
    decision_service: DecisionService = DecisionService()
    event_archive: EventArchive = EventArchive()
    run_catalogue: RunCatalogue = RunCatalogue()
    network_policies: NetworkPolicies = NetworkPolicies()
    monitoring: Monitoring = Monitoring()
    pod_disruption_budget: PodDisruptionBudget = PodDisruptionBudget()
    ingress: Ingress = Ingress()
    route: Route = Route()
    rbac: Rbac = Rbac()
    services_only: bool = Field(
        False, description="Deploy the services without a training: a platform that trainings of other releases share."
    )
    tenants: tuple[Tenant, ...] = Field(
        (),
        description="Tenants of the platform: name, namespace, prefixes, existingSecret, clusterQueue, viewers, trainers. "
        "Each has its own credentials and prefix of the bucket.",
    )
    preflight: Preflight = Preflight()
    fullname_override: str = Field("", description="Name of all objects; by default the release's name.")
    skip_crd_check: bool = Field(
        False, description="Skip the check for KubeRay's CRDs, for rendering without a cluster."
    )

    @model_validator(mode="before")
    @classmethod
    def _services_have_addresses(cls, values: Any) -> Any:
        """Set the addresses of the services that the chart deploys, unless others are given."""
        for service, block, url in SERVICES:
            if (values.get(service) or {}).get("enabled") and not (values.get(block) or {}).get("endpoint"):
                name = values.get("fullnameOverride") or values.get("name", "ante")
                values = merged(values, {block: {"endpoint": url.format(name=name)}})
        return values


OPERATOR = "quay.io/kuberay/operator:v1.7.0"


@dataclass(frozen=True)
class Needed:
    """An image: its name, what uses it, and whether these values use it."""

    image: str
    runs: str
    used: bool


def reference(image: Image | ServiceImage) -> str:
    """Return the reference under which nodes pull an image."""
    return f"{image.repository}@{image.digest}" if image.digest else f"{image.repository}:{image.tag}"


def read_chart_values(
    files: tuple[Path, ...] = (), sets: tuple[str, ...] = (), base: Mapping[str, Any] | None = None
) -> ChartValues:
    """Return the chart's values, overridden by `base`, files and key=value pairs. Raises BadSettings."""
    values: dict[str, Any] = ChartValues().model_dump(mode="json", by_alias=True)
    for more in (base or {}, *map(read_values, files), *map(one_value, sets)):
        values = merged(values, more)
    try:
        return ChartValues.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise BadSettings(f"value {place}: {first['msg'].removeprefix('Value error, ')}") from None


def images(values: ChartValues) -> Iterator[Needed]:
    """Yield all images, including those of disabled services."""
    own, server = reference(values.image), values.llm_server
    yield Needed(own, "Ray pods, job submitter, bucket job, preflight, decision service, run catalogue", True)
    yield Needed(reference(values.object_store.image), "object store", values.object_store.enabled)
    kinds = {"vllm": server.vllm_image, "llamacpp": server.llamacpp_image}
    for kind, image in kinds.items():
        yield Needed(reference(image), f"LLM service, {kind}", server.enabled and server.kind == kind)
    yield Needed(OPERATOR, "KubeRay's operator, installed once per cluster", True)
