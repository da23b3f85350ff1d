"""`ante train`, whose settings are flags."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional, arg

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


@dataclass(frozen=True)
class Export:
    """Write a run's policy as a small folder of plain files that anyone can play: weights, settings, a model card.

    `ante eval`, `ante play` and everything else that takes a run's folder takes such a folder too.

    Try:
      ante export runs/laptop models/mine
      ante eval models/mine --panel
    """

    run_folder: Positional[Annotated[Path, arg(metavar="RUN")]]
    """Folder of the run."""
    folder: Positional[Annotated[Path, arg(metavar="FOLDER")]]
    """Where to write; a model card that stands there is left as it is."""
    checkpoint: str = "best"
    """Which checkpoint of the run: best or latest."""

    def run(self) -> int:
        """Write and say what."""
        from ante.training.release import write_release

        write_release(self.run_folder, self.folder, self.checkpoint)
        size = sum(file.stat().st_size for file in self.folder.iterdir())
        print(f"{self.folder}: {size / 1e6:.1f} MB; say in its README.md how well it plays")
        return 0


@dataclass(frozen=True)
class Curves:
    """Draw the learning curves of runs as one picture: blinds, ante, wins, entropy.

    Try:
      ante curves runs/laptop
      ante curves runs/one runs/two --out both.png --title "Two seeds"
    """

    runs: Positional[Annotated[tuple[Path, ...], arg(metavar="RUN ...")]]
    """Folders of runs."""
    out: Path | None = None
    """The picture; curves.png in the first run's folder by default."""
    title: str = ""
    """Written above it."""

    def run(self) -> int:
        """Draw. Raises NoCurves."""
        from ante.watch.curves import draw_curves, read_curves

        if not self.runs:
            raise BalatroError("no run is named: try ante curves runs/NAME")
        file = self.out or self.runs[0] / "curves.png"
        print(draw_curves([read_curves(run) for run in self.runs], file, self.title))
        return 0
