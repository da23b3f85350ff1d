"""What trainings saw: counts of runs, written once each, and estimates compared with slow and with other computations."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ante.catalog.jokers import JOKERS, Joker
from ante.knowledge import queries
from ante.knowledge.backends import BadStore, check_store
from ante.knowledge.measuring.table import Table
from ante.knowledge.observing.counts import KEYS, BadCounts, N, RunCounts, add_games, counts_of, empty_counts, rows_of
from ante.knowledge.observing.estimates import compared, estimates_of
from ante.knowledge.observing.refresh import refresh
from ante.knowledge.observing.runs import read_runs, write_run
from ante.knowledge.schema import ON_DECK, PLAYS, UNDER, USES, WINS_WITH, WITH_HAND, WORKS_WITH, Edge
from ante.knowledge.store import Knowledge, NotALoad, OtherSchema, TooManyCounts, open_knowledge
from tests.knowledge.conftest import Run
from tests.knowledge.made import made_table, made_winning

Game = tuple[frozenset[int], bool]


def games_of(rng: np.random.Generator, n: int, chance: Callable[[frozenset[int]], float], most: int = 9) -> list[Game]:
    """Return n games with line-ups of jokers 1 to `most`, won with a chance that depends on them."""
    found = []
    for _ in range(n):
        held = frozenset(map(int, rng.choice(np.arange(1, most + 1), rng.integers(0, 5), replace=False)))
        found.append((held, bool(rng.random() < chance(held))))
    return found


def summed(games: list[Game]) -> NDArray[np.int64]:
    """Return the counts of games, as the driver sums them."""
    held, won = np.zeros((len(games), N), dtype=np.bool_), np.array([won for _, won in games], dtype=np.bool_)
    for row, (jokers, _) in zip(held, games, strict=True):
        row[list(jokers)] = True
    counts = empty_counts()
    add_games(counts, held, won)
    return counts


def run_of(key: str, games: list[Game], **changes: Any) -> RunCounts:
    run = RunCounts(key, f"run {key}", "shortlist", "b_red", 1, 1000, "1.0", "engine", summed(games))
    return replace(run, **changes)


def counted_slowly(games: list[Game]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return games and wins of each joker and pair by one pass over sets."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for held, won in games:
        for items in (*combinations(sorted(held), 1), *combinations(sorted(held), 2)):
            key = (KEYS[items[0]], KEYS[items[1]] if len(items) == 2 else "")
            n, wins = found.get(key, (0, 0))
            found[key] = (n + 1, wins + won)
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(0, 40))
def test_rows_are_the_counts_of_a_slow_count_and_can_be_read_again(seed: int, n: int) -> None:
    games = games_of(np.random.default_rng(seed), n, lambda _: 0.5)
    counts = summed(games)
    rows = rows_of(counts)
    assert {(row["one"], row["other"]): (row["games"], row["wins"]) for row in rows} == counted_slowly(games)
    back = counts_of(n, sum(won for _, won in games), rows)
    assert np.array_equal(np.triu(back, 1), np.triu(counts, 1)) and np.array_equal(back[:, 0, 0], counts[:, 0, 0])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(1, 40), parts=st.integers(1, 5))
def test_counts_of_several_runners_add_up_to_those_of_one(seed: int, n: int, parts: int) -> None:
    games = games_of(np.random.default_rng(seed), n, lambda _: 0.5)
    assert np.array_equal(sum(summed(games[k::parts]) for k in range(parts)), summed(games))


@pytest.fixture(params=["ladybug", pytest.param("bolt", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Knowledge]:
    """A graph without runs and estimates, open for writing."""
    if request.param == "ladybug":
        with open_knowledge(str(tmp_path / "seen.lbug"), write=True) as graph:
            yield graph
        return
    graph = request.getfixturevalue("bolt_graph")
    yield graph
    for label in ("Run", "Counted", "Seen"):
        graph.backend.write([(f"UNWIND $rows AS r MATCH (x:{label}) WHERE x.key <> r.key DELETE x", [{"key": "-"}])])
    graph.backend.write(
        [("UNWIND $rows AS r MATCH (:Joker)-[x:SEEN_WITH]->(:Joker) WHERE x.stamp <> r.key DELETE x", [{"key": "-"}])]
    )


def test_a_run_replaces_its_own_counts_and_no_others(store: Knowledge) -> None:
    rng = np.random.default_rng(1)
    one, other = (games_of(rng, 60, lambda _: 0.4) for _ in range(2))
    write_run(store, run_of("a", one, steps=500))
    write_run(store, run_of("b", other))
    longer = [*one, *games_of(rng, 30, lambda _: 0.4, most=30)]
    for games in (longer, longer, one[:10]):  # written twice; then again from an earlier checkpoint, with fewer pairs
        write_run(store, run_of("a", games))
        first, second = read_runs(store.backend)
        assert (first.name, first.games, first.wins) == ("run a", len(games), sum(won for _, won in games))
        assert {(r["one"], r["other"]): (r["games"], r["wins"]) for r in rows_of(first.counts)} == counted_slowly(games)
        assert rows_of(second.counts) == rows_of(run_of("b", other).counts)
    stored = store.backend.read("MATCH (c:Counted) WHERE c.run = 'a' RETURN c.key AS key")
    assert len(stored) == len(counted_slowly(one[:10])), "counts of earlier writes are deleted"


@pytest.mark.parametrize(("games", "wins"), [(5, 6), (-1, 0), (61, 0), (2, -1)])
def test_counts_that_contradict_each_other_are_refused(games: int, wins: int, tmp_path: Path) -> None:
    with open_knowledge(str(tmp_path / "bad.lbug"), write=True) as graph:
        write_run(graph, run_of("a", games_of(np.random.default_rng(1), 60, lambda _: 0.4)))
        change = "UNWIND $rows AS r MATCH (c:Counted {other: ''}) SET c.games = r.games, c.wins = r.wins"
        graph.backend.write([(change, [{"games": games, "wins": wins}])])
        with pytest.raises(BadCounts, match=r"run 'run a' \(a\) cannot be read: .* delete the run, or resume it"):
            refresh(graph)
        assert queries.seen(graph.backend, 5) == []


def test_runs_of_another_schema_are_not_mixed(tmp_path: Path) -> None:
    with open_knowledge(str(tmp_path / "old.lbug"), write=True) as graph:
        graph.backend.write(
            [("UNWIND $rows AS r MERGE (m:Meta {key: r.key}) SET m.value = r.value", [{"key": "schema", "value": "2"}])]
        )
        with pytest.raises(OtherSchema, match="schema 2, this version writes 4: write it again with ante know load"):
            write_run(graph, run_of("a", []))
        graph.load(made_table(5))
        write_run(graph, run_of("a", []))
        assert [run.games for run in read_runs(graph.backend)] == [0]


def one_by_one(runs: list[list[Game]], items: frozenset[int]) -> tuple[float, float, float]:
    """Return Mantel and Haenszel's difference, the z of Cochran, Mantel and Haenszel, and the lift, game by game."""
    weights = difference = observed = expected = variance = 0.0
    for games in runs:
        having = [won for held, won in games if items <= held]
        without = [won for held, won in games if not items <= held]
        if not having or not without:
            continue
        weight = len(having) * len(without) / len(games)
        weights += weight
        difference += weight * (np.mean(having) - np.mean(without))
        rate = np.mean([won for _, won in games])
        observed += sum(having)
        expected += len(having) * rate
        # variance of a sum drawn without replacement
        variance += len(having) * rate * (1 - rate) * len(without) / (len(games) - 1)
    return difference / weights, (observed - expected) / np.sqrt(variance), observed / expected


