"""Runs games on Numba's CUDA simulator: `python -m tests.gpu.simulator RUN.npz NUMBER VIEW OUT.npz`.

Set NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1: kernels and rules then run as plain Python.
"""

import sys
from pathlib import Path

from tests.gpu.reference_games import Run, play_on_device

if __name__ == "__main__":
    source, number, view, out = sys.argv[1:]
    play_on_device(Run.load(Path(source)), int(number), view, block=8).save(Path(out))
