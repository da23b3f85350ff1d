"""A compile cache in any state: each process runs the current sources, and none ends in a traceback.

The processes are those of tests/engine/test_compile_cache.py: a package of a few lines with the real cache.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.test_compile_cache import PLAY, Package, drop_override, output_of, package

__all__ = ["package"]  # the fixture

POINTS, EDITED = 802, 82
SOME_ONE_ELSE = 54321
CHECK = PLAY + "\ncompile_cache.cache_rows(); compile_cache.kept_folders(compile_cache.base_folder(), 'engine')\n"


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def pad(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0" * 100)


def noise(file: Path) -> None:
    file.write_bytes(os.urandom(5000))


def empty(file: Path) -> None:
    file.write_bytes(b"")


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def huge(file: Path) -> None:
    os.truncate(file, 1 << 40)  # sparse


def swapped(file: Path) -> None:
    """Replace the content by one that was not compiled, with a correct digest."""
    import hashlib
    import pickle

    content = pickle.dumps(("not", "compiled"))
    file.write_bytes(hashlib.sha256(content).digest() + content)


def no_pickle(file: Path) -> None:
    import hashlib

    content = os.urandom(3000)
    file.write_bytes(hashlib.sha256(content).digest() + content)


def gone(file: Path) -> None:
    file.unlink()


def loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


def dangling(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.with_name("nothing"))


def endless(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "inside").touch()


def closed(file: Path) -> None:
    file.chmod(0)


FAULTS = (cut, pad, noise, empty, zeros, huge, swapped, no_pickle, gone, loop, dangling, endless, pipe, folder, closed)
KINDS = {"code": "*.code", "in use": "in-use", "complete": "complete-*"}


def warm(package: Package) -> Path:
    """Return the folder of a complete cache."""
    found = package.play(PLAY + "\ncompile_cache.mark_complete()\n")
    assert found["points"] == POINTS
    return Path(found["folder"])


@pytest.mark.hostile
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_of_the_cache_may_be_damaged(package: Package, fault: Callable[[Path], None], kind: str) -> None:
    if fault in (swapped, no_pickle) and kind != "code":
        pytest.skip("files without a digest")
    files = sorted(warm(package).glob(KINDS[kind]))
    assert files
    for file in files:
        fault(file)
    first, second = (package.play(CHECK, prepare=drop_override) for _ in range(2))
    assert [first["points"], second["points"]] == [POINTS, POINTS]
    if kind == "code" and fault not in (folder, closed):
        assert (first["loaded"], second["loaded"]) == (0, 1), "damaged files are replaced"
    package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
    assert package.play(CHECK, prepare=drop_override)["points"] == EDITED
    assert not list((package.root / "src").rglob("*.nb?"))


def no_folder(base: Path) -> None:
    shutil.rmtree(base)


def a_file(base: Path) -> None:
    shutil.rmtree(base)
    base.write_text("not a folder")


def a_loop(base: Path) -> None:
    shutil.rmtree(base)
    base.symlink_to(base)


def read_only(base: Path) -> None:
    for each in (base, *base.rglob("*")):
        each.chmod(0o555 if each.is_dir() else 0o444)


def unreadable(base: Path) -> None:
    base.chmod(0)


def not_listed(base: Path) -> None:
    base.chmod(0o111)


def of_another(base: Path) -> None:
    for each in (*base.rglob("*"), base):
        os.chown(each, SOME_ONE_ELSE, SOME_ONE_ELSE)
        each.chmod(0o700)


PLACES = (no_folder, a_file, a_loop, read_only, unreadable, not_listed, of_another)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [fault if fault is unreadable else pytest.param(fault, marks=pytest.mark.hostile) for fault in PLACES],
)
def test_the_folder_may_be_damaged(package: Package, fault: Callable[[Path], None]) -> None:
    base = warm(package).parent
    if fault is of_another and os.geteuid() != 0:
        pytest.skip("only root can change a file's owner")
    fault(base)
    try:
        found = [package.play(CHECK, prepare=drop_override) for _ in range(2)]
        package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
        edited = package.play(CHECK, prepare=drop_override)
    finally:
        if base.is_dir():
            base.chmod(0o755)
    assert [each["points"] for each in found] == [POINTS, POINTS]
    assert edited["points"] == EDITED
    assert all(len(each["warnings"]) <= 1 for each in (*found, edited))
    assert not list((package.root / "src").rglob("*.nb?"))


@pytest.mark.parametrize("name", ["x" * 300, "a" * 200 + "/" + "b" * 5000, "line\nbreak", "\u0131"])
@pytest.mark.hostile
def test_the_folder_may_have_any_name(package: Package, name: str) -> None:
    found = package.play(CHECK, ANTE_CACHE_DIR=str(package.root / name))
    assert found["points"] == POINTS
    assert len(found["warnings"]) <= 1


@pytest.mark.hostile
def test_a_disk_that_is_full_keeps_no_half_files(package: Package) -> None:
    disk = package.root / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("this process may not mount a file system")
    try:
        found = [package.play(CHECK, ANTE_CACHE_DIR=str(disk / "cache")) for _ in range(2)]
        left = list(disk.rglob("*.code*"))
    finally:
        subprocess.run(["umount", disk], check=True)
    assert [each["points"] for each in found] == [POINTS, POINTS]
    assert left == []
    assert all("set ANTE_CACHE_DIR" in each["warnings"][0] for each in found)


@pytest.mark.hostile
def test_processes_may_meet_a_damaged_cache_at_once(package: Package) -> None:
    for file in warm(package).glob("*.code"):
        noise(file)
    both = [package.start(CHECK) for _ in range(4)]
    assert [output_of(process)["points"] for process in both] == [POINTS] * 4
    assert package.play()["loaded"] == 1


def test_a_user_without_home_and_temporary_files_plays(package: Package) -> None:
    program = "import tempfile, pathlib\ndef none(*_): raise FileNotFoundError('no temporary folder')\ntempfile.gettempdir = none\n"
    program += "def homeless(*_): raise RuntimeError('no home')\npathlib.Path.home = homeless\n" + CHECK
    found = package.play(program)
    assert found["points"] == POINTS
    assert len(found["warnings"]) == 1