def test_estimates_equal_those_computed_game_by_game() -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(2)
    runs = [games_of(rng, n, lambda held, base=base: base + 0.3 * (3 in held)) for n, base in ((600, 0.1), (400, 0.5))]
    found = {
        (each.one, each.other): each for each in estimates_of([run_of(str(k), games) for k, games in enumerate(runs)])
    }
    assert len(found) == 9 + 36
    for items in (*combinations(range(1, 10), 1), *combinations(range(1, 10), 2)):
        each = found[KEYS[items[0]], KEYS[items[1]] if len(items) == 2 else ""]
        effect, z, lift = one_by_one(runs, frozenset(items))
        assert each.effect == pytest.approx(effect, rel=1e-3) and each.lift == pytest.approx(lift, rel=1e-3)
        assert each.games == sum(set(items) <= held for games in runs for held, _ in games)
        assert each.q >= 0.999 * 2 * norm.sf(abs(z)), "a false discovery rate is at least the p-value"
        assert each.low < each.effect < each.high and each.rate_low < each.rate < each.rate_high
    strong = found[KEYS[3], ""]
    assert strong.low < 0.3 < strong.high and strong.q < 1e-6 and strong.more == 0
    pair = found[KEYS[3], KEYS[5]]
    assert pair.more == pytest.approx(pair.effect - max(strong.effect, found[KEYS[5], ""].effect), abs=2e-4)


