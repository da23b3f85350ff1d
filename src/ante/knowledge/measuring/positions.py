"""Positions in which jokers are measured: games of a player, stopped before a played hand.

Each game contributes at most one position, so positions are independent. Game g is stopped in ante
ANTES[g % len(ANTES)], at a hand drawn uniformly among those that the player plays there.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ante.arrays import read_arrays
from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb, to_macro, verb_of
from ante.engine.core.records import as_records
from ante.engine.core.state import Phase, copy_states, new_states, state_t
from ante.engine.validation import validate_states
from ante.env.games import Games, Outcome
from ante.errors import BalatroError
from ante.files import Unreadable, whole

ANTES = (2, 4, 6, 8)
BATCH = 128  # games played together
MOST_DECISIONS = 5000
WAY_OUT = "delete it, or choose another --work folder"
LEAST_OBSERVED = 20  # held jokers from which a typical counter is taken
GROWING = np.array([row.growth is not None or row.loss is not None for row in JOKERS])  # jokers whose value changes


class TooFewPositions(BalatroError, ValueError):
    """A player does not reach an ante often enough."""


class Chooser(Protocol):
    """A player, as in `ante.agents.evaluate.Player`."""

    name: str
    discrete: bool
    reorder: str

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return one action for each game (n,) int64, -1 for games that are not in play."""


@dataclass(frozen=True)
class Positions:
    """Positions of one player, deck and stake.

    states   (n,) state_t, as the player saw them, with the player's jokers
    ante     (n,) index in ANTES
    typical  (len(ANTES), len(JOKERS)) median value of held jokers in each ante; NaN if fewer than LEAST_OBSERVED were held
    """

    states: np.recarray
    ante: NDArray[np.int64]
    typical: NDArray[np.float64]
    player: str
    deck: str
    stake: int

    @property
    def digest(self) -> str:
        """SHA-256 of the records and the typical values."""
        data = hashlib.sha256(np.ascontiguousarray(self.states).view(np.uint8).tobytes())
        data.update(self.ante.tobytes())
        data.update(np.nan_to_num(self.typical, nan=-1.0).tobytes())
        return data.hexdigest()

    def write(self, file: Path) -> None:
        """Write the positions to a file, atomically."""
        with whole(file) as aside, aside.open("wb") as stream:
            np.savez(
                stream,
                states=np.ascontiguousarray(self.states).view(np.uint8),
                ante=self.ante,
                typical=self.typical,
                player=np.array(self.player),
                deck=np.array(self.deck),
                stake=np.array(self.stake),
            )

    @classmethod
    def read(cls, file: Path) -> "Positions":
        """Return the valid positions of a file that `write` wrote. Raises Unreadable."""
        try:
            stored = read_arrays(file, text=("player", "deck"))
            ante, typical, octets = stored["ante"], stored["typical"], stored["states"]
            if ante.ndim != 1 or ante.dtype.kind != "i" or not ((ante >= 0) & (ante < len(ANTES))).all():
                raise ValueError("it has positions of other antes")
            if typical.shape != (len(ANTES), len(JOKERS)) or np.isinf(typical).any():
                raise ValueError("it has other typical counters")
            if octets.dtype != np.uint8 or octets.shape != (len(ante) * state_t.itemsize,) or not len(ante):
                raise ValueError("it has no positions of this version of the engine")
            states = as_records(octets.view(state_t))
            validate_states(states)
            if (states["phase"] != Phase.PLAY).any():
                raise ValueError("it has a position without a hand to play")
            origin = str(stored["player"]), str(stored["deck"]), int(stored["stake"])
        except Unreadable as error:
            raise Unreadable(f"{error}; {WAY_OUT}") from None
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise Unreadable(f"cannot read {file}: {error}; {WAY_OUT}") from None
        return cls(states, ante.astype(np.int64), typical.astype(np.float64), *origin)


