"""`ante bench track`: a tracker that does not start ends the measurement."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from ante.errors import BalatroError

pytest.importorskip("mlflow")


def test_a_tracker_that_does_not_start_ends_the_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.bench import tracking

    @contextmanager
    def failing(config: object, say: Callable[[str], None]) -> Iterator[SimpleNamespace]:
        follower = SimpleNamespace(look=lambda: say("mlflow receives no rows (no folder)"))
        yield SimpleNamespace(begin=lambda: None, each=[follower], terminated=None)

    monkeypatch.setattr(tracking, "following", failing)
    with pytest.raises(BalatroError, match="a tracker did not start: mlflow receives no rows"):
        tracking.timed(tmp_path, "run", ("mlflow",))
