"""A training with all services of the chart: hints from the LLM service, Prometheus metrics, alerts, closed ports."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest
import yaml
from tests.cluster.conftest import CHART, ROOT, SMALL
from tests.cluster.support import Cluster, Journal, bucket_of, eventually, run

pytestmark = pytest.mark.cluster
NAME = "ante"
EVERY = 10 * 2048  # steps between two checkpoints
SETS = (
    "training.config.steps=20000000", "training.config.hints.source=llm", "training.config.resources.restarts=5",
    "training.config.checkpoints.every=10", "training.metricsPort=9100",
    # a confident policy only repeats cached requests, which succeed without the LLM
    "training.config.hints.confidence=0.99", "training.config.hints.share=0.005",
    "llm.enabled=true", "llm.model=fake", "llmServer.enabled=true", "llmServer.kind=stub",
    "llmServer.resources.requests.cpu=50m", "llmServer.resources.requests.memory=64Mi",
    "llmServer.resources.limits.cpu=1000m", "llmServer.resources.limits.memory=512Mi",
)  # fmt: skip
WATCH = """
# time windows in seconds, and a memory threshold that the head always exceeds
monitoring:
  podMonitor: {enabled: true}
  alerts: {enabled: true, stall: 10s, pending: 1s, backlog: 10s, window: 2m, headMemory: 0.01}
"""
KNOCK = """
import socket, sys
from concurrent.futures import ThreadPoolExecutor

def knock(door):
    host, _, port = door.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 4).close()
        return f"{door} open"
    except OSError as error:
        return f"{door} closed {error}"

with ThreadPoolExecutor(50) as pool:
    print(*pool.map(knock, sys.argv[1:]), sep="\\n")
"""


def flags(cluster: Cluster) -> list[str]:
    """Return arguments for helm."""
    pairs = [part for pair in (f"training.name={cluster.namespace}", *SETS) for part in ("--set", pair)]
    return ["--values", str(SMALL), *pairs]


@pytest.fixture(scope="module")
def served(cluster: Cluster, journal: Journal) -> Cluster:
    """Start a training."""
    cluster.helm("install", NAME, str(CHART), *flags(cluster), timeout=300)
    eventually("head and worker ready", 420, lambda: len(cluster.pods("head", True) + cluster.pods("cpu", True)) == 2)
    eventually("LLM service ready", 240, lambda: cluster.pods("llm", True))
    eventually("first steps", 420, cluster.steps)
    journal.note("trains with hints", steps=cluster.steps())
    return cluster


def address(cluster: Cluster, component: str) -> str:
    """Return the address of the ready pod of one component."""
    pod: str = cluster.get("pod", cluster.pods(component, True)[0])["status"]["podIP"]
    return pod


def doors(cluster: Cluster) -> dict[str, list[int]]:
    """Return every port on which the training listens, by pod."""
    return {
        address(cluster, "head"): [6379, 8265, 10001, 8080, 9100, 52365],
        address(cluster, "cpu"): [8080, 52365],
        address(cluster, "objectstore"): [9000, 9001],
        address(cluster, "llm"): [8000],
    }


def knocks(cluster: Cluster, pod: str, *wanted: str, container: str = "") -> dict[str, bool]:
    """Return which ports a pod can connect to."""
    chosen = ("--container", container) if container else ()
    printed = cluster.kubectl("exec", pod, *chosen, "--", "python", "-c", KNOCK, *wanted, timeout=180)
    return {line.split()[0]: line.split()[1] == "open" for line in printed.splitlines()}


def stranger(namespace: str) -> Cluster:
    """Create a pod of our image without an owner."""
    where = Cluster(namespace)
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "one", "image": "ante-ray:test", "imagePullPolicy": "IfNotPresent",
                            "command": ["sleep", "3600"]}],
        },
    }  # fmt: skip
    where.kubectl("apply", "-f", "-", given=json.dumps(pod))
    where.kubectl("wait", "--for=condition=Ready", "pod/stranger", "--timeout=120s", timeout=150)
    time.sleep(5)  # until the policies are enforced
    return where


def test_a_stranger_reaches_nothing_and_training_pods_all_they_need(served: Cluster, journal: Journal) -> None:
    every = [f"{host}:{port}" for host, ports in doors(served).items() for port in ports]
    inside = knocks(stranger(served.namespace), "stranger", *every)
    needed = [f"{NAME}-objectstore:9000", f"{NAME}-llm:8000", f"{address(served, 'cpu')}:8080"]
    ours = knocks(served, served.pods("head", True)[0], *needed, container="ray-head")
    journal.note("policies", closed_to_a_stranger=sum(not door for door in inside.values()), of=len(every), ours=ours)
    assert not any(inside.values()), inside
    assert set(ours) == set(needed) and all(ours.values()), ours


def test_monitoring_reaches_numbers_and_nothing_else(served: Cluster, journal: Journal) -> None:
    found = json.loads(run("kubectl", "create", "namespace", "monitoring", "--dry-run=client", "-o", "json"))
    run("kubectl", "apply", "-f", "-", given=json.dumps(found))
    try:
        every = [f"{host}:{port}" for host, ports in doors(served).items() for port in ports]
        opened = {door for door, is_open in knocks(stranger("monitoring"), "stranger", *every).items() if is_open}
    finally:
        run("kubectl", "delete", "namespace", "monitoring", timeout=180)
    head, worker = address(served, "head"), address(served, "cpu")
    journal.note("policies", open_to_monitoring=sorted(opened))
    assert opened == {f"{head}:8080", f"{head}:9100", f"{worker}:8080"}


def watched(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """Return the chart's resources for the Prometheus operator, by kind."""
    text = cluster.helm(
        "template", NAME, str(CHART), "--api-versions", "ray.io/v1", "--show-only", "templates/monitoring.yaml",
        *flags(cluster), "--values", "-", given=WATCH,
    )  # fmt: skip
    return {found["kind"]: found for found in yaml.safe_load_all(text) if found}


