"""`ante league`: rate players against each other on the same seeds."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg, subcommand

from ante.cli.options import Count, PictureFile, Stake, Workers
from ante.cli.shown import game_bar, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.league.folder import League
    from ante.league.order import OrderReport
    from ante.league.ratings import Interval
    from ante.league.standing import Table


@dataclass(frozen=True)
class RunLeague:
    """Start or continue a league: all players play the same seeds, and only missing games are played.

    Try:
      ante league run leagues/first random greedy white-stake --games 200
      ante league run leagues/first                        (continues after an interruption)
      ante league run leagues/first --games 400            (more games for all players)
    """

    folder: Positional[Annotated[Path, arg(metavar="LEAGUE")]]
    """Folder of the league."""
    players: Positional[Annotated[tuple[str, ...], arg(metavar="PLAYER ...")]] = ()
    """random, greedy, a run (RUN@best, RUN@latest, RUN@CHECKPOINT, RUN@all) or a release."""
    games: Count | None = None
    """Games per player, on the first validation seeds: a multiple of 50; 200 in a new league."""
    deck: str = "b_red"
    """Deck of a new league, by key or name."""
    stake: Stake = 1
    """Stake of a new league, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), in a new league instead of deck and stake."""
    likeliest: bool = False
    """Use the most likely actions of these players' policies instead of sampling; their names end with `!`."""
    workers: Workers = 1
    """Number of processes; 2 or more use Ray."""

    def run(self) -> int:
        """Play the missing games and print the table."""
        from ante.league.folder import ABOUT, League, Rules

        if (self.folder / ABOUT).exists():
            league = League(self.folder)
            self.check_rules(league)
            if self.games is not None:
                league.extend(self.games)
        else:
            if not self.players:
                raise BalatroError(
                    f"no league in {self.folder}: give its players, as in ante league run {self.folder} greedy"
                )
            entrants_of_all(self.players, self.likeliest)  # check before writing
            league = League.begin(self.folder, Rules(self.games or 200, self.deck, self.stake, self.challenge))
        return play(league, self.players, self.likeliest, self.workers)

    def check_rules(self, league: "League") -> None:
        """Raise BalatroError if the options differ from the rules of the league."""
        for name in ("deck", "stake", "challenge"):
            given, has = getattr(self, name), getattr(league.rules, name)
            if given != has and given != RunLeague.__dataclass_fields__[name].default:
                raise BalatroError(f"{self.folder} is played with {name} {has}, not {given}: create another league")


@dataclass(frozen=True)
class AddToLeague:
    """Add players to a league and play its games with them. The other players do not play again.

    Try:
      ante league add leagues/first runs/ppo@all
      ante league add leagues/first white-stake --likeliest
    """

    folder: Positional[Annotated[Path, arg(metavar="LEAGUE")]]
    """Folder of the league."""
    players: Positional[Annotated[tuple[str, ...], arg(metavar="PLAYER ...")]]
    """random, greedy, a run (RUN@best, RUN@latest, RUN@CHECKPOINT, RUN@all) or a release."""
    likeliest: bool = False
    """Use the most likely actions of their policies instead of sampling; their names end with `!`."""
    workers: Workers = 1
    """Number of processes; 2 or more use Ray."""

    def run(self) -> int:
        """Play the missing games and print the table."""
        from ante.league.folder import League

        if not self.players:
            raise BalatroError(f"no player was given: ante league add {self.folder} runs/ppo")
        return play(League(self.folder), self.players, self.likeliest, self.workers)


@dataclass(frozen=True)
class LeagueTable:
    """Show the standings of a league from stored games: Elo, wins and blinds, each with its 95 % interval.

    --order compares the ranking of a run's checkpoints with their order in training, and estimates the number of games
    that a reliable ranking needs, with the same seeds for all players and with separate seeds.

    Try:
      ante league table leagues/first
      ante league table leagues/first --matrix --plot league.png
      ante league table leagues/first --order runs/ppo --json
    """

    folder: Positional[Annotated[Path, arg(metavar="LEAGUE")]]
    """Folder of the league."""
    matrix: bool = False
    """Also show the pairwise win matrix."""
    order: str | None = None
    """Run whose checkpoint ratings are compared with the order of training."""
    plot: PictureFile | None = None
    """Image file for a plot of Elo over training."""
    json: bool = False
    """Print everything as one JSON object."""

    def run(self) -> int:
        """Read the results and print the tables."""
        from ante.league.folder import League
        from ante.league.standing import order_of_run, table_of

        league = League(self.folder)
        table = table_of(league)
        report = order_of_run(league, str(Path(self.order))) if self.order else None
        if self.plot:
            from ante.league.picture import draw_table

            draw_table(table, self.plot)
        if self.json:
            print(json.dumps(table_json(table, report), indent=1))
            return 0
        show_table(table)
        if self.matrix:
            title = "share of seeds on which the row's player progressed further (a tie counts half)"
            show_matrix(title, [row.player.name for row in table.rows], table.shares.tolist())
        if report:
            show_order(report)
        return 0


