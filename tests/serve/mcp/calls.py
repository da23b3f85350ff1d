"""Calls of every tool and kind of resource, which all transports answer in the same way."""

from collections.abc import Callable
from typing import Any

from mcp import Client

from ante.serve.mcp.server import NAMES
from tests.serve.mcp.runs import replay


class Caller:
    """Calls tools of a client and remembers which."""

    def __init__(
        self, client: Client, note: Callable[[str, dict[str, Any], dict[str, Any]], None] | None = None
    ) -> None:
        self.client, self.note = client, note
        self.called: set[str] = set()

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured result of a tool. Fails if the call is an error."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        self.called.add(tool)
        if self.note:
            self.note(tool, arguments, result.structured_content)
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Return the message of a call that is an error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error and result.structured_content is None
        return str(result.content[0].text)  # type: ignore[union-attr]


async def call_every_tool(client: Client) -> None:
    """Call every tool and read every kind of resource once, and check what comes back."""
    call = Caller(client)
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == set(NAMES)
    assert all(tool.output_schema and tool.annotations for tool in listed)
    assert [run["run"] for run in (await call("list_runs"))["runs"]] == ["ppo"]
    run = await call("inspect_run", run="ppo")
    assert (run["steps"], run["blinds"], run["settings"]["algo.kind"]) == (200, 3.25, "ppo")
    assert (await call("inspect_seed", seed="TESTSEED", antes=1))["antes"][0]["boss"] == "bl_head"
    shown = await call("inspect_replay", path="ppo/episodes/game.txt", first_line=3)
    assert (shown["decisions"], shown["first_line"], shown["seed"]) == (3, 3, "TESTSEED")
    assert (await call("list_players"))["players"][0] == "rules"
    await play_a_game(call)
    assert call.called == set(NAMES)
    uris = {file["uri"]: file["bytes"] for file in run["files"]}
    assert uris["ante://video/ppo/episodes/game.mp4"] == 7
    for uri in uris:
        content = (await client.read_resource(uri)).contents[0]
        assert getattr(content, "text", "") or getattr(content, "blob", "")


async def play_a_game(call: Caller) -> None:
    """Start a game, play what the advisor decides until the first hand is played, and end it."""
    game = await call("new_game", seed="TESTSEED")
    phases = []
    while game["phase"] in ("blind_select", "play") and len(phases) < 6:
        phases.append(game["phase"])
        advice = await call("decide", game=game["game"])
        assert advice["state"] == game["state"] and advice["reasons"]
        game = await call("play_game", game=game["game"], decision=advice["choice"]["decision"], state=game["state"])
        assert game["happened"]
    assert "play" in phases
    assert (await call("show_game", game=game["game"]))["state"] == game["state"]
    ended = await call("end_game", game=game["game"])
    assert ended["replay"].startswith(replay().splitlines()[0]) and ended["seed"] == "TESTSEED"
    again = await call("inspect_replay", replay=ended["replay"])
    assert again["decisions"] == game["decisions"]
