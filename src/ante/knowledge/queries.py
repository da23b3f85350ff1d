"""Questions to the graph, in portable Cypher: the same answers from every backend."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ante.errors import BalatroError
from ante.knowledge.backends import Backend

Row = dict[str, Any]
EFFECT = "s.effect AS effect, s.low AS low, s.high AS high, s.n AS n, s.q AS q"
PAIR = f"a.name AS one, b.name AS other, {EFFECT}, s.counts AS counts, s.gain AS gain, s.acts AS acts"
STRATEGY = (
    "s.key AS key, s.name AS name, s.validated AS validated, s.games AS games, s.wins AS wins, s.support AS support, "
    "s.rate AS rate, s.rate_low AS rate_low, s.rate_high AS rate_high, s.lift AS lift, s.mined_q AS mined_q, s.base AS base, "
    f"s.control AS control, s.granted AS granted, {EFFECT}, s.example AS example, s.part AS part, s.alone AS alone, "
    "s.joint AS joint, s.joint_low AS joint_low, s.joint_high AS joint_high"
)
SEEN = (
    "s.runs AS runs, s.games AS games, s.wins AS wins, s.rate AS rate, s.rate_low AS rate_low, s.rate_high AS rate_high, "
    f"s.lift AS lift, {EFFECT}"
)
ANTES = "s.ante_2 AS ante_2, s.ante_4 AS ante_4, s.ante_6 AS ante_6, s.ante_8 AS ante_8"
JOKER = "j.key AS key, j.name AS name, j.text AS text, j.rarity AS rarity, j.cost AS cost, j.gain AS gain, j.scores AS scores"
AMONG = "MATCH (a:Joker)-[s:WORKS_WITH]->(b:Joker) WHERE a.key IN $keys AND b.key IN $keys"
WEAKEST = 0.02  # log10; edges of a path
HOPS = 3


class NoCatalogue(BalatroError):
    """A graph without the catalogue, such as one into which only trainings have written."""


def among(graph: Backend, keys: Sequence[str]) -> list[Row]:
    """Return the measured interactions among these jokers, the strongest first."""
    return graph.read(
        f"{AMONG} RETURN {PAIR} ORDER BY effect DESC, one, other",
        keys=list(keys),
    )


def pair(graph: Backend, one: str, other: str) -> Row | None:
    """Return everything measured about one pair."""
    found = graph.read(
        f"{AMONG} RETURN {PAIR}, s.bought AS bought, s.same AS same, {ANTES}, a.gain AS one_gain, b.gain AS other_gain",
        keys=[one, other],
    )
    return found[0] if found else None


def joker(graph: Backend, key: str) -> Row:
    """Return a joker, its traits, and its measured effects with hands, bosses and decks. Raises NoCatalogue."""
    found = graph.read(f"MATCH (j:Joker {{key: $key}}) RETURN {JOKER}", key=key)
    if not found:
        raise NoCatalogue(f"the graph does not contain {key}: write the catalogue with ante know load --store STORE")
    traits = graph.read("MATCH (j:Joker {key: $key})-[:HAS]->(t:Trait) RETURN t.name AS name ORDER BY name", key=key)
    return {
        **found[0],
        "traits": [each["name"] for each in traits],
        "hands": of_joker(graph, key, "WITH_HAND", "Hand"),
        "bosses": of_joker(graph, key, "UNDER", "Boss"),
        "decks": of_joker(graph, key, "ON_DECK", "Deck"),
    }


def of_joker(graph: Backend, key: str, edge: str, label: str) -> list[Row]:
    """Return a joker's effects along one kind of edge, the largest first."""
    return graph.read(
        f"MATCH (j:Joker {{key: $key}})-[s:{edge}]->(x:{label}) RETURN x.name AS name, {EFFECT} ORDER BY effect DESC, name",
        key=key,
    )


def partners(graph: Backend, key: str, limit: int, descending: bool = True) -> list[Row]:
    """Return the partners of a joker with interactions that count: the strongest, or those that cost the most."""
    sign, order = (">", "DESC") if descending else ("<", "ASC")
    return graph.read(
        f"MATCH (a:Joker {{key: $key}})-[s:WORKS_WITH]-(b:Joker) WHERE s.counts AND s.effect {sign} 0.0 "
        f"RETURN b.name AS name, {EFFECT}, s.gain AS gain ORDER BY effect {order}, name LIMIT {limit:d}",
        key=key,
    )


def top(graph: Backend, limit: int, descending: bool = True, without: Sequence[str] = ()) -> list[Row]:
    """Return the pairs with the largest interactions that count, or the smallest; `without` these jokers."""
    sign, order = (">", "DESC") if descending else ("<", "ASC")
    return graph.read(
        f"MATCH (a:Joker)-[s:WORKS_WITH]->(b:Joker) WHERE s.counts AND s.effect {sign} 0.0 AND NOT a.key IN $without AND NOT "
        f"b.key IN $without RETURN {PAIR} ORDER BY effect {order}, one, other LIMIT {limit:d}",
        without=list(without),
    )


