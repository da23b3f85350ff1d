"""The plain manifests in k8s/: up to date, valid, without secrets."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.manifests import check_all, read_all

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "k8s").glob("*.yaml"))


def test_they_are_what_the_tool_writes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "write_manifests.py", "--check"], capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_is_valid_and_says_what_it_is(file: Path) -> None:
    text = file.read_text()
    found = read_all(text)
    check_all(found)
    assert text.startswith("# ")
    assert {one["metadata"].get("namespace", "ante") for one in found} == {"ante"}
    assert "Secret" not in {one["kind"] for one in found}


def parts(found: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping within a manifest."""
    if isinstance(found, dict):
        yield found
    for each in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from parts(each)


def test_every_ray_asks_for_a_token_that_stands_in_no_manifest() -> None:
    files = [*(ROOT / "k8s").glob("*.yaml"), *(ROOT / "tests/helm/golden").glob("*.yaml")]
    every = [part for file in files for found in yaml.safe_load_all(file.read_text()) for part in parts(found)]
    clusters = [part for part in every if "headGroupSpec" in part]
    assert len(clusters) >= 8 and all(part["authOptions"]["mode"] == "token" for part in clusters)
    modes = [part["value"] for part in every if part.get("name") == "RAY_AUTH_MODE"]
    assert len(modes) >= 2 * len(clusters) and set(modes) == {"token"}
    assert not [part for part in every if part.get("name") == "RAY_AUTH_TOKEN" and "value" in part]
