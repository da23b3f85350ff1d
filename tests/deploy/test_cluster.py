"""`ante cluster` against a Kubernetes API in memory."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ante.cli.platform.cluster_lifecycle import write_to
from ante.deploy.access import NoCluster, NotAllowed, connect
from ante.deploy.proof import proof_pod, read
from ante.deploy.settings import make_settings, preset, read_settings
from ante.deploy.spec import objects
from ante.training.settings.config import read_config
from ante.yaml_files import as_yaml
from tests.deploy.conftest import Ante
from tests.support.apiserver import TOKEN, Cluster, node
from tests.support.manifests import read_all

SECRET = {"kind": "Secret", "metadata": {"name": "ante-s3", "namespace": "default"},
          "data": {"S3_ACCESS_KEY_ID": "YQ==", "S3_SECRET_ACCESS_KEY": "Yg=="}}  # fmt: skip
PROVED = "\n".join(
    json.dumps({"name": name, "state": "ok", "words": name, "fix": ""}) for name in ("bucket", "llm")
)  # fmt: skip


def part_of(pod: Any) -> str:
    return str(pod["metadata"].get("labels", {}).get("app.kubernetes.io/component"))


def made(cluster: Cluster) -> set[str]:
    """Return the objects that were created by the command."""
    return {f"{kind}/{name}" for kind, _, name in cluster.objects if kind not in ("Namespace", "Node", "Deployment")}


def test_submit_makes_what_render_prints_and_down_leaves_nothing(kubernetes: Cluster, ante: Ante) -> None:
    code, printed, _ = ante("submit", "--preset", "gpu", "--name", "first", "--dry-run")
    assert code == 0
    assert made(kubernetes) == set()
    wanted = read_all(printed)
    assert wanted == json.loads(json.dumps(objects(read_settings((preset("gpu"),), name="first"))))
    assert ante("submit", "--preset", "gpu", "--name", "first")[0] == 0
    for one in wanted:
        there = kubernetes.objects[one["kind"], "default", "first" if one["kind"] != "ConfigMap" else "first-train"]
        assert {key: there.get(key) for key in ("spec", "data")} == {key: one.get(key) for key in ("spec", "data")}
    assert ante("ls")[1].count("first") >= 1
    assert ante("down", "first", "--seconds", "10")[0] == 0
    assert made(kubernetes) == set()


def test_status_tells_the_pods_and_why_they_wait(kubernetes: Cluster, ante: Ante) -> None:
    words = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    kubernetes.pod_states["gpu"] = {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}],
    }
    ante("submit", "--preset", "gpu", "--name", "first")
    code, printed, _ = ante("status", "first", "--json")
    assert code == 0
    found = json.loads(printed)
    assert found["training"]["state"] == "Running"
    pods = {pod["name"]: pod for pod in found["pods"]}
    assert [pod["part"] for pod in found["pods"]] == ["head", "gpu", "gpu", "submitter"]
    assert pods["first-abcde-gpu-0"]["why"] == words
    assert pods["first-abcde-head"]["ready"]
    assert words[:40] in ante("status", "first")[1]


def test_a_failed_training_is_told_by_the_exit_code(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    job = kubernetes.objects["RayJob", "default", "first"]
    job["status"] |= {"jobDeploymentStatus": "Failed", "message": "entrypoint ended with 1", "failed": 4}
    code, printed, _ = ante("status", "first")
    assert code == 1
    assert "entrypoint ended with 1" in printed
    assert "failed attempts: 4" in printed


def test_logs_are_those_of_the_training_until_it_ends(kubernetes: Cluster, ante: Ante) -> None:
    kubernetes.logs = {"submitter": "8,192 steps\n16,384 steps\n", "head": "raylet started\n"}
    ante("submit", "--preset", "cpu", "--name", "first")
    assert ante("logs", "first")[1] == "8,192 steps\n16,384 steps\n"
    assert ante("logs", "first", "--part", "head")[1] == "raylet started\n"
    kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Complete"
    assert ante("logs", "first", "-f")[1] == "8,192 steps\n16,384 steps\n"
    code, _, error = ante("logs", "first", "--part", "cpuu")
    assert (code, "no cpuu pod of first has started" in error) == (2, True)


def test_a_followed_log_is_one_stream_over_lost_connections_and_new_pods(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.deploy.trainings.FOLLOW_SECONDS", 0.2)
    ante("submit", "--preset", "cpu", "--name", "first")
    (key,) = (key for key in kubernetes.objects if key[0] == "Pod" and part_of(kubernetes.objects[key]) == "submitter")
    kubernetes.logs = {"submitter": "one\ntwo\n"}  # the stub closes the connection after these

    def go_on() -> None:
        time.sleep(1)
        kubernetes.logs["submitter"] += "three\n"
        time.sleep(1)
        with kubernetes.lock:
            later = json.loads(json.dumps(kubernetes.objects[key]))
            kubernetes.objects[key]["status"]["phase"] = "Failed"
            later["metadata"] |= {"name": "a-later-one", "creationTimestamp": "2026-11-21T00:10:00Z"}
            del later["metadata"]["uid"]
            kubernetes.put(later)
        time.sleep(2)
        kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Complete"

    thread = threading.Thread(target=go_on)
    thread.start()
    code, printed, _ = ante("logs", "first", "-f")
    thread.join()
    assert (code, printed) == (0, "one\ntwo\nthree\n" + "one\ntwo\nthree\n")  # of the first pod, of the later one


def test_a_followed_log_outlives_an_outage_of_the_api_and_names_a_missing_permission(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.deploy.trainings.FOLLOW_SECONDS", 0.2)
    kubernetes.logs = {"submitter": "one\n"}
    ante("submit", "--preset", "cpu", "--name", "first")

    def go_on() -> None:
        time.sleep(1)
        kubernetes.down = True
        time.sleep(1.5)
        kubernetes.logs["submitter"] += "two\n"
        kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Complete"
        kubernetes.down = False

    thread = threading.Thread(target=go_on)
    thread.start()
    assert ante("logs", "first", "-f")[:2] == (0, "one\ntwo\n")
    thread.join()
    monkeypatch.setattr("ante.deploy.trainings.OUTAGE_SECONDS", 1.0)
    kubernetes.denied.add(("get", "pods"))
    code, _, error = ante("logs", "first", "-f")
    assert (code, "k8s/rbac.yaml contains the required role" in error) == (2, True)


def test_a_followed_log_reads_again_after_a_connection_that_stays_silent(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.deploy.trainings.FOLLOW_SECONDS", 0.2)
    monkeypatch.setattr("ante.deploy.access.SILENCE_SECONDS", 0.5)
    kubernetes.logs = {"submitter": "one\n"}
    kubernetes.stalled = 1
    ante("submit", "--preset", "cpu", "--name", "first")

    def end() -> None:
        time.sleep(3)
        kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Complete"

    thread = threading.Thread(target=end)
    thread.start()
    assert ante("logs", "first", "-f")[:2] == (0, "one\n")
    thread.join()
    assert kubernetes.stalled == 0


def test_resume_goes_on_with_the_same_objects(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    job = kubernetes.objects["RayJob", "default", "first"]
    before = json.loads(json.dumps(job))
    code, _, error = ante("resume", "first")
    assert (code, "is Running and cannot be resumed" in error) == (2, True)
    job["status"]["jobDeploymentStatus"] = "Failed"
    assert ante("resume", "first", "--steps", "900000")[0] == 0
    now = kubernetes.objects["RayJob", "default", "first"]
    assert now["metadata"]["uid"] != before["metadata"]["uid"]
    assert now["status"]["jobDeploymentStatus"] == "Running"
    assert now["spec"].pop("entrypoint") == before["spec"].pop("entrypoint") + " --steps 900000"
    assert now["spec"].pop("suspend", False) == before["spec"].pop("suspend", False)
    assert now["spec"] == before["spec"]


def test_a_suspended_training_resumes_with_more_steps(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    before = kubernetes.objects["RayJob", "default", "first"]["spec"]["entrypoint"]
    ante("suspend", "first", "--seconds", "5")
    assert ante("resume", "first", "--steps", "900000")[0] == 0
    assert kubernetes.objects["RayJob", "default", "first"]["spec"]["entrypoint"] == f"{before} --steps 900000"
    ante("up", "--preset", "cpu", "--name", "mine")
    ante("suspend", "mine", "--seconds", "5")
    code, _, error = ante("resume", "mine", "--steps", "900000")
    assert (code, "leave out --steps 900000, and give it to ante cluster submit" in error) == (2, True)
    assert kubernetes.objects["RayCluster", "default", "mine"]["spec"]["suspend"]


def test_a_sweep_resumes_without_more_steps(kubernetes: Cluster, ante: Ante, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text("training: {sweep: {search: {algo.lr: {low: 0.001, high: 0.002}}}}")
    assert ante("submit", "--preset", "cpu", "--values", str(tmp_path / "sweep.yaml"), "--name", "s")[0] == 0
    ante("suspend", "s", "--seconds", "5")
    code, _, error = ante("resume", "s", "--steps", "900000")
    assert (code, "s is a sweep or a comparison, whose file sets the steps: leave out --steps" in error) == (2, True)
    assert ante("resume", "s")[0] == 0


def test_submitted_again_a_training_that_has_ended_starts_and_another_is_left_alone(
    kubernetes: Cluster, ante: Ante
) -> None:
    words = ("submit", "--preset", "cpu", "--name", "first")
    ante(*words)
    before = kubernetes.objects["RayJob", "default", "first"]["metadata"]["uid"]
    code, _, error = ante(*words)
    assert (code, "first is Running already, and its settings cannot change" in error) == (2, True)
    kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Failed"
    assert ante(*words, "--set", "training.config.steps=5000")[0] == 0
    job = kubernetes.objects["RayJob", "default", "first"]
    assert (job["metadata"]["uid"] != before, job["status"]["jobDeploymentStatus"]) == (True, "Running")
    assert "steps: 5000" in kubernetes.objects["ConfigMap", "default", "first-train"]["data"]["train.yaml"]
    ante("suspend", "first", "--seconds", "5")
    assert "first is Suspended already, and its settings cannot change: ante cluster resume first" in ante(*words)[2]


def test_pods_of_every_worker_group_are_shown_read_and_used(kubernetes: Cluster, ante: Ante) -> None:
    group = ("--set", "extraWorkers.a100.like=gpu", "--set", "extraWorkers.a100.replicas=1")
    kubernetes.logs = {"a100": "one GPU\n"}
    ante("submit", "--preset", "gpu", "--name", "first", *group)
    pods = json.loads(ante("status", "first", "--json")[1])["pods"]
    assert [pod["part"] for pod in pods] == ["head", "a100", "gpu", "gpu", "submitter"]
    assert ante("logs", "first", "--part", "a100")[1] == "one GPU\n"
    ante("exec", "first", "--part", "a100", "nvidia-smi")
    assert [container for pod, container in kubernetes.executed if "a100" in pod] == ["ray-worker"]


def test_a_log_is_that_of_the_container_that_works(kubernetes: Cluster, ante: Ante) -> None:
    kubernetes.logs = {part: f"{part}\n" for part in ("head", "cpu", "submitter")}
    ante("submit", "--preset", "cpu", "--name", "first")
    for key in [key for key in kubernetes.objects if key[0] == "Pod"]:
        kubernetes.objects[key]["spec"]["containers"].append({"name": "autoscaler"})
    kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Complete"
    for part in ("head", "cpu", "submitter"):
        assert set(ante("logs", "first", "--part", part)[1].splitlines()) == {part}
        assert set(ante("logs", "first", "--part", part, "-f")[1].splitlines()) == {part}


def test_a_suspended_training_is_started(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--set", "job.suspend=true", "--name", "first")
    assert kubernetes.all("RayCluster") == []
    assert "is no longer suspended" in ante("resume", "first")[1]
    assert len(kubernetes.all("RayCluster")) == 1


def test_a_suspended_training_has_no_pods_and_continues(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    code, printed, error = ante("suspend", "first", "--seconds", "5")
    assert (code, error, "ante cluster resume first" in printed) == (0, "", True)
    assert kubernetes.all("Pod", "default") == kubernetes.all("RayCluster") == []
    job = kubernetes.objects["RayJob", "default", "first"]
    assert job["status"]["jobDeploymentStatus"] == "Suspended"
    assert (job["spec"]["ttlSecondsAfterFinished"], "deletionStrategy" in job["spec"]) == (60, False)
    assert ", suspended" in ante("status", "first")[1]
    assert ante("resume", "first")[0] == 0
    assert len(kubernetes.all("RayCluster")) == 1
    assert json.loads(ante("status", "first", "--json")[1])["training"]["state"] == "Running"


def test_a_cluster_for_submitted_jobs_can_be_suspended_too(kubernetes: Cluster, ante: Ante) -> None:
    ante("up", "--preset", "cpu", "--name", "first")
    assert ante("suspend", "first", "--seconds", "5")[0] == 0
    assert kubernetes.all("Pod", "default") == []
    assert ante("resume", "first")[0] == 0
    assert {pod["metadata"]["name"] for pod in kubernetes.all("Pod", "default")} == {
        "first-head",
        "first-cpu-0",
        "first-cpu-1",
    }


def test_suspension_that_takes_too_long_is_told_by_the_exit_code(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cluster, "suspend", lambda *_: None)
    ante("submit", "--preset", "cpu", "--name", "first")
    code, _, error = ante("suspend", "first", "--seconds", "0")
    assert (code, error) == (1, "pods still exist after 0 s: see ante cluster status first\n")


@pytest.mark.parametrize("command", ["suspend", "cancel"])
def test_a_queued_training_is_left_to_its_queue(command: str, kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "queue", "--name", "first")
    kubernetes.objects["RayJob", "default", "first"]["status"] |= {"rayClusterName": "first-abcde"}
    code, _, error = ante(command, "first")
    assert code == 2
    assert "suspends and resumes RayJob first: stop its workload (kubectl kueue stop workload)" in error


def test_a_cancelled_training_stops_its_job_and_releases_its_cluster(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    with job_server() as (port, jobs):
        kubernetes.ports[8265] = port
        jobs.submitted.append({"submission_id": "first-x1", "entrypoint": "ante train"})
        code, printed, error = ante("cancel", "first")
        assert (code, error) == (0, "")
        assert "job first-x1 is stopping" in printed
        assert jobs.stopped == ["first-x1"]
        code, _, error = ante("cancel", "first")
        assert (code, "job first-x1 of first does not run" in error) == (2, True)
    spec = kubernetes.objects["RayJob", "default", "first"]["spec"]
    assert (spec["shutdownAfterJobFinishes"], spec["ttlSecondsAfterFinished"]) == (True, 60)
    assert "deletionStrategy" not in spec
    kubernetes.objects["RayJob", "default", "first"]["status"]["jobDeploymentStatus"] = "Complete"
    assert "is Complete and has no running job: ante cluster down first" in ante("cancel", "first")[2]


def test_gpus_are_listed_with_the_pods_that_use_them(kubernetes: Cluster, ante: Ante) -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100"}
    kubernetes.put(node("two", cpu="32", memory="128Gi", gpus=8, labels=labels))
    kubernetes.put(node("three", cpu="32", memory="128Gi", gpus=4, unschedulable=True))
    kubernetes.put(node("four", cpu="32", memory="128Gi"))
    ante("submit", "--preset", "gpu", "--name", "first", "--set", "gpuWorkers.replicas=2")
    ended = {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "8"}}}], "nodeName": "two"}
    about = {"name": "ended", "namespace": "theirs"}
    kubernetes.put({"kind": "Pod", "metadata": about, "spec": ended, "status": {"phase": "Succeeded"}})
    code, printed, _ = ante("gpus", "--json")
    found = {row["node"]: row for row in json.loads(printed)}
    assert code == 0
    assert {name: (row["total"], row["used"], row["free"]) for name, row in found.items()} == {
        "one": (2, 2, 0), "two": (8, 0, 8), "three": (4, 0, 0),
    }  # fmt: skip
    assert found["one"]["users"] == ["default/first-abcde-gpu-0", "default/first-abcde-gpu-1"]
    assert found["two"]["product"] == "NVIDIA-H100"
    assert "0, cordoned" in ante("gpus")[1]


def test_a_command_runs_in_a_pod_with_its_output_and_exit_code(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    assert ante("exec", "first", "sh -c 'echo na\u00efve; echo why >&2; exit 3'") == (
        3,
        "na\u00efve\n",
        "why\n",
    )
    code, printed, _ = ante("exec", "first", "--part", "cpu", "seq 50000")
    assert (code, printed) == (0, "".join(f"{i}\n" for i in range(1, 50001)))
    assert kubernetes.executed == [("first-abcde-head", "ray-head"), ("first-abcde-cpu-0", "ray-worker")]
    assert "no gpu pod of first is running" in ante("exec", "first", "--part", "gpu", "ls")[2]
    assert "no command was given: ante cluster exec first COMMAND" in ante("exec", "first")[2]
    assert "into words: No closing quotation" in ante("exec", "first", "echo 'a")[2]
    assert ante("exec", "first", "nosuch --flag") == (
        2, "", "ante: pod first-abcde-head has no program 'nosuch'; a shell runs builtins: sh -c 'COMMAND'\n",
    )  # fmt: skip
    kubernetes.denied.add(("create", "pods/exec"))
    code, _, error = ante("exec", "first", "ls")
    assert (code, "it requires the permissions get and create of pods/exec" in error) == (2, True)


@pytest.mark.parametrize(
    ("status", "end", "suspended", "words"),
    [
        ("RUNNING", None, False, "a job is running"),
        ("SUCCEEDED", 60, False, "it is idle for 6"),
        ("FAILED", 3600, True, ""),
    ],
)
def test_an_idle_cluster_is_suspended(
    kubernetes: Cluster, ante: Ante, status: str, end: int | None, suspended: bool, words: str
) -> None:
    ante("up", "--preset", "cpu", "--name", "first")
    with job_server() as (port, jobs):
        kubernetes.ports[8265] = port
        ended = {"end_time": int(1000 * (time.time() - end))} if end else {}
        jobs.submitted.append({"submission_id": "first-x1", "entrypoint": "ante train", "status": status, **ended})
        code, printed, _ = ante("suspend", "first", "--if-idle", "30m", "--seconds", "5")
        assert (code, words in printed) == (0, True)
    assert bool(kubernetes.objects["RayCluster", "default", "first"]["spec"].get("suspend")) == suspended
    if suspended:
        assert "it is suspended already" in ante("suspend", "first", "--if-idle", "30m")[1]


PRICES = ("--set", "prices.cpuHour=0.05", "--set", "prices.gibHour=0.01", "--set", "prices.gpuHour=2")
# preset gpu: a head of 2 cores and 12 GiB, two workers of 8 cores, 32 GiB and a GPU
HOURLY = 0.05 * (2 + 2 * 8) + 0.01 * (12 + 2 * 32) + 2.0 * 2


def test_costs_are_estimated_before_and_counted_after_the_start(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("submit", "--preset", "gpu", "--name", "first", *PRICES)
    code, printed, error = ante(*words, "--dry-run")
    assert code == 0
    assert f"estimated cost: {HOURLY:.2f} USD per hour, at most {168 * HOURLY:.2f} USD in 168 hours" in error
    assert read_all(printed)[-1]["metadata"]["annotations"] == {
        "ante/prices": "cpuHour=0.05 gibHour=0.01 gpuHour=2 USD"
    }
    assert f"estimated cost: {HOURLY:.2f} USD per hour" in ante(*words)[2]
    job = kubernetes.objects["RayJob", "default", "first"]
    job["status"] |= {"startTime": "2026-11-21T10:00:00Z", "endTime": "2026-11-21T13:30:00Z"}
    assert f"cost of this attempt: {3.5 * HOURLY:.2f} USD ({HOURLY:.2f} per hour)" in ante("status", "first")[1]
    (found,) = json.loads(ante("ls", "--json")[1])
    assert found["cost"] == pytest.approx(3.5 * HOURLY)
    assert f"{3.5 * HOURLY:.2f} USD" in ante("ls")[1]
    monkeypatch.setattr("time.time", lambda: datetime.fromisoformat("2026-11-21T12:00:00Z").timestamp())
    del job["status"]["endTime"]
    assert json.loads(ante("status", "first", "--json")[1])["training"]["cost"] == pytest.approx(2 * HOURLY)


def test_without_prices_no_costs_are_shown(kubernetes: Cluster, ante: Ante) -> None:
    assert "cost" not in "".join(map(str, ante("submit", "--preset", "gpu", "--name", "first")))
    assert "cost of" not in ante("status", "first")[1]
    kubernetes.objects["RayJob", "default", "first"]["metadata"]["annotations"] = {"ante/prices": "by hand"}
    assert ante("status", "first")[0] == 0


def test_a_character_in_two_parts_of_a_commands_output_stays_whole(capfd: pytest.CaptureFixture[str]) -> None:
    for part in (b"na\xc3", b"\xafve"):
        write_to(1, part)
    assert capfd.readouterr().out == "na\u00efve"


def test_a_budget_becomes_a_deadline(kubernetes: Cluster, ante: Ante) -> None:
    words = ("submit", "--preset", "gpu", "--name", "first", *PRICES)
    assert ante(*words, "--budget", "10")[0] == 0
    seconds = kubernetes.objects["RayJob", "default", "first"]["spec"]["activeDeadlineSeconds"]
    assert seconds * HOURLY / 3600 == pytest.approx(10, abs=0.01)
    assert (
        "activeDeadlineSeconds: 60"
        in ante(*words, "--budget", "10", "--set", "job.activeDeadlineSeconds=60", "--dry-run")[1]
    )
    code, _, error = ante("submit", "--preset", "gpu", "--budget", "10")
    assert (code, "a budget needs prices: set prices.cpuHour" in error) == (2, True)


def test_a_budget_is_kept_with_all_replicas_that_autoscaling_may_start(kubernetes: Cluster, ante: Ante) -> None:
    grown = ("--set", "autoscaling.enabled=true", "--set", "gpuWorkers.maxReplicas=6")
    largest = HOURLY + 4 * (0.05 * 8 + 0.01 * 32 + 2.0)
    code, printed, error = ante(
        "submit", "--preset", "gpu", "--name", "first", *PRICES, *grown, "--budget", "10", "--dry-run"
    )
    assert code == 0
    seconds = read_all(printed)[-1]["spec"]["activeDeadlineSeconds"]
    assert seconds * largest / 3600 == pytest.approx(10, abs=0.01)
    assert f"{HOURLY:.2f} USD per hour, {largest:.2f} with all replicas, at most 10.00 USD" in error


def test_a_budget_refused_on_a_waiting_cluster_changes_nothing(kubernetes: Cluster, ante: Ante) -> None:
    ante("up", "--preset", "cpu", "--name", "mine")
    before = json.dumps(list(kubernetes.objects.values()))
    code, _, error = ante("submit", "--preset", "cpu", "--name", "mine", *PRICES, "--budget", "10")
    assert (code, "--budget ends a RayJob, and mine is a RayCluster" in error) == (2, True)
    assert json.dumps(list(kubernetes.objects.values())) == before


def test_logs_since_a_time_leave_older_lines_out(kubernetes: Cluster, ante: Ante) -> None:
    kubernetes.logs = {"submitter": "900|8,192 steps\n30|16,384 steps\n"}
    ante("submit", "--preset", "cpu", "--name", "first")
    assert ante("logs", "first", "--since", "10m")[1] == "16,384 steps\n"
    assert ante("logs", "first", "--since", "1h")[1] == "8,192 steps\n16,384 steps\n"
    assert ante("logs", "first", "--tail", "1")[1] == "16,384 steps\n"
    code, _, error = ante("logs", "first", "--since", "yesterday")
    assert (code, "--since 'yesterday' is out of range: it must be a number of seconds" in error) == (2, True)


def test_what_helm_looks_after_is_left_alone(kubernetes: Cluster, ante: Ante) -> None:
    ante("submit", "--preset", "cpu", "--name", "first")
    kubernetes.objects["RayJob", "default", "first"]["metadata"]["annotations"] = {"meta.helm.sh/release-name": "first"}
    before = made(kubernetes)
    for command in (
        ("down", "first"),
        ("submit", "--preset", "cpu", "--name", "first"),
        ("resume", "first"),
        ("suspend", "first"),
        ("cancel", "first"),
    ):
        code, _, error = ante(*command)
        assert code == 2
        assert "belongs to Helm's release first: use helm upgrade first, or helm uninstall first" in error
    assert made(kubernetes) == before


ERRORS: dict[str, tuple[tuple[str, ...], str]] = {
    "no training": (("status", "second"), "no training 'second' in namespace default; existing: first"),
    "nothing to delete": (("down", "second"), "no training 'second' in namespace default"),
    "no namespace": (
        ("submit", "--preset", "cpu", "-n", "games"),
        'namespaces "games" not found: create it with kubectl create namespace',
    ),
    "no context": (("ls", "--context", "moon"), "no context 'moon'"),
    "impossible": (
        ("submit", "--set", "gpuWorkers.replicas=0"),
        "these settings cannot run: the cluster has no worker pod",
    ),
    "no file": (("render", "-f", "/none.yaml"), "cannot read /none.yaml"),
    "misspelt": (("render", "--set", "gpuWorkers.replica=2"), "did you mean replicas?"),
    "no head": (("dashboard", "first"), "the head of first is Pending"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_wrong_is_one_sentence_with_the_way_out(name: str, kubernetes: Cluster, ante: Ante) -> None:
    kubernetes.pod_states["head"] = {"phase": "Pending", "conditions": []}
    ante("submit", "--preset", "cpu", "--name", "first")
    words, message = ERRORS[name]
    code, printed, error = ante(*words)
    assert (code, printed) == (2, "")
    assert message in error
    assert error.count("\n") == 1


def test_a_cluster_without_kuberay_is_told_how_to_get_it(kubernetes: Cluster, ante: Ante) -> None:
    del kubernetes.groups["ray.io/v1"]
    code, _, error = ante("submit", "--preset", "cpu")
    assert code == 2
    assert "the cluster does not serve ray.io/v1: install KubeRay: helm repo add kuberay" in error


def test_a_user_who_may_not_is_told_the_role(kubernetes: Cluster, ante: Ante) -> None:
    kubernetes.denied.add(("list", "rayjobs"))
    code, _, error = ante("ls")
    assert code == 2
    assert "k8s/rbac.yaml contains the required role" in error


def test_what_a_quota_or_policy_forbids_is_no_missing_role(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = 'rayjobs.ray.io "first" is forbidden: exceeded quota: team, requested: cpu=8, used: cpu=4, limited: cpu=10'
    monkeypatch.setattr("tests.support.apiserver.Handler.write", lambda self, *_: self.status(403, "Forbidden", words))
    code, _, error = ante("submit", "--preset", "cpu", "--name", "first")
    assert (code, f"was rejected: {words}" in error, "role" in error) == (2, True, False)


def test_an_api_that_does_not_answer_is_named(
    kubernetes: Cluster, ante: Ante, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text = (tmp_path / "kubeconfig").read_text()
    host = connect().host
    (tmp_path / "dead").write_text(text.replace(host, "http://127.0.0.1:9"))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "dead"))
    code, _, error = ante("ls")
    assert code == 2
    assert "no response from http://127.0.0.1:9" in error
    assert error.count("\n") == 1


def test_a_login_replaces_that_of_the_kubeconfig(kubernetes: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is read from the environment, as in a notebook of a workbench."""
    login = {"method": "openshift", "k8s_api_host": connect().host}
    kubernetes.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", "/nowhere")
    monkeypatch.setenv("AUTHKIT_TOKEN", TOKEN)
    access = connect(namespace="team", login=login)
    assert access.namespace == "team"
    assert access.get("Namespace", "team")["metadata"]["name"] == "team"
    monkeypatch.setenv("AUTHKIT_TOKEN", "of-someone-else")
    with pytest.raises(NotAllowed, match="log in again"):
        connect(namespace="team", login=login).get("Namespace", "team")


