"""Metrics for Prometheus: scraped over HTTP and parsed by its own parser."""

import csv
import math
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from ante.http.metrics_page import CannotServe
from ante.storage.spool import Spool, State
from ante.training.run.memory import GB, Reading
from ante.training.run.prometheus import EXPORTED, RunExporter, Runners, serving

EXPORTED_COLUMNS = sorted(metric.name for metric in EXPORTED)


def scraped(port: int) -> dict[tuple[str, str], float]:
    """Return the value of each sample by its name and its label `process`; every one has the run's name."""
    answer = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=10)
    answer.raise_for_status()
    samples = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
    assert {sample.labels["run"] for sample in samples} <= {"first"}
    return {(sample.name, sample.labels.get("process", "")): sample.value for sample in samples}


def test_a_scrape_shows_the_last_iteration_and_what_waits_now(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a").write_bytes(b"x" * 1000)
    spool = Spool(tmp_path / "spool")
    exporter = RunExporter("first", spool)
    exporter.row = {name: float(place) for place, name in enumerate(EXPORTED_COLUMNS)} | {"win_rate": math.nan}
    exporter.runners, exporter.learning, exporter.losses = Runners(3, 2, 5), True, 4
    exporter.memory = lambda: Reading({"driver": 1.5, "runner 1": 0.25})
    with serving(exporter, 0) as port:
        found = scraped(port)
        for metric in EXPORTED:
            name = f"{metric.prometheus}_total" if metric.counter else metric.prometheus
            if metric.name != "win_rate":
                assert found[name, ""] == EXPORTED_COLUMNS.index(metric.name)
        assert ("ante_episode_win_rate", "") not in found  # not known yet
        assert found["ante_env_runners_wanted", ""] == 3 and found["ante_env_runners_healthy", ""] == 2
        assert found["ante_env_runner_restarts_total", ""] == 5 and found["ante_training_losses_total", ""] == 4
        assert found["ante_training_learning", ""] == 1
        assert found["ante_memory_bytes", "driver"] == 1.5 * GB and found["ante_memory_bytes", "runner 1"] == GB / 4
        assert found["ante_upload_backlog_jobs", ""] == 0
        job = spool.add(tmp_path / "files", "s3://bucket/runs", "first", "1", {})
        spool.write_state(State(1, job.id, attempts=7, error="no answer"))
        found = scraped(port)
        assert found["ante_upload_backlog_jobs", ""] == 1 and found["ante_upload_backlog_bytes", ""] == 1000
        assert found["ante_upload_failures", ""] == 7
        spool.refuse(job, "name taken")
        assert scraped(port)["ante_uploads_refused", ""] == 1
    with pytest.raises(requests.ConnectionError):
        scraped(port)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_finds_nothing_to_complain_of_in_names_and_help() -> None:
    exporter = RunExporter("first")
    exporter.row = dict.fromkeys(EXPORTED_COLUMNS, 1.0)
    exporter.memory = lambda: Reading({"driver": 1.0})
    with serving(exporter, 0) as port:
        text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=10).content
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_a_port_in_use_is_reported_in_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = f"tracking.metrics_port {port} cannot be used .*choose another"
        with pytest.raises(CannotServe, match=words), serving(RunExporter("first"), port):
            pass


@pytest.mark.ray
def test_a_run_is_scraped_while_it_learns(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = (
        "--name first --policy.kind mlp --steps 200000 --resources.games-per-runner 16 --algo.batch 512 --algo.minibatch 256 "
        "--evaluation.games 4"
    )
    command = [
        sys.executable,
        "-m",
        "ante.cli",
        "train",
        *words.split(),
        "--algo.epochs",
        "1",
        "--tracking.metrics-port",
        str(port),
    ]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    try:
        found: dict[tuple[str, str], float] = {}
        until = time.monotonic() + 120
        while found.get(("ante_env_steps_total", ""), 0) == 0 and time.monotonic() < until:
            assert run.poll() is None, run.stderr and run.stderr.read().decode()
            try:
                found = scraped(port)
            except (requests.ConnectionError, requests.Timeout):
                time.sleep(0.2)
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=120)
    assert run.returncode == 0
    with (tmp_path / "runs" / "first" / "metrics.csv").open(newline="") as stream:
        rows = {int(row["steps"]): row for row in csv.DictReader(stream)}
    row = rows[int(found["ante_env_steps_total", ""])]
    assert found["ante_env_steps_per_second", ""] == float(row["steps_per_second"])
    assert found["ante_training_learning", ""] == 1 and found["ante_memory_bytes", "driver"] > GB / 10
