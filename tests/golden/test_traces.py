"""Recorded games: every recorded field is equal after every step (traces.jsonl.gz, see README.md)."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ante.verification.recorded_games import replay
from ante.verification.recorded_truth import read_records

FOLDER = Path(__file__).parent
RUNS = read_records(FOLDER / "traces.jsonl.gz")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['seed']}-{run['deck']}-{run['stake']}")
def test_recorded_game_is_played_alike(run: dict[str, Any]) -> None:
    assert len(run["steps"]) > 0
    assert replay(run) is None


# Games in which the recorder deviates from the rules: the first different step (docs/explanation/rules.md).
OTHERS = {
    **{
        "5SAY2M11": 31,
        "441V87Q3": 72,
        "OIO5FNX1": 184,
        "B46JK6C3": 40,
        "5118C37W": 145,
        "2C6NL4OQ": 41,
        "3RXIS62I": 44,
    },
    **{"8IWAQ7L8": 145, "8ZHSUY23": 76, "J9ZO39ZB": 158, "DW9T7SEB": 231, "BDF6HDJN": 162, "WQNVU9BR": 50},
    **{"FL64DEME": 38, "WF33G59T": 24, "P1XXHI5C": 19, "KQEQ4PLK": 51, "GZ24TENT": 143, "DPN791SA": 46, "3CUBJXQ8": 21},
    **{"Q36LFH8B": 26, "HNFFCE55": 217, "Y3CDVYZ4": 145, "Z322GFTY": 59, "9DA3TNOG": 17},
}


@pytest.mark.slow
def test_the_other_recorded_games_differ_where_the_recorder_follows_another_rule() -> None:
    found = {run["seed"]: (replay(run) or (None,))[0] for run in read_records(FOLDER / "recorder.jsonl.gz")}
    assert found == OTHERS


@pytest.mark.nightly
@pytest.mark.slow
def test_with_the_recorders_rule_in_place_of_ours_they_are_equal_to_their_end() -> None:
    script = [sys.executable, "-m", "tests.golden.recorder"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        script, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.splitlines()) == sorted(f"{seed} equal" for seed in OTHERS)
