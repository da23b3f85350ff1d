"""bf16 autocast: when it is used, and its context for forward passes."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def has_bf16(device: str) -> bool:
    """Return whether bf16 products are faster than float32 on this kind of device (cpu or cuda)."""
    if device == "cuda":
        return bool(torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def precision(bf16: str, device: str) -> AbstractContextManager[Any]:
    """Return the context for forward passes: bf16 is `on`, `off` or `auto`, which depends on the machine."""
    if bf16 == "on" or (bf16 == "auto" and has_bf16(device)):
        return torch.autocast(device, dtype=torch.bfloat16)
    return nullcontext()
