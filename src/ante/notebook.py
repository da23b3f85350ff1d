"""Notebook API: `from ante import train, evaluate, compare`. Results have rich displays.

It uses the settings (`TrainConfig`) and the folders of the command line, so runs can be continued with either.
"""

import base64
import html
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ante.agents.evaluate import Player, Report
from ante.agents.evaluate import evaluate as play_all
from ante.agents.seed_lists import evaluation_seeds, read_seeds
from ante.checks import BadValue, is_list, whole_number
from ante.engine.run import seed_text
from ante.errors import BalatroError
from ante.experiments.spec import Spec, make_spec, read_spec
from ante.training.players.by_name import player_of
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.settings.config import (
    TrainConfig,
    check_resumed,
    config_of_run,
    default_config,
    kinds_in,
    read_config,
)

if TYPE_CHECKING:
    import pandas

    from ante.experiments.results import Results

GAMES = 200  # default number of games of an evaluation

__all__ = ["Comparison", "Evaluation", "Run", "TrainConfig", "compare", "evaluate", "train"]


class Run:
    """A run's settings, metrics and files. `Run("runs/ppo")` opens an existing run."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.config = config_of_run(self.folder)

    @property
    def metrics(self) -> "pandas.DataFrame":
        """The rows of metrics.csv, one per iteration. Raises BalatroError if there are none yet."""
        import pandas

        file = self.folder / "metrics.csv"
        if not file.is_file():
            raise BalatroError(f"run {self.folder} has no metrics.csv yet: train it first")
        return pandas.read_csv(file)

    @property
    def steps(self) -> int:
        """Environment steps of the last checkpoint. Raises BadCheckpoint if there is none."""
        return int(find_checkpoint(self.folder / "checkpoints")[1]["timesteps"])

    @property
    def report(self) -> Path:
        """The HTML report, written at the end of the run."""
        return self.folder / "report.html"

    @property
    def video(self) -> Path:
        """Video of the best game, written at the end of the run."""
        return self.folder / "episode.mp4"

    def player(self, checkpoint: str = "best", likeliest: bool = False) -> Player:
        """Return the run's policy as a player. Raises BadCheckpoint."""
        return player_of(str(self.folder), likeliest, checkpoint)

    def evaluate(self, games: int | None = None, **how: Any) -> "Evaluation":
        """Evaluate the run; see `evaluate`."""
        return evaluate(self, games=games, **how)

    def curves(self) -> Path:
        """Draw the learning curves to an image in the run's folder. Raises NoCurves."""
        from ante.watch.curves import draw_curves, read_curves

        return draw_curves([read_curves(self.folder)], self.folder / "curves.png")

    def __repr__(self) -> str:
        """Return a one-line summary with the progress."""
        return f"<Run {self.folder}: {self.config.algo.kind}, {self.config.policy.kind}, {self._standing()}>"

    def _standing(self) -> str:
        if not (self.folder / "metrics.csv").is_file() or self.metrics.empty:
            return "not started"
        last = self.metrics.iloc[-1]
        return f"{int(last.steps):,} of {self.config.steps:,} steps, {last.blinds:.2f} blinds, ante {last.ante:.2f}"

    def _repr_html_(self) -> str:
        """Return the summary with learning curves, for notebooks."""
        if not (self.folder / "metrics.csv").is_file() or self.metrics.empty:
            return f"<p>{html.escape(repr(self))}</p>"
        from ante.watch.curves import figure_of, read_curves

        drawn = io.BytesIO()
        figure_of([read_curves(self.folder)]).savefig(drawn, format="png")
        picture = base64.b64encode(drawn.getvalue()).decode()
        return f'<p>{html.escape(repr(self))}</p><img src="data:image/png;base64,{picture}" style="max-width:900px">'


@dataclass(frozen=True)
class Evaluation:
    """Reports of players on the same games."""

    reports: tuple[Report, ...]

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """One row per player: shares and means with the bounds of their 95 % intervals."""
        import pandas

        return pandas.DataFrame([_row(report) for report in self.reports]).set_index("player")

    @cached_property
    def games(self) -> "pandas.DataFrame":
        """One row per player and game: seed, outcome, ante, blinds, decisions, reward."""
        import pandas

        names = ("seed", "outcome", "ante", "blinds", "decisions", "reward")
        rows = [
            {"player": report.player, **{name: getattr(record, name) for name in names}}
            for report in self.reports
            for record in report.records
        ]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        """Return the table as text."""
        return f"{self.reports[0].games} games on the same seeds\n{self.table.round(3).to_string()}"

    def _repr_html_(self) -> str:
        return f"<p>{self.reports[0].games} games on the same seeds</p>{self.table.round(3).to_html()}"


def _row(report: Report) -> dict[str, Any]:
    wins, ante, blinds = report.wins, report.mean_ante_half_width, report.mean_blinds_half_width
    return {
        "player": report.player,
        "games": report.games,
        "wins": wins.rate,
        "wins_low": wins.low,
        "wins_high": wins.high,
        "ante": report.mean_ante,
        "ante_low": report.mean_ante - ante,
        "ante_high": report.mean_ante + ante,
        "blinds": report.mean_blinds,
        "blinds_low": report.mean_blinds - blinds,
        "blinds_high": report.mean_blinds + blinds,
        "reward": report.mean_reward,
        "decisions": report.mean_decisions,
    }


def settings_of(config: TrainConfig | str | Path | None, changed: dict[str, Any]) -> TrainConfig:
    """Return a configuration from an object, a file, or a preset, with overrides. Raises BadConfig, UnknownPreset."""
    if isinstance(config, (str, Path)):
        return read_config(Path(config), changed)
    return (config or default_config(kinds_in(changed))).with_changes(changed)


