"""`ante events`: what the event bus carries and the event store keeps."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from tyro.conf import Positional, arg, subcommand

from ante.cli.options import Count, OutFolder
from ante.cli.shown import game_bar, show
from ante.errors import BalatroError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack

    from ante.events.bus import Delivery
    from ante.training.datasets.scripts import Script

Days = Annotated[float, Field(gt=0, le=36_500)]
Pause = Annotated[float, Field(ge=1, le=86_400)]


@dataclass(frozen=True)
class Tail:
    """Print the events of a bus as they come.

    Try:
      ante events tail nats://127.0.0.1:4222
      ante events tail events.sqlite --kind game.ended --since all --count 10
    """

    bus: Positional[Annotated[str, arg(metavar="BUS")]]
    """nats://HOST:PORT, or the file of a log."""
    kind: str = ""
    """Kind or group of kinds, such as game or game.ended."""
    since: Literal["new", "all"] = "new"
    """Where to begin: after the newest event, or at the oldest one."""
    count: Count | None = None
    """Number of events after which to stop."""
    json: bool = False
    """Print each event as a line of JSON."""

    def run(self) -> int:
        """Print events until Ctrl-C."""
        import asyncio

        from ante.events.opening import open_bus

        async def follow() -> None:
            bus, left = await open_bus(self.bus, create=False), self.count
            try:
                subscription = await bus.subscribe(None, self.kind, self.since)
                while left is None or left > 0:
                    for each in await subscription.fetch(left or 256):
                        print(line_of(each, self.json), flush=True)
                        left = None if left is None else left - 1
            finally:
                await bus.close()

        asyncio.run(follow())
        return 0


def line_of(delivery: "Delivery", as_json: bool) -> str:
    """Return an event as one line."""
    from ante.events.archive import row_of
    from ante.messages import printable

    row = row_of(delivery)
    time = delivery.event.time.ToJsonString()
    if as_json:
        return json.dumps({**row, "time": time})
    name = delivery.event.WhichOneof("data")
    data = " ".join(f"{key}={value}" for key, value in row[name].items() if value not in (None, "", []))
    return printable(f"{time} {delivery.event.type} {delivery.event.source} {delivery.event.subject} {data}", 500)


@dataclass(frozen=True)
class Archive:
    """Copy the events of a bus into Parquet files, in a folder or a bucket, or into tables of QuestDB.

    The bus remembers what is archived, so a later call continues there: once for files, and once for QuestDB.

    Try:
      ante events archive events.sqlite --to archive
      ante events archive nats://127.0.0.1:4222 --to s3://game-runs/events --follow
      ante events archive nats://127.0.0.1:4222 --to questdb://127.0.0.1:9000 --follow --every 1
    """

    bus: Positional[Annotated[str, arg(metavar="BUS")]]
    """nats://HOST:PORT, or the file of a log."""
    to: str
    """Folder, s3://bucket/prefix, or questdb://HOST:PORT."""
    follow: bool = False
    """Continue with new events until Ctrl-C."""
    every: Pause = 60.0
    """Seconds after which events are written at the latest, with --follow."""
    days: Days | None = None
    """Delete files of days that ended longer ago."""

    def run(self) -> int:
        """Archive and print what was written."""
        import asyncio
        from contextlib import ExitStack

        from rich.console import Console

        from ante.events import archive
        from ante.events.opening import open_bus
        from ante.stopping import ending
        from ante.tables import stages

        written = 0

        async def move(sink: Sink, show_stage: Any) -> None:
            nonlocal written
            bus = await open_bus(self.bus, create=False)
            try:
                async for events in archive.archive(bus, sink.write, self.every, self.follow, sink.consumer):
                    written += len(events)
                    show_stage(f"{written:,} events archived")
                    sink.forget()
            finally:
                await bus.close()

        with ending(), ExitStack() as stack:
            sink = self.sink(stack)
            show_stage = stack.enter_context(stages(Console(stderr=True)))
            show_stage(f"archiving {self.bus}")
            asyncio.run(move(sink, show_stage))
        deleted = sink.forget()
        print(f"{self.to}: {written:,} events{f', {deleted:,} old files deleted' if deleted else ''}")
        return 0

    def sink(self, stack: "ExitStack") -> "Sink":
        """Open where the events go. Raises BalatroError."""
        from functools import partial

        from ante.events import archive
        from ante.events.urls import is_questdb
        from ante.storage.opening import open_store

        if not is_questdb(self.to):
            store = open_store(self.to)
            forget = partial(archive.forget, store, 86_400 * self.days) if self.days else lambda: 0
            return Sink(partial(archive.store_events, store), archive.CONSUMER, forget)
        if self.days:
            raise BalatroError(
                "--days deletes files; give a table of QuestDB a TTL instead: ALTER TABLE ... SET TTL 30d"
            )
        from ante.events.questdb_sink import CONSUMER, QuestDbSink

        return Sink(stack.enter_context(QuestDbSink(self.to, os.environ)).write, CONSUMER, lambda: 0)


@dataclass(frozen=True)
class Sink:
    """Where events are archived: a function that stores them, the bus's consumer, and one that deletes old files."""

    write: "Callable[[list[Delivery]], object]"
    consumer: str
    forget: "Callable[[], int]"


