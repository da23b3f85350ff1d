"""A Kubernetes API in memory: discovery, the resources that Ante and CodeFlare use, and KubeRay's effects on them.

It checks tokens, permissions and objects (manifests.py), so clients that would fail on a real API server fail here.
Pods run immediately, unless `pod_states` overrides it; a port-forward is connected to `ports` of this machine.
"""

import base64
import hashlib
import json
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from tests.support.manifests import Object, Refused, check

TOKEN = "stub-token"
KINDS = {  # group/version: {plural: (kind, namespaced)}
    "v1": {
        "namespaces": ("Namespace", False), "nodes": ("Node", False), "pods": ("Pod", True), "secrets": ("Secret", True),
        "configmaps": ("ConfigMap", True), "serviceaccounts": ("ServiceAccount", True), "services": ("Service", True),
        "resourcequotas": ("ResourceQuota", True),
    },
    "apps/v1": {"deployments": ("Deployment", True)},
    "networking.k8s.io/v1": {"ingresses": ("Ingress", True)},
    "ray.io/v1": {"rayjobs": ("RayJob", True), "rayclusters": ("RayCluster", True)},
    "kueue.x-k8s.io/v1beta2": {"localqueues": ("LocalQueue", True), "clusterqueues": ("ClusterQueue", False)},
}  # fmt: skip
PATH = re.compile(
    r"^/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+/[^/]+))(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<part>log|portforward|exec|status))?$"
)
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # constant of the websocket handshake, RFC 6455
HEALTHY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


