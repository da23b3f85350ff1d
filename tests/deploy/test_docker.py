"""Dockerfiles: copied files exist and pass .dockerignore, and installed versions are the tested ones."""

import ast
import mmap
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = [ROOT / "Dockerfile.ray", *sorted((ROOT / "docker").iterdir())]


def pins(name: str) -> set[str]:
    """Return every pin and hash of a requirement file."""
    lines = (ROOT / "requirements" / name).read_text().splitlines()
    return {word for line in lines if not line.startswith("#") for word in line.split()}


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_what_is_copied_is_there_and_sent_to_the_builder(file: Path) -> None:
    let_through = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    for source in copied(file.read_text()):
        assert (ROOT / source).exists(), source
        assert source.split("/")[0] in let_through, source


def test_the_layer_of_compiled_code_has_every_module_that_it_imports() -> None:
    before, compiles, _ = (ROOT / "Dockerfile.ray").read_text().partition("from ante.warmup import")
    assert compiles
    layer = [ROOT / source for source in copied(before) if source.startswith("src/")]
    files = {file for path in layer for file in (path.rglob("*.py") if path.is_dir() else [path])}
    missing = {(file.name, name) for file in files for name in imported(file) if not source_files(name) & files}
    assert not missing


def copied(text: str) -> list[str]:
    """Return the sources of all COPY instructions."""
    found = re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", text.replace("\\\n", ""), re.M)
    return [source for sources in found for source in sources.split()]


def imported(file: Path) -> set[str]:
    """Return the modules of Ante that a file imports anywhere."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    names = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name for name in names if name.partition(".")[0] == "ante"}


def source_files(module: str) -> set[Path]:
    path = ROOT / "src" / module.replace(".", "/")
    return {path.with_suffix(".py"), path / "__init__.py"}


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_images_run_as_a_user_and_say_no_secret(file: Path) -> None:
    text = file.read_text()
    assert re.findall(r"^USER (\S+)$", text, re.M)[-1] == "1000"
    assert not re.search(r"(?i)(password|secret|token|key)\w*=\S", text)


@pytest.mark.slow
def test_what_images_leave_out_is_in_the_packages_and_neither_imported_nor_linked() -> None:
    """Compare with the installed packages, which have the versions of the image."""
    packages = Path(sysconfig.get_path("purelib"))
    if not (packages / "triton").is_dir():
        pytest.skip("torch without CUDA is installed")
    lines = (ROOT / "requirements" / "image-without.txt").read_text().splitlines()
    patterns = [line for line in lines if not line.startswith("#")]
    assert [pattern for pattern in patterns if not list(packages.glob(pattern))] == []
    removed = {path for pattern in patterns for path in packages.glob(pattern)}
    libraries = {path.name.encode() for path in removed if ".so" in path.name}
    assert len(libraries) > 2
    for folder in (*packages.glob("nvidia/*/lib"), packages / "torch" / "lib"):
        for kept in set(folder.glob("*.so*")) - removed:
            with kept.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
                assert [name for name in libraries if contents.find(name + b"\0") >= 0] == [], kept
    code = "import sys, torch, ray, pandas, numba, scipy, pyarrow.parquet, matplotlib.pyplot; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = {str(path.relative_to(packages)).replace("/", ".") for path in removed if path.is_dir()}
    assert "torch" in done.stdout.split()
    assert modules & set(done.stdout.split()) == set()


def test_images_have_the_tested_versions() -> None:
    assert pins("image.txt") <= pins("all.txt")
    assert pins("image.txt") <= pins("notebook.txt")
    without = pins("image.txt") - pins("image-cpu.txt")
    packages = {pin.partition("==")[0] for pin in without if "==" in pin}
    assert pins("image-cpu.txt") < pins("image.txt")
    assert all(re.match(r"(torch|triton|numba-cuda|cuda-|nvidia-)", name) for name in packages), packages
    named = {pin.split("==")[0]: pin for pin in pins("all.txt")}
    assert all(named.get(pin.split("==")[0], pin) == pin for pin in pins("notebook.txt"))
