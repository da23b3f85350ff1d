"""`ante hints effect`: its JSON, and refused options."""

import json
import math
from pathlib import Path

import pytest

from ante.cli import outcome
from ante.errors import BalatroError

pytest.importorskip("torch")


def test_a_single_pair_gives_valid_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from ante.bench import hints

    def run(config, at, advance):
        return [hints.Point(config.seed, config.hints.source, goal, 1.0, 1.0, 0.0, math.nan) for goal in at]

    monkeypatch.setattr(hints, "run", run)
    file = tmp_path / "effect.json"
    assert outcome(["hints", "effect", "--seeds", "1", "--points", "1", "--out", str(file)]) == 0
    found = json.loads(file.read_text(), parse_constant=lambda number: pytest.fail(f"{number} is not JSON"))
    assert (found["effects"][0]["low"], found["points"][0]["trained_return"]) == (None, None)


def test_more_evaluations_than_steps_are_refused() -> None:
    from ante.bench.hints import measure
    from ante.training.settings.config import make_config

    with pytest.raises(BalatroError, match="4 evaluations need at least as many steps, not 3"):
        measure(make_config({"steps": 3}), 1, 4)
