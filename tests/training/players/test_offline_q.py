"""Offline Q-learning: values of a small game from recorded steps, Bellman targets, and datasets that are refused."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")

from ante.cli import outcome  # noqa: E402
from ante.engine.actions import N_DISCRETE  # noqa: E402
from ante.env.layout import FLAT_SIZE  # noqa: E402
from ante.errors import BalatroError  # noqa: E402
from ante.training.datasets.layout import BITS, OUTCOMES, compact  # noqa: E402
from ante.training.datasets.read import Dataset  # noqa: E402
from ante.training.datasets.write import STEPS, about_of, write_dataset  # noqa: E402
from ante.training.learning.dqn import values_of  # noqa: E402
from ante.training.numerics.packed_rows import flat_row_t, pack_flat  # noqa: E402
from ante.training.players.offline_q import (  # noqa: E402
    OfflineSettings,
    discounted_returns,
    learn_offline,
    offline_config,
    replays,
)
from ante.training.players.release import player_from, policy_from, read_release  # noqa: E402
from ante.training.policies.registry import new_policy  # noqa: E402
from tests.training.learning.test_dqn import Corridor  # noqa: E402

GAMMA = 0.8
SMALL = OfflineSettings(epochs=3, batch=128, hidden=(32,), held=0.1, gamma=GAMMA, n_step=1, target_every=20)


def seen(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return flat observations and masks of positions in the corridor, one bit each."""
    flat = np.zeros((len(places), FLAT_SIZE), dtype=np.float32)
    flat[np.arange(len(places)), BITS[places]] = 1
    masks = np.zeros((len(places), N_DISCRETE), dtype=np.int8)
    masks[:, : Corridor.legal.shape[1]] = Corridor.legal[places]
    return flat, masks


def walk(rng: np.random.Generator, game: int) -> dict[str, np.ndarray]:
    """Return a game of random legal moves; it is truncated after twelve."""
    place, places, actions, rewards, over = int(rng.integers(Corridor.n)), [], [], [], False
    while not over and len(places) < 12:
        action = int(rng.choice(np.flatnonzero(Corridor.legal[place])))
        places.append(place)
        actions.append(action)
        place, reward, over = Corridor.step(place, action)
        rewards.append(reward)
    n = len(places)
    return {
        **compact(*seen(np.array(places))),
        "game": np.full(n, game, dtype=np.int32),
        "step": np.arange(n, dtype=np.int32),
        "seed": np.full(n, f"GAME{game}", dtype=object),
        "choice": np.array(actions, dtype=np.int16),
        "reward": np.array(rewards),
        "done": np.arange(n) == n - 1,
        "outcome": np.full(n, OUTCOMES.index("won" if over else "truncated"), dtype=np.int8),
        "game_return": np.full(n, sum(rewards)),
        **{name: np.zeros(n, kind) for name, kind in OTHER.items()},
    }


OTHER = {"ante": np.int8, "dollars": np.int32, "action": np.int64, "verb": np.int8, "blinds": np.int16}


def written(folder: Path, games: int = 400, view: str = "flat") -> Dataset:
    """Return a dataset of walks through the corridor."""
    rng = np.random.default_rng(0)
    write_dataset(folder, (walk(rng, game) for game in range(games)), about_of(view, reward="shaped", player="walk"))
    return Dataset(folder)


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(tmp_path_factory.mktemp("walks") / "data")


def values(policy: Any) -> np.ndarray:
    """Return the action values of all positions; NaN for illegal actions."""
    rows = np.zeros(Corridor.n, dtype=flat_row_t)
    pack_flat(*seen(np.arange(Corridor.n)), rows)
    with torch.no_grad():
        found = policy.q_values(policy.stage(rows)).numpy()[:, : Corridor.legal.shape[1]]
    return np.where(Corridor.legal, found, np.nan)


@pytest.mark.slow
def test_recorded_steps_alone_give_the_values_of_value_iteration(walks: Dataset, tmp_path: Path) -> None:
    """All actions are recorded, so that plain Q-learning has the exact values as its only solution."""
    settings = replace(SMALL, epochs=40, batch=256, lr=1e-3, target_every=15, conservative=0.0)
    epochs = learn_offline(walks, tmp_path / "exact", settings)
    exact = Corridor.exact(GAMMA)
    found = values(policy_from(tmp_path / "exact"))
    np.testing.assert_allclose(found[Corridor.legal], exact[Corridor.legal], atol=0.005)
    assert epochs[-1].td_error < 0.005 < epochs[0].td_error


@pytest.mark.slow
def test_the_conservative_term_lowers_the_best_value_and_prefers_recorded_actions(
    walks: Dataset, tmp_path: Path
) -> None:
    plain, careful = (
        learn_offline(walks, tmp_path / str(weight), replace(SMALL, epochs=8, lr=3e-3, conservative=weight))[-1]
        for weight in (0.0, 5.0)
    )
    assert careful.best - careful.recorded < plain.best - plain.recorded
    found = values(policy_from(tmp_path / "5.0"))
    assert np.nanmax(np.abs(found - np.nanmean(found, axis=1, keepdims=True))[0]) < 0.2, "both moves are as frequent"


