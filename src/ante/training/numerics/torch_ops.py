"""The row kernels in torch, for CUDA devices, and the PPO loss of policies without a compiled one."""

import math
from functools import cache

import torch

from ante.engine.actions import N_DISCRETE
from ante.env.layout import FLAT_SIZE
from ante.training.numerics.distributions import log_softmax
from ante.training.numerics.packed_rows import AT_BITS, AT_COUNTS, AT_MASK, BITS, COUNTS, MASK_BYTES, NUMBERS, ROW_BYTES
from ante.training.numerics.row_kernels import COUNTS_PER_ONE, NUMBERS_PER_ONE


@cache
def columns_on(device: torch.device) -> tuple[torch.Tensor, ...]:
    """Return the number, count and bit columns of the flat view as indices on a device, cached."""
    with torch.inference_mode(False):
        return tuple(torch.from_numpy(columns).to(device) for columns in (NUMBERS, COUNTS, BITS))


def bits_of(octets: torch.Tensor, n: int) -> torch.Tensor:
    """Unpack the first n bits of each row, lowest first: (m, bytes) uint8 -> (m, n) bool."""
    shifts = torch.arange(8, device=octets.device, dtype=torch.uint8)
    return ((octets.unsqueeze(-1) >> shifts) & 1).flatten(1)[:, :n].bool()


def octets_of_bits(bits: torch.Tensor) -> torch.Tensor:
    """Pack bits of each row to bytes, lowest first: (m, n) bool -> (m, ceil(n / 8)) uint8."""
    whole = torch.nn.functional.pad(bits.byte(), (0, -bits.shape[1] % 8)).unflatten(1, (-1, 8))
    weights = 2 ** torch.arange(8, device=bits.device, dtype=torch.uint8)
    return (whole * weights).sum(dim=2, dtype=torch.uint8)


def pack_octets(flat: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Pack observations to rows, as `row_kernels.pack_rows`.

    flat (m, FLAT_SIZE) float32, masks (m, N_DISCRETE) int8, on any device -> (m, ROW_BYTES) uint8 on that device
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
    """Unpack observations from packed rows: (m, ROW_BYTES) uint8 on any device -> (m, FLAT_SIZE)."""
    numbers, counts, bits = columns_on(octets.device)
    out = torch.zeros((len(octets), FLAT_SIZE), dtype=dtype, device=octets.device)
    out[:, numbers] = (octets[:, :AT_COUNTS].contiguous().view(torch.int16).float() / NUMBERS_PER_ONE).to(dtype)
    out[:, counts] = (octets[:, AT_COUNTS:AT_BITS].float() / COUNTS_PER_ONE).to(dtype)
    out[:, bits] = bits_of(octets[:, AT_BITS:AT_MASK], len(BITS)).to(dtype)
    return out


def legal_of(octets: torch.Tensor) -> torch.Tensor:
    """Unpack masks from packed rows: (m, ROW_BYTES) uint8 -> (m, N_DISCRETE) bool."""
    return bits_of(octets[:, AT_MASK : AT_MASK + MASK_BYTES], N_DISCRETE)


def sample(logits: torch.Tensor, legal: torch.Tensor, uniforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sample one legal action per row and return its log-probability, as `row_kernels.sample_masked`.

    logits (m, actions), legal (m, actions) bool, uniforms (m,) -> (m,) int64, (m,) float32
    """
    log_probs = log_softmax(logits, legal)
    reached = log_probs.exp().double().masked_fill(~legal, 0.0).cumsum(dim=1)
    actions = (reached <= (uniforms.double() * reached[:, -1]).unsqueeze(1)).sum(dim=1)
    last = legal.shape[1] - 1 - legal.flip(1).int().argmax(dim=1)  # guards against rounding past the last legal action
    actions = torch.minimum(actions, last)
    return actions, log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)


def masked_stats(logits: torch.Tensor, legal: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log-probabilities of actions and entropies, (m,) each, with gradient."""
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
    value_error_limit: float = math.inf,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the clipped PPO loss, with gradient, and its means: as `row_kernels.ppo_loss`, for any policy.

    now         log-probabilities, entropies and values of the current policy, (m,) each
    log_probs   (m,) under the old policy; advantages (m,); targets (m,) of the value
    value_error_limit  largest squared value error; larger errors are clamped and receive no gradient

    Returns the loss () and (LOSS_MEANS,): policy loss, value loss, entropy, KL to the old policy, share of rows clipped,
    |ratio - 1|.
    """
    new, entropies, values = (each.float() for each in now)
    log_ratios = new - log_probs
    ratios = log_ratios.exp()
    gains = torch.minimum(advantages * ratios, advantages * ratios.clamp(1.0 - clip, 1.0 + clip))
    value_loss = (values - targets).square().clamp(max=value_error_limit).mean()
    policy_loss, entropy = -gains.mean(), entropies.mean()
    loss = policy_loss + value_weight * value_loss - entropy_weight * entropy
    moved = (ratios - 1.0 - log_ratios).mean()
    distances = (ratios - 1.0).abs()
    clipped = (distances > clip).float().mean()
    sums = torch.stack([policy_loss, value_loss, entropy, moved, clipped, distances.mean()]).detach()
    return loss, sums
