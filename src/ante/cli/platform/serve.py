"""`ante serve`: servers through which other programs use Ante."""

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Suppress, arg, subcommand

from ante.cli.platform.serve_mcp import ServeMcp


@dataclass(frozen=True)
class Serve:
    """Serve Ante to other programs.

    Try:
      ante serve mcp
    """

    command: Annotated[
        Annotated[ServeMcp, subcommand("mcp")] | Annotated[None, Suppress],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()  # type: ignore[union-attr]
