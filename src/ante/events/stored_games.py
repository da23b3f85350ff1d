"""Games of an event store, put together from their events, and played again by the engine."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ante.engine.core.state import VERSION, Status
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.replay import Heading
from ante.errors import BalatroError
from ante.events.games import digest_of
from ante.events.query import quoted

GAMES = """
WITH begun AS (SELECT subject, game_begun AS game, time, sequence FROM events WHERE type = 'ante.v1.game.begun'),
decisions AS (
  SELECT subject, count(*) AS n, max(game_decision.step) AS last,
    list(game_decision.packed_action ORDER BY game_decision.step) AS actions,
    list(game_decision.state ORDER BY game_decision.step) AS states
  FROM events WHERE type = 'ante.v1.game.decision' GROUP BY subject),
ended AS (SELECT subject, game_ended AS result FROM events WHERE type = 'ante.v1.game.ended')
SELECT subject, game, actions, states, result FROM begun JOIN decisions USING (subject) JOIN ended USING (subject)
WHERE n = result.decisions AND n = last + 1
"""


class Diverged(BalatroError):
    """A stored game that the engine plays otherwise."""


@dataclass(frozen=True)
class StoredGame:
    """One complete game.

    Attributes:
        heading: Its start.
        locked: Items that are locked, as in `new_run`.
        actions: Macro decisions, including those that select single cards.
        states: Digest of the record before each decision, and of the last record.
    """

    game_id: str
    heading: Heading
    locked: tuple[str, ...]
    player: str
    outcome: str
    record_version: int
    actions: tuple[int, ...]
    states: tuple[str, ...]


def stored_games(db: Any, player: str | None = None) -> Iterator[StoredGame]:
    """Yield the complete games of a store, in the order of their starts; see `query.stored_events`."""
    whose = f" AND game.player = {quoted(player)}" if player else ""
    found = db.execute(f"{GAMES}{whose} ORDER BY time, sequence")
    while rows := found.fetchmany(64):
        for game_id, begun, actions, states, ended in rows:
            yield StoredGame(
                game_id,
                Heading(begun["seed"], begun["deck"], begun["stake"], begun["challenge"] or None),
                tuple(begun["locked"]),
                begun["player"],
                ended["outcome"],
                begun["record_version"],
                tuple(actions),
                (*states, ended["state"]),
            )


def counted_games(db: Any) -> int:
    """Return the number of games that have begun, also those without an end."""
    return int(db.execute("SELECT count(*) FROM events WHERE type = 'ante.v1.game.begun'").fetchone()[0])


def check_game(game: StoredGame) -> None:
    """Play a game again and compare the record before each decision, and the last one. Raises Diverged."""
    if game.record_version != VERSION:
        raise Diverged(f"game {game.game_id} has records of version {game.record_version}, and this Ante {VERSION}")
    locked = game.locked[0] if len(game.locked) == 1 else game.locked
    s: Any = new_run(**asdict(game.heading), locked=locked)
    for number, (action, state) in enumerate(zip(game.actions, game.states, strict=False)):
        if digest_of(s) != state:
            raise Diverged(f"game {game.game_id} differs from the engine's before decision {number + 1}")
        if step(s, np.int64(action)) == Status.ILLEGAL:
            raise Diverged(f"decision {number + 1} of game {game.game_id} is illegal in its state")
    if digest_of(s) != game.states[-1]:
        raise Diverged(f"game {game.game_id} differs from the engine's at its end")
