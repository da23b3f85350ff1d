"""The table of metrics, and everything derived from it."""

import csv
import math
import re
from pathlib import Path
from typing import Any

import pytest
from tools.reference.settings import metrics_page

from ante.metrics import COLUMNS, METRICS, Metric, names_of, without_values

BY_NAME = {metric.name: metric for metric in METRICS}


def test_every_row_can_be_shown() -> None:
    assert len(BY_NAME) == len(METRICS)
    for metric in METRICS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name) and metric.help.endswith("."), metric.name
        assert (
            bool(metric.heading) == bool(metric.format) and metric.format.format(0.5) != metric.format
        ) or not metric.format
        assert {metric.where, metric.evaluated} <= {"", *BY_NAME}, metric.name
        assert not metric.key or metric.source in ("runners", "learner"), metric.name
    names = [metric.prometheus for metric in METRICS if metric.prometheus]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"ante_[a-z0-9_]+", name) for name in names)


def test_a_metric_without_values_is_not_a_number() -> None:
    found = without_values("evaluation")
    assert tuple(found) == names_of("evaluation") == ("eval_blinds", "eval_ante", "eval_win_rate", "eval_seconds")
    assert all(map(math.isnan, found.values()))


def test_the_ledger_of_hints_gives_all_metrics_of_hints() -> None:
    from ante.hints.ledger import Ledger

    assert tuple(f"hint_{name}" for name in Ledger().figures()) == names_of("hints")


def test_the_page_names_every_metric() -> None:
    assert metrics_page().count("\n| `") == len(METRICS)


def test_one_row_more_reaches_the_file_the_console_and_prometheus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that shows metrics uses the table: a new metric of the learner needs one row."""
    pytest.importorskip("ray")
    from rich.console import Console

    from ante.training.run import console, metrics, progress, prometheus

    row = Metric(
        name="grad_norm",
        source="learner",
        key="gradient_norm",
        help="Norm of the gradient.",
        heading="grad norm",
        format="{:.2f}",
        prometheus="ante_grad_norm",
    )
    monkeypatch.setattr(progress, "METRICS", (*METRICS, row))
    monkeypatch.setattr(metrics, "COLUMNS", (*COLUMNS, row.name))
    monkeypatch.setattr(console, "COLUMNS", (*console.COLUMNS, row))
    monkeypatch.setattr(prometheus, "EXPORTED", (*prometheus.EXPORTED, row))
    learner = {"vf_loss": 0.25, "gradient_norm": 3.5}
    result: dict[str, Any] = {
        "env_runners": {"num_env_steps_sampled": 64, "num_episodes": 2, "episode_return_mean": 1.5},
        "learners": {"default_policy": learner},
    }
    made = progress.row_of(result, progress.Progressed(steps=36), 2.0)
    made |= without_values("memory") | without_values("evaluation") | without_values("hints")
    assert set(made) == {*COLUMNS, "grad_norm"}
    assert (made["steps"], made["steps_per_second"], made["return"], made["value_loss"]) == (100, 32.0, 1.5, 0.25)
    assert math.isnan(made["policy_loss"]) and made["grad_norm"] == 3.5

    written = metrics.Metrics(tmp_path)
    written.write(made)
    written.close()
    with (tmp_path / "metrics.csv").open(newline="") as stream:
        assert [line["grad_norm"] for line in csv.DictReader(stream)] == ["3.5"]

    paper = Console(record=True, width=300, force_terminal=False)
    console.TrainView(paper, 1000, 0).show(made)
    text = paper.export_text()
    assert "grad norm 3.50" in text and "steps/s 32" in text and "hint requests" not in text and "stage" not in text

    exporter = prometheus.RunExporter("any")
    exporter.row = made
    samples = {sample.name: sample.value for family in exporter.collect() for sample in family.samples}
    assert samples["ante_grad_norm"] == 3.5 and samples["ante_env_steps_total"] == 100
    assert "ante_policy_loss" not in samples
