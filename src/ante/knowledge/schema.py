"""The schema of the graph: one object from which the statements of every backend follow.

Statements use only the part of Cypher in which Ladybug and Bolt servers agree: whole-row UNWIND with all keys, labels in
patterns, no `+=`, no functions of time, no list indices.
"""

from dataclasses import dataclass

VERSION = 4  # incremented when a stored graph can no longer be read
# Between MATCH and DELETE of edges: finds all of them first. ArcadeDB otherwise deletes while it matches, and fails on
# thousands of edges. Ladybug requires SKIP or LIMIT after ORDER BY.
SORTED = "ORDER BY {} SKIP 0"


@dataclass(frozen=True)
class Node:
    """A kind of node; its first property is the key."""

    label: str
    properties: dict[str, str]

    @property
    def key(self) -> str:
        """Name of the key property."""
        return next(iter(self.properties))

    @property
    def identity(self) -> tuple[str, ...]:
        """Columns that identify a row."""
        return (self.key,)

    @property
    def merge(self) -> str:
        """Statement that writes the nodes of `$rows`."""
        return f"UNWIND $rows AS r MERGE (x:{self.label} {{{self.key}: r.{self.key}}})" + _sets(
            "x", list(self.properties)[1:]
        )

    @property
    def delete(self) -> str:
        """Statement that deletes the nodes of `$rows`, with their edges."""
        return f"UNWIND $rows AS r MATCH (x:{self.label} {{{self.key}: r.{self.key}}}) DETACH DELETE x"

    @property
    def match(self) -> str:
        """Statement that returns all nodes."""
        names = ", ".join(f"x.{name} AS {name}" for name in self.properties)
        return f"MATCH (x:{self.label}) RETURN {names} ORDER BY {self.key}"


@dataclass(frozen=True)
class Edge:
    """A kind of edge; its rows have the keys of both nodes in `source` and `target`."""

    label: str
    start: Node
    end: Node
    properties: dict[str, str]

    @property
    def identity(self) -> tuple[str, ...]:
        """Columns that identify a row."""
        return ("source", "target")

    @property
    def merge(self) -> str:
        """Statement that writes the edges of `$rows`."""
        return (
            f"UNWIND $rows AS r MATCH (a:{self.start.label} {{{self.start.key}: r.source}}), "
            f"(b:{self.end.label} {{{self.end.key}: r.target}}) MERGE (a)-[x:{self.label}]->(b)"
            + _sets("x", list(self.properties))
        )

    @property
    def delete(self) -> str:
        """Statement that deletes the edges of `$rows`."""
        return (
            f"UNWIND $rows AS r MATCH (a:{self.start.label} {{{self.start.key}: r.source}})-[x:{self.label}]->"
            f"(b:{self.end.label} {{{self.end.key}: r.target}}) WITH x, r.source AS source {SORTED.format('source')} DELETE x"
        )

    @property
    def match(self) -> str:
        """Statement that returns all edges."""
        names = "".join(f", x.{name} AS {name}" for name in self.properties)
        return (
            f"MATCH (a:{self.start.label})-[x:{self.label}]->(b:{self.end.label}) RETURN a.{self.start.key} AS source, "
            f"b.{self.end.key} AS target{names} ORDER BY source, target"
        )


def _sets(variable: str, names: list[str]) -> str:
    return (" SET " + ", ".join(f"{variable}.{name} = r.{name}" for name in names)) if names else ""


ITEM = {"key": "STRING", "name": "STRING", "text": "STRING"}
EFFECT = {"effect": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "n": "INT64", "q": "DOUBLE"}

