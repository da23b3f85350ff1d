"""The replay buffer: unchanged rows, correct transitions, sampling by priority, limited memory."""

from typing import Any

import numpy as np
import pyarrow
import pytest

torch = pytest.importorskip("torch")

from ante.training.learning.replay_buffer import LEAST_ERROR, Replay, check_spans  # noqa: E402
from ante.training.numerics.replay_kernels import (  # noqa: E402
    draw_places,
    epsilon_greedy,
    set_priorities,
    zero_priorities,
)
from ante.training.sampling.fragment import BOSS, JOKER, Trajectory  # noqa: E402

ROW = np.dtype([("name", "<i8"), ("half", "<f4", (3,))])
GAMMA = 0.9


def played(number: int, steps: int = 7, games: int = 3, seed: int = 0) -> Trajectory:
    """Return a made-up fragment whose rows are all distinct; some games end, some are truncated."""
    rng = np.random.default_rng((seed, number))
    ends = rng.random((steps, games)) < 0.3
    terminal = ends & (rng.random((steps, games)) < 0.5)
    places = np.flatnonzero(ends & ~terminal)
    rows, extra = np.zeros((steps, games), dtype=ROW), np.zeros(games + len(places), dtype=ROW)
    rows["name"] = 1000 * number + np.arange(steps * games).reshape(steps, games)
    rows["half"] = rng.random((steps, games, 3))
    extra["name"] = 1000 * number + 500 + np.arange(len(extra))
    return Trajectory(
        rows,
        rng.integers(0, 100, (steps, games)),
        np.zeros((steps, games), dtype=np.float32),
        rng.random((steps, games)).astype(np.float32),
        ends,
        terminal,
        extra,
        places,
        np.zeros(3),
        0,
        marks=rng.choice([0, 0, BOSS, JOKER, BOSS | JOKER], (steps, games)).astype(np.uint8),
    )


def made(**settings: Any) -> Replay:
    plan = {"capacity": 100, "length": 3, "exponent": 0.6, "boss": 4.0, "joker": 2.0, "actions": 100}
    return Replay(row_t=ROW, **{"discount": GAMMA, **plan, **settings})


def slowly(trace: Trajectory, length: int) -> dict[int, tuple[int, float, float, int, float]]:
    """Return for each step by its row's name: next row, rewards, weight of the value, action, factor; game by game."""
    found, (steps, games) = {}, trace.actions.shape
    cut_off = {int(place): games + k for k, place in enumerate(trace.places)}
    for t in range(steps):
        for i in range(games):
            total, weight, at = 0.0, 1.0, t
            for at in range(t, min(steps, t + length)):
                total += weight * float(trace.rewards[at, i])
                weight *= GAMMA
                if trace.cut[at, i]:
                    break
            if at * games + i in cut_off:
                after = int(trace.extra["name"][cut_off[at * games + i]])
            else:
                after = int(trace.extra["name"][i] if at + 1 == steps else trace.rows["name"][at + 1, i])
            mark = int(trace.marks[t, i])  # type: ignore[index]
            factor = (4.0 if mark & BOSS else 1.0) * (2.0 if mark & JOKER else 1.0)
            weight = 0.0 if trace.terminal[at, i] else weight
            found[int(trace.rows["name"][t, i])] = after, total, weight, int(trace.actions[t, i]), factor
    return found


@pytest.mark.parametrize("length", [1, 3, 20])
def test_what_is_drawn_is_what_was_played(length: int) -> None:
    replay, wanted, halves = made(length=length), {}, {}
    for number in range(3):
        trace = played(number)
        replay.add(trace)
        wanted |= slowly(trace, length)
        halves |= {int(row["name"]): row["half"] for row in trace.rows.reshape(-1)}
    assert len(replay) == len(wanted) == 63
    drawn = replay.draw(2000, np.random.default_rng(0), 0.0)
    assert set(drawn.rows["name"].tolist()) == set(wanted), "exactly these are sampled"
    for k, name in enumerate(drawn.rows["name"].tolist()):
        after, total, weight, action, _ = wanted[name]
        assert drawn.actions[k] == action
        assert np.array_equal(drawn.rows["half"][k], halves[name])
        assert drawn.returns[k] == pytest.approx(total, rel=1e-5)
        assert drawn.weights[k] == pytest.approx(weight, rel=1e-5)
        if weight:
            assert drawn.nexts["name"][k] == after
    assert (drawn.corrections == 1).all()


