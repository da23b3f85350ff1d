"""Fragments as plain values, for checkpoints of runs that sample ahead of the learner."""

import math
from dataclasses import fields
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.training.numerics.compression import compressed, decompressed
from ante.training.numerics.packed_rows import octets_of
from ante.training.sampling.fragment import Labelled, Rollout, Trajectory
from ante.training.sampling.saved_games import array_like

Fragment = Rollout | Trajectory
FRAGMENTS: dict[str, type[Fragment]] = {"rollout": Rollout, "trajectory": Trajectory}


def save_fragment(fragment: Fragment) -> dict[str, Any]:
    """Return a fragment as plain values for checkpoints, with its rows compressed."""
    kind = next(name for name, each in FRAGMENTS.items() if isinstance(fragment, each))
    saved = {each.name: getattr(fragment, each.name) for each in fields(fragment)} | {"kind": kind}
    if fragment.labelled is not None:
        saved["labelled"] = {"rows": save_rows(fragment.labelled.rows), "actions": fragment.labelled.actions}
    return saved | {name: save_rows(saved[name]) for name in ("rows", "extra") if name in saved}


def read_fragment(saved: dict[str, Any], row_t: np.dtype[Any], most: int) -> Fragment:
    """Return what `save_fragment` saved. Raises ValueError, KeyError or TypeError.

    Args:
        saved: Plain values.
        row_t: The dtype of the policy's rows.
        most: The number of rows that a fragment has at most.
    """
    kind = FRAGMENTS[saved["kind"]]
    values = {each.name: saved[each.name] for each in fields(kind)}
    for name in ("rows", "extra"):
        if name in values:
            values[name] = read_rows(values[name], row_t, 2 * most)
    if values["labelled"] is not None:
        labelled = values["labelled"]
        values["labelled"] = Labelled(read_rows(labelled["rows"], row_t, 2 * most), labelled["actions"])
    fragment = kind(**values)
    check_fragment(fragment)
    return fragment


def save_rows(rows: NDArray[Any]) -> dict[str, Any]:
    """Return packed rows of any shape, compressed."""
    return {"shape": list(rows.shape), "bytes": compressed(rows)}


def read_rows(saved: dict[str, Any], row_t: np.dtype[Any], most: int) -> NDArray[Any]:
    """Return what `save_rows` saved, writable. Raises ValueError, also if there are more rows than `most`."""
    shape = tuple(map(index, saved["shape"]))
    if math.prod(shape) > most or min(shape, default=0) < 0:
        raise ValueError(f"rows of shape {shape} are not those of a fragment of this run")
    packed = decompressed("rows of a fragment", saved["bytes"], np.empty(shape, dtype=row_t))
    return octets_of(packed.reshape(-1)).copy().view(row_t).reshape(shape)


def check_fragment(fragment: Fragment) -> None:
    """Check types and shapes of a fragment that was read, and that its numbers are finite. Raises ValueError."""
    shape = fragment.rows.shape
    kinds = dict.fromkeys(("log_probs", "advantages", "targets", "rewards"), "f4")
    kinds |= {"actions": "i8", "cut": "?", "terminal": "?"}
    for name in kinds.keys() & {each.name for each in fields(fragment)}:
        found = array_like(getattr(fragment, name), np.empty(shape, dtype=kinds[name]), name)
        if not np.isfinite(found).all():
            raise ValueError(f"the {name} of a fragment are not finite")
    array_like(fragment.returns, np.empty(3), "moments of the returns")
    if isinstance(fragment, Trajectory):
        places = array_like(fragment.places, np.empty(len(fragment.places), dtype=np.int64), "places")
        if len(fragment.extra) != shape[1] + len(places) or ((places < 0) | (places >= len(fragment))).any():
            raise ValueError("the places of a fragment do not fit its rows")
