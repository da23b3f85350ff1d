"""`ante doctor`: what this machine has, how fast it is at training's work, and which rules are implemented."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ante.cli.shown import paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.cost.baseline import Compared


@dataclass(frozen=True)
class Doctor:
    """Say what this machine has and how fast it is, or (--rules) which items of the game are implemented and tested.

    Measured, some ten seconds on one thread: steps a second of the environment and of playing with the policy, and
    milliseconds of one decision by the policy for batches of 1 to 1,024 games (median, 95th and 99th of a hundred).

    Try:
      ante doctor
      ante doctor --no-measure
      ante doctor --save baseline.json
      ante doctor --against baseline.json     (exit code 1 where something has become slower)
      ante doctor --rules --json
    """

    rules: bool = False
    """List every item of the catalogue: where it is implemented, the tests that bear its name, recorded games with it."""
    measure: bool = True
    """Measure too; needs the extra `train` and a warm cache, and says so where they are missing."""
    config: Path | None = None
    """YAML file of a run, whose policy is measured; the default policy without."""
    save: Path | None = None
    """Keep what was measured in this file, as a baseline."""
    against: Path | None = None
    """Compare with the baseline in this file. Judged are rates and median times; exit code 1 where one is worse."""
    tolerance: float = 0.8
    """How good a figure must still be: 0.8 lets a rate fall to 0.8 times what it was, and a time rise to 1 / 0.8."""
    json: bool = False
    """Print one JSON object (machine, policy, figures, regressions), and a list of items with --rules."""

    def run(self) -> int:
        """Print what was found."""
        if self.rules:
            return self._list_rules()
        from ante.doctor import machine, machine_rows

        rows, why_not = machine_rows(), self._why_not_measured()
        if why_not and (self.save or self.against):
            raise BalatroError(f"--save and --against need figures: {why_not}")
        policy, worse = "", []
        compared: list[Compared] = []
        if why_not:
            rows.append({"what": "training", "value": why_not})
        else:
            found, policy, compared = self._measured()
            rows += found
        if self.against:
            from ante.cost.baseline import regressions

            worse = regressions(compared, self.tolerance)
        if self.save:
            from ante.cost.baseline import save_baseline

            save_baseline(self.save, policy, [each.figure for each in compared], machine())
        if self.json:
            figures = [{**asdict(each.figure), "before": each.before, "ratio": each.ratio} for each in compared]
            print(json.dumps({"machine": rows, "policy": policy, "figures": figures, "regressions": worse}, indent=1))
        else:
            print_table(rows)
            print_figures(policy, compared, bool(self.against))
            print(*worse, sep="\n", end="\n" if worse else "")
        return 1 if worse else 0

    def _why_not_measured(self) -> str:
        """Why nothing is measured, in words; empty where it is."""
        from ante.engine.rule import cache_folder

        if not self.measure:
            return "not measured: --no-measure"
        for package in ("ray", "torch"):
            if find_spec(package) is None:
                return f"not measured: {package} is not installed: pip install 'ante[train]'"
        if not (cache_folder("agents") / "complete").exists():
            return "not measured: the engine is not compiled: run ante warmup first"
        return ""

    def _measured(self) -> tuple[list[dict[str, Any]], str, "list[Compared]"]:
        """Rows about Ray and GPUs, the policy in words, and figures, beside those of the baseline where one is named."""
        from rich.console import Console

        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
        with Console(stderr=True).status("measuring: about ten seconds"):
            from ante.cost.baseline import BadBaseline, Compared, compare, read_baseline
            from ante.cost.figures import figures, resource_rows
            from ante.training.config import TrainConfig, read_config

            config = read_config(self.config) if self.config else TrainConfig()
            old = read_baseline(self.against) if self.against else None
            policy, found = figures(config)
        if old is None:
            return resource_rows(config), policy, [Compared(figure, None, None) for figure in found]
        if old[0] != policy:
            raise BadBaseline(f"{self.against} was measured with {old[0]}, now it is {policy}: use the same --config")
        return resource_rows(config), policy, compare(found, old[1])

    def _list_rules(self) -> int:
        """Print every item of the catalogue."""
        from ante.rulebook.table import rules_table

        rows = rules_table()
        if self.json:
            print(json.dumps(rows, indent=1))
        else:
            print_table(rows)
        return 0


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Rows with the same keys as a table."""
    from rich.table import Table

    table = Table()
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*("\n".join(value) if isinstance(value, list) else str(value) for value in row.values()))
    paper().print(table)


def print_figures(policy: str, compared: "Sequence[Compared]", against: bool) -> None:
    """What was measured as a table, beside the baseline where there is one."""
    if not compared:
        return
    from rich.table import Table

    from ante.cost.baseline import told

    table = Table(title=policy)
    for name in ("what", "now", "unit", *(("baseline", "times as good") if against else ())):
        table.add_column(name, justify="left" if name in ("what", "unit") else "right")
    for each in compared:
        cells = [each.figure.name, told(each.figure.value), each.figure.unit]
        if against:
            cells.append("" if each.before is None else told(each.before))
            cells.append("" if each.ratio is None else f"{each.ratio:.2f}")
        table.add_row(*cells)
    paper().print(table)
