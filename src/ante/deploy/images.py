"""Every image that a training needs, by name: what a site without a way out has to bring in."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ante.deploy.chart import ChartValues, ServiceImage
from ante.deploy.settings import BadSettings, Image, merged, one_value, read_values

OPERATOR = "quay.io/kuberay/operator:v1.7.0"


@dataclass(frozen=True)
class Needed:
    """One image: its name, what runs it, and whether these values ask for it."""

    image: str
    runs: str
    used: bool


def reference(image: Image | ServiceImage) -> str:
    """The name under which nodes pull an image."""
    return f"{image.repository}@{image.digest}" if image.digest else f"{image.repository}:{image.tag}"


def read_chart_values(files: tuple[Path, ...] = (), sets: tuple[str, ...] = ()) -> ChartValues:
    """The chart's values with those of files and key=value pairs over them. Raises BadSettings."""
    values: dict[str, Any] = ChartValues().model_dump(mode="json", by_alias=True)
    for more in (*map(read_values, files), *map(one_value, sets)):
        values = merged(values, more)
    try:
        return ChartValues.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise BadSettings(f"value {place}: {first['msg'].removeprefix('Value error, ')}") from None


def images(values: ChartValues) -> Iterator[Needed]:
    """All images, those of services that are switched off too."""
    own, server = reference(values.image), values.llm_server
    yield Needed(own, "Ray pods, job submitter, bucket job, preflight", True)
    yield Needed(reference(values.object_store.image), "object store", values.object_store.enabled)
    kinds = {"vllm": server.vllm_image, "llamacpp": server.llamacpp_image}
    for kind, image in kinds.items():
        yield Needed(reference(image), f"LLM service, {kind}", server.enabled and server.kind == kind)
    yield Needed(OPERATOR, "KubeRay's operator, installed once a cluster", True)
