"""A pod that checks image, bucket and LLM from inside the cluster."""

import time
from collections.abc import Callable
from typing import get_args

from ante.deploy.access import Access, NotThere, Object, Rejected
from ante.deploy.checks import Check, State, bad, from_json, good, unsure
from ante.deploy.settings import Settings
from ante.deploy.spec import container_security, environment, identity, image, mounts, names, volumes
from ante.deploy.trainings import pod_state
from ante.errors import BalatroError
from ante.files import parse_json

PULL_ERRORS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
POLL_SECONDS = 1.0
DENIED_ROLE = "k8s/rbac.yaml contains the required role"


def proof_pod(settings: Settings) -> Object:
    """Return the pod: Ante's image, the environment of a Ray pod, and the preflight command."""
    component = {"app.kubernetes.io/component": "preflight"}
    container = {
        "name": "preflight",
        **image(settings),
        "command": ["ante", "cluster", "preflight", "--in-pod", "--json"],
        "env": [*environment(settings), {"name": "ANTE_STORE", "value": settings.s3.url}],
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
        "securityContext": container_security(settings),
        "volumeMounts": mounts(settings, head=False),
    }
    pod = identity(settings, token=False)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{settings.name}-preflight",
            "namespace": settings.namespace,
            "labels": names(settings) | component,
        },
        "spec": {
            **pod,
            # The account of the training may not exist yet; only with a role does the pod need it.
            "serviceAccountName": settings.account if settings.s3.pod_role else "default",
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 5,
            "nodeSelector": settings.head.node_selector,
            "tolerations": list(settings.head.tolerations),
            "containers": [container],
            "volumes": volumes(settings, settings.head, head=False),
        },
    }


def run_preflight_pod(access: Access, settings: Settings, seconds: float, report: Callable[[str], None]) -> list[Check]:
    """Run the pod, return its results and delete it."""
    pod = proof_pod(settings)
    name = pod["metadata"]["name"]
    access.delete("Pod", name, grace_seconds=0)
    access.wait_gone("Pod", name, 30)
    try:  # POST: server-side apply would also require the permission to patch pods
        access.call("POST", access.path("Pod", None), f"Pod {name}", body=pod)
    except Rejected as error:
        return [bad("pod", str(error))]
    try:
        found = wait_for_end(access, name, seconds, report)
        if isinstance(found, Check):
            return [found]
        lines = list(access.logs(name))
    finally:
        access.delete("Pod", name, grace_seconds=0)
    checks = read(lines, found["status"]["phase"] == "Failed")
    return [good("image", f"{settings.image.reference} runs on node {found['spec'].get('nodeName', '')}"), *checks]


def wait_for_end(access: Access, name: str, seconds: float, report: Callable[[str], None]) -> Object | Check:
    """Wait for the pod to end and return it, or return a failed check if it cannot."""
    end = time.monotonic() + seconds
    while True:
        pod = access.get("Pod", name)
        state = pod_state(pod)
        if state.phase in ("Succeeded", "Failed"):
            return pod
        if blocked := blocking_problem(pod, state.why):
            return blocked
        report(f"{state.phase} {state.why}".strip())
        if time.monotonic() > end:
            words = f"the pod is {state.phase} after {seconds:.0f} s {state.why}".strip()
            return bad("pod", words, f"kubectl --namespace {access.namespace} describe pod {name}; or raise --seconds")
        time.sleep(POLL_SECONDS)


def blocking_problem(pod: Object, why: str) -> Check | None:
    """Return why a pending pod can never start."""
    wanted = pod["spec"]["containers"][0]["image"]
    if any(reason in why for reason in PULL_ERRORS):
        fix = "push it, correct image.repository or image.tag, set image.pullSecrets, or load it on the nodes"
        return bad("image", f"{wanted} cannot be pulled: {why}", fix)
    if "CreateContainerConfigError" in why:
        return bad("secrets", why, "create the Secret, with the keys named in s3.accessKeyKey and s3.secretKeyKey")
    if "RunContainerError" in why or "CreateContainerError" in why:
        return bad("image", f"{wanted} does not start: {why}")
    scheduled = [one for one in pod.get("status", {}).get("conditions", ()) if one["type"] == "PodScheduled"]
    if scheduled and scheduled[0]["status"] == "False" and scheduled[0].get("reason") == "Unschedulable":
        return bad("placement", f"the preflight pod cannot be scheduled: {scheduled[0].get('message', '')}")
    return None