def test_targets_are_those_of_the_recorded_games(walks: Dataset, tmp_path: Path) -> None:
    """One-step and n-step targets, computed from the dataset's columns and dense observations."""
    policy, other = (new_policy(offline_config(walks, tmp_path, SMALL)) for _ in range(2))
    steps = walks.read(range(walks.groups))
    batch = {"obs": {"observations": torch.from_numpy(steps.flat), "action_mask": torch.from_numpy(steps.masks)}}
    with torch.no_grad():
        chosen, bootstrap = (each._outputs(batch)[0].numpy() for each in (policy, other))
    ahead = bootstrap[np.arange(len(steps)), chosen.argmax(axis=1)]
    last = np.flatnonzero(steps["done"])[np.searchsorted(np.flatnonzero(steps["done"]), np.arange(len(steps)))]
    for n in (1, 5):
        wanted = []
        for i, end in enumerate(last):
            over, total = steps["outcome"][i] != "truncated", 0.0
            if not over and i == end:
                continue  # the result of the last step of a truncated game is not recorded
            stop = min(i + n, end + 1 if over else end)
            total = sum(GAMMA ** (k - i) * steps["reward"][k] for k in range(i, stop))
            wanted.append(total + (0.0 if stop == end + 1 and over else GAMMA ** (stop - i) * ahead[stop]))
        played, held, _ = replays(walks, replace(SMALL, n_step=n), N_DISCRETE)
        assert len(played) + len(held) == len(wanted) and len(held) / len(wanted) == pytest.approx(0.1, abs=0.05)
        found = []
        for replay in (played, held):
            drawn = replay.draw(20_000, np.random.default_rng(1), 0.0)
            once = np.unique(drawn.places, return_index=True)[1]
            assert len(once) == len(replay), "each step is drawn"
            found += values_of(policy, other, drawn.part(once), double=True).wanted.tolist()
        np.testing.assert_allclose(np.sort(found), np.sort(wanted), atol=1e-4)


def test_a_release_plays_and_its_metrics_have_the_return_of_the_games(walks: Dataset, tmp_path: Path) -> None:
    epochs = learn_offline(walks, tmp_path / "q", replace(SMALL, epochs=1))
    rewards = [np.random.default_rng(1).normal(size=5)]
    np.testing.assert_allclose(
        discounted_returns(rewards[0], 0.9)[0], sum(0.9**k * each for k, each in enumerate(rewards[0]))
    )
    assert np.isfinite(epochs[0].game_return) and player_from(tmp_path / "q").name == "q"
    _, about = read_release(tmp_path / "q")
    assert about["trained"]["games"] == 400 and "offline Q-learning" in (tmp_path / "q" / "README.md").read_text()
    with pytest.raises(BalatroError, match="already contains a policy"):
        learn_offline(walks, tmp_path / "q", SMALL)


def spoiled(folder: Path, source: Dataset, change: Callable[[Any], Any]) -> Dataset:
    """Return a copy of a dataset with a changed table."""
    folder.mkdir()
    pq.write_table(change(source.table()), folder / STEPS)
    return Dataset(folder)


def with_value(name: str, row: int, value: Any) -> Callable[[Any], Any]:
    """Return a change of one value."""

    def change(table: Any) -> Any:
        at = table.schema.get_field_index(name)
        column = table[name].to_pylist()
        column[row] = value
        return table.set_column(at, table.schema.field(at), pa.array(column, table.schema.field(at).type))

    return change


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (with_value("choice", 3, 2), r"game 1, step \d: choice 2 is not legal"),
        (with_value("choice", 3, -1), r"game 1, step \d: choice -1 is not legal"),
        (with_value("choice", 3, 999), r"game 1, step \d: choice 999 is not legal"),
        (with_value("reward", 3, float("nan")), "game 1: rewards or observations are not finite"),
        (with_value("step", 3, 7), "game 1: steps are missing or not in order"),
        (with_value("game", 3, 7), "game 1: steps are missing or not in order"),
        (lambda table: table.slice(0, 200), "the last game has no end"),
        (lambda table: table.slice(0, 12), "too few games to hold out 10%"),
    ],
)
def test_a_bad_dataset_is_refused(walks: Dataset, change: Callable[[Any], Any], error: str, tmp_path: Path) -> None:
    with pytest.raises(BalatroError, match=error):
        learn_offline(spoiled(tmp_path / "bad", walks, change), tmp_path / "q", SMALL)
    assert not (tmp_path / "q").exists()


def test_the_command_refuses_the_view_shortlist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"data export greedy --out {tmp_path / 'data'} --games 2 --view shortlist"
    assert outcome(words.split()) == 0
    assert outcome(f"clone {tmp_path / 'data'} --method dqn --out {tmp_path / 'q'}".split()) == 2
    assert "write it again with --view flat" in capsys.readouterr().err


def test_the_command_learns_from_recorded_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, data, out = (str(tmp_path / name) for name in ("events.sqlite", "data", "q"))
    assert outcome(["eval", "random", "--games", "20", "--events", log, "--json"]) == 0
    assert outcome(["events", "dataset", log, "--out", data, "--view", "flat"]) == 0
    capsys.readouterr()
    words = ["clone", data, "--method", "dqn", "--out", out, "--epochs", "1", "--batch", "64", "--hidden", "16"]
    assert outcome([*words, "--json"]) == 0
    shown = capsys.readouterr()
    assert '"game_return"' in shown.out and "value of the recorded action" in shown.err
    assert outcome(["eval", out, "--games", "2", "--json"]) == 0
