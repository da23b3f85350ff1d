"""Where compiled code is kept between processes, and how long it is valid.

Numba's own cache does not fit here: it notices neither an edited callee in another file nor a changed table of numbers,
it writes beside the sources where its folder is read-only, and it loads truncated files. So each compiled function gets
a `StoredCode` in its place, which keeps one file per signature and CPU in a folder named by a hash of the sources:

    ~/.cache/ante/engine-0b3a5a1c2d4e6f70/ante.engine.step.step-1f0c9a77d2b84e55.code

A file begins with the SHA-256 of the rest; one that does not match is compiled again. Files are replaced whole, so
processes may compile the same function at once. A process holds a shared lock on each folder it uses; the folders of
old sources are removed when a new one is made, unless a process holds them. `numba.config` is left as it is.
"""

import fcntl
import hashlib
import inspect
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import Cache
from numba.core.compiler import CompileResult
from numba.core.errors import NumbaWarning
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from ante.errors import BalatroError
from ante.files import Unreadable, held, read_bytes, whole

PACKAGE = Path(__file__).resolve().parents[2]
LAYERS = ("catalog", "engine", "env", "lookahead", "agents")  # lowest first
CUDA = "cuda"  # kernels, and what is compiled for them alone: files named cuda*.py of every layer
KEPT = 4  # folders of a layer that stay, those used last
IN_USE = "in-use"  # file of a folder that its users lock; its time is that of the last use
FOLDER_NAME = re.compile(rf"({'|'.join((*LAYERS, CUDA))})-[0-9a-f]{{16}}(-boundscheck)?")
REMOVED = ".removed-"  # prefix of a folder that is being removed
NOWHERE = Path(os.devnull, "ante")  # a folder that cannot be
LARGEST = 1 << 28  # bytes of a file; a function takes some millions at most
DIGEST_BYTES = hashlib.sha256().digest_size
CODE_SETTINGS = (  # of numba.config: those that change the machine code
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DISABLE_INTEL_SVML", "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS",
)  # fmt: skip


class CacheNotWritable(BalatroError):
    """Compiled code cannot be kept where it should be."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"compiled code cannot be kept in {folder} ({error.strerror}): set ANTE_CACHE_DIR to a folder that can be "
            "written"
        )


@cache
def source_hash(layer: str = "engine") -> str:
    """Sixteen hex digits naming the sources that compiled code of a layer is made of: its own and those below.

    Files of the CUDA backend count for the layer CUDA alone, which is made of all sources.
    """
    digest = hashlib.sha256()
    for folder in LAYERS if layer == CUDA else LAYERS[: LAYERS.index(layer) + 1]:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            if layer == CUDA or not is_cuda(file.stem):
                update(digest, file.relative_to(PACKAGE).as_posix(), file)
    return digest.hexdigest()[:16]


def is_cuda(module: str) -> bool:
    """Whether a module of this name belongs to the CUDA backend."""
    return module.startswith("cuda")


def update(digest: Any, name: str, file: Path) -> None:
    """Add a file, with its name and size, to a digest."""
    content = file.read_bytes()
    digest.update(f"{name}\0{len(content)}\0".encode())
    digest.update(content)


def toolchain() -> str:
    """Return what compiled code depends on in addition to sources and CPU: versions, and Numba's settings for it."""
    versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
    return repr((versions, [repr(getattr(numba.config, name)) for name in CODE_SETTINGS]))


@cache
def cache_folder(layer: str = "engine") -> Path:
    """The folder for compiled code of a layer, which need not exist."""
    digest = hashlib.sha256(f"{source_hash(layer)} {toolchain()}".encode()).hexdigest()[:16]
    return base_folder() / f"{layer}-{digest}{'-boundscheck' if numba.config.BOUNDSCHECK else ''}"


def base_folder() -> Path:
    """The folder of all compiled code: `$ANTE_CACHE_DIR`, `$NUMBA_CACHE_DIR/ante` or the user's cache folder.

    A user without a home directory gets a folder of temporary files that no other user may write to.
    """
    if own := os.environ.get("ANTE_CACHE_DIR"):
        return Path(own)
    for variable in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        if parent := os.environ.get(variable):
            return Path(parent) / "ante"
    try:
        return Path.home() / ".cache" / "ante"
    except RuntimeError:
        return private_folder()


