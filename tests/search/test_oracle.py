"""Hidden information is worth something: a search of the true future finds what a fair one cannot."""

import numpy as np

from ante.search.budget import Budget
from ante.search.player import Settings
from tests.search.made import small_player, some_games, with_other_hidden_state
from tests.search.oracle import oracle

SETTINGS = Settings(least=1e-6, share=1.0)


def test_the_oracle_depends_on_what_is_hidden() -> None:
    """The leak tests would notice a search that reads the true future: this one does."""
    games = some_games(12, 25)
    everyone = np.ones(12, dtype=np.bool_)

    def decided(batch):  # type: ignore[no-untyped-def]
        return oracle(small_player(), Budget(40), SETTINGS).choose(batch, everyone).tolist()

    decisions = decided(games)
    assert decided(games) == decisions
    assert any(decided(with_other_hidden_state(games, seed)) != decisions for seed in range(4))
