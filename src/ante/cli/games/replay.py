"""`ante replay`: show, check and record games as text, and save positions from them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, UseAppendAction, arg, subcommand

from ante.cli.options import Count, OutFile, OutFolder, Side, Stake
from ante.cli.players import player_of, searching
from ante.cli.shown import game_bar
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.watch.notes import Note


@dataclass(frozen=True)
class ShowReplay:
    """Print a replay, or (--line) the game state before one of its lines.

    Compact replays from a run's folder are printed with comments.

    Try:
      ante replay show tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt
      ante replay show runs/ppo/episodes/000000300000-2K9H9HN.txt.gz
      ante replay show game.txt --line 40
    """

    file: Positional[Path]
    """Replay to show."""
    line: Count | None = None
    """Show the game state before this line, counted from 1."""

    def run(self) -> int:
        """Print the replay or the state."""
        from rich.console import Console
        from rich.text import Text

        from ante.env.replay import BadReplay, read_file, read_replay, state_at
        from ante.env.text import describe
        from ante.watch.episode import with_words

        text = read_file(self.file)
        with named(self.file):
            text = with_words(text)
            read_replay(text)
            if self.line is not None:
                if not 1 <= self.line <= len(text.splitlines()):
                    raise BadReplay(f"line {self.line} does not exist: the last line is {len(text.splitlines())}")
                print(describe(state_at(text, self.line)))
                return 0
        console = Console(soft_wrap=True)
        for line in text.splitlines():
            style = "bold" if line.startswith("--") else "dim" if line.startswith(" ") else ""
            console.print(Text(line, style=style))
        return 0


@dataclass(frozen=True)
class CheckReplays:
    """Replay games and print the first differing line of each file. Exit code 1 on a difference.

    Try:
      ante replay check tests/golden/replays/*.txt
      ante replay check game.txt --json
    """

    files: Positional[tuple[Path, ...]]
    """Replays to check."""
    json: bool = False
    """Print a JSON list with the keys file, decisions, equal, line, got, wanted."""

    def run(self) -> int:
        """Play the replays and report differences."""
        from ante.env.replay import check_replay, read_file, read_replay
        from ante.watch.episode import check_compact, is_compact

        if not self.files:
            raise BalatroError("no replay was given: ante replay check FILE...")
        texts = {}
        for file in self.files:  # read all replays before playing the first
            texts[file] = read_file(file)
            with named(file):
                read_replay(texts[file])
        rows: list[dict[str, Any]] = []
        with game_bar(len(texts), "replays") as advance:
            for file, text in texts.items():
                found = check_compact(text) if is_compact(text) else check_replay(text)
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
    """Play one game with a player and write its replay.

    Try:
      ante replay record greedy --seed TESTSEED
      ante replay record runs/ppo --seed 2K9H9HN --deck b_plasma --stake 3 -o game.txt
      ante replay record white-stake --seed TESTSEED --likeliest --search 200 -o game.txt    (which decisions search changes)
    """

    player: Positional[str]
    """random, greedy, rules, or the folder of a run or a released policy."""
    seed: str
    """Game seed."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    out: Annotated[OutFile | None, arg(aliases=["-o"])] = None
    """File to write atomically; standard output by default."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Use the policy's most likely action instead of sampling."""
    search: str | None = None
    """Improve each decision by search: simulations per decision, such as 200, or milliseconds, such as 16ms; with --out,
    the decisions that search changed are printed with the reason, and `ante watch FILE --video` shows what was searched."""

    def run(self) -> int:
        """Play the game and write the replay."""
        from ante.agents.record import record_game
        from ante.env.replay import Heading
        from ante.files import write_text
        from ante.watch.notes import notes_beside, write_notes

        player = player_of(self.player, self.likeliest, self.checkpoint)
        if self.search is not None:
            player = searching(player, self.search)
        text = record_game(player, Heading(self.seed, self.deck, self.stake, self.challenge))
        if self.out is None:
            print(text, end="")
        else:
            write_text(self.out, text)
            notes_beside(self.out).unlink(missing_ok=True)  # of a replay that this one replaces
            if self.search is not None:
                write_notes(notes_beside(self.out), player.name, notes := notes_on(text, player))
                print_changes(notes)
            print(f"{self.out}: {text.splitlines()[-1].removeprefix('end ')}")
        return 0


def notes_on(text: str, player: Any) -> "list[Note]":
    """Return the notes of the player that played a recorded game; searches of single games are remembered, not repeated."""
    from ante.env.replay import read_replay
    from ante.watch.episode import Episode, annotate, begin, decided

    heading, actions = read_replay(text)
    return annotate(Episode(begin(heading), decided(actions)), player)


def print_changes(notes: "list[Note]") -> None:
    """Print each decision that search changed, with what was searched."""
    for number, note in enumerate(notes, 1):
        if "; changed: " in note.search:
            print(f"decision {number}: {note.search}")


@dataclass(frozen=True)
class VerifyReplays:
    """Record games as replays, replay them from the text and compare the final records byte by byte.

    Prints games, differences and bytes per game. Exit code 1 if a game ends in a different state.

    Try:
      ante replay verify random --games 1000
      ante replay verify white-stake --games 1000 --json
      ante replay verify greedy --games 50 --words --out replays/
    """

    player: Positional[Annotated[str, arg(metavar="random|greedy|rules|MODEL|RUN")]]
    """Player: random, greedy, or the folder of a run."""
    games: Count = 1000
    """Number of games, on the seeds of `ante eval`."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    out: OutFolder | None = None
    """Folder in which to save the replays, as SEED.txt."""
    words: bool = False
    """Include the description of events, as `ante replay record` does; much slower."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Use the policy's most likely action instead of sampling."""
    json: bool = False
    """Print all results as one JSON object."""

    def run(self) -> int:
        """Record, replay and compare the games."""
        from itertools import chain

        from ante.agents.seed_lists import evaluation_seeds
        from ante.env.replay import Heading
        from ante.files import write_text
        from ante.recording.fidelity import check_fidelity
        from ante.recording.games import Recording, record_games

        seeds = evaluation_seeds(self.games)
        player = player_of(self.player, self.likeliest, self.checkpoint)
        if self.out:
            self.out.mkdir(parents=True, exist_ok=True)

        def keep(game: Recording, text: str) -> None:
            if self.out:
                write_text(self.out / f"{game.heading.seed}.txt", text)

        with game_bar(len(seeds), player.name) as advance:
            batches = record_games(player, seeds, Heading("", self.deck, self.stake, self.challenge), advance=advance)
            found = check_fidelity(chain.from_iterable(batches), keep, self.words)
        if self.json:
            print(json.dumps({"player": player.name, **found.to_json()}, indent=1))
        else:
            print(
                f"{found.games:,} games of {player.name}, {found.decisions:,} decisions: {len(found.differences)} differ\n"
                f"bytes per replay: {found.text_bytes:,.0f} as text (maximum {found.text_bytes_most:,}), "
                f"{found.gzip_bytes:,.0f} with gzip (maximum {found.gzip_bytes_most:,}); "
                f"seed and decisions alone {found.action_bytes:,.0f} with gzip; a record {found.state_bytes:,}\n"
                f"read and replayed in {found.seconds:.1f} s"
            )
            for each in found.differences:
                print(f"{each.seed}: differs in {', '.join(each.fields)}")
        return 1 if found.differences else 0


@dataclass(frozen=True)
class SaveStates:
    """Save positions from replays to a file for ante train --games.start-states and ante play --start-states.

    A game that starts from such a position keeps the seed of the replay, which determines all later draws and offers.

    Try:
      ante replay states tests/golden/replays/*.txt --at ante=3 --out ante3.states
      ante replay states runs/ppo/episodes/*.txt.gz --at round=6 --at decision=100 --out some.states
    """

    files: Positional[tuple[Path, ...]]
    """Replay files."""
    out: Annotated[OutFile, arg(aliases=["-o"])]
    """File to write."""
    at: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="ante=N|round=N|decision=N")] = ()
    """Positions: before the first blind of an ante, at the start of a round, or after a number of decisions. Repeatable.
    Positions that a replay does not reach are skipped."""

    def run(self) -> int:
        """Write the positions and print their number."""
        from ante.recording.starts import BadStarts, Mark, positions, write_starts
        from ante.watch.episode import read_episode

        marks = [Mark.read(text) for text in self.at]
        if not self.files or not marks:
            raise BalatroError("give replays and positions: ante replay states FILE... --at ante=4 --out FILE")
        found = []
        with game_bar(len(self.files), "replays") as advance:
            for file in self.files:
                found += positions(read_episode(file)[1], marks)
                advance(1)
        if not found:
            raise BadStarts(
                f"none of {len(self.files)} replays reaches {' or '.join(self.at)}: choose an earlier point"
            )
        write_starts(self.out, found)
        print(f"{self.out}: {len(found)} positions from {len(self.files)} replays")
        return 0


@dataclass(frozen=True)
class LookAtReplay:
    """Draw the observation of an image-based policy next to the rendered frame (docs/how-to/policies.md).

    Try:
      ante replay look tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt --line 40 --out seen.png
      ante replay look game.txt --line 40 --pixel-size 120 160 --pixel-colour --out seen.png
    """

    file: Positional[Path]
    """Replay file."""
    out: Annotated[OutFile, arg(aliases=["-o"])]
    """PNG file to write."""
    line: Count = 1
    """Game state before this line, counted from 1."""
    pixel_size: tuple[Side, Side] = (84, 112)
    """Height and width of the observation, in pixels."""
    pixel_colour: bool = False
    """Use colour instead of grey."""

    def run(self) -> int:
        """Draw and write the image."""
        from ante.env.replay import BadReplay, read_file, state_at
        from ante.watch.episode import with_words
        from ante.watch.render.pixels import beside, write_picture

        with named(self.file):
            text = with_words(read_file(self.file))
            if not 1 <= self.line <= len(text.splitlines()):
                raise BadReplay(f"line {self.line} does not exist: the last line is {len(text.splitlines())}")
            write_picture(self.out, beside(state_at(text, self.line), self.pixel_size, self.pixel_colour))
        print(self.out)
        return 0


@contextmanager
def named(file: Path) -> Iterator[None]:
    """Add the file's name to errors about a replay."""
    from ante.env.replay import BadReplay

    try:
        yield
    except BadReplay as error:
        raise BadReplay(f"{file}: {error}") from None


@dataclass(frozen=True)
class Replay:
    """Show, check or record replays: games as text, one line per decision (format: docs/reference/formats.md).

    Try:
      ante replay show tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt
      ante replay check tests/golden/replays/*.txt
      ante replay record greedy --seed TESTSEED --deck b_red --stake 1 -o game.txt
    """

    command: Annotated[
        Annotated[ShowReplay, subcommand("show")]
        | Annotated[CheckReplays, subcommand("check")]
        | Annotated[RecordReplay, subcommand("record")]
        | Annotated[VerifyReplays, subcommand("verify")]
        | Annotated[SaveStates, subcommand("states")]
        | Annotated[LookAtReplay, subcommand("look")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
