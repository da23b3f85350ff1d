"""Errors for users can be sent between processes, independent of the parameters of their classes."""

import importlib
import pickle
import pkgutil
from collections.abc import Iterator

import pytest

import ante
from ante.checks import BadValue
from ante.env.single import IllegalAction
from ante.errors import BalatroError, UnknownDeck, rebuilt

PACKAGES = ("checks", "engine", "env", "files", "hints", "storage", "agents", "league", "race", "recording")


def kinds(kind: type[BalatroError] = BalatroError) -> Iterator[type[BalatroError]]:
    """Yield all error classes of ours."""
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


@pytest.mark.parametrize(
    "error",
    [IllegalAction("play AS", "3 discard", 2), UnknownDeck("b_gost", ["b_ghost"]), BadValue("n", 3, "less")],
    ids=lambda error: type(error).__name__,
)
def test_an_error_with_parameters_arrives_with_its_message(error: BalatroError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and vars(copy) == vars(error)


@pytest.mark.slow
def test_errors_of_all_packages_can_be_sent() -> None:
    for package in PACKAGES:
        module = importlib.import_module(f"ante.{package}")
        for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"{module.__name__}."):
            if not found.name.endswith((".cuda", ".cuda_compiler", "__main__")):
                importlib.import_module(found.name)
    found = [kind for kind in kinds() if kind.__module__.startswith(ante.__name__)]
    assert len(found) > 40
    for kind in found:
        error = rebuilt(kind, ("a message",), {})
        assert pickle.loads(pickle.dumps(error)).args == error.args, kind
