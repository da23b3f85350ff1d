"""The row kernels in torch: what a CUDA device does, and what tests hold the compiled ones against."""

import math
from functools import cache

import numpy as np
import torch

from ante.engine.actions import N_DISCRETE
from ante.env.layout import FLAT_SIZE
from ante.training.chances import log_softmax
from ante.training.kernels import COUNTS_PER_ONE, NUMBERS_PER_ONE
from ante.training.rows import AT_BITS, AT_COUNTS, AT_MASK, BITS, COUNTS, MASK_BYTES, NUMBERS, ROW_BYTES


@cache
def columns_on(device: torch.device) -> tuple[torch.Tensor, ...]:
    """The columns of the flat view that are numbers, counts and bits, as indices on a device, copied there once."""
    with torch.inference_mode(False):
        return tuple(torch.from_numpy(columns).to(device) for columns in (NUMBERS, COUNTS, BITS))


def bits_of(octets: torch.Tensor, n: int) -> torch.Tensor:
    """The first n bits of each row, lowest first: (m, bytes) uint8 -> (m, n) bool."""
    shifts = torch.arange(8, device=octets.device, dtype=torch.uint8)
    return ((octets.unsqueeze(-1) >> shifts) & 1).flatten(1)[:, :n].bool()


def octets_of_bits(bits: torch.Tensor) -> torch.Tensor:
    """Bits of each row as bytes, lowest first: (m, n) bool -> (m, ceil(n / 8)) uint8."""
    whole = torch.nn.functional.pad(bits.byte(), (0, -bits.shape[1] % 8)).unflatten(1, (-1, 8))
    weights = 2 ** torch.arange(8, device=bits.device, dtype=torch.uint8)
    return (whole * weights).sum(dim=2, dtype=torch.uint8)


