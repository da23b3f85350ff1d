"""Reference implementations of advantages and returns: by definition in Python, or in torch."""

import numpy as np
import torch


def gae(
    rewards: np.ndarray, values: np.ndarray, after: np.ndarray, cut: np.ndarray, discount: float, decay: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return advantages and value targets by definition, a sum for every step; reference for `row_kernels.gae`."""
    steps, games = rewards.shape
    advantages = np.zeros((steps, games))
    for i in range(games):
        for t in range(steps):
            weight = 1.0
            for later in range(t, steps):
                td_error = float(rewards[later, i]) + discount * float(after[later, i]) - float(values[later, i])
                advantages[t, i] += weight * td_error
                weight *= discount * decay
                if cut[later, i]:
                    break
    return advantages, advantages + values


def vtrace_in_torch(
    rewards: torch.Tensor,
    values: torch.Tensor,
    after: torch.Tensor,
    cut: torch.Tensor,
    ratios: torch.Tensor,
    discount: float,
    decay: float,
    rho_top: float,
    c_top: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return advantages and targets, (t, n) on any device; reference for `numerics.advantages.vtrace`."""
    td_errors = rewards + discount * after - values
    weights = discount * decay * ratios.clamp(max=c_top)
    advantages, gains = torch.empty_like(values), torch.empty_like(values)
    later = torch.zeros_like(values[0])
    for t in range(len(rewards) - 1, -1, -1):
        later = torch.where(cut[t], 0.0, later)
        advantages[t] = td_errors[t] + discount * decay * later
        gains[t] = later = ratios[t].clamp(max=rho_top) * td_errors[t] + weights[t] * later
    return advantages, values + gains


def nstep_in_torch(
    rewards: torch.Tensor, after: torch.Tensor, cut: torch.Tensor, length: int, discount: float
) -> torch.Tensor:
    """Return n-step returns (t, n) on any device, in `length` passes; reference for `numerics.advantages.nstep`."""
    returns = rewards + discount * after
    for _ in range(1, length):
        longer = rewards[:-1] + discount * returns[1:]
        returns = torch.cat([torch.where(cut[:-1], returns[:-1], longer), returns[-1:]])
    return returns


def vtrace(
    rewards: np.ndarray,
    values: np.ndarray,
    after: np.ndarray,
    cut: np.ndarray,
    ratios: np.ndarray,
    discount: float,
    decay: float,
    rho_top: float,
    c_top: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return advantages and targets by definition, a sum of weighted TD errors for every step."""
    steps, games = rewards.shape
    advantages, targets = np.zeros((steps, games)), np.zeros((steps, games))

    def gain(t: int, i: int) -> float:
        total, weight = 0.0, 1.0
        for later in range(t, steps):
            td_error = float(rewards[later, i]) + discount * float(after[later, i]) - float(values[later, i])
            total += weight * min(rho_top, float(ratios[later, i])) * td_error
            weight *= discount * decay * min(c_top, float(ratios[later, i]))
            if cut[later, i]:
                break
        return total

    for i in range(games):
        for t in range(steps):
            ends = t + 1 == steps or cut[t, i]
            follows = float(after[t, i]) + (0.0 if ends else decay * gain(t + 1, i))
            targets[t, i] = values[t, i] + gain(t, i)
            advantages[t, i] = rewards[t, i] + discount * follows - values[t, i]
    return advantages, targets
