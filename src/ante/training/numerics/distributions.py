"""Masked categorical distributions in torch: log-probabilities, entropies, samples."""

import torch
from torch.nn import functional

OFF = -1e9  # logit of illegal actions: finite, so that entropies stay finite
SMALLEST = 1e-30  # lower bound of random numbers before taking the logarithm


def log_softmax(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Return masked log-probabilities over the last axis in float32; those of illegal actions are about OFF."""
    return functional.log_softmax(logits.float().masked_fill(~legal, OFF), dim=-1)


def entropy(logs: torch.Tensor) -> torch.Tensor:
    """Return the entropy over the last axis."""
    return -(logs.exp() * logs).sum(-1)


def sample_logits(logits: torch.Tensor, rng: torch.Generator | None) -> torch.Tensor:
    """Sample one column per row (m,) int64 from the softmax of logits (m, k), by the Gumbel-max trick."""
    uniforms = torch.rand(logits.shape, generator=rng, device=logits.device).clamp_(min=SMALLEST)
    return (logits - uniforms.log_().neg_().log_()).argmax(dim=1)