@cache
def private_folder() -> Path:
    """Return a folder of temporary files that no other user owns or may write to, since loaded files are executed.

    NOWHERE if there is none, so that code stays in memory.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"ante-{os.getuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
        safe = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
        return folder if safe else Path(tempfile.mkdtemp(prefix="ante-"))
    except OSError:  # no folder for temporary files, or a full one
        return NOWHERE


def layer_of(function: Callable[..., Any]) -> str:
    """The layer whose sources a function depends on; the highest where it stands outside of the layers."""
    package, _, module = function.__module__.removeprefix("ante.").partition(".")
    if package not in LAYERS or not function.__module__.startswith("ante."):
        return LAYERS[-1]
    return CUDA if is_cuda(module.rpartition(".")[2]) else package


@cache
def neighbours_hash(file: Path) -> str:
    """A hash of the Python files beside a file, for functions outside of the layers: they may call each other."""
    digest = hashlib.sha256()
    for each in sorted({file, *file.parent.glob("*.py")}):
        update(digest, each.name, each)
    return digest.hexdigest()


class StoredCode(Cache):
    """The compiled code of one function in its folder, in place of Numba's cache of the function.

    What cannot be read or is damaged is compiled; what cannot be written stays in memory, with one warning per process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        layer = layer_of(function)
        self._name, self._py_func = repr(function), function
        self.folder = cache_folder(layer)
        self._cache_path = str(self.folder)
        inside = layer == CUDA or function.__module__.startswith(f"ante.{layer}.")
        self._neighbours = "" if inside else neighbours_hash(Path(inspect.getfile(function)))
        self.enable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, ready to be called, or None where it must be compiled."""
        target_context.refresh()
        payload = read(self.file(sig, target_context.codegen())) if self._enabled else None
        if payload is None:
            return None
        hold(self.folder)
        try:
            return self.rebuild(target_context, pickle.loads(payload))
        except Exception:  # content that was never compiled code raises anything: it is compiled and replaced
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code of a signature, if it can be kept."""
        if self._enabled and self.storable(data):
            try:
                open_folder(self.folder)
                write(self.file(sig, data.codegen), self.pack(data))
            except OSError as error:
                warn_unwritable(CacheNotWritable(self.folder.parent, error))

    def flush(self) -> None:
        """Forget what is kept of this function."""
        for file in self.folder.glob(f"{self.prefix()}-*.code"):
            file.unlink()

    def file(self, sig: Any, codegen: Any) -> Path:
        """The file for a signature on this CPU. Numba's key names types, CPU with its features, bytecode and closure."""
        key = repr((self._index_key(sig, codegen), self._neighbours))
        return self.folder / f"{self.prefix()}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"

    def prefix(self) -> str:
        """The function's name, as files can have it."""
        return re.sub(r"[^\w.]", "_", f"{self._py_func.__module__}.{self._py_func.__qualname__}")[-150:]

    def storable(self, compiled: Any) -> bool:
        """Whether this code means the same in another process."""
        if compiled.library.has_dynamic_globals:
            warnings.warn(
                f"{self.prefix()} contains an address or a table too large to be copied: every process compiles it",
                NumbaWarning,
                stacklevel=2,
            )
            return False
        return True

    def pack(self, compiled: Any) -> bytes:
        """What is kept of compiled code."""
        return bytes(dumps(compiled._reduce()))

    def rebuild(self, target_context: Any, packed: Any) -> Any:
        """The compiled code of what was kept."""
        return CompileResult._rebuild(target_context, *packed)


def cached_njit(function: Callable[..., Any], **options: Any) -> Any:
    """`numba.njit(**options)(function)`, kept in the folder of its layer; kept in memory where it has no source file."""
    compiled = numba.njit(**options)(function)
    if not numba.config.DISABLE_JIT and Path(inspect.getfile(function)).is_file():
        compiled._cache = StoredCode(function)
    return compiled


def read(file: Path) -> bytes | None:
    """What `write` wrote; None where that is missing, unreadable, damaged or no file."""
    try:
        content = read_bytes(file, LARGEST)
    except Unreadable:
        return None
    digest, payload = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def write(file: Path, payload: bytes) -> None:
    """Write the file with its digest, whole or not at all. Raises OSError."""
    with whole(file) as aside:
        aside.write_bytes(hashlib.sha256(payload).digest() + payload)


WARNED: list[CacheNotWritable] = []  # the first failure of this process


def warn_unwritable(problem: CacheNotWritable) -> None:
    """Warn once that every process compiles for itself."""
    if not WARNED:
        WARNED.append(problem)
        warnings.warn(f"{problem}; until then every process compiles what it calls, for minutes", stacklevel=2)


