"""The MCP server: tools and resources over stdio or streamable HTTP."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations

from ante import __version__
from ante.errors import BalatroError, NotInstalled
from ante.http.server import LOOPBACK, HttpServer
from ante.messages import masked, printable
from ante.serve.mcp.advice import Finder
from ante.serve.mcp.files import KINDS
from ante.serve.mcp.tools import Tools

PATH = "/mcp"
MOST_BYTES = 1 << 20  # of a request
MOST_SESSIONS = 64
LONGEST_ERROR = 2000
INSTRUCTIONS = (
    "Ante plays Balatro. Inspect training runs, replays and seeds; query players for decisions with reasons; play games "
    "with new_game and play_game. Decisions are texts such as `play 0,3,4` with hand positions from 0. No tool starts, "
    "stops or changes a training."
)
CHANGING = ("new_game", "play_game", "end_game")
NAMES = (
    "list_runs", "inspect_run", "inspect_replay", "inspect_seed", "list_players", "decide", "new_game", "show_game",
    "play_game", "end_game",
)  # fmt: skip
P = ParamSpec("P")
R = TypeVar("R")


def told(function: Callable[P, R], kind: type[Exception], tools: Tools) -> Callable[P, R]:
    """Return a function whose user errors are raised as `kind`, so that the SDK sends their message to the client.

    The client does not see the path of the folder of runs.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ModuleNotFoundError as error:
            raise kind(str(NotInstalled(error))) from None
        except BalatroError as error:
            raise kind(printable(masked(tools.runs.relative(str(error))), LONGEST_ERROR)) from None

    return call


def server_of(runs: Path, finder: Finder) -> MCPServer[Any]:
    """Return the server.

    runs    folder of runs; files outside of it are not served
    finder  returns the player of a name or of a folder
    """
    tools = Tools(runs, finder)
    server: MCPServer[Any] = MCPServer(
        "ante", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR", subscriptions=False
    )
    for name in NAMES:
        hints = ToolAnnotations(read_only_hint=name not in CHANGING, destructive_hint=name == "end_game")
        server.add_tool(told(getattr(tools, name), ToolError, tools), name=name, annotations=hints)
    for kind, (_, mime) in KINDS.items():
        add_resources(server, tools, kind, mime)
    return server


def add_resources(server: MCPServer[Any], tools: Tools, kind: str, mime: str) -> None:
    """Add one kind of files as resources."""

    def read(path: str) -> str | bytes:
        content = tools.runs.read(kind, path)
        return content.decode(errors="replace") if mime.startswith("text/") else content

    about = f"A {kind} in the folder of runs; inspect_run lists the URIs of a run."
    server.resource(f"ante://{kind}/{{+path}}", name=kind, description=about, mime_type=mime)(
        told(read, ResourceError, tools)
    )


def http_server(server: MCPServer[Any], port: int) -> HttpServer:
    """Return an HTTP server on the loopback interface, at PATH. Raises CannotListen."""
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=MOST_BYTES, max_sessions=MOST_SESSIONS, host=LOOPBACK
    )
    return HttpServer(app.routes, port=port, lifespan=lambda _: server.session_manager.run())