def test_intervals_contain_the_true_difference_in_95_of_100_samples() -> None:
    rng, inside = np.random.default_rng(4), []
    for _ in range(2000):
        n1, n0 = np.array([40, 15, 80]), np.array([60, 45, 30])
        base = np.array([0.2, 0.5, 0.35])
        a, c = rng.binomial(n1, base + 0.15), rng.binomial(n0, base)
        found = compared(n1[:, None], a[:, None], n1 + n0, a + c)
        inside.append(abs(found.effect[0] - 0.15) <= found.half[0])
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_a_joker_of_the_better_run_has_no_effect_of_its_own() -> None:
    """Pooled without strata, its games win far more often: the run that buys it wins more for other reasons."""
    rng = np.random.default_rng(3)
    weak = [(frozenset({1} if rng.random() < 0.1 else {2}), bool(rng.random() < 0.1)) for _ in range(600)]
    good = [(frozenset({1} if rng.random() < 0.9 else {2}), bool(rng.random() < 0.8)) for _ in range(600)]
    pooled = [np.mean([won for held, won in (*weak, *good) if (1 in held) is having]) for having in (True, False)]
    assert pooled[0] - pooled[1] > 0.4
    (first, *_) = estimates_of([run_of("weak", weak), run_of("good", good)])
    assert first.one == KEYS[1] and abs(first.effect) < 0.08 and first.q > 0.05


def test_what_never_varies_is_left_out() -> None:
    always = [(frozenset({1, 2}), True)] * 50
    assert estimates_of([]) == [] and estimates_of([run_of("a", always)]) == []
    rare = [*[(frozenset({1}), True)] * 19, *[(frozenset({2}), False)] * 100]
    assert estimates_of([run_of("a", rare)]) == []
    assert [each.one for each in estimates_of([run_of("a", rare)], least=19)] == [KEYS[1], KEYS[2]]


def runs_with_a_good_pair(store: Knowledge, seed: int = 6) -> list[list[Game]]:
    rng = np.random.default_rng(seed)
    runs = [games_of(rng, 400, lambda held: 0.2 + 0.4 * ({2, 5} <= held)) for _ in range(3)]
    for k, games in enumerate(runs):
        write_run(store, run_of(f"run{k}", games))
    return runs


