"""Ratings from games on the same seeds: Bradley-Terry Elo, paired differences, and bootstrap intervals over seeds.

On each seed any two players play a match: the one that progresses further wins, equal progress is a tie. Games on one
seed are correlated, so the bootstrap samples whole seeds with the games of all players. Ratings are fitted to all
matches jointly, not updated sequentially.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ELO = 400.0 / np.log(10.0)  # Elo points per unit of log odds
CENTRE = 1500.0
PRIOR = 0.5  # virtual wins and losses of each pair, which keep all ratings finite
ROUNDS = 50  # Newton iterations; a few suffice
SAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval, 95 % by default."""

    value: float
    low: float
    high: float


def matches(reach: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each match's result per seed: (players, seeds) -> (seeds, players, players).

    1 for a win, 0 for a loss, 0.5 for a tie; 0 on the diagonal.
    """
    mine, theirs = reach.T[:, :, None], reach.T[:, None, :]
    found = (mine > theirs) + 0.5 * (mine == theirs)
    found[:, np.arange(len(reach)), np.arange(len(reach))] = 0.0
    return found


def bradley_terry(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Elo of each player from match results: (..., players, players) -> (..., players), with mean CENTRE.

    wins[i, j] is the number of matches that i won against j. Newton's method maximises the likelihood of strengths r,
    where i beats j with probability 1 / (1 + exp(r_j - r_i)); each pair gets PRIOR additional wins each way.
    """
    players = wins.shape[-1]
    known = wins + PRIOR * (1.0 - np.eye(players))
    total = known + np.swapaxes(known, -1, -2)
    won = known.sum(axis=-1)
    strength = np.zeros(wins.shape[:-1])
    for _ in range(ROUNDS):
        chance = 1.0 / (1.0 + np.exp(strength[..., None, :] - strength[..., :, None]))
        slope = won - (total * chance).sum(axis=-1)
        curvature = total * chance * (1.0 - chance)
        matrix = -curvature
        diagonal = np.arange(players)
        matrix[..., diagonal, diagonal] += curvature.sum(axis=-1)
        matrix += 1.0 / players  # strengths are relative: fixes their mean at 0
        move = np.linalg.solve(matrix, slope[..., None])[..., 0]
        strength += np.clip(move, -2.0, 2.0)
        if np.abs(move).max(initial=0.0) < 1e-9:
            break
    return CENTRE + ELO * (strength - strength.mean(axis=-1, keepdims=True))


def weights(seeds: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each seed occurs in each bootstrap sample, (samples, seeds)."""
    return rng.multinomial(seeds, np.full(seeds, 1.0 / seeds), size=samples).astype(np.float64)


def interval(value: float, samples: NDArray[np.float64], level: float = LEVEL) -> Interval:
    """Return an estimate with its percentile bootstrap interval."""
    low, high = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(value), float(low), float(high))


def elos(reach: NDArray[np.int64], samples: int = SAMPLES, seed: int = 0) -> list[Interval]:
    """Return the Elo of each player with its interval: reach (players, seeds)."""
    return elos_of_matches(matches(reach), samples, seed)


def elos_of_matches(found: NDArray[np.float64], samples: int = SAMPLES, seed: int = 0) -> list[Interval]:
    """Return the Elo of each player with its interval from match results per seed: (seeds, players, players)."""
    seeds, players = found.shape[:2]
    drawn = weights(seeds, samples, np.random.default_rng(seed))
    counted = (drawn @ found.reshape(seeds, -1)).reshape(samples, players, players)
    every = bradley_terry(counted)
    now = bradley_terry(found.sum(axis=0))
    return [interval(now[i], every[:, i]) for i in range(players)]


def mean(values: NDArray[np.float64], level: float = LEVEL, samples: int = SAMPLES, seed: int = 0) -> Interval:
    """Return the mean of a player's games, or of paired differences, with its interval: values (seeds,).

    samples  number at LEVEL; higher levels draw more, so that as many samples lie beyond either end of the interval
    """
    rng = np.random.default_rng(seed)
    times = max(1, round((1.0 - LEVEL) / (1.0 - level)))
    sampled = [weights(len(values), samples, rng) @ values / len(values) for _ in range(times)]
    return interval(values.mean(), np.concatenate(sampled), level)


def paired(one: NDArray[np.int64], other: NDArray[np.int64], level: float = LEVEL) -> Interval:
    """Return the mean paired difference on the same seeds with its interval: (seeds,) each."""
    return mean((one - other).astype(np.float64), level)
