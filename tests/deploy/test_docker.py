"""Images: what their files copy is let through and exists, and what they install is what was tested here."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = [ROOT / "Dockerfile.ray", *sorted((ROOT / "docker").iterdir())]


def pins(name: str) -> set[str]:
    return set((ROOT / "requirements" / name).read_text().split())


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_what_is_copied_is_there_and_sent_to_the_builder(file: Path) -> None:
    let_through = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    for sources in re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", file.read_text(), re.M):
        for source in sources.split():
            assert (ROOT / source).exists(), source
            assert source.split("/")[0] in let_through, source


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_images_run_as_a_user_and_say_no_secret(file: Path) -> None:
    text = file.read_text()
    assert re.findall(r"^USER (\S+)$", text, re.M)[-1] == "1000"
    assert not re.search(r"(?i)(password|secret|token|key)\w*=\S", text)


def test_images_have_the_tested_versions() -> None:
    assert pins("image.txt") <= pins("all.txt")
    assert pins("image.txt") <= pins("notebook.txt")
    named = {pin.split("==")[0]: pin for pin in pins("all.txt")}
    assert all(named.get(pin.split("==")[0], pin) == pin for pin in pins("notebook.txt"))
