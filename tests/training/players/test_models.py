"""The released policies of this repository: intact, equal to their model cards, and strong players."""

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.seed_lists import evaluation_seeds
from ante.training.players.release import player_from, read_release

MODELS = Path(__file__).parents[3] / "models"


@pytest.mark.parametrize("name", ["white-stake", "white-stake-2", "white-stake-3", "white-stake-4"])
def test_a_release_is_whole_small_and_described(name: str) -> None:
    folder = MODELS / name
    policy, about = read_release(folder)
    assert about["parameters"] == sum(value.numel() for value in policy.parameters())
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2_000_000
    card = (folder / "README.md").read_text()
    assert f"{about['parameters']:,} parameters" in card
    assert f"{about['trained']['games']:,} games" in card
    assert "Not evaluated yet" not in card


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_white_stake_plays_far_beyond_greedy() -> None:
    """Wide bounds for the results of its thousand games: 48 % won and 22 blinds, greedy 0.1 % and 9."""
    seeds = evaluation_seeds(40)
    ours, greedy = (
        evaluate(player, seeds) for player in (player_from(MODELS / "white-stake", likeliest=True), Baseline("greedy"))
    )
    assert ours.mean_blinds > greedy.mean_blinds + 8
    assert ours.wins.hits >= 8 > greedy.wins.hits
