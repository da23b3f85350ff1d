"""URLs of event buses, and names of their consumers."""

import re

from ante.errors import BalatroError, shown
from ante.messages import has_address

NATS = re.compile(r"(nats|tls)://[^/\s@?#]+")

NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


class BadBus(BalatroError, ValueError):
    """A bus that cannot be opened, or that refuses an event."""


def is_nats(url: str) -> bool:
    """Return whether a URL names a NATS server."""
    return url.startswith(("nats://", "tls://"))


def is_questdb(url: str) -> bool:
    """Return whether a URL names a QuestDB server."""
    return url.startswith(("questdb://", "questdbs://"))


def check_bus(url: str) -> str:
    """Return the URL of a bus: nats://HOST:PORT, tls://HOST:PORT, or the path of a file. Raises BadBus."""
    if is_nats(url) and not (NATS.fullmatch(url) and has_address(url)):
        raise BadBus(
            f"{shown(url.partition('://')[0])}://... is no NATS server: use nats://HOST:PORT, with credentials in "
            "ANTE_EVENTS_TOKEN or ANTE_EVENTS_CREDENTIALS"
        )
    if not url or ("://" in url and not is_nats(url)):
        raise BadBus(f"{shown(url)} is no event bus: use nats://HOST:PORT, or the path of a file for a local log")
    return url


def check_consumer(name: str) -> None:
    """Check the name of a consumer. Raises BadBus."""
    if not NAME.fullmatch(name):
        raise BadBus(f"{shown(name)} is no name of a consumer: use up to 64 letters, digits and hyphens")
