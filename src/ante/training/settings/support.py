"""Features that policies and algorithms support, and the error for unsupported combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ante.training.settings.field import value_of

if TYPE_CHECKING:
    from ante.training.settings.config import TrainConfig
    from ante.training.settings.kinds import Kinds


class Feature(StrEnum):
    """Feature of a run that only some policies or algorithms support."""

    HINTS = "hints"
    HINT_SHAPING = "hint shaping"
    PRACTICE = "practice"
    START_STATES = "start states"
    CURRICULUM = "curriculum"
    WARM_START = "warm start"
    GAMES_ON_GPU = "games on a GPU"
    RUNNERS = "env runner processes"
    LEARNER = "a learner process"
    LEARNERS = "several learners"
    BF16 = "bf16"
    LINE_UPS = "counting line-ups"


class Trait(StrEnum):
    """Property of a policy that an algorithm may require."""

    FLAT_NETWORK = "a feed-forward network on the flat view"
    ACTION_VALUES = "a value for each action of a fixed list"


ALL = frozenset(Feature)
GPU_GAMES = ALL - {
    Feature.HINTS,
    Feature.HINT_SHAPING,
    Feature.PRACTICE,
    Feature.START_STATES,
    Feature.LINE_UPS,
}  # supported with games_on gpu


@dataclass(frozen=True)
class Use:
    """The setting that enables a feature.

    Args:
        feature: The feature.
        path: The setting that enables it.
        without: The value of that setting that disables it.
        used: Whether a value enables it.
    """

    feature: Feature
    path: str
    without: str
    used: Callable[[Any], bool] = bool


USES = (
    Use(Feature.HINTS, "hints.source", "off", lambda source: source != "off"),
    Use(Feature.HINT_SHAPING, "hints.shaping", "0"),
    Use(Feature.PRACTICE, "games.practice", "0"),
    Use(Feature.START_STATES, "games.start_states", "null"),
    Use(Feature.CURRICULUM, "games.curriculum", "[]"),
    Use(Feature.WARM_START, "init_from", "null"),
    Use(Feature.GAMES_ON_GPU, "resources.games_on", "cpu", lambda device: device == "gpu"),
    Use(Feature.RUNNERS, "resources.runners", "0"),
    Use(Feature.LEARNER, "resources.learners", "0"),
    Use(Feature.LEARNERS, "resources.learners", "1", lambda learners: learners > 1),
    Use(Feature.LINE_UPS, "tracking.knowledge", "null"),
    Use(Feature.BF16, "resources.bf16", "auto", lambda choice: choice == "on"),
)


def check_support(config: TrainConfig, policies: Kinds[Any], algorithms: Kinds[Any]) -> None:
    """Raise ValueError, with alternatives, for the first combination that is not supported."""
    for problem in problems(config, policies, algorithms):
        raise ValueError(problem)


def problems(config: TrainConfig, policies: Kinds[Any], algorithms: Kinds[Any]) -> Iterator[str]:
    """Yield an error for each unsupported combination of settings."""
    policy, algo = config.policy, config.algo
    if not algo.needs <= policy.traits:
        fitting = [name for name, each in policies.known.items() if algo.needs <= each.traits]
        others = [name for name, each in algorithms.known.items() if each.needs <= policy.traits]
        yield refusal(f"algo.kind {algo.kind}", f"policy.kind {policy.kind}", fitting, f"algo.kind {either(others)}")
    for use in USES:
        value = value_of(config, use.path)
        if not use.used(value):
            continue
        what = use.path if isinstance(value, tuple) else f"{use.path} {value}"
        instead = f"{use.path} {use.without}"
        for group, chosen, kinds in (("policy", policy, policies), ("algo", algo, algorithms)):
            if use.feature not in chosen.supports:
                fitting = [name for name, each in kinds.known.items() if use.feature in each.supports]
                yield refusal(what, f"{group}.kind {chosen.kind}", fitting, instead)
        if config.resources.games_on == "gpu" and use.feature not in GPU_GAMES:
            yield refusal(what, "resources.games_on gpu", ["cpu"], instead)


def refusal(what: str, other: str, fitting: list[str], instead: str) -> str:
    """Return the error for two incompatible settings, with alternatives to either."""
    setting = other.rpartition(" ")[0]
    first = f"{setting} {either(fitting)}, or " if fitting else ""
    return f"{what} is not supported with {other}; use {first}{instead}"


def either(names: list[str]) -> str:
    """Return names as alternatives: a, b or c."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
