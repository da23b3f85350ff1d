"""Random legal play: every invariant holds after every decision, and results do not depend on how games are run.

The long run (a million decisions over all decks and stakes) is `ante fuzz`; this is its short form.
"""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ante.catalog.decks import Deck
from ante.engine.actions import N_DISCRETE
from ante.engine.core.state import Status, load_state, new_states, save_state
from ante.engine.drivers.random_play import (
    begin_game_of_kind,
    begin_player,
    fuzz,
    mask_all,
    random_decision,
    step_all,
)
from ante.engine.invariants import Broken
from ante.engine.run import new_run
from ante.engine.step import step, step_discrete

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"


@pytest.mark.parametrize("one_chip", [0, 1])
def test_invariants_hold_after_every_random_decision(one_chip: int) -> None:
    states = new_states(60)
    report = np.zeros(4, dtype=np.int64)
    fuzz(states, 20_040 if COMPILED else 240, 7, one_chip, report)
    assert report[0] == (20_040 if COMPILED else 240)
    assert Broken(int(report[1])) == Broken.NOTHING, f"game {report[2]} after {report[3]} decisions"


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="runs only compiled")
def test_compiled_and_uncompiled_play_are_equal_byte_for_byte() -> None:
    script = (
        "import numpy as np, sys, hashlib\n"
        "from ante.engine.drivers.random_play import fuzz\n"
        "from ante.engine.core.state import new_states\n"
        "states = new_states(15); report = np.zeros(4, dtype=np.int64)\n"
        "for one_chip in (0, 1):\n"
        "    fuzz(states, 400, 11, one_chip, report)\n"
        "    print(hashlib.sha256(states.tobytes()).hexdigest(), report.tolist())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 2


def test_a_decision_that_means_nothing_is_refused_and_changes_nothing() -> None:
    states = new_states(10 if COMPILED else 3)
    fuzz(states, len(states) * 25, 5, 1, np.zeros(4, dtype=np.int64))
    for s in states:
        before = s.tobytes()
        for nonsense in (-1, 63, 1 << 50, (255 << 6) | 12):
            assert step(s, np.int64(nonsense)) == Status.ILLEGAL
        for index in (-1, N_DISCRETE):
            assert step_discrete(s, index) == Status.ILLEGAL
        assert s.tobytes() == before


def begin_game(s: Any, number: int) -> None:
    """Start a game with a kind and a random seed of its number."""
    rng = np.zeros(1, dtype=np.uint64)
    begin_player(rng, number)
    begin_game_of_kind(s, rng, 17 * number, 1)


def batch_of(numbers: list[int], decisions: int) -> np.recarray:
    """Play the games of these numbers as one batch; each has a separate random player."""
    n = len(numbers)
    states, masks = new_states(n), np.zeros((n, N_DISCRETE), dtype=np.uint8)
    actions, statuses = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    rngs = np.zeros((n, 1), dtype=np.uint64)
    for i, number in enumerate(numbers):
        begin_game(states[i], number)
        begin_player(rngs[i], 1000 + number)
    for _ in range(decisions):
        mask_all(states, masks)
        for i in range(n):
            actions[i] = random_decision(states[i], masks[i], rngs[i])
        step_all(states, actions, statuses)
        for i in np.flatnonzero(statuses == Status.LOST):
            begin_game(states[i], numbers[i])
    return states


def test_a_game_does_not_depend_on_its_neighbours_in_the_batch() -> None:
    n, decisions = (12, 200) if COMPILED else (3, 25)
    numbers = list(range(n))
    together, turned = batch_of(numbers, decisions), batch_of(numbers[::-1], decisions)[::-1]
    assert len({s.tobytes() for s in together}) == n
    for number in numbers:
        alone = batch_of([number], decisions)[0].tobytes()
        assert together[number].tobytes() == alone, number
        assert turned[number].tobytes() == alone, number


def test_a_truncated_save_is_refused() -> None:
    data = save_state(new_run("TESTSEED", Deck.RED, 1))
    with pytest.raises(ValueError, match="truncated"):
        load_state(data[:-1])
    with pytest.raises(ValueError, match="not a saved game"):
        load_state(b"hello" + data)
