"""Strategies: mined sets against a search of all, grants against the games they continue, statistics against others."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, fisher_exact

from ante.agents.baselines import Baseline
from ante.agents.seed_lists import dataset_seeds
from ante.catalog.cards import Edition
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, by_key
from ante.engine.core.rng import seed_hash
from ante.engine.core.state import copy_states, new_states
from ante.engine.run import set_seed
from ante.engine.validation import validate_states
from ante.env.games import Games
from ante.knowledge import queries
from ante.knowledge.measuring.positions import TooFewPositions
from ante.knowledge.measuring.statistics import Z_95
from ante.knowledge.measuring.sums import OtherMeasurement
from ante.knowledge.measuring.table import BadTable
from ante.knowledge.store import Knowledge, open_knowledge
from ante.knowledge.winning import grants, run, starts
from ante.knowledge.winning.grants import Grant, add, admits, control_of, grant_of, play_granted, typical_items
from ante.knowledge.winning.mining import Mined, frequent, items_of, mine, name_of
from ante.knowledge.winning.outcomes import Outcomes, TooManyGames
from ante.knowledge.winning.run import Field, TooFewGames, best_part, interaction, strongest, validated
from ante.knowledge.winning.starts import Starts, kept_starts, starts_of
from ante.knowledge.winning.table import STRATEGIES, read_winning, winning_in
from tests.knowledge.made import made_table, made_winning
from tests.support.table import deal

CARDS = "S_K H_Q H_9 D_9 C_4 H_2 S_K"
GOAL = 3  # ante that a baseline beats often enough


def made_starts(line_ups: Sequence[Sequence[str]], won: Sequence[bool]) -> Starts:
    """Return games with these jokers, all with the same cards and without played hands."""
    states = new_states(len(line_ups))
    for i, keys in enumerate(line_ups):
        states[i] = deal(CARDS, *keys)
        set_seed(states[i], f"A{i + 111111}")
        states[i].seed_hash = seed_hash(states[i])
    return Starts(states, np.array(won), 2 * len(won))


@pytest.fixture(scope="module")
def played() -> Starts:
    """Games of a baseline at the beginning of ante 2 that are won if ante 3 is beaten."""
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        return starts_of(Baseline("greedy"), dataset_seeds(48, 7))


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Let games begin at ante 2 and end with the boss of GOAL."""

    def short_games(player: Any, n: int, deck: str, stake: int) -> Games:
        return Games(n, deck, stake, reorder=player.reorder, discrete=player.discrete, goal=GOAL)

    patch.setattr(starts, "ANTE", 2)
    patch.setattr(starts, "new_games", short_games)
    patch.setattr(grants, "new_games", short_games)


def test_frequent_sets_are_those_of_a_search_of_all() -> None:
    rng = random.Random(1)
    games = [{name for name in "abcdefgh" if rng.random() < 0.4} for _ in range(60)]
    found = {items: int(mask.sum()) for items, mask in frequent(games, 8, 4)}
    expected = {}
    for size in range(1, 5):
        for items in combinations("abcdefgh", size):
            count = sum(set(items) <= each for each in games)
            if count >= 8:
                expected[items] = count
    assert found == expected and max(map(len, found)) >= 3


def test_a_planted_strategy_is_proposed_and_its_figures_are_those_of_the_counts() -> None:
    rng = random.Random(2)
    names = [row.key for row in JOKERS[1:9]]
    line_ups = [[name for name in names if rng.random() < 0.3] for _ in range(400)]
    planted = set(names[:2])
    won = [rng.random() < (0.95 if planted <= set(each) else 0.4) for each in line_ups]
    found = mine(made_starts(line_ups, won))
    best = found[0]
    assert set(best.items) == planted and best.proposed
    games = [w for each, w in zip(line_ups, won, strict=True) if planted <= set(each)]
    assert (best.n, best.wins) == (len(games), sum(games))
    assert best.support == sum(games) / sum(won) and best.lift == pytest.approx(mean(games) / mean(won))
    others = [
        [sum(games), len(games) - sum(games)],
        [sum(won) - sum(games), len(won) - sum(won) - len(games) + sum(games)],
    ]
    assert best.p == pytest.approx(fisher_exact(others, "greater").pvalue)
    assert best.low < best.rate < best.high and best.p <= best.q
    parts = [[w for each, w in zip(line_ups, won, strict=True) if name in each] for name in planted]
    assert best.more == pytest.approx(best.rate - max(map(mean, parts)))


