"""Curriculum: stages of increasing difficulty, advanced by win rate. Imports neither Ray nor torch."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, field_validator

from ante.catalog.constants import WIN_ANTE
from ante.engine.run import deck_number
from ante.training.settings.field import Settings


class Stage(Settings):
    """One stage: its games, and the win rate at which the next stage begins."""

    goal: int = Field(WIN_ANTE, ge=1, le=WIN_ANTE, description="Ante whose boss blind wins the game.")
    deck: str | None = Field(None, description="Deck; by default the run's deck.")
    stake: int | None = Field(None, ge=1, le=8, description="Stake; by default the run's stake.")
    promote: float = Field(0.5, gt=0, le=1, description="Share of games won at which the next stage begins.")

    @field_validator("deck")
    @classmethod
    def _known_deck(cls, deck: str | None) -> str | None:
        if deck is not None:
            deck_number(deck)
        return deck

    def within(self, deck: str, stake: int) -> "Stage":
        """Return the stage with unset deck and stake filled in from the run."""
        return self.model_copy(update={"deck": self.deck or deck, "stake": self.stake or stake})

    @property
    def rules(self) -> dict[str, Any]:
        """Return the options of `Games` for this stage."""
        return {"goal": self.goal, "deck": self.deck, "stake": self.stake}

    def __str__(self) -> str:
        """Return the stage as text."""
        return f"to the boss of ante {self.goal}, deck {self.deck}, stake {self.stake}"


def mastered(stages: Sequence[Stage], stage: int, row: dict[str, float], window: int) -> bool:
    """Return whether the stage after `stage` (numbered from 1) begins; always False for the last one.

    row     a row of metrics. It counts for a stage only if all its games were of that stage and the window is full: the
            first games to end are mostly short ones, which were lost
    window  number of games in the moving averages
    """
    if stage >= len(stages) or row["stage"] != stage or row["games_counted"] < window:
        return False
    return row["win_rate"] >= stages[stage - 1].promote
