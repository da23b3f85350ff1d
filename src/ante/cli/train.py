"""`ante train`, whose settings are flags."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import arg

from ante.errors import BalatroError


@dataclass(frozen=True)
class Train:
    """Train a policy with PPO on real games, then evaluate it and write a video of its best game.

    Everything lands in runs/NAME: resolved config, metrics (CSV, Parquet, TensorBoard), checkpoints, evaluation.json,
    episode.mp4. Ctrl-C stops with a checkpoint. See all settings with: ante train --help

    Try:
      ante train
      ante train --config configs/quick.yaml --name first
      ante train --deck b_blue --steps 2000000 --lr 2e-4
      ante train --resume runs/first --steps 1000000
    """

    config: Path | None = None
    """YAML file of settings; flags replace single ones."""
    resume: Path | None = None
    """Folder of a run to go on with."""

    def run(self) -> int:
        """Never called: `train_command` parses the settings too."""
        raise AssertionError


def train_command(arguments: Sequence[str]) -> int:
    """`ante train`: the settings are flags of their own, whose defaults come from --config or --resume."""
    from argparse import ArgumentParser
    from dataclasses import field, make_dataclass

    from ante.training.config import TrainConfig, read_config

    early = ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--config", type=Path)
    early.add_argument("--resume", type=Path)
    chosen, _ = early.parse_known_args(arguments)
    if chosen.config and chosen.resume:
        raise BalatroError("--config and --resume exclude each other: a resumed run has its own config.yaml")
    base = TrainConfig()
    if chosen.config:
        base = read_config(chosen.config)
    elif chosen.resume:
        from ante.training.resume import config_of_run

        base = config_of_run(chosen.resume)
    whole = make_dataclass(
        "Train", [("settings", Annotated[TrainConfig, arg(name="")], field(default=base))], bases=(Train,), frozen=True
    )
    command = tyro.cli(
        whole, prog="ante train", description=Train.__doc__, default=whole(chosen.config, chosen.resume), args=arguments
    )
    settings: TrainConfig = command.settings
    if command.resume:
        from ante.training.resume import check_resumed

        check_resumed(base, settings)
    # SPEED: waiting threads sleep instead of spinning, else training beside other work is ten times slower. Read by
    # OpenMP when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from ante.training.train import train

    train(settings, resume=command.resume is not None)
    return 0
