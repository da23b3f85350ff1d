"""`ante population`: settings that are searched while training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ante.cli.shown import paper, step_bar


@dataclass(frozen=True)
class Population:
    """Train a population side by side: at every comparison the worst members go on from weights and moved settings of the best.

    The file names the settings that all members share, those that are searched with their bounds, members, steps and the
    distance of comparisons (configs/population/small.yaml explains each). A population that was stopped goes on when the same
    command is given again. Its folder then has population.json, lineage.png, and best/, a run like any other.

    Try:
      ante population configs/population/small.yaml
      ante population configs/population/small.yaml --control          (was it worth it? the same members without taking over)
      ante eval runs/population/best --panel
    """

    file: Positional[Annotated[Path, arg(metavar="FILE")]]
    """YAML file of the population."""
    control: bool = False
    """Train the start population a second time, nobody taking over, and compare: twice the time."""
    json: bool = False
    """Print population.json."""

    def run(self) -> int:
        """Train, report."""
        from ante.training.space import read_space

        space = read_space(self.file)
        from ante.training.population import train_population

        outcome = train_population(space, self.control, step_bar)
        if self.json:
            print((space.folder / "population.json").read_text())
            return 0

        console = paper()
        console.print(table(outcome))
        console.print(outcome.verdict(), soft_wrap=True)
        console.print(f"best     {space.folder / 'best'}\nlineage  {space.folder / 'lineage.png'}")
        return 0


def table(outcome: Any) -> Any:
    """All members: settings at the end, score in training, blinds on the seed panel."""
    from rich.table import Table

    names = list(outcome.space.search)
    found = Table(title=f"{outcome.space.folder}: {outcome.space.steps:,} steps each")
    for name in ("", "member", *names, outcome.space.metric, "blinds on the panel"):
        found.add_column(name, justify="left" if not name else "right")
    for kind, members in (("population", outcome.members), ("alone", outcome.control)):
        for member in sorted(members, key=lambda each: -each.report.mean_blinds):
            last, report = member.points[-1], member.report
            found.add_row(
                kind,
                f"{member.number}",
                *(f"{last.values[name]:.3g}" for name in names),
                f"{last.score:.2f}",
                f"{report.mean_blinds:.2f} ± {report.mean_blinds_half_width:.2f}",
            )
    return found
