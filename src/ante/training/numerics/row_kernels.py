"""Kernels of the fast path: packing, masked sampling, advantages, the PPO loss with its gradient, sparse layers.

Compiled like the engine, except that sums may be reordered (`fastmath`). Every kernel is a plain loop over its
arguments. The CUDA counterparts are in `torch_ops.py`; the reference implementations for tests are in
tests/support/estimates.py.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ante.engine.core.compile_cache import cached_njit

COUNTS_PER_ONE = 4.0  # counts are stored in quarters, the scale of cards in the flat observation
NUMBERS_PER_ONE = 16384.0  # numbers in [-2, 2] are stored as int16
LOSS_MEANS = 6  # means that `ppo_loss` writes


def kernel(function: Callable[..., Any]) -> Any:
    """Compile one kernel."""
    return cached_njit(function, error_model="numpy", nogil=True, fastmath={"reassoc", "contract", "nsz"})


@kernel
def pack_rows(flat, masks, places, numbers, octets, at_bits, at_mask):
    """Write flat observations and masks as packed rows (`packed_rows.py` defines the layout).

    flat     (n, columns) float32
    masks    (n, actions) int8
    places   (columns,) int64, the bit offset of each column in the row; odd below `at_bits` for a count
    numbers  (n, row bytes / 2) int16, and octets (n, row bytes) uint8: two views of the same rows, overwritten
    at_bits, at_mask  byte offsets of bits and mask

    SPEED: one pass over the vector, of which one column in fifteen is nonzero; one pass per kind took twice as long.
    """
    for i in range(len(flat)):
        octets[i, :] = 0
        for c in range(flat.shape[1]):
            x = flat[i, c]
            if x != 0.0:
                place = places[c]
                if place >= 8 * at_bits:
                    octets[i, place >> 3] |= 1 << (place & 7)
                elif place & 1:
                    octets[i, place >> 3] = np.uint8(x * np.float32(COUNTS_PER_ONE))
                else:
                    scaled = np.rint(x * np.float32(NUMBERS_PER_ONE))
                    numbers[i, place >> 4] = np.int16(max(-32768.0, min(32767.0, scaled)))
        for k in range(masks.shape[1]):
            if masks[i, k]:
                octets[i, at_mask + (k >> 3)] |= 1 << (k & 7)


@kernel
def count_filled(numbers, octets, full_numbers, n_numbers, full_counts, n_counts, at_counts, at_bits, n_bits, starts):
    """Write the cumulative number of columns that `list_filled` lists per row: starts (n + 1,) int64, overwritten."""
    starts[0] = 0
    for i in range(len(octets)):
        filled = 0
        for k in range(full_numbers, n_numbers):
            filled += 1 if numbers[i, k] != 0 else 0
        for k in range(full_counts, n_counts):
            filled += 1 if octets[i, at_counts + k] != 0 else 0
        for k in range((n_bits + 7) // 8):
            byte = np.int64(octets[i, at_bits + k])
            while byte:
                byte &= byte - 1
                filled += 1
        starts[i + 1] = starts[i] + filled


@kernel
def list_filled(
    numbers, octets, full_numbers, full_counts, number_columns, count_columns, bit_columns, at_counts, at_bits,
    starts, columns, values, full,
):  # fmt: skip
    """Split packed rows into a dense matrix of usually nonzero columns and a CSR list of the other nonzero columns.

    full_numbers, full_counts  how many of the first numbers and counts are in the matrix
    starts   (n + 1,) int64, row offsets as `count_filled` writes them
    columns  (starts[n],) int32, and values (starts[n],) float32, overwritten
    full     (n, full_numbers + full_counts) float32, overwritten
    """
    per_number, per_count = np.float32(1.0 / NUMBERS_PER_ONE), np.float32(1.0 / COUNTS_PER_ONE)
    for i in range(len(octets)):
        for k in range(full_numbers):
            full[i, k] = np.float32(numbers[i, k]) * per_number
        for k in range(full_counts):
            full[i, full_numbers + k] = np.float32(octets[i, at_counts + k]) * per_count
        at = starts[i]
        for k in range(full_numbers, len(number_columns)):
            if numbers[i, k] != 0:
                columns[at] = number_columns[k]
                values[at] = np.float32(numbers[i, k]) * per_number
                at += 1
        for k in range(full_counts, len(count_columns)):
            if octets[i, at_counts + k] != 0:
                columns[at] = count_columns[k]
                values[at] = np.float32(octets[i, at_counts + k]) * per_count
                at += 1
        for k in range((len(bit_columns) + 7) // 8):
            byte = np.int64(octets[i, at_bits + k])
            j = 8 * k
            while byte:
                if byte & 1:
                    columns[at] = bit_columns[j]
                    values[at] = np.float32(1.0)
                    at += 1
                byte >>= 1
                j += 1


@kernel
def list_flat(flat, words, full_columns, listed, starts, columns, values, full):
    """Split flat observations into a dense matrix of some columns and a CSR list of the other nonzero columns.

    flat     (n, columns) float32; words (n, columns) int32, the same memory
    full_columns  (matrix columns,) int64; listed (columns,) bool, whether a column is not in the matrix
    starts   (n + 1,) int64, columns and values (flat.size + 1,) int32 and float32 in CSR layout, overwritten
    full     (n, matrix columns) float32, overwritten

    SPEED: nine columns in ten are 0, so eight are tested at once; the others are written without a branch.
    """
    at = 0
    starts[0] = 0
    for i in range(len(flat)):
        for j in range(len(full_columns)):
            full[i, j] = flat[i, full_columns[j]]
        row = words[i]
        for c in range(0, flat.shape[1], 8):
            if c + 8 <= flat.shape[1]:
                if (
                    row[c] | row[c + 1] | row[c + 2] | row[c + 3] | row[c + 4] | row[c + 5] | row[c + 6] | row[c + 7]
                ) == 0:
                    continue
            for k in range(c, min(c + 8, flat.shape[1])):
                columns[at], values[at] = k, flat[i, k]
                at += 1 if listed[k] and flat[i, k] != np.float32(0.0) else 0
        starts[i + 1] = at


@kernel
def sparse_forward(starts, columns, values, which, weight, out):
    """Add row which[m] times weight to out[m].

    starts, columns, values  lists as `list_filled` writes them
    which   (m,) int64, rows of this minibatch
    weight  (inputs, width) float32
    out     (m, width) float32, added to

    SPEED: of some 1,200 columns about 30 are listed; adding four weight rows at once halves the stores.
    """
    width = weight.shape[1]
    for m in range(len(which)):
        at, end = starts[which[m]], starts[which[m] + 1]
        while at + 4 <= end:
            a, b, c, d = columns[at], columns[at + 1], columns[at + 2], columns[at + 3]
            x, y, z, w = values[at], values[at + 1], values[at + 2], values[at + 3]
            for k in range(width):
                out[m, k] += (x * weight[a, k] + y * weight[b, k]) + (z * weight[c, k] + w * weight[d, k])
            at += 4
        while at < end:
            a, x = columns[at], values[at]
            for k in range(width):
                out[m, k] += x * weight[a, k]
            at += 1


@kernel
def sparse_backward(starts, columns, values, which, slope, weight_slope):
    """Add the weight gradient of `sparse_forward`: slope (m, width) float32, weight_slope (inputs, width) float32."""
    width = slope.shape[1]
    for m in range(len(which)):
        for at in range(starts[which[m]], starts[which[m] + 1]):
            a, x = columns[at], values[at]
            for k in range(width):
                weight_slope[a, k] += x * slope[m, k]


@kernel
def sample_masked(logits, legal, uniforms, actions, log_probs):
    """Sample one legal action per row from the softmax of its logits.

    logits     (n, actions) float32
    legal      (n, bytes) uint8, bit j of byte k: whether action 8 k + j is legal; at least one is
    uniforms   (n,) float32 in [0, 1)
    actions    (n,) int64, overwritten
    log_probs  (n,) float32, overwritten
    """
    for i in range(len(logits)):
        top = np.float32(-np.inf)
        for j in range(logits.shape[1]):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                top = max(top, logits[i, j])
        total = 0.0
        for j in range(logits.shape[1]):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                total += np.exp(np.float64(logits[i, j] - top))
        left = np.float64(uniforms[i]) * total
        chosen = -1
        for j in range(logits.shape[1]):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                probability = np.exp(np.float64(logits[i, j] - top))
                left -= probability
                if probability > 0.0 or chosen < 0:
                    chosen = j
                if left < 0.0:
                    break
        actions[i] = chosen
        log_probs[i] = np.float64(logits[i, chosen] - top) - np.log(total)


@kernel
def masked_log_probs(logits, legal, actions, log_probs):
    """Write the log-probabilities of given actions in the softmax of the legal logits.

    logits (n, actions) float32, legal (n, bytes) uint8 as in `sample_masked`, actions (n,) int64, log_probs (n,)
    float32, overwritten
    """
    for i in range(len(logits)):
        top = np.float32(-np.inf)
        for j in range(logits.shape[1]):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                top = max(top, logits[i, j])
        total = 0.0
        for j in range(logits.shape[1]):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                total += np.exp(np.float64(logits[i, j] - top))
        log_probs[i] = np.float64(logits[i, actions[i]] - top) - np.log(total)


@kernel
def gae(rewards, values, after, cut, discount, decay, advantages, targets):
    """Generalised advantage estimation (GAE) over a fragment.

    rewards     (t, n) float32
    values      (t, n) float32, of the observation before each step
    after       (t, n) float32, of the next observation: 0 at terminal steps
    cut         (t, n) bool: a game ended with this step, the next row belongs to another game
    discount    gamma; decay  lambda
    advantages  (t, n) float32 and targets (t, n) float32 of the value, overwritten
    """
    steps, games = rewards.shape
    for t in range(steps - 1, -1, -1):
        for i in range(games):
            later = 0.0
            if t + 1 < steps and not cut[t, i]:
                later = advantages[t + 1, i]
            td_error = rewards[t, i] + discount * after[t, i] - values[t, i]
            advantages[t, i] = td_error + discount * decay * later
            targets[t, i] = advantages[t, i] + values[t, i]


@kernel
def ppo_loss(
    logits, values, legal, actions, log_probs, advantages, targets, clip, value_weight, entropy_weight, value_error_limit,
    d_logits, d_values, sums,
):  # fmt: skip
    """The clipped PPO loss of a minibatch, and its gradient.

    logits      (m, actions) float32, values (m,) float32: outputs of the current policy
    legal       (m, bytes) uint8 as in `sample_masked`
    actions     (m,) int64, log_probs (m,) float32: the actions taken and their log-probabilities under the old policy
    advantages  (m,) float32, targets (m,) float32 of the value
    value_error_limit  largest squared value error; larger errors are clamped and receive no gradient; inf for no clipping
    d_logits    (m, actions) float32 and d_values (m,) float32, overwritten: gradient of the mean loss
    sums        (LOSS_MEANS,) float64, overwritten: policy loss, value loss, entropy, KL to the old policy, share of rows
                clipped, |ratio - 1|. KL is the mean of ratio - 1 - log ratio, which is never negative
    """
    rows, n = logits.shape
    each = 1.0 / rows
    sums[:] = 0.0
    for i in range(rows):
        top = np.float32(-np.inf)
        for j in range(n):
            d_logits[i, j] = 0.0
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                top = max(top, logits[i, j])
        total = 0.0
        weighed = 0.0
        for j in range(n):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                high = np.float64(logits[i, j] - top)
                probability = np.exp(high)
                total += probability
                weighed += probability * high
                d_logits[i, j] = probability
        log_total = np.log(total)
        entropy = log_total - weighed / total
        log_prob = np.float64(logits[i, actions[i]] - top) - log_total
        log_ratio = log_prob - log_probs[i]
        ratio = np.exp(log_ratio)
        plain = advantages[i] * ratio
        clipped = advantages[i] * max(1.0 - clip, min(1.0 + clip, ratio))
        d_log_prob = 0.0 if plain > clipped else -plain  # NaN stays NaN, so that the step is dropped
        for j in range(n):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                probability = d_logits[i, j] / total
                one_hot = 1.0 if j == actions[i] else 0.0
                high = np.float64(logits[i, j] - top) - log_total
                d_logits[i, j] = (
                    d_log_prob * (one_hot - probability) + entropy_weight * probability * (high + entropy)
                ) * each
        off = values[i] - targets[i]
        d_values[i] = 0.0 if off * off > value_error_limit else 2.0 * value_weight * off * each
        sums[0] -= min(plain, clipped) * each
        sums[1] += min(np.float64(off * off), value_error_limit) * each
        sums[2] += entropy * each
        sums[3] += (ratio - 1.0 - log_ratio) * each
        sums[4] += each if abs(ratio - 1.0) > clip else 0.0
        sums[5] += abs(ratio - 1.0) * each
