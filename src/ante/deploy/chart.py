"""The values of the Helm chart: the settings of a cluster, and services that the chart alone brings.

helm/ante/values.yaml and values.schema.json are written from these models by tools/write_chart.py.
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from ante.deploy.settings import SERVICES, Part, Settings, merged


class ServiceImage(Part):
    """Image of a service."""

    repository: str = Field(min_length=1, description="Registry and name.")
    tag: str = Field(description="Tag.")
    digest: str = Field("", pattern=r"^(sha256:[0-9a-f]{64})?$", description="sha256:... instead of the tag.")
    pull_policy: Literal["IfNotPresent", "Always", "Never"] = Field("IfNotPresent", description="When nodes pull it.")


class Amounts(Part):
    """Cores and memory."""

    cpu: str = Field(description="Cores, such as 500m or 2.")
    memory: str = Field(description="Memory, such as 512Mi or 2Gi.")


class Resources(Part):
    """What a pod keeps free on its node, and what it may take."""

    requests: Amounts = Field(description="Kept free.")
    limits: Amounts = Field(description="May be taken.")


def resources(cpu: str, memory: str, most_cpu: str, most_memory: str) -> Resources:
    """Resources as four quantities."""
    return Resources(requests=Amounts(cpu=cpu, memory=memory), limits=Amounts(cpu=most_cpu, memory=most_memory))


class Disk(Part):
    """A claim of a volume; it outlives the release."""

    size: str = Field(description="Size.")
    storage_class_name: str = Field("", description="Storage class; the cluster's default by default.")
    existing_claim: str = Field("", description="A claim that exists, instead of one of the chart's.")


class ObjectStore(Part):
    """An S3 server for the artifacts, MinIO or one that takes its settings. Without it s3.endpoint names another one."""

    enabled: bool = Field(True, description="Whether the chart brings one.")
    image: ServiceImage = ServiceImage(repository="quay.io/minio/minio", tag="RELEASE.2025-09-07T16-13-09Z")
    command: tuple[str, ...] = Field((), description="Command instead of the image's own.")
    args: tuple[str, ...] = Field(
        ("server", "/data", "--address=:9000", "--console-address=:9001"), description="Arguments of the server."
    )
    env: dict[str, str] = Field({}, description="More environment variables of the server; no secrets.")
    existing_secret: str = Field(
        "",
        description="Secret with the server's own credentials, keys MINIO_ROOT_USER and MINIO_ROOT_PASSWORD; made and kept "
        "by default.",
    )
    scoped_user: bool = Field(
        True,
        description="Training has a user of its own, who may use the one bucket only. False where the server has no admin "
        "API of MinIO's: training then uses the server's own credentials.",
    )
    storage: Disk = Disk(size="50Gi")
    live_path: str = Field("/minio/health/live", description="Path that answers while the server lives.")
    ready_path: str = Field("/minio/health/ready", description="Path that answers once it serves.")
    resources: Resources = resources("250m", "512Mi", "2", "2Gi")
    node_selector: dict[str, str] = Field({}, description="Labels that its node must have.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Taints that it tolerates.")


class LlmServer(Part):
    """An LLM service for the hints; llm.model names what it serves. Off by default."""

    enabled: bool = Field(False, description="Whether the chart brings one; else llm.endpoint names it.")
    kind: Literal["vllm", "llamacpp", "stub"] = Field(
        "vllm", description="vllm on GPUs, llamacpp on cores, stub: answers of a rule, for tests."
    )
    vllm_image: ServiceImage = ServiceImage(repository="docker.io/vllm/vllm-openai", tag="v0.33.0")
    llamacpp_image: ServiceImage = ServiceImage(repository="ghcr.io/ggml-org/llama.cpp", tag="server")
    model_path: str = Field(
        "", description="Weights: a path under /models, or a name to download; llm.model by default."
    )
    projector_path: str = Field("", description="File of the vision part under /models, llamacpp only.")
    args: tuple[str, ...] = Field((), description="More arguments of the server.")
    storage: Disk = Disk(size="50Gi")
    gpus: int = Field(1, ge=0, description="GPUs, vllm only.")
    gpu_resource: str = Field("nvidia.com/gpu", description="What the node calls a GPU.")
    download_secret: str = Field("", description="Secret with key HF_TOKEN, for weights that ask for one.")
    start_seconds: int = Field(1800, ge=10, description="Seconds it may take to load.")
    resources: Resources = resources("1", "4Gi", "8", "32Gi")
    node_selector: dict[str, str] = Field({}, description="Labels that its node must have.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Taints that it tolerates.")


class NetworkPolicies(Part):
    """Nothing reaches these pods, and they reach nothing, but for what is needed."""

    enabled: bool = Field(True, description="Whether they are made; the cluster's network must enforce them.")
    dns_namespace_labels: dict[str, str] = Field(
        {"kubernetes.io/metadata.name": "kube-system"}, description="Labels of the namespace of the DNS servers."
    )
    dns_ports: tuple[int, ...] = Field((53,), description="Ports of the DNS servers' pods; 5353 too on OpenShift.")
    dns_cidrs: tuple[str, ...] = Field(
        (), description="Addresses of DNS servers that are no pods, such as 169.254.20.10/32 of NodeLocal DNS."
    )
    api_server_cidrs: tuple[str, ...] = Field(
        ("0.0.0.0/0",), description="Addresses of the API server, which autoscaling and preflight ask."
    )
    api_server_ports: tuple[int, ...] = Field((443, 6443), description="Its ports.")
    operator_namespace_labels: dict[str, str] = Field(
        {}, description="Labels of the namespace of KubeRay; any by default."
    )
    operator_pod_labels: dict[str, str] = Field(
        {"app.kubernetes.io/name": "kuberay-operator"}, description="Labels of KubeRay's pods, which ask the head."
    )
    s3_cidrs: tuple[str, ...] = Field(("0.0.0.0/0",), description="Addresses of a bucket outside, without objectStore.")
    llm_cidrs: tuple[str, ...] = Field(("0.0.0.0/0",), description="Addresses of an LLM outside, without llmServer.")
    llm_downloads: bool = Field(False, description="The LLM service may download weights (port 443).")
    monitoring_namespace_labels: dict[str, str] = Field(
        {"kubernetes.io/metadata.name": "monitoring"}, description="Labels of the namespace that Prometheus runs in."
    )
    ingress_namespace_labels: dict[str, str] = Field(
        {"kubernetes.io/metadata.name": "ingress-nginx"},
        description="Labels of the namespace of the ingress controller (network.openshift.io/policy-group: ingress for routes).",
    )
    client_pod_labels: dict[str, str] = Field(
        {}, description="Labels of other pods of the namespace that may use dashboard and bucket, such as notebooks."
    )
    extra_egress: tuple[dict[str, Any], ...] = Field(
        (), description="More egress rules of the Ray pods, as in a NetworkPolicy, such as Redis."
    )


class PodMonitor(Part):
    """Prometheus operator's PodMonitor of head, workers and driver."""

    enabled: bool = Field(False, description="Whether it is made; needs training.metricsPort and the operator's CRDs.")
    labels: dict[str, str] = Field({}, description="Labels that Prometheus selects it by, such as release.")
    interval: str = Field("15s", pattern=r"^[0-9]+(ms|s|m)$", description="Time between scrapes.")


