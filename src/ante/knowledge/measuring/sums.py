"""Sums over measured positions, which a run stores and continues, and what they mean."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.arrays import read_arrays
from ante.catalog.blinds import Blind
from ante.errors import BalatroError, shown
from ante.files import NoFile, Unreadable, whole
from ante.knowledge.arms.scoring import BEST, BOUGHT, GROWN, N_HANDS, N_JOKERS, N_MEASURES, NEVER, SAME, TYPICAL
from ante.knowledge.measuring.positions import ANTES, WAY_OUT

ZERO = 1e-12  # log10 scores are accurate to 1e-15; their differences within this are none
MOMENTS = 2  # sum, and sum of squares


class OtherMeasurement(BalatroError, ValueError):
    """A stored measurement has other positions or another engine."""


def _zeros(*shape: int) -> Callable[[], NDArray[np.float64]]:
    return partial(np.zeros, shape)


@dataclass
class Sums:
    """Sums over positions; the axis `ante` is that of ANTES, the axis MOMENTS holds sums and sums of squares.

    n         positions by ante, those in which a card could be played
    pairs     interaction of each pair, above the diagonal
    together  gain of each pair: sums only
    acts      positions in which the interaction of a pair is not 0
    alone     gain of each joker alone
    hands     gain of each joker, of the best play of each poker hand, with the number of positions that have one
    bosses    gain under a boss minus that without, likewise
    done      positions measured so far
    seconds   processor time of the measurement
    """

    n: NDArray[np.float64] = field(default_factory=_zeros(len(ANTES)))
    pairs: NDArray[np.float64] = field(default_factory=_zeros(MOMENTS, len(ANTES), N_MEASURES, N_JOKERS, N_JOKERS))
    together: NDArray[np.float64] = field(default_factory=_zeros(len(ANTES), N_MEASURES, N_JOKERS, N_JOKERS))
    acts: NDArray[np.float64] = field(default_factory=_zeros(N_MEASURES, N_JOKERS, N_JOKERS))
    alone: NDArray[np.float64] = field(default_factory=_zeros(MOMENTS, len(ANTES), N_MEASURES, N_JOKERS))
    hands: NDArray[np.float64] = field(default_factory=_zeros(1 + MOMENTS, N_HANDS, N_JOKERS))
    bosses: NDArray[np.float64] = field(default_factory=_zeros(1 + MOMENTS, len(Blind), N_JOKERS))
    done: NDArray[np.float64] = field(default_factory=_zeros())
    seconds: NDArray[np.float64] = field(default_factory=_zeros())

    def add(self, ante: int, w: np.record) -> NDArray[np.float64]:
        """Add the arms of one position with at most one joker, `singles_t`, and return the gains (N_MEASURES, N_JOKERS)."""
        self.n[ante] += 1
        single = np.stack([w.same[BOUGHT], w.best[BOUGHT], w.best[TYPICAL]])
        assert (SAME, BEST, GROWN) == (0, 1, 2)
        gains = single - single[:, :1]
        self.alone[0, ante] += gains
        self.alone[1, ante] += gains**2
        hands = w.hands[TYPICAL].T
        both = (hands != NEVER) & (hands[:, :1] != NEVER)
        gained = np.where(both, hands - hands[:, :1], 0.0)
        self.hands += np.stack([both, gained, gained**2])
        return gains

    def add_pairs(self, ante: int, none: float, gains: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
        """Add the pairs of one position: log scores (N_MEASURES, N_JOKERS, N_JOKERS), and `none` that without jokers."""
        together = np.triu(scores - none, 1)
        interaction = np.triu(together - gains[:, :, None] - gains[:, None, :], 1)
        interaction[:, 0] = together[:, 0] = 0.0
        interaction[np.abs(interaction) < ZERO] = 0.0
        self.pairs[0, ante] += interaction
        self.pairs[1, ante] += interaction**2
        self.together[ante] += together
        self.acts += interaction != 0.0

    def add_boss(self, boss: int, plain: NDArray[np.float64], under: NDArray[np.float64]) -> None:
        """Add one position under a boss: log scores of the arms without a boss and with it, (N_JOKERS,)."""
        more = (under - under[0]) - (plain - plain[0])
        more[np.abs(more) < ZERO] = 0.0
        self.bosses[0, boss] += 1
        self.bosses[1, boss] += more
        self.bosses[2, boss] += more**2

    def write(self, file: Path, key: str) -> None:
        """Store the sums of a measurement with this key, atomically."""
        with whole(file) as aside, aside.open("wb") as stream:
            np.savez_compressed(
                stream, key=np.array(key), **{each.name: getattr(self, each.name) for each in fields(self)}
            )

    @classmethod
    def read(cls, file: Path, key: str) -> "Sums":
        """Return the stored sums, or empty ones without a file. Raises OtherMeasurement, Unreadable."""
        empty = cls()
        names = [each.name for each in fields(cls)]
        shapes = {"key": (), **{name: getattr(empty, name).shape for name in names}}
        try:
            stored = read_arrays(file, shapes, text=("key",))
        except NoFile:
            return empty
        except Unreadable as error:
            raise Unreadable(f"{error}; {WAY_OUT}") from None
        if str(stored["key"]) != key:
            raise OtherMeasurement(f"{file} is of other positions or another engine: {WAY_OUT}")
        found = cls(**{name: stored[name].astype(np.float64) for name in names})
        if not 0 <= found.done < np.inf:
            raise Unreadable(f"cannot read {file}: its number of positions is {shown(found.done)}; {WAY_OUT}")
        return found
