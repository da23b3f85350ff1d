"""`ante data` and `ante clone`: datasets of steps, and policies trained on them."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg, subcommand

from ante.cli.options import Count, NotNegative, Number, OutFolder, PartShare, Positive, Stake, Width
from ante.cli.players import player_of
from ante.cli.shown import game_bar, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ante.agents.evaluate import Player
    from ante.training.datasets.read import Dataset
    from ante.training.datasets.scripts import Script


@dataclass(frozen=True)
class ExportData:
    """Write games as a Parquet dataset with one row per step and exact observations (docs/how-to/datasets.md).

    A player (random, greedy, a run, a release) plays the games on new seeds, or they are read from replay files or
    folders of replays.

    Try:
      ante data export greedy --out data/greedy --games 1000
      ante data export white-stake --out data/expert --games 500 --likeliest
      ante data export runs/ppo --out data/ppo --games 200 --seeds my-seeds.txt
      ante data export tests/golden/replays --out data/golden --view flat
    """

    sources: Positional[Annotated[tuple[str, ...], arg(metavar="PLAYER|RUN|REPLAYS")]]
    """One player, or replay files and folders."""
    out: Annotated[OutFolder, arg(aliases=["-o"])]
    """Folder to write; it must not exist."""
    games: Count | None = None
    """Number of games; by default 100 for a player and all replays."""
    view: Literal["auto", "flat", "shortlist"] = "auto"
    """flat: single clicks, for mlp; shortlist: candidate actions, for shortlist; auto: the player's view."""
    seed: Number = 0
    """Seed from which a player's game seeds are generated."""
    seeds: Path | None = None
    """File with one game seed per line, instead of generated seeds."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    reward: str = "shaped"
    """Reward by name (ante reward list), or module:Class."""
    reorder: Literal["auto", "none", "jokers", "all"] = "auto"
    """Reordering actions; auto: those that the player uses, all for replays."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Use the policy's most likely action instead of sampling."""

    def run(self) -> int:
        """Play, write the dataset and print a summary."""
        from ante.training.datasets.export import export
        from ante.training.datasets.write import refuse_existing

        if not self.sources:
            raise BalatroError("no player or replay was given: try ante data export greedy --out data/greedy")
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
        """Return the player's name. Raises BalatroError if there are several."""
        if len(self.sources) > 1:
            raise BalatroError("a dataset has one player: export each player into a separate folder")
        return self.sources[0]

    def replay_files(self) -> list[Path]:
        """Return the given replay files; empty for a player. Raises BalatroError."""
        from ante.recording.games import replays_in

        files: list[Path] = []
        others: list[Path] = []
        for source in map(Path, self.sources):
            if source.is_file():
                files.append(source)
            elif source.is_dir() and not (source / "config.yaml").is_file():
                found = replays_in(source)
                if not found:
                    raise BalatroError(f"{source} is not a run or a release, and contains no replays (*.txt, *.txt.gz)")
                files += found
            else:
                others.append(source)
        if files and others:
            raise BalatroError(f"{others[0]} is not a replay, unlike {files[0]}: give replays only, or one player")
        return files[: self.games]

    def kind(self, files: list[Path]) -> dict[str, Any]:
        """Return the description of the games for the metadata."""
        if files:
            return {"replays": len(files)}
        named = {"deck": self.deck, "stake": self.stake, "challenge": self.challenge}
        source = {"seeds": str(self.seeds)} if self.seeds else {"seed": self.seed}
        return {**named, **source, "likeliest": self.likeliest, "checkpoint": self.checkpoint}

    def game_seeds(self) -> list[str]:
        """Return the seeds of a player's games. Raises BadSeedsFile."""
        from ante.agents.seed_lists import dataset_seeds, read_seeds

        return read_seeds(self.seeds, self.games) if self.seeds else dataset_seeds(self.games or 100, self.seed)

    def scripts(self, player: "Player | None", files: list[Path], seeds: list[str]) -> "Iterator[list[Script]]":
        """Yield the games in batches. Raises BalatroError."""
        from ante.env.replay import Heading
        from ante.training.datasets.export import BATCH
        from ante.training.datasets.scripts import played_scripts, replay_scripts

        if player is None:
            for first in range(0, len(files), BATCH):
                yield replay_scripts(files[first : first + BATCH])
            return
        yield from played_scripts(player, seeds, Heading("", self.deck, self.stake, self.challenge), BATCH)

    def judge(self, player: "Player | None", view: str) -> Any:
        """Return a function that computes log_prob and value: the player's policy, if it uses this view."""
        policy = getattr(player, "policy", None)
        if policy is None:
            return None
        from ante.training.players.cloning import judge_of

        return judge_of(policy, view)


