"""On-disk cache of compiled code.

Numba's own cache is not sufficient: it detects neither an edited callee in another file nor a changed global table, it
writes next to the sources, which may be read-only, and it loads truncated files. Each compiled function therefore uses
a `StoredCode` instead, which stores one file per signature and CPU in a folder named after a hash of the sources:

    ~/.cache/ante/engine-0b3a5a1c2d4e6f70/ante.engine.step.step-1f0c9a77d2b84e55.code

A file begins with the SHA-256 of its payload; if it does not match, the function is compiled again. Files are replaced
atomically, so processes may compile the same function concurrently. A process holds a shared lock on each folder that
it uses. Creating a folder removes those of old sources, unless a process uses them. `numba.config` is not changed.
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

from ante import cold_start
from ante.errors import BalatroError
from ante.files import Unreadable, held, read_bytes, whole

PACKAGE = Path(__file__).resolve().parents[2]
LAYERS = ("catalog", "engine", "env", "lookahead", "agents")  # lowest first
CUDA = "cuda"  # kernels and the code compiled only for them: files named cuda*.py of every layer
KEPT = 4  # folders per layer that are not removed, the most recently used
IN_USE = "in-use"  # lock file of a folder; its modification time is that of the last use
FOLDER_NAME = re.compile(rf"({'|'.join((*LAYERS, CUDA))})-[0-9a-f]{{16}}(-boundscheck)?")
REMOVED = ".removed-"  # prefix of a folder that is being removed
NOWHERE = Path(os.devnull, "ante")  # a folder that cannot be created
LARGEST = 1 << 28  # maximum size of a file in bytes; a function takes a few MB at most
DIGEST_BYTES = hashlib.sha256().digest_size
CODE_SETTINGS = (  # those settings of numba.config that change the machine code
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DISABLE_INTEL_SVML", "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS",
)  # fmt: skip


class CacheNotWritable(BalatroError):
    """The folder for compiled code is not writable."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"cannot store compiled code in {folder} ({error.strerror}): set ANTE_CACHE_DIR to a writable folder"
        )


@cache
def source_hash(layer: str = "engine") -> str:
    """Return 16 hex digits that identify the sources of a layer's compiled code: those of the layer and of all below.

    Files of the CUDA backend count only for the layer CUDA, which depends on all sources.
    """
    digest = hashlib.sha256()
    for folder in LAYERS if layer == CUDA else LAYERS[: LAYERS.index(layer) + 1]:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            if layer == CUDA or not is_cuda(file.stem):
                update(digest, file.relative_to(PACKAGE).as_posix(), file)
    return digest.hexdigest()[:16]


def is_cuda(module: str) -> bool:
    """Return whether a module of this name belongs to the CUDA backend."""
    return module.startswith("cuda")


def update(digest: Any, name: str, file: Path) -> None:
    """Add a file, with its name and size, to a digest."""
    content = file.read_bytes()
    digest.update(f"{name}\0{len(content)}\0".encode())
    digest.update(content)


def toolchain() -> str:
    """Return what compiled code depends on in addition to sources and CPU: versions and settings of Numba."""
    versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
    return repr((versions, [repr(getattr(numba.config, name)) for name in CODE_SETTINGS]))


@cache
def cache_folder(layer: str = "engine") -> Path:
    """Return the folder for compiled code of a layer. It may not exist yet."""
    digest = hashlib.sha256(f"{source_hash(layer)} {toolchain()}".encode()).hexdigest()[:16]
    return base_folder() / f"{layer}-{digest}{'-boundscheck' if numba.config.BOUNDSCHECK else ''}"


def base_folder() -> Path:
    """Return the folder of all compiled code: `$ANTE_CACHE_DIR`, `$NUMBA_CACHE_DIR/ante` or the user's cache folder.

    For a user without a home directory, it is a temporary folder that other users cannot write to.
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
    """Return a temporary folder that no other user owns or can write to, since loaded files are executed.

    Returns NOWHERE if there is none; code then stays in memory.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"ante-{os.getuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
        safe = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
        return folder if safe else Path(tempfile.mkdtemp(prefix="ante-"))
    except OSError:  # no temporary folder, or a full disk
        return NOWHERE


def layer_of(function: Callable[..., Any]) -> str:
    """Return the layer whose sources a function depends on; the highest one for functions outside the layers."""
    package, _, module = function.__module__.removeprefix("ante.").partition(".")
    if package not in LAYERS or not function.__module__.startswith("ante."):
        return LAYERS[-1]
    return CUDA if is_cuda(module.rpartition(".")[2]) else package


