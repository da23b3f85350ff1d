"""A run that is stopped at a checkpoint and resumed equals the undisturbed run bit for bit, except for times."""

import csv
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.training.run_store.checkpoints import find_checkpoint, save_checkpoint
from ante.training.run_store.state_files import read_state

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
BATCH = 512
TINY = {
    "resources.games_per_runner": 16,
    "resources.object_store_gb": 0.1,
    "algo.batch": BATCH,
    "algo.minibatch": 128,
    "algo.epochs": 2,
    "algo.lr": 3e-3,
    "policy.kind": "shortlist",
    "policy.hidden": (16, 16),
    "policy.entry": 8,
    "games.max_decisions": 60,
    "checkpoints.every": 1000,
}
MLP = {"policy.kind": "mlp", "policy.hidden": (16,)}
RUNS: dict[str, dict[str, Any]] = {
    "ppo-shortlist": {"games.practice": 0.3},
    "sampling-two-batches-ahead": {"algo.overlap": True, "algo.lag": 2, "games.practice": 0.3},
    "ppo-lstm": {
        "policy.kind": "lstm",
        "policy.hidden": (16, 12),
        "policy.memory": 8,
        "policy.sequence": 8,
        "algo.normalise_rewards": True,
        "algo.normalise_values": True,
    },
    "ppo-pixels": {"policy.kind": "cnn", "policy.size": (36, 48), "algo.minibatch": 256, "algo.epochs": 1},
    "appo-planner": {"policy.kind": "planner", "algo.kind": "appo"},
    "dqn": {**MLP, "algo.kind": "dqn", "algo.replay": 4000, "algo.replay_after": 600, "algo.epochs": 1},
    "curriculum": {"games.curriculum": ({"goal": 1, "promote": 0.001},), "games.practice": 0.5},
}
FEW = ("ppo-shortlist", "ppo-lstm", "dqn")  # run in `make test-slow`, the others nightly


def trained(folder: Path, name: str, iterations: int, resume: bool = False, **settings: Any) -> Path:
    """Train for this number of iterations, without the final evaluation; return the run's folder."""
    from ante.training.run import loop
    from ante.training.settings.config import make_config
    from ante.training.settings.policies import POLICIES

    known = POLICIES.find(settings.get("policy.kind", TINY["policy.kind"])).model_fields
    given = {**TINY, **settings, "runs": str(folder), "name": name, "steps": BATCH * iterations}
    given = {path: each for path, each in given.items() if path.startswith("policy.") <= (path[7:] in known)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "conclude", lambda *_: None)
        return loop.train(make_config(given), resume)


def state_of(run: Path) -> Any:
    """Return the complete state in the run's last checkpoint."""
    return read_state(find_checkpoint(run / "checkpoints")[0])


def rows(run: Path) -> list[dict[str, str]]:
    """Return the rows of metrics.csv without times and memory."""
    own = ("seconds", "per_second", "memory")
    with (run / "metrics.csv").open(newline="") as stream:
        return [{k: v for k, v in row.items() if not any(word in k for word in own)} for row in csv.DictReader(stream)]


