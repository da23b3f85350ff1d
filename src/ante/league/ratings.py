"""Ratings from games on the same seeds: Bradley-Terry Elo, paired differences, and intervals by bootstrap over seeds.

A seed is a match between any two players: who came further won it, equals share it. Players' games on one seed belong
together (a kind shop helps both), so a bootstrap draws whole seeds, with all players' games on them. Ratings are fitted
to all matches at once; one after the other they do not settle.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ELO = 400.0 / np.log(10.0)  # Elo points of one unit of log odds
CENTRE = 1500.0
PRIOR = 0.5  # matches won and lost by each pair before any is played: keeps the rating of one who never wins finite
ROUNDS = 50  # of Newton; a handful is enough
SAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval, of 95 % where nothing else is said."""

    value: float
    low: float
    high: float


def matches(reach: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each seed, what each player won of its match with each other one: (players, seeds) -> (seeds, players, players).

    1 a win, 0 a loss, 0.5 a tie; 0 with itself.
    """
    mine, theirs = reach.T[:, :, None], reach.T[:, None, :]
    found = (mine > theirs) + 0.5 * (mine == theirs)
    found[:, np.arange(len(reach)), np.arange(len(reach))] = 0.0
    return found


def bradley_terry(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Elo of each player from matches won: (..., players, players) -> (..., players), with mean CENTRE.

    wins[i, j] is what i won against j. The most likely strengths r, where i beats j with chance 1 / (1 + exp(r_j - r_i)),
    by Newton's method; PRIOR matches each way are added to every pair.
    """
    players = wins.shape[-1]
    known = wins + PRIOR * (1.0 - np.eye(players))
    total = known + np.swapaxes(known, -1, -2)
    won = known.sum(axis=-1)
    strength = np.zeros(wins.shape[:-1])
    for _ in range(ROUNDS):
        chance = 1.0 / (1.0 + np.exp(strength[..., None, :] - strength[..., :, None]))
        slope = won - (total * chance).sum(axis=-1)
        bend = total * chance * (1.0 - chance)
        matrix = -bend
        diagonal = np.arange(players)
        matrix[..., diagonal, diagonal] += bend.sum(axis=-1)
        matrix += 1.0 / players  # strengths are relative: their mean stays 0
        move = np.linalg.solve(matrix, slope[..., None])[..., 0]
        strength += np.clip(move, -2.0, 2.0)
        if np.abs(move).max(initial=0.0) < 1e-9:
            break
    return CENTRE + ELO * (strength - strength.mean(axis=-1, keepdims=True))


def weights(seeds: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each seed is drawn in each bootstrap sample, (samples, seeds)."""
    return rng.multinomial(seeds, np.full(seeds, 1.0 / seeds), size=samples).astype(np.float64)


def interval(value: float, samples: NDArray[np.float64], level: float = LEVEL) -> Interval:
    """An estimate with the middle of its bootstrap samples, 95 % of them."""
    low, high = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(value), float(low), float(high))


def elos(reach: NDArray[np.int64], samples: int = SAMPLES, seed: int = 0) -> list[Interval]:
    """Elo of each player with its interval: reach (players, seeds)."""
    found = matches(reach)
    players = len(reach)
    drawn = weights(reach.shape[1], samples, np.random.default_rng(seed))
    counted = (drawn @ found.reshape(len(found), -1)).reshape(samples, players, players)
    every = bradley_terry(counted)
    now = bradley_terry(found.sum(axis=0))
    return [interval(now[i], every[:, i]) for i in range(players)]


def mean(values: NDArray[np.float64], level: float = LEVEL, samples: int = SAMPLES, seed: int = 0) -> Interval:
    """The mean of a player's games, or of paired differences, with its interval: values (seeds,)."""
    drawn = weights(len(values), samples, np.random.default_rng(seed))
    return interval(values.mean(), drawn @ values / len(values), level)


def paired(one: NDArray[np.int64], other: NDArray[np.int64], level: float = LEVEL) -> Interval:
    """How much more the first has than the second on the same seeds, mean and interval: (seeds,) each."""
    return mean((one - other).astype(np.float64), level)
