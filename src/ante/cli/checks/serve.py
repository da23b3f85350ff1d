"""`ante bench serve`: latencies of the decision service."""

import json
from pathlib import Path

from ante.cli.shown import paper


def run_serve(player: str, url: str | None, rate: float, seconds: float, out: Path | None, as_json: bool) -> int:
    """Measure a server at this URL, or one that is started for it, and print the table. Raises BalatroError."""
    import asyncio
    from contextlib import AbstractContextManager, nullcontext

    from rich.console import Console
    from rich.table import Table

    from ante.machine import machine
    from ante.serve.decisions.load import LoadRow, load_rows, own_server
    from ante.tables import stages

    started: AbstractContextManager[tuple[str, int | None]] = nullcontext((url, None)) if url else own_server(player)
    with stages(Console(stderr=True)) as show_stage, started as (address, pid):
        show_stage("recording games")

        def advance(row: LoadRow) -> None:
            show_stage(f"measured: {row.callers} callers, {row.kind}, p95 {row.p95:.1f} ms")

        rows = asyncio.run(load_rows(address, pid, rate, seconds, advance))
    text = json.dumps(
        {"machine": machine(), "player": url or player, "rows": [row.as_json() for row in rows]}, indent=1
    )
    if out:
        from ante.files import write_text

        write_text(out, text)
    if as_json:
        print(text)
        return 0
    heads = (
        "callers",
        "call",
        "due/s",
        "done/s",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "late",
        "failed",
        "server",
        "generator",
        "load",
    )
    table = Table(*heads)
    for row in rows:
        times = (f"{each:,.1f}" for each in (row.p50, row.p95, row.p99))
        shares = (f"{each:.0%}" for each in (row.server_cpu, row.client_cpu))
        due = f"{row.rate:,.0f}" if row.rate else "closed"
        counts = str(row.late), str(row.failed)
        table.add_row(str(row.callers), row.kind, due, f"{row.done:,.0f}", *times, *counts, *shares, f"{row.load:.1f}")
    paper().print(table)
    return 0