def pack_octets(flat: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Packed rows of observations, the twin of `kernels.pack_rows`.

    flat (m, FLAT_SIZE) float32, masks (m, N_DISCRETE) int8, on any device -> (m, ROW_BYTES) uint8 there
    """
    numbers, counts, bits = columns_on(flat.device)
    out = torch.zeros((len(flat), ROW_BYTES), dtype=torch.uint8, device=flat.device)
    scaled = (flat[:, numbers] * NUMBERS_PER_ONE).round().clamp(-32768.0, 32767.0)
    out[:, :AT_COUNTS] = scaled.to(torch.int16).view(torch.uint8)
    out[:, AT_COUNTS:AT_BITS] = (flat[:, counts] * COUNTS_PER_ONE).to(torch.uint8)
    out[:, AT_BITS:AT_MASK] = octets_of_bits(flat[:, bits] != 0)
    out[:, AT_MASK : AT_MASK + MASK_BYTES] = octets_of_bits(masks != 0)
    return out


def unpack_octets(octets: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Observations of packed rows: (m, ROW_BYTES) uint8 on any device -> (m, FLAT_SIZE)."""
    numbers, counts, bits = columns_on(octets.device)
    out = torch.zeros((len(octets), FLAT_SIZE), dtype=dtype, device=octets.device)
    out[:, numbers] = (octets[:, :AT_COUNTS].contiguous().view(torch.int16).float() / NUMBERS_PER_ONE).to(dtype)
    out[:, counts] = (octets[:, AT_COUNTS:AT_BITS].float() / COUNTS_PER_ONE).to(dtype)
    out[:, bits] = bits_of(octets[:, AT_BITS:AT_MASK], len(BITS)).to(dtype)
    return out


def legal_of(octets: torch.Tensor) -> torch.Tensor:
    """Masks of packed rows: (m, ROW_BYTES) uint8 -> (m, N_DISCRETE) bool."""
    return bits_of(octets[:, AT_MASK : AT_MASK + MASK_BYTES], N_DISCRETE)


def sample(logits: torch.Tensor, legal: torch.Tensor, uniforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One legal action a row, and its log-probability: the twin of `kernels.sample_masked`.

    logits (m, actions), legal (m, actions) bool, uniforms (m,) -> (m,) int64, (m,) float32
    """
    log_probs = log_softmax(logits, legal)
    reached = log_probs.exp().double().masked_fill(~legal, 0.0).cumsum(dim=1)
    actions = (reached <= (uniforms.double() * reached[:, -1]).unsqueeze(1)).sum(dim=1)
    last = legal.shape[1] - 1 - legal.flip(1).int().argmax(dim=1)  # rounding must not leave the legal ones
    actions = torch.minimum(actions, last)
    return actions, log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)


def masked_stats(logits: torch.Tensor, legal: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities of actions and entropies, (m,) each, with gradient."""
    log_probs = log_softmax(logits, legal)
    entropies = -(log_probs.exp() * log_probs).masked_fill(~legal, 0.0).sum(dim=1)
    return log_probs.gather(1, actions.unsqueeze(1)).squeeze(1), entropies


def ppo(
    now: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    log_probs: torch.Tensor,
    advantages: torch.Tensor,
    targets: torch.Tensor,
    clip: float,
    value_weight: float,
    entropy_weight: float,
    value_clip: float = math.inf,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The clipped PPO loss, with gradient, and its means: the twin of `kernels.ppo_loss`, for any policy.

    now         log-probabilities, entropies and values of the policy as it is, (m,) each
    log_probs   (m,) of the policy that acted; advantages (m,); targets (m,) of the value
    value_clip  largest squared error of a value, larger ones count as this much and pull no more

    Answers the loss () and (5,): policy loss, value loss, entropy, KL to the old policy, share of rows clipped.
    """
    new, entropies, values = (each.float() for each in now)
    log_ratios = new - log_probs
    ratios = log_ratios.exp()
    gains = torch.minimum(advantages * ratios, advantages * ratios.clamp(1.0 - clip, 1.0 + clip))
    value_loss = (values - targets).square().clamp(max=value_clip).mean()
    policy_loss, entropy = -gains.mean(), entropies.mean()
    loss = policy_loss + value_weight * value_loss - entropy_weight * entropy
    moved = (ratios - 1.0 - log_ratios).mean()
    clipped = ((ratios - 1.0).abs() > clip).float().mean()
    sums = torch.stack([policy_loss, value_loss, entropy, moved, clipped]).detach()
    return loss, sums


def gae_slowly(
    rewards: np.ndarray, values: np.ndarray, after: np.ndarray, cut: np.ndarray, discount: float, decay: float
) -> tuple[np.ndarray, np.ndarray]:
    """Advantages and value targets by the definition, a sum for every step: the twin of `kernels.gae`."""
    steps, games = rewards.shape
    advantages = np.zeros((steps, games))
    for i in range(games):
        for t in range(steps):
            weight = 1.0
            for later in range(t, steps):
                surprise = float(rewards[later, i]) + discount * float(after[later, i]) - float(values[later, i])
                advantages[t, i] += weight * surprise
                weight *= discount * decay
                if cut[later, i]:
                    break
    return advantages, advantages + values


def vtrace(
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
    """Advantages and targets, (t, n) on any device: the twin of `estimates.vtrace`."""
    surprises = rewards + discount * after - values
    weights = discount * decay * ratios.clamp(max=c_top)
    advantages, gains = torch.empty_like(values), torch.empty_like(values)
    later = torch.zeros_like(values[0])
    for t in range(len(rewards) - 1, -1, -1):
        later = torch.where(cut[t], 0.0, later)
        advantages[t] = surprises[t] + discount * decay * later
        gains[t] = later = ratios[t].clamp(max=rho_top) * surprises[t] + weights[t] * later
    return advantages, values + gains


def nstep(rewards: torch.Tensor, after: torch.Tensor, cut: torch.Tensor, length: int, discount: float) -> torch.Tensor:
    """Returns (t, n) on any device: the twin of `estimates.nstep`, its parts put together. A pass over the fragment for every step of `length`."""
    returns = rewards + discount * after
    for _ in range(1, length):
        longer = rewards[:-1] + discount * returns[1:]
        returns = torch.cat([torch.where(cut[:-1], returns[:-1], longer), returns[-1:]])
    return returns


def vtrace_slowly(
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
    """Advantages and targets by the definition, a sum of weighed surprises for every step."""
    steps, games = rewards.shape
    advantages, targets = np.zeros((steps, games)), np.zeros((steps, games))

    def gain(t: int, i: int) -> float:
        total, weight = 0.0, 1.0
        for later in range(t, steps):
            surprise = float(rewards[later, i]) + discount * float(after[later, i]) - float(values[later, i])
            total += weight * min(rho_top, float(ratios[later, i])) * surprise
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
