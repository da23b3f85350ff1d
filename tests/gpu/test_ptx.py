"""The engine's step compiles for a GPU as it stands; no GPU is needed to ask."""

import numba
import numpy as np
import pytest

from ante.engine.actions import N_DISCRETE, legal_mask
from ante.engine.state import new_states
from ante.engine.step import step

cuda = pytest.importorskip("numba.cuda")
dispatcher = pytest.importorskip("numba.cuda.dispatcher")
HOPPER = (9, 0)


class AnyHopper:
    """What the compiler asks of the device at hand."""

    compute_capability = HOPPER


def play_one_action(states, actions, status, masks):
    i = cuda.grid(1)
    if i < len(states):
        status[i] = step(states[i], actions[i])
        legal_mask(states[i], masks[i])


@pytest.mark.slow
def test_step_and_mask_compile_to_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "get_current_device", AnyHopper)
    arrays = (new_states(1), np.zeros(1, np.int64), np.zeros(1, np.uint8), np.zeros((1, N_DISCRETE), np.uint8))
    ptx, _ = cuda.compile_ptx(play_one_action, tuple(numba.typeof(a) for a in arrays), cc=HOPPER)
    assert ".target sm_90" in ptx
    assert ".visible .entry" in ptx
    for call in ("malloc", "NRT_", "PyErr"):  # nothing is allocated, nothing raised
        assert call not in ptx
