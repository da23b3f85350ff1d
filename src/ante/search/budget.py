"""The budget of a search: simulations or milliseconds per decision, of all phases or of one."""

import math
import re
from dataclasses import dataclass
from typing import cast

from numpy import format_float_positional

from ante.errors import BalatroError, shown
from ante.search.phases import PHASES, PhaseName

GRAMMAR = re.compile(rf"(\d+(?:\.\d+)?)(ms)?(?:@({'|'.join(PHASES)}))?")
MOST_SIMULATIONS = 1_000_000
LEAST_MILLISECONDS, MOST_MILLISECONDS = 0.001, 3_600_000.0


class BadBudget(BalatroError, ValueError):
    """A budget that is not valid."""

    def __init__(self, text: object) -> None:
        super().__init__(
            f"search budget {shown(text)} is not valid: give simulations per decision, such as 200, or milliseconds per "
            f"decision, such as 16ms; with @ and one of {', '.join(PHASES)}, only that phase is searched, such as 16ms@shop"
        )


@dataclass(frozen=True)
class Budget:
    """A mean budget per decision of a game, in one of two units; the other one is 0.

    simulations   the search is deterministic for its seed
    milliseconds  processor time; decisions that need no search leave their share to later ones
    phase         the only phase that is searched, per decision of that phase; None for all
    """

    simulations: int = 0
    milliseconds: float = 0.0
    phase: PhaseName | None = None

    def __str__(self) -> str:
        """Return the budget as `budget_of` parses it."""
        number = f"{format_float_positional(self.milliseconds, trim='-')}ms" if self.milliseconds else self.simulations
        return f"{number}@{self.phase}" if self.phase else str(number)


def budget_of(text: str) -> Budget:
    """Return the budget written as `200` (simulations), `16ms` (milliseconds) or `16ms@shop`. Raises BadBudget."""
    found = GRAMMAR.fullmatch(text.strip())
    if not found:
        raise BadBudget(text)
    amount, unit, phase = float(found[1]), found[2], cast(PhaseName | None, found[3])
    if unit:
        if not LEAST_MILLISECONDS <= amount <= MOST_MILLISECONDS:
            raise BadBudget(text)
        return Budget(milliseconds=amount, phase=phase)
    if not (1 <= amount <= MOST_SIMULATIONS and math.floor(amount) == amount):
        raise BadBudget(text)
    return Budget(simulations=int(amount), phase=phase)
