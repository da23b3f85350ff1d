"""Advantage and value-target estimators other than `row_kernels.gae`: compiled V-trace and n-step returns.

Reference implementations for tests are in tests/support/estimates.py.
"""

import numpy as np
from numpy.typing import NDArray

from ante.training.numerics.row_kernels import kernel


@kernel
def vtrace(rewards, values, after, cut, ratios, discount, decay, rho_top, c_top, advantages, targets):
    """V-trace (Espeholt et al. 2018): value targets of the current policy from steps of an older policy.

    rewards     (t, n) float32
    values      (t, n) float32, of the observation before each step, under current weights
    after       (t, n) float32, of the next observation: 0 at terminal steps
    cut         (t, n) bool: the next row belongs to another trajectory
    ratios      (t, n) float32, importance ratios: action probability now over that of the behaviour policy
    discount    gamma; decay  lambda, as in GAE
    rho_top     clipping threshold rho-bar of TD errors; c_top  clipping threshold c-bar of traces
    advantages  (t, n) float32, overwritten: reward plus discounted next target minus value, without the step's own
                importance ratio, which the loss applies
    targets     (t, n) float32, value targets, overwritten

    On-policy, with both thresholds 1, this equals GAE; with lambda 1 also n-step returns.
    """
    steps, games = rewards.shape
    for t in range(steps - 1, -1, -1):
        for i in range(games):
            later = 0.0  # difference between target and value of the next row
            if t + 1 < steps and not cut[t, i]:
                later = targets[t + 1, i] - values[t + 1, i]
            ratio = ratios[t, i]
            surprise = rewards[t, i] + discount * after[t, i] - values[t, i]
            gain = min(rho_top, ratio) * surprise + discount * decay * min(c_top, ratio) * later
            targets[t, i] = values[t, i] + gain
            advantages[t, i] = surprise + discount * decay * later


@kernel
def nstep(rewards, cut, length, discount, sums, weights, lasts):
    """n-step returns, given a bootstrap value that is known later: sums + weights * after[lasts].

    rewards   (t, n) float32; cut (t, n) bool as in `vtrace`: returns do not cross game boundaries
    length    number of steps, at least 1; fewer at the end of the fragment
    sums      (t, n) float32, overwritten: discounted rewards of up to `length` steps
    weights   (t, n) float32, overwritten: discount factor of the bootstrap value
    lasts     (t, n) int64, overwritten: index of the last of these steps
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
    """Return the value of the observation after each step, (t, n).

    values    (t, n) float32, of the observation before each step
    extra     (n + m,) float32, values after the last step, then of the final observations of m truncated games
    places    (m,) int64, flat indices t n + i of the steps that truncated them
    terminal  (t, n) bool: won or lost with this step, value 0 afterwards
    """
    games = values.shape[1]
    after = np.empty_like(values)
    after[:-1] = values[1:]
    after[-1] = extra[:games]
    after.reshape(-1)[places] = extra[games:]
    after[terminal] = 0.0
    return after
