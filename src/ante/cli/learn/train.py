"""`ante train`, with all settings as flags, `ante export` and `ante curves`."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ante.cli.errors import bug_in_run, sentence_of
from ante.cli.options import OutFolder, PictureFile
from ante.cli.shown import compile_missing
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.training.settings.config import TrainConfig

BY_NAME = ("latest", "auto")  # values of --resume that refer to the run of this name
WHERE = ("name", "runs", "store")  # settings that identify the run
KINDS = ("policy.kind", "algo.kind")  # settings that determine which other settings exist


@dataclass(frozen=True)
class Train:
    """Train a policy (with PPO or another --algo.kind), then evaluate it and write a video of its best game.

    All results are written to runs/NAME: resolved config, metrics (CSV, Parquet, TensorBoard), checkpoints,
    evaluation.json, episode.mp4. Ctrl-C saves a checkpoint and stops. ante train --help lists all settings.

    Try:
      ante train
      ante train --presets
      ante train --preset quick --name first
      ante train --games.deck b_blue --steps 2000000 --algo.lr 2e-4
      ante train --config mine.yaml --seed 1
      ante train --policy.kind lstm --policy.memory 256
      ante train --games.start-states ante4.states --name late      (ante replay states writes such a file)
      ante train --from white-stake --games.stake 2 --steps 4000000 --name red-stake
      ante train --from runs/first --algo.lr 1e-4 --algo.critic-warmup 20 --name second
      ante train --resume runs/first --steps 1000000
      ante train --name first --store s3://game-runs/runs --resume auto

    Without --preset and --config, the preset laptop is used. If --policy.kind or --algo.kind selects another kind, no
    preset is used, and each setting has its own default. The first line of the output names the preset.

    --from starts a new run with the weights of a run's best checkpoint or of a release; policy.kind and the sizes of the
    network must be the same. --resume continues a run itself, with its own settings.

    With --store the run is also stored in a bucket. --resume auto then continues it on any machine, or starts it if it
    does not exist yet, for example in a pod that may be restarted (docs/how-to/artifacts.md).
    """

    preset: str | None = None
    """Preset with all settings, by name or as a file such as best.yaml of a sweep; flags override single settings."""
    presets: bool = False
    """List all presets."""
    config: Path | None = None
    """YAML file of settings, instead of a preset; flags override single settings."""
    resume: str | None = None
    """Folder of a run to continue; or latest: the newest checkpoint of run --name, local or in its --store; or auto:
    the same, or a new run if it does not exist."""

    def run(self) -> int:
        """Unused: `train_command` also parses the settings."""
        raise AssertionError


def train_command(arguments: Sequence[str]) -> int:
    """Run `ante train`, with a flag for each setting; defaults come from a preset, --config or the resumed run."""
    from rich.console import Console

    from ante.tables import stages
    from ante.training.run_store.lock import check_free
    from ante.training.run_store.start import check_start
    from ante.training.settings.config import check_resumed

    chosen = chosen_early(arguments)
    base, before = defaults(chosen, "--help" in arguments or "-h" in arguments)
    command, settings = parsed(arguments, chosen, base)
    if command.presets:
        return list_presets()
    if before:
        check_resumed(before, settings)
    else:
        check_start(settings.init_from)
    if not command.resume:
        check_free(settings.folder)
    if note := origin(chosen, before):
        print(f"ante: {note}", file=sys.stderr, flush=True)
    # SPEED: waiting threads sleep instead of spinning; otherwise training next to other processes is ten times slower.
    # OpenMP reads this when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with stages(Console(stderr=True)) as show_stage:
        show_stage("loading PyTorch and Ray")
        from ante.training.failures import original
        from ante.training.run.loop import train

    compile_missing()  # before Ray's processes compile, each for itself and in silence
    try:
        train(settings, resume=command.resume is not None, webhook=os.environ.get("ANTE_WEBHOOK_URL", ""))
    except (ModuleNotFoundError, BrokenPipeError):
        raise
    except Exception as error:
        if sentence_of(cause := original(error)) is not None:
            raise cause from error
        return bug_in_run(error, settings.folder)
    return 0


def parsed(arguments: Sequence[str], chosen: Namespace, base: "TrainConfig") -> "tuple[Train, TrainConfig]":
    """Return the options that are not settings, and the settings: those of `base`, changed by flags. Raises BadConfig."""
    from ante.cli.learn.train_flags import parse
    from ante.training.settings.config import make_config, merge

    values = merge(base.model_dump(), kinds_of(chosen))
    given = {name: getattr(chosen, name) for name in ("preset", "presets", "config", "resume")}
    command, changes = parse(arguments, Train, given, values)
    return command, make_config(merge(values, changes))


def kinds_of(chosen: Namespace) -> dict[str, str]:
    """Return the kinds that flags choose, by setting."""
    return {path: kind for path in KINDS if (kind := getattr(chosen, path))}


def origin(chosen: Namespace, before: "TrainConfig | None") -> str:
    """Return where the settings of a new run come from, for its first line; empty for a file and a resumed run."""
    from ante.training.presets.lookup import preset_names, read_preset
    from ante.training.settings.config import default_preset

    if before or chosen.config or (chosen.preset and chosen.preset not in preset_names()):
        return ""
    if name := chosen.preset or default_preset(kinds_of(chosen)):
        preset = read_preset(name)
        return f"preset {name}: {preset.about}; {preset.time} on two cores (others: ante train --presets)"
    kinds = " and ".join(f"{path} {kind}" for path, kind in kinds_of(chosen).items())
    return f"no preset: defaults of each setting, with {kinds} (ante train --presets lists presets)"


def list_presets() -> int:
    """Print a line for each preset."""
    from ante.tables import FittedTable, paper
    from ante.training.presets.lookup import DEFAULT, preset_names, read_preset

    table = FittedTable("preset", "what it trains", "on two cores", "reaches", optional=("reaches",))
    for name in preset_names():
        preset = read_preset(name)
        table.add_row(f"{name} (default)" if name == DEFAULT else name, preset.about, preset.time, preset.reaches)
    paper().print(table)
    return 0


def chosen_early(arguments: Sequence[str]) -> Namespace:
    """Return the options that determine which other flags exist, and their defaults."""
    early = ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--config", type=Path)
    early.add_argument("--presets", action="store_true")
    for name in ("preset", "resume", *WHERE, *KINDS):
        early.add_argument(f"--{name}", dest=name)
    chosen, _ = early.parse_known_args(arguments)
    if chosen.store:
        from ante.storage.store import split_url

        split_url(chosen.store)  # checked first, because other messages may show a value with a secret
    if chosen.preset and chosen.config:
        raise BalatroError("--preset and --config exclude each other: give one of them, and flags for single settings")
    for name in ("preset", "config"):
        if getattr(chosen, name) and chosen.resume and chosen.resume not in BY_NAME:
            raise BalatroError(f"--{name} and --resume RUN exclude each other: a resumed run has its own config.yaml")
    for name in ("name", "runs"):
        if getattr(chosen, name) and chosen.resume and chosen.resume not in BY_NAME:
            raise BalatroError(
                f"--{name} and --resume {chosen.resume} exclude each other: a folder names its run; to begin another run "
                f"with its weights, use --from {chosen.resume}"
            )
    return chosen


def defaults(chosen: Namespace, shows_help: bool) -> tuple["TrainConfig", "TrainConfig | None"]:
    """Return the settings that flags override, and those of the resumed run, if any."""
    from ante.training.presets.lookup import settings_file
    from ante.training.settings.config import default_config, read_config

    file = settings_file(chosen.preset) if chosen.preset else chosen.config
    base = read_config(file) if file else default_config(kinds_of(chosen))
    if not chosen.resume or shows_help:
        return base, None
    from ante.training.settings.config import config_of_run

    if chosen.resume not in BY_NAME:
        before = config_of_run(Path(chosen.resume))
        return before, before
    from ante.training.run_store.restore import known_config

    given = {name: getattr(chosen, name) for name in WHERE if getattr(chosen, name)}
    base = base.with_changes(given)
    found = known_config(base, lambda words: print(f"ante: {words}", file=sys.stderr))
    if found is None and chosen.resume == "latest":
        where = f"{base.runs} or {base.store}" if base.store else f"{base.runs}: add its --store"
        raise BalatroError(f"no checkpoint of run {base.name} in {where}; --resume auto would start the run")
    return (found if found and not file else base), found


@dataclass(frozen=True)
class Export:
    """Export a run's policy as a folder of plain files: weights, settings and a model card.

    Every command that accepts the folder of a run, such as `ante eval`, also accepts an exported folder. To record the
    new digest of an edited model card, pass the exported folder as both arguments.

    Try:
      ante export runs/laptop models/mine
      ante eval models/mine --panel
    """

    run_folder: Positional[Annotated[Path, arg(metavar="RUN")]]
    """Folder of the run."""
    folder: Positional[Annotated[OutFolder, arg(metavar="FOLDER")]]
    """Output folder; an existing model card is not changed."""
    checkpoint: str = "best"
    """Checkpoint of the run: best or latest."""

    def run(self) -> int:
        """Write the files and list them."""
        from ante.training.players.release import write_release

        write_release(self.run_folder, self.folder, self.checkpoint)
        size = sum(file.stat().st_size for file in self.folder.iterdir())
        print(f"{self.folder}: {size / 1e6:.1f} MB; add its results to the model card README.md")
        return 0


@dataclass(frozen=True)
class Curves:
    """Draw the learning curves of runs as one image: blinds, ante, wins, entropy.

    Try:
      ante curves runs/laptop
      ante curves runs/one runs/two --out both.png --title "Two seeds"
    """

    runs: Positional[Annotated[tuple[Path, ...], arg(metavar="RUN ...")]]
    """Folders of runs."""
    out: PictureFile | None = None
    """Image file; curves.png in the first run's folder by default."""
    title: str = ""
    """Title of the image."""

    def run(self) -> int:
        """Draw the curves. Raises NoCurves."""
        from ante.watch.curves import draw_curves, read_curves

        if not self.runs:
            raise BalatroError("no run was given: try ante curves runs/NAME")
        file = self.out or self.runs[0] / "curves.png"
        print(draw_curves([read_curves(run) for run in self.runs], file, self.title))
        return 0
