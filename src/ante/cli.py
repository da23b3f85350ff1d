"""The `ante` command. The only file that knows every layer; each command imports what it needs when it runs."""

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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
    from ante.bench import Part, Row


@dataclass(frozen=True)
class Seed:
    """Print what a seed holds: bosses, tags, vouchers, shops and packs of each ante.

    Try:
      ante seed 2K9H9HN
      ante seed 2K9H9HN --deck b_ghost --stake 8 --json
      ante seed 2K9H9HN --challenge omelette
      printf 'TESTSEED b_red 1\\n' | ante seed -
    """

    seed: Positional[Annotated[str, arg(metavar="SEED|-")]]
    """Game seed, or - to read lines `SEED DECK STAKE` from standard input and print one JSON object per line."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    locked: tuple[str, ...] = ()
    """What the profile has not unlocked: keys such as j_blueprint, or `fresh` for a new profile."""
    antes: int = 8
    """How many antes to list."""
    json: bool = False
    """Print one JSON object (format: docs/seeds.md)."""

    def run(self) -> int:
        """Print the survey."""
        from ante.engine.survey import survey

        if self.seed == "-":
            for number, line in enumerate(sys.stdin, 1):
                found = survey(*parse_line(line, number), antes=self.antes, locked=locked_keys(self.locked))
                print(json.dumps(found))
            return 0
        found = survey(self.seed, self.deck, self.stake, self.antes, self.challenge, locked_keys(self.locked))
        if self.json:
            print(json.dumps(found))
        else:
            print_survey(found)
        return 0


def locked_keys(words: Sequence[str]) -> str | Sequence[str]:
    """What --locked names: keys, or the one word `fresh`."""
    return words[0] if len(words) == 1 else words


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


BENCH_PARTS = ("engine", "env", "profile", "start")


@dataclass(frozen=True)
class Bench:
    """Measure speed and memory; what the figures mean stands in docs/performance.md.

    engine   decisions a second with the legal mask, for batches of 1 to 65,536 games and two threads; copies; bytes
    env      the same with observations; steps of the vector environment
    profile  nanoseconds of a decision by its verb, of mask and observation: where the time goes
    start    seconds to import, to a first game, and with --cold to compile everything
    gpu      decisions a second on a CUDA device (docs/gpu.md); only where asked for
    train    steps a second of training: the fast path, stock RLlib and a hand-written loop, in turns (when named)

    Try:
      ante bench engine
      ante bench engine env --json --out bench.json
      ante bench start --cold       (compiles everything anew, which takes minutes)
      ante bench train
    """

    parts: Positional[tuple[Literal["engine", "env", "profile", "start", "gpu", "train"], ...]] = ()
    """What to measure; everything but gpu and train by default."""
    decisions: int = 500_000
    """Decisions of one repeat; there are six of each measurement."""
    cold: bool = False
    """Measure the first compilation too."""
    json: bool = False
    """Print one JSON object: machine, and rows (keys name, value, unit, low, high, games, threads), profiles."""
    out: Path | None = None
    """Write that JSON to a file too."""

    def run(self) -> int:
        """Measure and print."""
        from rich.console import Console

        from ante import bench
        from ante.doctor import machine

        work: dict[str, Any] = {
            "engine": lambda: bench.engine_rows(self.decisions),
            "env": lambda: bench.environment_rows(max(1, self.decisions // 2)),
            "start": lambda: bench.start_rows(self.cold),
            "gpu": bench.device_rows,
            "train": training_rows,
        }
        parts = self.parts or BENCH_PARTS
        rows: list[bench.Row] = []
        profiles: dict[str, list[bench.Part]] = {}
        with Console(stderr=True).status("") as status:
            for part in parts:
                status.update(f"measuring: {part}")
                rows += work[part]() if part in work else []
            if "profile" in parts:
                profiles = {"real blinds": bench.profile_parts(0), "one-chip blinds": bench.profile_parts(1)}
        text = bench.as_json(rows, profiles, machine())
        if self.out:
            from ante.files import write_text

            write_text(self.out, text)
        if self.json:
            print(text)
        else:
            print_bench(rows, profiles)
        return 0


def training_rows() -> list["Row"]:
    """Rows of `ante bench train`, which needs Ray and torch."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.bench_train import train_rows

    return train_rows()


