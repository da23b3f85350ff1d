"""Measured interactions: against hands that are really played, and against statistics computed another way."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from statistics import NormalDist, mean, stdev
from typing import Any

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import wilson as one_wilson
from ante.agents.seed_lists import dataset_seeds
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, Joker, by_key
from ante.engine.core.state import Phase, new_states
from ante.files import Unreadable
from ante.knowledge import queries
from ante.knowledge.arms.scoring import BEST, GROWN, N_MEASURES, SAME
from ante.knowledge.measuring import positions, run
from ante.knowledge.measuring.positions import ANTES, Positions, TooFewPositions, collect
from ante.knowledge.measuring.run import Bench, repeat
from ante.knowledge.measuring.statistics import p_values, q_values, stratified_mean, wilson
from ante.knowledge.measuring.sums import OtherMeasurement, Sums
from ante.knowledge.measuring.table import (
    PAIRS,
    RATE,
    BadTable,
    Table,
    check_table,
    is_synergy,
    pairs_of,
    read_table,
    table_of,
)
from ante.knowledge.store import open_knowledge
from tests.knowledge.made import made_table
from tests.support.table import deal, facing, play

CARDS = "S_K H_Q H_9 D_9 C_4 H_2 S_K"


@contextmanager
def quiet(total: int, about: str) -> Iterator[Callable[[int], None]]:
    """A progress bar that shows nothing."""
    yield lambda count: None


def positions_of(games: Sequence[Any], typical: dict[str, float] | None = None) -> Positions:
    """Return games as positions, one in each ante in turn."""
    states = new_states(len(games))
    for i, game in enumerate(games):
        states[i] = game
    values = np.full((len(ANTES), len(JOKERS)), np.nan)
    for key, value in (typical or {}).items():
        values[:, by_key[key]] = value
    return Positions(states, np.arange(len(games)) % len(ANTES), values, "made", "b_red", 1)


def best_score(cards: str, keys: Sequence[str], values: dict[str, float] | None = None) -> float:
    """Return the log10 of the best score that real plays of any cards reach, with the jokers in any order."""
    best = 0.0
    for order in permutations(keys):
        start = deal(cards, *order)
        for slot, key in enumerate(order):
            if values and key in values:
                start.jokers[slot].value = values[key]
        saved = start.tobytes()
        n = int(start.n_hand)
        for size in range(1, min(5, n) + 1):
            for chosen in combinations(range(n), size):
                game = np.frombuffer(bytearray(saved), dtype=start.dtype).view(np.recarray)[0]
                chips, mult = play(game, *chosen)
                best = max(best, math.log10(max(1.0, math.floor(chips * mult))))
    return best


def interaction(cards: str, one: str, other: str, values: dict[str, float] | None = None) -> float:
    """Return the interaction of a pair by real plays."""
    arms = [best_score(cards, keys, values) for keys in ((one, other), (one,), (other,), ())]
    return arms[0] - arms[1] - arms[2] + arms[3]


@pytest.fixture(scope="module")
def measured() -> Sums:
    """One hand with all pairs, with a typical Runner."""
    sums = Sums()
    Bench(positions_of([deal(CARDS)], {"j_runner": 90.0})).pairs(0, sums)
    return sums


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("j_mime", "j_baron"),
        ("j_photograph", "j_hanging_chad"),
        ("j_joker", "j_cavendish"),
        ("j_joker", "j_half"),
        ("j_cavendish", "j_blueprint"),
        ("j_joker", "j_brainstorm"),
        ("j_lusty_joker", "j_splash"),
        ("j_four_fingers", "j_droll"),
        ("j_pareidolia", "j_smiley"),
        ("j_stencil", "j_abstract"),
        ("j_drunkard", "j_banner"),
        ("j_egg", "j_duo"),
    ],
)
def test_the_interaction_is_that_of_hands_really_played(measured: Sums, one: str, other: str) -> None:
    i, j = sorted((int(by_key[one]), int(by_key[other])))
    assert measured.pairs[0, 0, BEST, i, j] == pytest.approx(interaction(CARDS, one, other), abs=1e-9)


@pytest.mark.slow
def test_typical_counters_are_used_only_in_their_measure(measured: Sums) -> None:
    runner, joker = int(by_key["j_runner"]), int(by_key["j_four_fingers"])
    i, j = sorted((runner, joker))
    fresh = interaction(CARDS, "j_runner", "j_four_fingers")
    grown = interaction(CARDS, "j_runner", "j_four_fingers", {"j_runner": 90.0})
    assert measured.pairs[0, 0, BEST, i, j] == pytest.approx(fresh, abs=1e-9)
    assert measured.pairs[0, 0, GROWN, i, j] == pytest.approx(grown, abs=1e-9)
    alone = [best_score(CARDS, keys, {"j_runner": 90.0}) for keys in (("j_runner",), ())]
    assert measured.alone[0, 0, GROWN, runner] == pytest.approx(alone[0] - alone[1], abs=1e-9)


@pytest.mark.slow
def test_jokers_that_never_score_never_interact(measured: Sums) -> None:
    silent = [int(by_key[key]) for key in ("j_egg", "j_golden", "j_chaos", "j_credit_card", "j_rocket")]
    for i in silent:
        for j in silent:
            assert measured.acts[:, i, j].sum() == 0


@pytest.mark.slow
def test_the_same_cards_are_those_of_the_arm_without_jokers() -> None:
    sums = Sums()
    Bench(positions_of([deal(CARDS)])).pairs(0, sums)
    i, j = int(Joker.BARON), int(Joker.CAVENDISH)
    assert sums.pairs[0, 0, SAME, i, j] == pytest.approx(0.0, abs=1e-4)  # two multipliers, the same held Kings
    assert sums.alone[0, 0, SAME, int(Joker.CAVENDISH)] == pytest.approx(math.log10(3), abs=1e-3)


@pytest.mark.slow
def test_a_hand_has_the_gain_of_its_own_best_play() -> None:
    sums = Sums()
    Bench(positions_of([deal("H_A H_9 H_7 H_5 H_2 S_A")])).pairs(0, sums)
    lusty, tribe = int(Joker.LUSTY_JOKER), int(Joker.TRIBE)
    n, gain, _ = sums.hands[:, Hand.FLUSH, tribe]
    assert (n, gain) == (1, pytest.approx(math.log10(2)))
    assert sums.hands[1, Hand.PAIR, tribe] == 0.0
    assert sums.hands[1, Hand.FLUSH, lusty] == pytest.approx(math.log10((4 + 15) / 4))
    assert sums.hands[0, Hand.STRAIGHT, tribe] == 0  # the hand has none


@pytest.mark.slow
def test_a_boss_takes_the_gain_of_what_it_debuffs_and_chicot_brings_it_back() -> None:
    sums = Sums()
    bench = Bench(positions_of([deal("S_K H_K D_Q C_J S_9")]))
    bench.bosses(0, sums)
    plant = int(facing("bl_plant").blind)
    scary, chicot = int(Joker.SCARY_FACE), int(Joker.CHICOT)
    with_scary, without = (best_score("S_K H_K D_Q C_J S_9", keys) for keys in (("j_scary_face",), ()))
    assert sums.bosses[0, plant, 0] == 1
    assert sums.bosses[1, plant, scary] == pytest.approx(-(with_scary - without), abs=1e-9)
    assert sums.bosses[1, plant, chicot] > 0.0


@pytest.mark.slow
def test_positions_of_a_boss_are_not_measured_under_another() -> None:
    sums = Sums()
    Bench(positions_of([facing("bl_plant", "S_K H_K")])).bosses(0, sums)
    assert not sums.bosses.any()


@pytest.mark.slow
def test_the_players_jokers_are_removed_and_face_down_cards_never_played() -> None:
    game = deal(CARDS, "j_cavendish", "j_juggler")
    game.cards[game.hand[0]].face_down = 1
    other = deal(CARDS)
    other.cards[other.hand[0]].face_down = 1
    one, two = Sums(), Sums()
    Bench(positions_of([game])).pairs(0, one)
    Bench(positions_of([other])).pairs(0, two)
    np.testing.assert_array_equal(one.pairs, two.pairs)


@pytest.mark.slow
def test_the_shortlist_of_plays_is_compared_with_all_plays() -> None:
    missed = Bench(positions_of([deal(CARDS)])).shortfall(0)
    assert len(missed) == run.AUDITED
    assert min(missed) >= 0.0 and np.mean(np.array(missed) > 0) < 0.05


def test_an_interrupted_measurement_continues_to_the_same_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SAVED_EVERY", 2)
    seen: list[int] = []

    def step(i: int, sums: Sums) -> None:
        if i == 5 and len(seen) < 6:
            seen.append(-1)
            raise KeyboardInterrupt
        seen.append(i)
        sums.n[0] += 0.1 * (i + 1)

    whole = repeat("key", tmp_path / "whole.npz", np.arange(8), lambda i, sums: step_plain(i, sums), quiet, "")
    with pytest.raises(KeyboardInterrupt):
        repeat("key", tmp_path / "sums.npz", np.arange(8), step, quiet, "")
    continued = repeat("key", tmp_path / "sums.npz", np.arange(8), step, quiet, "")
    assert seen == [0, 1, 2, 3, 4, -1, 4, 5, 6, 7]
    assert continued.n[0] == whole.n[0]
    assert continued.done == 8
    with pytest.raises(OtherMeasurement, match="other positions or another engine"):
        Sums.read(tmp_path / "sums.npz", "other")


def step_plain(i: int, sums: Sums) -> None:
    """Add the number of a position."""
    sums.n[0] += 0.1 * (i + 1)


class CountingBench:
    """Counts the positions that it is given instead of measuring them."""

    def __init__(self, positions: Positions) -> None:
        pass

    def pairs(self, i: int, sums: Sums) -> None:
        sums.n[i % len(ANTES)] += 1

    alone = pairs

    def bosses(self, i: int, sums: Sums) -> None:
        sums.bosses[0, :, i] += 1

    def shortfall(self, i: int) -> list[float]:
        return [0.0]


@pytest.mark.parametrize("asked", [(10,), (2, 3)])
def test_a_position_is_measured_under_bosses_once(
    asked: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More positions than there are, and another number of them in the same work folder."""
    monkeypatch.setattr(run, "Bench", CountingBench)
    monkeypatch.setattr(run, "positions_of", lambda *_: positions_of([deal(CARDS)] * 4))
    monkeypatch.setattr(run, "table_of", lambda sums, decks, about: (sums, about))
    for most in asked:
        sums, about = run.measure(Baseline("greedy"), [], run.Plan(1, most, 1, most), {}, tmp_path, quiet)  # type: ignore[misc]
        counted = sums.bosses[0, 0, :4]
        assert counted.sum() == min(4, most) and counted.max() == 1
        assert about["bosses"]["positions"] == about["listed_plays"]["pairs"] == min(4, most)