HELD: dict[Path, int] = {}  # folders that this process uses, with the descriptor that keeps the lock


def hold(folder: Path) -> None:
    """Keep other processes from removing the folder until this one exits. Without support for locks, do nothing."""
    if folder in HELD:
        return
    try:
        descriptor = os.open(folder / IN_USE, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:  # a copy without the file: nothing to lock
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink == 0:  # removed between open and lock
            raise FileNotFoundError(folder)
        HELD[folder] = descriptor
    except OSError:  # being removed, or a file system without locks
        os.close(descriptor)
        return
    with suppress(OSError):  # read-only
        os.utime(descriptor)


def open_folder(folder: Path) -> None:
    """The folder exists and is held; where it is new, old ones beside it are removed. Raises OSError."""
    if folder in HELD and folder.is_dir():
        return
    new = not folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / IN_USE).touch()
    if folder in HELD:  # removed by hand
        os.close(HELD.pop(folder))
    hold(folder)
    if new:
        prune(folder.parent)


def kept_folders(base: Path, layer: str) -> list[Path]:
    """The folders of a layer, those used last first; none where they cannot be listed."""
    folders, entries = [], []
    with suppress(OSError):
        entries = list(base.iterdir())
    for folder in entries:
        name = FOLDER_NAME.fullmatch(folder.name)
        if name and name[1] == layer and os.path.isdir(folder) and not folder.is_symlink():
            mark = folder / IN_USE
            with suppress(OSError):  # not ours to read, or another process removes it at this moment
                status = (mark if os.path.lexists(mark) else folder).stat()
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    folders.append((status.st_mtime, folder))
    return [folder for _, folder in sorted(folders, reverse=True)]


def prune(base: Path, kept: int = KEPT) -> list[Path]:
    """Remove all folders but the `kept` used last of each layer and those in use. Returns what was removed."""
    for left in base.glob(f"{REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)
    candidates = [folder for layer in (*LAYERS, CUDA) for folder in kept_folders(base, layer)[kept:]]
    return [folder for folder in candidates if remove(folder)]


def remove(folder: Path) -> bool:
    """Remove a folder that no process uses. Returns whether it is gone."""
    try:
        with held(folder / IN_USE) as alone:
            if alone and folder not in HELD:
                aside = folder.rename(folder.with_name(f"{REMOVED}{os.getpid()}-{folder.name}"))
                shutil.rmtree(aside, ignore_errors=True)
                return True
    except OSError:  # not ours to remove
        return False
    return False


def complete_marks() -> list[Path]:
    """Write one file per layer, which marks everything in it as compiled for this CPU."""
    processor = repr(cpu_target.target_context.codegen().magic_tuple())
    name = f"complete-{hashlib.sha256(processor.encode()).hexdigest()[:16]}"
    return [cache_folder(layer) / name for layer in LAYERS[1:]]


def is_complete() -> bool:
    """Whether `ante warmup` compiled everything for this CPU, these sources and this toolchain."""
    return all(os.path.exists(mark) for mark in complete_marks())


def mark_complete() -> None:
    """Everything is compiled for this CPU. Raises CacheNotWritable."""
    for mark in complete_marks():
        try:
            open_folder(mark.parent)
            mark.touch()
        except OSError as error:
            raise CacheNotWritable(mark.parent, error) from None


def require_writable() -> None:
    """Raises CacheNotWritable where compiled code cannot be kept."""
    for folder in dict.fromkeys(mark.parent for mark in complete_marks()):
        try:
            open_folder(folder)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise CacheNotWritable(folder, error) from None


def cache_rows() -> list[dict[str, str]]:
    """Rows {what, value} for `ante doctor`: where compiled code is, whether it is complete, and what old code occupies."""
    base, folder = base_folder(), cache_folder()
    state = "warm" if is_complete() else "cold: run ante warmup"
    if os.path.isdir(folder) and not os.access(folder, os.W_OK):
        state += ", read-only"
    folders = [each for layer in (*LAYERS, CUDA) for each in kept_folders(base, layer)]
    size = sum(os.path.getsize(file) for each in folders for file in each.glob("*") if os.path.isfile(file))
    stay = f"the {KEPT} used last of each layer stay, and what a process uses"
    return [
        {"what": "engine cache", "value": f"{folder} ({state})"},
        {"what": "compiled code", "value": f"{len(folders)} folders, {size / 2**20:.0f} MiB in {base}; {stay}"},
    ]