def test_refreshed_estimates_are_those_of_all_runs_and_replace_earlier_ones(store: Knowledge) -> None:
    store.load(made_table(40))
    runs = runs_with_a_good_pair(store)
    found = refresh(store)
    assert (found.runs, found.games, len(found.estimates)) == (3, 1200, 45)
    best = queries.seen_pairs(store.backend, 3)
    assert (best[0]["one"], best[0]["other"]) == (JOKERS[2].name, JOKERS[5].name)
    assert best[0]["effect"] == pytest.approx(one_by_one(runs, frozenset({2, 5}))[0], rel=1e-3)
    assert best[0]["more"] > 0.1 and best[0]["q"] < 0.001
    assert [row["name"] for row in queries.seen(store.backend, 1, KEYS[5])] == [JOKERS[5].name]
    assert {JOKERS[5].name in row["name"] for row in queries.seen_pairs(store.backend, 50, KEYS[5])} == {True}
    again = refresh(store, least=150)
    assert 0 < len(again.estimates) < 45
    kept = len(queries.seen(store.backend, 150)) + len(queries.seen_pairs(store.backend, 150))
    assert kept == len(again.estimates), "estimates that are left out now are deleted"


def test_loading_again_replaces_measurements_and_keeps_what_trainings_saw(store: Knowledge) -> None:
    table, winning = made_table(40), made_winning()
    store.load(table, winning)
    runs_with_a_good_pair(store)
    refresh(store)
    seen, runs = queries.seen_pairs(store.backend, 50), [run.key for run in read_runs(store.backend)]
    fewer = Table(
        {name: values[5:] for name, values in table.pairs.items()},
        {name: values[8:] for name, values in table.effects.items()},
        table.about,
    )
    store.load(fewer, replace(winning, strategies=winning.strategies[1:], pairs=()))

    def stored(*kinds: Edge) -> list[int]:
        return [len(store.backend.read(kind.match)) for kind in kinds]

    kept = [winning.strategies[1].key]
    assert [row["key"] for row in queries.strategies(store.backend, rejected=True)] == kept
    assert {row["source"] for kind in (USES, PLAYS) for row in store.backend.read(kind.match)} == set(kept)
    assert stored(WINS_WITH, WORKS_WITH, WITH_HAND, UNDER, ON_DECK) == [0, len(table.pairs["one"]) - 5, 38, 38, 38]
    assert queries.seen_pairs(store.backend, 50) == seen and [run.key for run in read_runs(store.backend)] == runs
    store.load(table)
    assert [row["key"] for row in queries.strategies(store.backend, rejected=True)] == kept, "no strategies were given"
    store.load(table, replace(winning, strategies=(), pairs=()))
    assert stored(WORKS_WITH, WITH_HAND, USES, PLAYS) == [len(table.pairs["one"]), 40, 0, 0]
    assert queries.strategies(store.backend, rejected=True) == []


def test_a_graph_that_only_trainings_have_written_receives_the_catalogue(tmp_path: Path) -> None:
    with open_knowledge(str(tmp_path / "runs.lbug"), write=True) as graph:
        runs_with_a_good_pair(graph)
        with pytest.raises(queries.NoCatalogue, match=r"does not contain j_joker: .* ante know load"):
            queries.joker(graph.backend, "j_joker")
        refresh(graph)
    with open_knowledge(str(tmp_path / "runs.lbug")) as graph:
        assert queries.joker(graph.backend, "j_joker")["name"] == "Joker"
        assert len(queries.seen_pairs(graph.backend, 150)) == 36