class Cluster:
    """The objects of the API server."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}  # by kind, namespace, name
        self.groups = dict(KINDS)
        self.down = False  # close every connection without an answer
        self.stalled = 0  # logs that are requested and never answered
        self.denied: set[tuple[str, str]] = set()  # verb and plural
        self.pod_states: dict[str, Object] = {}  # by component: status of its pods
        self.logs: dict[str, str] = {}  # by component
        self.executed: list[tuple[str, str]] = []  # pod and container of each command
        self.ports: dict[int, int] = {}  # pod's port: local port
        self.requests: list[str] = []
        self.lock = threading.RLock()
        self.count = 0
        self.put({"kind": "Namespace", "metadata": {"name": "default"}})
        self.put(node("one", cpu="32", memory="128Gi", gpus=2))
        operator = {"image": "quay.io/kuberay/operator:v1.7.0", "name": "operator"}
        self.put({
            "kind": "Deployment", "metadata": {"name": "kuberay-operator", "namespace": "kuberay-system"},
            "spec": {"template": {"spec": {"containers": [operator]}}}, "status": {"readyReplicas": 1},
        })  # fmt: skip

    def put(self, found: Object) -> Object:
        """Store an object with the fields that the server adds."""
        with self.lock:
            about = found["metadata"]
            key = (found["kind"], about.get("namespace", ""), about["name"])
            self.count += 1
            before = self.objects.get(key, {}).get("metadata", {})
            about.setdefault("uid", before.get("uid", f"uid-{self.count}"))
            about.setdefault("creationTimestamp", before.get("creationTimestamp", "2026-11-21T00:00:00Z"))
            about["resourceVersion"] = str(self.count)
            self.objects[key] = found
            return found

    def all(self, kind: str, namespace: str | None = None) -> list[Object]:
        """Return the objects of a kind, of one namespace or all."""
        with self.lock:
            return [o for (k, n, _), o in self.objects.items() if k == kind and namespace in (None, n)]

    def remove(self, key: tuple[str, str, str]) -> None:
        """Remove an object and the objects that it owns."""
        with self.lock:
            gone = self.objects.pop(key)
            uid = gone["metadata"]["uid"]
            for other, found in list(self.objects.items()):
                if any(owner["uid"] == uid for owner in found["metadata"].get("ownerReferences", ())):
                    if other in self.objects:
                        self.remove(other)

    def reconcile(self, found: Object) -> None:
        """Act as KubeRay for a RayJob or RayCluster, and as a kubelet for a pod."""
        if found["kind"] == "RayJob" and not found["spec"].get("suspend"):
            self.start_job(found)
        if found["kind"] == "RayCluster" and not found["spec"].get("suspend"):
            self.start_cluster(found)
        if found["kind"] == "Pod":
            component = found["metadata"].get("labels", {}).get("app.kubernetes.io/component", "")
            found["status"] = deepcopy(self.pod_states.get(component, HEALTHY))
            found["spec"].setdefault("nodeName", "one")

    def suspend(self, found: Object) -> None:
        """Act as KubeRay 1.7 for a suspended RayJob or RayCluster."""
        if found["kind"] == "RayJob" and not found["spec"].get("shutdownAfterJobFinishes"):
            found["status"]["jobDeploymentStatus"] = "ValidationFailed"
            return
        for kind, namespace, name in [key for key in self.objects if key[0] in ("RayCluster", "Pod")]:
            uid, one = found["metadata"]["uid"], self.objects.get((kind, namespace, name))
            if one and any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences", ())):
                self.remove((kind, namespace, name))
        state = {"jobDeploymentStatus": "Suspended"} if found["kind"] == "RayJob" else {"state": "suspended"}
        found["status"] = state

    def start_job(self, job: Object) -> None:
        about = job["metadata"]
        cluster = {
            "apiVersion": "ray.io/v1", "kind": "RayCluster",
            "metadata": {"name": f"{about['name']}-abcde", "namespace": about["namespace"], "labels": dict(about["labels"]),
                         "ownerReferences": [owner(job)]},
            "spec": deepcopy(job["spec"]["rayClusterSpec"]),
        }  # fmt: skip
        job["status"] = {
            "jobDeploymentStatus": "Running",
            "jobStatus": "RUNNING",
            "rayClusterName": f"{about['name']}-abcde",
        }
        self.put(cluster)
        self.start_cluster(cluster)
        self.pod_of(job, f"{about['name']}-submit", job["spec"]["submitterPodTemplate"])

    def start_cluster(self, cluster: Object) -> None:
        cluster["status"] = {"state": "ready"}
        name, spec = cluster["metadata"]["name"], cluster["spec"]
        if spec.get("authOptions", {}).get("mode") == "token":
            self.put({
                "kind": "Secret", "data": {"auth_token": base64.b64encode(b"ray-token").decode()},
                "metadata": {"name": name, "namespace": cluster["metadata"]["namespace"], "ownerReferences": [owner(cluster)]},
            })  # fmt: skip
        self.pod_of(cluster, f"{name}-head", spec["headGroupSpec"]["template"])
        for group in spec["workerGroupSpecs"]:
            for number in range(group["replicas"]):
                self.pod_of(cluster, f"{name}-{group['groupName']}-{number}", group["template"])

    def pod_of(self, parent: Object, name: str, template: Object) -> None:
        pod = {
            "kind": "Pod", "spec": deepcopy(template["spec"]),
            "metadata": {"name": name, "namespace": parent["metadata"]["namespace"], "ownerReferences": [owner(parent)],
                         "labels": dict(template["metadata"]["labels"])},
        }  # fmt: skip
        self.reconcile(pod)
        self.put(pod)


def owner(found: Object) -> Object:
    """Return an owner reference to an object."""
    return {"kind": found["kind"], "name": found["metadata"]["name"], "uid": found["metadata"]["uid"]}


def node(name: str, cpu: str, memory: str, gpus: int = 0, **more: Any) -> Object:
    """Return a schedulable node."""
    room = {"cpu": cpu, "memory": memory, "pods": "110"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    labels = {"kubernetes.io/hostname": name, **more.pop("labels", {})}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": more, "status": {"allocatable": room}}


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # header and body are separate packets: 40 ms of delay per request
    cluster: Cluster

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        self.answer("GET")

    def do_POST(self) -> None:
        self.answer("POST")

    def do_PATCH(self) -> None:
        self.answer("PATCH")

    def do_DELETE(self) -> None:
        self.answer("DELETE")

    def answer(self, method: str) -> None:
        if self.cluster.down:
            self.close_connection = True
            return None
        url = urlsplit(self.path)
        self.cluster.requests.append(f"{method} {url.path}")
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.status(401, "Unauthorized", "Unauthorized")
        with self.cluster.lock:
            found = self.discovery(url.path) if method == "GET" else None
            if found is not None:
                return self.send(200, found)
            if url.path.endswith("/selfsubjectaccessreviews"):
                return self.review(json.loads(body))
        match = PATH.match(url.path)
        group = match and (match["core"] or match["group"])
        if not match or match["plural"] not in self.cluster.groups.get(group, {}):
            return self.send(404, "404 page not found")
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        kind = self.cluster.groups[group][match["plural"]][0]
        if match["part"] == "portforward":
            return self.forward(int(query["ports"]))
        if match["part"] == "exec":
            return self.execute(match["name"], parse_qs(url.query))
        if match["part"] == "log" and self.cluster.stalled:
            self.cluster.stalled -= 1
            self.close_connection = True
            return time.sleep(10)
        with self.cluster.lock:
            if (verb_of(method, match["name"]), match["plural"]) in self.cluster.denied:
                words = f'{match["plural"]} is forbidden: User "stub" cannot {verb_of(method, match["name"])} resource'
                return self.status(403, "Forbidden", words)
            if match["part"] == "log":
                return self.log(match["namespace"], match["name"], query)
            self.resource(method, kind, match["namespace"] or "", match["name"], query, body)

    def discovery(self, path: str) -> Object | None:
        """Return groups, versions and resources."""
        groups = self.cluster.groups
        if path == "/version":
            return {"major": "1", "minor": "35", "gitVersion": "v1.35.0"}
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        named = [group_of(name) for name in groups if "/" in name]
        if path == "/apis":
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": named}
        for group in named:
            if path == f"/apis/{group['name']}":
                return {"kind": "APIGroup", "apiVersion": "v1", **group}
        version = path.removeprefix("/apis/").removeprefix("/api/")
        if version in groups and path.startswith("/api"):
            rows = [
                {"name": plural, "singularName": "", "namespaced": inside, "kind": kind,
                 "verbs": ["get", "list", "create", "patch", "delete"]}
                for plural, (kind, inside) in groups[version].items()
            ]  # fmt: skip
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": rows}
        return None

    def review(self, body: Object) -> None:
        """Send whether an action is allowed."""
        wanted = body["spec"]["resourceAttributes"]
        name = "/".join(part for part in (wanted["resource"], wanted.get("subresource")) if part)
        self.send(201, {**body, "status": {"allowed": (wanted["verb"], name) not in self.cluster.denied}})

    def resource(self, method: str, kind: str, namespace: str, name: str | None, query: Object, body: bytes) -> None:
        """Get, list, create, patch or delete."""
        key = (kind, namespace, name or "")
        if method == "GET" and not name:
            items = [
                o for o in self.cluster.all(kind, namespace or None) if selected(o, query.get("labelSelector", ""))
            ]
            return self.send(200, {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": items})
        if method in ("GET", "DELETE") and key not in self.cluster.objects:
            return self.status(404, "NotFound", f'{kind.lower()}s "{name}" not found')
        if method == "GET":
            return self.send(200, self.cluster.objects[key])
        if method == "DELETE":
            self.cluster.remove(key)
            return self.send(200, {"kind": "Status", "status": "Success"})
        if namespace and ("Namespace", "", namespace) not in self.cluster.objects:
            return self.status(404, "NotFound", f'namespaces "{namespace}" not found')
        if "merge-patch" in self.headers.get("Content-Type", ""):
            return self.write(merge(deepcopy(self.cluster.objects[key]), json.loads(body)), query, 200)
        found = yaml.safe_load(body)
        if method == "POST" and (kind, namespace, found["metadata"]["name"]) in self.cluster.objects:
            return self.status(409, "AlreadyExists", f"{found['metadata']['name']} already exists")
        found["metadata"].setdefault("namespace", namespace)
        try:
            check({**found, "metadata": {k: v for k, v in found["metadata"].items() if k != "creationTimestamp"}})
        except Refused as error:
            return self.status(422, "Invalid", str(error))
        self.write(found, query, 201 if method == "POST" else 200)

    def write(self, found: Object, query: Object, code: int) -> None:
        """Store the object, unless this is a dry run."""
        if query.get("dryRun") != "All":
            key = (found["kind"], found["metadata"].get("namespace", ""), found["metadata"]["name"])
            if key in self.cluster.objects:
                found.setdefault("status", self.cluster.objects[key].get("status", {}))
            new = key not in self.cluster.objects
            was = not new and self.cluster.objects[key].get("spec", {}).get("suspend")
            suspended = found.get("spec", {}).get("suspend")
            self.cluster.put(found)
            if new or (was and not suspended):
                self.cluster.reconcile(found)
            elif suspended and not was:
                self.cluster.suspend(found)
        self.send(code, found)

    def log(self, namespace: str, name: str, query: Object) -> None:
        """Return a pod's log. A line may begin with its age in seconds and a bar, for sinceSeconds."""
        pod = self.cluster.objects.get(("Pod", namespace, name))
        if pod is None:
            return self.status(404, "NotFound", f'pods "{name}" not found')
        containers = [one["name"] for one in pod["spec"]["containers"]]
        if query.get("container", containers[0] if len(containers) == 1 else "") not in containers:
            return self.status(400, "BadRequest", f"a container name must be one of {containers}")
        component = pod["metadata"].get("labels", {}).get("app.kubernetes.io/component", "")
        lines = [line.rpartition("|") for line in self.cluster.logs.get(component, "").splitlines(keepends=True)]
        most = int(query.get("sinceSeconds", 10**9))
        texts = [line[2] for line in lines if int(line[0] or 0) <= most][-int(query.get("tailLines", 10**9)) :]
        if query.get("timestamps") == "true":
            texts = [f"2026-11-21T10:00:{number:012.9f}Z {text}" for number, text in enumerate(texts)]
        self.send(200, "".join(texts))

    def status(self, code: int, reason: str, words: str) -> None:
        """Send an error in Kubernetes' form."""
        self.send(
            code,
            {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "reason": reason,
                "message": words,
                "code": code,
            },
        )

    def send(self, code: int, body: Any) -> None:
        """Send JSON or text."""
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def execute(self, pod: str, query: dict[str, list[str]]) -> None:
        """Run a command on this machine, its output on the channels of a websocket, as version 4 of the protocol defines."""
        if ("create", "pods/exec") in self.cluster.denied:
            return self.status(403, "Forbidden", "pods/exec is forbidden")
        self.cluster.executed.append((pod, query["container"][0]))
        if not shutil.which(query["command"][0]):
            return self.cannot_run(query["command"][0])
        done = subprocess.run(query["command"], capture_output=True)
        self.upgrade()
        causes = [{"reason": "ExitCode", "message": str(done.returncode)}]
        failed = {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
        status = json.dumps(failed if done.returncode else {"status": "Success"}).encode()
        for channel, data in ((b"\x01", done.stdout), (b"\x02", done.stderr), (b"\x03", status)):
            self.connection.sendall(frame(channel + data))
        self.connection.sendall(frame(b"", 8))

    def cannot_run(self, program: str) -> None:
        """Send the error of containerd for a program that the container lacks; there is no exit code."""
        words = (
            'error executing command in container: failed to exec in container: failed to start exec "4f1d": OCI runtime exec '
            f'failed: exec failed: unable to start container process: exec: "{program}": executable file not found in $PATH: unknown'
        )
        self.upgrade()
        failed = {"metadata": {}, "status": "Failure", "message": words, "reason": "InternalError", "code": 500}
        failed["details"] = {"causes": [{"message": words}]}
        self.connection.sendall(frame(b"\x03" + json.dumps(failed).encode()) + frame(b"", 8))

    def upgrade(self) -> None:
        """Turn the connection into a websocket."""
        accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + GUID).encode()).digest()).decode()
        self.send_response(101, "Switching Protocols")
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept),
                            ("Sec-WebSocket-Protocol", "v4.channel.k8s.io")):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def forward(self, port: int) -> None:
        """Connect channel 0 of a websocket to the port."""
        self.upgrade()
        number = port.to_bytes(2, "little")
        self.connection.sendall(frame(b"\x00" + number) + frame(b"\x01" + number))
        target = self.cluster.ports.get(port)
        if target is None:
            self.connection.sendall(frame(b"\x01connection refused") + frame(b"", 8))
            return
        with socket.create_connection(("127.0.0.1", target)) as there:
            carry(self.connection, self.rfile, there)