@dataclass(frozen=True)
class Query:
    """Query stored events with SQL (DuckDB), which only reads: the table is `events`.

    Without a statement and a kind, the number of events of each kind.

    Try:
      ante events query archive
      ante events query archive --kind game.ended
      ante events query archive "SELECT game_ended.outcome, count(*) FROM events WHERE type LIKE '%ended' GROUP BY 1"
      ante events query events.sqlite --kind checkpoint --json
    """

    source: Positional[Annotated[str, arg(metavar="ARCHIVE|LOG")]]
    """Folder or s3://bucket/prefix of an archive, or the file of a log."""
    sql: Positional[Annotated[str, arg(metavar="SQL")]] = ""
    """A SELECT on the table `events`."""
    kind: str | None = None
    """List the events of this kind instead, the newest first."""
    most: Count = 1000
    """Largest number of rows."""
    json: bool = False
    """Print the rows as a JSON list."""

    def run(self) -> int:
        """Run the query and print its rows."""
        from ante.events.query import kinds_of, query, select_kind, stored_events
        from ante.files import plain

        if self.sql and self.kind is not None:
            raise BalatroError("give a statement or --kind, not both")
        with stored_events(self.source) as db:
            if self.sql or self.kind is not None:
                rows = query(db, self.sql or select_kind(self.kind or ""), self.most)
            else:
                rows = kinds_of(db)
        values = [dict(zip(rows.columns, row, strict=True)) for row in rows.values]
        cells = [tuple("" if each is None else str(each) for each in row) for row in rows.values]
        show(plain(values), rows.columns, cells, self.json)
        if len(rows.values) == self.most:
            print(f"ante: only the first {self.most:,} rows; raise --most for more", file=sys.stderr)
        return 0


@dataclass(frozen=True)
class Dataset:
    """Write the complete games of stored events as a dataset, for `ante clone` (docs/how-to/datasets.md).

    Games are played again from their seeds and decisions. Games of locked profiles have no dataset.

    Try:
      ante events dataset archive --out data/played
      ante events dataset events.sqlite --out data/expert --player white-stake --view shortlist
    """

    source: Positional[Annotated[str, arg(metavar="ARCHIVE|LOG")]]
    """Folder or s3://bucket/prefix of an archive, or the file of a log."""
    out: Annotated[OutFolder, arg(aliases=["-o"])]
    """Folder to write; it must not exist."""
    view: Literal["flat", "shortlist"] = "shortlist"
    """flat: single clicks, for mlp; shortlist: candidate actions, for shortlist."""
    player: str | None = None
    """Only games of this player."""
    reward: str = "shaped"
    """Reward by name (ante reward list), or module:Class."""
    check: bool = False
    """Also compare the record before each decision with the recorded digest."""

    def run(self) -> int:
        """Write the dataset and print its size."""
        from ante.events.query import stored_events
        from ante.events.stored_games import check_game, counted_games, stored_games
        from ante.training.datasets.export import BATCH, export
        from ante.training.datasets.scripts import Script
        from ante.training.datasets.write import refuse_existing

        refuse_existing(self.out)
        games = 0

        def scripts() -> "Iterator[list[Script]]":
            nonlocal games
            waiting: list[Script] = []
            for game in stored_games(db, self.player):
                if game.locked:
                    continue
                if self.check:
                    check_game(game)
                games += 1
                waiting.append(Script(game.heading, game.actions))
                if len(waiting) == BATCH:
                    yield waiting
                    waiting = []
            if waiting:
                yield waiting

        with stored_events(self.source) as db:
            begun = counted_games(db)
            with game_bar(begun, f"{self.source}, {self.view}") as advance:
                named = self.player or "events"
                steps = export(self.out, scripts(), self.view, self.reward, "all", advance=advance, player=named)
        left = f"; {begun - games:,} incomplete or of other players or profiles" if begun > games else ""
        print(f"{self.out}: {games:,} games, {steps:,} steps{left}; see ante data stats {self.out}")
        return 0


@dataclass(frozen=True)
class Prune:
    """Delete old events: of a log, of a stream, or of an archive.

    A stream of NATS then drops events at that age. Archive first what shall be kept.

    Try:
      ante events prune events.sqlite --days 7
      ante events prune archive --days 90
    """

    place: Positional[Annotated[str, arg(metavar="BUS|ARCHIVE")]]
    """nats://HOST:PORT, the file of a log, or the folder or s3://bucket/prefix of an archive."""
    days: Days
    """Age in days."""

    def run(self) -> int:
        """Delete and print what was deleted."""
        import asyncio

        from ante.events import archive
        from ante.events.opening import open_bus
        from ante.events.urls import is_nats
        from ante.storage.opening import open_store

        seconds = 86_400 * self.days
        if "://" not in self.place and not Path(self.place).exists():
            raise BalatroError(f"there is no event log or archive {self.place}: give the file or the folder of one")
        if not is_nats(self.place) and not Path(self.place).is_file():
            files = archive.forget(open_store(self.place), seconds)
            print(f"{self.place}: {files:,} files deleted")
            return 0

        async def forget() -> str:
            bus = await open_bus(self.place)
            try:
                return await bus.forget(seconds)
            finally:
                await bus.close()

        print(f"{self.place}: {asyncio.run(forget())}")
        return 0


@dataclass(frozen=True)
class Events:
    """Follow, archive and query events (docs/how-to/events.md).

    Try:
      ante eval greedy --games 100 --events events.sqlite
      ante events tail events.sqlite --since all --count 5
      ante events archive events.sqlite --to archive
      ante events query archive --kind game.ended
    """

    command: Annotated[
        Annotated[Tail, subcommand("tail")]
        | Annotated[Archive, subcommand("archive")]
        | Annotated[Query, subcommand("query")]
        | Annotated[Dataset, subcommand("dataset")]
        | Annotated[Prune, subcommand("prune")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
