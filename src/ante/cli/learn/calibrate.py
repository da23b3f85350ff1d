"""`ante calibrate`: fit a policy's probability of winning, for search."""

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from ante.agents.releases import policy_folder
from ante.cli.options import Fewest, Number
from ante.cli.shown import game_bar


@dataclass(frozen=True)
class Calibrate:
    """Fit the probability of winning of a released shortlist policy, and store it with the policy.

    Search rates positions with this probability; without it, with the policy's value. The policy plays games, and a
    small network on its features is fitted to their outcomes (docs/explanation/search.md).

    Try:
      ante export runs/laptop models/mine
      ante calibrate models/mine
      ante eval models/mine --search 16ms --likeliest --games 50
    """

    folder: Positional[Annotated[str, arg(metavar="FOLDER")]]
    """Folder of the release."""
    games: Fewest = 9000
    """Games to play; 100 games take a second or two."""
    seed: Number = 0
    """Seed of games and fit."""

    def run(self) -> int:
        """Fit and store the probability."""
        from ante.training.players.calibration import calibrate

        with game_bar(self.games, "games") as advance:
            fit = calibrate(policy_folder(self.folder), self.games, self.seed, advance)
        print(
            f"loss {fit.loss:.3f} nats per position on held-out games; {fit.constant:.3f} with a constant probability"
        )
        return 0
