"""Going on with a run: its configuration, and what may change in it. Knows neither Ray nor torch."""

from pathlib import Path

import yaml

from ante.training.config import BadConfig, TrainConfig, read_config

MACHINES = (
    "runners",
    "runner_cpus",
    "runner_gpus",
    "games_on",
    "runner_resource",
    "learner_gpus",
    "learner_resource",
    "memory_gb",
    "object_store_gb",
    "restarts",
    "metrics_port",
)
TRACKING = ("track", "track_project", "track_wait_seconds")
STORE = ("store", "store_newest", "store_wait_seconds", "store_grace_seconds", "store_pause_seconds", "spool_gb")
EPISODES = ("videos", "videos_each", "keep_videos", "keep_episodes")
PACE = ("steps", "checkpoint_every", "keep_checkpoints", "eval_games", "eval_every", "trial_games")
MAY_CHANGE = (*PACE, *EPISODES, *MACHINES, *STORE, *TRACKING)
WHERE = ("name", "runs")  # follow the folder


def config_of_run(folder: Path) -> TrainConfig:
    """The configuration a run was started with, wherever its folder has been moved. Raises BadConfig."""
    if not folder.is_dir():
        raise BadConfig(f"there is no run {folder}: runs are folders such as runs/ppo, made by ante train")
    file = folder / "config.yaml"
    config, where = read_config(file), {"runs": str(folder.parent), "name": folder.name}
    if "path" not in (yaml.safe_load(file.read_text()) or {}):
        where["path"] = "stock"  # begun before there was another one
    return config.model_copy(update=where)


def check_resumed(before: TrainConfig, now: TrainConfig) -> None:
    """A resumed run keeps what it learns with. Raises BadConfig."""
    for key in TrainConfig.model_fields:
        if key not in MAY_CHANGE + WHERE and getattr(before, key) != getattr(now, key):
            raise BadConfig(
                f"{key} is {getattr(before, key)} in this run and cannot become {getattr(now, key)}: "
                f"a resumed run may change {', '.join(MAY_CHANGE)}; begin another run for the rest"
            )
