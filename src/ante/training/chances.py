"""Chances of decisions among those that are legal, in torch: their logarithms, entropies, draws."""

import torch
from torch.nn import functional

OFF = -1e9  # logit of what is illegal: finite, so that entropies stay finite
SMALLEST = 1e-30  # of random numbers whose logarithm is taken


def log_softmax(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Log-probabilities over the last axis in float32: those of what is illegal are about OFF."""
    return functional.log_softmax(logits.float().masked_fill(~legal, OFF), dim=-1)


def entropy(logs: torch.Tensor) -> torch.Tensor:
    """Entropy over the last axis."""
    return -(logs.exp() * logs).sum(-1)


def drawn(logits: torch.Tensor, rng: torch.Generator | None) -> torch.Tensor:
    """A column of each row (m,) int64, drawn from the softmax of logits (m, k): the largest with Gumbel noise."""
    uniforms = torch.rand(logits.shape, generator=rng, device=logits.device).clamp_(min=SMALLEST)
    return (logits - uniforms.log_().neg_().log_()).argmax(dim=1)
