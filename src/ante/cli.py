"""The `ante` command. The only file that knows every layer; each command imports what it needs when it runs."""

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ante.errors import BalatroError, NotInstalled

try:
    import tyro
    from tyro.conf import Positional, arg, subcommand
except ModuleNotFoundError as missing:
    sys.exit(f"ante: {NotInstalled(missing)}")

if TYPE_CHECKING:
    from ante.agents.evaluate import Player


@dataclass(frozen=True)
class Seed:
    """Print what a seed holds: bosses, tags, vouchers, shops and packs of each ante.

    Try:
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
    """Compile engine, environments and baselines into the cache (minutes the first time, seconds after).

    Try: ante warmup
    """

    def run(self) -> int:
        """Compile, then say how long it took and where the code lies."""
        from rich.console import Console

        from ante.engine.rule import cache_folder
        from ante.warmup import warm_up

        console = Console(stderr=True)
        with console.status("") as status:
            seconds = warm_up(
                lambda part: status.update(f"compiling {part}: about three minutes the first time, in all")
            )
        console.print(f"engine ready after {seconds:.1f} s, cached in {cache_folder()}")
        return 0


@dataclass(frozen=True)
class Bench:
    """Measure engine and environments: decisions per second with mask and observation, copies, bytes, start-up.

    Try:
      ante bench
      ante bench --json
      ante bench --cold       (compiles everything anew, which takes minutes)
    """

    json: bool = False
    """Print rows with the keys name, value, unit, low, high."""
    decisions: int = 2000
    """Decisions of each of the 256 games per repeat."""
    cold: bool = False
    """Measure the first compilation too."""

    def run(self) -> int:
        """Measure and print."""
        from ante.bench import as_json, engine_rows, environment_rows, start_rows

        rows = [*engine_rows(self.decisions), *environment_rows(max(1, self.decisions // 4)), *start_rows(self.cold)]
        if self.json:
            print(as_json(rows))
            return 0
        from rich.console import Console
        from rich.table import Table

        table = Table("what", "median", "lowest", "highest", "unit")
        for row in rows:
            form = "{:,.2f}" if row.unit == "s" else "{:,.0f}"
            table.add_row(row.name, form.format(row.value), form.format(row.low), form.format(row.high), row.unit)
        Console().print(table)
        return 0


@dataclass(frozen=True)
class Fuzz:
    """Play random legal decisions over all decks and stakes, asking for every invariant after each.

    Try: ante fuzz --decisions 1000000
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

        games = 480
        each = -(-self.decisions // (2 * games)) * games
        for one_chip in (0, 1):
            report = np.zeros(4, dtype=np.int64)
            fuzz(new_states(games), each, self.seed, one_chip, report)
            blinds = "one-chip" if one_chip else "real"
            print(f"{report[0]:,} decisions, {blinds} blinds: {Broken(int(report[1])).name.lower()} broken")
            if report[1]:
                print(f"game {report[2]}, decision {report[3]}", file=sys.stderr)
                return 1
        return 0


@dataclass(frozen=True)
class Train:
    """Train a policy with PPO on real games, then evaluate it and write a video of its best game.

    Everything lands in runs/NAME: resolved config, metrics (CSV, Parquet, TensorBoard), checkpoints, evaluation.json,
    episode.mp4. Ctrl-C stops with a checkpoint. See all settings with: ante train --help

    Try:
      ante train
      ante train --config configs/quick.yaml --name first
      ante train --deck b_blue --steps 2000000 --lr 2e-4
      ante train --resume runs/first --steps 1000000
    """

    config: Path | None = None
    """YAML file of settings; flags replace single ones."""
    resume: Path | None = None
    """Folder of a run to go on with."""

    def run(self) -> int:
        """Never called: `train_command` parses the settings too."""
        raise AssertionError


def train_command(arguments: Sequence[str]) -> int:
    """`ante train`: the settings are flags of their own, whose defaults come from --config or --resume."""
    from argparse import ArgumentParser
    from dataclasses import field, make_dataclass

    from ante.training.config import TrainConfig, read_config

    early = ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--config", type=Path)
    early.add_argument("--resume", type=Path)
    chosen, _ = early.parse_known_args(arguments)
    if chosen.config and chosen.resume:
        raise BalatroError("--config and --resume exclude each other: a resumed run has its own config.yaml")
    base = TrainConfig()
    if chosen.config:
        base = read_config(chosen.config)
    elif chosen.resume:
        from ante.training.resume import config_of_run

        base = config_of_run(chosen.resume)
    whole = make_dataclass(
        "Train", [("settings", Annotated[TrainConfig, arg(name="")], field(default=base))], bases=(Train,), frozen=True
    )
    command = tyro.cli(
        whole, prog="ante train", description=Train.__doc__, default=whole(chosen.config, chosen.resume), args=arguments
    )
    settings: TrainConfig = command.settings
    if command.resume:
        from ante.training.resume import check_resumed

        check_resumed(base, settings)
    # SPEED: waiting threads sleep instead of spinning, else training beside other work is ten times slower. Read by
    # OpenMP when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from ante.training.train import train

    train(settings, resume=command.resume is not None)
    return 0


def player_of(name: str, likeliest: bool, checkpoint: str) -> "Player":
    """A baseline by name, or the policy of a run's folder. Raises BalatroError."""
    from ante.agents.baselines import AGENTS, Baseline

    if name in AGENTS:
        return Baseline(name)
    if not Path(name).is_dir():
        raise BalatroError(
            f"there is no player {name!r}: choose {', '.join(AGENTS)}, or a run's folder such as runs/ppo"
        )
    from ante.training.policy import PolicyPlayer, load_policy

    policy, _ = load_policy(Path(name), checkpoint)
    return PolicyPlayer(policy, Path(name).name, likeliest)


@contextmanager
def game_bar(games: int, about: str) -> Iterator[Any]:
    """A progress bar over games; yields what to call with the number that ended."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(about), BarColumn(), MofNCompleteColumn(), TextColumn("games, left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(about, total=games)
        yield lambda ended: bar.advance(task, ended)


@dataclass(frozen=True)
class Eval:
    """Play a fixed list of seeds and count: win rate, mean ante, blinds beaten one by one, with 95 % intervals.

    Try:
      ante eval greedy
      ante eval runs/ppo --games 50
      ante eval random --seeds my-seeds.txt --deck b_plasma --stake 3 --json
    """

    player: Positional[Annotated[str, arg(metavar="random|greedy|RUN")]]
    """A baseline, or the folder of a run."""
    games: int | None = None
    """How many of the seeds; all by default."""
    seeds: Path | None = None
    """File with one game seed a line; the seed panel (100 games) by default."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    checkpoint: str = "best"
    """Which checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Take a policy's likeliest action instead of a sampled one."""
    json: bool = False
    """Print the whole report as one JSON object: every field of Report, games included."""
    out: Path | None = None
    """Write that JSON to a file too."""

    def run(self) -> int:
        """Play, then print."""
        from ante.agents.evaluate import PANEL, evaluate, read_seeds

        seeds = read_seeds(self.seeds or PANEL, self.games)
        player = player_of(self.player, self.likeliest, self.checkpoint)
        with game_bar(len(seeds), player.name) as advance:
            report = evaluate(player, seeds, self.deck, self.stake, advance=advance)
        if self.out:
            from ante.training.checkpoints import write_text

            write_text(self.out, report.to_json())
        if self.json:
            print(report.to_json())
            return 0
        from rich.console import Console

        from ante.agents.report import blinds_table, players_table

        Console().print(players_table([report]))
        Console().print(blinds_table(report))
        return 0


@dataclass(frozen=True)
class Play:
    """Watch a game in the terminal, write it as a video, or play it yourself by keys.

    Try:
      ante play                               (you play: the keys stand beside what they do)
      ante play greedy --seed ABCDEFGH
      ante play runs/ppo --video game.mp4 --size 1280 720
    """

    player: Positional[Annotated[str, arg(metavar="me|random|greedy|RUN")]] = "me"
    """Who plays: you, a baseline, or the folder of a run."""
    seed: str | None = None
    """Game seed; a random one by default."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    video: Path | None = None
    """Write an mp4 here instead of showing text."""
    size: tuple[int, int] = (640, 360)
    """Width and height of the video."""
    delay: float = 0.4
    """Seconds between decisions in the terminal."""
    checkpoint: str = "best"
    """Which checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Take a policy's likeliest action instead of a sampled one."""

    def run(self) -> int:
        """Play one game."""
        import time

        from rich.console import Console

        from ante.env.games import Games, one_seed

        console = Console()
        human = self.player == "me"
        if human and self.video:
            raise BalatroError("--video needs a player: random, greedy or a run's folder")
        player = None if human else player_of(self.player, self.likeliest, self.checkpoint)
        games = Games(
            1,
            self.deck,
            self.stake,
            self.seed,
            reorder="jokers" if human else "none",
            discrete=player is None or player.discrete,
            rngs=[one_seed(None)],
        )
        games.reset()
        if player is None:
            from ante.watch.terminal import keyboard, play_by_keys

            with keyboard() as keys:
                play_by_keys(games, console, keys)
        elif self.video:
            from ante.watch.video import episode_frames, write_video

            title = f"{player.name}: {games.seeds[0]}, {self.deck}, stake {self.stake}"
            frames = write_video(self.video, episode_frames(games, player.choose, *self.size), title=title)
            console.print(f"{self.video}: {frames} frames, seed {games.seeds[0]}")
        else:
            from ante.watch.terminal import watch

            watch(games, player.choose, console, lambda: time.sleep(self.delay))
        return 0


@dataclass(frozen=True)
class Golden:
    """Hold the engine against files of recorded truth: surveyed seeds, whole games, scored hands.

    The form of each file is recognised (tests/golden/README.md describes them). Exit code 1 where anything differs.

    Try:
      ante golden check tests/golden/seeds.json.gz tests/golden/traces.jsonl.gz tests/golden/scoring.jsonl.gz
      ante golden check tests/golden/scoring_cases.json --skip balatrolator-028 balatrolator-035 balatrolator-045
    """

    what: Positional[Literal["check"]]
    """What to do with them."""
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

        from ante.golden.check import check

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


@dataclass(frozen=True)
class Doctor:
    """Say what this machine has, or (--rules) which items of the game are implemented and tested.

    Try:
      ante doctor
      ante doctor --rules --json
    """

    rules: bool = False
    """List every item of the catalogue: where it is implemented, the tests that bear its name, recorded games with it."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> int:
        """Print the table."""
        from ante.doctor import machine_rows
        from ante.rulebook.table import rules_table

        rows: list[dict[str, Any]] = rules_table() if self.rules else machine_rows()
        if self.json:
            print(json.dumps(rows, indent=1))
            return 0
        from rich.console import Console
        from rich.table import Table

        table = Table()
        for name in rows[0]:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*("\n".join(value) if isinstance(value, list) else str(value) for value in row.values()))
        Console().print(table)
        return 0


Command = (
    Annotated[Train, subcommand("train")]
    | Annotated[Eval, subcommand("eval")]
    | Annotated[Play, subcommand("play")]
    | Annotated[Seed, subcommand("seed")]
    | Annotated[Warmup, subcommand("warmup")]
    | Annotated[Bench, subcommand("bench")]
    | Annotated[Fuzz, subcommand("fuzz")]
    | Annotated[Golden, subcommand("golden")]
    | Annotated[Doctor, subcommand("doctor")]
)


ABOUT = """Play, study and train on seed-exact Balatro.

Each command explains itself: ante train --help. First steps: ante play, ante eval greedy, ante train.
"""


def main() -> None:
    """Run one command. A mistake of the user's ends with one sentence and exit code 2."""
    arguments = sys.argv[1:]
    try:
        if arguments[:1] == ["train"]:
            code = train_command(arguments[1:])
        else:
            command: Any = tyro.cli(Command, prog="ante", description=ABOUT)  # type: ignore[call-overload]
            code = command.run()
    except BalatroError as error:
        print(f"ante: {error}", file=sys.stderr)
        code = 2
    except ModuleNotFoundError as error:
        print(f"ante: {NotInstalled(error)}", file=sys.stderr)
        code = 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        print(f"ante: cannot write: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
