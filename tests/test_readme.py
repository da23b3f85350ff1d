"""What the README shows runs, and the files it points to are there."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_examples_run(code: str) -> None:
    names: dict[str, object] = {}
    exec(code, names)
    assert names.get("info") or names.get("n")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_every_command_is_listed() -> None:
    cli = (ROOT / "src" / "ante" / "cli" / "__init__.py").read_text()
    for command in re.findall(r'subcommand\("([\w-]+)"\)', cli.partition("\nCommand = (")[2]):
        assert f"| `ante {command}" in README
