"""Settings with which a run learns for a second: for tests that look at what surrounds the learning."""

from typing import Any

TINY: dict[str, Any] = {
    "policy": "shortlist",
    "games": 16,
    "batch": 512,
    "minibatch": 256,
    "epochs": 1,
    "hidden": [16, 16],
    "entry": 8,
    "max_decisions": 60,
}
