"""The closing evaluation of a run: the policy and the baselines on the seed panel, and a video of its best game."""

from pathlib import Path
from typing import Any

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.evaluate import GameRecord, Player, Replay, Report, evaluate, panel
from ante.env.games import Games
from ante.env.text import run_name
from ante.files import write_text
from ante.training.config import TrainConfig
from ante.training.policies import load_policy, make_player
from ante.watch.video import episode_frames, write_video


def evaluate_run(config: TrainConfig, advance: Any) -> list[tuple[Player, Report]]:
    """Reports of the run's best checkpoint and of the baselines, each on the same games."""
    policy, _ = load_policy(config.folder)
    players: list[Player] = [
        make_player(policy, config.name, reorder=config.reorder),
        *(Baseline(name) for name in AGENTS),
    ]
    seeds = panel()[: config.eval_games]
    rules = {name: getattr(config, name) for name in ("deck", "stake", "challenge", "reward", "reorder")}
    return [(player, evaluate(player, seeds, **rules, advance=advance)) for player in players]


def write_report(config: TrainConfig, report: Report) -> Path:
    """The report stands in the run's folder as evaluation.json."""
    file = config.folder / "evaluation.json"
    write_text(file, report.to_json())
    return file


def write_best_game(config: TrainConfig, player: Player, report: Report) -> tuple[Path, GameRecord]:
    """A video of the game that went furthest."""
    best = max(report.records, key=lambda record: (record.outcome == "won", record.blinds, record.reward))
    file = config.folder / "episode.mp4"
    write_game(file, Replay(best, player), best.seed, config)
    return file, best


def write_game(file: Path, player: Player, seed: str, config: TrainConfig) -> int:
    """A video of one game by this player; answers its frames. Raises BadVideo."""
    games = Games(
        1, config.deck, config.stake, challenge=config.challenge, reorder=config.reorder, discrete=player.discrete
    )
    games.reset(options={"seed": seed})
    title = f"{player.name}: {seed}, {run_name(games.states[0])}"
    return write_video(file, episode_frames(games, player.choose), title=title)
