"""A client of the Kubernetes API that gets, applies and deletes objects and translates API errors."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from ante.errors import BalatroError

Object = dict[str, Any]

OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
MANAGER = "ante"  # field manager of server-side apply
TIMEOUT = (5.0, 30.0)  # seconds to connect, and to read
SILENCE_SECONDS = 300.0  # of a followed log, after which the connection counts as lost
# In RBAC's words; quotas and policies also answer 403, in others.
MISSING_ROLE = re.compile(r"\bcannot \w+ (resource|path)\b")
INSTALL_KUBERAY = (
    "helm repo add kuberay https://ray-project.github.io/kuberay-helm && helm install kuberay-operator "
    "kuberay/kuberay-operator --version 1.7.0 --namespace kuberay-system --create-namespace"
)
# Kind: API prefix, plural in paths, whether it is namespaced.
KINDS = {
    "Namespace": ("api/v1", "namespaces", False),
    "Node": ("api/v1", "nodes", False),
    "Pod": ("api/v1", "pods", True),
    "Service": ("api/v1", "services", True),
    "Secret": ("api/v1", "secrets", True),
    "ConfigMap": ("api/v1", "configmaps", True),
    "ServiceAccount": ("api/v1", "serviceaccounts", True),
    "ResourceQuota": ("api/v1", "resourcequotas", True),
    "Deployment": ("apis/apps/v1", "deployments", True),
    "RayJob": ("apis/ray.io/v1", "rayjobs", True),
    "RayCluster": ("apis/ray.io/v1", "rayclusters", True),
    "LocalQueue": ("apis/kueue.x-k8s.io/{kueue}", "localqueues", True),
    "ClusterQueue": ("apis/kueue.x-k8s.io/{kueue}", "clusterqueues", False),
    "SelfSubjectAccessReview": ("apis/authorization.k8s.io/v1", "selfsubjectaccessreviews", False),
}


class NoCluster(BalatroError, ConnectionError):
    """No Kubernetes API can be reached."""


class NotAllowed(BalatroError, PermissionError):
    """The API server denied access."""


class NotThere(BalatroError, LookupError):
    """An object does not exist."""


class NoKind(BalatroError, LookupError):
    """The cluster does not support a kind of object."""


class Rejected(BalatroError, ValueError):
    """The API server rejected an object."""


class Access:
    """A client of one Kubernetes API server, with the credentials of one user."""

    def __init__(self, api_client: client.ApiClient, namespace: str = "default") -> None:
        self.api_client = api_client
        self.namespace = namespace
        self.host = api_client.configuration.host

    def request(
        self, method: str, path: str, body: Any = None, query: dict[str, Any] | None = None, content: str = "json"
    ) -> Any:
        """Return the API server's JSON response. Raises NoCluster, and ApiException for an error status."""
        headers = {"Accept": "application/json", "Content-Type": f"application/{content}"}
        pairs = [(name, str(value)) for name, value in (query or {}).items()]
        text = json.dumps(body) if content.endswith("yaml") else body  # the client writes the rest as JSON
        request = self.api_client.param_serialize(
            method, f"/{path}", query_params=pairs, header_params=headers, body=text, auth_settings=["BearerToken"]
        )
        try:
            answer = self.api_client.call_api(*request, _request_timeout=TIMEOUT)
            data = answer.read()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise NoCluster(
                f"no response from {self.host}: {reason(error)}; see kubectl cluster-info, or choose another --context"
            ) from None
        if not 200 <= answer.status <= 299:
            raise ApiException(http_resp=answer)
        try:
            return json.loads(data) if data else {}
        except (ValueError, RecursionError):
            raise NoCluster(f"{self.host} did not answer with JSON: is it a Kubernetes API server?") from None

    def version(self) -> tuple[int, int]:
        """Return the major and minor version of the API server. Raises NoCluster, NotAllowed."""
        found = self.call("GET", "version", "the version")
        try:
            return int(found["major"]), int("".join(letter for letter in found["minor"] if letter.isdigit()))
        except (KeyError, TypeError, ValueError):
            raise NoCluster(f"{self.host} has no version: is it a Kubernetes API server?") from None

    def call(self, method: str, path: str, what: str, **options: Any) -> Any:
        """Send a request and translate API errors. Raises NoCluster, NotAllowed, NotThere, NoKind, Rejected."""
        try:
            return self.request(method, path, **options)
        except ApiException as error:
            raise refusal(error, method, what) from None

    def path(self, kind: str, namespace: str | None, name: str = "") -> str:
        """Return the path of a kind or of one object. `namespace`: None for the client's own, "" for all."""
        prefix, plural, inside = KINDS[kind]
        if "{kueue}" in prefix:
            prefix = prefix.format(kueue=self.kueue_version())
        chosen = self.namespace if namespace is None else namespace
        middle = f"namespaces/{chosen}/" if inside and chosen else ""
        return f"{prefix}/{middle}{plural}" + (f"/{name}" if name else "")

    def kueue_version(self) -> str:
        """Return the preferred version of Kueue's API in the cluster. Raises NoKind."""
        try:
            group = self.request("GET", "apis/kueue.x-k8s.io")
        except ApiException:
            raise NoKind(
                "the cluster has no Kueue: install it (https://kueue.sigs.k8s.io), or leave queue.name empty"
            ) from None
        return str(group["preferredVersion"]["version"])

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """Return one object. Raises NotThere, NoKind, NotAllowed, NoCluster."""
        found: Object = self.call("GET", self.path(kind, namespace, name), f"{kind} {name}")
        return found

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Return one object, or None if it does not exist."""
        try:
            return self.get(kind, name, namespace)
        except NotThere:
            return None

    def list(self, kind: str, namespace: str | None = None, labels: str = "") -> list[Object]:
        """Return all objects of a kind, with `labels` (such as a=b,c=d) those that match."""
        query = {"labelSelector": labels} if labels else None
        found = self.call("GET", self.path(kind, namespace), f"{kind}s", query=query)
        return [{"kind": kind, **item} for item in found["items"]]

    def apply(self, found: Object, dry_run: bool = False) -> Object:
        """Apply the object (server-side, with strict field validation); with `dry_run`, validate only."""
        query = {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        name = found["metadata"]["name"]
        path = self.path(found["kind"], found["metadata"].get("namespace"), name)
        made: Object = self.call(
            "PATCH", path, f"{found['kind']} {name}", body=found, query=query, content="apply-patch+yaml"
        )
        return made

    def merge(self, kind: str, name: str, patch: Object) -> Object:
        """Apply a merge patch to an object and return the result."""
        made: Object = self.call(
            "PATCH", self.path(kind, None, name), f"{kind} {name}", body=patch, content="merge-patch+json"
        )
        return made

    def delete(self, kind: str, name: str, grace_seconds: int | None = None) -> bool:
        """Delete the object and its dependents; return False if it does not exist."""
        options: Object = {"propagationPolicy": "Foreground" if kind.startswith("Ray") else "Background"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        try:
            self.call("DELETE", self.path(kind, None, name), f"{kind} {name}", body=options)
        except NotThere:
            return False
        return True

    def may(self, verb: str, kind: str, subresource: str = "", name: str = "") -> bool:
        """Return whether the user has this permission in the namespace, for one object or for all."""
        prefix, plural, inside = KINDS[kind]
        group = prefix.split("/")[1] if prefix.startswith("apis/") else ""
        attributes = {"verb": verb, "group": group, "resource": plural, "subresource": subresource}
        if inside:
            attributes["namespace"] = self.namespace
        if name:
            attributes["name"] = name
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        answer = self.call("POST", self.path("SelfSubjectAccessReview", None), "permissions", body=review)
        return bool(answer["status"]["allowed"])

    def logs(
        self,
        pod: str,
        follow: bool = False,
        container: str = "",
        tail: int | None = None,
        since: int | None = None,
        times: bool = False,
    ) -> Iterator[str]:
        """Yield a pod's log lines, with `follow` until it exits. Raises NotThere, NotAllowed, Rejected, NoCluster.

        tail, since  only the last lines, and only those of the last seconds
        times        each line begins with its time and a space; these texts are in the order of the times
        """
        options: dict[str, Any] = {
            "follow": follow,
            "timestamps": times,
            "_preload_content": False,
            "_request_timeout": (TIMEOUT[0], SILENCE_SECONDS if follow else TIMEOUT[1]),
        }
        if container:
            options["container"] = container
        if tail is not None:
            options["tail_lines"] = tail
        if since is not None:
            options["since_seconds"] = since
        try:
            stream = client.CoreV1Api(self.api_client).read_namespaced_pod_log(pod, self.namespace, **options)
            with closing(stream):
                rest = b""
                for part in stream.stream(amt=None, decode_content=False):
                    *lines, rest = (rest + part).split(b"\n")
                    yield from (line.decode(errors="replace") for line in lines)
                if rest:
                    yield rest.decode(errors="replace")
        except ApiException as error:
            raise refusal(error, "GET", f"the log of pod {pod}") from None
        except urllib3.exceptions.HTTPError as error:
            raise NoCluster(f"{self.host} closed the connection to the log of pod {pod}: {reason(error)}") from None

    def wait_gone(self, kind: str, name: str, seconds: float) -> bool:
        """Return whether the object is deleted within this time."""
        end = time.monotonic() + seconds
        while self.find(kind, name) is not None:
            if time.monotonic() > end:
                return False
            time.sleep(0.5)
        return True


def connect(context: str | None = None, namespace: str | None = None, login: Mapping[str, Any] | None = None) -> Access:
    """Connect to the cluster that kubectl uses, or to the one that this pod runs in. Raises NoCluster.

    login  connects with these arguments of kube_authkit.AuthConfig instead; a token is read from AUTHKIT_TOKEN
    """
    if login is not None:
        return Access(without_retries(logged_in(login)), namespace or own_namespace())
    try:
        api_client = config.new_client_from_config(context=context)
        chosen = context_named(context)
        return Access(without_retries(api_client), namespace or chosen["context"].get("namespace") or "default")
    except config.ConfigException as error:
        if context:
            raise NoCluster(f"no context {context!r}: {error}; kubectl config get-contexts lists them") from None
    try:
        inside = client.Configuration()
        config.load_incluster_config(client_configuration=inside)
    except config.ConfigException:
        raise NoCluster(
            "no cluster is configured: set KUBECONFIG, or write ~/.kube/config (kubectl cluster-info checks it)"
        ) from None
    return Access(without_retries(client.ApiClient(inside)), namespace or own_namespace())


def context_named(context: str | None) -> Object:
    """Return a context of the kubeconfig, the current one by default."""
    every, current = config.list_kube_config_contexts()
    found: Object = current if context is None else next(one for one in every if one["name"] == context)
    return found


def logged_in(login: Mapping[str, Any]) -> client.ApiClient:
    """Return a client that kube-authkit authenticated. Raises NoCluster."""
    from kube_authkit import AuthConfig, AuthenticationError, get_k8s_client

    try:
        return get_k8s_client(config=AuthConfig(**login))
    except (AuthenticationError, TypeError) as error:
        raise NoCluster(f"the login failed: {' '.join(str(error).split())}") from None


def own_namespace() -> str:
    """Return the namespace of the pod that this process runs in. Raises NoCluster."""
    try:
        return OWN_NAMESPACE.read_text().strip()
    except FileNotFoundError:
        raise NoCluster("this process does not run in a pod: name the namespace") from None


def without_retries(api_client: client.ApiClient) -> client.ApiClient:
    """Return the client with retries disabled."""
    api_client.configuration.retries = False
    return client.ApiClient(api_client.configuration)


def reason(error: Exception) -> str:
    """Return the root cause of a chain of network errors."""
    inner = getattr(error, "reason", None) or (error.args[-1] if error.args else error)
    return str(inner).rpartition(">: ")[2] or type(error).__name__


def message(error: ApiException) -> tuple[str, bool]:
    """Return the error message, and whether it is a Kubernetes Status (for unknown paths it is a plain page)."""
    try:
        status = json.loads(error.body or "")
        return str(status.get("message") or error.reason), status.get("kind") == "Status"
    except (ValueError, TypeError, AttributeError, RecursionError):
        return str(error.body or error.reason).strip(), False


def refusal(error: ApiException, method: str, what: str) -> BalatroError:
    """Return the error class and message for an API error."""
    words, own = message(error)
    if error.status == 401:
        return NotAllowed(f"the API server did not accept the credentials: log in again ({words})")
    if error.status == 403 and MISSING_ROLE.search(words):
        return NotAllowed(f"not allowed ({method} {what}): {words}; k8s/rbac.yaml contains the required role")
    if error.status == 404 and what.startswith("Ray") and (not own or "could not find the requested" in words):
        return NoKind(f"the cluster does not serve ray.io/v1: install KubeRay: {INSTALL_KUBERAY}")
    if error.status == 404 and own and method == "PATCH" and "namespaces" in words:
        return NotThere(f"{words}: create it with kubectl create namespace and retry")
    if error.status == 404:
        return NotThere(f"{what} does not exist")
    return Rejected(f"{what} was rejected: {words}")
