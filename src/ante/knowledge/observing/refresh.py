"""Writes the estimates over all runs of a graph into the graph, in place of earlier ones."""

from dataclasses import asdict, dataclass
from uuid import uuid4

from ante.knowledge.measuring.table import RATE, read_table
from ante.knowledge.observing.estimates import LEAST, Estimate, estimates_of, name_of
from ante.knowledge.observing.runs import read_runs
from ante.knowledge.schema import SEEN, SEEN_WITH, SORTED
from ante.knowledge.store import ROWS, Knowledge
from ante.knowledge.winning.table import read_winning

FORGET = (
    "UNWIND $rows AS r MATCH (s:Seen) WHERE s.stamp <> r.stamp DELETE s",
    "UNWIND $rows AS r MATCH (:Joker)-[s:SEEN_WITH]->(:Joker) WHERE s.stamp <> r.stamp "
    f"WITH s, s.stamp AS stamp {SORTED.format('stamp')} DELETE s",
)


@dataclass(frozen=True)
class Refreshed:
    """What was aggregated: runs, their games that reached the ante of line-ups, and the estimates."""

    runs: int
    games: int
    estimates: tuple[Estimate, ...]

    @property
    def significant(self) -> int:
        """Number of significant estimates."""
        return sum(each.q <= RATE for each in self.estimates)


def refresh(graph: Knowledge, least: int = LEAST) -> Refreshed:
    """Aggregate the counts of all runs, write the estimates in one transaction, and return them.

    A graph without jokers, into which only trainings have written, receives the catalogue and the measured tables first.
    """
    if not graph.backend.read("MATCH (j:Joker) RETURN j.key AS key LIMIT 1"):
        graph.load(read_table(), read_winning())
    runs = read_runs(graph.backend)
    found, stamp = estimates_of(runs, least), uuid4().hex
    nodes = [
        {**row_of(each), "key": each.one, "name": name_of(each.one), "stamp": stamp} for each in found if not each.other
    ]
    edges = [
        {**row_of(each), "source": each.one, "target": each.other, "more": each.more, "stamp": stamp}
        for each in found
        if each.other
    ]
    work = [(SEEN.merge, nodes)]
    work += [(SEEN_WITH.merge, edges[first : first + ROWS]) for first in range(0, len(edges), ROWS)]
    graph.backend.write([*work, *((statement, [{"stamp": stamp}]) for statement in FORGET)])
    return Refreshed(len(runs), sum(run.games for run in runs), tuple(found))


def row_of(each: Estimate) -> dict[str, object]:
    """Return the numbers of an estimate."""
    return {name: value for name, value in asdict(each).items() if name not in ("one", "other", "more")}
