"""The parts of `ante know` about winning: strategies that are mined and validated, and pairs measured by play."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import arg

from ante.cli.games.know_store import opened, origin_of
from ante.cli.options import Count, Fewest, OutFolder
from ante.cli.players import player_of
from ante.cli.shown import progress, show

if TYPE_CHECKING:
    from ante.agents.evaluate import Player
    from ante.knowledge.winning.table import Strategy

MINED_DRAW, FRESH_DRAW = 11, 31  # evaluation seeds from which strategies are mined; dataset seeds that validate them


def percent(value: float) -> str:
    """Return a share."""
    return f"{value:.0%}"


def points(row: dict[str, Any], *names: str) -> str:
    """Return a difference of win rates with its 95 % interval, in percentage points."""
    middle, low, high = (100 * row[name] for name in names or ("effect", "low", "high"))
    return f"{middle:+.0f} ({low:+.0f} to {high:+.0f})"


@dataclass(frozen=True)
class KnowStrategies:
    """Show strategies that win more games: mined from games, and validated by play on other seeds.

    Each one is a line-up, the hand that is played most, or a levelled hand, at the beginning of ante 6. The effect is
    the difference in win rate from a control: other jokers of the same rarities in the same games; the next column is the
    difference from the strategy without one of its items, both in points. `played` is the number of games of each.

    Try:
      ante know strategies
      ante know strategies --rejected --json      (also those that play did not confirm)
    """

    rejected: bool = False
    """Also show proposed strategies that play on other seeds did not confirm."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the strategies. Raises StoreUnavailable."""
        from ante.knowledge import queries

        with opened(self.store) as graph:
            rows = queries.strategies(graph.backend, self.rejected)
        heads = (
            "strategy",
            "won of mined",
            "played",
            "control",
            "granted",
            "effect (95 %)",
            "over best part",
            "example",
        )
        cells = [
            (
                row["name"],
                f"{percent(row['rate'])} of {row['games']}",
                f"{row['n']}",
                percent(row["control"]),
                percent(row["granted"]),
                points(row),
                points(row, "joint", "joint_low", "joint_high"),
                row["example"] if row["validated"] else f"{row['example']}, not confirmed",
            )
            for row in rows
        ]
        show(rows, heads, cells, self.json)
        return 0


@dataclass(frozen=True)
class Mine:
    """Mine strategies from games, validate them by play on other seeds, and write the tables.

    The same games measure how pairs of jokers interact in win rate. The command takes minutes of processor time, and
    continues after an interruption: results of single games are kept in the folder of the tables.

    Try:
      ante know mine --out mine
      ante know mine --out mine --fresh 1200 --each 500 --pairs 200 --each-pair 500      (as for the committed tables)
      ante know mine --player rules --games 200 --fresh 100 --out small
    """

    out: Annotated[OutFolder, arg(aliases=["-o"])]
    """Folder of the tables, of the results of single games, and of replays."""
    player: str = "white-stake"
    """Player of all games; it chooses its most likely actions."""
    games: Fewest = 2000
    """Games from which strategies are mined."""
    fresh: Fewest = 600
    """Games of other seeds, which validate."""
    most: Count = 12
    """Maximum number of proposed strategies to validate, the most significant ones."""
    each: Fewest = 128
    """Maximum number of games in which a strategy is validated."""
    pairs: Count = 4
    """Pairs with the strongest interactions of scores whose win rates are measured."""
    each_pair: Fewest = 128
    """Maximum number of games for each pair."""
    work: OutFolder = Path("runs/knowledge")
    """Folder of intermediate results."""

    def run(self) -> int:
        """Measure and write. Raises BalatroError."""
        from ante.agents.seed_lists import dataset_seeds, evaluation_seeds
        from ante.knowledge.measuring.table import is_synergy, read_table
        from ante.knowledge.winning.run import Plan, measure, strongest
        from ante.knowledge.winning.starts import kept_starts
        from ante.stats.knowledge import COPIERS

        player, origin = player_of(self.player, likeliest=True, checkpoint="best"), origin_of(self.player)
        about = {**origin, "seeds": f"evaluation_seeds(draw={MINED_DRAW}), dataset_seeds(draw={FRESH_DRAW})"}
        place = origin, self.work, progress
        mined = kept_starts(player, evaluation_seeds(self.games, MINED_DRAW), *place, "games to mine")
        fresh = kept_starts(player, dataset_seeds(self.fresh, FRESH_DRAW), *place, "fresh games")
        scores = read_table().pairs
        pairs = strongest(scores, is_synergy(scores["effect"], scores["q"]), self.pairs, COPIERS)
        plan = Plan(self.most, self.each, pairs, self.each_pair)
        found = measure(player, mined, fresh, plan, about, self.out, progress)
        found.write(self.out)
        self.write_examples(player, [each for each in found.strategies if each.validated])
        validated = sum(each.validated for each in found.strategies)
        print(
            f"{self.out}: {found.about['sets']} frequent sets, {len(found.strategies)} proposed, {validated} validated, "
            f"{len(found.pairs)} pairs, {found.about['games_with_grants']:,} games with grants"
        )
        return 0

    def write_examples(self, player: "Player", strategies: "list[Strategy]") -> None:
        """Write a game of each strategy as a replay."""
        from ante.agents.record import record_game
        from ante.env.replay import Heading
        from ante.files import write_gzip
        from ante.knowledge.winning.table import EXAMPLES

        folder = self.out / EXAMPLES
        folder.mkdir(parents=True, exist_ok=True)
        for each in strategies:
            write_gzip(folder / f"{each.example}.txt.gz", record_game(player, Heading(each.example)).encode())
