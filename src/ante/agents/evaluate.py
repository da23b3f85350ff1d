"""Evaluation of a player: many games of a fixed list of seeds, with statistics for each blind."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.env.reward import blinds_beaten
from ante.files import plain
from ante.plugins import BadPlugin

BATCH = 128  # games played in parallel
BLIND_NAMES = ("Small", "Big", "Boss")
MOST_ANTES = 40  # counted
Z_95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


class Player(Protocol):
    """A player: a baseline or a trained policy."""

    name: str
    discrete: bool
    """Whether `choose` returns discrete actions, else macro decisions."""
    reorder: str
    """The reordering that the player uses: none, jokers or all."""

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return one action for each game (n,) int64, -1 for games that are not in play."""


@dataclass(frozen=True)
class Share:
    """A fraction of trials with its 95 % Wilson interval."""

    hits: int
    trials: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class BlindRate:
    """How often one blind was beaten when it was played."""

    ante: int
    blind: str
    cleared: Share
    skipped: int


@dataclass(frozen=True)
class GameRecord:
    """The result of one game."""

    seed: str
    outcome: str
    ante: int
    blinds: int
    decisions: int
    reward: float
    actions: tuple[int, ...] = field(repr=False)
    """The player's actions, which replay the game from its seed."""


@dataclass(frozen=True)
class Report:
    """The result of `evaluate`.

    mean_ante    mean ante reached, with the half-width of its 95 % interval
    mean_blinds  mean number of blinds beaten
    """

    player: str
    deck: str
    stake: int
    games: int
    wins: Share
    mean_ante: float
    mean_ante_half_width: float
    mean_blinds: float
    mean_blinds_half_width: float
    mean_decisions: float
    mean_reward: float
    truncated: int
    blinds: tuple[BlindRate, ...]
    records: tuple[GameRecord, ...]

    def to_json(self) -> str:
        """Return the report with all its fields."""
        return json.dumps(plain(asdict(self)), indent=1)


def wilson(hits: int, trials: int) -> Share:
    """Return a fraction and its 95 % interval, 0 to 1 without trials."""
    if trials == 0:
        return Share(0, 0, math.nan, 0.0, 1.0)
    rate, z2 = hits / trials, Z_95**2
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z_95 * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Share(hits, trials, rate, low if hits else 0.0, high if hits < trials else 1.0)


