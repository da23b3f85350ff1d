"""`ante serve`: servers through which other programs use Ante."""

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg, subcommand

from ante.cli.platform.serve_balatrobot import ServeBalatrobot
from ante.cli.platform.serve_decisions import ServeDecisions
from ante.cli.platform.serve_graphql import ServeGraphql
from ante.cli.platform.serve_mcp import ServeMcp
from ante.cli.platform.serve_runs import ServeRuns


@dataclass(frozen=True)
class Serve:
    """Serve Ante to other programs.

    Try:
      ante serve decisions white-stake
      ante serve balatrobot --sessions 4
      ante serve mcp
      ante serve graphql
      ante serve runs s3://game-runs/runs
    """

    command: Annotated[
        Annotated[ServeDecisions, subcommand("decisions")]
        | Annotated[ServeBalatrobot, subcommand("balatrobot")]
        | Annotated[ServeMcp, subcommand("mcp")]
        | Annotated[ServeGraphql, subcommand("graphql")]
        | Annotated[ServeRuns, subcommand("runs")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
