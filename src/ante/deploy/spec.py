"""Kubernetes objects for settings, as plain data: a RayJob or a RayCluster, its service account and configuration."""

import json
import shlex
from typing import Any

import yaml

from ante.deploy.blocks import Head, Pod, Workers
from ante.deploy.placement import DATA, LEARNER, RUNNER, Load, gpus_of, make_plan, sweep_values, train_values
from ante.deploy.settings import PRICES, Settings

Object = dict[str, Any]

RAY_API = "ray.io/v1"
CONFIG_FOLDER, TRAIN_FILE, SWEEP_FILE, COMPARE_FILE = "/etc/ante", "train.yaml", "sweep.yaml", "compare.yaml"
CA = "/etc/ante-ca"
QUEUE_LABEL, PRIORITY_LABEL = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
MIB = 2**20
HEALTH_PORT = 52365  # port of Ray's agent on each node
LEAVE_SECONDS = 30  # of the grace period of a head that remain after its run has ended
# A head that is deleted or evicted: the run writes and uploads a checkpoint. The processes that would report its end are
# halted before, and Ray's control store is killed after it: for KubeRay the job has no result, and it replaces the head.
LEAVE = """pkill -STOP -f '[d]ashboard/dashboard.py|[r]ay::JobSupervisor'
pkill -TERM -f '[b]in/ante (train|compare)'
timeout {seconds} sh -c 'while pgrep -f "[b]in/ante (train|compare)" > /dev/null; do sleep 0.5; done'
pkill -KILL gcs_server
sleep 5
"""
SPOT_TAINTS: tuple[Object, ...] = (
    {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
    {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"},
    {"key": "spot", "operator": "Exists", "effect": "NoSchedule"},
)


def objects(settings: Settings) -> list[Object]:
    """Return all objects of one training, in the order of their creation."""
    account = [service_account(settings)] if settings.service_account.create else []
    return [*account, train_config_map(settings), ray_job(settings) if settings.job.enabled else ray_cluster(settings)]


def names(settings: Settings) -> dict[str, str]:
    """Return the labels that select the objects of one training."""
    return {"app.kubernetes.io/name": "ante", "app.kubernetes.io/instance": settings.name}


def metadata(settings: Settings, name: str = "", **more: Any) -> Object:
    """Return name, namespace and labels of an object."""
    return {"name": name or settings.name, "namespace": settings.namespace, "labels": names(settings), **more}


def service_account(settings: Settings) -> Object:
    """Return the service account of the pods; its only permissions are those KubeRay grants the autoscaler."""
    annotations = settings.service_account.annotations
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(settings, settings.account, **({"annotations": annotations} if annotations else {})),
        "automountServiceAccountToken": False,
    }


def train_config_map(settings: Settings) -> Object:
    """Return a ConfigMap with the files that the entrypoint reads."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(settings, config_map_name(settings)),
        "data": files(settings),
    }


def files(settings: Settings) -> dict[str, str]:
    """Return the files that the entrypoint reads, by name."""
    found = {TRAIN_FILE: train_values(settings)}
    if settings.training.sweep:
        found[SWEEP_FILE] = sweep_values(settings) | {"config": TRAIN_FILE}
    elif settings.training.compare:
        found[COMPARE_FILE] = {**settings.training.compare, "store": settings.s3.url, "config": TRAIN_FILE}
    return {name: yaml.safe_dump(values, sort_keys=True) for name, values in found.items()}


def config_map_name(settings: Settings) -> str:
    """Return the name of the ConfigMap with the settings of `ante train`."""
    return f"{settings.name}-train"


def entrypoint(settings: Settings) -> str:
    """Return the command that starts the training, sweep or comparison, or resumes it from the store."""
    training, run = settings.training, settings.run
    if training.sweep:
        words = ["sweep", f"{CONFIG_FOLDER}/{SWEEP_FILE}"]
    elif training.compare:
        place = ["--out", f"{DATA}/runs/{run}", "--parallel", f"{training.learners}"]
        words = ["compare", f"{CONFIG_FOLDER}/{COMPARE_FILE}", *place]
    else:
        place = ["--name", run, "--store", settings.s3.url, "--resume", "auto"]
        words = ["train", "--config", f"{CONFIG_FOLDER}/{TRAIN_FILE}", *place]
    return shlex.join(["ante", *words, *training.args])


def submitted_entrypoint(settings: Settings) -> str:
    """Return the command as a job for a running cluster: it brings its files, as the ConfigMap there may have others."""
    written = (f'printf %s {shlex.quote(text)} > "$folder/{name}"' for name, text in files(settings).items())
    command = entrypoint(settings).replace(f"{CONFIG_FOLDER}/", '"$folder"/', 1)
    return f"folder=$(mktemp -d) && {' && '.join(written)} && exec {command}"


def ray_cluster(settings: Settings) -> Object:
    """Return a RayCluster for submitted jobs. Changed pod settings recreate it; KubeRay by default keeps its pods."""
    return {
        "apiVersion": RAY_API,
        "kind": "RayCluster",
        "metadata": workload_metadata(settings),
        "spec": {"upgradeStrategy": {"type": "Recreate"}, **cluster_spec(settings)},
    }


def ray_job(settings: Settings) -> Object:
    """Return a RayJob: the training with its own Ray cluster."""
    job = settings.job
    spec: Object = {
        "entrypoint": entrypoint(settings),
        "submissionMode": "K8sJobMode",
        "backoffLimit": job.backoff_limit,
        "submitterConfig": {"backoffLimit": job.submitter_backoff_limit},
        **deletion(settings),
        "submitterPodTemplate": submitter(settings),
        "rayClusterSpec": cluster_spec(settings),
    }
    if job.suspend:  # left out otherwise, as KubeRay writes it, so that Kueue or a user may set it
        spec["suspend"] = True
    if job.active_deadline_seconds:
        spec["activeDeadlineSeconds"] = job.active_deadline_seconds
    if job.pre_running_deadline_seconds:
        spec["preRunningDeadlineSeconds"] = job.pre_running_deadline_seconds
    return {"apiVersion": RAY_API, "kind": "RayJob", "metadata": workload_metadata(settings), "spec": spec}


def workload_metadata(settings: Settings) -> Object:
    """Return the metadata of the object that a queue admits."""
    labels = names(settings)
    if settings.queue.name:
        labels[QUEUE_LABEL] = settings.queue.name
    if settings.queue.priority_class:
        labels[PRIORITY_LABEL] = settings.queue.priority_class
    found = metadata(settings) | {"labels": labels}
    return found | {"annotations": {PRICES: settings.prices.note}} if settings.prices.note else found


def deletion(settings: Settings) -> Object:
    """Return KubeRay's deletion rules. With Kueue or a suspended job, only the whole cluster can be deleted.

    A job past its deadline has no job status FAILED. KubeRay rejects DeleteWorkers together with autoscaling.
    """
    rules = settings.job.deletion
    if settings.queue.name or settings.job.suspend:
        return {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": rules.workers_after_seconds}
    steps = [] if settings.autoscaling.enabled else [("DeleteWorkers", rules.workers_after_seconds)]
    steps.append(("DeleteCluster", rules.cluster_after_seconds))
    if rules.job_after_seconds:
        steps.append(("DeleteSelf", rules.job_after_seconds))
    return {
        "deletionStrategy": {
            "deletionRules": [
                {"policy": policy, "condition": {**status, "ttlSeconds": seconds}}
                for status in ({"jobStatus": "SUCCEEDED"}, {"jobDeploymentStatus": "Failed"})
                for policy, seconds in steps
            ]
        },
    }


def submitter(settings: Settings) -> Object:
    """Return the pod that submits the entrypoint to the head and follows its log."""
    container = {
        "name": "ray-job-submitter",
        **image(settings),
        "env": [{"name": "HOME", "value": "/tmp"}, *auth_env(settings)],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
        "securityContext": container_security(settings),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    pod = {
        "restartPolicy": "Never",
        **identity(settings, token=False),
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}],
    }
    return {"metadata": {"labels": names(settings) | {"app.kubernetes.io/component": "submitter"}}, "spec": pod}


def cluster_spec(settings: Settings) -> Object:
    """Return the Ray cluster: the head and the worker groups."""
    auth: Object = {"mode": settings.auth.mode}
    if settings.auth.mode == "token" and settings.auth.existing_secret:
        auth["secretName"] = settings.auth.existing_secret
    spec: Object = {
        "rayVersion": settings.ray.version,
        "authOptions": auth,
        "enableInTreeAutoscaling": settings.autoscaling.enabled,
        "headGroupSpec": head_group(settings),
        "workerGroupSpecs": [worker_group(settings, name, group) for name, group in settings.groups.items()],
    }
    if settings.autoscaling.enabled:
        spec["autoscalerOptions"] = autoscaler(settings)
    if settings.gcs_fault_tolerance.enabled:
        spec["gcsFaultToleranceOptions"] = gcs_options(settings)
    return spec


def autoscaler(settings: Settings) -> Object:
    """Return the options of Ray's autoscaler, a container of the head pod."""
    return {
        "version": "v2",
        "idleTimeoutSeconds": settings.autoscaling.idle_timeout_seconds,
        "upscalingMode": settings.autoscaling.upscaling_mode,
        "imagePullPolicy": settings.image.pull_policy,
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}},
        "securityContext": container_security(settings),
    }