@cache
def neighbours_hash(file: Path) -> str:
    """Return a hash of the Python files next to a file, for functions outside the layers, which may call each other."""
    digest = hashlib.sha256()
    for each in sorted({file, *file.parent.glob("*.py")}):
        update(digest, each.name, each)
    return digest.hexdigest()


class StoredCode(Cache):
    """The stored code of one function, in place of Numba's cache.

    Missing or damaged code is compiled. Code that cannot be written stays in memory, with one warning per process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        layer = layer_of(function)
        self._name, self._py_func = repr(function), function
        self.folder = cache_folder(layer)
        self._cache_path = str(self.folder)
        self._ours = layer in LAYERS and function.__module__.startswith(f"ante.{layer}.")
        inside = self._ours or layer == CUDA
        self._neighbours = "" if inside else neighbours_hash(Path(inspect.getfile(function)))
        self.enable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code of a signature, or None if it must be compiled."""
        target_context.refresh()
        file = self.file(sig, target_context.codegen())
        payload = read(file) if self._enabled else None
        if payload is None and self._ours and not is_complete():
            cold_start.missing()
            payload = read(file) if self._enabled else None
        if payload is None:
            return None
        hold(self.folder)
        try:
            return self.rebuild(target_context, pickle.loads(payload))
        except Exception:  # a file that is not compiled code can raise anything: compile and replace it
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code of a signature, if possible."""
        if self._enabled and self.storable(data):
            try:
                open_folder(self.folder)
                write(self.file(sig, data.codegen), self.pack(data))
            except OSError as error:
                warn_unwritable(CacheNotWritable(self.folder.parent, error))

    def flush(self) -> None:
        """Delete the stored code of this function."""
        for file in self.folder.glob(f"{self.prefix()}-*.code"):
            file.unlink()

    def file(self, sig: Any, codegen: Any) -> Path:
        """Return the file of a signature on this CPU. Numba's key covers types, CPU features, bytecode and closure."""
        key = repr((self._index_key(sig, codegen), self._neighbours))
        return self.folder / f"{self.prefix()}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"

    def prefix(self) -> str:
        """Return the function's name as a valid file name."""
        return re.sub(r"[^\w.]", "_", f"{self._py_func.__module__}.{self._py_func.__qualname__}")[-150:]

    def storable(self, compiled: Any) -> bool:
        """Return whether this code is valid in another process."""
        if compiled.library.has_dynamic_globals:
            warnings.warn(
                f"{self.prefix()} contains an address or a table too large to copy: every process compiles it",
                NumbaWarning,
                stacklevel=2,
            )
            return False
        return True

    def pack(self, compiled: Any) -> bytes:
        """Return compiled code as bytes."""
        return bytes(dumps(compiled._reduce()))

    def rebuild(self, target_context: Any, packed: Any) -> Any:
        """Return the compiled code that `pack` wrote."""
        return CompileResult._rebuild(target_context, *packed)


def cached_njit(function: Callable[..., Any], **options: Any) -> Any:
    """`numba.njit(**options)(function)`, cached in the folder of its layer, or in memory if it has no source file."""
    compiled = numba.njit(**options)(function)
    if not numba.config.DISABLE_JIT and Path(inspect.getfile(function)).is_file():
        compiled._cache = StoredCode(function)
    return compiled


def read(file: Path) -> bytes | None:
    """Return the payload that `write` wrote, or None if the file is missing, unreadable or damaged."""
    try:
        content = read_bytes(file, LARGEST)
    except Unreadable:
        return None
    digest, payload = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def write(file: Path, payload: bytes) -> None:
    """Write the file with its digest, atomically. Raises OSError."""
    with whole(file) as aside:
        aside.write_bytes(hashlib.sha256(payload).digest() + payload)


WARNED: list[CacheNotWritable] = []  # the first failure in this process


def warn_unwritable(problem: CacheNotWritable) -> None:
    """Warn once that compiled code is not cached."""
    if not WARNED:
        WARNED.append(problem)
        warnings.warn(f"{problem}; until then every process compiles for minutes", stacklevel=2)


HELD: dict[Path, int] = {}  # folders that this process uses, with the file descriptor of the lock


