"""Alerts and dashboard: valid for Prometheus, based on exported series; each alert fires when it should."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.core import CounterMetricFamily

from ante.training.run.memory import Reading
from ante.training.run.prometheus import EXPORTED, RunExporter
from tests.helm.renders import values_of
from tests.support.helm import CHART, render

RULES: list[dict[str, Any]] = [
    rule
    for group in render(values_of("gpu")).kind("PrometheusRule")["ante"]["spec"]["groups"]
    for rule in group["rules"]
]
PANELS = json.loads((CHART / "files" / "dashboard.json").read_text())["panels"]
promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
RUN = '{run="ante"}'
HEAD = '{RayNodeType="head",namespace="default",pod="ante-x-head"}'
# Series for which each alert fires, and others for which it must not; one sample per minute.
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "AnteNoSteps": (
        {f"ante_env_steps_total{RUN}": "0+100x10 1000x30", f"ante_training_learning{RUN}": "1x40"},
        {f"ante_env_steps_total{RUN}": "0+100x10 1000x30", f"ante_training_learning{RUN}": "1x10 0x30"},
    ),
    "AnteHintsFail": (
        {f"ante_hint_success_ratio{RUN}": "0.9x20 0.79x20"},
        {f"ante_hint_success_ratio{RUN}": "0.8x40"},
    ),
    "AnteUploadBacklog": (
        {f"ante_upload_backlog_jobs{RUN}": "3x40", f"ante_upload_backlog_bytes{RUN}": "1000+10x40"},
        {f"ante_upload_backlog_jobs{RUN}": "3x40", f"ante_upload_backlog_bytes{RUN}": "9000-10x40"},
    ),
    "AnteUploadsRefused": ({f"ante_uploads_refused{RUN}": "0x20 1x20"}, {f"ante_uploads_refused{RUN}": "0x40"}),
    "AnteGradientsSkipped": (
        {f"ante_nonfinite_grad_steps{RUN}": "0x28 4 0x20"},
        {f"ante_nonfinite_grad_steps{RUN}": "4x10 0x30"},
    ),
    "AnteFragmentsLost": (
        {f"ante_fragments_lost{RUN}": "0x28 1 0x20"},
        {f"ante_fragments_lost{RUN}": "1x10 0x30"},
    ),
    "AnteWorkerRestarts": (
        {f"ante_env_runner_restarts_total{RUN}": "0x30 1x10"},
        {f"ante_env_runner_restarts_total{RUN}": "7x40", 'kube_pod_container_status_restarts_total{pod="x"}': "0+1x40"},
    ),
    "AnteHeadMemory": (
        {f"ray_node_mem_used{HEAD}": "86x40", f"ray_node_mem_total{HEAD}": "100x40"},
        {f"ray_node_mem_used{HEAD}": "84x40", f"ray_node_mem_total{HEAD}": "100x40"},
    ),
    "AntePodsPending": (
        {'kube_pod_status_phase{namespace="default",pod="ante-x-gpu",phase="Pending"}': "1x40"},
        {'kube_pod_status_phase{namespace="default",pod="other",phase="Pending"}': "1x40"},
    ),
}


def exported_series() -> set[str]:
    """Return the names of all series that a run can export."""
    exporter = RunExporter("any", spool=None)
    exporter.row = {metric.name: 1.0 for metric in EXPORTED}
    exporter.memory = lambda: Reading({"driver": 1.0})
    families = list(exporter.collect())
    names = {family.name + ("_total" if isinstance(family, CounterMetricFamily) else "") for family in families}
    return names | {
        "ante_upload_backlog_jobs",
        "ante_upload_backlog_bytes",
        "ante_upload_failures",
        "ante_uploads_refused",
    }


@pytest.mark.parametrize("expression", [
    *(rule["expr"] for rule in RULES), *(target["expr"] for panel in PANELS for target in panel["targets"])
])  # fmt: skip
def test_expressions_use_only_exported_series(expression: str) -> None:
    requested = set(re.findall(r"\bante_\w+", expression))
    assert requested <= exported_series(), f"not exported: {requested - exported_series()}"
    assert requested or re.search(r"\b(ray_node_|kube_pod_)", expression)


def test_every_panel_has_a_place_of_its_own() -> None:
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS}
    assert len(places) == len(PANELS) == len({panel["id"] for panel in PANELS}) > 15


def test_the_dashboard_in_the_cluster_is_the_file() -> None:
    found = render(values_of("gpu")).kind("ConfigMap")["ante-grafana"]
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(found["data"]["ante.json"])["panels"] == PANELS


def test_every_alert_has_a_case_here_and_a_place_in_the_runbooks() -> None:
    assert [rule["alert"] for rule in RULES] == list(CASES)
    text = (CHART.parent.parent / "docs" / "how-to" / "runbooks.md").read_text().lower()
    for rule in RULES:
        page, _, heading = rule["annotations"]["runbook"].partition(", ")
        assert page == "docs/how-to/runbooks.md" and f"## {heading.lower()}\n" in text


@promtool
@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_exactly_when_it_should(alert: str, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "ante", "rules": RULES}]}))
    checked = subprocess.run(
        ["promtool", "check", "rules", str(tmp_path / "rules.yaml")], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    for series, expected in zip(CASES[alert], (1, 0), strict=True):
        query = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)'
        test = {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {"expr": query, "eval_time": "38m", "exp_samples": [{"labels": "{}", "value": expected}]}
            ],
        }
        (tmp_path / "test.yaml").write_text(
            yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]})
        )
        done = subprocess.run(["promtool", "test", "rules", "test.yaml"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{'silent' if expected else 'false alarm'}: {done.stdout}{done.stderr}"
