"""The `ante` command. Only this package imports from all layers; each command imports its dependencies when it runs.

This module lists the commands, which are grouped in files, and prints errors as one sentence.
"""

import inspect
import os
import re
import select
import shutil
import signal
import sys
import textwrap
from typing import Annotated, Any, Union

from ante import __version__
from ante.cold_start import when_cold
from ante.errors import BalatroError, NotInstalled, close_to

try:
    import tyro
    from tyro.conf import subcommand
except ModuleNotFoundError as missing:
    sys.exit(f"ante: {NotInstalled(missing)}")

from ante.cli.checks.bench import Bench
from ante.cli.checks.check_env import CheckEnv
from ante.cli.checks.doctor import Doctor
from ante.cli.checks.engine import Fuzz, Warmup
from ante.cli.checks.golden import Golden
from ante.cli.checks.profile import Profile
from ante.cli.errors import refused, sentence_of
from ante.cli.games.know import Know
from ante.cli.games.league import LeagueCommand
from ante.cli.games.play import Eval, Play
from ante.cli.games.race import Race
from ante.cli.games.replay import Replay
from ante.cli.games.seeds import Seed
from ante.cli.games.stats import Stats
from ante.cli.games.watch import Watch
from ante.cli.learn.calibrate import Calibrate
from ante.cli.learn.compare import Compare
from ante.cli.learn.data import Clone, Data
from ante.cli.learn.hints import Hints
from ante.cli.learn.reward import RewardCommand
from ante.cli.learn.runs import Runs
from ante.cli.learn.sweep import SweepCommand
from ante.cli.learn.track import Track
from ante.cli.learn.train import Curves, Export, Train, train_command
from ante.cli.options import REGISTRY, check_options, check_words
from ante.cli.platform.artifacts import Artifacts
from ante.cli.platform.cluster import Cluster
from ante.cli.platform.events import Events
from ante.cli.platform.images import Images
from ante.cli.platform.live import Live
from ante.cli.platform.serve import Serve
from ante.cli.shown import compile_missing

GROUPS: dict[str, dict[str, type]] = {
    "Play and watch": {"play": Play, "eval": Eval, "watch": Watch, "replay": Replay, "seed": Seed},
    "Train": {
        "train": Train,
        "runs": Runs,
        "compare": Compare,
        "sweep": SweepCommand,
        "curves": Curves,
        "export": Export,
        "calibrate": Calibrate,
        "track": Track,
        "reward": RewardCommand,
        "hints": Hints,
    },
    "Study players and data": {
        "league": LeagueCommand,
        "race": Race,
        "stats": Stats,
        "know": Know,
        "data": Data,
        "clone": Clone,
    },
    "Serve other programs": {"serve": Serve, "live": Live, "events": Events},
    "Clusters and storage": {"cluster": Cluster, "artifacts": Artifacts, "images": Images},
    "Check and measure": {
        "doctor": Doctor,
        "warmup": Warmup,
        "check-env": CheckEnv,
        "bench": Bench,
        "profile": Profile,
        "golden": Golden,
        "fuzz": Fuzz,
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
Command: Any = Union[tuple(Annotated[command, subcommand(name)] for name, command in COMMANDS.items())]  # noqa: UP007
ABOUT = "Play seed-exact Balatro, train policies for it, and evaluate them."
NEXT_STEPS = """ante COMMAND --help explains a command. First steps: ante play, ante eval greedy, ante train.
Tab completion for bash (or zsh, tcsh):
  ante --tyro-print-completion bash > ~/.local/share/bash-completion/completions/ante"""


class UnknownCommand(BalatroError, ValueError):
    """A command that does not exist."""

    def __init__(self, name: str) -> None:
        near = close_to(name, list(COMMANDS))
        super().__init__(f"unknown command {name[:40]!r}: {f'did you mean {near[0]}?' if near else 'see ante --help'}")


SIGPIPE_CODE = 128 + signal.SIGPIPE  # the shell's exit code for a process ended by SIGPIPE


def main() -> None:
    """Run one command. User errors print one sentence and exit with code 2, as bugs in a training do with code 1."""
    try:
        code = outcome(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        if not is_pipe_closed():
            raise
        code = SIGPIPE_CODE
    sys.exit(code)


def outcome(arguments: list[str]) -> Any:
    """Run a command and return its exit code."""
    try:
        return ran(arguments)
    except SystemExit as left:  # raised by tyro after --help or a usage error
        return left.code
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        return refused(str(NotInstalled(error)))
    except (BalatroError, MemoryError, OSError) as error:
        message = sentence_of(error)
        if message is None:
            raise
        return refused(message)
    except KeyboardInterrupt:
        return 130


def ran(arguments: list[str]) -> Any:
    """Parse the arguments, run the command and return its result."""
    check_words(arguments)
    first = arguments[0] if arguments else "--help"
    if first in ("--help", "-h", "--version"):
        print(f"ante {__version__}" if first == "--version" else overview())
        return 0
    if first == "train":
        return train_command(arguments[1:])
    if first not in COMMANDS and not first.startswith("-"):
        raise UnknownCommand(first)
    command: Any = tyro.cli(Command, prog="ante", description=ABOUT, args=arguments, registry=REGISTRY)  # type: ignore[call-overload]
    check_options(command)
    when_cold(compile_missing)
    return command.run()


def overview() -> str:
    """Return the help text of `ante`: all commands in groups, each with its first sentence."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    lines = ["usage: ante COMMAND [OPTIONS]", "", ABOUT]
    for title, group in GROUPS.items():
        lines += ["", f"{title}:"]
        for name, command in group.items():
            about = re.sub(r" \([^)]*\)", "", " ".join(inspect.getdoc(command).partition("\n\n")[0].split()))  # type: ignore[union-attr]
            sentence = about.split(". ")[0].rstrip(".")
            lines += textwrap.wrap(f"  {name:<11} {sentence}", width, subsequent_indent=" " * 14)
    return "\n".join([*lines, "", NEXT_STEPS])


def is_pipe_closed() -> bool:
    """Return whether the reader of standard output, such as `head`, has exited; if so, discard further output."""
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)
    if not watch.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True
