"""A client inside the process, for the tests in this folder."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ante.serve.balatrobot.dialects import DIALECTS
from ante.serve.balatrobot.server import Desk
from ante.serve.balatrobot.session import Session

SEED = "TEST123"  # seed of the recorded facts


class Failed(Exception):
    """A reply with an error: its message, and its name."""

    def __init__(self, error: Any) -> None:
        super().__init__(error["message"])
        self.name = error["data"]["name"]


@dataclass
class Bot:
    """A client of one session."""

    desk: Desk = field(default_factory=lambda: Desk(Session()))

    def __call__(self, method: str, **params: Any) -> Any:
        """Return the result of a method. Raises Failed."""
        body = {"jsonrpc": "2.0", "method": method, "params": params, "id": 7}
        reply = json.loads(self.desk.answer(json.dumps(body).encode()))
        assert reply["id"] == 7 and reply["jsonrpc"] == "2.0"
        if "error" in reply:
            raise Failed(reply["error"])
        return reply["result"]

    def refused(self, method: str, **params: Any) -> tuple[str, str]:
        """Return the name and the message of the error of a call."""
        try:
            self(method, **params)
        except Failed as failed:
            return failed.name, str(failed)
        raise AssertionError(f"{method} {params} was not refused")

    def begin(self, seed: str = SEED, deck: str = "RED", stake: str = "WHITE") -> Any:
        """Start a run and return the state."""
        self("menu")
        return self("start", deck=deck, stake=stake, seed=seed)

    def hand(self, **values: int) -> Any:
        """Start a run, select the first blind, set these values and return the state."""
        self.begin()
        state = self("select")
        return self("set", **values) if values else state

    def shop(self, **values: int) -> Any:
        """Start a run, beat the first blind, set these values and return the state in the shop."""
        self.hand(chips=1000)
        self("play", cards=[0])
        state = self("cash_out")
        return self("set", **values) if values else state


def bot(dialect: str = "1.5", fair: bool = False, folder: Path | None = None, testing: bool = False) -> Bot:
    """Return a client of a new session."""
    return Bot(Desk(Session(DIALECTS[dialect], fair, folder), testing))


def keys(area: Any) -> list[str]:
    """Return the keys of the cards of an area."""
    return [card["key"] for card in area["cards"]]