def test_an_export_of_many_runs_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts of runs are more rows than a measured table may have."""
    monkeypatch.setattr("ante.knowledge.store.MOST_ROWS", 12_000)
    monkeypatch.setattr("ante.knowledge.store.MOST_COUNTED", 20_000)
    games = games_of(np.random.default_rng(9), 400, lambda _: 0.5, most=150)
    with open_knowledge(str(tmp_path / "one.lbug"), write=True) as graph:
        graph.load(made_table(5))
        for k in range(12_500 // len(counted_slowly(games)) + 1):
            write_run(graph, run_of(f"{k}", games))
        graph.export(tmp_path / "files")
        runs = read_runs(graph.backend)
        with (
            monkeypatch.context() as patch,
            pytest.raises(TooManyCounts, match="more than the 12,000 that an import reads"),
        ):
            patch.setattr("ante.knowledge.store.MOST_COUNTED", 12_000)
            graph.export(tmp_path / "more")
        assert not (tmp_path / "more").exists()
    with open_knowledge(str(tmp_path / "two.lbug"), write=True) as graph:
        graph.import_from(tmp_path / "files")
        again = read_runs(graph.backend)
    assert [run.key for run in again] == [run.key for run in runs] and len(runs) > 3
    assert all(np.array_equal(one.counts, other.counts) for one, other in zip(runs, again, strict=True))
    monkeypatch.setattr("ante.knowledge.store.MOST_COUNTED", 12_000)
    with (
        open_knowledge(str(tmp_path / "three.lbug"), write=True) as graph,
        pytest.raises(NotALoad, match="12,000 rows"),
    ):
        graph.import_from(tmp_path / "files")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """One folder per test: each has its own graph."""
    return tmp_path / "cache"


def test_the_terminal_refreshes_and_shows_what_was_seen(know: Run, tmp_path: Path) -> None:
    store = str(tmp_path / "seen.lbug")
    with open_knowledge(store, write=True) as graph:
        graph.load(made_table(40))
        runs_with_a_good_pair(graph)
    assert "no estimates: train with --tracking.knowledge" in know("seen", "--store", store)[1]
    assert json.loads(know("seen", "--store", store, "--json")[1]) == []
    assert know("refresh", "--store", store)[1].startswith("3 runs, 1,200 games: estimates of 9 jokers and 36 pairs, ")
    code, out, _ = know("seen", JOKERS[Joker(2)].name, "--store", store)
    pair = f"{JOKERS[2].name} + {JOKERS[5].name}"
    assert code == 0 and pair in out and "not a causal effect" in out
    rows = json.loads(know("seen", "--pairs", "--most", "3", "--store", store, "--json")[1])
    assert rows[0]["name"] == pair and len(rows) == 3
    rows = json.loads(know("seen", JOKERS[2].name, "--pairs", "--store", store, "--json")[1])
    assert rows and all("more" in row for row in rows), "pairs, without the joker itself"
    assert len(json.loads(know("seen", "--store", store, "--json")[1])) == 9
    assert "observed in trainings, not causal" in know("joker", KEYS[2], "--store", store)[1]
    assert json.loads(know("joker", KEYS[30], "--store", store, "--json")[1])["seen"] is None
    assert json.loads(know("refresh", "--store", store, "--json")[1])["games"] == 1200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("refresh", "--store", "default"), "the default store is read-only"),
        (("refresh", "--store", "ftp://x"), "'ftp':// is no graph"),
        (("seen", "barron"), "did you mean Baron?"),
        (("seen", "--store", "absent.lbug"), "there is no graph in absent.lbug"),
    ],
)
def test_a_mistake_ends_with_one_sentence(know: Run, words: tuple[str, ...], message: str) -> None:
    code, _, err = know(*words)
    assert code == 2 and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "name", ["knowledge.lbug", "/data/a b.lbug", "bolt://graph:7687", "neo4j+s://10.0.0.7", "bolt://[::1]:7687"]
)
def test_files_and_servers_are_stores(name: str) -> None:
    assert check_store(name) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bolt://me:hunter2@host:7687", "credentials in KNOWLEDGE_USER and KNOWLEDGE_PASSWORD"),
        ("http://host", "'http':// is no graph"),
        ("bolt://", "is no Bolt server"),
        ("bolt://host:7687/path?x=1", "is no Bolt server"),
        ("bolt://host:99999", "is no Bolt server"),
        ("default", "cannot be written"),
        (" ", "cannot be written"),
        ("a\0b", "cannot be written"),
    ],
)
def test_other_stores_of_a_run_are_refused_without_their_secrets(name: str, message: str) -> None:
    with pytest.raises(BadStore, match=message) as refused:
        check_store(name)
    assert "hunter2" not in str(refused.value)