def train(config: TrainConfig | str | Path | None = None, *, resume: bool = False, **settings: Any) -> Run:
    """Train and evaluate as `ante train` does, and return the run.

    config    settings, a settings file, or a preset's name; the default preset as `ante train` has it if omitted
    resume    continue the run of this name, or start it if there is none
    settings  overrides: train("quick", name="first", algo={"lr": 1e-3})

    Raises the errors of `ante.training.run.loop.train`. Interrupting the kernel stops the run with a checkpoint.
    """
    chosen = settings_of(config, settings)
    if resume and any((chosen.folder / "checkpoints").glob("*.json")):
        check_resumed(config_of_run(chosen.folder), chosen)
    # SPEED: as in `ante train`; torch reads it on import.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from ante.training.run.loop import train as run

    return Run(run(chosen, resume))


def evaluate(
    *players: str | Path | Run | Player,
    games: int | None = None,
    seeds: str | Path | Sequence[str] | None = None,
    checkpoint: str = "best",
    likeliest: bool = False,
    advance: Callable[[int], None] = lambda _: None,
    **rules: Any,
) -> Evaluation:
    """Evaluate players on the same games, as `ante eval` does.

    players     random, greedy, rules, a run, a release, or an object with the interface `agents.evaluate.Player`
    games       number of games, on the seeds of `ante eval` or the first of `seeds`; by default 200, or all of `seeds`
    seeds       a file with one seed per line, or a list
    checkpoint, likeliest   the checkpoint of a run, and whether its policy always takes the likeliest action
    advance     called with the number of games that just ended
    rules       deck, stake, challenge, locked, reward as in `agents.evaluate.evaluate`

    Raises BalatroError.
    """
    if not players:
        raise BalatroError('no player was given: try evaluate("greedy")')
    chosen = game_seeds(games, seeds)
    found = [seated(player, likeliest, checkpoint) for player in players]
    return Evaluation(tuple(play_all(player, chosen, advance=advance, **rules) for player in found))


def game_seeds(games: int | None, seeds: str | Path | Sequence[str] | None) -> list[str]:
    """Return the seeds of the games; see `evaluate`. Raises BadValue, BadSeedsFile, UnknownSeed."""
    if games is not None:
        games = whole_number("games", games, 1)
    if seeds is None:
        return evaluation_seeds(games or GAMES)
    if isinstance(seeds, (str, Path)):
        return read_seeds(Path(seeds), games)
    if not is_list(seeds) or not len(seeds):
        raise BadValue("seeds", seeds, "use a file, or a list of one or more game seeds")
    found = [seed_text(seed) for seed in seeds]
    if games is not None and games > len(found):
        raise BadValue("games", games, f"seeds has {len(found)}, so lower games or add seeds")
    return found[:games]


def seated(player: str | Path | Run | Player, likeliest: bool, checkpoint: str) -> Player:
    """Return the player for a name, a run or an object. Raises BalatroError."""
    if isinstance(player, Run):
        return player.player(checkpoint, likeliest)
    return player_of(str(player), likeliest, checkpoint) if isinstance(player, (str, Path)) else player


@dataclass(frozen=True)
class Comparison:
    """The folder and results of a comparison."""

    folder: Path
    results: "Results"

    @property
    def report(self) -> Path:
        """The HTML report."""
        return self.folder / "report.html"

    @property
    def runs(self) -> list[Run]:
        """The runs that have started."""
        return [Run(self.folder / each.folder) for each in self.results.cells if each.state != "missing"]

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """One row per entry and other player: means with the bounds of their 95 % intervals, and training costs."""
        import pandas

        rows = []
        for row in self.results.rows:
            found: dict[str, Any] = {"name": row.name, "seeds": row.seeds}
            for name, each in row.measures.items():
                found |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
            cost = ("seconds", "steps_per_second", "games_per_second", "memory_gb")
            rows.append(found | {name: getattr(row, name) for name in cost})
        return pandas.DataFrame(rows, columns=None if rows else ["name"]).set_index("name")

    def __repr__(self) -> str:
        """Return the table as text, with the number of unfinished runs."""
        left = len(self.results.missing)
        missing = f", {left} of {len(self.results.cells)} runs not finished" if left else ""
        return f"{self.results.title}: {self.folder}{missing}\n{self.table.round(3).to_string()}"

    def _repr_html_(self) -> str:
        return (
            f"<p>{html.escape(self.results.title)}: {html.escape(str(self.report))}</p>{self.table.round(3).to_html()}"
        )


def compare(
    spec: Spec | str | Path | dict[str, Any], out: str | Path, parallel: int = 1, report: bool = False
) -> Comparison:
    """Train entries x seeds at an equal budget and evaluate them on the same games, as `ante compare` does.

    spec      a specification, its file, or a dict with its fields; it is saved in `out`
    out       the folder of the comparison; finished runs in it are not repeated
    parallel  number of concurrent runs
    report    only redraw the report from stored data

    Raises BalatroError; if runs failed, it names their logs.
    """
    from ante.experiments.comparing import prepare, redraw, run
    from ante.experiments.running import Watched, log_of
    from ante.stopping import stopping

    folder = Path(out)
    if report:
        return Comparison(folder, redraw(folder))
    if isinstance(spec, (str, Path)):
        spec = read_spec(Path(spec))
    chosen = make_spec(spec) if isinstance(spec, dict) else spec
    with stopping() as stops:
        results, failed = run(chosen, folder, prepare(chosen, folder), parallel, Watched(), stops)
    if failed:
        raise BalatroError(f"runs failed, see their logs: {', '.join(str(log_of(cell)) for cell in failed)}")
    return Comparison(folder, results)