def test_rare_steps_and_surprises_are_drawn_more_often_and_only_surprises_are_made_up_for() -> None:
    replay, trace = made(), played(0)
    replay.add(trace)
    errors = np.random.default_rng(1).normal(size=len(trace)).astype(np.float32)
    replay.update_priorities(np.arange(len(trace)), errors)
    factors = np.array([each[-1] for each in slowly(trace, 3).values()])
    priorities = factors * (np.abs(errors) + LEAST_ERROR) ** 0.6
    drawn = replay.draw(200_000, np.random.default_rng(0), 0.7)
    shares = np.bincount(drawn.places, minlength=len(trace)) / len(drawn.places)
    np.testing.assert_allclose(shares, priorities / priorities.sum(), rtol=0.02, atol=1e-4)
    plain = (np.abs(errors) + LEAST_ERROR) ** (-0.6 * 0.7)
    np.testing.assert_allclose(drawn.corrections, (plain / plain[drawn.places].max())[drawn.places], rtol=1e-4)
    assert factors.max() == 8


def test_the_oldest_are_dropped_first_and_memory_stays_constant() -> None:
    replay, sizes, held = made(), [], replay_bytes(made())
    for number in range(40):
        trace = played(number, steps=4 + number % 5)
        replay.add(trace)
        sizes.append((number, len(trace)))
        drawn = replay.draw(3000, np.random.default_rng(number), 0.5)
        numbers = np.unique(drawn.rows["name"] // 1000)
        assert np.array_equal(numbers, np.arange(numbers[0], number + 1)), "the newest, without gaps"
        assert len(replay) == sum(size for which, size in sizes if which >= numbers[0])
        assert (drawn.nexts["name"] // 1000 == drawn.rows["name"] // 1000).all(), "transitions do not cross fragments"
    assert 0 < numbers[0] < 38
    assert replay_bytes(replay) == held
    with pytest.raises(ValueError, match="does not fit"):
        replay.add(played(0, steps=40))


def replay_bytes(replay: Replay) -> float:
    return replay.bytes_per_step * replay.capacity


def test_a_replay_put_back_draws_the_same() -> None:
    one, two = made(), made()
    for number in range(9):
        one.add(played(number))
        drawn = one.draw(16, np.random.default_rng(number), 0.5)
        one.update_priorities(drawn.places, drawn.returns)
    two.restore(one.state())
    assert len(two) == len(one) < 9 * 21
    for number in range(9, 20):
        found = []
        for each in (one, two):
            each.add(played(number))
            drawn = each.draw(64, np.random.default_rng(number), 0.5)
            each.update_priorities(drawn.places, drawn.returns)
            found.append(drawn)
        for name in ("places", "rows", "nexts", "actions", "returns", "weights", "corrections"):
            assert np.array_equal(getattr(found[0], name), getattr(found[1], name)), name


def test_a_replay_without_discount_is_put_back() -> None:
    one, two = made(discount=1.0), made(discount=1.0)
    one.add(played(0))
    two.restore(one.state())
    assert len(two) == len(one) and one._weights.max() == 1.0


def test_the_tree_is_the_sum_of_its_leaves() -> None:
    rng, tree, leaves = np.random.default_rng(0), np.zeros(2 * 64), np.zeros(64)
    for _ in range(50):
        places = rng.integers(0, 64, 20)
        priorities = rng.random(20) * (rng.random(20) < 0.7)
        set_priorities(tree, places, priorities)
        for place, priority in zip(places, priorities, strict=True):
            leaves[place] = priority
        begin, end = np.sort(rng.choice(65, 2, replace=False))
        if rng.random() < 0.3:
            zero_priorities(tree, begin, end)
            leaves[begin:end] = 0
        np.testing.assert_array_equal(tree[64:], leaves)
        level = leaves
        while len(level) > 1:
            level = level.reshape(-1, 2).sum(axis=1)
            np.testing.assert_array_equal(tree[len(level) : 2 * len(level)], level)
        if leaves.any():
            drawn = np.empty(500, dtype=np.int64)
            draw_places(tree, np.full(500, np.nextafter(1.0, 0.0)), drawn)
            assert (leaves[drawn] > 0).all(), "steps without priority are not sampled, also at the edges"


@pytest.mark.parametrize("n", [200, pytest.param(100_000, marks=pytest.mark.slow)])
def test_no_masked_action_is_ever_chosen(n: int) -> None:
    rng, actions = np.random.default_rng(0), 143
    seen = np.zeros(2, dtype=np.int64)  # greedy choices, explored choices
    for turn in range(10):
        scores = rng.normal(size=(n, actions)).astype(np.float32)
        legal = rng.random((n, actions)) < rng.choice([0.01, 0.1, 0.9], (n, 1))
        legal[np.arange(n), rng.integers(0, actions, n)] = True
        scores[~legal] += 100.0  # illegal actions have the highest values
        masks = np.packbits(legal, axis=1, bitorder="little")
        explore, chosen, logs = turn / 9, np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
        epsilon_greedy(scores, masks, rng.random((n, 2), dtype=np.float32), explore, chosen, logs)
        assert legal[np.arange(n), chosen].all()
        best = np.where(legal, scores, -np.inf).argmax(axis=1)
        greedy, options = chosen == best, legal.sum(axis=1)
        wanted = explore / options + (1 - explore) * greedy
        np.testing.assert_allclose(np.exp(logs), wanted, rtol=1e-4)
        assert greedy.mean() == pytest.approx((1 - explore + explore / options).mean(), abs=4 / np.sqrt(n))
        seen += greedy.sum(), (~greedy).sum()
    assert seen.sum() == 10 * n and seen.min() > 3 * n


@pytest.mark.parametrize(
    "changes",
    [
        {"used": 10**9},
        {"used": -1},
        {"used": 101},
        {"at": 101},
        {"at": -5},
        {"spans": [(0, 10**9, 5)]},
        {"spans": [(-4, 10, 5)]},
        {"spans": [(5, 4, 0)]},
        {"spans": [(0, 20, 21)]},
        {"spans": [(0, 20)]},
        {"top": float("nan")},
        {"top": 0.0},
        {"used": 27.0},
        {"at": 3},
        {"spans": []},
        {"spans": [(0, 12, 10), (11, 27, 10)]},
        {"spans": [(0, 0, 0)]},
    ],
)
def test_a_state_with_places_beyond_the_memory_is_refused(changes: dict[str, Any]) -> None:
    one = made()
    one.add(played(1))
    with pytest.raises((ValueError, TypeError)):
        made().restore({**one.state(), **changes})


def test_the_newest_fragment_may_end_where_the_oldest_begins_but_not_later() -> None:
    check_spans([(12, 30, 18), (0, 12, 9)], 30, 12, 100)
    with pytest.raises(ValueError, match="overlap"):
        check_spans([(11, 30, 18), (0, 12, 9)], 30, 12, 100)


def with_array(replay: Replay, name: str, array: Any) -> dict[str, Any]:
    """Return the state of a buffer with another array."""
    state = replay.state()
    return {**state, "arrays": {**state["arrays"], name: pyarrow.compress(array.tobytes(), "zstd", asbytes=True)}}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("priorities", [-1.0, 0.0, np.nan, np.inf]),
        ("actions", [-1, 100, 32767]),
        ("nexts", [-1, 10**6, 0]),
        ("returns", [np.nan, np.inf]),
        ("weights", [np.nan, -0.1, 1.1]),
        ("stress", [np.nan, 0.0, -1.0, np.inf]),
    ],
)
def test_a_state_with_values_out_of_range_is_refused(name: str, wrong: list[float]) -> None:
    one = made(capacity=60)
    for number in range(9):  # the ring has started again
        one.add(played(number))
    assert one.state()["spans"][0][0] > one.state()["at"] or one.state()["spans"][0][0] > 0
    begin, used = max(one.state()["spans"])[0], one.state()["used"]
    kept = one._views(used)[name].copy()
    made(capacity=60).restore(with_array(one, name, kept))
    for value in wrong:
        changed = kept.copy()
        changed[begin + 3] = value
        with pytest.raises(ValueError, match=name):
            made(capacity=60).restore(with_array(one, name, changed))