def gcs_options(settings: Settings) -> Object:
    """Return the Redis address and password for Ray's control state."""
    gcs = settings.gcs_fault_tolerance
    options: Object = {"redisAddress": gcs.redis_address}
    if gcs.existing_secret:
        options["redisPassword"] = {"valueFrom": secret_key(gcs.existing_secret, gcs.password_key)}
    return options


def head_group(settings: Settings) -> Object:
    """Return the head group. It offers no CPUs, so the head stays responsive on a busy cluster."""
    head = settings.head
    ports = [("gcs", 6379), ("dashboard", 8265), ("client", 10001), ("metrics", 8080)]
    if settings.training.metrics_port:
        ports.append(("training", settings.training.metrics_port))
    template = pod_template(settings, "head", head, container(settings, "ray-head", head, 0, "", ports))
    return {
        "serviceType": "ClusterIP",
        "rayStartParams": {"dashboard-host": "0.0.0.0", "num-cpus": "0", "object-store-memory": store_bytes(head)},
        "template": template,
    }


def worker_group(settings: Settings, name: str, group: Workers) -> Object:
    """Return a worker group, whose pods offer CPUs, GPUs and the custom resources for actors."""
    gpus, scaled = gpus_of(group), settings.autoscaling.enabled
    resource = getattr(group, "gpu_resource", "")
    params = {
        "num-cpus": str(group.cpus),
        "num-gpus": str(gpus),
        "object-store-memory": store_bytes(group),
        "resources": ray_resources(make_plan(settings).load(name)),
    }
    ray_container = container(settings, "ray-worker", group, gpus, resource, [("metrics", 8080)])
    return {
        "groupName": name,
        "replicas": group.replicas,
        "minReplicas": group.min_replicas if scaled else group.replicas,
        "maxReplicas": group.max_replicas if scaled else group.replicas,
        "scaleStrategy": {},  # KubeRay adds it
        "rayStartParams": params,
        "template": pod_template(settings, name, group, ray_container),
    }


