"""Checks whether Kubernetes accepts an object: schemas without unknown fields, and no secrets in plain text.

Core kinds: kubernetes-validate, strict. KubeRay's: the schemas of its definitions (tests/data). Other kinds (Kueue,
Prometheus, OpenShift) have no schema here: list them in `LOOSE`, then only their metadata is checked.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml
from kubernetes_validate.utils import schema_contents
from referencing import Registry, Resource

Object = dict[str, Any]

CRDS = Path(__file__).resolve().parent.parent / "data" / "kuberay-crds-1.6.2.json.gz"
KUBERNETES = "1.35"
RAY_API = "ray.io/v1"
LOOSE = {"PodMonitor", "ServiceMonitor", "PrometheusRule", "Route", "LocalQueue"}
SECRET_NAME = re.compile(r"(password|passwd|secret|token|access_?key|api_?key|private_?key|credential)", re.IGNORECASE)
NOT_SECRET = re.compile(r"(_?file|_path|_name|mode|secretname|serviceaccounttoken|tokens_per_hour)$", re.IGNORECASE)
URL_WITH_PASSWORD = re.compile(r"\w+://[^/\s:@]+:[^/\s@]+@")


class Refused(AssertionError):
    """An object that Kubernetes would refuse."""


def read_all(text: str) -> list[Object]:
    """Return the objects of a YAML stream. Raises Refused for a duplicate key."""
    return [found for found in yaml.load_all(text, NoDoubleKeys) if found]


class NoDoubleKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loads YAML without duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise Refused(f"key {key} is duplicated, line {node.start_mark.line + 1}")
        return super().construct_mapping(node, deep)


def check(found: Object) -> None:
    """Check that the object is valid. Raises Refused, naming the place."""
    where = f"{found.get('kind')}/{found.get('metadata', {}).get('name')}"
    check_metadata(found, where)
    if found["apiVersion"] == RAY_API:
        errors = sorted(ray_validator(found["kind"]).iter_errors(found["spec"]), key=lambda error: list(error.path))
        if errors:
            place = ".".join(map(str, ["spec", *errors[0].path]))
            raise Refused(f"{where}: {place}: {errors[0].message[:300]}")
    elif found["kind"] not in LOOSE:
        for error in core_validator(found["kind"], found["apiVersion"]).iter_errors(found):
            raise Refused(f"{where}: {'.'.join(map(str, error.path))}: {error.message[:300]}")


def check_all(found: Iterable[Object]) -> None:
    """Check that all objects are valid, have unique names, and have no secrets outside Secrets. Raises Refused."""
    seen = set()
    for one in found:
        check(one)
        secrets = list(plain_secrets(one))
        if secrets:
            raise Refused(f"{one['kind']}/{one['metadata']['name']}: a secret in plain text at {secrets[0]}")
        key = (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"])
        if key in seen:
            raise Refused(f"{key} is duplicated")
        seen.add(key)


def check_metadata(found: Object, where: str) -> None:
    """Check the name, and that labels and annotations are strings: the definitions do not restrict metadata."""
    strings = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"},
            "namespace": {"type": "string"},
            "labels": {**strings, "additionalProperties": {"type": "string", "maxLength": 63}},
            "annotations": strings,
        },
    }
    try:
        jsonschema.validate(found.get("metadata"), schema)
    except jsonschema.ValidationError as error:
        raise Refused(f"{where}: metadata.{'.'.join(map(str, error.path))}: {error.message}") from None


@cache
def core_validator(kind: str, version: str) -> jsonschema.Draft202012Validator:
    """Return the strict schema of a core kind. Raises Refused if the kind does not exist."""
    group, _, number = version.rpartition("/")
    prefix = f"{group.partition('.')[0]}-{number}" if group else number
    folder = f"kubernetes-json-schema/v{KUBERNETES}.0-local-strict"
    try:
        schema = schema_contents(f"{folder}/{kind.lower()}-{prefix}.json", KUBERNETES)
    except FileNotFoundError:
        raise Refused(f"there is no {version} {kind}") from None
    return jsonschema.Draft202012Validator(schema, registry=Resource.from_contents(schema) @ core_definitions())


@cache
def core_definitions() -> Registry[Any]:
    """Return the definitions that the core schemas refer to."""
    folder = f"kubernetes-json-schema/v{KUBERNETES}.0-local-strict"
    return Resource.from_contents(schema_contents(f"{folder}/_definitions.json", KUBERNETES)) @ Registry()


@cache
def ray_validator(kind: str) -> jsonschema.Draft202012Validator:
    """Return the closed schema of the spec of RayCluster or RayJob. Raises Refused for other kinds."""
    kinds = json.loads(gzip.decompress(CRDS.read_bytes()))["kinds"]
    if kind not in kinds:
        raise Refused(f"there is no {RAY_API} {kind}")
    return jsonschema.Draft202012Validator(closed(kinds[kind]))


def closed(schema: Any) -> Any:
    """Convert a Kubernetes schema to a JSON Schema that refuses unknown fields."""
    if not isinstance(schema, dict):
        return schema
    result = {key: value for key, value in schema.items() if not key.startswith("x-kubernetes") and key != "format"}
    if schema.get("x-kubernetes-int-or-string"):
        result.pop("anyOf", None)
        result["type"] = ["integer", "string"]
    if "properties" in schema:
        result["properties"] = {name: closed(part) for name, part in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            result.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = closed(schema[key])
    return result


def plain_secrets(found: Object) -> Iterator[str]:
    """Yield paths in an object, except in Secrets, that seem to contain a secret in plain text."""
    if found["kind"] != "Secret":
        yield from secrets_below(found, "")


def secrets_below(value: Any, place: str) -> Iterator[str]:
    """Yield the same below one path."""
    if isinstance(value, str) and URL_WITH_PASSWORD.search(value):
        yield place
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from secrets_below(one, f"{place}[{number}]")
    if not isinstance(value, dict):
        return
    if isinstance(value.get("name"), str) and value.get("value") and secret_like(value["name"]):
        yield f"{place}.{value['name']}"
    for key, one in value.items():
        if isinstance(one, str) and one and is_configuration(place) and secret_like(str(key)):
            yield f"{place}.{key}"
        yield from secrets_below(one, f"{place}.{key}")


def is_configuration(place: str) -> bool:
    """Return whether keys below this path are user-defined: data of a ConfigMap, labels and annotations."""
    return place.endswith((".data", ".labels", ".annotations"))


def secret_like(name: str) -> bool:
    """Return whether a value with this name is expected to be secret."""
    return bool(SECRET_NAME.search(name)) and not NOT_SECRET.search(name)
