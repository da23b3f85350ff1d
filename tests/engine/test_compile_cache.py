"""The compile cache: its key, its robustness against faults, and its independence of other caches.

Processes here import a package `ante` of a few lines that contains the real `rule.py` and `compile_cache.py`, so that
compiling takes a second instead of minutes.
"""

import ctypes
import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import pytest

from ante import warmup
from ante.engine.core import compile_cache
from ante.errors import BalatroError

REAL = ("errors.py", "cold_start.py", "files.py", "engine/core/rule.py", "engine/core/compile_cache.py")
SOURCES = {
    "catalog/numbers.py": "MULT = 4\n",
    "engine/callee.py": """
from ante.catalog.numbers import MULT
from ante.engine.core.rule import rule

@rule
def bonus(x):
    return x + 100 * MULT
""",
    "engine/caller.py": """
from enum import IntEnum

import numpy as np

from ante.engine.callee import bonus
from ante.engine.core.rule import rule

class Joker(IntEnum):
    GREEN = 7

@rule
def score(x):
    return 2 * bonus(x)

@rule
def widths(x, narrow):
    return bonus(1) + bonus(2) + bonus(Joker.GREEN) + bonus(np.int16(3)) + bonus(narrow[0]) + bonus(x)
""",
}
PLAY = """
import json, warnings
import numba
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from ante.engine.caller import score
    from ante.engine.core import compile_cache
    points = score(1)
print(json.dumps({
    "points": points,
    "loaded": sum(score.stats.cache_hits.values()),
    "complete": compile_cache.is_complete(),
    "folder": str(compile_cache.cache_folder()),
    "config": numba.config.CACHE_DIR,
    "warnings": [str(each.message) for each in caught],
}))
"""


def drop_override() -> None:
    """Drop the capability to override file permissions, which root has."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def fill_disk() -> None:
    """Prevent all files from growing."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@dataclass
class Package:
    """A small package `ante` with a separate cache."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / "src/ante" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def start(self, program: str = PLAY, prepare: Callable[[], None] | None = None, **environment: str) -> Any:
        known = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "ANTE_", "XDG_"))}
        places = {"HOME": str(self.root / "home"), "PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, "-c", program],
            env={**known, **places, **self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,
        )

    def play(
        self, program: str = PLAY, prepare: Callable[[], None] | None = None, **environment: str
    ) -> dict[str, Any]:
        return output_of(self.start(program, prepare, **environment))

    def files(self) -> list[Path]:
        return sorted(self.root.rglob("*.code"))


def output_of(process: Any) -> dict[str, Any]:
    """Return the output of a process that exited successfully."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return dict(json.loads(out.splitlines()[-1]))


@pytest.fixture
def package(tmp_path: Path) -> Package:
    own = tmp_path / "src/ante"
    for folder in ("", *compile_cache.LAYERS, "engine/core"):
        (own / folder).mkdir(parents=True, exist_ok=True)
        (own / folder / "__init__.py").touch()
    for file in REAL:
        shutil.copy(compile_cache.PACKAGE / file, own / file)
    for file, text in SOURCES.items():
        (own / file).write_text(text)
    (tmp_path / "home").mkdir()
    return Package(tmp_path)


