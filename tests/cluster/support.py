"""Access to a real cluster: kubectl and helm as programs, waiting with messages, a journal of durations."""

import base64
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

STEPS = re.compile(r"^\s*([\d,]+) steps  ", re.MULTILINE)
LABEL = "app.kubernetes.io/name"  # label of KubeRay's operator in the chart's network policies
OPERATOR = os.environ.get("CLUSTER_OPERATOR", f"{LABEL}=kuberay-operator")
BUCKET_JOB = "app.kubernetes.io/component=bucket"  # label of the Job that creates credentials, bucket and users
RESUMED = re.compile(r"resumed \S+ after ([\d,]+) steps")


class Failed(AssertionError):
    """A command exited with an unexpected code."""


def run(
    *command: str, timeout: float = 120, given: str | None = None, check: bool = True, env: dict[str, str] | None = None
) -> str:
    """Run a command and return its output. Raises Failed with stdout and stderr."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=timeout, env=env)
    if check and done.returncode:
        raise Failed(
            f"{shlex.join(command)} exited with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        )
    return done.stdout


def eventually(what: str, seconds: float, probe: Callable[[], Any], every: float = 1.0) -> Any:
    """Return the first true result of `probe`. Raises Failed with the last error after this many seconds."""
    end, last = time.monotonic() + seconds, ""
    while time.monotonic() < end:
        try:
            if found := probe():
                return found
        except (Failed, OSError, ValueError, KeyError) as error:
            last = str(error)
        time.sleep(every)
    raise Failed(f"{what}: not within {seconds:.0f} s {last}")


@dataclass
class Journal:
    """A log of events, printed immediately and stored as JSON lines next to the tests' results."""

    file: Path
    begin: float = field(default_factory=time.monotonic)

    def note(self, what: str, **figures: Any) -> None:
        """Write one line."""
        line = {"at": round(time.monotonic() - self.begin, 1), "what": what, **figures}
        print(json.dumps(line), flush=True)
        with self.file.open("a") as stream:
            stream.write(json.dumps(line) + "\n")


