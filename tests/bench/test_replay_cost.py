"""`ante bench replay`: positions are restored from packed rows, and the sizes are those of the arrays."""

import numpy as np
import pytest

pytest.importorskip("torch")


def test_positions_come_back_and_sizes_are_those_of_the_arrays() -> None:
    from ante.bench.replay_buffer import GAMES, SETTINGS, lost, real_positions, sizes
    from ante.training.learning.replay_buffer import Replay
    from ante.training.numerics.packed_rows import flat_row_t

    trace, flat, masks = real_positions(steps=48)
    assert lost(trace, flat) <= 1 / 16384, "only rounding of numbers"
    assert np.array_equal(
        np.unpackbits(trace.rows["mask"].reshape(len(flat), -1), axis=1, bitorder="little")[:, : masks.shape[1]], masks
    )
    replay = Replay(capacity=1 << 13, row_t=flat_row_t, **SETTINGS)  # type: ignore[arg-type]
    replay.add(trace)
    found = {row.name.removeprefix("replay: "): row.value for row in sizes(trace, flat, replay)}
    assert found["float32 against packed"] == pytest.approx(flat.nbytes / trace.rows.nbytes)
    assert found["float32 against packed"] >= 4
    assert found["two positions in float32 against a stored step"] >= 8
    assert found["a step in a checkpoint"] < found["a stored step, in total"] / 4
    phases = flat[:, :8].argmax(axis=1)
    assert len(flat) == 48 * GAMES and len(np.unique(phases)) > 2, "several phases"
