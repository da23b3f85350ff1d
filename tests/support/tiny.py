"""Settings for runs that learn for about a second: for tests of everything around the learning."""

from typing import Any

from ante.training.settings.policies import POLICIES

TINY: dict[str, Any] = {
    "policy.kind": "shortlist",
    "resources.games_per_runner": 16,
    "algo.batch": 512,
    "algo.minibatch": 256,
    "algo.epochs": 1,
    "policy.hidden": [16, 16],
    "policy.entry": 8,
    "games.max_decisions": 60,
}


def tiny_network(kind: str) -> dict[str, Any]:
    """Return the settings of the smallest network of a kind of policy, by their dotted paths."""
    sizes = {
        "hidden": (16, 12), "entry": 8, "width": 16, "layers": 1, "heads": 2, "trunk": 16, "memory": 8, "size": (36, 48),
    }  # fmt: skip
    return fitting(kind, sizes)


def fitting(kind: str, sizes: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a kind of policy with those sizes that it has, by their dotted paths."""
    known = POLICIES.find(kind).model_fields
    return {"policy.kind": kind} | {f"policy.{name}": value for name, value in sizes.items() if name in known}