@dataclass
class Cluster:
    """One namespace of a cluster.

    heard  logs of the submitters by pod, oldest first: they are lost with the pods
    """

    namespace: str
    heard: dict[str, str] = field(default_factory=dict)

    def kubectl(self, *arguments: str, **options: Any) -> str:
        """Run kubectl and return its output."""
        return run("kubectl", "--namespace", self.namespace, *arguments, **options)

    def helm(self, *arguments: str, **options: Any) -> str:
        """Return helm's output. The chart gets the labels of this cluster's operator."""
        printed = operator() if arguments[0] in ("install", "upgrade", "template") else ()
        done = run("helm", "--namespace", self.namespace, *arguments, *printed, **options)
        if arguments[0] == "install" and self.get("jobs", selector=BUCKET_JOB)["items"]:
            wait = ("wait", "--for=condition=complete", "job", f"--selector={BUCKET_JOB}", "--timeout=280s")
            self.kubectl(*wait, timeout=300)
        return done

    def get(self, kind: str, *name: str, selector: str = "") -> dict[str, Any]:
        """Return an object, or a list of objects."""
        chosen = ("--selector", selector) if selector else ()
        found: dict[str, Any] = json.loads(self.kubectl("get", kind, *name, *chosen, "--output", "json"))
        return found

    def pods(self, component: str, ready: bool = False) -> list[str]:
        """Return the names of the pods of one component (head, gpu, submitter), oldest first."""
        selector = f"app.kubernetes.io/component={component}"
        items = [
            pod for pod in self.get("pods", selector=selector)["items"] if not pod["metadata"].get("deletionTimestamp")
        ]
        return [pod["metadata"]["name"] for pod in items if not ready or is_ready(pod)]

    def job(self, name: str) -> str:
        """Return the status of a RayJob: Initializing, Running, Complete, Failed."""
        return str(self.get("rayjob", name).get("status", {}).get("jobDeploymentStatus", ""))

    def log(self) -> str:
        """Return the log of the training so far, of all its submissions."""
        for pod in self.pods("submitter"):
            self.heard[pod] = max(self.heard.get(pod, ""), self.kubectl("logs", pod, "--tail=-1", check=False), key=len)
        return "\n".join(self.heard.values())

    def steps(self) -> int:
        """Return the environment steps of the last iteration in the log, or 0."""
        found = STEPS.findall(self.log())
        return int(found[-1].replace(",", "")) if found else 0

    @contextmanager
    def forwarded(self, target: str, port: int) -> Iterator[int]:
        """Forward a local port to a port of a service or pod; yield the local port."""
        process = subprocess.Popen(
            ["kubectl", "--namespace", self.namespace, "port-forward", target, f":{port}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if not found:
                raise Failed(f"cannot forward to {target}: {line}")
            yield int(found[1])
        finally:
            process.terminate()
            process.wait()


def operator() -> tuple[str, ...]:
    """Return chart settings that admit the operator's pods if their labels differ from the default."""
    key, _, value = OPERATOR.partition("=")
    if key == LABEL:
        return ()
    dots = "\\."
    return "--set", f"networkPolicies.operatorPodLabels.{key.replace('.', dots)}={value}"


def is_ready(pod: dict[str, Any]) -> bool:
    """Return whether a pod is ready."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def secret_of(cluster: Cluster, name: str) -> dict[str, str]:
    """Return the decoded data of a Secret."""
    return {key: base64.b64decode(text).decode() for key, text in cluster.get("secret", name)["data"].items()}


@contextmanager
def bucket_of(cluster: Cluster, release: str) -> Iterator[Any]:
    """Yield the bucket of a release as a boto3 Bucket, with the run's credentials."""
    given = secret_of(cluster, f"{release}-s3")
    with cluster.forwarded(f"service/{release}-objectstore", 9000) as port:
        yield boto3.resource(
            "s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id=given["S3_ACCESS_KEY_ID"],
            aws_secret_access_key=given["S3_SECRET_ACCESS_KEY"], region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}),
        ).Bucket("ante")  # fmt: skip


def kept_steps(bucket: Any, run: str) -> int:
    """Return the steps of a run's newest checkpoint, which is complete in the bucket."""
    folder = f"runs/{run}/checkpoints"
    name = json.loads(bucket.Object(f"{folder}/latest.json").get()["Body"].read())["name"]
    assert bucket.Object(f"{folder}/{name}/manifest.json").content_length
    return int(name.partition("-")[0])


def ante(*arguments: str, **options: Any) -> str:
    """Run the command of this checkout and return its output."""
    return run(sys.executable, "-m", "ante.cli", *arguments, **{"timeout": 600, **options})


@dataclass
class Followed:
    """The log of a training, followed by `ante cluster logs -f`: all lines of all its pods, as they are written."""

    process: subprocess.Popen[bytes]
    file: Path

    def text(self) -> str:
        """Return the log so far."""
        return self.file.read_text()

    def steps(self) -> int:
        """Return the environment steps of the last iteration, or 0."""
        found = STEPS.findall(self.text())
        return int(found[-1].replace(",", "")) if found else 0

    def restarts(self) -> int:
        """Return how often the run continued from a checkpoint."""
        return len(RESUMED.findall(self.text()))


@contextmanager
def followed_log(cluster: Cluster, name: str, file: Path) -> Iterator[Followed]:
    """Follow the log of a training within the block."""
    words = [sys.executable, "-m", "ante.cli", "cluster", "logs", name, "-f", "-n", cluster.namespace]
    with file.open("wb") as stream:
        process = subprocess.Popen(words, stdout=stream, stderr=subprocess.DEVNULL)
        try:
            yield Followed(process, file)
        finally:
            process.terminate()
            process.wait()
