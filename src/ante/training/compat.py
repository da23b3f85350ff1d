"""The one place that uses private or unannotated names of Ray and RLlib.

Everything else under `ante` uses documented names of Ray. Each name below is checked against the installed Ray by
tests/training/rllib/test_compat.py; if Ray no longer has one, the functions here raise `IncompatibleRay`.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import ray
from ray._private import ray_constants
from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]
from ray.rllib.callbacks.utils import make_callback  # not annotated as public API
from ray.rllib.core.learner.training_data import TrainingData  # not annotated as public API
from ray.rllib.utils.metrics.metrics_logger import MetricsLogger
from ray.tune.trainable import trainable

from ante.errors import BalatroError

__all__ = [
    "IncompatibleRay",
    "TrainingData",
    "add_runners",
    "advance_weights_version",
    "be_quiet",
    "includes_component",
    "leave_home_alone",
    "loopback_only",
    "make_callback",
    "metrics_of",
    "read_authentication",
    "reduced_metrics",
    "set_learning_rates",
    "state_of_metrics",
    "weights_version",
]

RAY = "2.58"  # the version that these names are from
LR_SCHEDULES = "_optimizer_lr_schedules"  # of Learner: {optimizer: Scheduler}
WEIGHTS_VERSION = "_weights_seq_no"  # of Learner: the number of updates of its weights
CHECK_COMPONENT = "_check_component"  # of Checkpointable: whether a call of get_state requests a component
BEYOND_LOOPBACK = "ENABLE_RAY_CLUSTER"  # of ray_constants: whether a started Ray listens beyond 127.0.0.1
RUNNER_MANAGER = "_worker_manager"  # of EnvRunnerGroup: the FaultTolerantActorManager of its actors
LOG_FOLDERS = "DEFAULT_STORAGE_PATH"  # of ray.tune.trainable.trainable: where algorithms create folders for logs
KEEP_METRICS = "_no_metrics_reduce"  # keyword of Learner.update: the caller reduces the metrics itself


class IncompatibleRay(BalatroError, AttributeError):
    """The installed Ray lacks a name that is used here."""

    def __init__(self, owner: object, name: str) -> None:
        super().__init__(
            f"Ray {ray.__version__} has no {type(owner).__name__}.{name}, which Ray {RAY} has: install ray=={RAY}.*, or "
            "look at ante/training/compat.py"
        )


def private(owner: Any, name: str) -> Any:
    """Return a private attribute of an RLlib object. Raises IncompatibleRay."""
    if not hasattr(owner, name):
        raise IncompatibleRay(owner, name)
    return getattr(owner, name)


@cache
def leave_home_alone() -> tempfile.TemporaryDirectory[str]:
    """Let algorithms create their folders for logs in a temporary folder, which ends with this process.

    Without this, each adds one to ~/ray_results, which may be read-only.
    """
    private(trainable, LOG_FOLDERS)
    folder = tempfile.TemporaryDirectory(prefix="ante-")
    setattr(trainable, LOG_FOLDERS, folder.name)
    return folder


def add_runners(group: Any, actors: list[Any]) -> None:
    """Add actors to an EnvRunnerGroup as its env runners."""
    private(group, RUNNER_MANAGER).add_actors(actors)


def be_quiet() -> None:
    """Let Ray and RLlib log errors only."""
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.ERROR)


def read_authentication() -> None:
    """Let Ray read RAY_AUTH_MODE and the token again; by default it reads them only on import."""
    AuthenticationTokenLoader.instance().reset_cache()
    Config.initialize("")


@contextmanager
def loopback_only() -> Iterator[None]:
    """Let a Ray that is started in this context listen on 127.0.0.1 only, as on macOS and Windows."""
    before = private(ray_constants, BEYOND_LOOPBACK)
    setattr(ray_constants, BEYOND_LOOPBACK, False)
    try:
        yield
    finally:
        setattr(ray_constants, BEYOND_LOOPBACK, before)


def set_learning_rates(learner: Any, steps: int) -> None:
    """Set the learning rate of each optimizer to its schedule's value after `steps` environment steps."""
    for optimizer, schedule in private(learner, LR_SCHEDULES).items():
        rate = schedule.update(steps)
        for group in optimizer.param_groups:
            group["lr"] = rate


def weights_version(learner: Any) -> int:
    """Return the number of updates of the learner's weights; runners receive it as WEIGHTS_SEQ_NO."""
    return int(private(learner, WEIGHTS_VERSION))


def advance_weights_version(learner: Any) -> None:
    """Count one update of the weights."""
    setattr(learner, WEIGHTS_VERSION, weights_version(learner) + 1)


def reduced_metrics(learner: Any, keywords: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of `Learner.update`: reduced metrics, or None if the caller reduces them.

    Args:
        learner: The learner, whose metrics are complete.
        keywords: The keywords of `update` that are RLlib's own.
    """
    return None if keywords.get(KEEP_METRICS) else learner.metrics.reduce()


def includes_component(owner: Any, name: str, components: Any, not_components: Any) -> bool:
    """Return whether a call of `owner.get_state(components, not_components=...)` requests this component."""
    return bool(private(owner, CHECK_COMPONENT)(name, components, not_components))


def state_of_metrics(reduced: dict[str, Any]) -> dict[str, Any]:
    """Return the result of `MetricsLogger.reduce` as plain values."""
    logger = MetricsLogger()
    logger.stats = reduced
    return dict(logger.get_state())


def metrics_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return what `state_of_metrics` was given."""
    logger = MetricsLogger()
    logger.set_state(state)
    return dict(logger.stats)
