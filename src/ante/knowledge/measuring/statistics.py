"""Means with intervals over strata, intervals of shares, p-values, and control of the false discovery rate."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


def stratified_mean(
    sums: NDArray[np.float64], squares: NDArray[np.float64], n: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of the strata's means and its standard error.

    Args:
        sums: (strata, ...) sums of the values.
        squares: (strata, ...) sums of their squares.
        n: (strata,) or (strata, ...) numbers of values; a stratum with fewer than two makes the result NaN.
    """
    n = n.reshape(n.shape + (1,) * (sums.ndim - n.ndim)).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / n
        variances = np.maximum(0.0, squares - sums * means) / (n - 1.0) / n
        variances = np.where(n < 2, np.nan, variances)
    return means.mean(axis=0), np.sqrt(variances.sum(axis=0)) / len(n)


def wilson(hits: NDArray[Any], trials: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 95 % Wilson intervals of shares, low and high, (n,) each; of one share: `agents.evaluate.wilson`."""
    rate, z2 = hits / trials, Z_95**2
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z_95 * np.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


def p_values(mean: NDArray[Any], error: NDArray[Any]) -> NDArray[np.float64]:
    """Return two-sided p-values of means by the normal approximation; 1 for a mean of 0."""
    from scipy.special import erfc

    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(mean == 0.0, 0.0, np.abs(mean) / error)
    return np.asarray(erfc(z / np.sqrt(2.0)))


def q_values(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest false discovery rate at which each hypothesis is rejected (Benjamini and Hochberg), (n,)."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh"))


def rounded(value: float) -> float:
    """Return a number with the four digits of the tables; -0 as 0."""
    return float(f"{float(value):.4g}") + 0.0