def read(lines: list[str], failed: bool = False) -> list[Check]:
    """Return the checks that the pod printed, and a failed check if they do not explain its end.

    failed  whether the pod ended with an error
    """
    found, other = [], []
    for line in lines:
        try:
            check = from_json(parse_json(line, "the log"))
        except BalatroError:  # the log also has lines of other programs
            other.append(line)
            continue
        if check.state in get_args(State):
            found.append(check)
    last = " / ".join(line for line in other if line.strip())[-300:]
    if not found:
        return [bad("pod", f"the image does not contain ante's preflight: {last}", "build it from Dockerfile.ray")]
    if failed and all(check.state != "fail" for check in found):
        found.append(bad("pod", f"the preflight pod ended with an error: {last or 'its log does not name it'}"))
    return found


def account(access: Access, settings: Settings) -> list[Check]:
    """Check that the service account exists whose role pods use for the bucket; without `s3.podRole` there is no check."""
    if not settings.s3.pod_role:
        return []
    name = settings.account
    if access.find("ServiceAccount", name) is not None:
        return [good("account", f"service account {name}, whose role the pods use")]
    if settings.service_account.create:
        again = "run this command again then: it tests image, bucket and LLM from a pod"
        return [unsure("bucket", f"service account {name} with the role is created with the training", again)]
    create = f"kubectl --namespace {access.namespace} create serviceaccount {name}, and annotate it with the role"
    return [bad("account", f"service account {name} does not exist in namespace {access.namespace}", create)]


def secrets(access: Access, settings: Settings) -> list[Check]:
    """Check that the Secrets that pods use exist and have their keys. Values are not checked."""
    wanted: dict[str, list[str]] = {}
    if settings.s3_secret:
        wanted[settings.s3_secret] = [settings.s3.access_key_key, settings.s3.secret_key_key]
    if settings.llm.enabled and settings.llm.existing_secret:
        wanted.setdefault(settings.llm.existing_secret, []).append(settings.llm.api_key_key)
    if settings.events.url and settings.events.existing_secret:
        wanted.setdefault(settings.events.existing_secret, []).append("token")
    if notices := settings.notifications.existing_secret:
        wanted.setdefault(notices, []).append(settings.notifications.url_key)
    for name in (*settings.env_from_secrets, *settings.image.pull_secrets):
        wanted.setdefault(name, [])
    if settings.auth.mode == "token" and settings.auth.existing_secret:
        wanted.setdefault(settings.auth.existing_secret, []).append("auth_token")
    made = settings.s3_secret if settings.chart_makes_s3_secret else ""
    return [secret(access, name, keys, name == made) for name, keys in wanted.items()]


def secret(access: Access, name: str, keys: list[str], chart_makes_it: bool) -> Check:
    """Check one Secret; one that `helm install` creates may be missing, and the check is then named `bucket`."""
    create = f"kubectl --namespace {access.namespace} create secret generic {name} " + " ".join(
        f"--from-literal={key}=..." for key in keys
    )
    try:
        if not access.may("get", "Secret", name=name):
            return unsure("secrets", f"not allowed to get Secret {name}", DENIED_ROLE)
        found = access.get("Secret", name)
    except NotThere:
        if chart_makes_it:
            again = "run this command again after helm install: it then tests image, bucket and LLM from a pod"
            return unsure("bucket", f"helm install creates the bucket and its Secret {name}", again)
        return bad("secrets", f"Secret {name} does not exist in namespace {access.namespace}", create.strip())
    missing = [key for key in keys if key not in found.get("data", {})]
    if missing:
        return bad(
            "secrets",
            f"Secret {name} has no key {', '.join(missing)}",
            f"{create} --dry-run=client -o yaml | kubectl apply -f -",
        )
    return good("secrets", f"{name}: {', '.join(keys)}" if keys else name)
