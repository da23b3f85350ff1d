"""A notification at the end of a training: one POST request with JSON to a URL, which never makes the training fail."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import requests
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from ante.errors import BalatroError
from ante.files import plain, read_object, whole_rows
from ante.messages import check_url, described, foreign
from ante.training.settings.config import TrainConfig

ATTEMPTS = 3
TIMEOUT = (3.0, 5.0)  # seconds to connect, and to read
PAUSE_SECONDS = 1.0  # before the second attempt; doubled before each further one
FIGURES = ("steps", "games", "seconds", "blinds", "win_rate")
TRANSIENT = (408, 425, 429)
Say = Callable[[str], None]
Ended = Literal["finished", "stopped", "failed", ""]


class NotDelivered(BalatroError):
    """A server did not accept a notification; another attempt may succeed."""


@dataclass
class Notice:
    """How a training ended; nothing is sent without a state."""

    state: Ended = ""


@contextmanager
def notifying(url: str, config: TrainConfig, say: Say) -> Iterator[Notice]:
    """Send the state of a training after the block, or that it failed if the block raises; nothing without a URL.

    url  http or https; it may contain a secret and is never printed
    say  prints why a notification could not be delivered
    """
    notice = Notice()
    try:
        yield notice
    except Exception as error:
        deliver(url, message_of(config, "failed", described(error)), say)
        raise
    if notice.state:
        deliver(url, message_of(config, notice.state, ""), say)


def message_of(config: TrainConfig, state: Ended, error: str) -> dict[str, Any]:
    """Return the contents: state, figures of the last row of metrics, evaluation, and a sentence for chats in `text`."""
    row, wins = last_row(config), evaluated(config)
    figures = {name: float(row[name]) for name in FIGURES if row.get(name)}
    text = f"training {config.name} {state}"
    if "steps" in figures:
        text += f" at {figures['steps']:,.0f} of {config.steps:,} steps"
    if wins is not None:
        text += f", evaluation: {wins:.1%} wins"
    found = {
        "run": config.name,
        "state": state,
        "store": config.store,
        "host": socket.gethostname(),
        "target": config.steps,
    }
    return {
        "text": f"{text}: {error}" if error else text,
        **found,
        "error": error,
        **figures,
        "evaluated_win_rate": wins,
    }


def last_row(config: TrainConfig) -> dict[str, str]:
    """Return the last row of the metrics, empty if there is none."""
    try:
        return next(reversed(whole_rows(config.folder / "metrics.csv")), {})
    except (BalatroError, OSError):
        return {}


def evaluated(config: TrainConfig) -> float | None:
    """Return the win rate of the closing evaluation, None without one."""
    try:
        return float(read_object(config.folder / "evaluation.json")["wins"]["rate"])
    except (BalatroError, OSError, KeyError, TypeError, ValueError):
        return None


def deliver(url: str, message: dict[str, Any], say: Say) -> None:
    """Send a message with retries; print the reason if it cannot be delivered."""
    if not url:
        return
    try:
        check_url(url)
    except ValueError as error:
        return say(f"no notification was sent: the URL in ANTE_WEBHOOK_URL is not valid: {error}")
    attempts = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_exponential(PAUSE_SECONDS),
        retry=retry_if_exception_type(NotDelivered),
    )
    try:
        attempts(post, url, message)
    except RetryError as error:
        say(f"no notification was sent after {ATTEMPTS} attempts: {error.last_attempt.exception()}")
    except BalatroError as error:
        say(f"no notification was sent: {error}")


def post(url: str, message: dict[str, Any]) -> None:
    """Send a message once. Raises NotDelivered, or BalatroError if another attempt is futile."""
    try:
        answer = requests.post(
            url,
            json=plain(message),
            timeout=TIMEOUT,
            allow_redirects=False,
            stream=True,
            headers={"Connection": "close"},
        )
        answer.close()  # its body is not read
    except (requests.RequestException, ValueError) as error:
        raise NotDelivered(f"the server does not respond ({type(error).__name__})") from None
    if answer.status_code >= 500 or answer.status_code in TRANSIENT:
        raise NotDelivered(f"the server answered {answer.status_code}")
    if not 200 <= answer.status_code < 300:
        raise BalatroError(
            f"the server answered {answer.status_code} {foreign(answer.reason or '', (url,), 60)}".strip()
        )
