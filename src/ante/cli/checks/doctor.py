"""`ante doctor`: hardware and software of this machine, its training speed, and the implemented rules."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ante.cli.options import OutFile, Positive
from ante.cli.shown import paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.bench.regression import Compared
    from ante.training.settings.config import TrainConfig


@dataclass(frozen=True)
class Doctor:
    """Report this machine's setup and training speed, or (--rules) which items of the game are implemented and tested.

    The measurement takes about ten seconds on one thread: steps per second of the environment and of the policy, and
    latency of one policy decision in milliseconds for batches of 1 to 1,024 games (median, 95th and 99th percentile).

    Try:
      ante doctor
      ante doctor --no-measure
      ante doctor --save baseline.json
      ante doctor --against baseline.json     (exit code 1 on a regression)
      ante doctor --rules --json
    """

    rules: bool = False
    """List all items of the game with their implementation, their tests and the number of recorded games with them."""
    measure: bool = True
    """Measure speed; requires the extra `train` and a warm cache, and reports if either is missing."""
    config: Path | None = None
    """YAML file or preset of a run, whose policy is measured; the policy mlp if omitted."""
    save: OutFile | None = None
    """Save the measurements in this file as a baseline."""
    against: Path | None = None
    """Compare rates and median times with the baseline in this file; exit code 1 if one is worse."""
    tolerance: Positive = 0.8
    """Tolerance: with 0.8, a rate may fall to 0.8 times its baseline and a time may rise to 1 / 0.8 of it."""
    json: bool = False
    """Print one JSON object (machine, policy, figures, regressions), and a list of items with --rules."""

    def run(self) -> int:
        """Print the report."""
        if self.rules:
            return self._list_rules()
        from ante.machine import machine, machine_rows
        from ante.training.settings.config import TrainConfig, read_config

        config = read_config(self.config) if self.config else TrainConfig()
        rows, why_not = machine_rows(), self._why_not_measured()
        if why_not and (self.save or self.against):
            raise BalatroError(f"--save and --against need measurements: {why_not}")
        policy, worse = "", []
        compared: list[Compared] = []
        if why_not:
            rows.append({"what": "training", "value": why_not})
        else:
            found, policy, compared = self._measured(config)
            rows += found
        if self.against:
            from ante.bench.regression import regressions

            worse = regressions(compared, self.tolerance)
        if self.save:
            from ante.bench.regression import save_baseline

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
        """Return why the speed cannot be measured, or "" if it can."""
        from ante.engine.core.compile_cache import is_complete

        if not self.measure:
            return "not measured: --no-measure"
        for package in ("ray", "torch"):
            if find_spec(package) is None:
                return f"not measured: {package} is not installed: pip install 'ante-balatro[train]'"
        if not is_complete():
            return "not measured: the engine is not compiled: run ante warmup first"
        return ""

    def _measured(self, config: "TrainConfig") -> tuple[list[dict[str, Any]], str, "list[Compared]"]:
        """Return rows on Ray and GPUs, a description of the policy, and the figures with those of the baseline, if any."""
        from rich.console import Console

        from ante.tables import stages

        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
        with stages(Console(stderr=True)) as show_stage:
            show_stage("measuring: about ten seconds")
            from ante.bench.figures import figures, resource_rows
            from ante.bench.regression import BadBaseline, Compared, compare, read_baseline

            old = read_baseline(self.against) if self.against else None
            policy, found = figures(config)
        if old is None:
            return resource_rows(config), policy, [Compared(figure, None, None) for figure in found]
        if old[0] != policy:
            raise BadBaseline(f"{self.against} was measured with {old[0]}, this is {policy}: use the same --config")
        return resource_rows(config), policy, compare(found, old[1])

    def _list_rules(self) -> int:
        """Print all items of the catalogue."""
        from ante.verification.rule_table import rules_table

        rows = rules_table()
        if self.json:
            print(json.dumps(rows, indent=1))
        else:
            print_table(rows)
        return 0


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows with the same keys as a table."""
    from rich.table import Table

    table = Table()
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*("\n".join(value) if isinstance(value, list) else str(value) for value in row.values()))
    paper().print(table)


def print_figures(policy: str, compared: "Sequence[Compared]", against: bool) -> None:
    """Print the measurements as a table, with the baseline if there is one."""
    if not compared:
        return
    from rich.table import Table

    from ante.bench.regression import figure_text

    table = Table(title=policy)
    for name in ("what", "now", "unit", *(("baseline", "times as good") if against else ())):
        table.add_column(name, justify="left" if name in ("what", "unit") else "right")
    for each in compared:
        cells = [each.figure.name, figure_text(each.figure.value), each.figure.unit]
        if against:
            cells.append("" if each.before is None else figure_text(each.before))
            cells.append("" if each.ratio is None else f"{each.ratio:.2f}")
        table.add_row(*cells)
    paper().print(table)
