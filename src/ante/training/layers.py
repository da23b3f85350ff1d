"""How the layers of policies begin.

PyTorch's own start lets what passes through fade, the more so where few of many inputs are filled, and a policy then learns
little from its first hundred thousand steps (docs/decisions/0023-first-weights.md).
"""

from typing import TypeVar

from torch import nn

Layer = TypeVar("Layer", bound=nn.Module)
KEEPING = 2**0.5  # of an orthogonal matrix before SiLU or ReLU, which let half through
HARDLY = 0.01  # of the last layer of decisions: all are as likely as any other at first


def clear(layer: Layer, gain: float = KEEPING) -> Layer:
    """The layer, which has a weight and a bias, with weights that neither fade nor blow up what passes through."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def shared_layers(size: int, widths: tuple[int, ...] | list[int]) -> list[nn.Module]:
    """Linear layers of these widths on `size` inputs, SiLU after each."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [clear(nn.Linear(size, width)), nn.SiLU()]
        size = width
    return layers


def heads(size: int, actions: int) -> tuple[nn.Linear, nn.Linear]:
    """The last layers, of `size` inputs each: logits of all actions, and the value."""
    return clear(nn.Linear(size, actions), HARDLY), clear(nn.Linear(size, 1), 1.0)
