"""`ante know`: what works with what, from the graph of measured effects."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg, subcommand

from ante.cli.games.know_seen import KnowSeen, Refresh, in_words
from ante.cli.games.know_store import Embed, Export, Import, Load, Measure, Page, Recall, opened
from ante.cli.games.know_wins import KnowStrategies, Mine, percent, points
from ante.cli.options import Count
from ante.cli.shown import paper, show
from ante.errors import BalatroError

MOST_NAMES = 16
NO_SCORE = (
    "does not act while a hand is scored: what it earns, creates or changes outside of a hand is not measured. Jokers that "
    "count, price or copy others still react to it"
)


def factor(effect: float | None) -> str:
    """Return a difference of log10 scores as a factor of the score."""
    return "" if effect is None else f"x{10**effect:.2f}"


def between(row: dict[str, Any]) -> str:
    """Return an effect as a factor, with its 95 % interval."""
    return f"{factor(row['effect'])} ({10 ** row['low']:.2f} to {10 ** row['high']:.2f})"


def share(value: float) -> str:
    """Return a share of positions."""
    return f"{value:.0%}"


def verdict(row: dict[str, Any]) -> str:
    """Return what a pair's interaction means."""
    if row["acts"] == 0:
        return "independent"
    if not row["counts"]:
        return "too small or uncertain"
    return "synergy" if row["effect"] > 0 else "overlap"


