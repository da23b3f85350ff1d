"""Embeddings of jokers: the measured graph as a matrix with one row of numbers for each joker (NetMF).

Nodes are jokers, hands and traits. An edge between jokers has their synergy as its weight, an edge to a hand the gain with
it, an edge to a trait TRAIT_WEIGHT; overlaps, losses and effects that are not significant have none. NetMF factorises the
logarithm of the probabilities that a random walk meets two nodes within WINDOW steps (Qiu and others, 2018).
"""

import hashlib
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.arrays import read_arrays, write_arrays
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.files import Unreadable
from ante.knowledge.content import traits_of
from ante.knowledge.measuring.table import RATE, Table, is_synergy

DIMENSIONS, WINDOW = 128, 5
TRAIT_WEIGHT = 0.02  # log10, as a weak synergy
EQUAL = 1e-6  # relative difference of numbers that differ by rounding only
FILE = "joker_vectors.npz"
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class JokerVectors:
    """The embeddings: vectors (jokers, DIMENSIONS) float32 in the order of the catalogue, the largest number 1 or -1."""

    vectors: NDArray[np.float32]

    @property
    def digest(self) -> str:
        """SHA-256 of the numbers, in hex digits."""
        return hashlib.sha256(np.ascontiguousarray(self.vectors, dtype="<f4").tobytes()).hexdigest()

    def write(self, file: Path) -> None:
        """Write the numbers to a file, atomically."""
        write_arrays(file, {"vectors": self.vectors})

    @classmethod
    def read(cls, file: Path) -> "JokerVectors":
        """Return the numbers of a file that `write` wrote. Raises Unreadable."""
        vectors = read_arrays(file, {"vectors": (len(JOKERS) - 1, DIMENSIONS)})["vectors"]
        if vectors.dtype != np.float32 or not (np.abs(vectors) <= 1.0).all():
            raise Unreadable(
                f"{file} cannot be read: its numbers are not float32 from -1 to 1; write it with ante know embed"
            )
        return cls(vectors)

    def reduced(self, width: int) -> NDArray[np.float32]:
        """Return at most `width` numbers for each joker, (jokers, width), whose products are closest to the vectors'.

        They have the standard deviation 1; columns beyond DIMENSIONS are 0.
        """
        u, s, _ = np.linalg.svd(self.vectors.astype(np.float64), full_matrices=False)
        found = np.zeros((len(self.vectors), width))
        kept = min(width, len(s))
        found[:, :kept] = with_signs(u[:, :kept]) * s[:kept]
        return (found / found[:, :kept].std()).astype(np.float32)


def adjacency(table: Table) -> Matrix:
    """Return the weights of the graph's edges, symmetric: jokers in the order of the catalogue, then hands and traits."""
    traits = sorted({trait for row in JOKERS[1:] for trait in traits_of(row)})
    names = [*(row.key for row in JOKERS[1:]), *(f"hand {row.name}" for row in HANDS), *traits]
    at = {name: i for i, name in enumerate(names)}
    weights = np.zeros((len(names), len(names)))
    pairs, effects = table.pairs, table.effects
    for i in np.flatnonzero(is_synergy(pairs["effect"], pairs["q"]) & (pairs["effect"] > 0)):
        weights[at[pairs["one"][i]], at[pairs["other"][i]]] = pairs["effect"][i]
    for i in np.flatnonzero((effects["kind"] == "hand") & (effects["q"] <= RATE) & (effects["effect"] > 0)):
        weights[at[effects["joker"][i]], at[f"hand {effects['target'][i]}"]] = effects["effect"][i]
    for row in JOKERS[1:]:
        for trait in traits_of(row):
            weights[at[row.key], at[trait]] = TRAIT_WEIGHT
    return weights + weights.T


def netmf(weights: Matrix, dimensions: int = DIMENSIONS, window: int = WINDOW) -> Matrix:
    """Return the embeddings of a graph's nodes, (nodes, dimensions); nodes without edges have zeros."""
    degree = weights.sum(axis=1)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    walk = inverse[:, None] * weights
    power, met = np.eye(len(weights)), np.zeros_like(weights)
    for _ in range(window):
        power = power @ walk
        met += power
    meetings = degree.sum() / window * met * inverse
    u, s, _ = np.linalg.svd(np.log(np.maximum(meetings, 1.0)))
    return np.asarray(with_signs(u[:, :dimensions]) * np.sqrt(s[:dimensions]))


def with_signs(columns: Matrix) -> Matrix:
    """Return columns with signs such that the largest number of each is positive: singular vectors have either sign.

    Of numbers that are equal except for rounding the first one counts.
    """
    sizes = np.abs(columns)
    largest = (sizes >= (1.0 - EQUAL) * sizes.max(axis=0)).argmax(axis=0)
    return np.asarray(columns * np.sign(columns[largest, np.arange(columns.shape[1])]))


def embed(table: Table, previous: JokerVectors | None = None) -> JokerVectors:
    """Return the embeddings of the measured tables, rotated to be as close as possible to the previous ones (Procrustes)."""
    found = netmf(adjacency(table))[: len(JOKERS) - 1]
    if previous is not None:
        u, _, v = np.linalg.svd(found.T @ previous.vectors.astype(np.float64))
        found = found @ (u @ v)
    return JokerVectors((found / np.abs(found).max()).astype(np.float32))


@cache
def packaged() -> JokerVectors:
    """Return the embeddings of the package. Raises Unreadable."""
    return JokerVectors.read(Path(str(files("ante.knowledge") / "measured" / FILE)))


def vectors_of(digest: str) -> JokerVectors | None:
    """Return the embeddings of the package if this is their digest; else warn and return None.

    The weights of a policy that was trained with other ones contain these, so loading it needs no vectors.
    """
    if packaged().digest == digest:
        return packaged()
    warnings.warn(f"joker vectors {digest[:8]} are of another version: a new policy begins without them", stacklevel=3)
    return None
