"""Small datasets for the tests in this folder."""

from pathlib import Path

import pytest

from ante.agents.baselines import Baseline
from ante.agents.seed_lists import dataset_seeds
from ante.env.replay import Heading
from ante.training.datasets.export import export
from ante.training.datasets.scripts import played_scripts, replay_scripts

REPLAYS = sorted((Path(__file__).parents[2] / "golden" / "replays").glob("*.txt"))
GAMES = 12


@pytest.fixture(scope="session")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return twelve games of greedy, as macro decisions with the shortlist, in batches of five."""
    folder = tmp_path_factory.mktemp("datasets") / "greedy"
    games = played_scripts(Baseline("greedy"), dataset_seeds(GAMES, 7), Heading(""), 5)
    export(folder, games, "shortlist", player="greedy", deck="b_red", stake=1)
    return folder


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all recorded replays as discrete actions."""
    folder = tmp_path_factory.mktemp("datasets") / "recorded"
    export(folder, [replay_scripts(REPLAYS)], "flat", reorder="all", player="replays")
    return folder
