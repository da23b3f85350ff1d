"""The game of one person: its record, its decisions, the selected cards, and undo."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from ante.engine.actions import Verb, target_of, to_of, verb_of
from ante.engine.core.state import MAX_PLAYED, Phase, Status, copy_states, new_states
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.observe_items import jokers_hidden
from ante.env.replay import Heading, RefusedDecision, action_text
from ante.env.story import changes
from ante.env.text import card_name, item_name, macro_name

KEEPS_SELECTION = (Verb.SORT_HAND, Verb.MOVE_CARD, Verb.MOVE_JOKER, Verb.SELL_JOKER, Verb.SELL_CONSUMABLE)


class Session:
    """One game in progress.

    heading   how the game starts, for its replay; None if it starts from a saved position or with a profile
    states    (1,) state_t, the game now
    actions   the macro decisions so far
    selected  selected hand positions, as bits; the record's own selection is not used
    cursor    hand position of the cursor
    undone    number of decisions that were taken back
    """

    def __init__(self, start: np.recarray, heading: Heading | None = None) -> None:
        self.heading = heading
        self.states = copy_states(start)
        self.actions: list[int] = []
        self.cursor, self.undone = 0, 0
        self._before: list[bytes] = []  # the record before each decision
        self.selected = self.forced()

    @classmethod
    def resumed(cls, heading: Heading, actions: Iterable[int]) -> "Session":
        """Return the game after these macro decisions. Raises RefusedDecision, UnknownSeed and the like."""
        session = cls(start_of(heading), heading)
        for number, action in enumerate(actions, 1):
            if session.decide(action) is None:
                raise RefusedDecision(f"decision {number} is illegal in its state: {action_text(action)}")
        return session

    @property
    def s(self) -> Any:
        """The game's record."""
        return self.states[0]

    @property
    def over(self) -> bool:
        """Whether the game is lost."""
        return bool(self.s.phase == Phase.OVER)

    def forced(self) -> int:
        """Return the hand positions that Cerulean Bell selects, as bits."""
        s = self.s
        return sum(1 << i for i in range(int(s.n_hand)) if s.cards[s.hand[i]].forced)

    def decide(self, action: int) -> str | None:
        """Take a macro decision. Returns what happened, or None if it is illegal and changed nothing."""
        before, kept = copy_states(self.states), self._selected_cards()
        if step(self.s, np.int64(action)) == Status.ILLEGAL:
            return None
        self._before.append(before.tobytes())
        self.actions.append(int(action))
        verb = Verb(int(verb_of(action)))
        self._select_cards(kept if verb in KEEPS_SELECTION else set())
        self.cursor = max(0, min(self.cursor, int(self.s.n_hand) - 1))
        return story_of(before[0], int(action), self.s)

    def undo(self) -> int | None:
        """Take back the last decision. Returns it, or None if there is none."""
        if not self.actions:
            return None
        self.states.view(np.uint8)[:] = np.frombuffer(self._before.pop(), dtype=np.uint8)
        self.undone += 1
        self.cursor, self.selected = 0, self.forced()
        return self.actions.pop()

    def toggle(self, position: int) -> str:
        """Select or deselect a hand card. Returns an explanation if that is not possible, else an empty text."""
        bit = 1 << position
        if self.selected & bit:
            if self.forced() & bit:
                return "Cerulean Bell forces this card: it stays selected"
            self.selected &= ~bit
        elif self.selected.bit_count() >= MAX_PLAYED:
            return f"{MAX_PLAYED} cards are selected, the most that can be played: let one go first"
        else:
            self.selected |= bit
        return ""

    def clear(self) -> None:
        """Select no card, except those that Cerulean Bell forces."""
        self.selected = self.forced()

    def _selected_cards(self) -> set[int]:
        s = self.s
        return {int(s.hand[i]) for i in range(int(s.n_hand)) if (self.selected >> i) & 1}

    def _select_cards(self, cards: set[int]) -> None:
        s = self.s
        self.selected = self.forced() | sum(1 << i for i in range(int(s.n_hand)) if int(s.hand[i]) in cards)


def start_of(heading: Heading, locked: Iterable[str] = ()) -> np.recarray:
    """Return a heading's game before its first decision, (1,), with locked items.

    Raises UnknownSeed, UnknownDeck, UnknownStake, UnknownChallenge, DeckOfChallenge or NotLockable.
    """
    states = new_states(1)
    states[0] = new_run(**asdict(heading), locked=locked)
    return states


def story_of(before: Any, action: int, after: Any) -> str:
    """Describe a decision and its effects, without the places of jokers, which the screen shows or Amber Acorn hides."""
    effects = [words for words in changes(before, after) if not words.startswith("jokers ")]
    return "; ".join([decision_name(before, action), *effects])


def decision_name(s: Any, action: int) -> str:
    """Return the meaning of a macro decision, with places counted from 1 as the keys are."""
    verb, slot, to = int(verb_of(action)), int(target_of(action)), int(to_of(action))
    where = "right" if to > slot else "left"
    hidden = bool(jokers_hidden(s))
    if verb == Verb.MOVE_JOKER:
        return f"move {f'joker {slot + 1}' if hidden else item_name(s.jokers[slot])} {where}"
    if verb == Verb.MOVE_CARD:
        return f"move {card_name(s.cards[s.hand[slot]])} {where}"
    return f"sell joker {slot + 1}" if verb == Verb.SELL_JOKER and hidden else macro_name(s, action)