def test_a_policy_of_the_same_name_has_its_own_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[Positions] = []

    def collect_again(*_: Any, **__: Any) -> Positions:
        collected.append(positions_of([deal(CARDS)]))
        return collected[-1]

    monkeypatch.setattr(run, "collect", collect_again)
    for digest in ("a", "b", "a"):
        origin = {"player_name": "runs/ppo", "policy_sha256": digest}
        run.positions_of(Baseline("greedy"), ["A"], 1, "b_red", origin, tmp_path, quiet)
    assert len(collected) == 2


def test_a_game_gives_one_position_before_a_played_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(positions, "ANTES", (1, 2))
    seeds = dataset_seeds(40, 3)
    found = collect(Baseline("greedy"), seeds, 3)
    assert (found.states["phase"] == Phase.PLAY).all()
    assert found.states["ante"].tolist() == [1, 1, 1, 2, 2, 2]
    texts = {bytes(s.seed[: s.seed_length]).decode() for s in found.states}
    assert len(texts) == 6 and texts <= set(seeds)
    assert collect(Baseline("greedy"), seeds, 3).digest == found.digest
    found.write(tmp_path / "positions.npz")
    assert Positions.read(tmp_path / "positions.npz").digest == found.digest
    with pytest.raises(TooFewPositions, match=r"greedy played a hand of ante 1 in \d+ of its games, fewer than 100"):
        collect(Baseline("greedy"), seeds, 100)