@pytest.mark.parametrize(
    ("login", "namespace", "words"),
    [
        ({}, "team", "the login failed: Authentication method must be specified"),
        ({"method": "oauth"}, "team", "the login failed: Invalid authentication method: oauth"),
        ({"way": "oidc"}, "team", "the login failed: .*'way'"),
        ({"method": "openshift"}, "team", "the login failed: Authentication method 'openshift' is not available"),
        ({"method": "openshift", "k8s_api_host": "http://127.0.0.1:9", "token": "t"}, None, "name the namespace"),
    ],
)
def test_a_login_that_is_incomplete_is_an_error(login: dict[str, str], namespace: str | None, words: str) -> None:
    with pytest.raises(NoCluster, match=words):
        connect(namespace=namespace, login=login)


class Jobs(BaseHTTPRequestHandler):
    """A minimal stand-in for Ray's job server."""

    submitted: list[dict[str, Any]]
    stopped: list[str]
    tokens: set[str]

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        self.tokens.add(self.headers.get("Authorization", ""))
        rows = [
            {"type": "SUBMISSION", "submission_id": one["submission_id"], "status": "SUCCEEDED", "start_time": number,
             "entrypoint": one["entrypoint"], **{key: one[key] for key in ("status", "end_time") if key in one}}
            for number, one in enumerate(self.submitted)
        ]  # fmt: skip
        version = {"version": "4", "ray_version": "2.58.0", "ray_commit": "", "session_name": "s"}
        one = {f"/api/jobs/{row['submission_id']}": row for row in rows}
        logs = {"logs": "8,192 steps\n16,384 steps\n"}
        self.send(({"/api/version": version, "/api/jobs/": rows} | one).get(self.path, logs))

    def do_POST(self) -> None:
        self.tokens.add(self.headers.get("Authorization", ""))
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        if self.path.endswith("/stop"):
            job = self.path.split("/")[3]
            running = job not in self.stopped
            self.stopped.append(job)
            return self.send({"stopped": running})
        self.submitted.append(body)
        self.send({"job_id": body["submission_id"], "submission_id": body["submission_id"]})

    def send(self, found: Any) -> None:
        data = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def job_server() -> Iterator[tuple[int, type[Jobs]]]:
    handler = type("Bound", (Jobs,), {"submitted": [], "stopped": [], "tokens": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server.server_address[1], handler
    server.shutdown()
    server.server_close()


def run_with(folder: Path, entrypoint: str) -> list[str]:
    """Run a job's command as Ray does, and return the arguments that `ante` received."""
    program = folder / "bin/ante"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/arguments\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "TMPDIR": str(folder)}
    subprocess.run(entrypoint, shell=True, check=True, env=environment)
    return (folder / "arguments").read_text().splitlines()


def test_on_a_cluster_that_waits_the_training_is_a_job_sent_through_a_tunnel(
    kubernetes: Cluster, ante: Ante, tmp_path: Path
) -> None:
    values = ("--preset", "cpu", "--name", "first")
    assert ante("up", *values)[0] == 0
    assert {name for name in made(kubernetes) if name.startswith("Ray")} == {"RayCluster/first"}
    with job_server() as (port, jobs):
        kubernetes.ports[8265] = port
        before = json.dumps(kubernetes.objects["ConfigMap", "default", "first-train"])
        code, printed, error = ante("submit", *values, "--set", "training.config.steps=5000")
        assert (code, error) == (0, "")
        assert json.dumps(kubernetes.objects["ConfigMap", "default", "first-train"]) == before
        assert ante("logs", "first")[1] == "8,192 steps\n16,384 steps\n"
        assert ante("logs", "first", "--tail", "1")[1] == "16,384 steps\n"
        assert "add --part head, or use --tail" in ante("logs", "first", "--since", "1h")[2]
    (job,) = jobs.submitted
    assert job["submission_id"] in printed
    words = run_with(tmp_path, job["entrypoint"])
    assert words == [
        "train",
        "--config",
        words[2],
        *["--name", "first", "--store", "s3://ante/runs", "--resume", "auto"],
    ]
    assert read_config(Path(words[2])).steps == 5000
    assert jobs.tokens == {"Bearer ray-token"}
    assert ante("down", "first", "--seconds", "10")[0] == 0
    assert made(kubernetes) == set()


def test_a_head_that_takes_no_jobs_is_told_in_words(kubernetes: Cluster, ante: Ante) -> None:
    ante("up", "--preset", "cpu")
    code, _, error = ante("submit", "--preset", "cpu")  # no server listens on the forwarded port
    assert code == 2
    assert "does not accept jobs" in error or "cannot connect to port 8265" in error


def ready(kubernetes: Cluster) -> None:
    kubernetes.put(json.loads(json.dumps(SECRET)))
    kubernetes.pod_states["preflight"] = {"phase": "Succeeded"}
    kubernetes.logs["preflight"] = f"some warning\n{PROVED}\n"


def preflight(ante: Ante, *more: str) -> tuple[int, dict[str, dict[str, str]]]:
    code, printed, _ = ante("preflight", "--preset", "gpu", "--json", *more)
    return code, {check["name"]: check for check in map(json.loads, printed.splitlines())}


def test_preflight_is_green_where_all_is_there_and_leaves_no_pod(kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    code, found = preflight(ante)
    assert {check["state"] for check in found.values()} == {"ok"}
    assert code == 0
    assert set(found) >= {"settings", "api", "namespace", "kuberay", "operator", "permissions", "objects", "capacity"}
    assert set(found) >= {"secrets", "image", "bucket", "llm"}
    assert made(kubernetes) == {"Secret/ante-s3"}
    assert "ready: 12 checks, 0 warnings" in ante("preflight", "--preset", "gpu")[1]


def test_preflight_before_helm_install_says_that_the_chart_creates_the_bucket(kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    no_secret(kubernetes)
    code, found = preflight(ante, "--set", "s3.endpoint=http://ante-objectstore:9000")
    assert code == 0 and "secrets" not in found and "image" not in found
    assert found["bucket"]["state"] == "warn"
    assert found["bucket"]["words"] == "helm install creates the bucket and its Secret ante-s3"
    for other in ("s3.endpoint=http://other-objectstore:9000", "s3.existingSecret=mine"):
        code, found = preflight(ante, "--set", "s3.endpoint=http://ante-objectstore:9000", "--set", other)
        assert code == 1 and found["secrets"]["state"] == "fail"


def no_crds(kubernetes: Cluster) -> None:
    del kubernetes.groups["ray.io/v1"]


def small_quota(kubernetes: Cluster) -> None:
    hard = {"hard": {"requests.nvidia.com/gpu": "1"}}
    about = {"name": "team", "namespace": "default"}
    kubernetes.put({"kind": "ResourceQuota", "metadata": about, "spec": hard, "status": hard})


def no_gpus(kubernetes: Cluster) -> None:
    kubernetes.put(node("one", cpu="32", memory="128Gi"))


def tainted(kubernetes: Cluster) -> None:
    taint = {"key": "reserved", "value": "yes", "effect": "NoSchedule"}
    kubernetes.put(node("one", cpu="32", memory="128Gi", gpus=2, taints=[taint]))


def full(kubernetes: Cluster) -> None:
    other = {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}], "nodeName": "one"}
    kubernetes.put({"kind": "Pod", "metadata": {"name": "other", "namespace": "theirs"}, "spec": other})


def no_secret(kubernetes: Cluster) -> None:
    del kubernetes.objects["Secret", "default", "ante-s3"]


def no_key(kubernetes: Cluster) -> None:
    kubernetes.objects["Secret", "default", "ante-s3"]["data"].pop("S3_SECRET_ACCESS_KEY")


def no_image(kubernetes: Cluster) -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "not found"}}
    state = {"phase": "Pending", "containerStatuses": [{"name": "preflight", "state": waiting}]}
    kubernetes.pod_states["preflight"] = state