META = Node("Meta", {"key": "STRING", "value": "STRING"})
JOKER = Node(
    "Joker", ITEM | {"number": "INT64", "cost": "INT64", "rarity": "STRING", "gain": "DOUBLE", "scores": "BOOLEAN"}
)
CONSUMABLE = Node("Consumable", ITEM | {"kind": "STRING"})
VOUCHER = Node("Voucher", ITEM)
HAND = Node("Hand", ITEM | {"chips": "INT64", "mult": "INT64"})
BOSS = Node("Boss", ITEM | {"showdown": "BOOLEAN"})
DECK = Node("Deck", ITEM)
SKIP_TAG = Node("SkipTag", ITEM)
TRAIT = Node("Trait", {"key": "STRING", "name": "STRING"})
RATES = {"rate": "DOUBLE", "base": "DOUBLE", "control": "DOUBLE", "granted": "DOUBLE"}
STRATEGY = Node(
    "Strategy",
    {"key": "STRING", "name": "STRING", "validated": "BOOLEAN", "wins": "INT64", "games": "INT64"}
    | {"support": "DOUBLE", "lift": "DOUBLE", "mined_q": "DOUBLE", "example": "STRING"}
    | {"rate_low": "DOUBLE", "rate_high": "DOUBLE"}
    | {"part": "STRING", "alone": "DOUBLE", "joint": "DOUBLE", "joint_low": "DOUBLE", "joint_high": "DOUBLE"}
    | RATES
    | EFFECT,
)
RUN = Node(  # a training; `stamp` identifies the write of its counts
    "Run",
    {"key": "STRING", "name": "STRING", "policy": "STRING", "deck": "STRING", "stake": "INT64", "ante": "INT64"}
    | {"steps": "INT64", "games": "INT64", "wins": "INT64", "version": "STRING", "engine": "STRING", "stamp": "STRING"},
)
COUNTED = (
    Node(  # games of a run with a joker (`other` is empty) or a pair; without edges, so that a run needs no jokers
        "Counted",
        {"key": "STRING", "run": "STRING", "one": "STRING", "other": "STRING", "games": "INT64", "wins": "INT64"}
        | {"stamp": "STRING"},
    )
)
OBSERVED = {"runs": "INT64", "games": "INT64", "wins": "INT64", "rate": "DOUBLE", "rate_low": "DOUBLE"}
OBSERVED |= {"rate_high": "DOUBLE", "lift": "DOUBLE"} | EFFECT | {"stamp": "STRING"}
SEEN = Node("Seen", {"key": "STRING", "name": "STRING"} | OBSERVED)  # what all runs saw of a joker
NODES = (META, JOKER, CONSUMABLE, VOUCHER, HAND, BOSS, DECK, SKIP_TAG, TRAIT, STRATEGY, RUN, COUNTED, SEEN)

WORKS_WITH = Edge(
    "WORKS_WITH",
    JOKER,
    JOKER,
    EFFECT
    | {"counts": "BOOLEAN", "gain": "DOUBLE", "acts": "DOUBLE", "bought": "DOUBLE", "same": "DOUBLE"}
    | {f"ante_{ante}": "DOUBLE" for ante in (2, 4, 6, 8)},
)
WITH_HAND = Edge("WITH_HAND", JOKER, HAND, EFFECT)
UNDER = Edge("UNDER", JOKER, BOSS, EFFECT)
ON_DECK = Edge("ON_DECK", JOKER, DECK, EFFECT)
HAS = Edge("HAS", JOKER, TRAIT, {})
LEVELS = Edge("LEVELS", CONSUMABLE, HAND, {})
WINS_WITH = Edge(
    "WINS_WITH",
    JOKER,
    JOKER,
    EFFECT | {"base": "DOUBLE", "with_one": "DOUBLE", "with_other": "DOUBLE", "both": "DOUBLE"},
)
USES = Edge("USES", STRATEGY, JOKER, {})
PLAYS = Edge("PLAYS", STRATEGY, HAND, {"how": "STRING"})  # `main`: the hand played most; `levels`: it has more levels
SEEN_WITH = Edge("SEEN_WITH", JOKER, JOKER, OBSERVED | {"more": "DOUBLE"})  # what all runs saw of a pair
EDGES = (WORKS_WITH, WITH_HAND, UNDER, ON_DECK, HAS, LEVELS, WINS_WITH, USES, PLAYS, SEEN_WITH)


def ladybug_ddl() -> list[str]:
    """Return the statements that create the tables of Ladybug."""
    found = []
    for node in NODES:
        columns = ", ".join(f"{name} {kind}" for name, kind in node.properties.items())
        found.append(f"CREATE NODE TABLE IF NOT EXISTS {node.label}({columns}, PRIMARY KEY({node.key}))")
    for edge in EDGES:
        columns = "".join(f", {name} {kind}" for name, kind in edge.properties.items())
        found.append(
            f"CREATE REL TABLE IF NOT EXISTS {edge.label}(FROM {edge.start.label} TO {edge.end.label}{columns})"
        )
    return found


def bolt_ddl() -> list[str]:
    """Return the statements that create the constraints of a Bolt server, with the index of each key."""
    return [f"CREATE CONSTRAINT IF NOT EXISTS FOR (x:{node.label}) REQUIRE x.{node.key} IS UNIQUE" for node in NODES]
