"""Weights & Biases as a tracker, configured by WANDB_API_KEY, WANDB_BASE_URL, WANDB_ENTITY and WANDB_MODE.

W&B's own process sends the data and also stores it in RUN/wandb, from where `wandb sync` can send it later.
"""

import os
import uuid
from collections.abc import Mapping, Sequence

import wandb

from ante.messages import foreign, without_credentials
from ante.training.settings.config import TrainConfig
from ante.training.tracking.tracker import PROJECT, Begun, Outcome, Row

EXIT: dict[Outcome, int] = {"finished": 0, "stopped": 0, "failed": 1}


class WandbTracker:
    """See Tracker.

    wait_seconds  timeout of its end
    """

    def __init__(self, wait_seconds: float) -> None:
        self.wait_seconds = wait_seconds

    def begin(self, config: TrainConfig, known: str | None) -> Begun:
        """See Tracker."""
        self.folder = config.folder
        self.run = wandb.init(
            id=known or uuid.uuid4().hex[:12],
            resume="allow",
            reinit="finish_previous",
            project=config.tracking.project or os.environ.get("WANDB_PROJECT") or PROJECT,
            name=config.name,
            group=config.runs,
            dir=str(config.folder),
            settings=self._settings(),
        )
        self.run.config.update(config.model_dump(mode="json"), allow_val_change=True)  # type: ignore[no-untyped-call]
        self.run.define_metric("*", step_metric="steps")
        return Begun(self.run.id, self._place(), self._last() if known else 0)

    def _settings(self) -> wandb.Settings:
        """Return W&B's settings, without recording the machine and the source code."""
        return wandb.Settings(
            console="off",
            silent=True,
            disable_git=True,
            save_code=False,
            x_disable_stats=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
            finish_timeout=max(1.0, self.wait_seconds),
            finish_timeout_raises=True,
        )

    def _place(self) -> str:
        if self.run.url:
            return foreign(without_credentials(self.run.url))
        return f"{self.folder}/wandb, which wandb sync {self.folder}/wandb/offline-run-* sends"

    def _last(self) -> int | None:
        """Return the iteration of its last row, if W&B reported it."""
        found = self.run.summary.get("iteration") if self.run.resumed else None  # type: ignore[no-untyped-call]
        return int(found) if isinstance(found, int | float) and 0 <= found < 2**53 else None

    def send(self, rows: Sequence[Row], moments: Sequence[float]) -> None:
        """See Tracker. W&B's own steps count rows; the charts' x axis is `steps`."""
        for row, moment in zip(rows, moments, strict=True):
            self.run.log({**row, "_timestamp": moment})

    def conclude(self, figures: Mapping[str, float], words: Mapping[str, str]) -> None:
        """See Tracker."""
        self.run.summary.update({**figures, **words})

    def end(self, outcome: Outcome) -> None:
        """See Tracker. Raises TimeoutError on a timeout; unsent data stays in RUN/wandb."""
        self.run.finish(exit_code=EXIT[outcome])