def differences(one: Any, two: Any, path: str = "") -> list[str]:
    """Return the paths at which two trees of plain values differ, other than times."""
    if "time" in path or "seconds" in path or "throughput" in path:
        return []
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return [each for key in one for each in differences(one[key], two[key], f"{path}/{key}")]
    if isinstance(one, list | tuple) and isinstance(two, list | tuple) and len(one) == len(two):
        return [each for i, pair in enumerate(zip(one, two, strict=True)) for each in differences(*pair, f"{path}/{i}")]
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return [] if one.dtype == two.dtype and one.tobytes() == two.tobytes() else [path]
    same = one == two or (isinstance(one, float) and isinstance(two, float) and math.isnan(one) and math.isnan(two))
    return [] if type(one) is type(two) and same else [path]


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.nightly) for name in RUNS]
)
def test_a_resumed_run_equals_the_undisturbed_one_bit_for_bit(tmp_path: Path, name: str) -> None:
    settings = RUNS[name]
    whole = trained(tmp_path, "whole", 5, **settings)
    trained(tmp_path, "halves", 2, **settings)
    halves = trained(tmp_path, "halves", 5, resume=True, **settings)
    weights = [(find_checkpoint(run / "checkpoints")[0] / "weights.npz").read_bytes() for run in (whole, halves)]
    assert weights[0] == weights[1]
    assert rows(whole) == rows(halves) and len(rows(whole)) == 5
    found = differences(state_of(whole), state_of(halves))
    unused = ("/rows/bytes", "/extra/bytes", "/replay/arrays/rows")  # packed rows have unused bytes of any value
    assert [path for path in found if not path.endswith(unused)] == []
    if name == "curriculum":
        assert int(rows(whole)[-1]["games"]) > 0 and float(rows(whole)[-1]["stage"]) >= 1


def test_a_run_with_another_number_of_games_begins_them_again_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trained(tmp_path, "moved", 2, **MLP)
    assert "begin again" not in capsys.readouterr().err
    trained(tmp_path, "moved", 3, resume=True, **MLP, **{"resources.games_per_runner": 8})
    said = " ".join(capsys.readouterr().err.split())
    assert "games in progress begin again: the checkpoint has 1 x 16 games, and this run 1 x 8" in said
    assert len(rows(run)) == 3
    trained(tmp_path, "moved", 4, resume=True, **MLP, **{"resources.games_per_runner": 4, "resources.runners": 2})
    said = " ".join(capsys.readouterr().err.split())
    assert "games in progress begin again: the checkpoint has 1 x 8 games, and this run 2 x 4" in said
    assert len(rows(run)) == 4


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (None, "the checkpoint contains no games"),
        ("records", "BadState: record 3 is not a valid game"),
        ("rng", "do not fit this version"),
        ("begun", "do not fit this version"),
    ],
)
def test_a_checkpoint_without_usable_games_is_continued_with_new_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str | None, words: str
) -> None:
    """Earlier versions saved no games; the records of a game may have another layout in a later version."""
    import shutil

    from ante.training.run_store.manifest import FILES, SEAL
    from ante.training.run_store.state_files import write_state
    from ante.training.sampling.saved_games import read_records, save_records

    run = trained(tmp_path, "old", 2, **MLP)
    checkpoint, metadata = find_checkpoint(run / "checkpoints")
    state = read_state(checkpoint)
    if broken is None:
        del state["sampling"]
    else:
        (runner,) = state["sampling"]["states"]
        if broken == "records":
            states = read_records(runner["games"]["records"], 16)
            states[2].n_jokers = 77
            runner["games"]["records"] = save_records(states)
        else:
            runner[broken] = runner[broken][:-1]
    facts = {name: value for name, value in metadata.items() if name not in (FILES, SEAL)}

    def write(folder: Path) -> None:
        for name in ("weights.npz", "config.yaml"):
            shutil.copy(checkpoint / name, folder / name)
        write_state(folder, state)

    save_checkpoint(run / "checkpoints", metadata["timesteps"], write, facts, best=False)
    capsys.readouterr()
    trained(tmp_path, "old", 3, resume=True, **MLP)
    said = " ".join(capsys.readouterr().err.split())
    assert "games in progress begin again" in said and words in said
    assert len(rows(run)) == 3


@pytest.mark.nightly
def test_with_two_runners_and_two_learners_a_resumed_run_equals_the_undisturbed_one(tmp_path: Path) -> None:
    settings = {**MLP, "resources.runners": 2, "resources.games_per_runner": 8, "resources.learners": 2}
    whole = trained(tmp_path, "whole", 4, **settings)
    trained(tmp_path, "halves", 2, **settings)
    halves = trained(tmp_path, "halves", 4, resume=True, **settings)
    assert rows(whole) == rows(halves)
    assert differences(state_of(whole), state_of(halves)) == []
