"""`ante reward`: which rewards there are, and what each of their terms is good for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg, subcommand

from ante.errors import BalatroError


@dataclass(frozen=True)
class ListRewards:
    """List rewards by name, with the weights of their terms; `reward` and `reward_terms` of a run choose among them.

    Try:
      ante reward list
      ante reward list --json
    """

    json: bool = False
    """Print them as one JSON object."""

    def run(self) -> int:
        """Print them."""
        from ante.cli.shown import show
        from ante.env.reward import REWARDS
        from ante.training.config import TERMS

        rows = [
            {"name": each.name, "about": each.about, "terms": {name: getattr(each, name) for name in TERMS}}
            for each in REWARDS.values()
        ]
        cells = [
            (each.name, *(f"{weight:.4g}" if (weight := getattr(each, name)) else "" for name in TERMS), each.about)
            for each in REWARDS.values()
        ]
        show(rows, ("reward", *TERMS, "what it pays"), cells, self.json)
        return 0


@dataclass(frozen=True)
class Ablate:
    """Train with all terms of a reward and without one after the other, on the same seeds; draw their curves.

    A comparison like those of `ante compare`, with its report, and resumable as they are: the same command goes on.

    Try:
      ante reward ablate configs/quick.yaml --out comparisons/terms --steps 200000
      ante reward ablate --out comparisons/terms --report            (draws the report anew, trains nothing)
    """

    config: Positional[Annotated[Path | None, arg(metavar="CONFIG.yaml")]] = None
    """File of settings, whose reward is taken apart; `shaped` and all other defaults without one."""
    out: Path | None = None
    """Folder of the comparison."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of the runs."""
    steps: int = 200_000
    """Environment steps of each run."""
    eval_games: int = 200
    """Games of each closing evaluation."""
    parallel: int = 1
    """Runs side by side."""
    report: bool = False
    """Draw the report from stored data; nothing is trained."""
    json: bool = False
    """Print everything that was found as one JSON object."""

    def run(self) -> int:
        """Run what is left, print the table. Raises BalatroError."""
        from ante.cli.compare import Compare, run_spec
        from ante.experiments.ablation import ablation

        if self.out is None:
            raise BalatroError("where to? name a folder: ante reward ablate --out comparisons/terms")
        if self.report:
            return Compare(out=self.out, report=True, json=self.json).run()
        spec = ablation(self.config, self.seeds, self.steps, self.eval_games)
        return run_spec(spec, self.out, self.parallel, self.json)


@dataclass(frozen=True)
class RewardCommand:
    """Rewards: what they pay, and what each term is good for.

    Try:
      ante reward list
      ante reward ablate configs/quick.yaml --out comparisons/terms
    """

    command: Annotated[
        Annotated[ListRewards, subcommand("list")] | Annotated[Ablate, subcommand("ablate")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Do it."""
        return self.command.run()