def print_bench(rows: Sequence["Row"], profiles: dict[str, list["Part"]]) -> None:
    """Measured rows and profiles as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if rows:
        table = Table("what", "games", "threads", "median", "lowest", "highest", "unit")
        for row in rows:
            form = "{:,.2f}" if row.unit in ("s", "x", "us") else "{:,.0f}"
            figures = (form.format(value) for value in (row.value, row.low, row.high))
            table.add_row(row.name, f"{row.games:,}" if row.games else "", str(row.threads), *figures, row.unit)
        console.print(table)
    for name, profile in profiles.items():
        table = Table("part", "of decisions", "ns", "lowest", "highest", "of step time", title=f"random play, {name}")
        for part in profile:
            shares = [f"{share:.1%}" if part.decisions else "" for share in (part.decisions, part.time)]
            times = (f"{value:,.0f}" for value in (part.ns, part.low, part.high))
            table.add_row(part.name, shares[0], *times, shares[1])
        console.print(table)


@dataclass(frozen=True)
class Fuzz:
    """Play random legal decisions over all decks, stakes and challenges, asking for every invariant after each.

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
        from ante.engine.play import N_KINDS, fuzz
        from ante.engine.state import new_states

        games = 4 * N_KINDS
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
    from ante.training.policy import load_policy, make_player

    policy, _ = load_policy(Path(name), checkpoint)
    return make_player(policy, Path(name).name, likeliest)


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
    """File with one game seed a line; the frozen seed panel (1,000 games) by default."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    locked: tuple[str, ...] = ()
    """What the profile has not unlocked: keys such as j_blueprint, or `fresh` for a new profile."""
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
            report = evaluate(
                player,
                seeds,
                self.deck,
                self.stake,
                advance=advance,
                challenge=self.challenge,
                locked=locked_keys(self.locked),
            )
        if self.out:
            from ante.files import write_text

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
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    locked: tuple[str, ...] = ()
    """What the profile has not unlocked: keys such as j_blueprint, or `fresh` for a new profile."""
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
            challenge=self.challenge,
            locked=locked_keys(self.locked),
            discrete=player is None or player.discrete,
            rngs=[one_seed(None)],
        )
        games.reset()
        if player is None:
            from ante.watch.terminal import keyboard, play_by_keys

            with keyboard() as keys:
                play_by_keys(games, console, keys)
        elif self.video:
            from ante.env.text import run_name
            from ante.watch.video import episode_frames, write_video

            title = f"{player.name}: {games.seeds[0]}, {run_name(games.states[0])}"
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
      ante golden check tests/golden/scoring_cases.json --skip balatrolator-035
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
class ShowReplay:
    """Print a replay, or (--line) the whole table as it stood where one of its lines begins.

    Try:
      ante replay show tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt
      ante replay show game.txt --line 40
    """

    file: Positional[Path]
    """Replay to show."""
    line: int | None = None
    """Show the game as it stood before this line, counted from 1."""

    def run(self) -> int:
        """Print it."""
        from rich.console import Console
        from rich.text import Text

        from ante.env.replay import BadReplay, read_file, read_replay, state_at
        from ante.env.text import describe

        text = read_file(self.file)
        with named(self.file):
            read_replay(text)
            if self.line is not None:
                if not 1 <= self.line <= len(text.splitlines()):
                    raise BadReplay(f"there is no line {self.line}: the last one is {len(text.splitlines())}")
                print(describe(state_at(text, self.line)))
                return 0
        console = Console(soft_wrap=True)
        for line in text.splitlines():
            told = line.startswith(" ")
            console.print(Text(line, style="bold" if line.startswith("--") else "dim" if told else ""))
        return 0


@dataclass(frozen=True)
class CheckReplays:
    """Play replays again and name the first line of each that the engine tells otherwise. Exit code 1 where one does.

    Try:
      ante replay check tests/golden/replays/*.txt
      ante replay check game.txt --json
    """

    files: Positional[tuple[Path, ...]]
    """Replays to check."""
    json: bool = False
    """Print a JSON list with the keys file, decisions, equal, line, got, wanted."""

    def run(self) -> int:
        """Play, report."""
        from ante.env.replay import check_replay, read_file, read_replay

        if not self.files:
            raise BalatroError("no replay is named: ante replay check FILE...")
        texts = {}
        for file in self.files:  # all of them are read before the first is played
            texts[file] = read_file(file)
            with named(file):
                read_replay(texts[file])
        rows: list[dict[str, Any]] = []
        with game_bar(len(texts), "replays") as advance:
            for file, text in texts.items():
                found = check_replay(text)
                difference = {"line": None, "got": None, "wanted": None} if found is None else asdict(found)
                decisions = len(read_replay(text)[1])
                rows.append({"file": str(file), "decisions": decisions, "equal": found is None, **difference})
                advance(1)
        if self.json:
            print(json.dumps(rows, indent=1))
        else:
            for row in rows:
                if row["equal"]:
                    print(f"{row['file']}: {row['decisions']} decisions, equal")
                else:
                    print(f"{row['file']}:{row['line']}: differs\n  got    {row['got']}\n  wanted {row['wanted']}")
        return 0 if all(row["equal"] for row in rows) else 1


@dataclass(frozen=True)
class RecordReplay:
    """Let a player play one game and write its replay.

    Try:
      ante replay record --seed TESTSEED
      ante replay record --player runs/ppo --seed 2K9H9HN --deck b_plasma --stake 3 -o game.txt
    """

    seed: str
    """Game seed."""
    player: str = "greedy"
    """random, greedy, or the folder of a run."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """File to write, whole or not at all; standard output by default."""
    checkpoint: str = "best"
    """Which checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Take a policy's likeliest action instead of a sampled one."""

    def run(self) -> int:
        """Play, then write."""
        from ante.agents.record import record_game
        from ante.env.replay import Heading
        from ante.files import write_text

        if self.out and (self.out.is_dir() or not self.out.absolute().parent.is_dir()):
            raise BalatroError(f"cannot write {self.out}: name a file in a folder that exists")
        player = player_of(self.player, self.likeliest, self.checkpoint)
        text = record_game(player, Heading(self.seed, self.deck, self.stake, self.challenge))
        if self.out is None:
            print(text, end="")
        else:
            write_text(self.out, text)
            print(f"{self.out}: {text.splitlines()[-1].removeprefix('end ')}")
        return 0


@contextmanager
def named(file: Path) -> Iterator[None]:
    """A replay that cannot be read is named by its file."""
    from ante.env.replay import BadReplay

    try:
        yield
    except BadReplay as error:
        raise BadReplay(f"{file}: {error}") from None


@dataclass(frozen=True)
class Replay:
    """Show, check or record replays: whole games as text, a line for each decision (format: docs/replays.md).

    Try:
      ante replay show tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt
      ante replay check tests/golden/replays/*.txt
      ante replay record --player greedy --seed TESTSEED --deck b_red --stake 1 -o game.txt
    """

    command: Annotated[
        Annotated[ShowReplay, subcommand("show")]
        | Annotated[CheckReplays, subcommand("check")]
        | Annotated[RecordReplay, subcommand("record")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Do it."""
        return self.command.run()


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
    | Annotated[Replay, subcommand("replay")]
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
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOENT, errno.EISDIR):
            raise
        print(f"ante: cannot read or write: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