def ray_resources(load: Load) -> str:
    """Return the custom resources for actors in KubeRay's format: JSON in double quotes, with escaped quotes."""
    return json.dumps(json.dumps({RUNNER: load.runners, LEARNER: load.learners}))


def store_bytes(pod: Pod) -> str:
    """Return the size of Ray's object store in bytes."""
    return str(pod.object_store_mib * MIB)


def pod_template(settings: Settings, component: str, pod: Pod, ray_container: Object) -> Object:
    """Return a Ray pod: its container, the init container that compiles code, its volumes and its scheduling."""
    head = component == "head"
    spec: Object = {
        **identity(settings, token=head and settings.autoscaling.enabled),
        "terminationGracePeriodSeconds": pod.termination_grace_period_seconds,
        "initContainers": [warm_container(settings, ray_container)],
        "containers": [ray_container],
        "volumes": [*volumes(settings, pod, head), *pod.extra_volumes],
    }
    tolerations = [*pod.tolerations, *(SPOT_TAINTS if getattr(pod, "spot", False) else ())]
    place = {
        "nodeSelector": pod.node_selector,
        "tolerations": tolerations,
        "affinity": pod.affinity,
        "topologySpreadConstraints": list(pod.topology_spread_constraints),
        "priorityClassName": pod.priority_class_name,
        "runtimeClassName": pod.runtime_class_name,
    }
    spec |= {key: value for key, value in place.items() if value}
    labels = pod.labels | names(settings) | {"app.kubernetes.io/component": component}
    described: Object = {"labels": labels}
    if pod.annotations:
        described["annotations"] = pod.annotations
    return {"metadata": described, "spec": spec}


