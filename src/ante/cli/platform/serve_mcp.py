"""`ante serve mcp`: tools and resources for LLM clients."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ante.cli.options import Port
from ante.cli.players import player_of
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.agents.evaluate import Player


@dataclass(frozen=True)
class ServeMcp:
    """Serve runs, replays, seeds, advice and games to MCP clients (docs/how-to/mcp.md).

    Over standard input and output, as clients start it, or with --port over HTTP on the loopback interface.

    Try:
      ante serve mcp
      ante serve mcp --runs runs --port 8765
    """

    runs: Path = Path("runs")
    """Folder of runs; files outside of it are not served."""
    port: Port | None = None
    """Serve streamable HTTP on this port, 0 for any free port."""

    def run(self) -> int:
        """Serve until the client leaves, or Ctrl-C."""
        from ante.serve.mcp.server import PATH, http_server, server_of

        if not self.runs.is_dir():
            raise BalatroError(f"--runs {self.runs} is not a folder: create it, or choose another")
        server = server_of(self.runs, likeliest)
        if self.port is None:
            server.run()
            return 0
        with http_server(server, self.port) as serving:
            print(f"http://127.0.0.1:{serving.port}{PATH}\nCtrl-C stops", flush=True)
            try:
                serving.serve_forever()
            except KeyboardInterrupt:
                print()
        return 0


def likeliest(name: str) -> "Player":
    """Return a player that takes its most likely actions."""
    return player_of(name, True, "best")
