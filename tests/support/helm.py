"""Helm's engine in this process (helm-python-sdk), and the `helm` program if it is installed, with equal results."""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import helm_python

from tests.support.manifests import Object, read_all

CHART = Path(__file__).resolve().parent.parent.parent / "helm" / "ante"
PROGRAM = shutil.which("helm")
Values = dict[str, Any]

helm_python.disable_logging()


class ChartError(Exception):
    """Helm's error message about a chart or refused values."""


@dataclass(frozen=True)
class Rendered:
    """A chart's objects and its notes."""

    objects: list[Object]
    notes: str

    def kind(self, kind: str) -> dict[str, Object]:
        """Return the objects of a kind by name."""
        return {found["metadata"]["name"]: found for found in self.objects if found["kind"] == kind}


def render(values: Values, name: str = "ante", namespace: str = "default", chart: Path = CHART) -> Rendered:
    """Render the chart in this process, only with the APIs of Kubernetes: skipCrdCheck is set. Raises ChartError."""
    return render_as_is({"skipCrdCheck": True, **values}, name, namespace, chart)


def render_as_is(values: Values, name: str = "ante", namespace: str = "default", chart: Path = CHART) -> Rendered:
    """Render the chart with unchanged values."""
    files = render_files(values, name, namespace, chart)
    notes = "".join(text for file, text in files.items() if file.endswith("NOTES.txt"))
    manifests = sorted(file for file in files if not file.endswith("NOTES.txt"))
    return Rendered([found for file in manifests for found in read_all(files[file])], notes)


def render_files(values: Values, name: str = "ante", namespace: str = "default", chart: Path = CHART) -> dict[str, str]:
    """Return the rendered text of each template. Raises ChartError."""
    try:
        with helm_python.Chart.load(chart) as loaded:
            loaded.validate_schema(values)
            return dict(loaded.render(values, name=name, namespace=namespace))
    except helm_python.HelmError as error:
        raise ChartError(str(error)) from None


def merged_values(values: Values, chart: Path = CHART) -> Values:
    """Return the chart's defaults with values merged over them."""
    with helm_python.Chart.load(chart) as loaded:
        return dict(loaded.merge_values(values))


def lint(values: Values, chart: Path = CHART) -> list[str]:
    """Return problems of the chart, except advice about an icon."""
    report = helm_python.lint(str(chart), values, strict=True)
    errors = [found["error"] for found in report["messages"] if "icon is recommended" not in found["error"]]
    return [*errors, *report["errors"]]


def render_by_program(
    values: Values, name: str = "ante", namespace: str = "default", apis: tuple[str, ...] = ()
) -> list[Object]:
    """Return the objects rendered by the program for a cluster with KubeRay and these APIs. Raises ChartError."""
    assert PROGRAM
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)  # not YAML, whose parsers differ: 1e-3 is a string for one and a number for the other
        file.flush()
        command = [PROGRAM, "template", name, str(CHART), "--namespace", namespace, "--values", file.name]
        command += ["--api-versions", ",".join(("ray.io/v1", *apis))]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HELM_DEBUG": "false"})
    if done.returncode:
        raise ChartError(done.stderr)
    return read_all(done.stdout)
