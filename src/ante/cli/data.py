"""`ante data`: games as datasets of steps, to learn from and to query."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg, subcommand

from ante.cli.players import player_of
from ante.cli.shown import game_bar, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.agents.evaluate import Player
    from ante.training.datasets.scripts import Script


@dataclass(frozen=True)
class ExportData:
    """Write games as a dataset: Parquet, a row for each step, exact observations (columns: docs/datasets.md).

    The games are those of a player (random, greedy, a run, a release) on fresh seeds, or recorded ones: replay files, or
    folders of them.

    Try:
      ante data export greedy --out data/greedy --games 1000
      ante data export models/white-stake --out data/expert --games 500 --likeliest
      ante data export runs/ppo --out data/ppo --games 200 --seeds my-seeds.txt
      ante data export tests/golden/replays --out data/golden --view flat
    """

    sources: Positional[Annotated[tuple[str, ...], arg(metavar="PLAYER|RUN|REPLAYS")]]
    """One player, or replays."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write; it must not exist."""
    games: int | None = None
    """How many games; 100 of a player and all replays by default."""
    view: Literal["auto", "flat", "shortlist"] = "auto"
    """flat: single clicks, for mlp; shortlist: whole decisions, for shortlist; auto: as the player decides."""
    seed: int = 0
    """Which fresh game seeds a player gets: the same number, the same games."""
    seeds: Path | None = None
    """File with one game seed a line, instead of fresh ones."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: int = 1
    """1 White to 8 Gold."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    reward: str = "shaped"
    """Reward by name: sparse, blinds, shaped or potential."""
    reorder: Literal["auto", "none", "jokers", "all"] = "auto"
    """Re-ordering on offer; auto: what the player makes use of, all for replays."""
    checkpoint: str = "best"
    """Which checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Take a policy's likeliest action instead of a sampled one."""

    def run(self) -> int:
        """Play, write, say what stands there."""
        from ante.training.datasets.export import export
        from ante.training.datasets.write import refuse_existing

        if not self.sources:
            raise BalatroError("no player and no replay is named: try ante data export greedy --out data/greedy")
        if self.games is not None and self.games < 1:
            raise BalatroError(f"--games {self.games}: at least one game is needed")
        refuse_existing(self.out)
        files = self.replay_files()
        player = None if files else player_of(self.one_source(), self.likeliest, self.checkpoint)
        seeds = [] if player is None else self.game_seeds()
        games = len(files) or len(seeds)
        if player is None:
            view, reorder, name = "flat", "all", "replays"
        else:
            view, reorder, name = "flat" if player.discrete else "shortlist", player.reorder, player.name
        view = view if self.view == "auto" else self.view
        with game_bar(games, f"{name}, {view}") as advance:
            steps = export(
                self.out,
                self.scripts(player, files, seeds),
                view,
                self.reward,
                reorder if self.reorder == "auto" else self.reorder,
                judge=self.judge(player, view),
                advance=advance,
                player=name,
                **self.kind(files),
            )
        size = sum(file.stat().st_size for file in self.out.iterdir())
        print(f"{self.out}: {games} games, {steps:,} steps, {size / 1e6:.1f} MB; see ante data stats {self.out}")
        return 0

    def one_source(self) -> str:
        """The player's name. Raises BalatroError where there are several."""
        if len(self.sources) > 1:
            raise BalatroError("one player a dataset: export each into a folder of its own")
        return self.sources[0]

    def replay_files(self) -> list[Path]:
        """The replays that are named, as files; none where a player is named. Raises BalatroError."""
        files: list[Path] = []
        for source in map(Path, self.sources):
            if source.is_file():
                files.append(source)
            elif source.is_dir() and not (source / "config.yaml").is_file():
                files += sorted(source.glob("*.txt"))
                if not files:
                    raise BalatroError(f"{source} is no run, no release, and holds no replays (*.txt)")
        return files[: self.games]

    def kind(self, files: list[Path]) -> dict[str, Any]:
        """What the metadata says of the games."""
        if files:
            return {"replays": len(files)}
        named = {"deck": self.deck, "stake": self.stake, "challenge": self.challenge}
        source = {"seeds": str(self.seeds)} if self.seeds else {"seed": self.seed}
        return {**named, **source, "likeliest": self.likeliest, "checkpoint": self.checkpoint}

    def game_seeds(self) -> list[str]:
        """The seeds that a player gets. Raises BadSeedsFile."""
        from ante.agents.evaluate import read_seeds
        from ante.training.datasets.scripts import fresh_seeds

        return read_seeds(self.seeds, self.games) if self.seeds else fresh_seeds(self.games or 100, self.seed)

    def scripts(self, player: "Player | None", files: list[Path], seeds: list[str]) -> "Iterator[list[Script]]":
        """The games, a batch at a time. Raises BalatroError."""
        from ante.env.replay import Heading
        from ante.training.datasets.export import BATCH
        from ante.training.datasets.scripts import played_scripts, replay_scripts

        if player is None:
            for first in range(0, len(files), BATCH):
                yield replay_scripts(files[first : first + BATCH])
            return
        yield from played_scripts(player, seeds, Heading("", self.deck, self.stake, self.challenge), BATCH)

    def judge(self, player: "Player | None", view: str) -> Any:
        """What fills log_prob and value: the policy that played, where it reads this view."""
        from ante.agents.baselines import AGENTS

        if player is None or player.name in AGENTS:
            return None
        from ante.training.cloning import judge_of
        from ante.training.release import policy_from

        return judge_of(policy_from(Path(self.sources[0]), self.checkpoint), view)