def test_without_an_effect_few_sets_are_proposed() -> None:
    rng = random.Random(3)
    names = [row.key for row in JOKERS[1:13]]
    proposed = 0
    for _ in range(5):
        line_ups = [[name for name in names if rng.random() < 0.35] for _ in range(300)]
        proposed += sum(each.proposed for each in mine(made_starts(line_ups, [rng.random() < 0.5 for _ in line_ups])))
    assert proposed <= 2  # the false discovery rate is 5 % per family; most families have no proposal


def test_items_are_line_up_main_hand_and_levels() -> None:
    s = deal(CARDS, "j_baron", "j_mime")
    s.plays[:], s.levels[:] = 0, 1
    s.plays[Hand.TWO_PAIR], s.levels[Hand.FLUSH] = 5, 4
    assert items_of(s) == {"j_baron", "j_mime", "main:Two Pair", "levels:Flush"}
    s.levels[Hand.FLUSH] = 3
    assert items_of(s) == {"j_baron", "j_mime", "main:Two Pair"}
    assert name_of(("j_baron", "levels:Flush", "main:Two Pair")) == "Baron + levels of Flush + mostly Two Pair"


def test_a_grant_adds_negative_jokers_with_typical_counters_and_levels() -> None:
    found = made_starts([["j_green_joker"], ["j_green_joker"], ["j_green_joker"], ["j_baron"]], [True] * 4)
    for i, value in enumerate((3.0, 9.0, 40.0)):
        found.states[i].jokers[0].value = value
    items = typical_items(found)
    game = copy_states(found.states[3:].view(np.recarray))
    before, free = int(game[0].levels[Hand.FLUSH]), int(game[0].joker_slots)
    add(game[0], grant_of(("j_green_joker", "j_juggler", "levels:Flush", "main:Pair")), items)
    validate_states(game)
    s = game[0]
    assert [JOKERS[int(s.jokers[k].id)].key for k in range(3)] == ["j_baron", "j_green_joker", "j_juggler"]
    assert s.jokers[1].value == 9.0 and s.jokers[1].edition == s.jokers[2].edition == Edition.NEGATIVE
    assert s.levels[Hand.FLUSH] == before + 3 and s.joker_slots == free
    assert s.hand_size == found.states[3].hand_size + 1, "Juggler works"
    assert len({int(s.jokers[k].created) for k in range(3)}) == 3


def test_a_control_has_other_jokers_of_the_same_rarities() -> None:
    s = deal(CARDS, "j_joker")
    items = ("j_baron", "j_mime", "levels:Flush")
    for seed in ("A", "B", "C"):
        control = control_of(items, s, seed)
        assert control == control_of(items, s, seed)
        assert [JOKERS[j].rarity for j in control.jokers] == [JOKERS[by_key[key]].rarity for key in items[:2]]
        assert not {by_key["j_joker"], by_key["j_baron"], by_key["j_mime"]} & set(control.jokers)
        assert control.hand not in (-1, Hand.FLUSH)
    assert len({control_of(items, s, seed).jokers for seed in "ABCDE"}) > 1


