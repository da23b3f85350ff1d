"""The reference of training settings and metrics, generated from their declarations."""

from tools.reference.tables import cell, table

from ante.metrics import METRICS

SETTINGS = """# Settings

All settings of `ante train`, by group. In a file: `algo: {lr: 2.0e-4}`; as a flag: `--algo.lr 2e-4`. The column *kinds* lists the
values of `kind` that have the setting; *resume* marks those that `--resume` may change. The column *default* is the value that a setting has if neither a preset nor a file sets it; `ante train`
without arguments uses the preset `laptop`. [Train](../how-to/train.md) explains how settings are given and combined.

"""
METRICS_HEAD = """# Metrics

`runs/NAME/metrics.csv` has a row for each iteration and a column for each metric, in this order; `metrics.parquet` has the same content
after the run. TensorBoard (`tensorboard --logdir runs`), W&B and MLflow ([tracking](../how-to/watch.md#tracking)) use the same names.
Prometheus uses the names of the fifth column, with `_total` appended for counters ([runbooks](../how-to/runbooks.md)). A cell is empty
if a metric does not apply. *Source* is the training loop (`run`), the env runners, the learner, the memory monitor, the short evaluations, or
the ledger of hints.

One table, `src/ante/metrics.py`, defines all metrics. A metric that a runner or a learner logs (`metrics.log_value`) needs one row in that table
to become a column, a TensorBoard curve and, if configured in its row, a console column, a Prometheus metric and a curve of the report.

"""


def settings_page() -> str:
    """Return the tables of all settings."""
    from ante.training.settings.reference import HEADINGS
    from ante.training.settings.reference import table as group_table

    groups = [group_table(group).replace("### ", "## ", 1) for group in HEADINGS]
    return SETTINGS + "\n\n".join([*groups, presets()]) + "\n"


def presets() -> str:
    """Return the files of all presets."""
    from ante.training.presets.lookup import preset_file, preset_names

    parts = [
        "## Presets\n\nThe files of `ante train --preset NAME`. A setting that a file does not name has the default of the tables above."
    ]
    return "\n\n".join(
        parts + [f"### {name}\n\n```yaml\n{preset_file(name).read_text().rstrip()}\n```" for name in preset_names()]
    )


def metrics_page() -> str:
    """Return the table of metrics."""
    rows = [
        (
            f"`{each.name}`",
            cell(each.help),
            each.unit,
            each.source,
            f"`{each.prometheus}`" * bool(each.prometheus),
            each.better,
        )
        for each in METRICS
    ]
    return METRICS_HEAD + table(("metric", "description", "unit", "source", "Prometheus", "better"), rows) + "\n"
