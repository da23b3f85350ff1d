"""Compile the engine's functions for a CUDA device, with results identical to the CPU's to the bit.

`kernel` makes a kernel of a function that plays one game per thread. Only code that runs on a device imports this
module: the CPU engine never loads numba.cuda.

`exact_compilation` changes Numba's CUDA compiler in three ways while it runs (reasons: docs/how-to/gpu.md): products
and sums are not contracted, number tables are in global memory, and long functions are called instead of inlined.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numba

from ante.engine.core.compile_cache import StoredCode
from ante.engine.core.rule import plain_type
from ante.errors import BalatroError, NotInstalled

if find_spec("numba_cuda") is None:
    raise NotInstalled(ModuleNotFoundError(name="numba_cuda"))

from numba import cuda

SIMULATED = bool(numba.config.ENABLE_CUDASIM)
if not SIMULATED:
    from numba.cuda import dispatcher
    from numba.cuda.codegen import CUDACodeLibrary
    from numba.cuda.core.compiler_lock import global_compiler_lock
    from numba.cuda.cudadrv import nvvm
    from numba.cuda.serialize import dumps
    from numba.cuda.utils import numba_target_override

BLOCK = 64  # threads per block: 65,536 games are then 1,024 blocks, which an H200 runs concurrently
REGISTERS = 128  # per thread. More would halve the games in flight; with 128, almost nothing is spilled
LONG_IR = 12_000  # length of a function's IR, in characters, from which it is called. SPEED: 13 MB of PTX become 3
DEFINITION = re.compile(r"^(define linkonce_odr [^\n]*\))", re.MULTILINE)


class NoDevice(BalatroError):
    """No CUDA device is available."""

    def __init__(self) -> None:
        super().__init__(
            "no CUDA device is available: play on the CPU (ante.env.games.Games), or use a machine where "
            "`nvidia-smi` lists a GPU and a driver of version 580 or newer"
        )


def require_device() -> None:
    """Raise NoDevice if no CUDA device is available."""
    if not cuda.is_available():
        raise NoDevice


def device_ir(ir: str) -> str:
    """Return the IR of one function with its tables in global memory, marked `noinline` if it is long.

    The tables together exceed the 64 KiB of constant memory, and reads of different rows by the threads of a warp are
    serialized there.
    """
    ir = ir.replace("addrspace(4)", "addrspace(1)")
    return DEFINITION.sub(r"\1 noinline", ir, count=1) if len(ir) > LONG_IR else ir


def own_modules(library: Any) -> list[Any]:
    """Return the modules of a code library and of all libraries it links, each once."""
    found: dict[int, Any] = {}
    waiting = [library]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting.extend(one._linking_libraries)
    return [one._module for one in found.values()]


@contextmanager
def exact_compilation(capability: tuple[int, int] | None = None) -> Iterator[None]:
    """Compile device code inside this context so that it computes bit for bit what the CPU computes.

    Functions are typed as `rule` types them for the CPU, and a * b + c is rounded twice.

    capability  compute capability of the target device, such as (9, 0); by default that of the current device
    """
    compile_ir, template_of = nvvm.compile_ir, dispatcher.CUDADispatcher.get_call_template
    device, modules = dispatcher.get_current_device, CUDACodeLibrary.modules

    def compile_exactly(irs: str | list[str], **options: Any) -> bytes:
        texts = [irs] if isinstance(irs, str) else irs
        return compile_ir([device_ir(ir) for ir in texts], **{**options, "fma": False})

    with global_compiler_lock:
        nvvm.compile_ir = compile_exactly
        CUDACodeLibrary.modules = property(own_modules)
        dispatcher.CUDADispatcher.get_call_template = lambda self, args, kws: template_of(
            self, tuple(plain_type(a) for a in args), {name: plain_type(a) for name, a in kws.items()}
        )
        if capability is not None:
            dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
        try:
            yield
        finally:
            nvvm.compile_ir, dispatcher.CUDADispatcher.get_call_template = compile_ir, template_of
            dispatcher.get_current_device, CUDACodeLibrary.modules = device, modules


class StoredKernel(StoredCode):
    """The stored code of a kernel. Its folder is named after a hash of all sources, including the CUDA backend."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel of a signature, or None if it must be compiled."""
        with numba_target_override():
            return super().load_overload(sig, target_context)

    def storable(self, compiled: Any) -> bool:
        """Return True: a kernel contains its tables, so it is valid in another process."""
        return True

    def pack(self, compiled: Any) -> bytes:
        """Return a compiled kernel as bytes."""
        return bytes(dumps(compiled._reduce_states()))

    def rebuild(self, target_context: Any, packed: Any) -> Any:
        """Return the kernel that `pack` wrote."""
        return dispatcher._Kernel._rebuild(**packed)


class Kernel:
    """A function that plays game `cuda.grid(1)`, launched over a batch.

    It is compiled at its first launch (about a minute) and stored in the cache folder of CUDA.

    function  the Python function
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        options = {} if SIMULATED else {"lto": False, "max_registers": REGISTERS}
        self._compiled = cuda.jit(**options)(function)
        if not SIMULATED:
            self._compiled._cache = StoredKernel(function)
        self._ready = SIMULATED

    def launch(self, games: int, block: int, stream: Any, *arguments: Any) -> None:
        """Run the function in one thread per game, `block` threads per block, asynchronously on `stream`.

        Arguments must have the types of the first launch. Raises NoDevice.
        """
        if not self._ready:
            require_device()
            with exact_compilation():
                self._compiled.compile(tuple(self._compiled.typeof_pyval(a) for a in arguments))
            self._compiled.disable_compile()  # another signature would be compiled without exact_compilation
            self._ready = True
        self._compiled[-(-games // block), block, stream](*arguments)

    def ptx(self, arguments: tuple[Any, ...], capability: tuple[int, int] = (9, 0)) -> str:
        """Return the kernel's PTX for arguments of these types (host arrays are accepted). Needs no device."""
        with exact_compilation(capability):
            types = tuple(numba.typeof(a) for a in arguments)
            text, _ = cuda.compile_ptx(self.function, types, cc=capability)
        return str(text)


def kernel(function: Callable[..., None]) -> Kernel:
    """Return a kernel of this function of device arrays."""
    return Kernel(function)
