"""Weight initialisation of the policies' layers.

PyTorch's default initialisation shrinks activations, especially for sparse inputs, and slows down the first hundred
thousand steps of training (docs/explanation/decisions/0023-first-weights.md).
"""

from typing import TypeVar

import numpy as np
import torch
from torch import nn

from ante.training.numerics.normalisation import Moments, mean_and_spread

Layer = TypeVar("Layer", bound=nn.Module)
HIDDEN_GAIN = 2**0.5  # gain of orthogonal weights before SiLU or ReLU, which halve the variance
TARGETS_KEPT = 0.95  # decay of the moments of value targets per update: an effective window of 20 batches
FORGET_BIAS = 1.0
FORGET_GATE = 1  # PyTorch orders the gates as input, forget, cell, output
POLICY_HEAD_GAIN = 0.01  # gain of the last policy layer: the initial policy is nearly uniform


def orthogonal(layer: Layer, gain: float = HIDDEN_GAIN) -> Layer:
    """Initialise the layer's weight orthogonally with this gain and its bias to zero, and return the layer."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def shared_layers(size: int, widths: tuple[int, ...] | list[int]) -> list[nn.Module]:
    """Return linear layers of these widths on `size` inputs, each followed by SiLU."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [orthogonal(nn.Linear(size, width)), nn.SiLU()]
        size = width
    return layers


def recurrent(cell: nn.LSTM) -> nn.LSTM:
    """Initialise the four gates of each layer and return the LSTM: orthogonal weights, zero biases, open forget gates.

    The weights of each gate are orthogonal with gain 1. The two bias vectors of a layer are added; one of them opens
    the forget gate at first (sigmoid of FORGET_BIAS), so that the state and its gradient last longer.
    """
    for name, parameter in cell.named_parameters():
        gates = parameter.detach().chunk(4)
        if name.startswith("weight"):
            for gate in gates:
                nn.init.orthogonal_(gate)
        else:
            nn.init.zeros_(parameter)
            if name.startswith("bias_ih"):
                nn.init.constant_(gates[FORGET_GATE], FORGET_BIAS)
    return cell


class ValueHead(nn.Linear):  # type: ignore[misc]
    """The output layer of the value, in float32 under any autocast: bf16 would round a value of 20 to 1/8.

    With value normalisation (PopArt) the layer's own outputs are standardised. The statistics are buffers, so they are
    saved, released and sent with the weights, and `forward` always returns values in units of the reward.

    Attributes:
        count: Number of value targets seen, decayed exponentially, (1,) float32; 0 without value normalisation.
        mean, spread: Their mean and standard deviation, (1,) float32; 0 and 1 without value normalisation.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size, 1)
        self.register_buffer("count", torch.zeros(1))  # float32 like the others: RLlib's states have no float64
        self.register_buffer("mean", torch.zeros(1))
        self.register_buffer("spread", torch.ones(1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the values in units of the reward, (n, 1) float32."""
        with torch.autocast(features.device.type, enabled=False):
            return super().forward(features.float()) * self.spread + self.mean

    def scaled(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weight (size,) and bias (1,) of the linear map from features to values, without gradient."""
        return self.weight.detach()[0] * self.spread, self.bias.detach() * self.spread + self.mean

    def gradients(self, features: torch.Tensor, slope: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the gradients of weight and bias for features (n, size) and the gradient of the values (n,)."""
        own = slope * self.spread
        return torch.mv(features.t(), own).unsqueeze(0), own.sum().unsqueeze(0)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def see_targets(self, seen: Moments) -> None:
        """Update the statistics with the moments of a batch of targets; the values are unchanged (PopArt)."""
        count, mean, spread = (float(each) for each in (self.count, self.mean, self.spread))
        before = np.array([count, count * mean, count * (spread * spread + mean * mean)])
        self.set_scale(TARGETS_KEPT * before + seen)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def set_scale(self, moments: Moments) -> None:
        """Set the statistics to these moments of targets, and rescale the layer so that its values are unchanged."""
        before, old = self.spread.clone(), self.mean.clone()
        self.set_moments(moments)
        self.weight.mul_(before / self.spread)
        self.bias.mul_(before).add_(old - self.mean).div_(self.spread)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def set_moments(self, moments: Moments) -> None:
        """Set the statistics only, which changes the values."""
        mean, spread = mean_and_spread(moments)
        self.count.fill_(float(moments[0]))
        self.mean.fill_(mean)
        self.spread.fill_(spread)


def heads(size: int, actions: int) -> tuple[nn.Linear, nn.Linear]:
    """Return the output layers on `size` inputs: action logits and value."""
    return orthogonal(nn.Linear(size, actions), POLICY_HEAD_GAIN), orthogonal(ValueHead(size), 1.0)
