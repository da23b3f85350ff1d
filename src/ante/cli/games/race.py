"""`ante race`: races of two players on one seed, and the rating of several players by races."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ante.cli.games.league import show_matrix, spread
from ante.cli.options import Count, Number, OutFolder, Stake
from ante.cli.players import player_of
from ante.cli.shown import game_bar, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.agents.evaluate import Player
    from ante.race.round_robin import RaceTable

LIKELIEST = "!"  # after a player's name


@dataclass(frozen=True)
class Race:
    """Let players race against each other on the same seeds by the multiplayer rules Attrition (docs/how-to/race.md).

    Every two players race once on each seed; all races are rated together. With --train, the first player, a policy, learns
    from races against a league of the others and of its own checkpoints.

    Try:
      ante race greedy random --games 20
      ante race white-stake white-stake! rules greedy --games 50 --matrix
      ante race white-stake rules --train models/racer --iterations 20 --games 64
      ante race models/racer/iteration-20 white-stake --games 100
    """

    players: Positional[Annotated[tuple[str, ...], arg(metavar="PLAYER PLAYER ...")]]
    """At least two players, as in `ante eval`; a policy with ! at the end takes its most likely action."""
    games: Count = 20
    """Number of races of every two players, or of an iteration with --train."""
    draw: Number = 0
    """Number of a list of random seeds: another number gives other races, the same number the same races."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    matrix: bool = False
    """Also print the share of races that each player won against each other."""
    train: Annotated[OutFolder | None, arg(metavar="FOLDER")] = None
    """Folder to write checkpoints to, as releases iteration-N; it must be empty."""
    iterations: Count = 20
    """With --train: number of iterations."""
    json: bool = False
    """Print the results as one JSON object."""

    def run(self) -> int:
        """Play the races and print the standings."""
        if self.train is not None:
            return self.learn(self.train)
        from ante.agents.seed_lists import evaluation_seeds
        from ante.race.round_robin import race_all

        if len(self.players) < 2 or len(set(self.players)) < len(self.players):
            raise BalatroError(f"players {' '.join(self.players) or '(none)'}: give at least two different ones")
        players = [
            named(player_of(name.removesuffix(LIKELIEST), name.endswith(LIKELIEST), self.checkpoint), name)
            for name in self.players
        ]
        seeds = evaluation_seeds(self.games, self.draw)
        races = len(seeds) * len(players) * (len(players) - 1) // 2
        with game_bar(races, f"{len(players)} players") as advance:
            table = race_all(players, seeds, advance, deck=self.deck, stake=self.stake)
        if self.json:
            found = {"seeds": table.seeds, "races": table.races, "deck": self.deck, "stake": self.stake}
            rows = [asdict(row) for row in table.rows]
            print(json.dumps({**found, "players": rows, "shares": table.shares.tolist()}, indent=1))
            return 0
        show_races(table)
        if self.matrix:
            title = "share of races that the row's player won (a draw counts half)"
            show_matrix(title, [row.player for row in table.rows], table.shares.tolist())
        return 0

    def learn(self, folder: Path) -> int:
        """Train the first player and print the iterations. Raises BalatroError."""
        from rich.console import Console

        from ante.agents.baselines import AGENTS
        from ante.agents.releases import policy_at
        from ante.tables import stages
        from ante.training.players.release import policy_from
        from ante.training.players.self_play import Iteration, SelfPlaySettings, self_play
        from ante.training.settings.config import read_config

        first = self.players[0] if self.players else ""
        start, checkpoint = policy_at(first, self.checkpoint)
        if first in AGENTS or not start.is_dir():
            raise BalatroError(
                f"--train needs a run or a release as the first player, such as white-stake, not {first!r}"
            )
        policy, config = policy_from(start, checkpoint), read_config(start / "config.yaml")
        others = [
            named(player_of(name.removesuffix(LIKELIEST), name.endswith(LIKELIEST), self.checkpoint), name)
            for name in self.players[1:]
        ]
        console = Console(stderr=True)

        def show_iteration(each: Iteration) -> None:
            console.print(
                f"iteration {each.iteration}: {each.points:.1%} of the races won against {each.opponents}, Elo {each.elo:.0f}, "
                f"{each.decisions:,} decisions, {each.seconds:.0f} s",
                soft_wrap=True,
            )

        settings = SelfPlaySettings(iterations=self.iterations, races=self.games, seed=self.draw)
        with stages(console) as show_stage:
            show_stage(f"races of {self.players[0]}")
            found = self_play(
                policy, config, others, folder, settings, show_iteration, deck=self.deck, stake=self.stake
            )
        if self.json:
            print(json.dumps([asdict(each) for each in found], indent=1))
        else:
            last = folder / f"iteration-{self.iterations}"
            print(f"{last}: race it with ante race {last} {self.players[0]}")
        return 0


def named(player: "Player", name: str) -> "Player":
    """Give a player the name by which it was chosen."""
    player.name = name
    return player


def show_races(table: "RaceTable") -> None:
    """Print the standings."""
    from rich.table import Table as Rows

    from ante.agents.report import percent

    shown = Rows(title=f"{table.races} races, {table.seeds} seeds (95 % intervals)")
    for head in ("player", "Elo", "races won", "draws", "lives left", "ante"):
        named = head == "player"
        shown.add_column(head, justify="left" if named else "right", no_wrap=named)
    for row in table.rows:
        shown.add_row(
            row.player,
            spread(row.elo, ".0f"),
            percent(row.wins),
            f"{row.draws}",
            spread(row.lives, ".2f"),
            spread(row.ante, ".2f"),
        )
    paper().print(shown)