def targets(cluster: Cluster, monitor: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the targets of a PodMonitor as the operator selects them: matching ports of matching pods.

    Debian's Prometheus is built without Kubernetes support, so it reads them from a file.
    """
    chosen, found = monitor["selector"], []
    terms = [f"{key}={value}" for key, value in chosen["matchLabels"].items()]
    terms += [f"{one['key']} in ({','.join(one['values'])})" for one in chosen["matchExpressions"]]
    names = [one["port"] for one in monitor["podMetricsEndpoints"]]
    for pod in cluster.get("pods", selector=",".join(terms))["items"]:
        for port in (port for one in pod["spec"]["containers"] for port in one.get("ports", ())):
            if port["name"] in names:
                about = {"namespace": cluster.namespace, "pod": pod["metadata"]["name"], "endpoint": port["name"]}
                found.append({"targets": [f"{pod['status']['podIP']}:{port['containerPort']}"], "labels": about})
    return found


SCRAPING = """
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
  - {job_name: ante, file_sd_configs: [{files: [targets.json]}]}
  - {job_name: pods, static_configs: [{targets: ["127.0.0.1:9392"]}]}
"""
STATE_METRICS = os.environ.get("CLUSTER_STATE_METRICS", "")


class Prometheus:
    """A running Prometheus server."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/api/v1"
        self.fired: set[str] = set()

    def ask(self, path: str) -> Any:
        """Return the data of a response. Raises OSError."""
        with urlopen(f"{self.url}/{path}", timeout=10) as answer:
            return json.loads(answer.read())["data"]

    def value(self, query: str) -> float | None:
        """Return a number, or None if the series does not exist."""
        found = self.ask(f"query?query={quote(query)}")["result"]
        return float(found[0]["value"][1]) if found else None

    def firing(self, alert: str) -> bool:
        """Return whether an alert fires now, and record it."""
        now = {one["labels"]["alertname"] for one in self.ask("alerts")["alerts"] if one["state"] == "firing"}
        self.fired |= now
        return alert in now


@pytest.fixture(scope="module")
def prometheus(served: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus (tools/system.sh cluster installs it), with the chart's targets and rules."""
    folder, found = tmp_path_factory.mktemp("prometheus"), watched(served)
    (folder / "prometheus.yml").write_text(SCRAPING)
    (folder / "targets.json").write_text(json.dumps(targets(served, found["PodMonitor"]["spec"])))
    (folder / "rules.yaml").write_text(yaml.safe_dump(found["PrometheusRule"]["spec"]))
    run("promtool", "check", "config", str(folder / "prometheus.yml"))
    words = ["prometheus", "--config.file", str(folder / "prometheus.yml"), "--storage.tsdb.path", str(folder / "data"),
             "--web.listen-address", "127.0.0.1:9391"]  # fmt: skip
    with ExitStack() as running:
        running.enter_context(beside(ROOT / "runs/cluster/prometheus.log", *words))
        if STATE_METRICS:
            pods = ["--resources=pods", f"--namespaces={served.namespace}", "--port=9392", "--telemetry-port=9393"]
            kubeconfig = f"--kubeconfig={os.environ['KUBECONFIG']}"
            running.enter_context(beside(ROOT / "runs/cluster/state-metrics.log", STATE_METRICS, kubeconfig, *pods))
        server = Prometheus(9391)
        eventually("Prometheus answers", 60, lambda: server.ask("targets"))
        yield server


@contextmanager
def beside(log: Path, *words: str) -> Iterator[None]:
    """Run a program and write its output to the log."""
    with log.open("w") as stream:
        process = subprocess.Popen(words, stdout=stream, stderr=stream)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def test_prometheus_finds_head_worker_and_driver(prometheus: Prometheus, served: Cluster, journal: Journal) -> None:
    def healthy() -> list[str]:
        targets = prometheus.ask("targets")["activeTargets"]
        up = [one for one in targets if one["health"] == "up" and one["labels"]["job"] == "ante"]
        return sorted(f"{one['labels']['pod']} {one['labels']['endpoint']}" for one in up)

    eventually("three targets", 60, lambda: len(healthy()) == 3)
    journal.note("scraped", targets=healthy())
    head, worker = served.pods("head", True)[0], served.pods("cpu", True)[0]
    assert healthy() == sorted([f"{head} metrics", f"{head} training", f"{worker} metrics"])


def test_hints_of_the_llm_service_arrive(prometheus: Prometheus, journal: Journal) -> None:
    eventually("questions", 240, lambda: prometheus.value("ante_hint_asks_total"))
    eventually("hints", 240, lambda: (prometheus.value("ante_hint_success_ratio") or 0) > 0.8)
    numbers = ("asks_total", "calls_total", "success_ratio", "latency_p50_seconds", "latency_p95_seconds")
    printed = {name: prometheus.value(f"ante_hint_{name}") for name in numbers}
    journal.note("hints", **printed)
    assert all(printed.values()), "every value of the ledger arrives"
    assert printed["latency_p50_seconds"] <= printed["latency_p95_seconds"]


def taken_names(cluster: Cluster) -> list[str]:
    """Fill the names of the training's next checkpoints in the bucket with other contents."""
    with bucket_of(cluster, NAME) as bucket:
        shelf = f"runs/{cluster.namespace}/checkpoints"
        newest = json.loads(bucket.Object(f"{shelf}/latest.json").get()["Body"].read())["name"]
        manifest = json.loads(bucket.Object(f"{shelf}/{newest}/manifest.json").get()["Body"].read())
        steps, _, attempt = newest.partition("-")
        names = [f"{int(steps) + EVERY * later:0{len(steps)}d}-{attempt}" for later in range(1, 31)]
        for name in names:
            other = {**manifest, "name": name, "parts": {}}
            bucket.Object(f"{shelf}/{name}/manifest.json").put(Body=json.dumps(other).encode())
    return names


def nowhere(cluster: Cluster) -> None:
    """Make the LLM service's next pod require a node that does not exist."""
    selector = {"spec": {"template": {"spec": {"nodeSelector": {"ante.test/node": "none"}}}}}
    cluster.kubectl("patch", f"deployment/{NAME}-llm", "--patch", json.dumps(selector))


def test_each_alert_fires(prometheus: Prometheus, served: Cluster, journal: Journal) -> None:
    def off(alert: str) -> None:
        eventually(alert, 300, lambda: prometheus.firing(alert))
        journal.note("alert", name=alert, steps=served.steps())

    off("AnteHeadMemory")
    served.kubectl("scale", f"deployment/{NAME}-llm", "--replicas=0")
    off("AnteHintsFail")
    served.kubectl("scale", f"deployment/{NAME}-llm", "--replicas=1")
    served.kubectl("scale", f"statefulset/{NAME}-objectstore", "--replicas=0")
    off("AnteUploadBacklog")
    served.kubectl("scale", f"statefulset/{NAME}-objectstore", "--replicas=1")
    eventually("backlog gone", 300, lambda: prometheus.value("ante_upload_backlog_jobs") == 0)
    served.kubectl("delete", "pod", served.pods("cpu", True)[0], "--force", "--grace-period=0")
    off("AnteNoSteps")
    off("AnteWorkerRestarts")
    if STATE_METRICS:
        nowhere(served)
        off("AntePodsPending")
    else:  # tests/helm runs only promtool
        journal.note("alert left out", name="AntePodsPending", missing="CLUSTER_STATE_METRICS")
    taken_names(served)
    off("AnteUploadsRefused")
    rules = watched(served)["PrometheusRule"]["spec"]["groups"][0]["rules"]
    left_out = {"AnteGradientsSkipped", "AnteFragmentsLost", *(() if STATE_METRICS else ("AntePodsPending",))}
    expected = {rule["alert"] for rule in rules} - left_out  # tests/helm has cases for all
    journal.note("fired alerts", names=sorted(prometheus.fired))
    assert prometheus.fired >= expected
