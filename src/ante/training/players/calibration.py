"""Fits a policy's probability of winning (`acting.win_head`) to games that it plays by itself.

The games are played with the policy's likeliest decisions, one in ten of them sampled for variety. All games that began
first count, however long they last: the first games to end would mostly be lost. A tenth of the games is held out, and the
epoch with the least loss on them is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ante.engine.core.records import as_records
from ante.engine.run import one_seed
from ante.env.games import Games, Outcome
from ante.errors import BalatroError
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.records import candidates_t
from ante.training.acting.win_head import WinHead
from ante.training.players.release import digest_of_weights, read_release, write_win_head
from ante.training.policies.shortlist import ListedRows, ShortlistPolicy
from ante.training.policies.shortlist_net import ShortlistNet
from ante.training.run_store.start import is_release
from ante.training.sampling.games import rules
from ante.training.settings.config import TrainConfig, read_config

TOGETHER = 256  # games played together
KEPT, SAMPLED = 0.35, 0.1  # parts of the positions that are kept, and of the decisions that are sampled
HIDDEN, EPOCHS, MINIBATCH, RATE, DECAY = 64, 6, 2048, 1e-3, 1e-2
HELD_OUT = 10  # one game in


class NotCalibrated(BalatroError):
    """A policy for which no win head can be fitted."""


@dataclass(frozen=True)
class Positions:
    """Positions of games: features (n, size) float16, the number of the game (n,), whether it was won (n,)."""

    features: NDArray[np.float16]
    game: NDArray[np.int64]
    won: NDArray[np.bool_]


@dataclass(frozen=True)
class Fit:
    """A fitted head, its loss on held-out games in nats per position, and that of a constant probability."""

    head: WinHead
    loss: float
    constant: float


def calibrate(folder: Path, games: int, seed: int, advance: Callable[[int], None]) -> Fit:
    """Fit the win head of a released shortlist policy, write it to its folder, and return the fit.

    advance  called with the number of games that ended since the last call

    Raises NotCalibrated, BadCheckpoint.
    """
    if not is_release(folder):
        raise NotCalibrated(f"{folder} is not a release: export the run first, with ante export RUN FOLDER")
    policy, about = read_release(folder)
    if type(policy) is not ShortlistPolicy:
        raise NotCalibrated(f"{folder} has a {type(policy).__name__}: search supports shortlist policies only")
    config = read_config(folder / "config.yaml")
    fit = fitted(play(policy, config, games, seed, advance), seed, digest_of_weights(about))
    write_win_head(fit.head, folder)
    return fit


def play(
    policy: ShortlistPolicy, config: TrainConfig, games: int, seed: int, advance: Callable[[int], None]
) -> Positions:
    """Return positions of the first `games` games by the rules of the policy's training, each played to its end."""
    net, lister, rng = ShortlistNet(policy, torch.float32), CandidateLister(), np.random.default_rng(seed)
    rngs = [one_seed(seed * TOGETHER + i) for i in range(TOGETHER)]
    batch = Games(TOGETHER, **rules(config), discrete=False, rngs=rngs)
    batch.reset()
    lists = as_records(np.zeros(TOGETHER, dtype=candidates_t))
    number, won = np.arange(TOGETHER), dict[int, bool]()
    kept: list[tuple[NDArray[np.float16], NDArray[np.int64]]] = []
    begun = TOGETHER
    while (number < games).any():
        lister.write(batch, lists)
        found = net.passed(ListedRows.of_flat(batch.flat, lists))
        keep = (rng.random(TOGETHER) < KEPT) & (number < games)
        kept.append((found.trunk[keep].numpy().astype(np.float16), number[keep].copy()))
        sampled = rng.random(TOGETHER) < SAMPLED
        logits = found.logits.numpy() + np.where(sampled[:, None], rng.gumbel(size=tuple(found.logits.shape)), 0.0)
        batch.step(decisions_of(lists["entries"], logits.argmax(axis=1)))
        over = np.flatnonzero(batch.outcome)
        if len(over):
            advance(int((number[over] < games).sum()))
            won |= dict(zip(number[over].tolist(), (batch.outcome[over] == Outcome.WON).tolist(), strict=True))
            number[over] = begun + np.arange(len(over))
            begun += len(over)
            batch.reset(over)
    features, game = (np.concatenate(each) for each in zip(*kept, strict=True))
    return Positions(features, game, np.array([won[int(each)] for each in game]))


def fitted(positions: Positions, seed: int, weights_sha256: str) -> Fit:
    """Return the head fitted to these positions. Raises NotCalibrated."""
    torch.manual_seed(seed)
    features, won = torch.from_numpy(positions.features).float(), torch.from_numpy(positions.won).float()
    held = torch.from_numpy(positions.game % HELD_OUT == 0)
    train = torch.nonzero(~held)[:, 0]
    if not len(train) or not held.any() or not 0.0 < won[train].mean() < 1.0:
        games, wins = len(np.unique(positions.game)), len(np.unique(positions.game[positions.won]))
        raise NotCalibrated(f"{wins} of {games} games were won, which is too few or too many to fit: play more --games")
    net = nn.Sequential(nn.Linear(features.shape[1], HIDDEN), nn.SiLU(), nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * (len(train) // MINIBATCH + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps)
    best, kept = float("inf"), net.state_dict()
    for _ in range(EPOCHS):
        for part in train[torch.randperm(len(train))].split(MINIBATCH):
            loss = binary_cross_entropy_with_logits(net(features[part])[:, 0], won[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            now = float(binary_cross_entropy_with_logits(net(features[held])[:, 0], won[held]))
        if now < best:
            best, kept = now, {name: value.clone() for name, value in net.state_dict().items()}
    rate = float(won[train].mean())
    constant = -float((won[held] * np.log(rate) + (1.0 - won[held]) * np.log(1.0 - rate)).mean())
    weights = {name: value.numpy() for name, value in kept.items()}
    head = WinHead(
        weights["0.weight"].T.copy(), weights["0.bias"], weights["2.weight"][0], weights["2.bias"][0], weights_sha256
    )
    return Fit(head, best, constant)