def test_a_state_with_rows_that_are_not_finite_is_refused() -> None:
    one = made()
    one.add(played(1))
    used = one.state()["used"]
    for value in (np.nan, -np.inf):
        rows = one._rows[:used].copy()
        rows["half"][3, 1] = value
        with pytest.raises(ValueError, match="rows"):
            made().restore(with_array(one, "rows", rows))


@pytest.mark.parametrize("name", ["rows", "actions", "priorities"])
@pytest.mark.parametrize("packed", [b"", b"nonsense", None, "text", pyarrow.compress(b"short", "zstd", asbytes=True)])
def test_a_state_with_arrays_of_another_size_is_refused(name: str, packed: Any) -> None:
    one = made()
    one.add(played(1))
    state = one.state()
    with pytest.raises(ValueError, match=name):
        made().restore({**state, "arrays": {**state["arrays"], name: packed}})


def test_places_that_hold_no_step_have_no_priority_in_a_restored_state() -> None:
    one = made()
    one.add(played(1))
    state, leaves = one.state(), len(one._tree) // 2
    priorities = one._tree[leaves : leaves + state["used"]].copy()
    priorities[-1] = 1.0  # a row that is only the next observation of others
    with pytest.raises(ValueError, match="priorities"):
        made().restore(with_array(one, "priorities", priorities))
