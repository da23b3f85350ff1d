"""The `ante` command. The only file that knows every layer; each command imports what it needs when it runs."""

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import tyro
from tyro.conf import Positional, arg, subcommand

from ante.errors import BalatroError


@dataclass(frozen=True)
class Seed:
    """Print what a seed holds: bosses, tags, vouchers, shops and packs of each ante.

    Examples:
      ante seed 2K9H9HN
      ante seed 2K9H9HN --deck b_ghost --stake 8 --json
      printf 'TESTSEED b_red 1\\n' | ante seed -
    """

    seed: Positional[Annotated[str, arg(metavar="SEED|-")]]
    """Game seed, or - to read lines `SEED DECK STAKE` from standard input and print one JSON object per line."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    antes: int = 8
    """How many antes to list."""
    json: bool = False
    """Print one JSON object (format: docs/seeds.md)."""

    def run(self) -> int:
        """Print the survey."""
        from ante.engine.survey import survey

        if self.seed == "-":
            for number, line in enumerate(sys.stdin, 1):
                print(json.dumps(survey(*parse_line(line, number), antes=self.antes)))
            return 0
        found = survey(self.seed, self.deck, self.stake, self.antes)
        if self.json:
            print(json.dumps(found))
        else:
            print_survey(found)
        return 0


def parse_line(line: str, number: int) -> tuple[str, str, int]:
    """One line `SEED DECK STAKE`; deck and stake may be left out."""
    parts = line.split()
    if not 1 <= len(parts) <= 3 or (len(parts) == 3 and not parts[2].isdigit()):
        raise BalatroError(
            f"line {number} is {line.strip()!r}: write SEED, SEED DECK or SEED DECK STAKE, as in TESTSEED b_red 1"
        )
    seed, deck, stake = (*parts, *("", "b_red", "1")[len(parts) :])
    return seed, deck, int(stake)


def print_survey(found: dict[str, Any]) -> None:
    """A readable table of a survey."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"seed {found['seed']}, {found['deck']}, stake {found['stake']}", show_lines=True)
    for column in ("ante", "boss, tags, voucher", "shop after", "row", "packs"):
        table.add_column(column, overflow="fold")
    for ante, facts in enumerate(found["antes"], 1):
        head = f"{facts['boss']}\n{', '.join(facts['tags'])}\n{facts['voucher']}"
        for index, shop in enumerate(facts["shops"]):
            packs = "\n".join(f"{key}: {', '.join(cards)}" for key, cards in shop["packs"])
            first = (str(ante), head) if index == 0 else ("", "")
            table.add_row(*first, shop["after"], ", ".join(shop["row"]), packs)
    Console().print(table)


@dataclass(frozen=True)
class Warmup:
    """Compile the engine into the cache (about two minutes the first time, seconds after).

    Example: ante warmup
    """

    def run(self) -> int:
        """Compile, then say how long it took and where the code lies."""
        from rich.console import Console

        from ante.engine.rule import cache_folder
        from ante.warmup import warm_up

        console = Console(stderr=True)
        with console.status("compiling the engine: about two minutes the first time"):
            seconds = warm_up()
        console.print(f"engine ready after {seconds:.1f} s, cached in {cache_folder()}")
        return 0


@dataclass(frozen=True)
class Bench:
    """Measure the engine: macro decisions per second with the legal mask, copies, bytes per game.

    Examples:
      ante bench
      ante bench --json
    """

    json: bool = False
    """Print rows with the keys name, value, unit, low, high."""
    decisions: int = 2000
    """Decisions of each of the 256 games per repeat."""

    def run(self) -> int:
        """Measure and print."""
        from ante.bench import as_json, engine_rows

        rows = engine_rows(self.decisions)
        if self.json:
            print(as_json(rows))
            return 0
        from rich.console import Console
        from rich.table import Table

        table = Table("what", "median", "lowest", "highest", "unit")
        for row in rows:
            table.add_row(row.name, f"{row.value:,.0f}", f"{row.low:,.0f}", f"{row.high:,.0f}", row.unit)
        Console().print(table)
        return 0


@dataclass(frozen=True)
class Fuzz:
    """Play random legal decisions over all decks and stakes, asking for every invariant after each.

    Example: ante fuzz --decisions 1000000
    """

    decisions: int = 1_000_000
    """How many."""
    seed: int = 1
    """Seed of the random players."""

    def run(self) -> int:
        """Play, report, exit 1 at a broken invariant."""
        import numpy as np

        from ante.engine.invariants import Broken
        from ante.engine.play import fuzz
        from ante.engine.state import new_states

        for one_chip in (0, 1):
            report = np.zeros(4, dtype=np.int64)
            fuzz(new_states(480), self.decisions // 2, self.seed, one_chip, report)
            blinds = "one-chip" if one_chip else "real"
            print(f"{report[0]:,} decisions, {blinds} blinds: {Broken(int(report[1])).name.lower()} broken")
            if report[1]:
                print(f"game {report[2]}, decision {report[3]}", file=sys.stderr)
                return 1
        return 0


@dataclass(frozen=True)
class Doctor:
    """Say what this machine has, or (--rules) which items of the game are implemented and tested.

    Examples:
      ante doctor
      ante doctor --rules --json
    """

    rules: bool = False
    """List every item of the catalogue: kind, item, implemented, tested, evidence."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> int:
        """Print the table."""
        from ante.doctor import machine_rows
        from ante.engine.rulebook import rules_table

        rows: list[dict[str, Any]] = rules_table() if self.rules else machine_rows()
        if self.json:
            print(json.dumps(rows, indent=1))
            return 0
        from rich.console import Console
        from rich.table import Table

        table = Table(*rows[0])
        for row in rows:
            table.add_row(*(str(value) for value in row.values()))
        Console().print(table)
        return 0


Command = (
    Annotated[Seed, subcommand("seed")]
    | Annotated[Warmup, subcommand("warmup")]
    | Annotated[Bench, subcommand("bench")]
    | Annotated[Fuzz, subcommand("fuzz")]
    | Annotated[Doctor, subcommand("doctor")]
)


def main() -> None:
    """Run one command. A mistake of the user's ends with one sentence and exit code 2."""
    command = tyro.cli(Command, prog="ante", description="Play, study and train on seed-exact Balatro.")  # type: ignore[call-overload]
    try:
        code = command.run()
    except BalatroError as error:
        print(f"ante: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