def other_image(kubernetes: Cluster) -> None:
    kubernetes.logs["preflight"] = "sh: ante: not found\n"


def wrong_key(kubernetes: Cluster) -> None:
    error = {"name": "bucket", "state": "fail", "words": "SignatureDoesNotMatch", "fix": "mend the keys in the Secret"}
    kubernetes.logs["preflight"] = json.dumps(error)


def forbidden(kubernetes: Cluster) -> None:
    kubernetes.denied.add(("create", "rayjobs"))


def asleep(kubernetes: Cluster) -> None:
    kubernetes.objects["Deployment", "kuberay-system", "kuberay-operator"]["status"] = {}


RED = {
    "no CRDs": (no_crds, "kuberay", "does not serve ray.io/v1", "helm repo add kuberay"),
    "no quota": (small_quota, "quota", "quota team leaves 1 of requests.nvidia.com/gpu, the training requests 2", "larger quota"),
    "no GPUs": (no_gpus, "capacity", "gpuWorkers 1 of 2 does not fit on any node: it requests 1 of nvidia.com/gpu, no node has", "lower"),
    "nodes taken": (full, "capacity", "gpuWorkers 2 of 2 does not fit on any node: it requests 1 of nvidia.com/gpu (0 free on one)", "add"),
    "nodes tainted": (tainted, "capacity", "it tolerates no node's taints", "lower"),
    "no Secret": (no_secret, "secrets", "Secret ante-s3 does not exist", "kubectl --namespace default create secret generic"),
    "no key": (no_key, "secrets", "Secret ante-s3 has no key S3_SECRET_ACCESS_KEY", "kubectl"),
    "no image": (no_image, "image", "ante-ray:0.1.0 cannot be pulled", "image.repository"),
    "another image": (other_image, "pod", "the image does not contain ante's preflight: sh: ante: not found", "Dockerfile.ray"),
    "wrong S3 secret": (wrong_key, "bucket", "SignatureDoesNotMatch", "mend the keys"),
    "not allowed": (forbidden, "permissions", "not allowed in default: create rayjobs", "k8s/rbac.yaml"),
    "operator asleep": (asleep, "operator", "has no ready pod", "get pods"),
}  # fmt: skip