def half_width(values: NDArray[Any]) -> float:
    """Return half the width of the 95 % interval of a mean."""
    return float(Z_95 * values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def paired_difference(one: Report, other: Report) -> tuple[float, float]:
    """Return how many more blinds the first player beats in the same games: the mean and its 95 % half-width."""
    assert [each.seed for each in one.records] == [each.seed for each in other.records], "the games differ"
    more = np.array([float(a.blinds - b.blinds) for a, b in zip(one.records, other.records, strict=True)])
    return float(more.mean()), half_width(more)


class Tally:
    """Counts which blinds were played, skipped and beaten, from phases before and after each step."""

    def __init__(self) -> None:
        self.played = np.zeros((MOST_ANTES, 3), dtype=np.int64)
        self.cleared = np.zeros((MOST_ANTES, 3), dtype=np.int64)
        self.skipped = np.zeros((MOST_ANTES, 3), dtype=np.int64)

    def look(self, states: np.recarray) -> tuple[NDArray[Any], ...]:
        """Return the data of the games before their step for `count`."""
        return tuple(states[name].copy() for name in ("phase", "ante", "blind_on_deck", "blinds_skipped"))

    def count(self, before: tuple[NDArray[Any], ...], states: np.recarray) -> None:
        """Add the results of one step."""
        phase, ante, blind, skips = before
        at = (np.clip(ante, 0, len(self.played) - 1), np.clip(blind, 0, 2))
        began = (phase == Phase.BLIND_SELECT) & (states["phase"] != Phase.BLIND_SELECT)
        began &= states["blinds_skipped"] == skips
        began &= states["phase"] != Phase.PACK
        beaten = (phase == Phase.PLAY) & (states["phase"] == Phase.ROUND_END)
        for table, where in (
            (self.played, began),
            (self.cleared, beaten),
            (self.skipped, states["blinds_skipped"] > skips),
        ):
            np.add.at(table, (at[0][where], at[1][where]), 1)

    def rates(self) -> tuple[BlindRate, ...]:
        """Return one row for each blind that was played or skipped."""
        rows = []
        for ante, blind in np.argwhere(self.played + self.skipped > 0):
            cleared = wilson(int(self.cleared[ante, blind]), int(self.played[ante, blind]))
            rows.append(BlindRate(int(ante), BLIND_NAMES[blind], cleared, int(self.skipped[ante, blind])))
        return tuple(rows)


def evaluate(
    player: Player,
    seeds: Sequence[str],
    deck: str = "b_red",
    stake: int = 1,
    reward: str = "shaped",
    reorder: str | None = None,
    max_decisions: int = 5000,
    advance: Callable[[int], None] = lambda _: None,
    challenge: str | None = None,
    locked: str | Sequence[str] = (),
) -> Report:
    """Play one game of each seed and return the statistics.

    reorder  allowed reordering; by default that of the player
    challenge, locked   as in `engine.run.new_run`
    advance  called with the number of games that ended since the last call

    Raises BadPlugin, BadValue for a player whose actions are illegal or not numbers.
    """
    tally, records = Tally(), []
    for first in range(0, len(seeds), BATCH):
        batch = list(seeds[first : first + BATCH])
        games = Games(
            len(batch),
            deck,
            stake,
            reward=reward,
            reorder=reorder or player.reorder,
            max_decisions=max_decisions,
            challenge=challenge,
            locked=locked,
            discrete=player.discrete,
        )
        games.reset(options={"seed": batch})
        records += play_batch(player, games, tally, advance)
    antes = np.array([record.ante for record in records], dtype=float)
    blinds = np.array([record.blinds for record in records], dtype=float)
    return Report(
        player=player.name,
        deck=challenge or deck,
        stake=stake,
        games=len(records),
        wins=wilson(sum(record.outcome == "won" for record in records), len(records)),
        mean_ante=float(antes.mean()),
        mean_ante_half_width=half_width(antes),
        mean_blinds=float(blinds.mean()),
        mean_blinds_half_width=half_width(blinds),
        mean_decisions=float(np.mean([record.decisions for record in records])),
        mean_reward=float(np.mean([record.reward for record in records])),
        truncated=sum(record.outcome == "truncated" for record in records),
        blinds=tally.rates(),
        records=tuple(records),
    )


def play_batch(player: Player, games: Games, tally: Tally, advance: Callable[[int], None]) -> list[GameRecord]:
    """Play all games to their end. Games that ended receive action -1, which changes nothing."""
    n = games.n
    playing = np.ones(n, dtype=np.bool_)
    rewards = np.zeros(n)
    records: list[GameRecord | None] = [None] * n
    taken: list[list[int]] = [[] for _ in range(n)]
    while playing.any():
        before = tally.look(games.states)
        actions = player.choose(games, playing)
        check_legal(player, games, actions, playing)
        games.step(actions)
        tally.count(before, games.states)
        rewards += np.where(playing, games.rewards, 0.0)
        for i in np.flatnonzero(playing):
            taken[i].append(int(actions[i]))
        ended = playing & (games.outcome != Outcome.PLAYING)
        for i in np.flatnonzero(ended):
            records[i] = record_of(games, int(i), float(rewards[i]), tuple(taken[i]))
        playing &= ~ended
        if ended.any():
            advance(int(ended.sum()))
    return [record for record in records if record is not None]


def check_legal(player: Player, games: Games, actions: NDArray[np.int64], playing: NDArray[np.bool_]) -> None:
    """Raise BadPlugin for an action that is illegal, which would change nothing. Raises BadValue."""
    i = games.refused(actions, ~playing)
    if i >= 0:
        raise BadPlugin(
            f"player {player.name} chose {actions[i]}, which is illegal, in the game of seed {games.seeds[i]}"
        )


def record_of(games: Games, i: int, reward: float, actions: tuple[int, ...]) -> GameRecord:
    """Return the record of game i, which has just ended."""
    s, outcome = games.states[i], Outcome(int(games.outcome[i]))
    # A run is won in the step that increases the ante; the ante reached is the previous one.
    ante = int(s.ante) - (outcome == Outcome.WON)
    return GameRecord(
        str(games.seeds[i]), outcome.name.lower(), ante, int(blinds_beaten(s)), int(games.steps[i]), reward, actions
    )
