"""One small, valid example of each of our file formats, to be corrupted."""

import gzip
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ante.engine.core.state import new_states, save_state
from ante.engine.run import new_run
from ante.training.acting.win_head import WinHead

GOLDEN = Path(__file__).parents[1] / "golden"
REPLAY = (GOLDEN / "replays" / "greedy-b_red-1-PKXK3L4T.txt").read_bytes()
INDEX = {
    "version": 1,
    "episodes": [
        {
            "name": "000000000100-A",
            "seed": "A",
            "deck": "b_red",
            "stake": 1,
            "challenge": None,
            "outcome": "lost",
            "ante": 1,
            "blinds": 0,
            "decisions": 3,
            "reward": 0.5,
            "steps": 100,
            "final": False,
            "jokers": ["Joker"],
            "state": "0123456789abcdef",
            "why": ["first_win"],
            "notes": "000000000100-A.notes.json.gz",
            "video": "000000000100-A.mp4",
            "poster": "000000000100-A.jpg",
            "highlights": {"best_poker_hand": 3.0, "win:b_red:1": 1.0, "highest_hand": 5.5, "of_later_versions": 2.0},
        }
    ],
}
NOTES = {"player": "greedy", "notes": [[0.5, [[4, 0.75], [5, 0.25]], 0.75, "keep the pair", "flush"]]}
LEAGUE = {
    "format": 1,
    "engine": "0123456789abcdef",
    "rules": {"games": 50, "deck": "b_red", "stake": 1, "challenge": None},
    "players": [{"name": "greedy", "source": "greedy", "pin": "", "run": "", "steps": None, "likeliest": False}],
}
BASELINE = {
    "machine": {"cores": 2},
    "policy": "mlp",
    "figures": [{"name": "steps", "value": 1.5, "unit": "steps/s", "better": "more"}],
}
REPORT = {
    "player": "greedy",
    "games": 1,
    "records": [{"outcome": "lost", "ante": 1, "blinds": 0, "reward": 0.5}],
}
TRACKING = {"id": "x", "place": "here", "iteration": 1, "error": "", "ended": ""}
GAME = {
    "seed": "2K9H9HN",
    "player": "greedy",
    "settings": {"candidates": 6, "share": 0.4},
    "won": True,
    "ante": 8,
    "blinds": 24,
    "decisions": 200,
    "simulations": 900,
    "milliseconds": 16.5,
    "phases": {"hand": [35, 30, 5, 1.25]},
    "lost_to": "",
    "machine": "a processor, 2 cores",
}
SEARCHED = (
    f"{json.dumps(GAME)}\n{json.dumps(GAME | {'seed': 'TESTSEED', 'won': False, 'lost_to': 'The Wall'})}\n".encode()
)
REFERENCE = {"seed": -1, "weights_sha256": "ab", "games": 6, "won": "a4"}
TRAINED = {"seed": 3, "minutes": 1.0, "seconds": 61.0, "steps": 900, "checkpoint": "000000000900", "weights_sha256": "cd",
           "play_seconds": 2.0, "games": 6, "won": "fc"}  # fmt: skip
MEASURED = f"{json.dumps(TRAINED)}\n{json.dumps(REFERENCE)}\n".encode()
PLAN = {"recipe": "quick", "settings": {"steps": 1000}, "seeds": [3], "minutes": [1.0], "games": 6, "likeliest": False}
ANCESTRY = {"lineage": [{"name": "a", "checkpoint": None, "policy": "mlp", "steps": 5, "weights_sha256": "ab"}]}
METRICS = b"iteration,steps,games,seconds\n1,100,3,2.5\n2,200,6,5.0\n"
SEEDS = b"# mine\n2K9H9HN\nTESTSEED\n"


@cache
def golden(name: str) -> Any:
    """Return the first record of a file of recorded truth, with shortened lists."""
    text = gzip.decompress((GOLDEN / name).read_bytes()).decode()
    data = json.loads(text) if name == "seeds.json.gz" else json.loads(text.splitlines()[0])
    record = data["runs"][0] if "runs" in data else data
    for key in ("antes", "steps"):
        if key in record:
            record[key] = record[key][:2]
    return record


@cache
def win_head() -> bytes:
    """Return a small win head of the weights "abc"."""
    hidden, bias, none = (
        np.ones((3, 2), dtype=np.float32),
        np.zeros(2, dtype=np.float32),
        np.zeros((), dtype=np.float32),
    )
    with TemporaryDirectory() as folder:
        return WinHead(hidden, bias, bias, none, "abc").write(Path(folder)).read_bytes()


@cache
def start() -> bytes:
    """Return a saved game before its first decision."""
    states = new_states(1)
    states[0] = new_run("TESTSEED")
    return save_state(states[0])