def hold(folder: Path) -> None:
    """Prevent other processes from removing the folder until this one exits. Does nothing without support for locks."""
    if folder in HELD:
        return
    try:
        descriptor = os.open(folder / IN_USE, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:  # a copy without the lock file: nothing to lock
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink == 0:  # removed between open and lock
            raise FileNotFoundError(folder)
        HELD[folder] = descriptor
    except OSError:  # being removed, or a file system without locks
        os.close(descriptor)
        return
    with suppress(OSError):  # a read-only folder
        os.utime(descriptor)


def open_folder(folder: Path) -> None:
    """Create and lock the folder; if it is new, remove old folders of the cache. Raises OSError."""
    if folder in HELD and folder.is_dir():
        return
    new = not folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / IN_USE).touch()
    if folder in HELD:  # removed manually
        os.close(HELD.pop(folder))
    hold(folder)
    if new:
        prune(folder.parent)


def kept_folders(base: Path, layer: str) -> list[Path]:
    """Return the folders of a layer, the most recently used first; an empty list if they cannot be listed."""
    folders, entries = [], []
    with suppress(OSError):
        entries = list(base.iterdir())
    for folder in entries:
        name = FOLDER_NAME.fullmatch(folder.name)
        if name and name[1] == layer and os.path.isdir(folder) and not folder.is_symlink():
            mark = folder / IN_USE
            with suppress(OSError):  # no permission, or another process is removing it
                status = (mark if os.path.lexists(mark) else folder).stat()
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    folders.append((status.st_mtime, folder))
    return [folder for _, folder in sorted(folders, reverse=True)]


def prune(base: Path, kept: int = KEPT) -> list[Path]:
    """Remove all folders except those in use and the `kept` last used of each layer. Returns the removed folders."""
    for left in base.glob(f"{REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)
    candidates = [folder for layer in (*LAYERS, CUDA) for folder in kept_folders(base, layer)[kept:]]
    return [folder for folder in candidates if remove(folder)]


def remove(folder: Path) -> bool:
    """Remove a folder that no process uses. Returns whether it was removed."""
    try:
        with held(folder / IN_USE) as alone:
            if alone and folder not in HELD:
                aside = folder.rename(folder.with_name(f"{REMOVED}{os.getpid()}-{folder.name}"))
                shutil.rmtree(aside, ignore_errors=True)
                return True
    except OSError:  # no permission to remove it
        return False
    return False


def complete_marks() -> list[Path]:
    """Return one marker file per layer; its existence means that all code of the layer is compiled for this CPU."""
    processor = repr(cpu_target.target_context.codegen().magic_tuple())
    name = f"complete-{hashlib.sha256(processor.encode()).hexdigest()[:16]}"
    return [cache_folder(layer) / name for layer in LAYERS[1:]]


def is_complete() -> bool:
    """Return whether `ante warmup` has compiled everything for this CPU, these sources and this toolchain."""
    return all(os.path.exists(mark) for mark in complete_marks())


def count_stored() -> int:
    """Return the number of compiled functions in the cache of these sources."""
    return sum(len(list(cache_folder(layer).glob("*.code"))) for layer in LAYERS)


def mark_complete() -> None:
    """Record that everything is compiled for this CPU. Raises CacheNotWritable."""
    for mark in complete_marks():
        try:
            open_folder(mark.parent)
            mark.touch()
        except OSError as error:
            raise CacheNotWritable(mark.parent, error) from None


def require_writable() -> None:
    """Raise CacheNotWritable if compiled code cannot be stored."""
    for folder in dict.fromkeys(mark.parent for mark in complete_marks()):
        try:
            open_folder(folder)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise CacheNotWritable(folder, error) from None


def cache_rows() -> list[dict[str, str]]:
    """Return rows {what, value} for `ante doctor`: location, state and size of the compiled code."""
    base, folder = base_folder(), cache_folder()
    state = "warm" if is_complete() else "cold: run ante warmup"
    if os.path.isdir(folder) and not os.access(folder, os.W_OK):
        state += ", read-only"
    folders = [each for layer in (*LAYERS, CUDA) for each in kept_folders(base, layer)]
    size = sum(os.path.getsize(file) for each in folders for file in each.glob("*") if os.path.isfile(file))
    stay = f"the {KEPT} most recently used of each layer are kept, and those in use"
    return [
        {"what": "engine cache", "value": f"{folder} ({state})"},
        {"what": "compiled code", "value": f"{len(folders)} folders, {size / 2**20:.0f} MiB in {base}; {stay}"},
    ]
