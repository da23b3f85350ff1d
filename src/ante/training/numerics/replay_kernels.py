"""Kernels of DQN: epsilon-greedy actions and prioritised sampling; plain loops.

Priorities are stored in a sum tree. A tree over `size` slots, a power of two, is one array of 2 size numbers: node k
has the children 2 k and 2 k + 1, the root is node 1, and the priority of slot i is at size + i.
"""

import numpy as np

from ante.training.numerics.row_kernels import kernel


@kernel
def epsilon_greedy(scores, legal, uniforms, explore, actions, log_probs):
    """Choose the legal action with the highest score or, with probability `explore`, a uniform legal one.

    scores     (n, actions) float32
    legal      (n, bytes) uint8 as in `row_kernels.sample_masked`; at least one action is legal
    uniforms   (n, 2) float32 in [0, 1): whether to explore, and which action
    explore    epsilon, the probability of a uniform legal action
    actions    (n,) int64, overwritten
    log_probs  (n,) float32, overwritten: of the chosen actions
    """
    for i in range(len(scores)):
        best, options = -1, 0
        for j in range(scores.shape[1]):
            if (legal[i, j >> 3] >> (j & 7)) & 1:
                options += 1
                if best < 0 or scores[i, j] > scores[i, best]:
                    best = j
        chosen = best
        if uniforms[i, 0] < explore:
            left = min(options - 1, int(np.float64(uniforms[i, 1]) * options))
            for j in range(scores.shape[1]):
                if (legal[i, j >> 3] >> (j & 7)) & 1:
                    if left == 0:
                        chosen = j
                        break
                    left -= 1
        actions[i] = chosen
        log_probs[i] = np.log(explore / options + (1.0 - explore if chosen == best else 0.0))


@kernel
def set_priorities(tree, places, priorities):
    """Set the priorities of slots `places` (m,) int64 to `priorities` (m,) float64; the last duplicate wins.

    tree (2 size,) float64, changed in place. Sums are recomputed from the children, so rounding errors do not
    accumulate.
    """
    size = len(tree) // 2
    for k in range(len(places)):
        node = size + places[k]
        tree[node] = priorities[k]
        while node > 1:
            node >>= 1
            tree[node] = tree[2 * node] + tree[2 * node + 1]


@kernel
def zero_priorities(tree, begin, end):
    """Set the priorities of slots begin to end to 0: the leaves first, then each level above once."""
    low, high = len(tree) // 2 + begin, len(tree) // 2 + end - 1
    for node in range(low, high + 1):
        tree[node] = 0.0
    while low > 1:
        low >>= 1
        high >>= 1
        for node in range(low, high + 1):
            tree[node] = tree[2 * node] + tree[2 * node + 1]


@kernel
def draw_places(tree, uniforms, places):
    """Stratified sampling: one slot from each m-th part of the total priority; places (m,) int64, overwritten.

    uniforms  (m,) float64 in [0, 1). The sum must be positive; slots of priority 0 are never sampled
    """
    size, m = len(tree) // 2, len(uniforms)
    for k in range(m):
        left = tree[1] * (k + uniforms[k]) / m
        node = 1
        while node < size:
            node *= 2
            if (left >= tree[node] and tree[node + 1] > 0.0) or tree[node] <= 0.0:
                left -= tree[node]
                node += 1
        places[k] = node - size
