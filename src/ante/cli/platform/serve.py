"""`ante serve`: servers through which other programs use Ante."""

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Suppress, arg, subcommand

from ante.cli.platform.serve_balatrobot import ServeBalatrobot


@dataclass(frozen=True)
class Serve:
    """Serve Ante to other programs.

    Try:
      ante serve balatrobot --sessions 4
    """

    command: Annotated[
        Annotated[ServeBalatrobot, subcommand("balatrobot")] | Annotated[None, Suppress],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        assert self.command
        return self.command.run()
