"""Settings of hints: advisor, frequency, and how hints are used."""

from typing import Literal

from ante.training.settings.field import Settings, setting
from ante.training.settings.schedule import Schedule, ShareSchedule


class HintSettings(Settings):
    """Hints for decisions about which the policy is uncertain."""

    source: Literal["off", "rules", "llm"] = setting(
        "off",
        "Advisor for decisions where the policy is uncertain: none, rule-based, or the LLM at LLM_ENDPOINT.",
        "rules for a faster start; llm with a model in the cluster or on the network (docs/how-to/hints.md).",
    )
    share: float = setting(
        0.05,
        "Largest fraction of any 1,000 consecutive decisions for which hints are requested.",
        "Lower if hints cost money.",
        ge=0,
        le=1,
    )
    confidence: float = setting(
        0.7,
        "Probability of the most likely action below which the policy counts as uncertain.",
        "Higher to request hints for more decisions, up to the share.",
        ge=0,
        le=1,
    )
    imitation: Schedule = setting(
        0.1,
        "Weight of the loss that imitates hints: a number, or points as in algo.lr.",
        "Points that decay to 0, so that the policy can surpass its advisor.",
    )
    prior: ShareSchedule = setting(
        0.0,
        "Probability of following a hint in a game that starts from its position: a number, or points as in algo.lr.",
        "0.5 decaying to 0, to explore advised actions without imitation.",
    )
    shaping: float = setting(
        0.0, "Weight of the potential learned from the advisor's outlooks.", "About 0.1 if rewards are sparse.", ge=0
    )