def test_a_game_that_has_a_joker_cannot_test_it() -> None:
    s = deal(CARDS, "j_baron")
    s.plays[:], s.levels[:] = 0, 1
    s.plays[Hand.PAIR] = 2
    assert admits(("j_mime", "main:Pair"), s) and admits(("j_mime", "levels:Flush"), s)
    assert not admits(("j_baron", "j_mime"), s) and not admits(("j_mime", "main:Flush"), s)
    s.levels[Hand.FLUSH] = 4
    assert not admits(("j_mime", "levels:Flush"), s)


def test_without_a_grant_a_game_ends_as_it_did(played: Starts, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)
    n = len(played.won)
    assert 5 < played.won.sum() < n - 5
    items = typical_items(played)
    again = play_granted(Baseline("greedy"), played, range(n), [Grant(())] * n, items, "b_red", 1)
    np.testing.assert_array_equal(again, played.won)
    strong = Grant(tuple(int(by_key[key]) for key in ("j_triboulet", "j_cavendish", "j_stuntman")))
    assert play_granted(Baseline("greedy"), played, range(n), [strong] * n, items, "b_red", 1).sum() > played.won.sum()


def test_starts_are_stored(played: Starts, tmp_path: Path) -> None:
    played.write(tmp_path / "x.npz")
    found = Starts.read(tmp_path / "x.npz")
    assert found.digest == played.digest and found.states.tobytes() == played.states.tobytes()
    assert found.seed(0) in dataset_seeds(48, 7)


def test_a_player_that_reaches_the_ante_in_no_game_is_named(tmp_path: Path) -> None:
    @contextmanager
    def quiet(total: int, about: str) -> Iterator[Callable[[int], None]]:
        yield lambda count: None

    with pytest.raises(TooFewPositions, match="random reached ante 6 in none of 2 games: use a stronger player"):
        kept_starts(Baseline("random"), dataset_seeds(2, 7), "random", tmp_path, quiet, "games")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("error")
def test_games_of_which_none_is_won_have_no_strategies() -> None:
    assert mine(made_starts([["j_baron", "j_mime"]] * 30, [False] * 30)) == []


def test_results_are_continued_and_not_mixed(tmp_path: Path) -> None:
    calls: list[list[int]] = []

    def play(which: NDArray[np.int64]) -> NDArray[np.bool_]:
        calls.append(which.tolist())
        return which % 2 == 0

    file = tmp_path / "outcomes.parquet"
    assert Outcomes(file, "k").of("a", ["S0", "S1"], play).tolist() == [True, False]
    again = Outcomes(file, "k")
    assert again.of("a", ["S1", "S2", "S0"], play).tolist() == [False, False, True]
    assert calls == [[0, 1], [1]] and again.games == 3
    with pytest.raises(OtherMeasurement, match="another engine"):
        Outcomes(file, "other")


def test_results_that_could_not_be_read_again_are_not_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = Outcomes(tmp_path / "outcomes.parquet", "k")
    outcomes.won = {"a": {f"S{i}": i % 2 == 0 for i in range(60_000)}}  # more rows than a measured table may have
    outcomes.write()
    assert Outcomes(outcomes.file, "k").won == outcomes.won
    monkeypatch.setattr("ante.knowledge.winning.outcomes.MOST_GAMES", 60_000)
    with pytest.raises(TooManyGames, match="would have more than 60,000 results: play fewer games"):
        outcomes.of("b", ["S0"], lambda which: which % 2 == 0)
    assert outcomes.of("a", ["S0", "S1"], lambda _: pytest.fail("played")).tolist() == [True, False]