@dataclass(frozen=True)
class DataStats:
    """Print statistics of a dataset: games, steps, wins, actions by verb, bytes per step relative to float32.

    Try:
      ante data stats data/greedy
      ante data stats data/greedy --json
    """

    folder: Positional[Annotated[Path, arg(metavar="FOLDER")]]
    """Folder of the dataset."""
    json: bool = False
    """Print all results as one JSON object."""

    def run(self) -> int:
        """Read the dataset and print. Raises BadDataset."""
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
        table.add_row("bytes per step", f"{found.bytes_per_step:.1f}, float32 {found.float_bytes:,}")
        table.add_row("ratio", f"{found.ratio:.0f} : 1")
        if found.unlisted:
            table.add_row("not among candidates", f"{found.unlisted / found.steps:.1%} of decisions")
        for verb, count in found.verbs.items():
            table.add_row(f"  {verb}", f"{count:,}  {count / found.steps:.1%}")
        paper().print(table)
        return 0


@dataclass(frozen=True)
class Clone:
    """Train a policy on a dataset, by behaviour cloning or Q-learning.

    View flat trains the mlp policy, view shortlist the shortlist policy; dqn needs view flat. A tenth of the games is held
    out. The output folder works with `ante eval`, `ante play` and `ante league` and contains metrics.csv. Cloning does not
    train the value function.

    Try:
      ante data export greedy --out data/greedy --games 500
      ante clone data/greedy --out models/like-greedy
      ante data export greedy --out data/clicks --games 500 --view flat
      ante clone data/clicks --method dqn --out models/offline
      ante eval models/like-greedy models/offline greedy --games 100
    """

    dataset: Positional[Annotated[Path, arg(metavar="DATASET")]]
    """Dataset that ante data export or ante events dataset wrote."""
    out: Annotated[OutFolder, arg(aliases=["-o"])]
    """Folder to write."""
    method: Literal["bc", "dqn"] = "bc"
    """bc: imitate the recorded decisions; dqn: learn action values from the recorded rewards."""
    epochs: Count = 10
    """Number of epochs; bc stops after two without a lower held-out loss."""
    batch: Count = 512
    """Batch size of a gradient step."""
    lr: Positive | None = None
    """Learning rate of Adam; by default 0.001 for bc, 0.0003 for dqn."""
    hidden: tuple[Width, ...] = (256, 256)
    """Widths of the shared layers."""
    held: PartShare = 0.1
    """Fraction of the games to hold out."""
    conservative: NotNegative = 1.0
    """dqn: weight of the conservative term, which lowers the values of actions that were not recorded."""
    seed: Number = 0
    """Seed of weight initialisation and shuffling."""
    json: bool = False
    """Print the epochs as a JSON list."""

    def run(self) -> int:
        """Train, write the policy and print the result. Raises BadDataset, NothingToLearn."""
        from rich.console import Console

        from ante.messages import printable
        from ante.tables import stages
        from ante.training.datasets.read import Dataset

        console = Console(stderr=True)
        with stages(console) as show_stage:
            show_stage(f"training on {printable(self.dataset)}")
            train = {"bc": self.imitate, "dqn": self.learn_values}[self.method]
            epochs = train(Dataset(self.dataset), lambda line: console.print(line, soft_wrap=True))
        if self.json:
            print(json.dumps([asdict(each) for each in epochs], indent=1))
        else:
            print(f"{self.out}: evaluate it with ante eval {self.out}")
        return 0

    def imitate(self, dataset: "Dataset", show_line: "Callable[[str], None]") -> "Sequence[Any]":
        """Clone the recorded decisions and return the epochs."""
        from ante.training.players.cloning import CloneSettings, Epoch, clone

        def show_epoch(each: Epoch) -> None:
            show_line(
                f"epoch {each.epoch}: {each.train_loss:.3f} nats per decision, held out {each.held_loss:.3f} "
                f"(uniform {each.uniform:.3f}), {each.steps:,} steps, {each.seconds:.0f} s"
            )

        settings = CloneSettings(
            self.epochs, self.batch, self.lr or CloneSettings.lr, self.hidden, held=self.held, seed=self.seed
        )
        return clone(dataset, self.out, settings, show_epoch)

    def learn_values(self, dataset: "Dataset", show_line: "Callable[[str], None]") -> "Sequence[Any]":
        """Learn action values and return the epochs."""
        from ante.training.players.offline_q import OfflineEpoch, OfflineSettings, learn_offline

        def show_epoch(each: OfflineEpoch) -> None:
            show_line(
                f"epoch {each.epoch}: loss {each.train_loss:.3f}; held out: TD error {each.td_error:.3f}, value of the "
                f"recorded action {each.recorded:.2f}, of the best one {each.best:.2f}, return {each.game_return:.2f}; "
                f"{each.seconds:.0f} s"
            )

        settings = OfflineSettings(
            self.epochs,
            self.batch,
            self.lr or OfflineSettings.lr,
            self.hidden,
            held=self.held,
            seed=self.seed,
            conservative=self.conservative,
        )
        return learn_offline(dataset, self.out, settings, show_epoch)


@dataclass(frozen=True)
class Data:
    """Write datasets of steps from games, and inspect them (format and queries: docs/how-to/datasets.md).

    Try:
      ante data export greedy --out data/greedy --games 200
      ante data stats data/greedy
    """

    command: Annotated[
        Annotated[ExportData, subcommand("export")] | Annotated[DataStats, subcommand("stats")], arg(name="")
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
