"""A process that publishes to a log until it is killed, and prints the id of each acknowledged event."""

import asyncio
import itertools
import sys

from ante.events.opening import open_bus
from tests.events.conftest import state


async def main(file: str) -> None:
    bus = await open_bus(file)

    async def publish(worker: int) -> None:
        for number in itertools.count():
            event = state(number, event_id=f"{worker}-{number}")
            await bus.publish(event)
            sys.stdout.write(f"{event.id}\n")
            sys.stdout.flush()

    await asyncio.gather(*map(publish, range(8)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
