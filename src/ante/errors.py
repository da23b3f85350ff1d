"""User-facing errors, one class per cause; each message names the cause, the value and a fix."""

from collections.abc import Sequence
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 80


class BalatroError(Exception):
    """An error that the user can fix."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without calling `__init__` again, whose parameters differ between classes."""
        return rebuilt, (type(self), self.args, self.__dict__)


def rebuilt(kind: type[BalatroError], args: tuple[Any, ...], state: dict[str, Any]) -> BalatroError:
    """Return an error of this class with these arguments and attributes."""
    native: Any = kind
    while native.__module__ != "builtins":
        native = native.__base__  # the one whose memory layout the class has
    error: BalatroError = native.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def shown(value: object) -> str:
    """Return the repr of a value, truncated to one line."""
    try:
        return " ".join(SHORT.repr(value).split())
    except ValueError:  # an integer with more digits than Python converts
        return f"<{type(value).__name__} too long to show>"


def first_fault(error: Any) -> str:
    """Return location, message and value of the first error in a pydantic ValidationError."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"][:8])) or "the whole"
    return f"{shown(place)[1:-1]}: {first['msg'].removeprefix('Value error, ')}, not {shown(first['input'])}"


def close_to(value: object, known: Sequence[str]) -> list[str]:
    """Return the known name that is most similar to a misspelt one, if any."""
    return get_close_matches(value[:80], known, 1) if isinstance(value, str) else []


EXTRAS = {
    "prometheus_client": "metrics",
    "starlette": "watch",
    "uvicorn": "watch",
    "cv2": "watch",
    "av": "watch",
    "matplotlib": "watch",
    "ray": "train",
    "torch": "train",
    "pyarrow": "train",
    "pandas": "train",
    "psutil": "train",
    "scipy": "train",
    "wandb": "track",
    "mlflow": "track",
    "duckdb": "data",
    "tensorboard": "train",
    "numba_cuda": "gpu",
    "sb3_contrib": "sb3",
    "stable_baselines3": "sb3",
    "boto3": "s3",
    "botocore": "s3",
    "tenacity": "s3",
    "openai": "hints",
    "anthropic": "hints",
    "purgatory": "hints",
    "httpx2": "hints",
    "cryptography": "s3",
    "grpc": "serve",
    "grpc_health": "serve",
    "grpc_reflection": "serve",
    "google": "bus",
    "nats": "bus",
    "questdb": "questdb",
    "kubernetes": "cluster",
    "codeflare_sdk": "cluster",
    "ladybug": "knowledge",
    "neo4j": "knowledge-bolt",
    "requests": "cluster",
    "urllib3": "cluster",
    "pettingzoo": "race",
    "mcp": "mcp",
    "mcp_types": "mcp",
}


class NotInstalled(BalatroError, ImportError):
    """A package of an optional dependency group is not installed."""

    def __init__(self, error: ModuleNotFoundError) -> None:
        package = (error.name or "").partition(".")[0]
        extra = EXTRAS.get(package, "cli")
        super().__init__(f"{package} is not installed: pip install 'ante-balatro[{extra}]'")


class UnknownSeed(BalatroError, ValueError):
    """A game seed is invalid."""

    def __init__(self, seed: object) -> None:
        super().__init__(f"seed {shown(seed)} is not a game seed: use 1 to 16 letters A-Z and digits, such as 2K9H9HN")


class UnknownDeck(BalatroError, ValueError):
    """A deck does not exist."""

    def __init__(self, deck: object, known: list[str]) -> None:
        near = close_to(deck, known)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
        super().__init__(f"unknown deck {shown(deck)}: {hint}")


class UnknownStake(BalatroError, ValueError):
    """A stake does not exist."""

    def __init__(self, stake: object) -> None:
        super().__init__(f"unknown stake {shown(stake)}: use 1 (White) to 8 (Gold)")


class UnknownChallenge(BalatroError, ValueError):
    """A challenge does not exist."""

    def __init__(self, challenge: object, known: list[str]) -> None:
        near = close_to(challenge, known)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
        super().__init__(f"unknown challenge {shown(challenge)}: {hint}")


class DeckOfChallenge(BalatroError, ValueError):
    """A challenge is combined with a deck or a stake."""

    def __init__(self, challenge: str) -> None:
        super().__init__(f"{challenge} has its own deck and White Stake: leave out deck and stake")


class NotLockable(BalatroError, ValueError):
    """An item cannot be locked in any profile."""

    def __init__(self, key: object, known: Sequence[str]) -> None:
        near = close_to(key, known)
        hint = f"did you mean {near[0]}?" if near else "all profiles have it, or the item does not exist"
        super().__init__(f"{shown(key)} cannot be locked: {hint}")