def carry(here: socket.socket, stream: Any, there: socket.socket) -> None:
    """Copy bytes both ways between a websocket's channel 0 and a connection, until either is closed."""

    def frames() -> None:
        with suppress(OSError, ValueError):  # closed concurrently
            while (found := read_frame(stream))[0] != 8:
                if found[0] == 2 and found[1][:1] == b"\x00":
                    there.sendall(found[1][1:])
            there.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=frames, daemon=True).start()
    with suppress(OSError):
        while data := there.recv(65536):
            here.sendall(frame(b"\x00" + data))
        here.sendall(frame(b"", 8))


def frame(payload: bytes, opcode: int = 2) -> bytes:
    """Return one websocket frame of a server."""
    size = len(payload)
    head = (
        bytes([size])
        if size < 126
        else b"\x7e" + size.to_bytes(2, "big")
        if size < 65536
        else b"\x7f" + size.to_bytes(8, "big")
    )
    return bytes([0x80 | opcode]) + head + payload


def read_frame(stream: Any) -> tuple[int, bytes]:
    """Return opcode and content of a client's next frame; 8 (close) at the end."""
    head = stream.read(2)
    if len(head) < 2:
        return 8, b""
    size = head[1] & 0x7F
    if size > 125:
        size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
    mask = stream.read(4)
    return head[0] & 0x0F, bytes(byte ^ mask[number % 4] for number, byte in enumerate(stream.read(size)))


