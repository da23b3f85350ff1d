"""The network alone: both ways to compute its gradients agree."""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


@pytest.mark.slow
def test_sparse_and_dense_work_leave_the_same_gradients() -> None:
    from ante.bench.limit import DenseWork, SparseWork
    from ante.env.games import Games
    from ante.training.numerics.packed_rows import flat_row_t, pack_flat
    from ante.training.settings.config import make_config

    games = Games(96)
    games.reset()
    rng = np.random.default_rng(1)
    for _ in range(20):
        games.step((rng.random(games.masks.shape) * games.masks).argmax(axis=1))
        games.reset(np.flatnonzero(games.outcome))
    rows = np.zeros(96, dtype=flat_row_t)
    pack_flat(games.flat, games.masks, rows)
    config = make_config(
        {
            "resources.games_per_runner": 32,
            "algo.batch": 96,
            "algo.minibatch": 96,
            "algo.epochs": 1,
            "policy.hidden": (24, 16),
        }
    )
    for bf16, most in ((False, 1e-4), (True, 0.1)):
        sparse, dense = SparseWork(config, rows, bf16), DenseWork(config, rows, bf16)
        state = sparse.policy.state_dict()
        dense.policy.load_state_dict({**state, "trunk.0.weight": state["trunk.0.weight"].t()})
        dense.slopes = sparse.slopes
        assert (sparse.iterate(), dense.iterate()) == (96, 96)
        found = {name: p.grad for name, p in sparse.policy.named_parameters()}
        found["trunk.0.weight"] = found["trunk.0.weight"].t()
        for name, parameter in dense.policy.named_parameters():
            off, largest = (found[name] - parameter.grad).abs().max(), parameter.grad.abs().max()
            assert largest > 0 and off < most * largest, name
