"""Games at the beginning of one ante, with their result: mining reads them, and granted jokers are added to them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ante.arrays import read_arrays, write_arrays
from ante.engine.core.compile_cache import source_hash
from ante.engine.core.records import as_records
from ante.engine.core.state import copy_states, new_states, state_t
from ante.engine.validation import validate_states
from ante.env.games import Games, Outcome
from ante.files import Unreadable
from ante.knowledge.measuring.positions import BATCH, MOST_DECISIONS, WAY_OUT, Chooser, TooFewPositions

if TYPE_CHECKING:
    from ante.knowledge.measuring.run import Bar

ANTE = 6  # the boss of the ante before is beaten; the player holds a line-up, and half of the games are still lost


@dataclass(frozen=True)
class Starts:
    """Games of one player that reached ANTE, in the state in which they did.

    states  (n,) state_t
    won     (n,) whether the player won the game
    played  number of games played, including those that ended before ANTE
    """

    states: np.recarray
    won: NDArray[np.bool_]
    played: int

    @property
    def digest(self) -> str:
        """SHA-256 of seeds and results, which identify the games of one player and engine."""
        games = [(self.seed(i), bool(won)) for i, won in enumerate(self.won)]
        return hashlib.sha256(repr((games, self.played)).encode()).hexdigest()

    def seed(self, i: int) -> str:
        """Return the seed of game i."""
        s = self.states[i]
        return bytes(s.seed[: int(s.seed_length)]).decode()

    def write(self, file: Path) -> None:
        """Write the games to a file, atomically."""
        octets = np.ascontiguousarray(self.states).view(np.uint8)
        write_arrays(file, {"states": octets, "won": self.won, "played": np.array(self.played)})

    @classmethod
    def read(cls, file: Path) -> "Starts":
        """Return the games of a file that `write` wrote. Raises Unreadable."""
        try:
            stored = read_arrays(file)
            octets, won, played = stored["states"], stored["won"], int(stored["played"])
            if won.ndim != 1 or won.dtype != np.bool_ or not 0 < len(won) <= played:
                raise ValueError("it has no results of games")
            if octets.dtype != np.uint8 or octets.shape != (len(won) * state_t.itemsize,):
                raise ValueError("it has no games of this version of the engine")
            states = as_records(octets.view(state_t))
            validate_states(states)
        except Unreadable as error:
            raise Unreadable(f"{error}; {WAY_OUT}") from None
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise Unreadable(f"cannot read {file}: {error}; {WAY_OUT}") from None
        return cls(states, won, played)


def starts_of(
    player: Chooser,
    seeds: Sequence[str],
    deck: str = "b_red",
    stake: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Starts:
    """Play one game of each seed to its end, and return those that reached ANTE."""
    kept, won = [], []
    for first in range(0, len(seeds), BATCH):
        batch = list(seeds[first : first + BATCH])
        games = new_games(player, len(batch), deck, stake)
        games.reset(options={"seed": batch})
        began = new_states(games.n)
        reached = np.zeros(games.n, dtype=np.bool_)

        def look(playing: NDArray[np.bool_], games: Games = games, began: Any = began, reached: Any = reached) -> None:
            for i in np.flatnonzero(playing & ~reached & (games.states["ante"] >= ANTE)):
                began[i], reached[i] = games.states[i], True

        results = play_on(player, games, look)
        kept.append(copy_states(as_records(began, reached)))
        won.append(results[reached])
        advance(len(batch))
    states = new_states(sum(map(len, kept)))
    states.view(np.uint8)[:] = np.concatenate([each.view(np.uint8) for each in kept])
    return Starts(states, np.concatenate(won), len(seeds))


def kept_starts(player: Chooser, seeds: Sequence[str], origin: Any, work: Path, bar: "Bar", about: str) -> Starts:
    """Return the games of these seeds, from the work folder if they are already there.

    Raises TooFewPositions, Unreadable.

    origin  identifies the player
    about   label of the progress bar
    """
    key = hashlib.sha256(repr((origin, seeds, source_hash("lookahead"))).encode()).hexdigest()
    file = work / f"starts-{key[:16]}.npz"
    if not file.exists():
        with bar(len(seeds), about) as advance:
            found = starts_of(player, seeds, advance=advance)
        if not len(found.won):
            raise TooFewPositions(
                f"{player.name} reached ante {ANTE} in none of {len(seeds)} games: use a stronger player or more games"
            )
        work.mkdir(parents=True, exist_ok=True)
        found.write(file)
    return Starts.read(file)


def new_games(player: Chooser, n: int, deck: str, stake: int) -> Games:
    """Return n games with the settings of a player."""
    return Games(n, deck, stake, reorder=player.reorder, discrete=player.discrete, max_decisions=MOST_DECISIONS)


def play_on(
    player: Chooser,
    games: Games,
    look: Callable[[NDArray[np.bool_]], None] = lambda _: None,
    first: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """Play all games to their end and return which are won; `look` is called before each step with those in play.

    first  (n,) int64, the first action of each game, which the player then does not choose
    """
    playing = np.ones(games.n, dtype=np.bool_)
    won = np.zeros(games.n, dtype=np.bool_)
    while playing.any():
        look(playing)
        chosen = player.choose(games, playing) if first is None else first
        first = None
        games.step(np.where(playing, chosen, -1))
        won |= playing & (games.outcome == Outcome.WON)
        playing &= games.outcome == Outcome.PLAYING
    return won
