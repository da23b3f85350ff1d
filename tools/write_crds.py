"""Write tests/data/kuberay-crds-VERSION.json.gz: the schemas of KubeRay's RayCluster and RayJob, for offline checks.

    python tools/write_crds.py FOLDER VERSION

FOLDER contains KubeRay's `ray.io_*.yaml`; with Go: $(go env GOMODCACHE)/github.com/ray-project/kuberay/
ray-operator@v1.6.2/config/crd/bases after `go mod download github.com/ray-project/kuberay/ray-operator@v1.6.2`.
The output contains the schema of `spec` in version v1.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
NOTICE = (
    "Extracted from the CustomResourceDefinitions of KubeRay {version} (https://github.com/ray-project/kuberay), "
    "Copyright the KubeRay authors, licensed under the Apache License, Version 2.0 "
    "(http://www.apache.org/licenses/LICENSE-2.0). Changed: only the v1 schema of spec, without descriptions."
)
KINDS = {"RayCluster": "ray.io_rayclusters.yaml", "RayJob": "ray.io_rayjobs.yaml"}


def without_descriptions(schema: Any) -> Any:
    """Return a schema without its descriptions, but with properties named description."""
    if isinstance(schema, list):
        return [without_descriptions(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: without_descriptions(part) for name, part in value.items()} if key == "properties"
        else without_descriptions(value)
        for key, value in schema.items() if key == "properties" or key != "description"
    }  # fmt: skip


def spec_schema(file: Path) -> Any:
    """Return the schema of spec in version v1 of one definition."""
    definition = yaml.load(file.read_text(), yaml.CSafeLoader)
    version = next(version for version in definition["spec"]["versions"] if version["name"] == "v1")
    return without_descriptions(version["schema"]["openAPIV3Schema"]["properties"]["spec"])


def main(folder: Path, version: str) -> None:
    """Write the file; equal definitions result in equal bytes."""
    kinds = {kind: spec_schema(folder / name) for kind, name in KINDS.items()}
    text = json.dumps({"notice": NOTICE.format(version=version), "version": version, "kinds": kinds}, sort_keys=True)
    DATA.mkdir(exist_ok=True)
    file = DATA / f"kuberay-crds-{version}.json.gz"
    file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{file}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
