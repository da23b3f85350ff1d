"""`ante bench`: speed and memory, as tables or JSON."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from tyro.conf import Positional

from ante.agents.releases import STRONGEST, WHITE_STAKE
from ante.cli.options import Count, Decisions, Fewest, Number, Positive, Workers
from ante.cli.shown import paper
from ante.errors import BalatroError
from ante.files import check_output_file, check_output_folder

if TYPE_CHECKING:
    from ante.bench.engine_speed import Part, Row


AnswerTokens = Annotated[int, Field(ge=60, le=2000)]
Price = Annotated[float, Field(ge=0, le=1e6)]
BENCH_PARTS = ("engine", "env", "profile", "start")
STRENGTH_GAMES, SEARCH_GAMES, LLM_GAMES = 4000, 500, 300
SERVE_RATE, BUS_RATE = 500.0, 1000.0
FOLDER_PARTS = {"strength", "search", "llm"}  # --out is the folder of their results


@dataclass(frozen=True)
class Bench:
    """Measure speed and memory (docs/explanation/performance.md).

    Parts:
      engine     decisions per second with the legal mask, for batches of 1 to 65,536 games and two
                 threads; copies; bytes
      env        the same with observations; steps per second of the vector environment
      profile    nanoseconds per decision by verb, per mask and per observation
      start      seconds to import, to start a first game and, with --cold, to compile everything
      gpu        decisions per second on a CUDA device; steps per second with a policy on it and
                 games on the device or CPU (docs/how-to/gpu.md); only if named
      train      training steps per second of Ante, stock RLlib, SB3 and a hand-written loop,
                 interleaved; fraction of the upper bound; time per part (about five minutes; only
                 if named)
      decision   microseconds per decision of the shortlist policy on one core: list of candidates
                 by phase, forward pass, gradient (a minute; only if named)
      fragments  bytes per learner and driver time per update for 8 to 64 env runners and 4
                 learners, and after losses of runners, which are stubs (minutes; only if named)
      upload     a train step with and without a concurrent 64 MB upload (docs/how-to/artifacts.md;
                 only if named)
      replay     DQN's replay buffer on real positions: bytes, compression relative to float32,
                 steps per second written and sampled (seconds; only if named)
      hints      training steps per second with and without hints: rules, and an LLM that is slow,
                 down, hanging or returning invalid answers; seconds until the alert (about five
                 minutes; only if named)
      strength   minutes of training until a recipe wins as many games as the released policy, less
                 at most 3 points (docs/explanation/performance.md; hours; only if named, and alone)
      search     games won by a policy with search, for each budget, on seeds fixed by a phrase in
                 the folder of --out (docs/explanation/search.md; hours; only if named, and alone)
      llm        leaderboard of players and language models on the same games
                 (docs/how-to/compare.md; hours and the model's price; only if named, and alone)
      serve      milliseconds of a decision over gRPC for 1 to 128 callers, unary, stream and batch,
                 in a closed loop and at --rate (docs/how-to/serve.md; two minutes; only if named,
                 and alone)
      bus        milliseconds from publishing an event to its acknowledgement and to its handler, at
                 --rate, for the log and NATS; then --events events while nats-server is killed
                 --kills times: lost ones, handled twice (docs/how-to/events.md; two minutes; only if
                 named, and alone)
      track      milliseconds of the training loop per row, with and without trackers (a minute;
                 only if named)

    Try:
      ante bench engine
      ante bench engine env --json --out bench.json
      ante bench start --cold       (recompiles everything, which takes minutes)
      ante bench train --json --out train.json
      ante bench upload --store s3://game-runs/bench
      ante bench strength --out strength/laptop              (repeat the command to continue)
      ante bench strength --preset mine.yaml --seeds 0 1 2 3 4 --minutes 10 20 40 --games 2000 --out strength/mine
      ante bench serve --player white-stake --rate 500 --out serve.json
      ante bench bus --out bus.json
      ante bench search --budgets 16ms 64ms --workers 2 --out docs/comparisons/search    (repeat the command to continue)
      ante bench llm --rows random greedy rules white-stake white-stake+16ms --out leaderboard
      ante bench llm --rows llm --url http://llm:8000/v1 --model my-model --key-variable MY_KEY --out leaderboard
    """

    parts: Positional[
        tuple[
            Literal[
                "engine",
                "env",
                "profile",
                "start",
                "gpu",
                "train",
                "decision",
                "fragments",
                "upload",
                "replay",
                "hints",
                "track",
                "strength",
                "search",
                "llm",
                "serve",
                "bus",
            ],
            ...,
        ]
    ] = ()
    """What to measure; by default engine, env, profile and start."""
    decisions: Decisions = 500_000
    """Decisions per repeat; each measurement has a warm-up and five repeats."""
    repeats: Count = 5
    """Repeats of each variant; train, decision, fragments, upload, replay, hints and track only."""
    store: str | None = None
    """Destination of upload: s3://bucket/prefix or a folder. Uploaded objects are deleted at the end."""
    cold: bool = False
    """Also measure the first compilation."""
    json: bool = False
    """Print one JSON object: machine, and rows (keys name, value, unit, low, high, games, threads), profiles."""
    out: Path | None = None
    """Also write that JSON to a file; for strength, search and llm, the folder of their results, by default
    strength/PRESET, search and leaderboard."""
    preset: str = "laptop"
    """Recipe of strength: a preset or a YAML file of settings."""
    seeds: tuple[Number, ...] = (0, 1, 2)
    """Training seeds of strength; a finished measurement can be continued with further ones."""
    minutes: tuple[Positive, ...] = (5, 10, 15, 20, 30, 40, 50, 60)
    """Milestones of strength, in minutes of training time."""
    games: Fewest | None = None
    """Games of strength at each milestone, on seeds that are used only here: 4,000 by default. Games of search for each
    budget: 500 by default. Games of llm, the first ones of the test panel: 300 by default."""
    budgets: tuple[str, ...] = ("4ms", "16ms", "64ms", "250ms")
    """Budgets of search: simulations per decision, such as 200, or milliseconds, such as 16ms; in one phase only, such as
    16ms@shop (blind, hand, boss, cash-out, shop, pack)."""
    workers: Workers = 1
    """Processes that play games of search; its budgets in milliseconds assume a free core for each."""
    player: str = STRONGEST
    """Policy of search, player of serve: a released one, or the folder of a run or a release."""
    url: str | None = None
    """Server of serve as grpc://HOST:PORT, or of bus as nats://HOST:PORT, instead of one that is started for it. Endpoint
    of llm, otherwise LLM_ENDPOINT."""
    rate: Positive | None = None
    """Decisions per second of serve that are due in an open loop, 500 by default; events per second of bus, 1,000."""
    seconds: Positive = 4.0
    """Seconds of each row of serve and bus."""
    events: Count = 60_000
    """Events of bus that are published while its server is killed."""
    kills: Number = 10
    """How many times bus kills its server."""
    rows: tuple[str, ...] = ("random", "greedy", "rules", WHITE_STAKE, STRONGEST)
    """Rows of llm: players, PLAYER+BUDGET for a policy with search, and llm for the language model."""
    model: str | None = None
    """Language model of the row llm, otherwise LLM_MODEL."""
    key_variable: str | None = None
    """Name of the environment variable with its API key, by default LLM_API_KEY."""
    answer_tokens: AnswerTokens = 256
    """Most tokens of its answer."""
    prices: tuple[Price, Price] = (0.0, 0.0)
    """Its dollars per million tokens of requests and of answers."""
    likeliest: bool = False
    """Strength: both policies take their most likely action instead of sampling."""

    def run(self) -> int:
        """Measure and print."""
        if self.out:
            (check_output_folder if FOLDER_PARTS & set(self.parts) else check_output_file)(self.out)
        if "strength" in self.parts:
            return self.run_strength()
        if "search" in self.parts:
            return self.run_search()
        if "llm" in self.parts:
            return self.run_llm()
        if "serve" in self.parts:
            return self.run_serve()
        if "bus" in self.parts:
            return self.run_bus()
        if "upload" in self.parts and self.store is None:
            raise BalatroError("ante bench upload requires --store, such as s3://game-runs/bench")
        from rich.console import Console

        from ante.bench import engine_speed
        from ante.machine import machine
        from ante.tables import stages

        work: dict[str, Any] = {
            "engine": lambda: engine_speed.engine_rows(self.decisions),
            "env": lambda: engine_speed.environment_rows(max(1, self.decisions // 2)),
            "start": lambda: engine_speed.start_rows(self.cold),
            "gpu": lambda: [*engine_speed.device_rows(), *sampled_rows()],
            "train": lambda: training_rows(self.repeats),
            "decision": lambda: decided_rows(self.repeats),
            "fragments": lambda: fragment_rows(self.repeats),
            "upload": lambda: uploading_rows(self.store or "", self.repeats),
            "replay": lambda: replayed_rows(self.repeats),
            "hints": lambda: hinted_rows(self.repeats),
            "track": lambda: tracked_rows(self.repeats),
        }
        parts = self.parts or BENCH_PARTS
        rows: list[engine_speed.Row] = []
        profiles: dict[str, list[engine_speed.Part]] = {}
        with stages(Console(stderr=True)) as show_stage:
            for part in parts:
                if part in work:
                    show_stage(f"measuring: {part}")
                    rows += work[part]()
            if "profile" in parts:
                show_stage("measuring: profile")
                profiles = {
                    "real blinds": engine_speed.profile_parts(0),
                    "one-chip blinds": engine_speed.profile_parts(1),
                }
        text = engine_speed.as_json(rows, profiles, machine())
        if self.out:
            from ante.files import write_text

            write_text(self.out, text)
        if self.json:
            print(text)
        else:
            print_bench(rows, profiles)
        return 0

    def run_strength(self) -> int:
        """Measure time to strength and print its table. Raises BalatroError."""
        if self.parts != ("strength",):
            raise BalatroError("strength takes hours and has its own options: run ante bench strength by itself")
        from ante.cli.checks.strength import run_plan
        from ante.experiments.strength.plan import plan_of

        plan = plan_of(self.preset, self.seeds, self.minutes, self.games or STRENGTH_GAMES, self.likeliest)
        return run_plan(plan, self.out or Path("strength") / plan.recipe, self.json)

    def run_search(self) -> int:
        """Play a campaign of searched games and print its table. Raises BalatroError."""
        if self.parts != ("search",):
            raise BalatroError("search takes hours and has its own options: run ante bench search by itself")
        from ante.cli.checks.search import run_search

        games, out = self.games or SEARCH_GAMES, self.out or Path("search")
        return run_search(self.player, self.budgets, games, self.workers, out, self.json)

    def run_llm(self) -> int:
        """Complete a leaderboard and print its table. Raises BalatroError."""
        if self.parts != ("llm",):
            raise BalatroError("llm takes hours and has its own options: run ante bench llm by itself")
        from ante.cli.checks.leaderboard import Model, run_llm

        model = Model(self.url, self.model, self.key_variable, self.answer_tokens, self.prices)
        return run_llm(self.rows, model, self.games or LLM_GAMES, self.out or Path("leaderboard"), self.json)

    def run_serve(self) -> int:
        """Measure the decision service and print its table. Raises BalatroError."""
        if self.parts != ("serve",):
            raise BalatroError("serve has its own table: run ante bench serve by itself")
        from ante.cli.checks.serve import run_serve

        return run_serve(self.player, self.url, self.rate or SERVE_RATE, self.seconds, self.out, self.json)

    def run_bus(self) -> int:
        """Measure the event buses and print their tables. Raises BalatroError."""
        if self.parts != ("bus",):
            raise BalatroError("bus has its own tables: run ante bench bus by itself")
        from ante.cli.checks.bus import run_bus

        rate = self.rate or BUS_RATE
        return run_bus(self.url, rate, self.seconds, self.events, self.kills, self.out, self.json)


def sampled_rows() -> list["Row"]:
    """Return the rows of `ante bench gpu` that need Ray and torch. Raises NoDevice."""
    from ante.bench.figures import gpu_rows

    return gpu_rows()


def training_rows(repeats: int) -> list["Row"]:
    """Return the rows of `ante bench train`, which needs Ray and torch."""
    if find_spec("sb3_contrib") is None:
        print(
            "ante: skipping SB3 MaskablePPO, which is not installed: pip install 'ante-balatro[sb3]'", file=sys.stderr
        )
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.bench.contest import train_rows

    return train_rows(repeats)


def decided_rows(repeats: int) -> list["Row"]:
    """Return the rows of `ante bench decision`, which needs Ray and torch."""
    from ante.bench.decisions import decision_rows

    return decision_rows(repeats)


def fragment_rows(repeats: int) -> list["Row"]:
    """Return the rows of `ante bench fragments`, which needs Ray and torch."""
    from ante.bench.scale.fragments import fragment_rows

    return fragment_rows(repeats)


def uploading_rows(store: str, repeats: int) -> list["Row"]:
    """Return the rows of `ante bench upload`. Raises BalatroError."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.bench.uploads import upload_rows

    return upload_rows(store, repeats)


def replayed_rows(repeats: int) -> list["Row"]:
    """Return the rows of `ante bench replay`, which needs Ray and torch."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.bench.replay_buffer import replay_rows

    return replay_rows(repeats)


def hinted_rows(repeats: int) -> list["Row"]:
    """Return the rows of `ante bench hints`, which needs Ray, torch and the extra `hints`."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
    from ante.bench.hints import hint_rows

    return hint_rows(repeats)


def tracked_rows(repeats: int) -> list["Row"]:
    """Return the rows of `ante bench track`, which needs Ray, torch and the extra `track`. Raises BalatroError."""
    from ante.training.tracking.tracker import PACKAGES, check_installed

    check_installed(list(PACKAGES))
    from ante.bench.tracking import track_rows

    return track_rows(repeats)


def print_bench(rows: Sequence["Row"], profiles: dict[str, list["Part"]]) -> None:
    """Print measured rows and profiles as tables."""
    from rich.table import Table

    console = paper()
    if rows:
        table = Table("what", "games", "threads", "median", "lowest", "highest", "unit")
        for row in rows:
            form = "{:,.2f}" if row.unit in ("s", "ms", "x", "us") else "{:,.0f}"
            figures = (form.format(value) for value in (row.value, row.low, row.high))
            table.add_row(row.name, f"{row.games:,}" if row.games else "", str(row.threads), *figures, row.unit)
        console.print(table)
    for name, profile in profiles.items():
        heads = ("part", "share of decisions", "ns", "lowest", "highest", "share of step time")
        table = Table(*heads, title=f"random play, {name}")
        for part in profile:
            shares = [f"{share:.1%}" if part.decisions else "" for share in (part.decisions, part.time)]
            times = (f"{value:,.0f}" for value in (part.ns, part.low, part.high))
            table.add_row(part.name, shares[0], *times, shares[1])
        console.print(table)
