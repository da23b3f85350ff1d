"""`ante stats`: statistics of a player's games."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ante.cli.options import Count, Fewest, PictureFile, Stake
from ante.cli.players import player_of
from ante.cli.shown import game_bar, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.stats.facts import Game
    from ante.stats.profile import Profile

SHOWN = 15


@dataclass(frozen=True)
class Stats:
    """Print statistics of a player's games: blinds, hands, money, jokers with their results, and pairs of jokers.

    The games are played on the seeds of `ante eval`, or read from a league or from replays.

    Try:
      ante stats greedy --games 200
      ante stats white-stake --games 500 --plot habits.png
      ante stats leagues/first --player white-stake --json
      ante stats leagues/first/replays/white-stake
    """

    source: Positional[Annotated[str, arg(metavar="PLAYER|RUN|LEAGUE|REPLAYS")]]
    """Player, league, or folder of replays."""
    player: str | None = None
    """Player of a league."""
    games: Count = 200
    """Number of games to play."""
    deck: str = "b_red"
    """Deck of the games to play."""
    stake: Stake = 1
    """Stake of the games to play, from 1 (White) to 8 (Gold)."""
    fewest: Fewest = 20
    """Minimum number of games for a row about a joker or a pair."""
    plot: PictureFile | None = None
    """Image file for a plot of the statistics."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Use the policy's most likely action instead of sampling."""
    json: bool = False
    """Print all results as one JSON object."""

    def run(self) -> int:
        """Collect the games, compute statistics and print them."""
        from ante.files import plain
        from ante.stats.facts import facts_of_all
        from ante.stats.profile import profile_of

        name, count, games = self.gather()
        with game_bar(count, name) as advance:
            profile = profile_of(name, facts_of_all(games, advance), self.fewest)
        if self.plot:
            from ante.stats.plot import draw_profile

            draw_profile(profile, self.plot)
        if self.json:
            print(json.dumps(plain(asdict(profile)), indent=1))
        else:
            show(profile, self.fewest)
        return 0

    def gather(self) -> "tuple[str, int, Iterator[Game]]":
        """Return a name, the number of games, and the games. Raises BalatroError."""
        folder = Path(self.source)
        if (folder / "league.json").is_file():
            return self.from_league(folder)
        if folder.is_dir() and not (folder / "config.yaml").is_file():
            from ante.recording.games import replays_in

            return self.from_replays(replays_in(folder))
        return self.played()

    def from_league(self, folder: Path) -> "tuple[str, int, Iterator[Game]]":
        """Return a player's stored games."""
        from ante.env.replay import Heading
        from ante.league.folder import League

        league = League(folder)
        name = self.player or (next(iter(league.entrants)) if len(league.entrants) == 1 else None)
        if name is None:
            raise BalatroError(f"{folder} has several players: choose one with --player {'|'.join(league.entrants)}")
        table, rules = league.table(name), league.rules
        rows = zip(table["seed"].to_pylist(), table["actions"], strict=True)
        games = (
            (Heading(seed, rules.deck, rules.stake, rules.challenge), tuple(actions.as_py())) for seed, actions in rows
        )
        return name, len(table), games

    def from_replays(self, files: list[Path]) -> "tuple[str, int, Iterator[Game]]":
        """Return recorded games."""
        from ante.env.replay import read_file, read_replay

        if not files:
            raise BalatroError(
                f"{self.source} is not a run, a release or a league, and contains no replays (*.txt, *.txt.gz)"
            )
        games = ((heading, tuple(actions)) for heading, actions in (read_replay(read_file(file)) for file in files))
        return self.source, len(files), games

    def played(self) -> "tuple[str, int, Iterator[Game]]":
        """Return games played by the player."""
        from ante.agents.seed_lists import evaluation_seeds
        from ante.env.replay import Heading
        from ante.recording.games import record_games

        player = player_of(self.source, self.likeliest, self.checkpoint)
        seeds = evaluation_seeds(self.games)
        batches = record_games(player, seeds, Heading("", self.deck, self.stake))
        return player.name, len(seeds), ((game.heading, game.decisions) for batch in batches for game in batch)


def show(profile: "Profile", fewest: int) -> None:
    """Print the statistics as tables; without jokers or pairs, a sentence in place of an empty table."""
    from rich.table import Table

    from ante.agents.report import percent
    from ante.cli.games.league import spread

    console = paper()
    console.print(
        f"[bold]{profile.player}[/bold]: {profile.games} games, won {percent(profile.wins)}, ante "
        f"{spread(profile.ante, '.2f')}, {spread(profile.blinds, '.2f')} blinds beaten, {known(profile.hands_per_blind)} hands "
        f"per beaten blind, best hand {profile.best_hand:,.0f} chips"
    )
    blinds = Table("ante", "blind", "beaten when played", "hands", "discards")
    for row in profile.blind_rows:
        blinds.add_row(str(row.ante), row.blind, percent(row.beaten), known(row.hands), known(row.discards))
    console.print(blinds)
    hands = ", ".join(f"{name} {share.rate:.0%}" for name, share in profile.hands.items() if share.rate >= 0.005)
    money = ", ".join(f"{row.round}: ${row.median:.0f}" for row in profile.money if row.round % 3 == 1)
    console.print(f"hands played: {hands}\nmedian money at the shop after a round: {money or 'no shop was reached'}")
    few = "games: play more --games, or lower --fewest"
    jokers = Table(
        "joker",
        "taken when offered",
        "games held",
        "blinds afterwards",
        "wins",
        title="jokers, compared with all games at the same ante",
    )
    for each in profile.jokers[:SHOWN]:
        jokers.add_row(
            each.joker, percent(each.picked), f"{each.games}", spread(each.blinds, "+.2f"), spread(each.wins, "+.1%")
        )
    console.print(jokers if jokers.row_count else f"jokers: none was held in {fewest} {few}")
    pairs = Table(
        "together",
        "games",
        "won",
        "wins",
        "blinds afterwards",
        "beyond the sum of both",
        title="pairs of jokers, by wins",
    )
    for pair in profile.pairs[:SHOWN]:
        pairs.add_row(
            f"{pair.one} + {pair.other}",
            f"{pair.games}",
            f"{pair.won}",
            spread(pair.wins, "+.1%"),
            spread(pair.blinds, "+.2f"),
            f"{pair.beyond:+.2f}",
        )
    console.print(pairs if pairs.row_count else f"pairs of jokers: none was held together in {fewest} {few}")


def known(value: float) -> str:
    """Return a mean as text; a dash for the mean of nothing."""
    return "-" if math.isnan(value) else f"{value:.2f}"