def container(
    settings: Settings, name: str, pod: Pod, gpus: int, resource: str, ports: list[tuple[str, int]]
) -> Object:
    """Return the Ray container. KubeRay adds the command."""
    return {
        "name": name,
        **image(settings),
        "env": environment(settings),
        **(
            {"envFrom": secrets}
            if (secrets := [{"secretRef": {"name": one}} for one in settings.env_from_secrets])
            else {}
        ),
        "ports": [{"name": port, "containerPort": number} for port, number in ports],
        "resources": resources(pod, gpus, resource),
        "securityContext": container_security(settings),
        "readinessProbe": probe(seconds=10, failures=6),
        "livenessProbe": probe(seconds=15, failures=12, delay=60),
        **({"lifecycle": leaving(pod)} if isinstance(pod, Head) else {}),
        "volumeMounts": [*mounts(settings, isinstance(pod, Head)), *pod.extra_volume_mounts],
    }


def leaving(head: Head) -> Object:
    """Return the hook that runs before a head is terminated."""
    seconds = head.termination_grace_period_seconds - LEAVE_SECONDS
    return {"preStop": {"exec": {"command": ["sh", "-c", LEAVE.format(seconds=seconds)]}}}


def warm_container(settings: Settings, ray_container: Object) -> Object:
    """Return the init container that copies the image's compiled code and compiles what this processor lacks."""
    copy = f"mkdir -p {DATA}/cache && if [ -d {settings.image.cache_path} ]; then cp -r {settings.image.cache_path}/. {DATA}/cache/; fi"
    return {
        "name": "warm",
        **image(settings),
        "command": ["sh", "-c", f"{copy} && ante warmup"],
        "env": [entry for entry in ray_container["env"] if entry["name"] in ("HOME", "ANTE_CACHE_DIR")],
        "resources": {kind: without_gpus(found) for kind, found in ray_container["resources"].items()},
        "securityContext": container_security(settings),
        "volumeMounts": [{"name": "data", "mountPath": DATA}, {"name": "tmp", "mountPath": "/tmp"}],
    }


def without_gpus(amounts: Object) -> Object:
    """Return the cores and memory of resource amounts."""
    return {name: amount for name, amount in amounts.items() if name in ("cpu", "memory")}


def probe(seconds: int, failures: int, delay: int = 0) -> Object:
    """Return the health probe of Ray's agent."""
    begin = {"initialDelaySeconds": delay} if delay else {}
    check = {"httpGet": {"path": "/api/healthz", "port": HEALTH_PORT}}
    return {**check, **begin, "periodSeconds": seconds, "timeoutSeconds": 5, "failureThreshold": failures}


def resources(pod: Pod, gpus: int, resource: str) -> Object:
    """Return requests and limits. GPUs are the same in both, as Kubernetes requires."""
    claimed = {resource: str(gpus)} if gpus else {}
    return {
        "requests": {"cpu": pod.cpu_request or str(pod.cpus), "memory": pod.memory_request or pod.memory, **claimed},
        "limits": {"cpu": str(pod.cpus), "memory": pod.memory, **claimed},
    }


def image(settings: Settings) -> Object:
    """Return the image and its pull policy."""
    return {"image": settings.image.reference, "imagePullPolicy": settings.image.pull_policy}


