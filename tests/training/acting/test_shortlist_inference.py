"""The compiled inference of the shortlist policy equals the policy."""

import numpy as np
import pytest
import torch

from ante.env.games import Games
from ante.lookahead.candidates import CandidateLister
from ante.lookahead.records import candidates_t
from ante.training.acting.shortlist_inference import ShortlistInference
from ante.training.policies.shortlist import ListedRows, ShortlistPolicy
from tests.support.lists import small


@pytest.mark.parametrize("steps", [0, 7, 60])
def test_logits_values_and_features_equal_those_of_the_policy(steps: int) -> None:
    policy = small(ShortlistPolicy)
    games = Games(24, discrete=False, reorder="jokers")
    games.reset()
    lister, lists = CandidateLister(), np.zeros(games.n, dtype=candidates_t).view(np.recarray)
    for _ in range(steps):
        rows = np.zeros(games.n, dtype=policy.row_t)
        policy.pack(games, rows)
        rng = torch.Generator().manual_seed(steps)
        games.step(policy.decisions(rows, policy.act(rows, rng).actions.numpy()))
        games.reset(np.flatnonzero(games.outcome))
    rows = np.zeros(games.n, dtype=policy.row_t)
    policy.pack(games, rows)
    lister.write(games, lists)
    with torch.inference_mode():
        read = policy.read(ListedRows(rows))
        logits, values = policy.heads(ListedRows(rows))
    found = ShortlistInference(policy)(games.flat, lists)
    np.testing.assert_allclose(found.logits, logits.numpy(), atol=2e-4)
    np.testing.assert_allclose(found.values, values.numpy(), atol=2e-4)
    np.testing.assert_allclose(found.trunk, read.trunk.numpy(), atol=2e-4)
    assert len(ShortlistInference(policy)(games.flat[:0], lists[:0]).values) == 0
