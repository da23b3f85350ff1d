"""Policies and datasets: recorded steps as the rows a policy reads, and what it says of them."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.training.datasets.export import Judge
from ante.training.datasets.layout import Columns
from ante.training.datasets.read import Steps
from ante.training.learner import judged
from ante.training.packed import PackedPolicy
from ante.training.rows import octets_of, pack_flat
from ante.training.shortlist import AT_LIST, ShortlistPolicy

VIEW_OF: dict[type[TorchRLModule], str] = {PackedPolicy: "flat", ShortlistPolicy: "shortlist"}


def rows_of(steps: Steps, policy: TorchRLModule) -> NDArray[Any]:
    """Recorded steps (n,) as the packed rows of this policy, whose view they have."""
    rows = np.zeros(len(steps), dtype=policy.row_t)
    pack_flat(steps.flat, steps.masks, rows)
    if VIEW_OF[type(policy)] == "shortlist":
        octets_of(rows)[:, AT_LIST:] = octets_of(np.ascontiguousarray(steps.lists))
    return rows


def judge_of(policy: TorchRLModule, view: str) -> Judge | None:
    """Log-probabilities and values of recorded steps by this policy; None where it does not read this view.

    A decision that the shortlist does not list has log-probability nan.
    """
    if VIEW_OF.get(type(policy)) != view:
        return None

    def judge(columns: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        choice = columns["choice"].astype(np.int64)
        with torch.no_grad():
            log_probs, values = judged(policy, rows_of(Steps(columns), policy), np.maximum(choice, 0))
        return np.where(choice < 0, np.float32(np.nan), log_probs), values

    return judge
