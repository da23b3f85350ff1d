"""Policies on rendered frames: convolutions over a frame stack, alone or combined with the flat observation."""

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

from ante.engine.actions import N_DISCRETE
from ante.env.games import Games
from ante.env.layout import FLAT_SIZE
from ante.training.numerics import torch_ops
from ante.training.numerics.distributions import OFF
from ante.training.numerics.packed_rows import MASK_BYTES, flat_row_t, pack_flat
from ante.training.policies.frame_stack import FrameStacks
from ante.training.policies.layers import heads, orthogonal, shared_layers
from ante.training.policies.mlp_rows import DeviceRows, FilledRows, FirstLayer
from ante.training.policies.protocol import CategoricalPolicy, Framed

CONVOLUTIONS = ((8, 4), (4, 2), (3, 1))  # kernel and stride of each, as in Mnih et al. 2015
mask_row_t = np.dtype([("mask", "u1", (MASK_BYTES,))])


class StagedPictures:
    """Rows prepared for the network; indexing returns a minibatch.

    frames   (frames, channels, height, width) uint8: an array on the CPU, a tensor on any other device
    numbers  (n, stack) int32; mask (n, MASK_BYTES) uint8
    filled   the flat observations, indexable; None without them
    """

    def __init__(self, seen: Framed, device: torch.device, fused: bool) -> None:
        rows = seen.rows
        self.frames: Any = seen.frames
        if device.type != "cpu":
            self.frames = torch.from_numpy(np.require(seen.frames, requirements="W")).to(device)
        self.numbers, self.mask = rows["frames"].copy(), rows["seen"]["mask"].copy()
        self.filled: Any = None
        if fused:
            self.filled = FilledRows(rows) if device.type == "cpu" else DeviceRows(rows, device)
        self.which = np.arange(len(rows))

    def __len__(self) -> int:
        """Number of rows in the minibatch."""
        return len(self.which)

    def __getitem__(self, which: NDArray[np.int64]) -> "StagedPictures":
        """Return the rows at these indices of the whole; no frame is copied."""
        part = object.__new__(StagedPictures)
        part.frames, part.numbers, part.mask, part.which = self.frames, self.numbers, self.mask, which
        part.filled = None if self.filled is None else self.filled[which]
        return part

    def stacks(self) -> torch.Tensor:
        """The frame stacks of the minibatch, (m, stack * channels, height, width) uint8, oldest first."""
        numbers = self.numbers[self.which]
        if isinstance(self.frames, torch.Tensor):
            return self.frames[torch.from_numpy(numbers).long().to(self.frames.device)].flatten(1, 2)
        return torch.from_numpy(self.frames[numbers]).flatten(1, 2)

    def legal(self) -> torch.Tensor:
        """Which actions are legal, (m, actions) bool."""
        return torch_ops.bits_of(torch.from_numpy(self.mask[self.which]), N_DISCRETE)


class CnnPolicy(CategoricalPolicy, TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Three convolutions on stacked frames, shared layers, a head of action logits and a value head.

    Its observations are `protocol.Framed`: rows that refer to frames by index.

    model_config: hidden, widths of the shared layers; channels of the convolutions; stack of frames; size, height and
    width of a frame; colour.
    """

    flat = False
    fused: ClassVar[bool] = False

    def setup(self) -> None:
        """Build the layers from model_config."""
        config = self.model_config
        self.stack, self.colour = config["stack"], config["colour"]
        self.size: tuple[int, int] = tuple(config["size"])
        seen = flat_row_t if self.fused else mask_row_t
        self.row_t = np.dtype([("seen", seen), ("frames", "<i4", (self.stack,))])
        layers: list[nn.Module] = []
        inputs = self.stack * (3 if self.colour else 1)
        blank = torch.zeros(1, inputs, *self.size)
        for channels, (kernel, stride) in zip(config["channels"], CONVOLUTIONS, strict=True):
            layers += [orthogonal(nn.Conv2d(inputs, channels, kernel, stride)), nn.ReLU()]
            inputs = channels
        self.convolutions = nn.Sequential(*layers, nn.Flatten())
        first, *later = config["hidden"]
        with torch.no_grad():
            found = self.convolutions(blank).shape[1]
        self.looked = orthogonal(nn.Linear(found, first))
        if self.fused:
            self.first = orthogonal(FirstLayer(FLAT_SIZE, first))
        self.trunk = nn.Sequential(nn.SiLU(), *shared_layers(first, later))
        self.policy, self.value = heads(config["hidden"][-1], N_DISCRETE)

    def make_state(self, n: int, stream: int = 0) -> FrameStacks:
        """Return empty frame stacks for n games."""
        return FrameStacks(n, self.stack, self.size, self.colour)

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the observations of all games except the frames: out (n,) row_t, overwritten."""
        if self.fused:
            pack_flat(games.flat, games.masks, out)
        else:
            out["seen"]["mask"] = np.packbits(games.masks, axis=1, bitorder="little")

    def stage(self, rows: Framed) -> StagedPictures:
        """Prepare all rows of an update once; index the result for a minibatch."""
        return StagedPictures(rows, self.device, self.fused)

    def seen_first(self, stacks: torch.Tensor) -> torch.Tensor:
        """Return the frames' part of the first layer: (m, stack * channels, height, width) uint8 -> (m, width)."""
        return self.looked(self.convolutions(stacks.to(self.device).float() / 255.0))

    def flat_first(self, filled: Any) -> torch.Tensor:
        """Return the flat observations' part of the first shared layer, (m, width)."""
        if isinstance(filled, FilledRows):
            return self.first.sparse(filled)
        return self.first(torch_ops.unpack_octets(filled))

    def heads(self, first: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (m, actions) and values (m,) float32 of the first shared layer's sums (m, width)."""
        features = self.trunk(first.float())
        return self.policy(features).float(), self.value(features).squeeze(1)

    def outputs(self, rows: Framed | StagedPictures) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See CategoricalPolicy."""
        staged = rows if isinstance(rows, StagedPictures) else self.stage(rows)[np.arange(len(rows))]
        first = self.seen_first(staged.stacks())
        if self.fused:
            first = first + self.flat_first(staged.filled)
        logits, values = self.heads(first)
        return logits, staged.legal().to(self.device), values

    def _dense_first(self, observation: dict[str, Any]) -> torch.Tensor:
        """Return the first shared layer's sums for dense observations: pixels, action_mask and perhaps observations."""
        first = self.seen_first(observation["pixels"])
        return first + self.first(observation["observations"].float()) if self.fused else first

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        logits, _values = self.heads(self._dense_first(batch[Columns.OBS]))
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, OFF)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of each dense observation, (n,)."""
        return self.heads(self._dense_first(batch[Columns.OBS]))[1]


class FusedCnnPolicy(CnnPolicy):
    """A CnnPolicy whose first shared layer also receives the flat observation."""

    flat = True
    fused: ClassVar[bool] = True
