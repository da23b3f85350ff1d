"""The events of a run: its state, its checkpoints and its hints, published from the training loop."""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ante.training.run_store.checkpoints import read_pointer
from ante.training.settings.config import TrainConfig


class RunEvents:
    """Publishes the events of one run, without waiting; without a publisher, does nothing."""

    def __init__(self, config: TrainConfig, publisher: Any = None) -> None:
        self._config, self._publisher = config, publisher

    def state(self, state: str, row: Mapping[str, float]) -> None:
        """Publish the state of the run: learning, stopped, finished or failed; row is the last one of metrics.csv."""
        if self._publisher is None:
            return
        from ante.events.v1 import events_pb2 as pb

        name = self._config.name
        data = pb.RunState(
            run=name,
            state=state,
            steps=int(row.get("steps", 0)),
            total_steps=self._config.steps,
            games=int(row.get("games", 0)),
            iteration=int(row.get("iteration", 0)),
            mean_return=known(row, "return"),
            win_rate=known(row, "win_rate"),
        )
        self._publisher.put(name, data)

    def checkpoint(self, folder: Path, metadata: Mapping[str, Any], best: bool) -> None:
        """Publish that a checkpoint was written, to which `latest` points."""
        if self._publisher is None:
            return
        from ante.events.v1 import events_pb2 as pb

        found = read_pointer(folder.parent, "latest")
        data = pb.CheckpointPublished(
            run=self._config.name,
            path=str(folder),
            steps=int(metadata["timesteps"]),
            games=int(metadata["games"]),
            model_digest=found[1] if found else "",
            best=best,
            mean_return=known(metadata, "reward"),
        )
        self._publisher.put(self._config.name, data)

    def hints(self, rows: list[dict[str, Any]]) -> None:
        """Publish hinted decisions, rows of `training.advice.broker`."""
        if self._publisher is None:
            return
        from ante.events.v1 import events_pb2 as pb

        for row in rows:
            hint = row["hint"] or {}
            data = pb.HintAsked(
                seed=row["seed"],
                step=row["step"],
                ante=row["ante"],
                confidence=row["confidence"],
                advisor=hint.get("source", ""),
                text=hint.get("text", ""),
                agreed=hint.get("agreed", False),
                packed_action=row["hint_decision"] or 0,
                seconds=row["seconds"],
                outcome=row["outcome"],
            )
            self._publisher.put(self._config.name, data)


def known(row: Mapping[str, Any], name: str) -> float | None:
    """Return a value that is finite, else None."""
    value = row.get(name)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


@contextmanager
def run_events(config: TrainConfig, say: Callable[[str], None]) -> Iterator[RunEvents]:
    """Yield the events of a run, according to `tracking.events`."""
    url = config.tracking.events or os.environ.get("ANTE_EVENTS_URL")
    if not url:
        yield RunEvents(config)
        return
    from ante.events.publisher import publishing_events

    with publishing_events(url, f"train/{config.name}", notify=say) as publisher:
        events = RunEvents(config, publisher)
        try:
            yield events
        except BaseException:
            events.state("failed", {})
            raise