class MadeField:
    """Arms with given results."""

    def __init__(self, base: NDArray[np.bool_], **arms: NDArray[np.bool_]) -> None:
        self.starts, self.arms = Starts(new_states(len(base)), base, len(base)), arms

    def admitted(self, items: Sequence[str], each: int) -> NDArray[np.int64]:
        return np.arange(len(self.starts.won))[:each]

    def granted(self, items: Sequence[str], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self.arms["_".join(key.removeprefix("j_") for key in items)]

    def control(self, items: Sequence[str], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self.arms["control"]


def test_validation_is_an_exact_test_of_paired_games() -> None:
    rng = np.random.default_rng(4)
    base, control, granted, first, second = (rng.random(120) < share for share in (0.5, 0.55, 0.7, 0.52, 0.6))
    mined = made_starts([["j_baron", "j_mime"]] * 2, [False, True])
    each = Mined(("j_baron", "j_mime"), 40, 30, *[0.5] * 8)
    found = validated(each, MadeField(base, control=control, baron_mime=granted, baron=first, mime=second), mined, 120)  # type: ignore[arg-type]
    pairs = list(zip(granted.tolist(), control.tolist(), strict=True))
    better, worse = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    assert found.q_effect == pytest.approx(binomtest(better, better + worse, alternative="greater").pvalue)
    differences = [float(a) - float(b) for a, b in pairs]
    half = Z_95 * stdev(differences) / math.sqrt(120)
    assert found.effect == pytest.approx(mean(differences), abs=1e-4)
    assert (found.low_effect, found.high_effect) == pytest.approx(
        (mean(differences) - half, mean(differences) + half), abs=1e-4
    )
    assert (found.tested, found.example) == (120, mined.seed(1))


def test_a_strategy_is_compared_with_the_best_part_that_can_be_granted() -> None:
    rng = np.random.default_rng(6)
    base, pair, first, second = (rng.random(90) < share for share in (0.4, 0.9, 0.5, 0.7))
    which = np.arange(90)
    field: Any = MadeField(base, baron_mime=pair, baron=first, mime=second)
    name, won = best_part(("j_baron", "j_mime"), field, which)
    assert (name, won.tolist()) == ("Mime", second.tolist())
    field.arms = {"baron_main:Pair": first, "mime_main:Pair": second}  # the hand played most cannot be granted
    name, won = best_part(("j_baron", "j_mime", "main:Pair"), field, which)
    assert (name, won.tolist()) == ("Mime + mostly Pair", second.tolist())
    name, won = best_part(("j_baron", "main:Pair"), field, which)
    assert (name, won.tolist()) == ("", base.tolist())


def test_the_interaction_of_a_pair_is_a_difference_of_differences() -> None:
    rng = np.random.default_rng(5)
    base, one, other, both = (rng.random(200) < share for share in (0.4, 0.5, 0.5, 0.9))
    found = interaction("j_mime", "j_baron", MadeField(base, mime=one, baron=other, baron_mime=both), 200)  # type: ignore[arg-type]
    values = [float(d) - float(b) - float(c) + float(a) for a, b, c, d in zip(base, one, other, both, strict=True)]
    assert found.effect == pytest.approx(mean(values), abs=1e-4)
    assert found.high - found.low == pytest.approx(2 * Z_95 * stdev(values) / math.sqrt(200), abs=1e-3)
    assert (found.base, found.both) == pytest.approx((base.mean(), both.mean()), abs=1e-4)


def test_seeds_that_are_mined_do_not_validate() -> None:
    same = made_starts([["j_baron"]] * 3, [True, False, True])
    with pytest.raises(TooFewGames, match="A111111 is in both lists"):
        run.measure(Baseline("greedy"), same, same, run.Plan(), {"policy_sha256": "x"}, Path("x"), None)  # type: ignore[arg-type]
    field = Field(Baseline("greedy"), same, typical_items(same), Outcomes(Path("absent"), "k"), "b_red", 1)
    with pytest.raises(TooFewGames, match="can be tested in 3 games"):
        field.admitted(("j_mime",), 100)


def test_the_strongest_pairs_count_and_leave_out_jokers() -> None:
    table = made_table(12)
    counts = np.abs(table.pairs["effect"]) > 0.05
    found = strongest(table.pairs, counts, 5, ["j_joker"])
    rows = sorted(
        (-float(table.pairs["effect"][i]), str(table.pairs["one"][i]), str(table.pairs["other"][i]))
        for i in np.flatnonzero(counts)
    )
    assert found == tuple((one, other) for _, one, other in rows if "j_joker" not in (one, other))[:5]


def test_tables_are_read_as_they_were_written(tmp_path: Path) -> None:
    made_winning().write(tmp_path)
    assert winning_in(tmp_path) == made_winning()
    assert [each.validated for each in made_winning().strategies] == [True, False]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda w: (w.strategies[0], "key", "j_joker+j_nobody"), "unknown item 'j_nobody'"),
        (lambda w: (w.strategies[0], "key", "levels:Fish"), "unknown item 'levels:Fish'"),
        (lambda w: (w.pairs[0], "one", "j_nobody"), "unknown item"),
        (lambda w: (w.pairs[0], "effect", math.nan), "not finite"),
        (lambda w: (w, "about", {}), "origin"),
    ],
)
def test_a_table_with_odd_values_is_refused(change: Any, why: str, tmp_path: Path) -> None:
    found = made_winning()
    row, name, value = change(found)
    object.__setattr__(row, name, value)
    found.write(tmp_path)
    with pytest.raises(BadTable, match=f"{why}.*ante know mine"):
        winning_in(tmp_path)


