"""A run's folder with episodes, created without training: greedy games, and a player that explains its decisions."""

import atexit
import csv
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.seed_lists import evaluation_seeds
from ante.engine.actions import to_macro
from ante.env.games import Games
from ante.training.run.videos import keep_games
from ante.training.settings.config import TrainConfig, make_config
from ante.watch.notes import Note, note_of

COLUMNS = (
    "iteration",
    "steps",
    "games",
    "seconds",
    "steps_per_second",
    "return",
    "ante",
    "blinds",
    "win_rate",
    "entropy",
    "eval_blinds",
)

LEDGER = {
    "asks": 1200.0,
    "calls": 1100.0,
    "success": 0.7,
    "p50": 0.41,
    "p95": 2.25,
    "tokens": 510_000.0,
    "cache_hits": 140.0,
    "breaker": 1.0,
    "agreement": 0.62,
    "ends": {"answered": 1000, "timeout": 60},
    "alarm": "hints fail: 70% of the last 50 requests succeeded",
}
EFFECT = {"source": "llm", "games": 64, "more": -0.5, "half_width": 0.75}


class Thinker(Baseline):
    """Greedy; reports half of the probability for its choice and the rest evenly; its value is the blinds beaten."""

    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`."""
        others = [action for action in legal(games) if action != taken][:7]
        probabilities = [0.5, *(0.5 / max(1, len(others)) for _ in others)]
        hint = "keep the pair" if games.states[0].ante == 1 else ""
        value = float(games.states[0].round_number)
        return note_of(np.array([taken, *others]), np.array(probabilities), taken, value, hint)


def legal(games: Games) -> list[int]:
    """Return the legal choices of the discrete view in the one game, as macro decisions."""
    return [int(to_macro(games.states[0], number)) for number in np.flatnonzero(games.masks[0])]


def make_run(folder: Path, games: int, videos: tuple[str, ...] = ("best", "worst")) -> TrainConfig:
    """Write a run with this many games in the final evaluation to `folder`."""
    shutil.copytree(template(games, videos), folder)
    config = config_of(folder, games, videos)
    (folder / "config.yaml").write_text(config.to_yaml())
    return config


def config_of(folder: Path, games: int, videos: tuple[str, ...]) -> TrainConfig:
    return make_config(
        {"name": folder.name, "runs": str(folder.parent), "videos.select": videos, "evaluation.games": games}
    )


@cache
def template(games: int, videos: tuple[str, ...]) -> Path:
    """Write a run once per process. SPEED: playing its games and drawing its videos takes seconds."""
    scratch = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, scratch, True)
    folder = Path(scratch, "run")
    folder.mkdir()
    (folder / "machine.json").write_text(json.dumps({"cpu": "a processor", "cores": 2}))
    with (folder / "metrics.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for i in range(1, 901):
            tried = i / 120 if i % 90 == 0 else float("nan")
            writer.writerow(
                (i, i * 1000, i * 12, i * 0.7, 1400, i / 300, 1 + i / 300, i / 110, i / 9000, 2 - i / 900, tried)
            )
    (folder / "hints").mkdir()
    (folder / "hints" / "ledger.json").write_text(json.dumps(LEDGER))
    (folder / "hints" / "effect.json").write_text(json.dumps(EFFECT))
    player = Thinker("greedy")
    report = evaluate(player, evaluation_seeds(games))
    (folder / "evaluation.json").write_text(report.to_json())
    keep_games(config_of(folder, games, videos), player, report, 900_000, final=True)
    return folder