@dataclass(frozen=True)
class Promote:
    """Make a run's strongest checkpoint its best one if it is significantly better on the league's games.

    The difference is significant if its paired interval, corrected for the number of compared checkpoints, is above 0.
    Exit code 1 if no checkpoint is promoted.

    Try:
      ante league promote leagues/first runs/ppo
    """

    folder: Positional[Annotated[Path, arg(metavar="LEAGUE")]]
    """Folder of the league."""
    run_folder: Positional[Annotated[Path, arg(metavar="RUN")]]
    """Folder of the run; its best checkpoint and at least one other must have played."""
    json: bool = False
    """Print the result as one JSON object."""

    def run(self) -> int:
        """Compare the checkpoints and update `best` if one is better."""
        from ante.league.folder import League
        from ante.league.standing import judge_run
        from ante.training.run_store.checkpoints import find_checkpoint, point_best

        league, checkpoints = League(self.folder), self.run_folder / "checkpoints"
        best = f"{self.run_folder.name}@{find_checkpoint(checkpoints, 'best')[0].name}"
        verdict = judge_run(league, str(self.run_folder), best)
        if verdict.promoted:
            point_best(checkpoints, league.entrants[verdict.challenger].pin)
        if self.json:
            print(json.dumps({**asdict(verdict), "promoted": verdict.promoted}, indent=1))
        else:
            found = "is now the best" if verdict.promoted else "is not significantly better: best is unchanged"
            print(
                f"{verdict.challenger} against {verdict.best}: {spread(verdict.difference, '+.2f')} blinds on the same "
                f"seeds; {verdict.challenger} {found}"
            )
        return 0 if verdict.promoted else 1


def entrants_of_all(players: Sequence[str], likeliest: bool) -> list[Any]:
    """Return the entrants with these names. Raises BalatroError."""
    from ante.training.players.league_seats import entrants_of

    return [entrant for name in players for entrant in entrants_of(name, likeliest)]


def play(league: "League", players: Sequence[str], likeliest: bool, workers: int) -> int:
    """Add entrants, play the missing games and show the table."""
    from ante.league.folder import STRETCH
    from ante.league.play import play_missing
    from ante.league.standing import table_of
    from ante.training.players.league_seats import seat_of

    if workers < 1:
        raise BalatroError(f"--workers {workers}: must be at least 1")
    league.check_engine()
    league.enter(entrants_of_all(players, likeliest))
    waiting = [each for each in league.entrants.values() if league.missing(each.name)]
    if workers > 1 and waiting:
        from ante.training.players.tournament import play_on_ray

        missing = sum(len(league.missing(each.name)) for each in waiting) * STRETCH
        with game_bar(missing, f"{len(waiting)} players, {workers} processes") as advance:
            play_on_ray(league, waiting, workers, advance)
    else:
        for entrant in waiting:
            with game_bar(len(league.missing(entrant.name)) * STRETCH, entrant.name) as advance:
                play_missing(league, entrant, seat_of(entrant), advance)
    show_table(table_of(league))
    return 0


def spread(found: "Interval", form: str) -> str:
    """Return an estimate and its interval as text."""
    return f"{found.value:{form}} ({found.low:{form}} to {found.high:{form}})"


def show_table(table: "Table") -> None:
    """Print the standings."""
    from rich.table import Table as Rows

    from ante.agents.report import percent

    rules = table.rules
    shown = Rows(
        title=f"{rules['games']} games, {rules['challenge'] or rules['deck']}, stake {rules['stake']} (95 % intervals)"
    )
    for head in ("player", "Elo", "wins", "blinds beaten", "ante", "blinds behind the first"):
        named = head == "player"
        shown.add_column(head, justify="left" if named else "right", no_wrap=named)
    for row in table.rows:
        behind = "" if row.behind is None else spread(row.behind, "+.2f")
        shown.add_row(
            row.player.name,
            spread(row.elo, ".0f"),
            percent(row.wins),
            spread(row.blinds, ".2f"),
            spread(row.ante, ".2f"),
            behind,
        )
    paper().print(shown)
    if table.partial:
        print(f"not all games played yet: {', '.join(table.partial)}")


def show_matrix(title: str, names: Sequence[str], shares: Sequence[Sequence[float]]) -> None:
    """Print the share that each player won against each other."""
    from rich.table import Table as Rows

    shown = Rows(title=title)
    shown.add_column("")
    for number in range(1, 1 + len(names)):
        shown.add_column(str(number), justify="right")
    for i, name in enumerate(names):
        shown.add_row(f"{i + 1} {name}", *("" if i == j else f"{share:.0%}" for j, share in enumerate(shares[i])))
    paper().print(shown)


def show_order(report: "OrderReport") -> None:
    """Print the order of checkpoints and the number of games needed to establish it."""
    from rich.table import Table as Rows

    from ante.league.order import WANTED

    tau = spread(report.tau, ".2f")
    print(f"ranking of {len(report.players)} checkpoints compared with training: Kendall's tau {tau}")
    shown = Rows("games per player", "same seeds", "separate seeds", title="mean tau with the ranking by all games")
    for size in report.sizes:
        shown.add_row(f"{size.games}", f"{size.shared:.2f}", f"{size.independent:.2f}")
    paper().print(shown)
    same, own = (f"{n} games" if n else "more games" for n in (report.shared, report.independent))
    print(f"tau {WANTED} requires {same} on the same seeds, {own} on separate seeds")


def table_json(table: "Table", report: "OrderReport | None") -> dict[str, Any]:
    """Return all results for JSON output."""
    rows = [asdict(row) for row in table.rows]
    found = {"rules": table.rules, "players": rows, "shares": table.shares.tolist(), "partial": table.partial}
    return {**found, "order": asdict(report)} if report else found


@dataclass(frozen=True)
class LeagueCommand:
    """Rate players against each other on the same seeds, in a resumable tournament (docs/how-to/players.md).

    Try:
      ante league run leagues/first random greedy white-stake --games 200
      ante league add leagues/first runs/ppo@all
      ante league table leagues/first --order runs/ppo --plot league.png
      ante league promote leagues/first runs/ppo
    """

    command: Annotated[
        Annotated[RunLeague, subcommand("run")]
        | Annotated[AddToLeague, subcommand("add")]
        | Annotated[LeagueTable, subcommand("table")]
        | Annotated[Promote, subcommand("promote")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
