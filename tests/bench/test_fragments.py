"""Stub runners and real learners: bytes per learner follow from how fragments are dealt, also after a loss."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

SMALL = """
from ante.bench.scale.fragments import fragment_rows
for row in fragment_rows(1, (2, 5), 2, (1,)):
    print(row.value)
"""
NO_TORCH = "import sys, ante.bench.scale.stub_runner; print('torch' in sys.modules, 'ray.rllib' in sys.modules)"
FRAGMENT = 64 * 64 * 588


@pytest.mark.ray
@pytest.mark.nightly
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_learners_fetch_their_share_and_a_part_of_the_remainder() -> None:
    """Run in a separate process, which starts its own Ray."""
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    values = [float(line) for line in done.stdout.splitlines()]
    bytes_of = {"2": values[0], "5": values[3], "4 of 5": values[6]}
    assert bytes_of == {"2": FRAGMENT, "5": 3 * FRAGMENT, "4 of 5": 2 * FRAGMENT}
    assert values[9] == pytest.approx(2 / 3) and all(0 < value < 60_000 for value in (*values[1:3], *values[4:6]))


def test_a_stub_imports_neither_torch_nor_rllib() -> None:
    done = subprocess.run([sys.executable, "-c", NO_TORCH], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
