"""A game behind BalatroBot as a Gymnasium environment: `gymnasium.make("ante/BalatroLive-v0")`."""

from typing import Any

import numpy as np

from ante.checks import BadValue, chosen
from ante.engine.actions import Verb, to_macro, verb_of
from ante.env.single import BalatroEnv, NeedsReset
from ante.errors import BalatroError
from ante.serve.live.calls import call_of
from ante.serve.live.client import Client
from ante.serve.live.link import PATIENCE, Link

REORDERS = ("none", "jokers")
LOCAL = (Verb.SELECT, Verb.CLEAR)  # decisions that only the engine's game has


class GamesDiffer(BalatroError):
    """The server's game and the engine's have become different; the message names the first difference."""


class BalatroLiveEnv(BalatroEnv):
    """One run of Balatro that a server plays: the real game with the mod BalatroBot, or `ante serve balatrobot`.

    The engine plays the same seed beside the server. Observations, rewards and spaces are those of `ante/Balatro-v1`, and
    each state of the server is compared with the engine's. Decisions that the protocol does not have in a state are
    not in the action mask. Selecting a card is no call.

    url        address of the server; its dialect is recognized by its replies
    patience   seconds in which a server that does not reply can start again
    reorder    none or jokers
    other arguments as of BalatroEnv, without challenge, locked and endless

    `reset` starts a new run on the server, `step` takes a decision there. In addition to the errors of BalatroEnv both
    raise Unreachable if the server does not reply within `patience`, RemoteError if it refuses a call, StaleState if its
    game was changed by another client, and GamesDiffer. After an error, call `reset`.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:12346",
        patience: float = PATIENCE,
        reorder: str = "jokers",
        **options: Any,
    ) -> None:
        for name in ("challenge", "locked", "endless"):
            if name in options:
                raise BadValue(name, options[name], "the server's runs do not have this option: leave it out")
        super().__init__(reorder=chosen("reorder", reorder, REORDERS), **options)
        self.link = Link(Client(url), patience)
        self._together = False  # whether the server's last state equals the engine's

    def __getstate__(self) -> dict[str, Any]:
        """Refuse a copy. Raises BalatroError."""
        raise BalatroError("the game is on a server and cannot be copied: create another environment with another url")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a run on the server and beside it. options: seed (a game seed), deck, stake, only for this run."""
        if options is not None and "challenge" in options:
            raise BadValue("options['challenge']", options["challenge"], "the server's runs have a deck and a stake")
        self._together = False
        super().reset(seed=seed, options=options)
        self.link.begin(self.state, str(self.games.seeds[0]))
        self._compare()
        return self._observed(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action in both games."""
        self._require_game()
        if not self._together:
            raise NeedsReset("an error has separated the server's game and the engine's: call reset")
        numbers = self._numbers(action)
        if self.games.outcome[0] or self.games.refused(numbers) >= 0:
            return super().step(action)
        s = self.state
        macro = self._macro(int(numbers[0]))
        verb, panel, phase = Verb(int(verb_of(macro))), int(s.blind_on_deck), int(s.phase)
        call = None if verb in LOCAL else call_of(s, macro, self.link.session.dialect)
        if call is None and verb not in LOCAL:
            if self._raises:
                raise self._illegal(action, numbers)
            numbers[0] = -1
        self._together = call is None
        self.games.step(numbers)
        if call is not None:
            self.link.take(call, verb, panel, phase)
            self._compare()
        games = self.games
        ended = bool(games.terminated[0]), bool(games.truncated[0])
        return self._observed(), float(games.rewards[0]), *ended, self._info()

    def _compare(self) -> None:
        """Raise GamesDiffer if the server's state is not the engine's."""
        if why := self.link.difference():
            gone = "the server has lost the game: " if self.link.interrupted else ""
            raise GamesDiffer(f"{gone}the server's game differs from the engine's at {why}")
        self._together = True

    def _macro(self, number: int) -> int:
        """Return an action as a macro decision."""
        return int(to_macro(self.state, number)) if self.games.discrete else number

    def _observed(self) -> Any:
        """Return the observation, after removing from the mask what the protocol cannot express in this state."""
        mask, dialect = self.games.masks[0], self.link.session.dialect
        for number in np.flatnonzero(mask) if self._together else ():
            macro = int(to_macro(self.state, int(number)))
            if verb_of(macro) not in LOCAL and call_of(self.state, macro, dialect) is None:
                mask[number] = 0
        return super()._observed()
