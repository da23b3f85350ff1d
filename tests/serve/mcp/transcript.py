"""The transcript in docs/how-to/mcp.md: `python -m tests.serve.mcp.transcript` writes it, a test compares it."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import yaml
from mcp import Client

from ante.serve.mcp.server import server_of
from tests.docs.pages import ROOT
from tests.serve.mcp.calls import Caller
from tests.serve.mcp.runs import find, make_runs

PAGE = ROOT / "docs" / "how-to" / "mcp.md"
BEGIN, END = "<!-- transcript -->\n", "<!-- end of transcript -->\n"
MOST = 2  # entries of a list that are shown
GAME = "6f1d0c5e9a3b7482"  # in place of the random identifier


class Words(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def block(dumper: yaml.SafeDumper, text: str) -> Any:
    """Represent a text."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Words.add_representer(str, block)


def shortened(value: Any) -> Any:
    """Return a result without empty fields, and with long lists cut."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items() if each not in (None, "", [], {})}
    if isinstance(value, list):
        return [shortened(each) for each in value[:MOST]] + (
            [f"and {len(value) - MOST} more"] if len(value) > MOST else []
        )
    if isinstance(value, str):
        return "\n".join(line.rstrip() for line in value.splitlines())
    return value


def transcript() -> str:
    """Call some of the tools and return requests and results."""
    entries: list[str] = []
    game = ""

    def note(tool: str, arguments: dict[str, Any], result: dict[str, Any]) -> None:
        nonlocal game
        game = result.get("game", game) if tool == "new_game" else game
        answer = yaml.dump(shortened(result), Dumper=Words, sort_keys=False, width=110, allow_unicode=True)
        entry = f"> {tool} {json.dumps(arguments)}\n{answer}"
        entries.append(entry.replace(game, GAME) if game else entry)

    async def run(folder: Path) -> None:
        async with Client(server_of(make_runs(folder), find)) as client:
            call = Caller(client, note)
            await call("list_runs")
            started = await call("new_game", seed="TESTSEED")
            await call("play_game", game=started["game"], decision="select-blind", state=started["state"])
            advice = await call("decide", game=started["game"], player="rules")
            await call("play_game", game=started["game"], decision=advice["choice"]["decision"])
            await call("end_game", game=started["game"])

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
    return f"```text\n{chr(10).join(entries)}```\n"


def with_transcript(page: str) -> str:
    """Return the page with a new transcript."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{transcript()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_transcript(PAGE.read_text()))
