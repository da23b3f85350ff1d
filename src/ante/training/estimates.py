"""Advantages and value targets by other ways than `kernels.gae`: V-trace and n-step returns, compiled, on (steps, games).

Their slow and their torch twins stand in `twins.py`.
"""

import numpy as np
from numpy.typing import NDArray

from ante.training.kernels import kernel


@kernel
def vtrace(rewards, values, after, cut, ratios, discount, decay, rho_top, c_top, advantages, targets):
    """V-trace (Espeholt et al. 2018): what the present policy is worth, from steps of an older one.

    rewards     (t, n) float32
    values      (t, n) float32, of the observation before each step, as valued now
    after       (t, n) float32, of the one after it: 0 where the game ended for good
    cut         (t, n) bool: the next row does not go on from this one
    ratios      (t, n) float32, chance of each action now by its chance when it was taken
    discount    gamma; decay  lambda, as in generalised advantage estimation
    rho_top     largest weight of a surprise; c_top  largest weight with which later ones count
    advantages  (t, n) float32, overwritten: reward and what follows less the value, without the step's own ratio, which
                the loss brings in
    targets     (t, n) float32 of the value, overwritten

    On-policy, with both tops 1, this is generalised advantage estimation; with lambda 1 besides, n-step returns.
    """
    steps, games = rewards.shape
    for t in range(steps - 1, -1, -1):
        for i in range(games):
            later = 0.0  # by how much the target of the next row differs from its value
            if t + 1 < steps and not cut[t, i]:
                later = targets[t + 1, i] - values[t + 1, i]
            ratio = ratios[t, i]
            surprise = rewards[t, i] + discount * after[t, i] - values[t, i]
            gain = min(rho_top, ratio) * surprise + discount * decay * min(c_top, ratio) * later
            targets[t, i] = values[t, i] + gain
            advantages[t, i] = surprise + discount * decay * later


@kernel
def nstep(rewards, cut, length, discount, sums, weights, lasts):
    """n-step returns in parts, for a value of what follows that is only known later: sums + weights * after[lasts].

    rewards   (t, n) float32; cut (t, n) bool as in `vtrace`: a return ends with its game
    length    steps, at least 1; fewer at the end of the fragment
    sums      (t, n) float32, overwritten: rewards of up to `length` steps, discounted
    weights   (t, n) float32, overwritten: what the value after the last of them is multiplied by
    lasts     (t, n) int64, overwritten: the last of these steps
    """
    steps, games = rewards.shape
    for t in range(steps):
        for i in range(games):
            total, weight, at = 0.0, 1.0, t
            while True:
                total += weight * rewards[at, i]
                weight *= discount
                if cut[at, i] or at + 1 == steps or at + 1 == t + length:
                    break
                at += 1
            sums[t, i], weights[t, i], lasts[t, i] = total, weight, at


def values_after(
    values: NDArray[np.float32],
    extra: NDArray[np.float32],
    places: NDArray[np.int64],
    terminal: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """The value of what each step led to, (t, n).

    values    (t, n) float32, of the observation before each step
    extra     (n + m,) float32, of what the last step led to, then of the last sight of m games that were cut off
    places    (m,) int64, the steps that cut them off, t n + i
    terminal  (t, n) bool: won or lost with this step, which leads to nothing
    """
    games = values.shape[1]
    after = np.empty_like(values)
    after[:-1] = values[1:]
    after[-1] = extra[:games]
    after.reshape(-1)[places] = extra[games:]
    after[terminal] = 0.0
    return after
