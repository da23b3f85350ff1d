"""Games as events, published while they are played."""

import hashlib
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import Player, record_of
from ante.catalog.challenges import CHALLENGES
from ante.catalog.decks import DECKS
from ante.engine.actions import to_macro
from ante.engine.core.state import VERSION
from ante.engine.run import challenge_number, deck_number
from ante.env.games import Games, Outcome
from ante.env.replay import Heading, action_text
from ante.events.publisher import Publisher
from ante.events.v1 import events_pb2 as pb


def digest_of(s: Any) -> str:
    """Return the digest of a game's record, as in GameDecision.state."""
    return hashlib.blake2b(s.tobytes(), digest_size=16).hexdigest()


class PublishingPlayer:
    """A player whose games are published: their start, each decision, and their end; call `finish` after the last one.

    Args:
        heading: The start of the games, without their seeds.
        locked: Items that are locked, as in `new_run`.
    """

    def __init__(
        self, player: Player, publisher: Publisher, heading: Heading, locked: str | Sequence[str] = ()
    ) -> None:
        self.name, self.discrete, self.reorder = player.name, player.discrete, player.reorder
        self._player, self._publisher = player, publisher
        self._locked = (locked,) if isinstance(locked, str) else tuple(locked)
        deck, challenge = DECKS[deck_number(heading.deck)].key, CHALLENGES[challenge_number(heading.challenge)].key
        self._start: dict[str, Any] = {"deck": deck, "stake": heading.stake, "challenge": challenge or ""}
        self._games: Games | None = None
        self._ids: list[str] = []

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the player's actions and publish them. Raises BadBus."""
        if games is not self._games:
            self.finish()
            self._begin(games)
        else:
            self._follow(playing)
        chosen = self._player.choose(games, playing)
        if games.refused(chosen, ~playing) >= 0:
            return chosen  # the caller reports the illegal action
        for i in np.flatnonzero(playing):
            s, step = games.states[i], int(self._steps[i])
            action = int(to_macro(s, chosen[i]) if self.discrete else chosen[i])
            data = pb.GameDecision(
                step=step,
                packed_action=action,
                action=action_text(action),
                state=digest_of(s),
                ante=int(s.ante),
                dollars=int(s.dollars),
            )
            self._publisher.put(self._ids[i], data, f"{self._ids[i]}-{step}")
        self._steps += playing
        self._playing = playing.copy()
        return chosen

    def _begin(self, games: Games) -> None:
        """Publish the start of all games of a batch."""
        self._games, self._ids = games, [uuid4().hex for _ in range(games.n)]
        self._steps, self._rewards = np.zeros(games.n, dtype=np.int64), np.zeros(games.n)
        self._playing = np.zeros(games.n, dtype=np.bool_)
        for game_id, seed in zip(self._ids, games.seeds, strict=True):
            data = pb.GameBegun(
                seed=str(seed), **self._start, locked=self._locked, player=self.name, record_version=VERSION
            )
            self._publisher.put(game_id, data, f"{game_id}-begun")

    def _follow(self, playing: NDArray[np.bool_]) -> None:
        """Publish the end of the games that the last step has ended."""
        assert self._games is not None
        self._rewards += np.where(self._playing, self._games.rewards, 0.0)
        for i in np.flatnonzero(self._playing & ~playing):
            record = record_of(self._games, int(i), float(self._rewards[i]), ())
            data = pb.GameEnded(
                outcome=record.outcome,
                ante=record.ante,
                blinds=record.blinds,
                decisions=int(self._steps[i]),
                reward=record.reward,
                state=digest_of(self._games.states[i]),
            )
            self._publisher.put(self._ids[i], data, f"{self._ids[i]}-ended")

    def finish(self) -> None:
        """Publish the end of the batch's last games."""
        if self._games is not None:
            self._follow(self._games.outcome == Outcome.PLAYING)
            self._games = None
