"""Random legal play: every invariant after every decision, and the same bytes however it is run.

The long run (a million decisions over all decks and stakes) is `ante bench fuzz`; this one is its short form.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from ante.catalog.decks import Deck
from ante.engine.actions import N_DISCRETE, is_legal, legal_mask, to_macro
from ante.engine.invariants import Broken
from ante.engine.play import fuzz
from ante.engine.run import new_run
from ante.engine.state import Phase, Status, load_state, new_states, save_state
from ante.engine.step import step, step_discrete

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"


@pytest.mark.parametrize("one_chip", [0, 1])
def test_invariants_hold_after_every_random_decision(one_chip: int) -> None:
    states = new_states(60)
    report = np.zeros(4, dtype=np.int64)
    fuzz(states, 20_040 if COMPILED else 240, 7, one_chip, report)
    assert report[0] == (20_040 if COMPILED else 240)
    assert Broken(int(report[1])) == Broken.NOTHING, f"game {report[2]} after {report[3]} decisions"


@pytest.mark.skipif(not COMPILED, reason="is itself the comparison")
def test_compiled_and_uncompiled_play_are_equal_byte_for_byte() -> None:
    script = (
        "import numpy as np, sys, hashlib\n"
        "from ante.engine.play import fuzz\n"
        "from ante.engine.state import new_states\n"
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


def random_states(count: int, seed: int) -> np.recarray:
    """Games stopped after different numbers of random decisions."""
    states = new_states(count)
    fuzz(states, count * 25, seed, 1, np.zeros(4, dtype=np.int64))
    return states


def test_every_unmasked_action_is_legal_and_every_masked_one_refused() -> None:
    states = random_states(40 if COMPILED else 6, 3)
    out = np.zeros(N_DISCRETE, dtype=np.uint8)
    for s in states:
        legal_mask(s, out)
        for index in range(N_DISCRETE):
            assert is_legal(s, to_macro(s, index)) == bool(out[index]), (index, Phase(int(s.phase)))


def test_a_refused_action_changes_nothing() -> None:
    states = random_states(10 if COMPILED else 3, 5)
    out = np.zeros(N_DISCRETE, dtype=np.uint8)
    for s in states:
        legal_mask(s, out)
        before = s.tobytes()
        for index in np.flatnonzero(out == 0):
            assert step_discrete(s, int(index)) == Status.ILLEGAL
        for nonsense in (-1, 63, 1 << 50, (255 << 6) | 12):
            assert step(s, np.int64(nonsense)) == Status.ILLEGAL
        assert s.tobytes() == before


def test_a_game_does_not_depend_on_its_neighbours() -> None:
    both = new_states(2)
    fuzz(both, 200, 9, 1, np.zeros(4, dtype=np.int64))
    alone = new_states(1)
    fuzz(alone, 100, 9, 1, np.zeros(4, dtype=np.int64))
    assert both[0].tobytes() == alone[0].tobytes()


def test_save_then_load_changes_nothing() -> None:
    for s in random_states(5, 13):
        assert load_state(save_state(s)).tobytes() == s.tobytes()


def test_a_truncated_save_is_refused() -> None:
    data = save_state(new_run("TESTSEED", Deck.RED, 1))
    with pytest.raises(ValueError, match="truncated"):
        load_state(data[:-1])
    with pytest.raises(ValueError, match="not a saved game"):
        load_state(b"hello" + data)


def test_same_seed_and_actions_give_equal_bytes() -> None:
    a, b = new_states(3), new_states(3)
    for states in (a, b):
        fuzz(states, 300, 21, 0, np.zeros(4, dtype=np.int64))
    assert a.tobytes() == b.tobytes()
