"""Cost of one decision of the shortlist policy on one core, for `ante bench decision`. Requires `train`.

Positions come from games of the released policy: after a warm-up, every few steps, so that all phases are included in
their natural proportion. Times are CPU times of this process, which other processes disturb least.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.agents.releases import policy_folder
from ante.bench.engine_speed import Row, row_of
from ante.engine.core.records import as_records
from ante.engine.core.state import Phase, new_states
from ante.env.games import Games
from ante.env.layout import new_observations
from ante.lookahead.candidates import CandidateLister
from ante.lookahead.records import candidates_t
from ante.training.numerics.precision import has_bf16, precision
from ante.training.players.release import policy_from
from ante.training.policies.shortlist import ShortlistPolicy

GAMES, WARM_UP, STEPS, EVERY = 256, 100, 64, 2  # WARM_UP in units of EVERY
ACTING, MINIBATCH = (64, 256), 2048
PPO = 0.2, 1.0, 0.01, float("inf")  # clipping range, weights of value and entropy, limit of the value's error


def decision_rows(repeats: int) -> list[Row]:
    """Return microseconds per decision: its list by phase, and its forward pass and gradient by precision."""
    policy = policy_from(policy_folder("white-stake"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        states, observations, rows, actions = played(policy)
        found = list_rows(states, observations, repeats)
        for bf16 in ("off", *["on"] * has_bf16("cpu")):
            found += network_rows(policy, rows, actions, bf16, repeats)
    finally:
        torch.set_num_threads(threads)
    return found


def played(policy: ShortlistPolicy) -> tuple[np.recarray, np.recarray, NDArray[Any], NDArray[np.int64]]:
    """Return positions of games in play: states, observations, packed rows, and the actions taken."""
    games, rng = Games(GAMES, discrete=False, reorder="jokers"), torch.Generator().manual_seed(0)
    games.reset()
    n = GAMES * STEPS // EVERY
    states, observations = new_states(n), new_observations(n)
    rows, actions = np.zeros(n, dtype=policy.row_t), np.zeros(n, dtype=np.int64)
    for step in range(-WARM_UP * EVERY, STEPS):
        at = max(0, step) // EVERY * GAMES
        now = slice(at, at + GAMES)  # overwritten until the warm-up is over, and by every second step
        states[now], observations[now] = games.states, games.observations
        policy.pack(games, rows[now])
        actions[now] = policy.act(rows[now], rng).actions.numpy()
        games.step(policy.decisions(rows[now], actions[now]))
        games.reset(np.flatnonzero(games.outcome))
    return states, observations, rows, actions


def list_rows(states: np.recarray, observations: np.recarray, repeats: int) -> list[Row]:
    """Return the rows of writing lists: of each phase, and of all positions."""
    lister, found = CandidateLister(), []
    groups = {phase.name.lower().replace("_", " "): states["phase"] == phase for phase in Phase}
    for name, chosen in {**groups, "all phases": np.ones(len(states), dtype=np.bool_)}.items():
        if chosen.any():
            some, seen = (as_records(each, chosen) for each in (states, observations))
            out = as_records(np.zeros(len(some), dtype=candidates_t))
            times = clocked(lambda s=some, o=seen, out=out: lister.write_observed(s, o, 1, out), len(some), repeats)  # type: ignore[misc]
            found.append(row_of(f"list of candidates: {name}", times, "us", len(some)))
    return found


def network_rows(
    policy: ShortlistPolicy, rows: NDArray[Any], actions: NDArray[np.int64], bf16: str, repeats: int
) -> list[Row]:
    """Return the rows of acting with batches of games, and of the gradient of a minibatch, staging included."""
    rng, found, kind = torch.Generator().manual_seed(1), [], "bf16" if bf16 == "on" else "float32"
    parts = [np.random.default_rng(0).permutation(len(rows))[k * MINIBATCH :][:MINIBATCH] for k in range(4)]
    ones = np.ones(len(rows), dtype=np.float32)
    with precision(bf16 == "on", "cpu"):
        for games in ACTING:
            some = [rows[at : at + games] for at in range(0, 16 * games, games)]
            times = clocked(lambda some=some: [policy.act(each, rng) for each in some], 16 * games, repeats)  # type: ignore[misc]
            found.append(row_of(f"forward pass and sampling, {kind}", times, "us", games))

        def learn() -> None:
            staged = policy.stage(rows)
            for part in parts:
                policy.ppo_gradient(staged[part], (actions[part], -ones[part], ones[part], ones[part]), *PPO)

        trained = sum(map(len, parts))
        found.append(row_of(f"gradient, {kind}, per row", clocked(learn, trained, repeats), "us", MINIBATCH))
    return found


def clocked(work: Callable[[], object], amount: int, repeats: int) -> list[float]:
    """Return microseconds of CPU time of all threads per unit of work, one per repeat; the first call is a warm-up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(1e6 * (time.process_time() - begin) / amount)
    return times
