"""Renders of the chart with its CI values, as files for review; python -m tests.helm.renders rewrites them."""

from pathlib import Path

import yaml

from tests.support.helm import CHART, Rendered, Values, render
from tests.support.manifests import Object

GOLDEN = Path(__file__).parent / "golden"
CI = {file.name.removesuffix("-values.yaml"): file for file in sorted((CHART / "ci").glob("*-values.yaml"))}


class Blocks(yaml.SafeDumper):
    """Dumps text of several lines as a block."""


def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


Blocks.add_representer(str, text)


def values_of(name: str) -> Values:
    """Return one of the CI values."""
    return dict(yaml.safe_load(CI[name].read_text()))


def settled(found: Object) -> Object:
    """Return the object without the dashboard, a separate file."""
    if "ante.json" in found.get("data", {}):
        return found | {"data": {"ante.json": "<files/dashboard.json>"}}
    return found


def written(rendered: Rendered) -> str:
    """Return notes and objects as text."""
    notes = "".join(f"# {line}".rstrip() + "\n" for line in rendered.notes.splitlines())
    objects = (yaml.dump(settled(found), Dumper=Blocks, sort_keys=False, width=10_000) for found in rendered.objects)
    return notes + "".join(f"---\n{one}" for one in objects)


def main() -> None:
    """Write all renders."""
    GOLDEN.mkdir(exist_ok=True)
    for name in CI:
        (GOLDEN / f"{name}.yaml").write_text(written(render(values_of(name))))


if __name__ == "__main__":
    main()
