"""The `ante` command. The only package that knows every layer; each command imports what it needs when it runs.

A file for each group of commands; this one lists them and turns what goes wrong into a sentence.
"""

import errno
import os
import select
import signal
import sys
from typing import Annotated, Any

from ante.errors import BalatroError, NotInstalled

try:
    import tyro
    from tyro.conf import subcommand
except ModuleNotFoundError as missing:
    sys.exit(f"ante: {NotInstalled(missing)}")

from ante.cli.artifacts import Artifacts
from ante.cli.bench import Bench
from ante.cli.check_env import CheckEnv
from ante.cli.cluster import Cluster
from ante.cli.compare import Compare
from ante.cli.data import Clone, Data
from ante.cli.doctor import Doctor
from ante.cli.engine import Fuzz, Warmup
from ante.cli.golden import Golden
from ante.cli.hints import Hints
from ante.cli.images import Images
from ante.cli.league import LeagueCommand
from ante.cli.play import Eval, Play
from ante.cli.population import Population
from ante.cli.profile import Profile
from ante.cli.replay import Replay
from ante.cli.reward import RewardCommand
from ante.cli.seeds import Seed
from ante.cli.stats import Stats
from ante.cli.track import Track
from ante.cli.train import Curves, Export, Train, train_command
from ante.cli.watch import Watch

Command = (
    Annotated[Train, subcommand("train")]
    | Annotated[Population, subcommand("population")]
    | Annotated[Eval, subcommand("eval")]
    | Annotated[Play, subcommand("play")]
    | Annotated[Watch, subcommand("watch")]
    | Annotated[Curves, subcommand("curves")]
    | Annotated[Export, subcommand("export")]
    | Annotated[Track, subcommand("track")]
    | Annotated[Seed, subcommand("seed")]
    | Annotated[Warmup, subcommand("warmup")]
    | Annotated[Bench, subcommand("bench")]
    | Annotated[Fuzz, subcommand("fuzz")]
    | Annotated[Golden, subcommand("golden")]
    | Annotated[Replay, subcommand("replay")]
    | Annotated[Doctor, subcommand("doctor")]
    | Annotated[Profile, subcommand("profile")]
    | Annotated[Artifacts, subcommand("artifacts")]
    | Annotated[Data, subcommand("data")]
    | Annotated[Clone, subcommand("clone")]
    | Annotated[Hints, subcommand("hints")]
    | Annotated[Images, subcommand("images")]
    | Annotated[Cluster, subcommand("cluster")]
    | Annotated[LeagueCommand, subcommand("league")]
    | Annotated[Stats, subcommand("stats")]
    | Annotated[Compare, subcommand("compare")]
    | Annotated[RewardCommand, subcommand("reward")]
    | Annotated[CheckEnv, subcommand("check-env")]
)


ABOUT = """Play, study and train on seed-exact Balatro.

Each command explains itself: ante train --help. First steps: ante play, ante eval greedy, ante train.
"""


READER_GONE = 128 + signal.SIGPIPE  # as a shell counts it


def main() -> None:
    """Run one command. A mistake of the user's ends with one sentence and exit code 2."""
    try:
        code = outcome(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        if not nobody_reads():
            raise
        code = READER_GONE
    sys.exit(code)


def outcome(arguments: list[str]) -> Any:
    """The exit code of a command."""
    try:
        if arguments[:1] == ["train"]:
            return train_command(arguments[1:])
        command: Any = tyro.cli(Command, prog="ante", description=ABOUT)  # type: ignore[call-overload]
        return command.run()
    except SystemExit as left:  # tyro, after its help or a mistake
        return left.code
    except BalatroError as error:
        print(f"ante: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"ante: {NotInstalled(error)}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOENT, errno.EISDIR):
            raise
        print(f"ante: cannot read or write: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def nobody_reads() -> bool:
    """Whether whoever read what is printed has gone, such as `head`; then nothing is printed any more."""
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)
    if not watch.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True