def verb_of(method: str, name: str | None) -> str:
    """Return Kubernetes' verb for a request."""
    return {"GET": "get" if name else "list", "POST": "create", "PATCH": "patch", "DELETE": "delete"}[method]


def group_of(name: str) -> Object:
    """Return a group in the form of discovery."""
    version = {"groupVersion": name, "version": name.split("/")[1]}
    return {"name": name.split("/")[0], "versions": [version], "preferredVersion": version}


def selected(found: Object, selector: str) -> bool:
    """Return whether the labels match a selector such as a=b,c=d."""
    labels = found["metadata"].get("labels", {})
    return all(labels.get(part.partition("=")[0]) == part.partition("=")[2] for part in selector.split(",") if part)


def merge(one: Object, two: Object) -> Object:
    """Apply a merge patch."""
    for key, value in two.items():
        if value is None:
            one.pop(key, None)
        else:
            one[key] = merge(dict(one.get(key, {})), value) if isinstance(value, dict) else value
    return one


@contextmanager
def serving(cluster: Cluster, folder: Path) -> Iterator[Path]:
    """Serve the API within the block; yield the path of a kubeconfig."""
    handler = type("Bound", (Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "stub",
        "clusters": [{"name": "stub", "cluster": {"server": f"http://127.0.0.1:{server.server_address[1]}"}}],
        "users": [{"name": "stub", "user": {"token": TOKEN}}],
        "contexts": [{"name": "stub", "context": {"cluster": "stub", "user": "stub", "namespace": "default"}}],
    }  # fmt: skip
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    try:
        yield file
    finally:
        server.shutdown()
        server.server_close()
