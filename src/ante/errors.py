"""The errors a user may meet: a class per cause; each message names the cause, the value and the way out."""

from collections.abc import Sequence
from difflib import get_close_matches


class BalatroError(Exception):
    """Something the user can mend."""


EXTRAS = {
    "prometheus_client": "metrics",
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
    "cryptography": "s3",
    "kubernetes": "cluster",
    "codeflare_sdk": "cluster",
    "requests": "cluster",
    "urllib3": "cluster",
}


class NotInstalled(BalatroError, ImportError):
    """A part of Ante whose packages are not installed."""

    def __init__(self, error: ModuleNotFoundError) -> None:
        package = (error.name or "").partition(".")[0]
        extra = EXTRAS.get(package, "cli")
        super().__init__(f"{package} is not installed: pip install 'ante[{extra}]'")


class UnknownSeed(BalatroError, ValueError):
    """A seed that no game can have."""

    def __init__(self, seed: str) -> None:
        super().__init__(f"seed {seed!r} is not a game seed: use 1 to 16 letters A-Z and digits, such as 2K9H9HN")


class UnknownDeck(BalatroError, ValueError):
    """A deck that does not exist."""

    def __init__(self, deck: object, known: list[str]) -> None:
        near = get_close_matches(str(deck), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
        super().__init__(f"there is no deck {deck!r}: {hint}")


class UnknownStake(BalatroError, ValueError):
    """A stake that does not exist."""

    def __init__(self, stake: object) -> None:
        super().__init__(f"there is no stake {stake!r}: stakes go from 1 (White) to 8 (Gold)")


class UnknownChallenge(BalatroError, ValueError):
    """A challenge that does not exist."""

    def __init__(self, challenge: object, known: list[str]) -> None:
        near = get_close_matches(str(challenge), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
        super().__init__(f"there is no challenge {challenge!r}: {hint}")


class DeckOfChallenge(BalatroError, ValueError):
    """A challenge together with a deck or a stake."""

    def __init__(self, challenge: str) -> None:
        super().__init__(f"{challenge} brings its own deck and White Stake: leave out deck and stake")


class NotLockable(BalatroError, ValueError):
    """An item that no profile can have locked."""

    def __init__(self, key: object, known: Sequence[str]) -> None:
        near = get_close_matches(str(key), known, 1)
        hint = f"did you mean {near[0]}?" if near else "every profile has it, or there is no such item"
        super().__init__(f"{key!r} cannot be locked: {hint}")