def with_item(graph: Backend, edge: str, label: str, key: str) -> list[Row]:
    """Return the effects of all jokers with a hand, under a boss or on a deck, the largest first."""
    return graph.read(
        f"MATCH (j:Joker)-[s:{edge}]->(x:{label} {{key: $key}}) RETURN j.name AS name, {EFFECT} ORDER BY effect DESC, name",
        key=key,
    )


def strategies(graph: Backend, rejected: bool = False) -> list[Row]:
    """Return the strategies that play has validated, the largest effect first; with `rejected` also the others."""
    return graph.read(
        f"MATCH (s:Strategy) WHERE s.validated OR $rejected RETURN {STRATEGY} ORDER BY effect DESC, key",
        rejected=rejected,
    )


def strategies_of(graph: Backend, key: str) -> list[Row]:
    """Return the validated strategies that use a joker, the largest effect first."""
    return graph.read(
        f"MATCH (s:Strategy)-[:USES]->(j:Joker {{key: $key}}) WHERE s.validated RETURN {STRATEGY} ORDER BY effect DESC, key",
        key=key,
    )


def wins(graph: Backend, one: str, other: str) -> Row | None:
    """Return the interaction of a pair in win rate, None if it is not measured."""
    found = graph.read(
        "MATCH (a:Joker)-[s:WINS_WITH]->(b:Joker) WHERE a.key IN $keys AND b.key IN $keys RETURN a.name AS one, b.name AS "
        f"other, {EFFECT}, s.base AS base, s.with_one AS with_one, s.with_other AS with_other, s.both AS both",
        keys=[one, other],
    )
    return found[0] if found else None


def seen(graph: Backend, limit: int, key: str | None = None) -> list[Row]:
    """Return what trainings saw of jokers, or of one, the largest difference in win rate first."""
    return graph.read(
        f"MATCH (s:Seen) WHERE $key = '' OR s.key = $key RETURN s.name AS name, {SEEN} "
        f"ORDER BY effect DESC, name LIMIT {limit:d}",
        key=key or "",
    )


def seen_pairs(graph: Backend, limit: int, key: str | None = None) -> list[Row]:
    """Return what trainings saw of pairs, or of those with one joker, the largest difference in win rate first."""
    rows = graph.read(
        "MATCH (a:Joker)-[s:SEEN_WITH]->(b:Joker) WHERE $key = '' OR a.key = $key OR b.key = $key "
        f"RETURN a.name AS one, b.name AS other, {SEEN}, s.more AS more ORDER BY effect DESC, one, other LIMIT {limit:d}",
        key=key or "",
    )
    return [{"name": f"{row['one']} + {row['other']}", **row} for row in rows]


def path(graph: Backend, start: str, end: str, limit: int = 5) -> list[Row]:
    """Return chains of synergies from one joker to another over at most HOPS edges, the shortest and strongest first.

    Each edge counts and has an effect of at least WEAKEST; a chain's strength is its weakest edge. The chains are joined
    here: Ladybug 0.22 loses rows of undirected patterns with two edges.
    """
    rows = graph.read(
        "MATCH (a:Joker)-[s:WORKS_WITH]->(b:Joker) WHERE s.counts AND s.effect >= $least "
        "RETURN a.key AS one, b.key AS other, a.name AS one_name, b.name AS other_name, s.effect AS effect",
        least=WEAKEST,
    )
    names = {row[side]: row[f"{side}_name"] for row in rows for side in ("one", "other")}
    near: dict[str, dict[str, float]] = {}
    for row in rows:
        near.setdefault(row["one"], {})[row["other"]] = row["effect"]
        near.setdefault(row["other"], {})[row["one"]] = row["effect"]
    chains: list[tuple[str, ...]] = [(start,)]
    for _ in range(HOPS):
        chains = [(*chain, after) for chain in chains for after in near.get(chain[-1], {}) if after not in chain]
        found = [chain for chain in chains if chain[-1] == end]
        if found:
            described = [chain_of(chain, names, near) for chain in found]
            return sorted(described, key=lambda chain: (-chain["weakest"], chain["jokers"]))[:limit]
    return []


def chain_of(chain: Sequence[str], names: dict[str, str], near: dict[str, dict[str, float]]) -> Row:
    """Return the names and effects of a chain of keys."""
    effects = [near[one][other] for one, other in pairwise(chain)]
    return {"jokers": [names[key] for key in chain], "effects": effects, "weakest": min(effects)}


def about(graph: Backend) -> str:
    """Return where the measured tables are from, as JSON text."""
    found = graph.read("MATCH (m:Meta {key: 'about'}) RETURN m.value AS value")
    return str(found[0]["value"]) if found else "{}"