def test_tables_of_different_measurements_are_refused(tmp_path: Path) -> None:
    made_winning().write(tmp_path)
    strategies = (tmp_path / STRATEGIES).read_bytes()
    replace(made_winning(), about={"player": "another"}).write(tmp_path)
    (tmp_path / STRATEGIES).write_bytes(strategies)
    with pytest.raises(BadTable, match=r"are of different measurements; .*ante know mine"):
        winning_in(tmp_path)


def test_the_graph_answers_with_strategies(graph: Knowledge) -> None:
    graph.load(made_table(40), made_winning())
    found = queries.strategies(graph.backend)
    assert [row["name"] for row in found] == ["Joker + Mad Joker + mostly Two Pair"]
    assert (found[0]["effect"], found[0]["low"], found[0]["high"], found[0]["n"]) == (0.2, 0.1, 0.3, 100)
    assert [row["validated"] for row in queries.strategies(graph.backend, rejected=True)] == [True, False]
    assert [row["key"] for row in queries.strategies_of(graph.backend, "j_mad")] == [found[0]["key"]]
    assert queries.strategies_of(graph.backend, "j_zany") == []
    wins = queries.wins(graph.backend, "j_zany", "j_joker")
    assert wins is not None and (wins["one"], wins["effect"], wins["both"]) == ("Joker", 0.1, 0.75)
    assert queries.wins(graph.backend, "j_mad", "j_joker") is None
    played = graph.backend.read(
        "MATCH (s:Strategy)-[p:PLAYS]->(h:Hand) RETURN p.how AS how, h.name AS name ORDER BY how"
    )
    assert played == [{"how": "levels", "name": "Flush"}, {"how": "main", "name": "Two Pair"}]


def test_strategies_survive_export_and_import(tmp_path: Path) -> None:
    with (
        open_knowledge(str(tmp_path / "a.lbug"), write=True) as one,
        open_knowledge(str(tmp_path / "b.lbug"), write=True) as two,
    ):
        one.load(made_table(5), made_winning())
        one.export(tmp_path / "files")
        two.import_from(tmp_path / "files")
        assert queries.strategies(one.backend, True) == queries.strategies(two.backend, True) != []


def test_the_committed_tables_have_their_origin_and_validated_what_they_say() -> None:
    found = read_winning()
    assert found.about["mined"]["sha256"] != found.about["fresh"]["sha256"]
    assert len(found.about["policy_sha256"]) == 64 and found.about["ante"] == starts.ANTE
    assert found.strategies and found.pairs
    assert all(each.q <= 0.05 and each.more >= 0.05 and each.tested >= 20 for each in found.strategies)
    for each in found.strategies:
        assert each.validated == (each.q_effect <= 0.05 and each.granted > each.control)
