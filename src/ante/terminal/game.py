"""Keys applied to a game: decisions, the selection, pages, advice, undo and saving."""

from collections.abc import Callable
from pathlib import Path

from ante.engine.actions import has_hand
from ante.engine.core.state import Phase
from ante.env.text import PHASES
from ante.errors import BalatroError
from ante.terminal.advice import Adviser
from ante.terminal.bindings import (
    BY_KEY,
    CARDS,
    DOWN,
    ESCAPE,
    HAND_WORDS,
    LEFT,
    RESIZED,
    RIGHT,
    SLOTS,
    SPACE,
    UP,
    Binding,
    shown_key,
)
from ante.terminal.decisions import Use, action_of, n_slots, use_of, why_not
from ante.terminal.saving import how_to_continue, save
from ante.terminal.session import Session, decision_name

PAGES = "?jDi"


class Game:
    """A game with what is on the screen.

    pending  the key that waits for the number of a slot
    page     the key of the open page; empty for the game
    scroll   lines by which the page is scrolled
    said     what the last keys did, or why they did nothing
    advice   lines of advice for this position
    file     where the game is saved; None if it is not
    ended    whether the player has quit
    """

    def __init__(self, session: Session, adviser: Adviser, file: Path | None) -> None:
        self.session, self.adviser, self.file = session, adviser, file
        self.pending: Binding | None = None
        self.page, self.scroll = "", 0
        self.said: list[str] = []
        self.advice: list[str] = []
        self.ended = False
        self._actions: dict[str, Callable[[], None]] = {
            LEFT: lambda: self._move_cursor(-1),
            RIGHT: lambda: self._move_cursor(1),
            SPACE: lambda: self._toggle(self.session.cursor),
            "-": self._clear,
            "h": self._advise,
            "z": self._undo,
            "w": self._save,
            "q": self._quit,
            UP: lambda: self._tell("no page is open to scroll; ? opens the page of keys"),
            DOWN: lambda: self._tell("no page is open to scroll; ? opens the page of keys"),
            ESCAPE: lambda: self._tell("nothing to close"),
        }

    def press(self, key: str) -> None:
        """Apply one key; `said` then holds what it did or why it did nothing."""
        if key == RESIZED or (self.page and self._on_page(key)):
            return
        if self.pending is not None:
            binding, self.pending = self.pending, None
            self._choose(binding, key)
        elif key not in BY_KEY:
            self._tell(f"{key!r} is not a key. {self.possible()}")
        elif key in PAGES:
            self.page, self.scroll = key, 0
        elif key in CARDS:
            self._toggle(CARDS.index(key))
        elif key in self._actions:
            self._actions[key]()
        else:
            self._decide_by(BY_KEY[key])

    def possible(self) -> str:
        """Return the decisions that are possible now, with their keys."""
        options = [
            f"{shown_key(each)} {each.label}"
            for each in dict.fromkeys(BY_KEY.values())
            if each.verb is not None and each.label and use_of(self.session, each) != Use.NO
        ]
        phase = PHASES[Phase(int(self.session.s.phase))]
        return f"Now ({phase}): {', '.join(options) or 'z undo, q quit'}; ? explains all keys"

    def _tell(self, words: str) -> None:
        self.said.append(words)

    def _on_page(self, key: str) -> bool:
        """Scroll or close the open page. Returns whether the key is done; others close the page and act."""
        if key in (UP, DOWN):
            self.scroll = max(0, self.scroll + (1 if key == DOWN else -1))
            return True
        closed, self.page = self.page, ""
        return key in (ESCAPE, closed)

    def _decide_by(self, binding: Binding) -> None:
        """Take the decision of a key, or wait for the number of its slot."""
        s = self.session.s
        if not binding.slot:
            self._decide(binding, 0)
        elif s.phase not in binding.phases or not n_slots(s, binding):
            self._tell(f"{shown_key(binding)}: {why_not(self.session, binding)}. {self.possible()}")
        else:
            self.pending = binding

    def _choose(self, binding: Binding, key: str) -> None:
        """Take the decision of an earlier key with the slot of this one."""
        if key == ESCAPE:
            return self._tell(f"no {binding.slot} chosen")
        slot, n = SLOTS.find(key), n_slots(self.session.s, binding)
        if not 0 <= slot < n:
            return self._tell(f"{key!r} is not a {binding.slot}: press {binding.key} again and choose 1 to {n}")
        return self._decide(binding, slot)

    def _decide(self, binding: Binding, slot: int) -> None:
        session = self.session
        action = action_of(session, binding, slot)
        said = session.decide(action) if action >= 0 else None
        if said is None:
            where = "" if session.s.phase in binding.phases else f" {self.possible()}"
            return self._tell(f"{shown_key(binding)}: {why_not(session, binding, slot)}.{where}")
        if binding.key in (",", "."):
            session.cursor += 1 if binding.key == "." else -1
        self.advice = []
        return self._tell(said)

    def _toggle(self, position: int) -> None:
        n = int(self.session.s.n_hand) if has_hand(self.session.s) else 0
        if position >= n:
            what = f"the hand has {n} cards" if n else f"cards are selected {HAND_WORDS}"
            return self._tell(f"no card {position + 1}: {what}. {self.possible()}")
        self.session.cursor = position
        problem = self.session.toggle(position)
        return self._tell(problem) if problem else None

    def _move_cursor(self, by: int) -> None:
        if not has_hand(self.session.s):
            return self._tell(f"there is no hand to select from. {self.possible()}")
        if self.session.s.n_hand == 1:
            return self._tell("the hand has one card")
        self.session.cursor = (self.session.cursor + by) % int(self.session.s.n_hand)
        return None

    def _clear(self) -> None:
        if not has_hand(self.session.s):
            return self._tell(f"there is no hand to select from. {self.possible()}")
        if self.session.selected == self.session.forced():
            return self._tell("no card is selected that could be let go")
        return self.session.clear()

    def _advise(self) -> None:
        if self.session.over:
            return self._tell("the game is over and has no decisions left; z takes back the last decision")
        self.advice = self.adviser.lines(self.session.states, self.session.selected)
        return None

    def _undo(self) -> None:
        action = self.session.undo()
        if action is None:
            return self._tell("there is no decision to take back")
        self.advice = []
        return self._tell(f"taken back: {decision_name(self.session.s, action)}")

    def _save(self) -> None:
        if self.file is None:
            return self._tell("no file is known: start with --save FILE")
        try:
            save(self.session, self.file)
        except (BalatroError, OSError) as error:
            return self._tell(f"not saved: {error}")
        return self._tell(f"saved; {how_to_continue(self.session, self.file)} continues this game")

    def _quit(self) -> None:
        self.ended = True
