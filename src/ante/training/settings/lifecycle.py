"""Settings of a run's outputs: checkpoints, evaluations, videos, uploads, tracking."""

import re
from itertools import pairwise
from typing import Literal

from pydantic import field_validator

from ante.events.urls import check_bus
from ante.knowledge.backends import check_store
from ante.training.settings.field import Settings, setting

VIDEO_RULE = re.compile(r"best|worst|first_win|(every|random):[1-9]\d*")


class CheckpointSettings(Settings):
    """Settings of checkpoints."""

    every: int = setting(
        10,
        "Iterations between checkpoints.",
        "Lower to lose less progress after a failure, higher if writing is slow.",
        resumable=True,
        ge=1,
    )
    minutes: tuple[float, ...] = setting(
        (),
        "Minutes of training time at which further checkpoints are written, in increasing order.",
        "To compare policies after equal training time, with keep 0; ante bench strength sets both.",
        resumable=True,
    )
    keep: int = setting(
        3,
        "Newest checkpoints to keep in addition to the best one; 0 = all.",
        "0 to rate the checkpoints of a run in a league (docs/how-to/players.md).",
        resumable=True,
        ge=0,
    )

    @field_validator("minutes")
    @classmethod
    def _in_order(cls, minutes: tuple[float, ...]) -> tuple[float, ...]:
        if any(one >= two for one, two in pairwise((0.0, *minutes))):
            raise ValueError("minutes must be above 0 and in increasing order")
        return minutes

    def due(self, iteration: int, before: float, now: float) -> bool:
        """Return whether a checkpoint is due after an iteration that took training from `before` to `now` seconds."""
        return iteration % self.every == 0 or any(before < 60.0 * minute <= now for minute in self.minutes)


class EvaluationSettings(Settings):
    """Settings of evaluations on fixed seeds."""

    games: int = setting(
        100,
        "Games of the final evaluation, on evaluation seeds, which choose nothing.",
        "Higher for narrower intervals: 1,000 for published figures.",
        resumable=True,
        ge=1,
    )
    every: int = setting(
        0,
        "Iterations between short evaluations, which then choose the best checkpoint; 0 = none.",
        "About 10 in long runs, to choose the best checkpoint by evaluation.",
        resumable=True,
        ge=0,
    )
    trial_games: int = setting(
        64,
        "Games of each short evaluation, on the first validation seeds.",
        "Higher for a more reliable choice of the best checkpoint; 64 games take seconds.",
        resumable=True,
        ge=1,
        le=1000,
    )


class VideoSettings(Settings):
    """Settings of recorded games: videos and replays."""

    select: tuple[str, ...] = setting(
        ("best", "worst", "first_win"),
        "Games of an evaluation that become videos: best, worst, first_win, every:N, random:N; always the best game of "
        "the final evaluation.",
        "random:2 to see typical games; [] for only the best game of the final evaluation.",
        resumable=True,
    )
    per_evaluation: int = setting(
        4,
        "Maximum number of videos per evaluation.",
        "Higher if select matches more games: a video takes seconds.",
        resumable=True,
        ge=0,
        le=16,
    )
    keep: int = setting(
        40,
        "Maximum number of videos to keep; the oldest are deleted first.",
        "Higher if disk space allows: a video is 1 to 2 MB.",
        resumable=True,
        ge=1,
    )
    keep_episodes: int = setting(
        400,
        "Maximum number of replays to keep; the oldest are deleted first.",
        "Higher to include more games in the report: a replay is half a kilobyte.",
        resumable=True,
        ge=16,
    )

    @field_validator("select")
    @classmethod
    def _known_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            if not VIDEO_RULE.fullmatch(rule):
                raise ValueError(f"{rule!r} is not a rule: use best, worst, first_win, every:20 or random:2")
        return rules


class UploadSettings(Settings):
    """Settings of uploads to the store."""

    keep: int = setting(
        5,
        "Newest checkpoints to keep in the store, in addition to latest and best; 0 = all.",
        "Higher for a longer history, 0 if storage is not limited.",
        resumable=True,
        ge=0,
    )
    wait_seconds: float = setting(
        600.0,
        "How long a finished run waits for uploads to complete.",
        "Higher if the connection to the store is slow.",
        resumable=True,
        ge=0,
    )
    grace_seconds: float = setting(
        25.0,
        "How long a terminated run waits for uploads, counted from SIGTERM.",
        "Slightly less than the grace period of the platform: 30 seconds by default in Kubernetes, 120 in the chart's pods.",
        resumable=True,
        ge=0,
    )
    pause_seconds: float = setting(
        60.0,
        "How long a checkpoint waits for space in a full upload queue before its upload is skipped.",
        "0 if training must never block; higher if every checkpoint must be uploaded.",
        resumable=True,
        ge=0,
    )
    spool_gb: float = setting(
        4.0,
        "Maximum size of the upload queue in the run's folder, in GB.",
        "Room for about ten checkpoints.",
        resumable=True,
        gt=0,
    )


class TrackingSettings(Settings):
    """Settings of experiment trackers and metrics."""

    trackers: tuple[Literal["wandb", "mlflow"], ...] = setting(
        (),
        "Trackers to which a separate process sends the run's rows: wandb, mlflow (extra track).",
        "To share runs with a team (docs/how-to/watch.md). TensorBoard files are always written.",
        resumable=True,
    )
    project: str | None = setting(
        None,
        "W&B project or MLflow experiment; by default from the trackers' own variables, or ante.",
        "To group related runs.",
        resumable=True,
    )
    wait_seconds: float = setting(
        30.0,
        "How long a finished run waits for its rows to be sent.",
        "Higher if the connection to the tracker is slow; missing rows can be sent later.",
        resumable=True,
        ge=0,
    )
    metrics_port: int = setting(
        0,
        "Port of the Prometheus endpoint (/metrics); 0 = none.",
        "In a cluster, for dashboards and alerts (docs/how-to/runbooks.md); each run on a machine needs another port.",
        resumable=True,
        ge=0,
        le=65535,
    )
    metrics_host: str = setting(
        "127.0.0.1",
        "Address at which metrics_port listens; 0.0.0.0 or :: listens on all addresses.",
        "If Prometheus runs on another machine; the endpoint has no authentication. The chart sets it in pods.",
        resumable=True,
    )

    events: str | None = setting(
        None,
        "Event bus to which the run publishes its state, its checkpoints and its hints: nats://HOST:PORT or a file such as "
        "events.sqlite; by default $ANTE_EVENTS_URL, or none.",
        "To let other programs follow runs (docs/how-to/events.md). Training never waits for the bus.",
        resumable=True,
        min_length=1,
    )

    knowledge: str | None = setting(
        None,
        "Graph to which the run writes at checkpoints which jokers and pairs its games held when ante 4 began, and how many "
        "were won: a Ladybug file or a Bolt URL; KNOWLEDGE_USER and KNOWLEDGE_PASSWORD log in.",
        "To let later runs and ante know seen learn from this one (docs/how-to/knowledge.md). Training never waits for it.",
        resumable=True,
        min_length=1,
    )

    @field_validator("knowledge")
    @classmethod
    def _a_store(cls, knowledge: str | None) -> str | None:
        return knowledge if knowledge is None else check_store(knowledge)

    @field_validator("events")
    @classmethod
    def _a_bus(cls, events: str | None) -> str | None:
        return events if events is None else check_bus(events)

    @field_validator("trackers")
    @classmethod
    def _each_once(cls, trackers: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(trackers)) < len(trackers):
            raise ValueError("a tracker is listed twice; list each once")
        return trackers