def identity(settings: Settings, token: bool) -> Object:
    """Return the pod's service account, user, groups and pull secrets."""
    security = settings.security
    user = {"runAsUser": security.run_as_user, "runAsGroup": security.run_as_group, "fsGroup": security.fs_group}
    found: Object = {
        "serviceAccountName": settings.account,
        "automountServiceAccountToken": token,
        "securityContext": {
            "runAsNonRoot": True,
            **({} if security.platform_user else user),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    if settings.image.pull_secrets:
        found["imagePullSecrets"] = [{"name": name} for name in settings.image.pull_secrets]
    return found


def container_security(settings: Settings) -> Object:
    """Return the restricted security context of a container."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": settings.security.read_only_root_filesystem,
        "capabilities": {"drop": ["ALL"]},
    }


def volumes(settings: Settings, pod: Pod, head: bool) -> list[Object]:
    """Return the writable volumes and the configuration volumes of a Ray pod."""
    found: list[Object] = [
        {"name": "data", "emptyDir": {"sizeLimit": pod.scratch}},
        {"name": "tmp", "emptyDir": {"sizeLimit": pod.scratch}},
        {"name": "shared-mem", "emptyDir": {"medium": "Memory", "sizeLimit": f"{pod.object_store_mib + 64}Mi"}},
    ]
    if head:
        found.append({"name": "train", "configMap": {"name": config_map_name(settings)}})
    if head and settings.head.runs_claim:
        found.append({"name": "runs", "persistentVolumeClaim": {"claimName": settings.head.runs_claim}})
    if settings.s3.ca_config_map:
        found.append({"name": "s3-ca", "configMap": {"name": settings.s3.ca_config_map}})
    return found


def mounts(settings: Settings, head: bool) -> list[Object]:
    """Return the volume mounts of a Ray container."""
    found: list[Object] = [
        {"name": "data", "mountPath": DATA},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "shared-mem", "mountPath": "/dev/shm"},
    ]
    if head:
        found.append({"name": "train", "mountPath": CONFIG_FOLDER, "readOnly": True})
    if head and settings.head.runs_claim:
        found.append({"name": "runs", "mountPath": f"{DATA}/runs", "subPath": "runs"})  # without lost+found
    if settings.s3.ca_config_map:
        found.append({"name": "s3-ca", "mountPath": CA, "readOnly": True})
    return found


def environment(settings: Settings) -> list[Object]:
    """Return the environment variables of a Ray container; secrets by reference only."""
    plain = {
        "HOME": DATA,
        "ANTE_CACHE_DIR": f"{DATA}/cache",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_JOB_STOP_WAIT_TIME_S": "90",  # for a stopped job to write and upload a checkpoint
        **s3_environment(settings),
        **llm_environment(settings),
        **({"ANTE_EVENTS_URL": settings.events.url} if settings.events.url else {}),
        **settings.env,
    }
    return [
        *({"name": name, "value": value} for name, value in plain.items()),
        *auth_env(settings),
        *secret_env(settings),
        *({"name": name, "valueFrom": dict(source)} for name, source in sorted(settings.env_value_from.items())),
    ]


def s3_environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables of the bucket."""
    s3 = settings.s3
    found = {"S3_BUCKET_NAME": s3.bucket, "S3_REGION_NAME": s3.region}
    if s3.endpoint:
        found["S3_ENDPOINT_URL"] = s3.endpoint
    if s3.addressing != "path":
        found["S3_ADDRESSING_STYLE"] = s3.addressing
    if s3.encryption:
        found["S3_ENCRYPTION"] = s3.encryption
    if s3.kms_key:
        found["S3_KMS_KEY_ID"] = s3.kms_key
    if not s3.verify:
        found["S3_VERIFY"] = "false"
    if s3.ca_config_map:
        found["S3_CA_BUNDLE"] = f"{CA}/ca.crt"
    return found


def llm_environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables of the LLM."""
    llm = settings.llm
    if not llm.enabled:
        return {}
    return {"LLM_ENDPOINT": llm.endpoint, "LLM_MODEL": llm.model, "LLM_VISION": "true" if llm.vision else "false"}


def auth_env(settings: Settings) -> list[Object]:
    """Return Ray's authentication mode, explicit because its default depends on the version. KubeRay adds the token."""
    return [{"name": "RAY_AUTH_MODE", "value": settings.auth.mode}]


def secret_env(settings: Settings) -> list[Object]:
    """Return environment variables with values from Secrets."""
    s3, llm, found = settings.s3, settings.llm, []
    if settings.s3_secret:
        found.append(("S3_ACCESS_KEY_ID", settings.s3_secret, s3.access_key_key))
        found.append(("S3_SECRET_ACCESS_KEY", settings.s3_secret, s3.secret_key_key))
    if llm.enabled and llm.existing_secret:
        found.append(("LLM_API_KEY", llm.existing_secret, llm.api_key_key))
    if settings.events.url and settings.events.existing_secret:
        found.append(("ANTE_EVENTS_TOKEN", settings.events.existing_secret, "token"))
    if name := settings.notifications.existing_secret:
        found.append(("ANTE_WEBHOOK_URL", name, settings.notifications.url_key))
    return [{"name": name, "valueFrom": secret_key(secret, key)} for name, secret, key in found]


def secret_key(secret: str, key: str) -> Object:
    """Return a reference to one key of a Secret."""
    return {"secretKeyRef": {"name": secret, "key": key}}