def test_the_mean_of_strata_and_its_error() -> None:
    rng = np.random.default_rng(2)
    values = [rng.normal(k, 1 + k, 30 + 10 * k) for k in range(4)]
    sums, squares = (np.array([f(each) for each in values]) for f in (np.sum, lambda x: np.sum(x**2)))
    found, error = stratified_mean(sums, squares, np.array([len(each) for each in values]))
    assert found == pytest.approx(mean(mean(each) for each in values))
    assert error == pytest.approx(math.sqrt(sum(stdev(each) ** 2 / len(each) for each in values)) / 4)
    assert math.isnan(stratified_mean(np.ones(4), np.ones(4), np.array([1, 5, 5, 5]))[1])


def test_p_values_are_those_of_the_normal_distribution() -> None:
    found = p_values(np.array([0.0, 1.0, -2.0, 3.0]), np.array([0.0, 0.5, 1.0, 0.0]))
    expected = [1.0] + [2 * (1 - NormalDist().cdf(2.0))] * 2 + [0.0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_false_discovery_rate_is_controlled_as_benjamini_and_hochberg_do() -> None:
    p = np.random.default_rng(1).random(200) ** 3
    ordered = sorted(p)
    most = max((k for k in range(1, 201) if ordered[k - 1] <= RATE * k / 200), default=0)
    assert ((q_values(p) <= RATE) == (p <= ordered[most - 1])).all()


def test_pairs_that_interact_in_few_positions_are_not_significant() -> None:
    sums = Sums()
    sums.n[:] = 100
    for joker, acts in ((2, 400), (3, 10)):
        sums.pairs[0, :, :, 1, joker] = 10.0
        sums.pairs[1, :, :, 1, joker] = 1.1
        sums.acts[:, 1, joker] = acts
    found = pairs_of(sums)
    assert len(found["one"]) == 11_175 == len({*zip(found["one"], found["other"], strict=True)})
    at = [int(np.flatnonzero((found["one"] == JOKERS[1].key) & (found["other"] == JOKERS[k].key))[0]) for k in (2, 3)]
    assert found["effect"][at].tolist() == pytest.approx([0.1, 0.1])
    assert is_synergy(found["effect"], found["q"])[at].tolist() == [True, False]
    assert found["q"][at[1]] == 1.0
    assert is_synergy(found["effect"], found["q"]).sum() == 1


@pytest.mark.parametrize(("field", "value"), [("n_jokers", 100), ("n_hand", -1), ("phase", 99), ("phase", Phase.SHOP)])
def test_stored_positions_are_checked_before_compiled_code_plays_them(field: str, value: int, tmp_path: Path) -> None:
    found = positions_of([deal(CARDS), deal(CARDS)])
    found.write(tmp_path / "x.npz")
    assert Positions.read(tmp_path / "x.npz").digest == found.digest
    found.states[field][1] = value
    found.write(tmp_path / "x.npz")
    with pytest.raises(Unreadable, match=r"cannot read .*x\.npz: .*delete it, or choose another --work folder"):
        Positions.read(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("part", "column", "row", "value", "why"),
    [
        ("pairs", "one", 0, "j_none", "the unknown joker 'j_none'"),
        ("pairs", "effect", 0, math.nan, "not finite"),
        ("pairs", "q", 0, math.inf, "not finite"),
        ("pairs", "gain", 0, math.nan, "not finite"),
        ("effects", "half", 0, math.inf, "not finite"),
        ("effects", "target", 1, "Fish", r"the unknown target \('hand', 'Fish'\)"),
        ("effects", "kind", 3, "tag", r"the unknown target \('tag', 'b_plasma'\)"),
    ],
)
def test_a_table_with_odd_values_is_refused(
    part: str, column: str, row: int, value: Any, why: str, tmp_path: Path
) -> None:
    table = made_table(20)
    getattr(table, part)[column][row] = value
    table.write(tmp_path)
    with pytest.raises(BadTable, match=f"{why}: write them again"):
        read_table(tmp_path)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = made_table(20)
    table.write(tmp_path)
    found = read_table(tmp_path)
    assert found.about == table.about
    for name in ("pairs", "effects"):
        for column, values in getattr(table, name).items():
            np.testing.assert_array_equal(getattr(found, name)[column], values)


def test_tables_of_different_measurements_are_refused(tmp_path: Path) -> None:
    """An interrupted write has replaced one of two files."""
    made_table(20).write(tmp_path)
    pairs = (tmp_path / PAIRS).read_bytes()
    replace(made_table(20, seed=2), about={"player": "another"}).write(tmp_path)
    (tmp_path / PAIRS).write_bytes(pairs)
    with pytest.raises(BadTable, match=r"pairs\.parquet and effects\.parquet in .* are of different measurements"):
        read_table(tmp_path)


def test_few_positions_give_tables_that_a_graph_can_store(tmp_path: Path) -> None:
    sums = Sums()
    sums.n[:] = 2
    sums.alone[0], sums.alone[1] = 1.0, 0.6
    table_of(sums, {}, {"player": "made"}).write(tmp_path)
    found = read_table(tmp_path)
    assert set(found.effects["kind"]) == {"alone"} and (found.effects["q"] == 1.0).all()
    with open_knowledge(str(tmp_path / "few.lbug"), write=True) as graph:
        graph.load(found)
        assert queries.joker(graph.backend, "j_joker")["gain"] == 0.5
    with pytest.raises(BadTable, match="have no gains of jokers alone"):
        check_table(replace(found, effects={name: values[:0] for name, values in found.effects.items()}), tmp_path)


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.parquet").write_text("no table")
    with pytest.raises(BadTable, match=r"cannot read .*pairs\.parquet"):
        read_table(tmp_path)


@pytest.fixture(scope="module")
def committed() -> Table:
    """The tables of the package."""
    return read_table()


def test_the_committed_tables_have_all_pairs_and_their_origin(committed: Table) -> None:
    pairs, about = committed.pairs, committed.about
    assert len(pairs["one"]) == 150 * 149 // 2
    assert {len(about["positions_sha256"]), len(about["policy_sha256"])} == {64}
    assert (pairs["n"] == sum(about["positions"])).all() and sum(about["positions"]) >= 400
    assert about["antes"] == list(ANTES)
    assert np.isfinite(pairs["effect"]).all() and (pairs["half"] >= 0).all()
    assert N_MEASURES == 3 and {"bought", "same", "effect"} <= set(pairs)


def test_the_committed_tables_know_what_everybody_knows(committed: Table) -> None:
    pairs = committed.pairs
    index = {pair: i for i, pair in enumerate(zip(pairs["one"], pairs["other"], strict=True))}

    def effect(*keys: str) -> float:
        return float(pairs["effect"][index[tuple(sorted(keys, key=lambda key: by_key[key]))]])

    assert effect("j_photograph", "j_hanging_chad") > 0.1
    assert effect("j_mime", "j_baron") > 0.02
    assert effect("j_blueprint", "j_cavendish") == pytest.approx(math.log10(3), abs=0.01)
    assert effect("j_egg", "j_golden") == 0.0
    assert effect("j_gros_michel", "j_popcorn") < -0.2
    assert abs(effect("j_stuntman", "j_cavendish")) < 0.01


def test_intervals_of_shares_are_those_of_single_shares() -> None:
    hits, trials = np.array([0, 1, 7, 20]), np.array([20, 10, 50, 20])
    low, high = wilson(hits, trials)
    for i in range(len(hits)):
        share = one_wilson(int(hits[i]), int(trials[i]))
        assert (low[i], high[i]) == pytest.approx((share.low, share.high), abs=1e-12)
