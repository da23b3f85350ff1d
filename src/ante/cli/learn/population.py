"""`ante population`: population-based training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ante.cli.shown import compile_missing, paper, step_bar


@dataclass(frozen=True)
class Population:
    """Run population-based training: the worst members repeatedly copy the best ones' weights and perturb their settings.

    The file lists common settings, searched settings with their bounds, members, steps and the interval between
    comparisons (see configs/population/small.yaml). To continue an interrupted population, run the same command again.
    The output folder contains population.json, lineage.png and best/, an ordinary run.

    Try:
      ante population configs/population/small.yaml
      ante population configs/population/small.yaml --control          (also trains the members without exploitation)
      ante eval runs/population/best --panel
    """

    file: Positional[Annotated[Path, arg(metavar="FILE")]]
    """YAML file of the population."""
    control: bool = False
    """Also train the initial population without copying between members, for comparison; takes twice the time."""
    json: bool = False
    """Print population.json."""

    def run(self) -> int:
        """Train and print the report."""
        from ante.training.sweeps.space import read_space

        space = read_space(self.file)
        from ante.training.sweeps.population import train_population

        compile_missing()
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
    """Return a table of all members: final settings, training score, blinds on fresh games."""
    from ante.tables import FittedTable

    names = list(outcome.space.search)
    title = f"{outcome.space.folder}: {outcome.space.steps:,} steps each"
    found = FittedTable(title=title, optional=tuple(reversed(names)))
    for name in ("", "member", *names, outcome.space.metric, "blinds in fresh games"):
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
