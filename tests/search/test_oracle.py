"""Hidden information is worth something: a search of the true future finds what a fair one cannot."""

from pathlib import Path

import numpy as np
import pytest

from ante.agents.evaluate import Player, half_width
from ante.agents.seed_lists import evaluation_seeds
from ante.experiments.search_campaign import play_games
from ante.search.budget import Budget
from ante.search.player import SearchPlayer, Settings
from ante.training.players.by_name import player_of
from tests.search.made import small_player, some_games, with_other_hidden_state
from tests.search.oracle import oracle

SETTINGS = Settings(least=1e-6, share=1.0)
MEASURED = Path(__file__).parents[2] / "models" / "white-stake-3"
LOW, GAMES, DRAW = Budget(16), 128, 26


def test_the_oracle_depends_on_what_is_hidden() -> None:
    """The leak tests would notice a search that reads the true future: this one does."""
    games = some_games(12, 25)
    everyone = np.ones(12, dtype=np.bool_)

    def decided(batch):  # type: ignore[no-untyped-def]
        return oracle(small_player(), Budget(40), SETTINGS).choose(batch, everyone).tolist()

    decisions = decided(games)
    assert decided(games) == decisions
    assert any(decided(with_other_hidden_state(games, seed)) != decisions for seed in range(4))


def games_won(player: Player) -> np.ndarray:
    """Return which of the games the player wins, (GAMES,)."""
    seeds = evaluation_seeds(GAMES, DRAW)
    lines = [line for first in range(0, GAMES, 16) for line in play_games(player, seeds[first : first + 16])[0]]
    return np.array([float(line.won) for line in lines])


@pytest.mark.nightly
def test_the_oracle_wins_more_games_than_a_fair_search_with_the_same_low_budget() -> None:
    player = player_of(str(MEASURED), True, "best")
    fair = games_won(SearchPlayer(player, LOW))
    knowing = games_won(oracle(player, LOW, Settings()))
    more = knowing - fair
    print(f"fair {fair.mean():.1%}, oracle {knowing.mean():.1%}, {more.mean():+.1%} ± {half_width(more):.1%}")
    assert more.mean() - half_width(more) > 0.0
