"""How the engine's functions are compiled for a CUDA device: the same functions, to the same bits.

`kernel` makes a kernel of a function that plays one game per thread. Imported only by what runs on a device: the CPU's
engine never loads numba.cuda.

Numba's CUDA compiler does not suit the engine as it is, so `exact_compilation` changes three things while it
runs (reasons: docs/how-to/gpu.md): products and sums are not contracted, number tables are in global memory, and long
functions are called instead of copied into their callers.
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

BLOCK = 64  # threads of a block: 65,536 games are then 1,024 blocks, which an H200 holds at once
REGISTERS = 128  # per thread. More would halve the games in flight; with 128, almost nothing is spilled
LONG_IR = 12_000  # characters of a function's IR from which on it is called. SPEED: 13 MB of PTX become 3
DEFINITION = re.compile(r"^(define linkonce_odr [^\n]*\))", re.MULTILINE)


class NoDevice(BalatroError):
    """There is no CUDA device to play on."""

    def __init__(self) -> None:
        super().__init__(
            "no CUDA device is at hand: play on the CPU (ante.env.games.Games), or start again where `nvidia-smi` "
            "lists a GPU and a driver of version 580 or newer"
        )


def require_device() -> None:
    """Raises NoDevice where no CUDA device can be used."""
    if not cuda.is_available():
        raise NoDevice


def device_ir(ir: str) -> str:
    """The IR of one function, its tables in global memory; marked as not to be inlined where it is long.

    All tables together outgrow the 64 KiB of constant memory, and threads that read different rows wait for each
    other there.
    """
    ir = ir.replace("addrspace(4)", "addrspace(1)")
    return DEFINITION.sub(r"\1 noinline", ir, count=1) if len(ir) > LONG_IR else ir


def own_modules(library: Any) -> list[Any]:
    """The modules of a code library and of all it links, each once."""
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
    """What is compiled for the device inside computes bit for bit what the CPU computes.

    Functions are typed as `rule` types them for the CPU, and a * b + c is rounded twice.

    capability  of the device to compile for, such as (9, 0); by default that of the device at hand
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
    """The compiled code of a kernel: its folder is named by all sources, those of the CUDA backend included."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for a signature, or None where it must be compiled."""
        with numba_target_override():
            return super().load_overload(sig, target_context)

    def storable(self, compiled: Any) -> bool:
        """Whether this code means the same in another process: a kernel's tables lie in it."""
        return True

    def pack(self, compiled: Any) -> bytes:
        """What is kept of a compiled kernel."""
        return bytes(dumps(compiled._reduce_states()))

    def rebuild(self, target_context: Any, packed: Any) -> Any:
        """The kernel of what was kept."""
        return dispatcher._Kernel._rebuild(**packed)


class Kernel:
    """A function that plays game `cuda.grid(1)`, launched over a batch.

    It is compiled with its first launch (about a minute) and kept in the cache folder of CUDA.

    function  as it was written
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        options = {} if SIMULATED else {"lto": False, "max_registers": REGISTERS}
        self._compiled = cuda.jit(**options)(function)
        if not SIMULATED:
            self._compiled._cache = StoredKernel(function)
        self._ready = SIMULATED

    def launch(self, games: int, block: int, stream: Any, *arguments: Any) -> None:
        """The function ran, or will have run when the stream is done, in one thread per game, `block` threads a block.

        Arguments must have the types of the first launch. Raises NoDevice.
        """
        if not self._ready:
            require_device()
            with exact_compilation():
                self._compiled.compile(tuple(self._compiled.typeof_pyval(a) for a in arguments))
            self._compiled.disable_compile()  # other types would be compiled without exactness
            self._ready = True
        self._compiled[-(-games // block), block, stream](*arguments)

    def ptx(self, arguments: tuple[Any, ...], capability: tuple[int, int] = (9, 0)) -> str:
        """The kernel's PTX for arguments like these (host arrays will do). No device is needed."""
        with exact_compilation(capability):
            types = tuple(numba.typeof(a) for a in arguments)
            text, _ = cuda.compile_ptx(self.function, types, cc=capability)
        return str(text)


def kernel(function: Callable[..., None]) -> Kernel:
    """A kernel of this function of device arrays."""
    return Kernel(function)
