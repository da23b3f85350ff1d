"""`make setup`: which Python it takes, that it is never silent in a log, and that the pinned versions work on Python 3.12."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def chosen(folder: Path, versions: dict[str, str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run tools/python.sh where these interpreters exist; "" is one that fails, such as a shim of pyenv."""
    for name, version in versions.items():
        file = folder / name
        major, _, minor = version.partition(".")
        code = f'exec {sys.executable} -c "import sys; sys.version_info = ({major}, {minor}, 0); $2"'
        file.write_text(
            f"#!/bin/sh\n[ $1 = --version ] && echo Python {version} && exit\n{code if version else 'exit 127'}\n"
        )
        file.chmod(0o755)
    environment = {"PATH": f"{folder}:/bin:/usr/sbin", **variables}
    command = ["/bin/bash", str(ROOT / "tools" / "python.sh")]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"python3.11": "3.11", "python3.12": "3.12", "python3": "3.13"}, "python3.11"),
        ({"python3.11": "", "python3.12": "3.12", "python3": "3.10"}, "python3.12"),
        ({"python3.11": "", "python3.12": "", "python3": "3.12"}, "python3"),
    ],
)
def test_setup_takes_python_3_11_or_else_3_12(versions: dict[str, str], expected: str, tmp_path: Path) -> None:
    assert chosen(tmp_path, versions).stdout.strip() == expected


def test_setup_takes_the_python_that_is_named(tmp_path: Path) -> None:
    versions = {"python3.11": "3.11", "python3.12": "3.12"}
    assert chosen(tmp_path, versions, PYTHON="python3.12").stdout.strip() == "python3.12"


def test_setup_refuses_other_versions(tmp_path: Path) -> None:
    done = chosen(tmp_path, {"python3.11": "", "python3.12": "", "python3": "3.13"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("make: Python 3.11 or 3.12 is needed, found Python 3.13: ")


def progress(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command with its progress printed every tenth of a second."""
    environment = {**os.environ, "PROGRESS_SECONDS": "0.1"}
    words = [str(ROOT / "tools" / "progress.sh"), "waiting", *command]
    return subprocess.run(words, env=environment, capture_output=True, text=True)


def test_a_long_command_reports_progress_in_a_log() -> None:
    done = progress("sh", "-c", "sleep 1; echo done")
    first, *others = done.stderr.splitlines()
    assert (done.returncode, done.stdout, first) == (0, "done\n", "waiting")
    assert others and all(line.startswith("waiting: ") for line in others)


def test_the_exit_status_of_a_command_is_passed_on() -> None:
    assert progress("sh", "-c", "exit 3").returncode == 3


def pins(name: str) -> dict[str, str]:
    """Return the version of each package of a file of requirements."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements" / name).read_text(), re.MULTILINE))


def test_jupyterlab_changes_no_version_that_setup_installs() -> None:
    ours, added = pins("all.txt"), pins("notebook.txt")
    assert "jupyterlab" in added and len(ours) > 100
    assert {name: version for name, version in added.items() if ours.get(name, version) != version} == {}


@pytest.mark.nightly
def test_the_pinned_versions_work_on_python_3_12(tmp_path: Path) -> None:
    """All extras are installed, the engine compiles, and training on Ray runs to its report."""
    uv = str(Path(sys.executable).with_name("uv"))
    found = subprocess.run([uv, "python", "find", "--no-python-downloads", "3.12"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip("Python 3.12 is not installed")
    python = tmp_path / "venv" / "bin" / "python"
    for words in (
        ["venv", "--python", found.stdout.strip(), str(tmp_path / "venv")],
        ["pip", "install", "--python", str(python), "-r", "requirements/all.txt"],
        ["pip", "install", "--python", str(python), "--no-deps", "-e", "."],
    ):
        done = subprocess.run([uv, *words], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    tiny = "--steps 4096 --evaluation.games 4 --resources.games-per-runner 16 --algo.batch 2048 --algo.minibatch 512"
    for words, cwd in (
        (["pytest", "-q", "-p", "no:cacheprovider", "tests/catalog", "tests/env", "tests/training/settings"], ROOT),
        (["ante.cli", "train", "--preset", "quick", "--name", "tiny", *tiny.split()], tmp_path),
    ):
        done = subprocess.run([str(python), "-m", *words], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert (tmp_path / "runs" / "tiny" / "report.html").is_file()
