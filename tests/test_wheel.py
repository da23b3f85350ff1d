"""The wheel, installed in a separate folder: what it contains, and commands that run outside the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="make setup installs hatchling")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sysconfig.get_path("purelib")  # of the project: what the wheel requires
NOBODY = 65534
SMALL = "from ante.engine.core.rng import n_digits; assert n_digits(-120) == 4"  # compiles in a second


def built(checkout: Path, kind: str, out: Path) -> Path:
    """Build a wheel or an sdist without the network and return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = out.iterdir()
    return file


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of this checkout."""
    return built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Iterator[Path]:
    """Install the wheel in a folder that every user can read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        command = ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--python", sys.executable]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        if not shutil.which("uv", path=path):
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        subprocess.run([*command, "--target", name, str(wheel)], check=True, env={**os.environ, "PATH": path})
        yield folder


def environment(installed: Path, **more: str) -> dict[str, str]:
    """Return variables under which Python finds the installed wheel and the project's packages, not the checkout."""
    return {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{PACKAGES}", **more}


def test_an_sdist_contains_what_the_wheel_is_built_from(wheel: Path, tmp_path: Path) -> None:
    sdist = built(ROOT, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [checkout] = (tmp_path / "unpacked").iterdir()
    assert contents(built(checkout, "wheel", tmp_path / "again")) == contents(wheel)


def test_the_wheel_contains_every_file_of_the_package_and_the_released_policy(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "src/ante", "models"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {line.replace("src/", "").replace("models/", "ante/models/") for line in tracked.stdout.split()}
    assert files <= set(contents(wheel))
    assert wheel.stat().st_size < 6e6  # four policies of 0.9 MB each


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--version", "ante 0."),
        ("train --presets", "laptop (default)"),
        ("eval rules --games 3", "rules"),
        ("eval white-stake --games 2", "white-stake"),
    ],
)
def test_a_command_runs_outside_the_checkout(installed: Path, tmp_path: Path, words: str, expected: str) -> None:
    done = subprocess.run(
        [str(installed / "bin" / "ante"), *words.split()],
        cwd=tmp_path,
        env=environment(installed),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    where = "import ante, sys; sys.exit(not ante.__file__.startswith(sys.argv[1]))"
    command = [sys.executable, "-c", where, str(installed)]
    assert subprocess.run(command, cwd=tmp_path, env=environment(installed)).returncode == 0


def interpreter_of_all() -> str | None:
    """Return a Python of this version that any user may run, or None."""
    version = "{}.{}".format(*sys.version_info)
    for python in (os.path.realpath(sys.executable), f"/usr/bin/python{version}"):
        # setpriv can start a Python in a folder that is closed to the user, whose own processes then cannot start it
        again = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", python, "-c", again]
        try:
            if subprocess.run(command, cwd="/", capture_output=True).returncode == 0:
                return python
        except OSError:
            return None
    return None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can start a process of another user")
def test_another_user_with_a_read_only_home_runs_it(installed: Path) -> None:
    python = interpreter_of_all()
    if python is None:
        pytest.skip("no setpriv, or no Python that any user may run")
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o555)
        variables = environment(installed, HOME=home)
        variables.pop("ANTE_CACHE_DIR", None)
        for words in (["-m", "ante.cli", "--version"], ["-m", "ante.cli", "train", "--presets"], ["-c", SMALL]):
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", python, *words]
            done = subprocess.run(command, cwd="/", env=variables, capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, done.stderr
        assert list(Path(home).iterdir()) == []


def test_two_processes_compile_into_a_new_cache_at_once(installed: Path, tmp_path: Path) -> None:
    variables = environment(installed, ANTE_CACHE_DIR=str(tmp_path / "cache"))
    command = [sys.executable, "-c", SMALL]
    pair = [subprocess.Popen(command, cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=300)[1] for process in pair]
    assert [process.returncode for process in pair] == [0, 0], said
    stored = {file: file.read_bytes() for file in (tmp_path / "cache").rglob("*.code")}
    assert stored
    assert subprocess.run(command, cwd=tmp_path, env=variables).returncode == 0
    assert {file: file.read_bytes() for file in (tmp_path / "cache").rglob("*.code")} == stored
