"""Opening of event buses by URL."""

import os
from collections.abc import Mapping
from pathlib import Path

from ante.events.bus import Bus
from ante.events.urls import BadBus, check_bus, is_nats


async def open_bus(url: str, environment: Mapping[str, str] = os.environ, create: bool = True) -> Bus:
    """Open a bus by its URL: nats://HOST:PORT, tls://HOST:PORT, or the file of a log (events.sqlite).

    A log that does not exist is created, or refused without `create`. ANTE_EVENTS_TOKEN or ANTE_EVENTS_CREDENTIALS (a file) and ANTE_EVENTS_CA (a
    file) are for NATS. Raises BadBus.
    """
    if is_nats(check_bus(url)):
        from ante.events.jetstream import NatsBus

        return await NatsBus.open(url, environment)
    from ante.events.log import LogBus

    if not create and not Path(url).exists():
        raise BadBus(f"there is no event log {url}: give the file that events are written to, such as events.sqlite")
    return LogBus(Path(url))
