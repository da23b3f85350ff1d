"""`ante serve balatrobot`: the engine behind the protocol of the mod BalatroBot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ante.cli.options import Port
from ante.errors import BalatroError

Sessions = Annotated[int, Field(ge=1, le=100)]


@dataclass(frozen=True)
class ServeBalatrobot:
    """Serve games to bots and LLM clients that are written for the mod BalatroBot (docs/how-to/balatrobot.md).

    JSON-RPC 2.0 over HTTP. Each session has its own game and its own port: PORT, PORT + 1, ...

    Try:
      ante serve balatrobot
      ante serve balatrobot --sessions 4 --fair
      ante serve balatrobot --dialect 2.0 --port 13000 --folder saves
    """

    port: Port = 12346
    """Port of the first session; 0 for any free ports."""
    sessions: Sessions = 1
    """Number of games that are played at the same time."""
    dialect: Literal["1.5", "2.0"] = "1.5"
    """Version of the protocol; both spellings of names are accepted in requests."""
    fair: bool = False
    """Hide what a player cannot see: the order of the draw pile and face-down cards."""
    folder: Path | None = None
    """Only folder in which clients can save, load and take screenshots; any folder by default."""
    host: str = "127.0.0.1"
    """Address to listen on. Other addresses require --folder, since there is no authentication."""
    names: tuple[str, ...] = ()
    """Host names by which clients reach the server, in addition to localhost."""
    testing: bool = False
    """Add the four methods of the mod's debug mode, which its own tests call."""

    def run(self) -> int:
        """Serve until Ctrl-C."""
        from ante.http.server import LOOPBACK, address
        from ante.serve.balatrobot.dialects import DIALECTS
        from ante.serve.balatrobot.server import server_of, warm_up
        from ante.serve.balatrobot.session import Session

        if self.host != LOOPBACK and self.folder is None:
            raise BalatroError(f"--host {self.host} lets other machines write files: limit them with --folder")
        if self.folder is not None and not self.folder.is_dir():
            raise BalatroError(f"--folder {self.folder} is not a folder: create it first")
        sessions = [Session(DIALECTS[self.dialect], self.fair, self.folder) for _ in range(self.sessions)]
        warm_up()
        with server_of(sessions, self.host, self.port, self.names, self.testing) as server:
            for port in server.ports:
                print(f"http://{address(self.host, port)}/", flush=True)
            print("Ctrl-C stops", flush=True)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print()
        return 0
