"""Ante: a seed-exact Balatro engine, Gymnasium environments, and training with RLlib.

In a notebook: `from ante import train, evaluate, compare`, which imports `ante.notebook` on first use.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

IN_NOTEBOOKS = ("train", "evaluate", "compare", "Run", "Evaluation", "Comparison", "TrainConfig")


def __getattr__(name: str) -> Any:
    """Import names on first use. SPEED: `import ante` must not import the engine or training."""
    if name not in IN_NOTEBOOKS:
        raise AttributeError(f"module 'ante' has no attribute {name!r}")
    try:
        found = getattr(import_module("ante.notebook"), name)
    except ModuleNotFoundError as error:
        from ante.errors import NotInstalled

        raise NotInstalled(error) from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return all names, including those that are imported on first use."""
    return sorted({*globals(), *IN_NOTEBOOKS})
