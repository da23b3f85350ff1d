"""The plain manifests of k8s/: fresh, valid, without secrets."""

import subprocess
import sys
from pathlib import Path

import pytest

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
