"""Embeddings of jokers: against walks and factors that are computed another way, and what a policy does with them."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ante.arrays import write_arrays
from ante.catalog.jokers import JOKERS, by_key
from ante.files import Unreadable
from ante.knowledge.embeddings import DIMENSIONS, JokerVectors, adjacency, embed, netmf, packaged
from ante.knowledge.measuring.table import read_table


def graph(n: int = 14, seed: int = 1) -> NDArray[np.float64]:
    """Return a connected weighted graph whose last node has no edge."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    weights[np.arange(n - 1), np.arange(1, n)] += 0.1
    weights[:, -1] = 0.0
    return weights + weights.T


def slow_log_meetings(weights: NDArray[np.float64], window: int) -> list[list[float]]:
    """Return log(max(1, ...)) of NetMF by sums over all walks, node by node, without matrix products."""
    n = len(weights)
    degree = [math.fsum(weights[i]) for i in range(n)]
    volume = math.fsum(degree)
    found = []
    for start in range(n):
        here = [1.0 if i == start else 0.0 for i in range(n)]
        met = [0.0] * n
        for _ in range(window):
            here = [math.fsum(here[i] * weights[i, j] / degree[i] for i in range(n) if degree[i] > 0) for j in range(n)]
            met = [a + b for a, b in zip(met, here, strict=True)]
        row = [volume / window * met[j] / degree[j] if degree[j] > 0 else 0.0 for j in range(n)]
        found.append([math.log(max(1.0, value)) for value in row])
    return found


def test_the_vectors_factorise_how_walks_meet() -> None:
    weights = graph()
    slow = np.array(slow_log_meetings(weights, 5))
    vectors = netmf(weights, dimensions=len(weights))
    # M = U S V^T and the vectors are U sqrt(S), so their products with each other are (M M^T)^(1/2).
    values, columns = np.linalg.eigh(slow @ slow.T)
    root = (columns * np.sqrt(np.maximum(values, 0.0))) @ columns.T
    np.testing.assert_allclose(vectors @ vectors.T, root, atol=1e-7)
    assert not vectors[-1].any(), "a node without edges"


def test_fewer_dimensions_are_the_first_ones() -> None:
    whole = netmf(graph())
    few = netmf(graph(), dimensions=4)
    np.testing.assert_allclose(few, whole[:, :4])
    assert (few[np.abs(few).argmax(axis=0), np.arange(4)] > 0).all()


def test_the_graph_has_synergies_hands_and_traits() -> None:
    table = read_table()
    weights = adjacency(table)
    assert (weights == weights.T).all() and (weights >= 0).all()
    effects = dict(zip(zip(table.pairs["one"], table.pairs["other"], strict=True), table.pairs["effect"], strict=True))

    def weight(one: str, other: str) -> float:
        return float(weights[by_key[one] - 1, by_key[other] - 1])

    assert weight("j_photograph", "j_hanging_chad") == effects["j_photograph", "j_hanging_chad"] > 0.2
    assert weight("j_gros_michel", "j_popcorn") == 0.0, "an overlap"
    assert (weights[:150].sum(axis=1) > 0).all(), "every joker has a trait"


def test_equal_tables_give_equal_vectors_and_the_package_has_them() -> None:
    found = embed(read_table())
    assert found.vectors.shape == (150, DIMENSIONS) and np.abs(found.vectors).max() == 1.0
    np.testing.assert_allclose(found.vectors, packaged().vectors, atol=1e-4)
    assert len(packaged().digest) == 64


def test_jokers_with_the_same_partners_are_close() -> None:
    vectors = packaged().vectors.astype(float)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def nearest(key: str) -> list[str]:
        order = np.argsort(-(unit @ unit[by_key[key] - 1]))
        return [JOKERS[i + 1].key for i in order[1:6]]

    assert "j_rough_gem" in nearest("j_greedy_joker"), "both depend on Diamonds"
    assert "j_brainstorm" in nearest("j_blueprint")


def test_aligned_to_a_rotated_copy_it_is_that_copy() -> None:
    found = embed(read_table())
    rotation = np.linalg.qr(np.random.default_rng(2).normal(size=(DIMENSIONS, DIMENSIONS)))[0]
    rotated = found.vectors.astype(float) @ rotation
    scale = np.abs(rotated).max()
    previous = JokerVectors((rotated / scale).astype(np.float32))
    aligned = embed(read_table(), previous)
    np.testing.assert_allclose(aligned.vectors, previous.vectors, atol=1e-4)
    products = found.vectors.astype(float) @ found.vectors.astype(float).T
    again = aligned.vectors.astype(float) @ aligned.vectors.astype(float).T * scale**2
    np.testing.assert_allclose(again, products, atol=1e-3)


def test_the_rotation_is_that_of_another_library() -> None:
    from scipy.linalg import orthogonal_procrustes

    found = embed(read_table()).vectors.astype(float)
    noisy = np.random.default_rng(3).normal(scale=0.05, size=found.shape) + found
    previous = JokerVectors((noisy / np.abs(noisy).max()).astype(np.float32))
    expected = found @ orthogonal_procrustes(found, previous.vectors.astype(float))[0]
    np.testing.assert_allclose(embed(read_table(), previous).vectors, expected / np.abs(expected).max(), atol=1e-4)


def test_reduced_vectors_are_the_best_of_their_width() -> None:
    found = packaged()
    exact = found.vectors.astype(float) @ found.vectors.astype(float).T
    values = np.linalg.eigvalsh(exact)[::-1]
    for width in (8, 64):
        few = found.reduced(width).astype(float)
        assert few.shape == (150, width) and few.std() == pytest.approx(1.0, abs=1e-3)
        products = few @ few.T
        scaled = products * (exact * products).sum() / (products**2).sum()
        assert np.linalg.norm(scaled - exact) == pytest.approx(np.sqrt((values[width:] ** 2).sum()), rel=1e-3, abs=1e-3)
    wide = found.reduced(200)
    assert wide[:, 130:].any() == np.False_ and wide[:, :100].any()


@pytest.mark.parametrize(
    ("vectors", "why"),
    [
        (np.zeros((150, 128)), "float32 from -1 to 1"),
        (np.full((150, 128), np.nan, dtype=np.float32), "float32 from -1 to 1"),
        (np.full((150, 128), 2.0, dtype=np.float32), "float32 from -1 to 1"),
        (np.zeros((3, 128), dtype=np.float32), "shape"),
    ],
)
def test_a_file_of_other_numbers_is_refused(vectors: NDArray[np.float64], why: str, tmp_path: Path) -> None:
    write_arrays(tmp_path / "x.npz", {"vectors": vectors})
    with pytest.raises(Unreadable, match=why):
        JokerVectors.read(tmp_path / "x.npz")


def test_written_and_read_they_have_the_same_digest(tmp_path: Path) -> None:
    packaged().write(tmp_path / "x.npz")
    assert JokerVectors.read(tmp_path / "x.npz").digest == packaged().digest