class Sampler:
    """Draws one played hand of each game of a batch, and notes the counters of the jokers that were held."""

    def __init__(self, first: int, n: int, seen: dict[tuple[int, int], list[float]]) -> None:
        self.target = np.array([ANTES[(first + i) % len(ANTES)] for i in range(n)])
        self.kept = new_states(n)
        self.found = np.zeros(n, dtype=np.int64)  # hands seen in the target ante
        self._rngs = [np.random.default_rng([20_261, first + i]) for i in range(n)]
        self._seen = seen

    def look(self, states: np.recarray, hands: NDArray[np.int64]) -> None:
        """Consider the games at these indices, which play a hand now."""
        for i in hands:
            s = states[i]
            ante = int(s.ante)
            if ante in ANTES:
                for slot in range(int(s.n_jokers)):
                    joker = int(s.jokers[slot].id)
                    if GROWING[joker]:
                        self._seen.setdefault((ANTES.index(ante), joker), []).append(float(s.jokers[slot].value))
            if ante == self.target[i]:
                self.found[i] += 1
                if self._rngs[i].random() * self.found[i] < 1.0:
                    self.kept[i] = s


def collect(
    player: Chooser,
    seeds: Sequence[str],
    each: int,
    deck: str = "b_red",
    stake: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Positions:
    """Play games until every ante of ANTES has `each` positions, in the order of the seeds.

    Args:
        player: The player.
        seeds: Game seeds; as many are played as needed.
        each: Positions of each ante.
        deck: Deck of the games.
        stake: Stake of the games.
        advance: Called with the number of positions that were added.

    Raises:
        TooFewPositions: The seeds do not suffice.
    """
    seen: dict[tuple[int, int], list[float]] = {}
    kept: list[list[np.recarray]] = [[] for _ in ANTES]
    for first in range(0, len(seeds), BATCH):
        if min(map(len, kept)) >= each:
            break
        sampler = play_batch(player, seeds[first : first + BATCH], first, deck, stake, seen)
        for i in np.flatnonzero(sampler.found):
            at = ANTES.index(int(sampler.target[i]))
            if len(kept[at]) < each:
                kept[at].append(copy_states(as_records(sampler.kept, slice(i, i + 1))))
                advance(1)
    for ante, found in zip(ANTES, kept, strict=True):
        if len(found) < each:
            raise TooFewPositions(
                f"{player.name} played a hand of ante {ante} in {len(found)} of its games, fewer than {each}: use a "
                "stronger player, more seeds or fewer positions"
            )
    typical = np.full((len(ANTES), len(JOKERS)), np.nan)
    for (at, joker), values in seen.items():
        if len(values) >= LEAST_OBSERVED:
            typical[at, joker] = np.median(values)
    states = new_states(each * len(ANTES))
    states.view(np.uint8)[:] = np.concatenate([one.view(np.uint8) for found in kept for one in found])
    return Positions(states, np.repeat(np.arange(len(ANTES)), each), typical, player.name, deck, stake)


def play_batch(
    player: Chooser,
    seeds: Sequence[str],
    first: int,
    deck: str,
    stake: int,
    seen: dict[tuple[int, int], list[float]],
) -> Sampler:
    """Play one game of each seed until its end or until it has passed its target ante."""
    games = Games(
        len(seeds), deck, stake, reorder=player.reorder, discrete=player.discrete, max_decisions=MOST_DECISIONS
    )
    games.reset(options={"seed": list(seeds)})
    sampler = Sampler(first, games.n, seen)
    playing = np.ones(games.n, dtype=np.bool_)
    while playing.any():
        chosen = np.where(playing, player.choose(games, playing), -1)
        macro = [to_macro(games.states[i], chosen[i]) if player.discrete else chosen[i] for i in range(games.n)]
        hands = [i for i in np.flatnonzero(playing) if verb_of(macro[i]) == Verb.PLAY]
        sampler.look(games.states, np.array(hands, dtype=np.int64))
        games.step(chosen)
        playing &= (games.outcome == Outcome.PLAYING) & (games.states["ante"] <= sampler.target)
    return sampler
