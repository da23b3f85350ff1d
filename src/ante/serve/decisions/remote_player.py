"""A player whose decisions come from a decision service; `ante eval grpc://HOST:PORT` plays it."""

from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.state import save_state
from ante.env.games import Games
from ante.serve.decisions.client import Address, DecisionClient
from ante.serve.decisions.v1 import decisions_pb2 as pb


class RemotePlayer:
    """Sends the records of the games in play and returns the decisions. Raises NoDecision, as its methods do."""

    discrete = False

    def __init__(self, url: str) -> None:
        self._client = DecisionClient(Address.of(url), timeout=60.0)
        info = self._client.info()
        self.name, self.reorder, self._most = f"{info.player} at {url}", info.reorder or "none", info.queries or 1

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return one macro decision for each game (n,) int64, -1 for games that are not in play."""
        actions = np.full(games.n, -1, dtype=np.int64)
        which = np.flatnonzero(playing)
        for at in range(0, len(which), self._most):
            part = which[at : at + self._most]
            queries = [
                pb.Query(request_id=uuid4().hex, priority=pb.PRIORITY_BULK, record=save_state(games.states[i]))
                for i in part
            ]
            actions[part] = [decision.packed_action for decision in self._client.decide_all(queries)]
        return actions
