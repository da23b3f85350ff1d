"""Offline Q-learning: deep Q-learning on recorded games, without an environment. Uses torch without Ray.

The loss is that of DQN (double, duelling, n-step) on uniformly sampled steps, plus a conservative term (CQL): the log of
the summed exponentials of all legal action values minus the value of the recorded action. Without it, actions that no game
took keep values that no reward corrects, and the policy prefers them. The last epoch is kept.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ante.training.datasets.layout import BadDataset
from ante.training.datasets.read import Dataset, Steps, in_part, joined
from ante.training.learning.dqn import Values, values_of
from ante.training.learning.replay_buffer import Replay
from ante.training.numerics.packed_rows import flat_row_t, pack_flat
from ante.training.players.cloning import (
    CloneSettings,
    NothingToLearn,
    config_of,
    games_in,
    refuse_policy,
    write_epochs,
)
from ante.training.players.release import write_policy
from ante.training.policies.q_network import EVAL_EPSILON
from ante.training.policies.registry import new_policy
from ante.training.sampling.fragment import Trajectory
from ante.training.settings.config import TrainConfig

MOST_STEPS = 2_000_000  # of a dataset, at 0.7 KB of memory each
MEASURED = 4096  # held-out steps on which values are measured
COLUMNS = ("game", "step", "numbers", "counts", "bits", "mask", "choice", "reward", "done", "outcome")


@dataclass(frozen=True)
class OfflineSettings:
    """Settings of offline Q-learning.

    held          share of games on which values are measured only
    target_every  gradient steps after which the target network is updated
    conservative  weight of the conservative term; 0 is plain DQN
    """

    epochs: int = 10
    batch: int = 512
    lr: float = 3e-4
    hidden: tuple[int, ...] = (256, 256)
    held: float = 0.1
    seed: int = 0
    gamma: float = 0.99
    n_step: int = 5
    target_every: int = 100
    conservative: float = 1.0


@dataclass(frozen=True)
class OfflineEpoch:
    """The results of one epoch; all but the training loss are means over held-out steps.

    steps        gradient steps
    train_loss   of a gradient step, with the conservative term
    td_error     absolute difference between the value of the recorded action and its target
    recorded     value of the recorded action
    best         value of the best action
    game_return  discounted rewards until the end of the recorded game
    """

    epoch: int
    steps: int
    train_loss: float
    td_error: float
    recorded: float
    best: float
    game_return: float
    seconds: float


def learn_offline(
    dataset: Dataset, folder: Path, settings: OfflineSettings, advance: Callable[[OfflineEpoch], None] = lambda _: None
) -> list[OfflineEpoch]:
    """Train action values on a dataset into `folder`, as a release with metrics.csv. Return the epochs.

    advance  called after each epoch

    Raises NothingToLearn, BadDataset, BadRelease.
    """
    refuse_policy(folder)
    torch.manual_seed(settings.seed)
    config = offline_config(dataset, folder, settings)
    policy, target = new_policy(config), new_policy(config)
    target.load_state_dict(policy.state_dict())
    played, held, returns = replays(dataset, settings, int(policy.action_space.n))
    adam = torch.optim.Adam(policy.parameters(), lr=settings.lr)
    rng, begin = np.random.default_rng(settings.seed), time.perf_counter()
    count, total = max(1, played.steps // settings.batch), 0
    shown = held.draw(MEASURED, np.random.default_rng(0), 0.0)
    epochs: list[OfflineEpoch] = []
    for number in range(settings.epochs):
        losses = 0.0
        for _ in range(count):
            losses += gradient_step(policy, target, adam, played.draw(settings.batch, rng, 0.0), settings)
            total += 1
            if total % settings.target_every == 0:
                target.load_state_dict(policy.state_dict())
        with torch.no_grad():
            found = values_of(policy, target, shown, double=True)
        error, best = (found.wanted - found.taken).abs().mean().item(), found.every.amax(dim=1).mean().item()
        seconds, recorded = time.perf_counter() - begin, found.taken.mean().item()
        epochs.append(OfflineEpoch(number + 1, count, losses / count, error, recorded, best, returns, seconds))
        advance(epochs[-1])

    trained = {"timesteps": total * settings.batch, "games": games_in(dataset), "seconds": epochs[-1].seconds}
    folder.mkdir(parents=True, exist_ok=True)
    write_epochs(folder / "metrics.csv", epochs)
    how = f"offline Q-learning from games of {dataset.about.get('player', 'recorded games')}"
    about = {**trained, "conservative": settings.conservative, "dataset": dataset.about}
    write_policy(policy, config, about, folder, how=how)
    return epochs


def offline_config(dataset: Dataset, folder: Path, settings: OfflineSettings) -> TrainConfig:
    """Return the configuration of algorithm dqn with the dataset's game settings. Raises BadConfig, NothingToLearn."""
    if dataset.view != "flat":
        raise NothingToLearn(
            f"{dataset.folder} has view {dataset.view}, and action values are learned from view flat: "
            "write it again with --view flat"
        )
    network = CloneSettings(hidden=settings.hidden, seed=settings.seed, lr=settings.lr)
    same = {f"algo.{name}": getattr(settings, name) for name in ("lr", "gamma", "n_step", "target_every")}
    return config_of(dataset, folder, network).with_changes(
        {"algo.kind": "dqn", "algo.epsilon": EVAL_EPSILON, "algo.priority": 0.0, **same}
    )


