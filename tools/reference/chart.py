"""The reference of the Helm chart's values, generated from the models of the chart."""

from collections.abc import Iterator

import yaml
from pydantic import BaseModel
from tools.reference.tables import cell, table

HEAD = """# Chart values

All values of the chart `helm/ante`, by top-level key. `ante cluster` and the notebook use the same keys. The schema
`helm/ante/values.schema.json` rejects unknown keys. [Deploy on Kubernetes](../how-to/deploy.md) shows which ones to set.

"""
OF_THE_RELEASE = ("name", "namespace")  # set by Helm, not values of the chart


def as_yaml(value: object) -> str:
    """Return a value on one line."""
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("\n").removesuffix("\n...")


def rows(model: BaseModel, prefix: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, default and description of each value below a model."""
    plain = model.model_dump(mode="json", by_alias=True)
    for name, field in type(model).model_fields.items():
        value, key = getattr(model, name), field.alias or name
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, BaseModel):
            yield from rows(value, path)
        else:
            yield f"`{path}`", f"`{cell(as_yaml(plain[key]))}`", cell(field.description or "")


def page() -> str:
    """Return the page."""
    from ante.deploy.chart import ChartValues

    whole = ChartValues()
    parts, plain = [HEAD], []
    for name, field in ChartValues.model_fields.items():
        value, key = getattr(whole, name), field.alias or name
        if name in OF_THE_RELEASE:
            continue
        if not isinstance(value, BaseModel):
            plain.append(
                (
                    f"`{key}`",
                    f"`{cell(as_yaml(whole.model_dump(mode='json', by_alias=True)[key]))}`",
                    cell(field.description or ""),
                )
            )
            continue
        about = " ".join((field.description or type(value).__doc__ or "").split())
        parts += [f"## {key}\n", f"{about}\n", table(("value", "default", "description"), rows(value, key)), ""]
    if plain:
        parts += ["## Others\n", table(("value", "default", "description"), plain), ""]
    return "\n".join(parts)
