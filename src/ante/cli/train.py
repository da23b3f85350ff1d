"""`ante train`, whose settings are flags."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import Positional, arg

from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.training.config import TrainConfig

BY_NAME = ("latest", "auto")  # values of --resume that mean the run of this name
WHERE = ("name", "runs", "store")  # settings that say which run


@dataclass(frozen=True)
class Train:
    """Train a policy on real games (PPO, or what --algo says), then evaluate it and write a video of its best game.

    Everything lands in runs/NAME: resolved config, metrics (CSV, Parquet, TensorBoard), checkpoints, evaluation.json,
    episode.mp4. Ctrl-C stops with a checkpoint. See all settings with: ante train --help

    Try:
      ante train
      ante train --config configs/quick.yaml --name first
      ante train --deck b_blue --steps 2000000 --lr 2e-4
      ante train --start-states ante4.states --name late      (file: ante replay states)
      ante train --resume runs/first --steps 1000000
      ante train --name first --store s3://game-runs/runs --resume auto

    With --store the run is kept there too, and --resume auto goes on with it on any machine, an empty one as well, or
    begins it where there is none: the one line for a pod that may be started again (docs/artifacts.md).
    """

    config: Path | None = None
    """YAML file of settings; flags replace single ones."""
    resume: str | None = None
    """Folder of a run to go on with; or latest: the furthest checkpoint of run --name here or in its --store; or auto:
    the same, and a new run where there is none yet."""

    def run(self) -> int:
        """Never called: `train_command` parses the settings too."""
        raise AssertionError


def train_command(arguments: Sequence[str]) -> int:
    """`ante train`: the settings are flags of their own, whose defaults come from --config or from the resumed run."""
    from dataclasses import field, make_dataclass

    from pydantic import ValidationError

    from ante.training.config import BadConfig, TrainConfig, sentence

    chosen = chosen_early(arguments)
    asks_for_help = "--help" in arguments or "-h" in arguments
    base, before = defaults(chosen, asks_for_help)
    whole = make_dataclass(
        "Train", [("settings", Annotated[TrainConfig, arg(name="")], field(default=base))], bases=(Train,), frozen=True
    )
    begun = whole(chosen.config, chosen.resume)
    try:
        command = tyro.cli(whole, prog="ante train", description=Train.__doc__, default=begun, args=arguments)
    except ValidationError as error:  # settings that exclude each other
        raise BadConfig(sentence(error)) from None
    settings: TrainConfig = command.settings
    if before:
        from ante.training.resume import check_resumed

        check_resumed(before, settings)
    # SPEED: waiting threads sleep instead of spinning, else training beside other work is ten times slower. Read by
    # OpenMP when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from ante.training.train import train

    train(settings, resume=command.resume is not None)
    return 0


def chosen_early(arguments: Sequence[str]) -> Namespace:
    """What says where the other settings' defaults come from."""
    early = ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--config", type=Path)
    for name in ("resume", *WHERE):
        early.add_argument(f"--{name}")
    chosen, _ = early.parse_known_args(arguments)
    if chosen.store:
        from ante.storage.store import split_url

        split_url(chosen.store)  # before others show what may hold a secret
    if chosen.config and chosen.resume and chosen.resume not in BY_NAME:
        raise BalatroError("--config and --resume RUN exclude each other: a resumed run has its own config.yaml")
    return chosen


def defaults(chosen: Namespace, asks_for_help: bool) -> tuple["TrainConfig", "TrainConfig | None"]:
    """The settings that flags change, and those of the run that is resumed, if one is."""
    from ante.training.config import TrainConfig, make_config, read_config

    base = read_config(chosen.config) if chosen.config else TrainConfig()
    if not chosen.resume or asks_for_help:
        return base, None
    from ante.training.resume import config_of_run

    if chosen.resume not in BY_NAME:
        before = config_of_run(Path(chosen.resume))
        return before, before
    from ante.training.restoring import known_config

    given = {name: getattr(chosen, name) for name in WHERE if getattr(chosen, name)}
    base = make_config({**base.model_dump(), **given})
    found = known_config(base, lambda words: print(f"ante: {words}", file=sys.stderr))
    if found is None and chosen.resume == "latest":
        where = f"{base.runs} or {base.store}" if base.store else f"{base.runs}: name its --store"
        raise BalatroError(f"there is no checkpoint of run {base.name} in {where}; --resume auto would begin one")
    return (found if found and not chosen.config else base), found


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
