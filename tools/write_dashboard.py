"""Generate the Grafana dashboard of the chart: python tools/write_dashboard.py [--check]."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "helm" / "ante" / "files" / "dashboard.json"
RUN = '{run=~"$run"}'
PANELS = (  # title, unit, (expression, legend) ...; three per row
    ("Environment steps per second", "ops", (f"ante_env_steps_per_second{RUN}", "{{run}}")),
    ("Environment steps", "short", (f"ante_env_steps_total{RUN}", "{{run}}")),
    ("Games per second", "ops", (f"ante_games_per_second{RUN}", "{{run}}")),
    ("Ante reached", "short", (f"ante_episode_ante{RUN}", "{{run}}")),
    ("Blinds beaten", "short", (f"ante_episode_blinds{RUN}", "{{run}}"), (f"ante_eval_blinds{RUN}", "{{run}} panel")),
    (
        "Games won",
        "percentunit",
        (f"ante_episode_win_rate{RUN}", "{{run}}"),
        (f"ante_eval_win_rate{RUN}", "{{run}} panel"),
    ),
    ("Return", "short", (f"ante_episode_return{RUN}", "{{run}}")),
    ("Entropy and KL, nats", "short", (f"ante_policy_entropy{RUN}", "entropy"), (f"ante_policy_kl{RUN}", "KL")),
    ("Losses", "short", (f"ante_policy_loss{RUN}", "policy"), (f"ante_value_loss{RUN}", "value")),
    ("Norm of the gradient", "short", (f"ante_grad_norm{RUN}", "{{run}}")),
    ("Variance explained by the values", "short", (f"ante_explained_variance{RUN}", "{{run}}")),
    (
        "Clipped rows, first |ratio - 1|",
        "percentunit",
        (f"ante_policy_clipped{RUN}", "clipped"),
        (f"ante_policy_first_ratio{RUN}", "first |ratio - 1|"),
    ),
    ("Skipped gradient steps", "short", (f"ante_nonfinite_grad_steps{RUN}", "{{run}}")),
    ("Lost fragments", "short", (f"ante_fragments_lost{RUN}", "{{run}}")),
    ("Iteration time", "s", (f"ante_sample_seconds{RUN}", "sampling"), (f"ante_learn_seconds{RUN}", "learning")),
    (
        "Env runners",
        "short",
        (f"ante_env_runners_wanted{RUN}", "configured"),
        (f"ante_env_runners_healthy{RUN}", "healthy"),
        (f"increase(ante_env_runner_restarts_total{RUN}[15m])", "restarts in 15 m"),
    ),
    ("Policy lag, updates", "short", (f"ante_policy_lag{RUN}", "{{run}}")),
    ("Memory of the head's processes", "bytes", (f"ante_memory_bytes{RUN}", "{{process}}")),
    (
        "Memory of the nodes",
        "percentunit",
        ("ray_node_mem_used / ray_node_mem_total", "{{RayNodeType}} {{pod}}"),
    ),
    ("GPU utilisation", "percent", ("ray_node_gpus_utilization", "{{pod}} {{GpuIndex}}")),
    (
        "Pending uploads",
        "short",
        (f"ante_upload_backlog_jobs{RUN}", "jobs"),
        (f"ante_upload_failures{RUN}", "failures"),
    ),
    ("Pending upload bytes", "bytes", (f"ante_upload_backlog_bytes{RUN}", "{{run}}")),
    (
        "Hints",
        "percentunit",
        (f"ante_hint_success_ratio{RUN}", "success rate"),
        (f"ante_hint_agreement_ratio{RUN}", "agreement with policy"),
    ),
    (
        "LLM latency",
        "s",
        (f"ante_hint_latency_p50_seconds{RUN}", "p50"),
        (f"ante_hint_latency_p95_seconds{RUN}", "p95"),
    ),
    ("LLM calls per second", "ops", (f"rate(ante_hint_calls_total{RUN}[5m])", "calls")),
    ("Curriculum stage", "short", (f"ante_curriculum_stage{RUN}", "{{run}}")),
)
SOURCE = {"type": "prometheus", "uid": "${source}"}


def panel(number: int, title: str, unit: str, *queries: tuple[str, str]) -> dict[str, Any]:
    """Return one time series panel."""
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": number % 3 * 8, "y": number // 3 * 7, "w": 8, "h": 7},
        "fieldConfig": {
            "defaults": {"unit": unit, "min": 0 if unit in ("bytes", "percentunit") else None},
            "overrides": [],
        },
        "targets": [
            {"refId": chr(65 + place), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for place, (query, legend) in enumerate(queries)
        ],
    }


def dashboard() -> str:
    """Return the dashboard as JSON."""
    run = {
        "name": "run", "type": "query", "datasource": SOURCE, "query": "label_values(ante_env_steps_total, run)",
        "includeAll": True, "multi": True, "refresh": 2,
    }  # fmt: skip
    found = {
        "uid": "ante-training",
        "title": "Ante training",
        "tags": ["ante"],
        "schemaVersion": 39,
        "time": {"from": "now-3h", "to": "now"},
        "refresh": "15s",
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus"}, run]},
        "panels": [panel(number, *each) for number, each in enumerate(PANELS)],
    }
    return json.dumps(found, indent=1) + "\n"


def main() -> int:
    """Write the dashboard, or with --check report whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(dashboard())
    elif not FILE.is_file() or FILE.read_text() != dashboard():
        print(f"{FILE} is stale: run python tools/write_dashboard.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
