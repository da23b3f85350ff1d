"""bf16 where the machine has it: one place that says when, and the context in which networks run."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def has_bf16(device: str) -> bool:
    """Whether products in bf16 are faster than in float32 on this kind of device (cpu or cuda)."""
    if device == "cuda":
        return bool(torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def precision(bf16: str, device: str) -> AbstractContextManager[Any]:
    """The context for forward passes: bf16 is `on`, `off` or `auto`, which asks the machine."""
    if bf16 == "on" or (bf16 == "auto" and has_bf16(device)):
        return torch.autocast(device, dtype=torch.bfloat16)
    return nullcontext()
