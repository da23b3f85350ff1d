"""Hidden information is worth something: a search of the true future finds what a fair one cannot."""

import numpy as np
import pytest

from ante.agents.evaluate import evaluate, paired_difference
from ante.agents.seed_lists import evaluation_seeds
from ante.search.budget import Budget
from ante.search.player import SearchPlayer, Settings
from ante.training.players.by_name import player_of
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


@pytest.mark.nightly
def test_at_a_low_budget_the_oracle_beats_fair_search() -> None:
    """Both search with the same settings; in the true future one world is the truth."""
    policy, budget, seeds = player_of("white-stake-2", True, "best"), Budget(16), evaluation_seeds(96, draw=26)
    fair, knowing = (
        evaluate(player, seeds) for player in (SearchPlayer(policy, budget), oracle(policy, budget, Settings()))
    )
    gain, error = paired_difference(knowing, fair)
    print(f"won: fair {fair.wins}, oracle {knowing.wins}; blinds: {gain:+.2f} ± {error:.2f}")
    assert gain - error > 0