def gradient_step(
    policy: Any, target: Any, adam: torch.optim.Optimizer, drawn: Any, settings: OfflineSettings
) -> float:
    """Take one gradient step on sampled steps and return its loss."""
    found = values_of(policy, target, drawn, double=True)
    loss = functional.smooth_l1_loss(found.taken, found.wanted)
    if settings.conservative:
        loss = loss + settings.conservative * conservative_term(found)
    adam.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    adam.step()
    return float(loss.detach())


def conservative_term(found: Values) -> torch.Tensor:
    """Return how much all legal actions together are valued above the recorded one, mean over the steps."""
    return (torch.logsumexp(found.every, dim=1) - found.taken).mean()


def replays(dataset: Dataset, settings: OfflineSettings, actions: int) -> tuple[Replay, Replay, float]:
    """Return the games to learn from, the held-out ones, and the mean discounted return of held-out steps.

    Only finished games count in the return. Raises NothingToLearn, BadDataset.
    """
    if len(dataset) > MOST_STEPS:
        raise NothingToLearn(
            f"{dataset.folder} has {len(dataset):,} steps; the limit is {MOST_STEPS:,}: export fewer games"
        )
    ends = dataset.read(range(dataset.groups), ["game", "done"])
    is_held = in_part(ends["game"], "held", settings.held)
    if is_held.all() or not is_held.any():
        raise NothingToLearn(f"{dataset.folder} has too few games to hold out {settings.held:.0%}: export more")
    played, held = (
        Replay(
            int(part.sum() + ends["done"][part].sum()), flat_row_t, settings.n_step, settings.gamma, 0, 1, 1, actions
        )
        for part in (~is_held, is_held)
    )
    returns: list[NDArray[np.float64]] = []
    for game in games_of(dataset):
        check_game(game, dataset)
        is_over = game["outcome"][0] != "truncated"
        own = held if in_part(game["game"][:1], "held", settings.held)[0] else played
        if own is held and is_over:
            returns.append(discounted_returns(game["reward"], settings.gamma))
        if is_over or len(game) > 1:
            own.add(trajectory_of(game, is_over))
    if not (played.steps and held.steps):
        raise NothingToLearn(f"{dataset.folder} has no finished steps to learn from: export more games")
    return played, held, float(np.concatenate(returns).mean()) if returns else float("nan")


def games_of(dataset: Dataset) -> Iterator[Steps]:
    """Yield the steps of each game. Raises BadDataset."""
    left: list[Steps] = []
    for group in range(dataset.groups):
        steps = joined([*left, dataset.read([group], COLUMNS)])
        ends = [0, *(np.flatnonzero(steps["done"]) + 1).tolist()]
        for begin, end in pairwise(ends):
            yield steps.take(np.arange(begin, end))
        left = [steps.take(np.arange(ends[-1], len(steps)))]
    if len(left[0]):
        raise BadDataset(f"{dataset.file}: the last game has no end; export it again")


def check_game(game: Steps, dataset: Dataset) -> None:
    """Raise BadDataset if these steps are not one game, or have an illegal choice or a number that is not finite."""
    number, choice = int(game["game"][0]), game["choice"].astype(np.int64)
    legal = game.masks
    where = f"{dataset.file}, game {number}"
    if (game["game"] != number).any() or (game["step"] != np.arange(len(game))).any():
        raise BadDataset(f"{where}: steps are missing or not in order; export it again")
    listed = (choice >= 0) & (choice < legal.shape[1])
    bad = np.flatnonzero(~listed | (legal[np.arange(len(game)), np.where(listed, choice, 0)] == 0))
    if len(bad):
        raise BadDataset(f"{where}, step {bad[0]}: choice {choice[bad[0]]} is not legal there; export it again")
    if not (np.isfinite(game["reward"]).all() and np.isfinite(game["numbers"]).all()):
        raise BadDataset(f"{where}: rewards or observations are not finite; export it again")


def trajectory_of(game: Steps, is_over: bool) -> Trajectory:
    """Return a game as a fragment. That of an unfinished game ends before its last step, whose result is unknown."""
    rows = np.zeros(len(game), dtype=flat_row_t)
    pack_flat(game.flat, game.masks, rows)
    n = len(game) if is_over else len(game) - 1
    terminal = np.zeros((n, 1), dtype=np.bool_)
    terminal[-1] = is_over
    return Trajectory(
        rows=rows[:n, None],
        actions=game["choice"][:n, None].astype(np.int64),
        log_probs=np.zeros((n, 1), dtype=np.float32),
        rewards=game["reward"][:n, None].astype(np.float32),
        cut=terminal,
        terminal=terminal,
        extra=rows[-1:],  # not used after the end of a game
        places=np.zeros(0, dtype=np.int64),
        returns=np.zeros(3),
        version=0,
    )


def discounted_returns(rewards: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Return the discounted sum of rewards from each step on, (n,)."""
    found, after = np.empty(len(rewards)), 0.0
    for i in range(len(rewards) - 1, -1, -1):
        found[i] = after = rewards[i] + gamma * after
    return found
