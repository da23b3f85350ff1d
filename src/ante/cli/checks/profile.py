"""`ante profile`: measure where training spends its time."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ante.cli.options import Count, OutFile
from ante.cli.shown import paper

if TYPE_CHECKING:
    from ante.bench.profile import Profile as Found


@dataclass(frozen=True)
class Profile:
    """Profile training: run a few iterations and print time by part of the iteration and by torch operation.

    Time by part is measured without the profiler, and the parts add up to the whole iteration. The table of operations
    lists each operation's self time; rows that begin with "ante:" are a part's time outside torch, in compiled kernels,
    NumPy and Python. Everything runs in this process, without runner processes and overlap. Only the trace is saved.

    The trace shows all calls on a timeline. To view it, open https://ui.perfetto.dev (it runs in the browser; the file
    is not uploaded), press "Open trace file" and choose it. W and S zoom, A and D pan, a click shows details of a call,
    M marks its duration; search for "ante:" to jump from part to part.

    Try:
      ante profile
      ante profile --config quick --iterations 2 --trace quick.json.gz
    """

    config: Path | None = None
    """YAML file or preset of a run's settings; the default of each setting if omitted."""
    iterations: Count = 3
    """Iterations to measure, followed by the same number to profile; one warm-up iteration runs first."""
    operations: Count = 15
    """Number of operations in the table."""
    trace: OutFile = Path("trace.json")
    """File of the trace, written atomically; compressed if its name ends in .gz."""
    json: bool = False
    """Print one JSON object (steps, parts, all operations) instead of tables."""

    def run(self) -> int:
        """Train, then print."""
        from rich.console import Console

        from ante.tables import stages

        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
        with stages(Console(stderr=True)) as show_stage:
            show_stage(f"training {2 * self.iterations + 1} iterations")
            from ante.bench.profile import profile
            from ante.training.settings.config import TrainConfig, read_config

            config = read_config(self.config) if self.config else TrainConfig()
            found = profile(config, self.iterations, self.trace)
        if self.json:
            print(json.dumps(asdict(found), indent=1))
        else:
            print_profile(found, self.operations)
            print(f"{self.trace}: open it at https://ui.perfetto.dev")
        return 0


def print_profile(found: "Found", operations: int) -> None:
    """Print parts and operations as tables."""
    from rich.table import Table

    total = sum(part.us for part in found.parts)
    title = f"{1e6 / total:,.0f} steps/s, {total:.1f} us per step"
    table = Table("part", "description", "us per step", "share", title=title)
    for part in found.parts:
        table.add_row(part.part, part.about, f"{part.us:.2f}", f"{part.share:.1%}")
    paper().print(table)
    device = any(operation.device_ms for operation in found.operations)
    heads = ("operation", "calls", "CPU ms", *(("device ms",) if device else ()), "share")
    table = Table(*heads, title=f"{found.steps:,} steps under torch's profiler: operations by self time")
    for operation in found.operations[:operations]:
        times = [f"{operation.cpu_ms:,.1f}", *([f"{operation.device_ms:,.1f}"] if device else [])]
        table.add_row(operation.name, f"{operation.calls:,}", *times, f"{operation.share:.1%}")
    paper().print(table)
