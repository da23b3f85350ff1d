"""`ante golden`: compare the engine with recorded reference data."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from ante.errors import BalatroError


@dataclass(frozen=True)
class Golden:
    """Compare the engine with recorded reference data: surveyed seeds, whole games, scored hands.

    The format of each file is detected (see tests/golden/README.md). Exit code 1 on any difference.

    Try:
      ante golden check tests/golden/seeds.json.gz tests/golden/traces.jsonl.gz tests/golden/scoring.jsonl.gz
      ante golden check tests/golden/scoring_cases.json --skip balatrolator-035
    """

    what: Positional[Literal["check"]]
    """Action to perform on the files."""
    files: Positional[tuple[Path, ...]]
    """JSON files, plain or gzip."""
    skip: tuple[str, ...] = ()
    """Records to leave out, by id or seed."""
    json: bool = False
    """Print a JSON list with the keys file, form, compared, equal, left_out, differences."""

    def run(self) -> int:
        """Compare and report."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from ante.verification.recorded_truth import check, check_names

        if not self.files:
            raise BalatroError("no file was given: ante golden check FILE...")
        check_names(self.files, self.skip)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        results = []
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            for file in self.files:
                task = bar.add_task(file.name, total=None)
                results.append(
                    check(
                        file,
                        frozenset(self.skip),
                        lambda n, task=task: bar.update(task, total=n),  # type: ignore[misc]
                        lambda task=task: bar.advance(task),  # type: ignore[misc]
                    )
                )
        if self.json:
            print(json.dumps([result.to_json() for result in results], indent=1))
        else:
            for result in results:
                left = f", {result.left_out} left out" if result.left_out else ""
                print(f"{result.file}: {result.form}, {result.equal:,} of {result.compared:,} equal{left}")
                for difference in result.differences:
                    print(f"  {difference}")
        return 0 if all(result.equal == result.compared for result in results) else 1
