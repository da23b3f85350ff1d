"""The counts of runs in the graph: each run replaces its own ones, so a repeated or a resumed write counts nothing twice."""

from uuid import uuid4

from ante.errors import shown
from ante.knowledge.backends import Backend
from ante.knowledge.observing.counts import ANTE, BadCounts, Row, RunCounts, counts_of, rows_of
from ante.knowledge.schema import COUNTED, META, RUN, VERSION
from ante.knowledge.store import ROWS, Knowledge, OtherSchema

FORGET = "UNWIND $rows AS r MATCH (c:Counted {run: r.run}) WHERE c.stamp <> r.stamp DELETE c"
OWN = ("key", "name", "policy", "deck", "stake", "steps", "version", "engine", "games", "wins")  # properties of a run


def write_run(graph: Knowledge, run: RunCounts) -> None:
    """Write the counts of a run in one transaction, in place of its earlier ones. Raises OtherSchema.

    The graph needs no jokers: an empty one, whose tables exist, is sufficient.
    """
    if (found := graph.version) not in ("", str(VERSION)):
        raise OtherSchema(
            f"the graph has schema {found}, this version writes {VERSION}: write it again with ante know load"
        )
    stamp = uuid4().hex
    rows = [
        {**row, "key": f"{run.key} {row['one']} {row['other']}", "run": run.key, "stamp": stamp}
        for row in rows_of(run.counts)
    ]
    parts = [rows[first : first + ROWS] for first in range(0, len(rows), ROWS)]
    node = {name: getattr(run, name) for name in OWN} | {"ante": ANTE, "stamp": stamp}
    graph.backend.write(
        [
            *((COUNTED.merge, part) for part in parts),
            (FORGET, [{"run": run.key, "stamp": stamp}]),
            (RUN.merge, [node]),
            (META.merge, [{"key": "schema", "value": str(VERSION)}]),
        ]
    )


def read_runs(graph: Backend) -> list[RunCounts]:
    """Return the counts of all runs at ANTE, in the order of their keys. Raises BadCounts."""
    names = ", ".join(f"r.{name} AS {name}" for name in OWN)
    found = graph.read(f"MATCH (r:Run) WHERE r.ante = $ante RETURN {names} ORDER BY key", ante=ANTE)
    rows = graph.read(
        "MATCH (c:Counted) RETURN c.run AS run, c.one AS one, c.other AS other, c.games AS games, c.wins AS wins"
    )
    by_run: dict[str, list[Row]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append(row)
    return [run_of(row, by_run.get(row["key"], [])) for row in found]


def run_of(row: Row, counted: list[Row]) -> RunCounts:
    """Return a run from its properties and its counts. Raises BadCounts."""
    try:
        counts = counts_of(row["games"], row["wins"], counted)
    except BadCounts as error:
        raise BadCounts(f"run {shown(row['name'])} ({row['key']}) cannot be read: {error}") from None
    return RunCounts(**{name: row[name] for name in OWN if name not in ("games", "wins")}, counts=counts)