@pytest.fixture
def here(package: Package, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Redirect the cache of this process to the small package and return its folder."""
    monkeypatch.setattr(compile_cache, "PACKAGE", package.root / "src/ante")
    monkeypatch.setattr(compile_cache, "HELD", {})
    monkeypatch.setenv("ANTE_CACHE_DIR", str(package.root / "cache"))
    forget()
    yield package.root / "cache"
    for descriptor in compile_cache.HELD.values():
        os.close(descriptor)
    monkeypatch.undo()
    forget()


def forget() -> None:
    compile_cache.source_hash.cache_clear()
    compile_cache.cache_folder.cache_clear()


def names() -> dict[str, str]:
    """Return the folder of each layer, computed independently."""
    forget()
    return {layer: compile_cache.cache_folder(layer).name for layer in (*compile_cache.LAYERS[1:], compile_cache.CUDA)}


def changed(before: dict[str, str]) -> set[str]:
    after = names()
    return {layer for layer in before if before[layer] != after[layer]}


@pytest.mark.slow
def test_a_function_is_compiled_once_for_every_kind_of_integer(package: Package) -> None:
    program = """
import json
import numpy as np
from ante.engine.callee import bonus
from ante.engine.caller import widths
points = widths(5, np.array([4], dtype=np.uint8))
print(json.dumps({"points": points, "signatures": [str(each) for each in bonus.signatures]}))
"""
    found = package.play(program)
    assert found["points"] == 6 * 400 + 1 + 2 + 7 + 3 + 4 + 5
    assert found["signatures"] == ["(int64,)"]


@pytest.mark.slow
def test_compiled_code_is_loaded_by_the_next_process(package: Package) -> None:
    first, second = package.play(), package.play()
    assert [first["points"], second["points"]] == [802, 802]
    assert [first["loaded"], second["loaded"]] == [0, 1]
    assert first["warnings"] == second["warnings"] == []
    assert {file.parent for file in package.files()} == {Path(first["folder"])}


@pytest.mark.slow
def test_a_cold_start_is_announced_once_and_a_command_may_compile_first(package: Package) -> None:
    assert "minutes, once per version" in said_by(package.start())
    assert said_by(package.start()) == "", "the code is in the cache"
    package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
    own = """
import sys
from ante.cold_start import when_cold
when_cold(lambda: print("compiling first", file=sys.stderr))
from ante.engine.caller import score, widths
score(1), score(2.5)
"""
    assert said_by(package.start(own)) == "compiling first\n"


def said_by(process: Any) -> str:
    """Return the error output of a process that exited successfully."""
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return str(err)


@pytest.mark.slow
def test_an_edited_callee_and_an_edited_number_are_played(package: Package) -> None:
    folders = [package.play()["folder"]]
    package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
    edited = package.play()
    package.edit("catalog/numbers.py", "4", "5")
    renumbered = package.play()
    folders += [edited["folder"], renumbered["folder"]]
    assert [edited["points"], renumbered["points"]] == [82, 102]
    assert len(set(folders)) == 3


def test_an_edit_concerns_its_layer_and_those_above(here: Path) -> None:
    package = Package(here.parent)
    every = {*compile_cache.LAYERS[1:], compile_cache.CUDA}
    before = names()
    assert changed(before) == set()
    package.edit("catalog/numbers.py", "4", "5")
    assert changed(before) == every
    before = names()
    (package.root / "src/ante/agents/players.py").write_text("GREEDY = 1\n")
    assert changed(before) == {"agents", compile_cache.CUDA}


@pytest.mark.parametrize("file", ["engine/core/cuda_compiler.py", "env/cuda.py"])
def test_an_edit_of_the_cuda_backend_concerns_kernels_alone(here: Path, file: str) -> None:
    before = names()
    (here.parent / "src/ante" / file).write_text("REGISTERS = 64\n")
    assert changed(before) == {compile_cache.CUDA}


def test_kernels_and_functions_for_them_are_kept_apart_from_the_engine() -> None:
    pytest.importorskip("numba_cuda")
    from ante.engine.core.cuda_compiler import StoredKernel
    from ante.engine.drivers import cuda as engine
    from ante.env import cuda as env

    folder = compile_cache.cache_folder(compile_cache.CUDA)
    for kernel in (engine.play_decisions, engine.choose_decisions, env.step_games, env.choose_in_games):
        assert StoredKernel(kernel.function).folder == folder
    assert compile_cache.StoredCode(getattr(engine.deal_game, "py_func", engine.deal_game)).folder == folder


def test_a_kernel_is_loaded_as_it_was_kept(tmp_path: Path) -> None:
    """Compile without a GPU, with a context that only has a compute capability, and compare the PTX."""
    pytest.importorskip("numba_cuda")
    program = """
from types import SimpleNamespace

import numba
import numpy as np
from numba import cuda
from numba.cuda import codegen, dispatcher

from ante.engine.core import compile_cache, cuda_compiler

codegen.devices.get_context = lambda *_: SimpleNamespace(device=SimpleNamespace(compute_capability=(9, 0)))
codegen.runtime.runtime.get_version = lambda: (13, 0)

def scale(x):
    i = cuda.grid(1)
    if i < len(x):
        x[i] = x[i] * 3.0 + 1.0

scale.__module__ = "ante.engine.drivers.cuda"
types = (numba.typeof(np.zeros(1)),)
compiled = cuda_compiler.kernel(scale)._compiled
target = SimpleNamespace(refresh=lambda: None, codegen=compiled.targetctx.codegen)
assert compiled._cache.load_overload(types, target) is None
with cuda_compiler.exact_compilation((9, 0)):
    kernel = dispatcher._Kernel(scale, types, **compiled.targetoptions)
compiled._cache.save_overload(types, kernel)
loaded = compiled._cache.load_overload(types, target)
ptx = loaded._codelibrary.get_asm_str(cc=(9, 0))
assert ".visible .entry" in ptx and ptx == kernel._codelibrary.get_asm_str(cc=(9, 0))
assert len(list(compile_cache.cache_folder(compile_cache.CUDA).glob("*.code"))) == 1
"""
    known = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**known, "ANTE_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr


def test_settings_of_the_compiler_name_the_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    before = names()
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert changed(before) == set(before)
    assert all(name.endswith("-boundscheck") for name in names().values())
    assert all(compile_cache.FOLDER_NAME.fullmatch(name) for name in (*before.values(), *names().values()))
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    monkeypatch.setattr(numba.config, "OPT", 1)
    assert changed(before) == set(before)


@pytest.mark.slow
def test_processes_may_compile_the_same_at_once(package: Package) -> None:
    both = [package.start() for _ in range(2)]
    assert [output_of(process)["points"] for process in both] == [802, 802]
    assert package.play()["loaded"] == 1
    assert not list(package.root.rglob("*.code.*")) + list(package.root.rglob(".*.code"))


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_costs_one_warning(package: Package) -> None:
    (package.root / "file").touch()
    found = package.play(ANTE_CACHE_DIR=str(package.root / "file/cache"))
    assert found["points"] == 802
    assert len(found["warnings"]) == 1
    assert str(package.root / "file/cache") in found["warnings"][0]
    assert "set ANTE_CACHE_DIR" in found["warnings"][0]
    assert not [*package.root.rglob("*.nb?"), *package.files()]
    package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
    assert package.play(ANTE_CACHE_DIR=str(package.root / "file/cache"))["points"] == 82


@pytest.mark.slow
def test_a_full_disk_costs_one_warning_and_leaves_no_half_files(package: Package) -> None:
    found = package.play(prepare=fill_disk)
    assert found["points"] == 802
    assert len(found["warnings"]) == 1
    assert not list(package.root.rglob("*.code*"))


@pytest.mark.slow
def test_a_warm_cache_is_read_where_it_cannot_be_written(package: Package) -> None:
    folder = Path(package.play()["folder"])
    for each in (folder, *folder.iterdir()):
        each.chmod(0o555 if each.is_dir() else 0o444)
    try:
        found = package.play(prepare=drop_override)
        package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
        folder.parent.chmod(0o555)
        cold = package.play(prepare=drop_override)
    finally:
        folder.parent.chmod(0o755)
        folder.chmod(0o755)
    assert (found["loaded"], found["points"], found["warnings"]) == (1, 802, [])
    assert (cold["loaded"], cold["points"], len(cold["warnings"])) == (0, 82, 1)
    assert not list((package.root / "src").rglob("*.nb?"))


def test_code_that_cannot_be_kept_is_not_warmed_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here.parent.joinpath("file").touch()
    monkeypatch.setenv("ANTE_CACHE_DIR", str(here.parent / "file/cache"))
    forget()
    for refused in (compile_cache.require_writable, compile_cache.mark_complete):
        with pytest.raises(BalatroError, match=r"file/cache.*Not a directory.*set ANTE_CACHE_DIR"):
            refused()


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    file, payload = tmp_path / "x.code", bytes(range(256))
    compile_cache.write(file, payload)
    assert compile_cache.read(file) == payload
    break_file(file, damage)
    assert compile_cache.read(file) is None


@pytest.mark.slow
def test_damaged_code_is_compiled_anew_and_replaced(package: Package) -> None:
    package.play()
    for file in package.files():
        break_file(file, "truncated")
    found = package.play()
    assert (found["points"], found["loaded"], found["warnings"]) == (802, 0, [])
    assert package.play()["loaded"] == 1


def break_file(file: Path, damage: str) -> None:
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes({"truncated": content[: len(content) // 2], "empty": b"", "flipped": content}[damage])


@pytest.mark.slow
def test_another_cpu_compiles_for_itself(package: Package) -> None:
    mark = PLAY + "\ncompile_cache.mark_complete()"
    found = [
        package.play(mark),
        package.play(mark, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES=""),
        package.play(),
        package.play(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES=""),
    ]
    assert [each["points"] for each in found] == [802] * 4
    assert [each["loaded"] for each in found] == [0, 0, 1, 1]
    assert [each["complete"] for each in found] == [False, False, True, True]


def test_a_part_that_was_removed_is_not_complete(here: Path) -> None:
    compile_cache.mark_complete()
    assert compile_cache.is_complete()
    shutil.rmtree(compile_cache.cache_folder("engine"))
    assert not compile_cache.is_complete()


@pytest.mark.slow
def test_the_users_numba_configuration_is_left_alone(package: Package) -> None:
    user = package.root / "user"
    user.mkdir()
    (user / "mine.py").write_text("import numba\n\n@numba.njit(cache=True)\ndef mine(x):\n    return x + 1\n")
    program = f"import sys; sys.path.insert(0, {str(user)!r})\n{PLAY}\nimport mine; mine.mine(1)\n" + PLAY
    assert package.play(program)["config"] == ""
    assert [file.parent.name for file in package.root.rglob("*.nbi")] == ["__pycache__"]
    shutil.rmtree(user / "__pycache__")
    own = package.root / "own"
    found = package.play(program, NUMBA_CACHE_DIR=str(own))
    assert found["config"] == str(own)
    assert [file.is_relative_to(own) for file in package.root.rglob("*.nbi")] == [True]


@pytest.mark.slow
def test_the_users_numba_folder_keeps_names_by_hash(package: Package) -> None:
    own = {"NUMBA_CACHE_DIR": str(package.root / "own")}
    before = package.play(**own)
    package.edit("engine/callee.py", "100 * MULT", "10 * MULT")
    after = package.play(**own)
    assert [before["points"], after["points"]] == [802, 82]
    for found in (before, after):
        assert Path(found["folder"]).parent == package.root / "own/ante"
    assert before["folder"] != after["folder"]


def test_a_user_without_home_has_a_private_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for variable in ("ANTE_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    folder = compile_cache.base_folder()
    assert folder == tmp_path / f"ante-{os.getuid()}" == compile_cache.base_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)  # other users could have written code here
    compile_cache.private_folder.cache_clear()
    other = compile_cache.base_folder()
    assert other != folder
    assert other == compile_cache.base_folder()
    assert other.stat().st_mode & 0o777 == 0o700
    compile_cache.private_folder.cache_clear()
    monkeypatch.setenv("ANTE_CACHE_DIR", str(tmp_path / "cache"))
    assert compile_cache.base_folder() == tmp_path / "cache"


def test_old_folders_are_removed_unless_they_are_in_use(here: Path) -> None:
    folders = [here / f"engine-{number:016x}" for number in range(8)]
    for age, folder in enumerate(reversed(folders)):
        folder.mkdir(parents=True)
        (folder / compile_cache.IN_USE).touch()
        os.utime(folder / compile_cache.IN_USE, (1e9 - age, 1e9 - age))
    strangers = [
        here / "engine",
        here / "engine-notes",
        here / "models-0000000000000000",
        here / "env-0000000000000000",
    ]
    for stranger in strangers:
        stranger.mkdir()
    with (folders[0] / compile_cache.IN_USE).open() as user:
        fcntl.flock(user, fcntl.LOCK_SH)
        compile_cache.open_folder(compile_cache.cache_folder())  # a new folder replaces the fifth most recent
    left = {folder.name for folder in here.iterdir()}
    newest = [compile_cache.cache_folder(), *folders[5:]]
    assert left == {folder.name for folder in (*newest, folders[0], *strangers)}
    assert compile_cache.prune(here) == [folders[0]]


def test_the_doctor_says_what_the_cache_holds(here: Path) -> None:
    rows = {row["what"]: row["value"] for row in compile_cache.cache_rows()}
    assert "cold: run ante warmup" in rows["engine cache"]
    compile_cache.mark_complete()
    (compile_cache.cache_folder("env") / "x.code").write_bytes(bytes(3 << 20))
    rows = {row["what"]: row["value"] for row in compile_cache.cache_rows()}
    assert rows["engine cache"] == f"{compile_cache.cache_folder()} (warm)"
    assert rows["compiled code"].startswith(f"4 folders, 3 MiB in {here}; the 4 most recently used")


def test_each_part_compiles_after_those_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def compile_part(name: str) -> None:
        events.append(f"begin {name}")
        events.append(f"end {name}")

    monkeypatch.setattr(warmup, "warm_part", compile_part)
    with ThreadPoolExecutor(3) as pool:
        warmup.compile_parts(pool, lambda parts, share: None)
    assert sorted(events) == sorted(f"{moment} {name}" for name in warmup.PARTS for moment in ("begin", "end"))
    for name, (_, needed) in warmup.PARTS.items():
        assert all(events.index(f"end {each}") < events.index(f"begin {name}") for each in needed)


def test_an_error_in_a_part_ends_the_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ZeroDivisionError(name)

    monkeypatch.setattr(warmup, "warm_part", fail)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError):
        warmup.compile_parts(pool, lambda parts, share: None)