class Dashboard(Part):
    """Grafana dashboard as a ConfigMap, which Grafana's sidecar finds by its label."""

    enabled: bool = Field(False, description="Whether it is made.")
    labels: dict[str, str] = Field({"grafana_dashboard": "1"}, description="Labels that the sidecar looks for.")


class Alerts(Part):
    """Alert rules (docs/runbooks.md says what to do)."""

    enabled: bool = Field(False, description="Whether they are made; needs the CRDs of the Prometheus operator.")
    labels: dict[str, str] = Field({}, description="Labels that Prometheus selects them by, such as release.")
    severity: str = Field("warning", description="Label severity of every alert.")
    stall: str = Field("5m", pattern=r"^[0-9]+(s|m|h)$", description="Time without an environment step.")
    window: str = Field(
        "15m", pattern=r"^[0-9]+(s|m|h)$", description="Time over which hints and restarts are counted."
    )
    pending: str = Field(
        "1m", pattern=r"^[0-9]+(s|m|h)$", description="Time that something must hold before it is told."
    )
    backlog: str = Field("15m", pattern=r"^[0-9]+(s|m|h)$", description="Time that uploads may wait without an end.")
    hint_success: float = Field(0.8, ge=0, le=1, description="Share of hints that must succeed.")
    head_memory: float = Field(0.85, gt=0, le=1, description="Share of its memory that the head may take.")


