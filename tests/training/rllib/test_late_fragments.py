"""Waiting for env runners when none has a fragment in time, without Ray: slow ones, lost ones."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from ante.training.rllib.algorithm import FastAlgorithm, NoRunner


def waiting(timeout: float, recovered: list[list[str]]) -> Any:
    """Return what `FastAlgorithm._first_recovered` uses: runners are restored once there are `recovered` fragments."""
    return SimpleNamespace(
        config=SimpleNamespace(sample_timeout_s=timeout, num_env_runners=2),
        env_runner_group=None,
        restore_env_runners=lambda group: [1] if recovered else [],
        _launch=lambda: recovered.pop,
    )


def test_a_late_fragment_of_a_slow_runner_is_used() -> None:
    answers = iter([[], [], ["late"]])
    assert FastAlgorithm._first_recovered(waiting(20.0, []), lambda: next(answers)) == ["late"]


def test_runners_that_recover_send_new_fragments() -> None:
    assert FastAlgorithm._first_recovered(waiting(20.0, [["new"]]), list) == ["new"]


def test_without_any_fragment_the_error_names_both_causes() -> None:
    with pytest.raises(NoRunner, match=r"none of 2 env runners responded within 0\.4 s: check .* or lower algo\.batch"):
        FastAlgorithm._first_recovered(waiting(0.2, []), list)
