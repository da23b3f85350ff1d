"""Cost and memory savings of DQN's replay buffer on real positions, for `ante bench replay`. Requires `train`.

Positions come from 64 parallel games of `greedy`, one before each decision. The float32 baseline is the flat
observation of the same position, four bytes per column, without its mask.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from ante.agents.baselines import Baseline
from ante.bench.engine_speed import Row, rate, row_of
from ante.engine.actions import N_DISCRETE
from ante.env.games import Games, Outcome
from ante.env.layout import FLAT_SIZE
from ante.training.learning.replay_buffer import Replay
from ante.training.numerics import torch_ops
from ante.training.numerics.compression import CODEC, compressed
from ante.training.numerics.packed_rows import flat_row_t, octets_of, pack_flat
from ante.training.sampling.fragment import Trajectory

GAMES, STEPS = 64, 128
DRAWN = 256
SETTINGS = {"length": 5, "discount": 0.99, "exponent": 0.6, "boss": 4.0, "joker": 2.0, "actions": N_DISCRETE}


def real_positions(steps: int = STEPS) -> tuple[Trajectory, NDArray[np.float32], NDArray[np.int8]]:
    """Return a fragment of `steps` steps of real games, their flat observations (steps games, FLAT_SIZE) and masks."""
    games, player = Games(GAMES, discrete=False, reorder="none"), Baseline("greedy")
    games.reset()
    shape = steps, GAMES
    rows, flat, masks = np.zeros(shape, dtype=flat_row_t), [], []
    rewards, cut = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
    for t in range(steps):
        pack_flat(games.flat, games.masks, rows[t])
        flat.append(games.flat.copy())
        masks.append(games.masks.copy())
        games.step(player.choose(games, np.ones(GAMES, dtype=np.bool_)))
        rewards[t], cut[t] = games.rewards, games.outcome != Outcome.PLAYING
        games.reset(np.flatnonzero(cut[t]))
    extra = np.zeros(GAMES, dtype=flat_row_t)
    pack_flat(games.flat, games.masks, extra)
    nothing = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
    trace = Trajectory(rows, *nothing, rewards, cut, cut, extra, np.zeros(0, dtype=np.int64), np.zeros(3), 0)
    return trace, np.concatenate(flat), np.concatenate(masks)


def replay_rows(repeats: int) -> list[Row]:
    """Return bytes per step, compression relative to float32, and steps per second of each operation."""
    trace, flat, masks = real_positions()
    n, replay = len(trace), Replay(capacity=8 * len(trace), row_t=flat_row_t, **SETTINGS)  # type: ignore[arg-type]
    packed, octets = np.zeros(n, dtype=flat_row_t), torch.from_numpy(octets_of(trace.rows.reshape(-1)).copy())

    def encode() -> float:
        pack_flat(flat, masks, packed)
        return n

    def keep() -> float:
        replay.add(replace(trace))
        return n

    def decode() -> float:
        torch_ops.unpack_octets(octets)
        return n

    works: dict[str, tuple[str, Callable[[], float]]] = {
        "positions packed": ("steps/s", encode),
        "packed steps added": ("steps/s", keep),
        "positions unpacked to float32": ("steps/s", decode),
    }
    found = [rate(f"replay: {name}", unit, work, GAMES, repeats=repeats) for name, (unit, work) in works.items()]
    rng = np.random.default_rng(0)

    def draw() -> float:
        for _ in range(20):
            replay.draw(DRAWN, rng, 0.4)
        return 20 * DRAWN

    found.append(rate("replay: steps sampled, with next states", "steps/s", draw, GAMES, repeats=repeats))
    return found + sizes(trace, flat, replay)


def sizes(trace: Trajectory, flat: NDArray[np.float32], replay: Replay) -> list[Row]:
    """Return bytes of a position and of a step, in memory and in a checkpoint, relative to float32."""
    dense, row = 4.0 * FLAT_SIZE, float(flat_row_t.itemsize)
    state = replay.state()
    saved = sum(len(each) for each in state["arrays"].values()) / state["used"]
    squeezed = len(compressed(flat)) / len(flat)
    lines = (
        ("replay: a position in float32", dense, "bytes"),
        ("replay: a position packed", row, "bytes"),
        ("replay: float32 against packed", dense / row, "x"),
        ("replay: a stored step, in total", replay.bytes_per_step, "bytes"),
        ("replay: two positions in float32 against a stored step", 2 * dense / replay.bytes_per_step, "x"),
        ("replay: a step in a checkpoint", saved, "bytes"),
        (f"replay: a position in float32, compressed with {CODEC}", squeezed, "bytes"),
    )
    return [row_of(name, [value], unit, GAMES) for name, value, unit in lines]


def lost(trace: Trajectory, flat: NDArray[np.float32]) -> float:
    """Return the largest difference between an observation and its unpacked row."""
    octets = torch.from_numpy(octets_of(trace.rows.reshape(-1)).copy())
    return float(np.abs(torch_ops.unpack_octets(octets).numpy() - flat).max())