class Monitoring(Part):
    """Prometheus and Grafana."""

    pod_monitor: PodMonitor = PodMonitor()
    dashboard: Dashboard = Dashboard()
    alerts: Alerts = Alerts()


class PodDisruptionBudget(Part):
    """Drains of nodes wait for the head and the object store."""

    enabled: bool = Field(True, description="Whether they wait; a head that is evicted costs a restart.")


class Ingress(Part):
    """Ingress of dashboard and console. Who reaches the dashboard may run code: keep auth.mode token."""

    enabled: bool = Field(False, description="Whether it is made.")
    class_name: str = Field("", description="Ingress class; the cluster's default by default.")
    annotations: dict[str, str] = Field({}, description="Annotations.")
    dashboard_host: str = Field("", description="Host name of the Ray dashboard; none by default.")
    console_host: str = Field("", description="Host name of the object store's console; none by default.")
    tls_secret: str = Field("", description="Secret with the certificate of both; none by default.")


class Route(Part):
    """The same as routes of OpenShift, with its certificate."""

    enabled: bool = Field(False, description="Whether they are made.")
    dashboard_host: str = Field("", description="Host name of the Ray dashboard; OpenShift chooses by default.")
    console_host: str = Field("", description="Host name of the object store's console; OpenShift chooses by default.")


class Rbac(Part):
    """A role for those who look after this training."""

    create: bool = Field(True, description="Whether it is made.")
    subjects: tuple[dict[str, str], ...] = Field(
        (), description="Who has it, as in a RoleBinding: kind, name, and apiGroup or namespace."
    )


class Preflight(Part):
    """The pod of `helm test`: bucket, LLM, operator, from inside."""

    resources: Resources = resources("100m", "256Mi", "1", "1Gi")
    deadline_seconds: int = Field(300, ge=10, description="Seconds after which the test has failed.")


class ChartValues(Settings):
    """Everything in values.yaml. Name and namespace are the release's."""

    object_store: ObjectStore = ObjectStore()
    llm_server: LlmServer = LlmServer()
    network_policies: NetworkPolicies = NetworkPolicies()
    monitoring: Monitoring = Monitoring()
    pod_disruption_budget: PodDisruptionBudget = PodDisruptionBudget()
    ingress: Ingress = Ingress()
    route: Route = Route()
    rbac: Rbac = Rbac()
    preflight: Preflight = Preflight()
    fullname_override: str = Field("", description="Name of all objects; the release's by default.")
    skip_crd_check: bool = Field(
        False, description="Do not look for KubeRay's CRDs first, as where there is no cluster."
    )

    @model_validator(mode="before")
    @classmethod
    def _services_have_addresses(cls, values: Any) -> Any:
        """What the chart brings is where the chart puts it, unless another address is given."""
        for service, block, url in SERVICES:
            if (values.get(service) or {}).get("enabled") and not (values.get(block) or {}).get("endpoint"):
                name = values.get("fullnameOverride") or values.get("name", "ante")
                values = merged(values, {block: {"endpoint": url.format(name=name)}})
        return values
