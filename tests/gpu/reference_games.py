"""The same games on the CPU and on a device: sequences of actions, and the contents of the buffers after each step."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ante.agents.baselines import Baseline
from ante.engine.actions import FIRST, N_DISCRETE, Verb
from ante.engine.drivers.random_play import begin_player, random_seed
from ante.engine.run import deck_number, restart
from ante.env.games import Games
from ante.env.reward import Reward

BUFFERS = ("states", "observations", "flat", "rewards", "outcome", "steps")
REWARD = Reward("all", "every term", 5.0, -1.0, 0.2, 0.2, 0.1, 0.04, discount=0.99)
OPTIONS = {"deck": "b_red", "stake": 3, "reorder": "jokers", "max_decisions": 150, "reward": REWARD}
VIEWS = {"discrete": True, "macro": False}
ODD, RANDOM = 0.02, 0.15  # shares of arbitrary actions, legal or not, and of random legal ones


@dataclass(frozen=True)
class Run:
    """The history of n games.

    actions           (steps, n) int64
    rewards, outcome  (steps, n) float64, uint8
    snapshots         step number -> all buffers by name, after that step
    """

    actions: np.ndarray
    rewards: np.ndarray
    outcome: np.ndarray
    snapshots: dict[int, dict[str, np.ndarray]]

    def save(self, file: Path) -> None:
        flat = {f"{k}.{name}": array for k, buffers in self.snapshots.items() for name, array in buffers.items()}
        np.savez(file, actions=self.actions, rewards=self.rewards, outcome=self.outcome, **flat)

    @staticmethod
    def load(file: Path) -> "Run":
        with np.load(file) as data:
            snapshots: dict[int, dict[str, np.ndarray]] = {}
            for key in data.files:
                step, dot, name = key.partition(".")
                if dot:
                    snapshots.setdefault(int(step), {})[name] = data[key]
            return Run(data["actions"], data["rewards"], data["outcome"], snapshots)


class CpuReference:
    """`Games` whose seeds are from the generators of `DeviceGames`: one xorshift state per game."""

    def __init__(self, n: int, number: int, view: str) -> None:
        self.games = Games(n, discrete=VIEWS[view], **OPTIONS)
        self.games._deal = lambda indices, options=None: None  # `step` deals instead
        self.rngs = np.zeros((n, 1), dtype=np.uint64)
        for i in range(n):
            begin_player(self.rngs[i], number * 1_000_003 + i)
        self.step(np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_))

    def step(self, actions: np.ndarray, renew: np.ndarray) -> None:
        games = self.games
        for i in np.flatnonzero(renew):
            random_seed(games.states[i], self.rngs[i])
            restart(games.states[i], deck_number(OPTIONS["deck"]), OPTIONS["stake"], 0)
            games.steps[i] = 0
        games.step(actions, renew)

    def buffers(self) -> dict[str, np.ndarray]:
        return {name: getattr(self.games, name).copy() for name in BUFFERS}


class Player:
    """Acts in all games, well enough to reach shops and jokers, with some random and some invalid actions."""

    def __init__(self, games: Games, number: int) -> None:
        self.games, self.random = games, np.random.default_rng(number)
        self.greedy, self.reckless = Baseline("greedy"), Baseline("random", number)
        self.weights = np.ones(N_DISCRETE, dtype=np.float32)
        self.weights[FIRST[Verb.CLEAR]] = 0.01
        self.weights[[FIRST[verb] for verb in (Verb.PLAY, Verb.DISCARD, Verb.BUY, Verb.OPEN_PACK)]] = 3.0

    def choose(self) -> np.ndarray:
        games, n = self.games, self.games.n
        if games.discrete:
            keys = self.random.random((n, N_DISCRETE), dtype=np.float32) * games.masks * self.weights
            actions = keys.argmax(axis=1)
            odd = self.random.integers(-1, N_DISCRETE + 1, n)
        else:
            everyone = np.ones(n, dtype=np.bool_)
            rash = self.random.random(n) < RANDOM
            actions = np.where(rash, self.reckless.choose(games, everyone), self.greedy.choose(games, everyone))
            odd = self.random.integers(-1, 1 << 26, n)
        return np.where(self.random.random(n) < ODD, odd, actions)


def play_on_cpu(n: int, steps: int, number: int, every: int, view: str) -> Run:
    """Run n games and compare all buffers every few steps and after the last."""
    reference = CpuReference(n, number, view)
    player, snapshots = Player(reference.games, number), {}
    actions, rewards = np.zeros((steps, n), dtype=np.int64), np.zeros((steps, n))
    outcome = np.zeros((steps, n), dtype=np.uint8)
    for k in range(steps):
        actions[k] = player.choose()
        reference.step(actions[k], reference.games.outcome != 0)
        rewards[k], outcome[k] = reference.games.rewards, reference.games.outcome
        if k % every == every - 1 or k == steps - 1:
            snapshots[k] = reference.buffers()
    return Run(actions, rewards, outcome, snapshots)


def play_on_device(played: Run, number: int, view: str, **options: Any) -> Run:
    """Play the actions of a run in `DeviceGames`."""
    from ante.env.cuda import DeviceGames

    games = DeviceGames(played.actions.shape[1], discrete=VIEWS[view], number=number, **OPTIONS, **options)
    rewards, outcome, snapshots = np.zeros_like(played.rewards), np.zeros_like(played.outcome), {}
    for k, row in enumerate(played.actions):
        games.step(row)
        rewards[k], outcome[k] = games.rewards.copy_to_host(), games.outcome.copy_to_host()
        if k in played.snapshots:
            host = games.host()
            snapshots[k] = {name: host[name] for name in BUFFERS}
    return Run(played.actions, rewards, outcome, snapshots)


def differences(expected: Run, found: Run) -> list[str]:
    """Return the differences of two runs as text, by field with the first game; empty if all bytes are equal."""
    lines = [f"{name} differ" for name in ("rewards", "outcome") if not same(expected, found, name)]
    if expected.snapshots.keys() != found.snapshots.keys():
        lines.append(f"snapshots after {sorted(expected.snapshots)}, not {sorted(found.snapshots)}")
    for k in sorted(expected.snapshots.keys() & found.snapshots.keys()):
        for name in BUFFERS:
            lines += [
                f"step {k}: {line}" for line in parted(expected.snapshots[k][name], found.snapshots[k][name], name)
            ]
    return lines


def same(expected: Run, found: Run, name: str) -> bool:
    """Return whether both runs have the same bytes under this name."""
    return getattr(expected, name).tobytes() == getattr(found, name).tobytes()


def parted(a: np.ndarray, b: np.ndarray, name: str) -> list[str]:
    """Return the differences of two buffers by field: the number of games and the first of them.

    The bytes between fields are ignored, since NumPy's copies do not preserve them.
    """
    if a.dtype != b.dtype or a.shape != b.shape:
        return [f"{name} is {a.dtype.str} {a.shape}, not {b.dtype.str} {b.shape}"]
    if a.dtype.names:
        return [line for field in a.dtype.names for line in parted(a[field], b[field], f"{name}.{field}")]
    bytes_a, bytes_b = (np.ascontiguousarray(x).reshape(len(x), -1).view(np.uint8) for x in (a, b))
    games = np.flatnonzero((bytes_a != bytes_b).any(axis=1))
    return [f"{name} of {len(games)} games, first {games[0]}"] if len(games) else []
