"""bf16 autocast: the decision to use it, which a run makes once, and its context for forward passes."""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

FLOAT32, BF16 = "float32", "bf16"  # as recorded in checkpoints


def has_bf16(device: str) -> bool:
    """Return whether bf16 products are faster than float32 on this kind of device (cpu or cuda) of this machine."""
    if device == "cuda":
        return bool(torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def uses_bf16(choice: str, devices: Collection[str]) -> bool:
    """Return whether all processes of a run use bf16.

    Env runners and learners must agree: with different precision their log-probabilities differ before any update. So
    the driver decides, and the decision is part of the algorithm's configuration, which all processes receive.

    Args:
        choice: on, off or auto, the setting `resources.bf16`; auto requires that all devices support it.
        devices: The kinds of device of the run, cpu or cuda. CPUs of other machines count as this machine's. GPUs count
            as supporting bf16 if this process has none: those of compute capability 8.0 or later do.
    """
    if choice != "auto":
        return choice == "on"
    return all(has_bf16(kind) or (kind == "cuda" and not torch.cuda.is_available()) for kind in devices)


def precision(bf16: bool, device: str) -> AbstractContextManager[Any]:
    """Return the context for forward passes on this kind of device, with products in bf16 or float32."""
    return torch.autocast(device, dtype=torch.bfloat16) if bf16 else nullcontext()
