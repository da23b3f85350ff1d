"""When training ends because nothing is learned any more: counts over iterations, messages, checkpoints named in them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from ante.training.run.health import MOST_EMPTY, MOST_SKIPPED, Diverged, Health, NoFragments

NAN = math.nan
LEARNED = {"grad_norm": 0.5, "nonfinite_grad_steps": 0.0, "fragments_lost": 0.0}
SKIPPED = {"grad_norm": NAN, "nonfinite_grad_steps": 8.0, "fragments_lost": 0.0}
EMPTY = {"grad_norm": NAN, "nonfinite_grad_steps": 0.0, "fragments_lost": 2.0}


def after(*rows: dict[str, float]) -> Health:
    health = Health()
    for row in rows:
        health.add(row)
    return health


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run with a pointer to its newest checkpoint."""
    (tmp_path / "checkpoints").mkdir()
    pointer = {"checkpoint": "000000000512", "seal": "0"}
    (tmp_path / "checkpoints" / "latest.json").write_text(json.dumps(pointer))
    return tmp_path


def test_gradient_steps_without_a_finite_gradient_are_counted_over_iterations(folder: Path) -> None:
    after(SKIPPED, SKIPPED).check(folder)
    with pytest.raises(Diverged, match=f"last 24 gradient steps .*--from {folder}@000000000512 --name NEW"):
        after(LEARNED, SKIPPED, SKIPPED, SKIPPED).check(folder)
    assert after(*[SKIPPED | {"nonfinite_grad_steps": 1.0}] * MOST_SKIPPED).diverged
    assert not after(*[SKIPPED | {"nonfinite_grad_steps": 1.0}] * (MOST_SKIPPED - 1)).diverged


@pytest.mark.parametrize("between", [LEARNED, {**LEARNED, "nonfinite_grad_steps": 7.0}])
def test_a_finite_gradient_ends_the_count(between: dict[str, float], folder: Path) -> None:
    health = after(SKIPPED, SKIPPED, between, SKIPPED)
    health.check(folder)
    assert health.wasted and not after(SKIPPED, between).wasted


def test_an_iteration_without_a_gradient_step_is_wasted_only_if_fragments_were_lost(folder: Path) -> None:
    filling = {**EMPTY, "fragments_lost": 0.0}  # dqn before replay_after
    foreign = dict.fromkeys(LEARNED, NAN)  # algorithms of other libraries
    for row in (filling, foreign):
        health = after(SKIPPED, row)
        assert not health.wasted and health.skipped == 8, "neither more skipped steps nor a finite gradient"
    assert after(EMPTY).wasted and not after(LEARNED | {"fragments_lost": 1.0}).wasted
    after(*[EMPTY] * (MOST_EMPTY - 1), LEARNED, EMPTY).check(folder)
    with pytest.raises(NoFragments, match=f"last 10 iterations.*--resume {folder} continues from 000000000512"):
        after(*[EMPTY] * MOST_EMPTY).check(folder)


@pytest.mark.parametrize(("row", "error"), [(SKIPPED, Diverged), (EMPTY, NoFragments)])
def test_the_message_says_that_there_is_no_checkpoint_yet(row: Any, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error, match="from the beginning, since there is no checkpoint yet"):
        after(*[row] * MOST_EMPTY).check(tmp_path)
