"""Write values.yaml and values.schema.json of the chart from the models: python tools/write_chart.py [--check]."""

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from ante.deploy.chart import ChartValues

CHART = Path(__file__).parent.parent / "helm" / "ante"
HEAD = """\
# Values of the chart. Written by tools/write_chart.py from src/ante/deploy/chart.py and settings.py: change them there.
# A Secret is named here, its content is never written here.
"""
OF_THE_RELEASE = ("name", "namespace")


def comment(text: str, indent: str) -> str:
    """A text as a comment."""
    return (
        textwrap.fill(" ".join(text.split()), 118, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ") + "\n"
    )


def block(model: BaseModel, indent: str = "") -> str:
    """The default values of a model, a comment above each."""
    lines = []
    for name, field in type(model).model_fields.items():
        if not indent and name in OF_THE_RELEASE:
            continue
        value, key = getattr(model, name), field.alias or name
        if isinstance(value, BaseModel):
            space = "" if indent else "\n"
            lines.append(f"{space}{comment(field.description or type(value).__doc__ or '', indent)}{indent}{key}:\n")
            lines.append(block(value, indent + "  "))
            continue
        plain = model.model_dump(mode="json", by_alias=True)[key]
        text = yaml.safe_dump(plain, default_flow_style=True, width=10_000).removesuffix("\n").removesuffix("\n...")
        lines.append(f"{comment(field.description or '', indent)}{indent}{key}: {text}\n")
    return "".join(lines)


def values() -> str:
    """values.yaml."""
    return HEAD + block(ChartValues())


def without_titles(schema: Any) -> Any:
    """A schema less what pydantic makes of names."""
    if isinstance(schema, list):
        return [without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_titles(each) for key, each in schema.items() if not (key == "title" and isinstance(each, str))}


def schema() -> str:
    """values.schema.json, closed."""
    found = without_titles(ChartValues.model_json_schema(by_alias=True))
    for name in OF_THE_RELEASE:
        del found["properties"][name]
    found["properties"]["global"] = {"type": "object", "description": "Of a chart above this one; not read."}
    found["description"] = "Values of the chart. Written by tools/write_chart.py."
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **found}, indent=1) + "\n"


def main() -> int:
    """Write both, or with --check report whether they are fresh."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    code = 0
    for name, text in (("values.yaml", values()), ("values.schema.json", schema())):
        file = CHART / name
        if not check:
            file.write_text(text)
        elif not file.is_file() or file.read_text() != text:
            print(f"{file} is stale: run python tools/write_chart.py", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