@pytest.mark.parametrize("name", RED)
def test_preflight_is_red_with_the_sentence_and_the_command(name: str, kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    spoil, check, words, fix = RED[name]
    spoil(kubernetes)
    code, found = preflight(ante)
    assert code == 1
    assert found[check]["state"] == "fail"
    assert words in found[check]["words"]
    assert fix in found[check]["fix"]
    assert not [pod for pod in kubernetes.all("Pod", "default")]


ROLE = ("--set", "s3.podRole=true")


def test_the_preflight_pod_uses_the_account_whose_role_opens_the_bucket(kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    code, found = preflight(ante, *ROLE)
    assert code == 0 and found["bucket"]["state"] == "warn" and "image" not in found
    assert found["bucket"]["words"] == "service account ante with the role is created with the training"
    kubernetes.put({"kind": "ServiceAccount", "metadata": {"name": "ante", "namespace": "default"}})
    code, found = preflight(ante, *ROLE)
    assert code == 0 and {"account", "image", "bucket"} <= set(found)
    assert proof_pod(make_settings({"s3": {"podRole": True}}))["spec"]["serviceAccountName"] == "ante"
    assert proof_pod(make_settings({}))["spec"]["serviceAccountName"] == "default"
    code, found = preflight(ante, *ROLE, "--set", "serviceAccount.create=false", "--set", "serviceAccount.name=mine")
    assert code == 1 and "service account mine does not exist in namespace default" in found["account"]["words"]


def test_a_preflight_pod_that_may_not_be_created_is_one_failed_check(kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    kubernetes.denied.add(("create", "pods"))
    code, found = preflight(ante)
    assert code == 1 and "not allowed (POST Pod ante-preflight)" in found["pod"]["words"]


FOREIGN = (
    "5",
    "null",
    "[1]",
    '"text"',
    "{}",
    '{"name": "x", "state": "unknown", "words": "y"}',
    "[" * 100_000,
    "9" * 5000,
)


@pytest.mark.parametrize("line", FOREIGN, ids=lambda line: line[:12])
def test_a_log_of_another_program_is_one_failed_check(line: str) -> None:
    (check,) = read([line])
    assert check.state == "fail" and check.words.startswith("the image does not contain ante's preflight")
    assert [one.name for one in read([line, *PROVED.splitlines()])] == ["bucket", "llm"]


def test_a_preflight_pod_that_ends_with_an_error_is_not_green() -> None:
    lines = [*PROVED.splitlines(), "Traceback: out of memory"]
    assert [check.state for check in read(lines)] == ["ok", "ok"]
    assert read(lines, failed=True)[-1].words == "the preflight pod ended with an error: Traceback: out of memory"


def test_preflight_of_a_queue_names_it_and_what_it_lacks(kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    more = ("--set", "queue.name=night")
    code, found = preflight(ante, *more)
    assert (code, found["queue"]["state"]) == (1, "fail")
    assert "no local queue 'night' exists in default" in found["queue"]["words"]
    about = {"name": "night", "namespace": "default"}
    kubernetes.put({"kind": "LocalQueue", "metadata": about, "spec": {"clusterQueue": "team"}})
    quotas = [{"name": name, "nominalQuota": amount} for name, amount in (("cpu", 64), ("memory", "256Gi"))]
    flavors = {"flavors": [{"name": "default", "resources": quotas}]}
    team = kubernetes.put({"kind": "ClusterQueue", "metadata": {"name": "team"}, "spec": {"resourceGroups": [flavors]}})
    words = preflight(ante, *more)[1]["queue"]["words"]
    assert words == "cluster queue team has none of nvidia.com/gpu, the training requests 2"
    team["spec"]["resourceGroups"][0]["flavors"][0]["resources"].append({"name": "nvidia.com/gpu", "nominalQuota": "2"})
    code, found = preflight(ante, *more)
    assert (code, found["queue"]["words"]) == (0, "night, admitted by team")


def test_preflight_without_a_cluster_tells_the_settings_and_stops(
    ante: Ante, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
    code, found = preflight(ante, "--set", "gpuWorkers.runnersPerWorker=99")
    assert code == 1
    assert set(found) == {"settings", "api"}
    assert "no cluster is configured" in found["api"]["words"]


def test_no_secret_is_printed_or_written_by_any_command(kubernetes: Cluster, ante: Ante) -> None:
    ready(kubernetes)
    kubernetes.objects["Secret", "default", "ante-s3"]["data"] = {
        "S3_ACCESS_KEY_ID": "QUtJQVZJU0lCTEU=", "S3_SECRET_ACCESS_KEY": "U0VDUkVUVklTSUJMRQ==",
    }  # fmt: skip
    printed = [
        ante(*words)
        for words in (
            ("preflight", "--preset", "gpu"), ("submit", "--preset", "gpu"), ("status", "--json"), ("ls", "--json"),
            ("logs",), ("render", "--preset", "gpu"), ("down",),
        )
    ]  # fmt: skip
    text = str(printed) + as_yaml(objects(make_settings({})))
    for secret in ("VISIBLE", "QUtJQVZJU0lCTEU=", "U0VDUkVUVklTSUJMRQ==", "ray-token"):
        assert secret not in text
