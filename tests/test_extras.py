"""Each extra of the wheel alone, in a clean environment: what it promises, also for another user with a read-only HOME.

Needs the network or uv's cache, which holds every pinned package after `make setup`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.test_wheel import NOBODY, ROOT, built, interpreter_of_all

pytest.importorskip("hatchling", reason="make setup installs hatchling")
pytestmark = pytest.mark.nightly
GAME = """
import gymnasium
env = gymnasium.make("ante.env:ante/Balatro-v1")
env.reset(seed=1)
for _ in range(20):
    env.step(env.action_space.sample())
print("played")
"""
DEVICE = """
from ante.engine.drivers import cuda
print(cuda.__name__)
"""
PAGES = """
from ante.http.server import HttpServer
import prometheus_client
print("served")
"""
RACE = """
from ante.race.environments import ParallelRaceEnv
ParallelRaceEnv().reset(seed=1)
print("raced")
"""
TOOLS = """
from pathlib import Path
from ante.serve.mcp.server import NAMES, server_of
server_of(Path("."), lambda name: None)
print(*NAMES)
"""
SERVICE = """
import asyncio
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.models import Source, first_decider
from ante.serve.decisions.server import Options, serving

async def main():
    async with serving(Desk(*first_decider(Source("white-stake"))), Options(port=0)):
        print("served")

asyncio.run(main())
"""
TINY = "--steps 4096 --evaluation.games 4 --resources.games-per-runner 16 --algo.batch 2048 --algo.minibatch 512"
# Commands of each extra, and a word of their output.
PROMISES = {
    "": [(["-c", GAME], "played")],
    "cli": [
        ("seed TESTSEED", "Joker"),
        ("eval rules --games 3", "rules"),
        ("replay record greedy --seed TESTSEED", "seed TESTSEED"),
        ("fuzz --decisions 2000", "nothing broken"),
    ],
    "watch": [
        ("replay record greedy --seed TESTSEED --out game.txt", ""),
        ("watch game.txt --video game.mp4", "game.mp4"),
    ],
    "train": [(f"train --preset quick --name tiny {TINY}", "report.html"), ("curves runs/tiny", "curves")],
    "gpu": [(["-c", DEVICE], "cuda")],
    "s3": [("artifacts ls store", "publication")],
    "sb3": [(f"train --algo.kind sb3-maskable-ppo --name tiny {TINY}", "report.html")],
    "data": [("data export greedy --out data --games 3", ""), ("data stats data", "3")],
    "hints": [("hints ask TESTSEED@8", "rules")],
    "knowledge": [("know pair baron mime", "Mime + Baron")],
    "graphql": [(["-c", "from ante.serve.graphql.schema import SCHEMA; print(SCHEMA.as_str()[:12])"], "type")],
    "knowledge-bolt": [(["-c", "import neo4j; print(neo4j.__version__)"], "6.")],
    "metrics": [(["-c", PAGES], "served")],
    "race": [(["-c", RACE], "raced")],
    "mcp": [(["-c", TOOLS], "inspect_seed")],
    "track": [("track --help", "wandb")],
    "notebook": [(["-m", "jupyterlab", "--version"], "4.")],
    "serve": [("serve decisions --help", "grpc"), (["-c", SERVICE], "served")],
    "bus": [
        ("eval greedy --games 3 --events events.sqlite", "greedy"),
        ("events archive events.sqlite --to archive", "events"),
        ("events query archive", "ante.v1.game.ended"),
    ],
    "questdb": [
        (["-c", "from ante.events.questdb_sink import statement_of; print(statement_of('game_ended'))"], "DEDUP")
    ],
    "cluster": [("images --quiet", "ray"), ("cluster render --name tiny", "RayJob")],
}


@dataclass(frozen=True)
class Place:
    """What all environments share: the wheel, a Python that any user may run, and compiled code."""

    folder: Path
    wheel: Path
    python: str
    everybody: bool

    def install(self, extra: str) -> Path:
        """Return the Python of a new environment with the wheel and one extra, in the pinned versions."""
        uv, venv = str(Path(sys.executable).with_name("uv")), self.folder / f"venv-{extra}"
        wanted = f"ante-balatro[{extra}] @ file://{self.wheel}" if extra else str(self.wheel)
        subprocess.run([uv, "venv", "--quiet", "--python", self.python, str(venv)], check=True)
        command = [uv, "pip", "install", "--quiet", "--python", str(venv), "-c", "requirements/all.txt", wanted]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return venv / "bin" / "python"

    def variables(self, home: Path) -> dict[str, str]:
        """Return the environment of a process with this home."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG", "ANTE"))}
        return {**kept, "HOME": str(home), "ANTE_CACHE_DIR": str(self.folder / "cache"), "COLUMNS": "120"}

    def start(self, python: Path, words: list[str] | str, cwd: Path, home: Path, user: int) -> subprocess.Popen[str]:
        """Start a command of Ante, or of Python, as a user."""
        parts = ["-m", "ante.cli", *words.split()] if isinstance(words, str) else words
        other = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        return subprocess.Popen(
            [*other, str(python), *parts],
            cwd=cwd,
            env=self.variables(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = os.name == "posix" and os.geteuid() == 0
    python = (interpreter_of_all() if root else None) or os.path.realpath(sys.executable)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        place = Place(folder, built(ROOT, "wheel", tmp_path_factory.mktemp("wheel")), python, root)
        shutil.copy(place.wheel, folder)
        python = place.install("cli")
        subprocess.run([str(python), "-m", "ante.cli", "warmup"], env=place.variables(folder), check=True)
        subprocess.run(["chmod", "-R", "a+rwX", str(folder / "cache")], check=True)
        yield place


def ends(process: subprocess.Popen[str], expected: str) -> None:
    said = process.communicate(timeout=900)[0]
    assert process.returncode == 0 and expected in said, said[-3000:]


@pytest.mark.parametrize("extra", PROMISES, ids=lambda extra: extra or "none")
def test_an_extra_alone_does_what_it_promises(extra: str, place: Place) -> None:
    python = place.folder / "venv-cli" / "bin" / "python" if extra == "cli" else place.install(extra)
    own = place.folder / f"own-{extra}"
    own.mkdir()
    for words, expected in PROMISES[extra]:
        ends(place.start(python, words, own, own, 0), expected)
    if not (place.everybody and interpreter_of_all()):
        pytest.skip("another user: only root can start its processes, of a Python that it may run")
    home = place.folder / f"home-{extra}"
    home.mkdir(mode=0o555)
    pair = [place.folder / f"{name}-{extra}" for name in ("first", "second")]
    for each in pair:
        each.mkdir()
        each.chmod(0o777)
    for words, expected in PROMISES[extra]:
        for process in [place.start(python, words, each, home, NOBODY) for each in pair]:
            ends(process, expected)
    assert list(home.iterdir()) == []
    shutil.rmtree(place.folder / f"venv-{extra}")
