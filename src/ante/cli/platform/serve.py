"""`ante serve`: servers through which other programs use Ante."""

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Suppress, arg, subcommand

from ante.cli.platform.serve_decisions import ServeDecisions


@dataclass(frozen=True)
class Serve:
    """Serve Ante to other programs.

    Try:
      ante serve decisions white-stake
    """

    command: Annotated[
        Annotated[ServeDecisions, subcommand("decisions")] | Annotated[None, Suppress],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        assert self.command
        return self.command.run()