def show_pairs(rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Print pairs of jokers."""
    heads = ("pair", "interaction (95 %)", "both against none", "positions", "")
    cells = [
        (f"{row['one']} + {row['other']}", between(row), factor(row["gain"]), share(row["acts"]), verdict(row))
        for row in rows
    ]
    show(list(rows), heads, cells, as_json)


def show_effects(title: str, rows: Sequence[dict[str, Any]], most: int) -> bool:
    """Print significant effects with other items, the largest and the smallest, and return whether there are any.

    Rows are sorted.
    """
    from rich.table import Table

    from ante.knowledge.measuring.table import RATE, SMALLEST

    shown = [row for row in rows if row["q"] <= RATE and abs(row["effect"]) >= SMALLEST]
    if len(shown) > most:
        smallest = most // 2
        shown = [*shown[: most - smallest], *shown[len(shown) - smallest :]]
    if shown:
        table = Table(title, "gain (95 %)", "positions")
        for row in shown:
            table.add_row(row["name"], between(row), f"{row['n']}")
        paper().print(table)
    return bool(shown)


@dataclass(frozen=True)
class KnowJoker:
    """Show a joker: its gain alone, the best and the worst partners, and its gain with hands, under bosses, on decks.

    Try:
      ante know joker baron
      ante know joker "Scary Face" --most 20 --json
    """

    name: Positional[Annotated[str, arg(metavar="JOKER")]]
    """Name or key of the joker."""
    most: Count = 10
    """Maximum number of rows of each table."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> int:
        """Print the joker. Raises UnknownName, StoreUnavailable."""
        from ante.knowledge import queries
        from ante.knowledge.names import key_of

        key = key_of("joker", self.name)
        with opened(self.store) as graph:
            found = queries.joker(graph.backend, key)
            found["partners"] = queries.partners(graph.backend, key, self.most)
            found["overlaps"] = queries.partners(graph.backend, key, self.most, descending=False)
            found["strategies"] = queries.strategies_of(graph.backend, key)
            found["seen"] = next(iter(queries.seen(graph.backend, 1, key)), None)
        if self.json:
            print(json.dumps(found, indent=1))
            return 0
        self.show(found)
        return 0

    def show(self, found: dict[str, Any]) -> None:
        """Print the joker as text and tables."""
        from rich.table import Table

        console = paper()
        console.print(f"[bold]{found['name']}[/bold] ({found['rarity']}, ${found['cost']}): {found['text']}")
        console.print(f"[dim]{', '.join(found['traits'])}[/dim]")
        if found["scores"]:
            if found["gain"] is not None:
                console.print(f"alone it multiplies the score of the best play by {10 ** found['gain']:.2f} on average")
        else:
            console.print(f"{found['name']} {NO_SCORE}.")
        if found["seen"]:
            console.print(in_words(found["seen"]))
        for title, rows in (("works with", found["partners"]), ("overlaps with", found["overlaps"])):
            if rows:
                table = Table(title, "interaction (95 %)", "both against none")
                for row in rows:
                    table.add_row(row["name"], between(row), factor(row["gain"]))
                console.print(table)
        if found["strategies"]:
            table = Table("wins with", "granted", "control", "effect, points (95 %)")
            for row in found["strategies"]:
                table.add_row(row["name"], percent(row["granted"]), percent(row["control"]), points(row))
            console.print(table)
        show_effects("with the hand", found["hands"], self.most)
        show_effects("under the boss, against none", found["bosses"], self.most)
        show_effects("on the deck, against Red", found["decks"], self.most)


@dataclass(frozen=True)
class KnowPair:
    """Show everything measured about one pair of jokers.

    Try:
      ante know pair baron mime
      ante know pair photograph "hanging chad" --json
    """

    one: Positional[Annotated[str, arg(metavar="JOKER")]]
    """Name or key of a joker."""
    other: Positional[Annotated[str, arg(metavar="JOKER")]]
    """Name or key of another one."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> int:
        """Print the pair. Raises UnknownName, StoreUnavailable."""
        from ante.knowledge import queries

        keys = keys_of((self.one, self.other))
        with opened(self.store) as graph:
            found, wins = queries.pair(graph.backend, *keys), queries.wins(graph.backend, *keys)
        if found is None:
            raise BalatroError("the store has no measurement of this pair: load one with ante know load")
        found["wins"] = wins
        if self.json:
            print(json.dumps(found, indent=1))
            return 0
        from rich.table import Table

        table = Table(f"{found['one']} + {found['other']}", "", show_header=True)
        table.add_row("interaction (95 %)", f"{between(found)}: {verdict(found)}")
        table.add_row("both against none", factor(found["gain"]))
        table.add_row(found["one"], factor(found["one_gain"]))
        table.add_row(found["other"], factor(found["other_gain"]))
        table.add_row("positions in which they interact", f"{share(found['acts'])} of {found['n']}")
        table.add_row("false discovery rate", f"{found['q']:.2g}")
        table.add_row("with counters as bought", factor(found["bought"]))
        table.add_row("same cards played", factor(found["same"]))
        for ante in (2, 4, 6, 8):
            table.add_row(f"ante {ante}", factor(found[f"ante_{ante}"]))
        if wins:
            rates = " / ".join(percent(wins[name]) for name in ("base", "with_one", "with_other", "both"))
            table.add_row("games won: neither / first / second / both", f"{rates} of {wins['n']}")
            table.add_row("interaction in win rate, points (95 %)", points(wins))
        paper().print(table)
        return 0


@dataclass(frozen=True)
class KnowAmong:
    """Show the interactions among two or more jokers.

    Try:
      ante know among baron mime blueprint "steel joker" "shoot the moon"
    """

    names: Positional[Annotated[tuple[str, ...], arg(metavar="JOKER")]]
    """Names or keys of jokers."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the pairs. Raises UnknownName, StoreUnavailable."""
        from ante.knowledge import queries

        keys = keys_of(self.names)
        with opened(self.store) as graph:
            show_pairs(queries.among(graph.backend, keys), self.json)
        return 0


@dataclass(frozen=True)
class KnowHand:
    """Show which jokers gain most when a poker hand is played.

    Try:
      ante know hand flush
    """

    name: Positional[Annotated[str, arg(metavar="HAND")]]
    """Name of the poker hand."""
    most: Count = 20
    """Maximum number of rows of the table: half of them the largest effects, half the smallest."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list of all measured jokers, also of effects that are not significant."""

    def run(self) -> int:
        """Print the jokers. Raises UnknownName, StoreUnavailable."""
        return show_with("hand", "WITH_HAND", "Hand", self.name, self.most, self.store, self.json)


@dataclass(frozen=True)
class KnowBoss:
    """Show which jokers lose or gain most under a boss.

    The effect is the joker's gain under the boss divided by its gain in the same position without a boss.

    Try:
      ante know boss plant
      ante know boss "The Flint" --json
    """

    name: Positional[Annotated[str, arg(metavar="BOSS")]]
    """Name or key of the boss."""
    most: Count = 20
    """Maximum number of rows of the table: half of them the largest effects, half the smallest."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list of all measured jokers, also of effects that are not significant."""

    def run(self) -> int:
        """Print the jokers. Raises UnknownName, StoreUnavailable."""
        return show_with("boss", "UNDER", "Boss", self.name, self.most, self.store, self.json)


@dataclass(frozen=True)
class KnowDeck:
    """Show which jokers gain more or less on a deck than on the Red Deck.

    Measured on decks with other cards or other scoring: Abandoned, Checkered, Plasma and Erratic.

    Try:
      ante know deck plasma
    """

    name: Positional[Annotated[str, arg(metavar="DECK")]]
    """Name or key of the deck."""
    most: Count = 20
    """Maximum number of rows of the table: half of them the largest effects, half the smallest."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list of all measured jokers, also of effects that are not significant."""

    def run(self) -> int:
        """Print the jokers. Raises UnknownName, StoreUnavailable."""
        return show_with("deck", "ON_DECK", "Deck", self.name, self.most, self.store, self.json)


@dataclass(frozen=True)
class KnowPath:
    """Show chains of synergies from one joker to another, over at most two jokers between them.

    Try:
      ante know path hack blackboard
    """

    one: Positional[Annotated[str, arg(metavar="JOKER")]]
    """Name or key of the first joker."""
    other: Positional[Annotated[str, arg(metavar="JOKER")]]
    """Name or key of the last one."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the chains. Raises UnknownName, StoreUnavailable."""
        from ante.knowledge import queries

        start, end = keys_of((self.one, self.other))
        with opened(self.store) as graph:
            chains = queries.path(graph.backend, start, end)
        cells = [(" + ".join(each["jokers"]), " ".join(map(factor, each["effects"]))) for each in chains]
        if not chains and not self.json:
            print(f"no chain of at most {queries.HOPS} synergies connects them")
            return 0
        show(chains, ("chain", "interactions"), cells, self.json)
        return 0


@dataclass(frozen=True)
class KnowTop:
    """Show the pairs of jokers with the strongest synergies, or the strongest overlaps.

    Try:
      ante know top
      ante know top --overlaps --most 50 --json
      ante know top --without blueprint brainstorm swashbuckler
    """

    most: Count = 20
    """Maximum number of rows."""
    overlaps: bool = False
    """Show pairs that gain less than the product of their gains."""
    without: tuple[str, ...] = ()
    """Jokers to leave out."""
    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the pairs. Raises UnknownName, StoreUnavailable."""
        from ante.knowledge import queries
        from ante.knowledge.names import key_of

        without = [key_of("joker", name) for name in self.without]
        with opened(self.store) as graph:
            show_pairs(queries.top(graph.backend, self.most, not self.overlaps, without), self.json)
        return 0


def keys_of(names: Sequence[str]) -> list[str]:
    """Return the keys of different jokers. Raises UnknownName, BalatroError."""
    from ante.knowledge.names import key_of

    keys = [key_of("joker", name) for name in names]
    if not 2 <= len(keys) <= MOST_NAMES:
        raise BalatroError(f"{len(keys)} jokers were named: name 2 to {MOST_NAMES}")
    if len(set(keys)) < len(keys):
        raise BalatroError("a joker was named twice: pairs consist of different jokers")
    return keys


def show_with(kind: str, edge: str, label: str, name: str, most: int, store: str, as_json: bool) -> int:
    """Print the jokers with the largest and the smallest effects with a hand, a boss or a deck."""
    from ante.knowledge import queries
    from ante.knowledge.names import key_of, names_of

    key = key_of(kind, name)
    with opened(store) as graph:
        rows = queries.with_item(graph.backend, edge, label, key)
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    if not rows:
        print(f"{names_of(kind)[key]}: not measured")
    elif not show_effects(f"joker, {names_of(kind)[key]}", rows, most):
        print(f"{names_of(kind)[key]}: no significant effect on the gain of a joker")
    return 0


@dataclass(frozen=True)
class Know:
    """Show what works with what: measured effects of jokers, pairs, hands, bosses and decks (docs/how-to/knowledge.md).

    Try:
      ante know joker baron
      ante know pair photograph "hanging chad"
      ante know top --most 10
    """

    command: Annotated[
        Annotated[KnowJoker, subcommand("joker")]
        | Annotated[KnowPair, subcommand("pair")]
        | Annotated[KnowAmong, subcommand("among")]
        | Annotated[KnowHand, subcommand("hand")]
        | Annotated[KnowBoss, subcommand("boss")]
        | Annotated[KnowDeck, subcommand("deck")]
        | Annotated[KnowPath, subcommand("path")]
        | Annotated[KnowTop, subcommand("top")]
        | Annotated[KnowStrategies, subcommand("strategies")]
        | Annotated[KnowSeen, subcommand("seen")]
        | Annotated[Page, subcommand("page")]
        | Annotated[Recall, subcommand("recall")]
        | Annotated[Measure, subcommand("measure")]
        | Annotated[Mine, subcommand("mine")]
        | Annotated[Refresh, subcommand("refresh")]
        | Annotated[Embed, subcommand("embed")]
        | Annotated[Load, subcommand("load")]
        | Annotated[Export, subcommand("export")]
        | Annotated[Import, subcommand("import")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
