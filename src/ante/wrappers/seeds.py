"""Games from a pool of seeds, preferring seeds of intermediate difficulty."""

from collections.abc import Sequence
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.core import ActType, ObsType
from numpy.typing import NDArray

from ante.checks import BadValue, finite
from ante.engine.run import seed_text


class SeedSampler(gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs):
    """Draw games from a list of seeds; seeds whose estimated win rate is within the band have `often` times the weight.

    Wins and games of each seed are counted with exponential decay, since the player learns. A win rate is the mean of a
    Beta distribution with a prior of one win and one loss, so that untried seeds count as within the band. A game that
    a reset cuts after its first step, such as by a TimeLimit around this wrapper, counts as not won.

    band   lowest and highest win rate
    often  weight of a seed within the band; the others have weight 1
    fade   factor on a seed's counts when it is played again
    """

    def __init__(
        self,
        env: gymnasium.Env[ObsType, ActType],
        seeds: Sequence[str],
        band: tuple[float, float] = (0.3, 0.7),
        often: float = 10.0,
        fade: float = 0.9,
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, seeds=seeds, band=band, often=often, fade=fade)
        gymnasium.Wrapper.__init__(self, env)
        if isinstance(seeds, str) or not isinstance(seeds, Sequence) or not seeds:
            raise BadValue("seeds", seeds, "use a list of one or more game seeds")
        if not isinstance(band, (tuple, list)) or len(band) != 2:
            raise BadValue("band", band, "use two win rates, the lowest and the highest")
        low, high = finite("band[0]", band[0], 0.0, 1.0), finite("band[1]", band[1], 0.0, 1.0)
        if not low < high or fade == 0:
            raise BadValue("band, fade", (band, fade), "band must increase, and fade must be above 0")
        self.seeds, self.band = tuple(seed_text(seed) for seed in seeds), (low, high)
        self.often, self.fade = finite("often", often, 1.0), finite("fade", fade, 0.0, 1.0)
        self.wins, self.games = np.zeros(len(seeds)), np.zeros(len(seeds))
        self._now: int | None = None
        self._steps = 0

    @property
    def rates(self) -> NDArray[np.float64]:
        """Return the estimated win rate of each seed, (seeds,)."""
        return (self.wins + 1.0) / (self.games + 2.0)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Return the sampling probability of each seed, (seeds,)."""
        low, high = self.band
        weights = np.where((self.rates >= low) & (self.rates <= high), self.often, 1.0)
        return weights / weights.sum()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Start a game of the next seed. A seed in the caller's options is played but not counted."""
        if seed is not None:
            self.env.reset(seed=seed, options=options)  # seeds the generator that draws below
        chosen, options = None, options or {}
        if "seed" not in options:
            chosen = int(self.np_random.choice(len(self.seeds), p=self.probabilities))
            options = {**options, "seed": self.seeds[chosen]}
        found = self.env.reset(options=options)
        if self._steps:
            self._count(won=False)
        self._now, self._steps = chosen, 0
        return found

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action and count a game that ends."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        if terminated or truncated:
            self._count(info["outcome"] == "won")
        return seen, reward, terminated, truncated, info

    def _count(self, won: bool) -> None:
        """Count the game, once and unless the caller chose its seed."""
        if self._now is not None:
            at, self._now = self._now, None
            self.wins[at] = self.fade * self.wins[at] + won
            self.games[at] = self.fade * self.games[at] + 1.0