@dataclass(frozen=True)
class DataStats:
    """Say what a dataset holds: games, steps, wins, actions by verb, bytes a step against plain float32.

    Try:
      ante data stats data/greedy
      ante data stats data/greedy --json
    """

    folder: Positional[Annotated[Path, arg(metavar="FOLDER")]]
    """The dataset."""
    json: bool = False
    """Print every figure as one JSON object."""

    def run(self) -> int:
        """Read, print. Raises BadDataset."""
        from ante.training.datasets.read import Dataset
        from ante.training.datasets.summary import summarise

        found = summarise(Dataset(self.folder))
        if self.json:
            print(json.dumps({**asdict(found), "ratio": found.ratio}, indent=1))
            return 0
        from rich.table import Table

        from ante.agents.report import percent

        about = ", ".join(f"{name} {value}" for name, value in found.about.items() if value is not None)
        table = Table(title=str(self.folder), caption=about, show_header=False)
        table.add_row("games", f"{found.games:,}")
        table.add_row("steps", f"{found.steps:,}")
        table.add_row("wins", percent(found.wins))
        table.add_row("blinds beaten", f"{found.mean_blinds:.2f} ± {found.mean_blinds_half_width:.2f}")
        table.add_row("return", f"{found.mean_return:.3f}")
        table.add_row("bytes a step", f"{found.bytes_per_step:.1f}, plain float32 {found.float_bytes:,}")
        table.add_row("ratio", f"{found.ratio:.0f} : 1")
        if found.unlisted:
            table.add_row("not on the shortlist", f"{found.unlisted / found.steps:.1%} of decisions")
        for verb, count in found.verbs.items():
            table.add_row(f"  {verb}", f"{count:,}  {count / found.steps:.1%}")
        paper().print(table)
        return 0


@dataclass(frozen=True)
class Clone:
    """Let a policy learn to decide as a dataset does: behaviour cloning, with a tenth of the games held out.

    View flat teaches the mlp policy, view shortlist the shortlist policy. What comes out is a folder that `ante eval`,
    `ante play` and `ante league` take, with metrics.csv beside it. Values are not learned.

    Try:
      ante data export greedy --out data/greedy --games 500
      ante clone data/greedy --out models/like-greedy
      ante eval models/like-greedy greedy --games 100
    """

    dataset: Positional[Annotated[Path, arg(metavar="DATASET")]]
    """Folder that ante data export wrote."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write."""
    epochs: int = 10
    """Passes over the dataset at most; it ends after two without a better held-out loss."""
    batch: int = 512
    """Steps of a gradient step."""
    lr: float = 1e-3
    """Learning rate of Adam."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the shared layers."""
    held: float = 0.1
    """Share of the games that is held out."""
    seed: int = 0
    """Seed of weights and order."""
    json: bool = False
    """Print the epochs as a JSON list."""

    def run(self) -> int:
        """Learn, write, say how well. Raises BadDataset, NothingToLearn."""
        from rich.console import Console

        from ante.training.cloning import CloneSettings, Epoch, clone
        from ante.training.datasets.read import Dataset

        if self.epochs < 1 or self.batch < 1 or self.lr <= 0 or not 0 < self.held < 1:
            raise BalatroError("--epochs and --batch are 1 at least, --lr is above 0, --held between 0 and 1")
        console = Console(stderr=True)

        def tell(each: Epoch) -> None:
            console.print(
                f"epoch {each.epoch}: {each.train_loss:.3f} nats a decision, held out {each.held_loss:.3f} "
                f"(an even choice {each.uniform:.3f}), {each.steps:,} steps, {each.seconds:.0f} s",
                soft_wrap=True,
            )

        settings = CloneSettings(self.epochs, self.batch, self.lr, self.hidden, held=self.held, seed=self.seed)
        with console.status(f"learning from {self.dataset}"):
            epochs = clone(Dataset(self.dataset), self.out, settings, tell)
        if self.json:
            print(json.dumps([asdict(each) for each in epochs], indent=1))
        else:
            print(f"{self.out}: see how it plays with ante eval {self.out}")
        return 0


@dataclass(frozen=True)
class Data:
    """Datasets of steps: write them from games, look at them, learn from them (format and queries: docs/datasets.md).

    Try:
      ante data export greedy --out data/greedy --games 200
      ante data stats data/greedy
    """

    command: Annotated[
        Annotated[ExportData, subcommand("export")] | Annotated[DataStats, subcommand("stats")], arg(name="")
    ]

    def run(self) -> int:
        """Do it."""
        return self.command.run()
