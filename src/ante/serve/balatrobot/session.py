"""A session: one game, or the menu, and the file that holds a game."""

import json
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ante.catalog.blinds import Blind
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import N_PANELS, Phase, Status, load_state, save_state, state_t
from ante.engine.step import step
from ante.engine.validation import BadState, validate_states
from ante.serve.balatrobot.dialects import DIALECTS, Dialect
from ante.serve.balatrobot.protocol import Refused

Fields = namedtuple("Fields", state_t.names or ())  # type: ignore[misc]
MENU = "MENU"
STATES = {
    Phase.BLIND_SELECT: "BLIND_SELECT",
    Phase.PLAY: "SELECTING_HAND",
    Phase.ROUND_END: "ROUND_EVAL",
    Phase.SHOP: "SHOP",
    Phase.PACK: "SMODS_BOOSTER_OPENED",
    Phase.OVER: "GAME_OVER",
}
MARK = "ante-balatrobot"
LONGEST_HEADING = 200


class BadSave(ValueError):
    """A file that is not a valid saved game."""


@dataclass
class Session:
    """One game of a client.

    fair     face-down cards are masked and the draw pile is sorted
    folder   the only folder in which clients can write and read files; None for any
    s        the record; None in the menu
    skipped  which blinds of this ante were skipped
    shops    number of shops entered, for the identifiers of their vouchers and packs
    """

    dialect: Dialect = DIALECTS["1.5"]
    fair: bool = False
    folder: Path | None = None
    s: Any = None
    skipped: list[bool] = field(default_factory=lambda: [False] * N_PANELS)
    shops: int = 0

    def fields(self) -> Any:
        """Return the fields of the record as a tuple with names.

        SPEED: 8 us for all, while each field of a record takes 2 us.
        """
        return Fields._make(self.s.item())

    @property
    def state(self) -> str:
        """The name of the state."""
        return MENU if self.s is None else STATES[Phase(int(self.s.phase))]

    def begin(self, s: Any) -> None:
        """Play a new game."""
        self.s, self.skipped, self.shops = s, [False] * N_PANELS, 0

    def end(self) -> None:
        """Return to the menu."""
        self.s = None

    def act(self, verb: Verb, target: int = 0, to: int = 0, cards: int = 0, otherwise: Refused | None = None) -> None:
        """Take a decision. Raises Refused if it is illegal, `otherwise` if given."""
        s = self.s
        panel, phase = int(s.blind_on_deck), int(s.phase)
        if step(s, int(pack_action(verb, target, to, cards))) == Status.ILLEGAL:
            raise otherwise or Refused(f"{verb.name.replace('_', ' ').lower()} is not possible now", "NOT_ALLOWED")
        self.follow(verb, panel, phase)

    def follow(self, verb: Verb, panel: int, phase: int) -> None:
        """Note a decision that was taken: its verb, and the blind on deck and the phase before it."""
        if verb == Verb.SKIP_BLIND:
            self.skipped[panel] = True
        if verb == Verb.CASH_OUT:
            self.shops += 1
        if self.s.phase == Phase.SHOP and phase == Phase.ROUND_END and self.s.blind_on_deck == 0:
            self.skipped = [False] * N_PANELS

    def statuses(self) -> list[str]:
        """Return the status of the Small, Big and Boss Blind of this ante."""
        v = self.fields()
        on = N_PANELS if v.phase == Phase.ROUND_END and v.beat_boss else v.blind_on_deck
        passed = ["SKIPPED" if skipped else "DEFEATED" for skipped in self.skipped[:on]]
        return (passed + [status_on_deck(v)] + ["UPCOMING"] * N_PANELS)[:N_PANELS]

    def saved(self) -> bytes:
        """Return the contents of a file with this game."""
        heading = {"file": MARK, "skipped": self.skipped, "shops": self.shops}
        return json.dumps(heading).encode() + b"\n" + save_state(self.s)

    def restore(self, data: bytes) -> None:
        """Continue the game of a file. Raises BadSave and changes nothing if it is not valid."""
        heading, _, record = data.partition(b"\n")
        try:
            found = json.loads(heading[:LONGEST_HEADING])
            skipped, shops = found["skipped"], found["shops"]
            s = load_state(record)
            validate_states(np.array([s]))
        except (ValueError, KeyError, TypeError, RecursionError, BadState) as error:
            raise BadSave(str(error)) from None
        if found.get("file") != MARK or not is_heading(skipped, shops):
            raise BadSave("the first line is not that of a saved game")
        self.s, self.skipped, self.shops = s, skipped, shops


def status_on_deck(v: Any) -> str:
    """Return the status of the next blind."""
    if v.phase in (Phase.PLAY, Phase.OVER):
        return "CURRENT" if v.blind != Blind.NONE else "SELECT"
    selecting = v.phase == Phase.BLIND_SELECT or (v.phase == Phase.PACK and v.pack_return == Phase.BLIND_SELECT)
    return "SELECT" if selecting else "UPCOMING"


def is_heading(skipped: Any, shops: Any) -> bool:
    """Return whether the values of a saved game's first line are valid."""
    flags = isinstance(skipped, list) and len(skipped) == N_PANELS and all(isinstance(one, bool) for one in skipped)
    return flags and isinstance(shops, int) and 0 <= shops < 1 << 32
