"""`ante warmup` and `ante fuzz`: compile the engine, and check its invariants."""

import sys
from dataclasses import dataclass

from ante.cli.options import Decisions, Number


@dataclass(frozen=True)
class Warmup:
    """Compile engine, environments and baselines into the cache. It takes minutes the first time, seconds afterwards.

    Try: ante warmup
    """

    def run(self) -> int:
        """Compile, then print the duration and the location of the cache."""
        from ante.cli.shown import compile_all
        from ante.engine.core.compile_cache import cache_folder

        print(f"engine ready after {compile_all():.1f} s, cached in {cache_folder()}", file=sys.stderr)
        return 0


@dataclass(frozen=True)
class Fuzz:
    """Play random legal decisions on all decks, stakes and challenges, and check all invariants after each.

    Try: ante fuzz --decisions 1000000
    """

    decisions: Decisions = 1_000_000
    """Number of decisions."""
    seed: Number = 1
    """Seed of the random actions."""

    def run(self) -> int:
        """Play and report; return 1 if an invariant is violated."""
        import numpy as np

        from ante.engine.core.state import new_states
        from ante.engine.drivers.random_play import N_KINDS, fuzz
        from ante.engine.invariants import Broken

        games = 4 * N_KINDS
        each = -(-self.decisions // (2 * games)) * games
        for one_chip in (0, 1):
            report = np.zeros(4, dtype=np.int64)
            fuzz(new_states(games), each, self.seed, one_chip, report)
            blinds = "one-chip" if one_chip else "real"
            print(f"{report[0]:,} decisions, {blinds} blinds: {Broken(int(report[1])).name.lower()} broken")
            if report[1]:
                print(f"game {report[2]}, decision {report[3]}", file=sys.stderr)
                return 1
        return 0
