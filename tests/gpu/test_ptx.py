"""All kernels compile and assemble for a GPU, and their arithmetic matches the CPU's. Needs no GPU."""

import re
from collections import Counter

import numpy as np
import pytest

from ante.engine.actions import N_DISCRETE
from ante.engine.core.state import new_states
from ante.engine.run import MAX_SEED
from ante.env.layout import FLAT_SIZE, new_observations
from ante.env.reward import DISCOUNT, new_before

pytest.importorskip("numba_cuda")
from ante.engine.core.cuda_compiler import REGISTERS
from ante.engine.drivers.cuda import choose_decisions, play_decisions
from ante.env.cuda import choose_in_games, step_games

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

WHOLE, BYTES, RNGS = np.zeros(1, np.int64), np.zeros(1, np.uint8), np.zeros((1, 1), np.uint64)
MASKS, SEEDS = np.zeros((1, N_DISCRETE), np.uint8), np.zeros((1, MAX_SEED), np.uint8)
DEAL = (BYTES, SEEDS, RNGS, WHOLE, WHOLE, WHOLE)  # renew, seeds, rngs, decks, stakes, challenges
GAMES = (new_before(1), WHOLE, new_observations(1), np.zeros((1, FLAT_SIZE), np.float32), np.zeros(1), BYTES)
KERNELS = {
    "play_decisions": (play_decisions, (new_states(1), WHOLE, *DEAL, 0, BYTES, MASKS)),
    "step_games": (step_games, (new_states(1), WHOLE, 1, *DEAL, 1, 2, 0, 9, np.zeros(DISCOUNT + 1), *GAMES)),
    "choose_decisions": (choose_decisions, (new_states(1), MASKS, RNGS, WHOLE)),
    "choose_in_games": (choose_in_games, (new_states(1), new_observations(1), RNGS, WHOLE)),
}
ARITHMETIC = re.compile(r"\b(add|sub|mul|div|fma|mad|sqrt|rcp|ex2|lg2|sin|cos)((?:\.\w+)*)\.(f32|f64)\b")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Return the PTX of all kernels; shared functions are lowered once."""
    return {name: kernel.ptx(arguments) for name, (kernel, arguments) in KERNELS.items()}


@pytest.fixture(params=list(KERNELS))
def ptx(request: pytest.FixtureRequest, texts: dict[str, str]) -> str:
    return texts[request.param]


def test_kernels_compile_allocate_nothing_and_raise_nothing(ptx: str) -> None:
    assert ".target sm_90" in ptx
    assert ".visible .entry" in ptx
    for call in ("malloc", "NRT_", "PyErr"):
        assert call not in ptx
    assert not re.search(r"^\.const", ptx, re.MULTILINE)  # all tables together exceed constant memory


@pytest.mark.parametrize("name", ["play_decisions", "step_games"])
def test_arithmetic_rounds_as_on_the_cpu(texts: dict[str, str], name: str) -> None:
    """Each operation is rounded once, to nearest: not contracted, not approximated, not flushed to 0.

    The assembler may contract an operation without `.rn`; a contracted one appears as fma.
    """
    found = Counter(ARITHMETIC.findall(texts[name]))
    assert set(found) == {(operation, ".rn", "f64") for operation in ("add", "sub", "mul", "div")}
    assert found["mul", ".rn", "f64"] > 100


def test_kernels_assemble_for_a_hopper(ptx: str) -> None:
    """The assembler accepts the PTX, and its use of registers is consistent with REGISTERS."""
    nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
    options = ["-arch=sm_90a", "-verbose", f"-maxrregcount={REGISTERS}"]
    linker, code = nvjitlink.create(len(options), options), ptx.encode()
    try:
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, code, len(code), "kernel")
        nvjitlink.complete(linker)
        log = bytearray(nvjitlink.get_info_log_size(linker))
        nvjitlink.get_info_log(linker, log)
    finally:
        nvjitlink.destroy(linker)
    used = re.findall(rb"used (\d+) registers, .*?(\d+) stack", log)
    assert used, log[-500:]
    for registers, stack in used:
        assert int(registers) <= REGISTERS
        assert int(stack) <= 4096  # bytes per thread, reserved by the driver for every resident thread
