"""`ante reward`: list rewards and measure the effect of their terms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg, subcommand

from ante.cli.options import Count, Number, OutFolder
from ante.errors import BalatroError


@dataclass(frozen=True)
class ListRewards:
    """List rewards by name with the weights of their terms, for the settings `games.reward` and `games.reward_terms`.

    The list includes rewards of installed packages (entry point group ante.rewards); rewards written in Python have no
    terms.

    Try:
      ante reward list
      ante reward list --json
    """

    json: bool = False
    """Print the list as one JSON object."""

    def run(self) -> int:
        """Print the list."""
        from ante.cli.shown import show
        from ante.env.reward import REWARDS, find_reward
        from ante.plugins import REWARDS as GROUP
        from ante.plugins import registered
        from ante.training.settings.games import TERMS

        rewards = {name: find_reward(name) for name in (*REWARDS, *registered(GROUP))}
        weights = {name: {term: getattr(each, term, 0.0) for term in TERMS} for name, each in rewards.items()}
        rows = [{"name": name, "about": each.about, "terms": weights[name]} for name, each in rewards.items()]
        cells = [
            (name, *(f"{weight:.4g}" if weight else "" for weight in weights[name].values()), each.about)
            for name, each in rewards.items()
        ]
        show(rows, ("reward", *TERMS, "description"), cells, self.json)
        return 0


@dataclass(frozen=True)
class Ablate:
    """Ablate a reward: train with all terms and without each one in turn, on the same seeds, and draw the curves.

    The result is a comparison as of `ante compare`, with a report; run the same command again to resume it.

    Try:
      ante reward ablate quick --out comparisons/terms --steps 200000
      ante reward ablate --out comparisons/terms --report            (redraws the report without training)
    """

    config: Positional[Annotated[Path | None, arg(metavar="CONFIG")]] = None
    """Settings file or preset whose reward is ablated; the default of each setting, with reward `shaped`, if omitted."""
    out: OutFolder | None = None
    """Folder of the comparison."""
    seeds: tuple[Number, ...] = (0, 1, 2)
    """Training seeds."""
    steps: Count = 200_000
    """Environment steps per run."""
    eval_games: Count = 200
    """Games per final evaluation."""
    parallel: Count = 1
    """Number of concurrent runs."""
    report: bool = False
    """Draw the report from stored data without training."""
    json: bool = False
    """Print all results as one JSON object."""

    def run(self) -> int:
        """Complete the comparison and print the table. Raises BalatroError."""
        from ante.cli.learn.compare import Compare, run_spec
        from ante.experiments.ablation import ablation

        if self.out is None:
            raise BalatroError("--out is required: ante reward ablate --out comparisons/terms")
        if self.report:
            return Compare(out=self.out, report=True, json=self.json).run()
        spec = ablation(self.config, self.seeds, self.steps, self.eval_games)
        return run_spec(spec, self.out, self.parallel, self.json)


@dataclass(frozen=True)
class RewardCommand:
    """List rewards, and measure the effect of their terms.

    Try:
      ante reward list
      ante reward ablate quick --out comparisons/terms
    """

    command: Annotated[
        Annotated[ListRewards, subcommand("list")] | Annotated[Ablate, subcommand("ablate")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
