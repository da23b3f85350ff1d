"""Behaviour cloning from recorded games. Uses torch without Ray.

Recorded steps are packed as the policy's observations. The loss is the negative log-probability of the recorded action.
A tenth of the games is held out, and the epoch with the lowest held-out loss is kept. Values are not learned.
"""

import csv
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.errors import BalatroError
from ante.files import whole
from ante.lookahead.records import LEGAL, MAX_CANDIDATES
from ante.training.datasets.export import Judge
from ante.training.datasets.layout import Columns
from ante.training.datasets.read import Dataset, Part, Steps
from ante.training.learning.ppo import score_actions
from ante.training.numerics.packed_rows import octets_of, pack_flat
from ante.training.players.release import write_policy
from ante.training.policies.mlp_rows import PackedPolicy
from ante.training.policies.protocol import GamePolicy
from ante.training.policies.registry import implementation_of, new_policy
from ante.training.policies.shortlist import AT_LIST, ShortlistPolicy
from ante.training.settings.config import TrainConfig, make_config
from ante.training.settings.policies import POLICIES

VIEW_OF: dict[type[TorchRLModule], str] = {PackedPolicy: "flat", ShortlistPolicy: "shortlist"}


def rows_of(steps: Steps, policy: TorchRLModule) -> NDArray[Any]:
    """Return recorded steps (n,) as packed rows of this policy, which must use the dataset's view."""
    rows = np.zeros(len(steps), dtype=policy.row_t)
    pack_flat(steps.flat, steps.masks, rows)
    if VIEW_OF[type(policy)] == "shortlist":
        octets_of(rows)[:, AT_LIST:] = octets_of(np.ascontiguousarray(steps.lists))
    return rows


def judge_of(policy: TorchRLModule, view: str) -> Judge | None:
    """Return a function that computes this policy's log-probabilities and values of recorded steps.

    None if the policy uses another view. Decisions that the shortlist lacks have log-probability nan.
    """
    if VIEW_OF.get(type(policy)) != view:
        return None

    def judge(columns: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        choice = columns["choice"].astype(np.int64)
        with torch.no_grad():
            log_probs, values = score_actions(policy, rows_of(Steps(columns), policy), np.maximum(choice, 0))
        return np.where(choice < 0, np.float32(np.nan), log_probs), values

    return judge


class NothingToLearn(BalatroError, ValueError):
    """A dataset that contains nothing to clone."""


@dataclass(frozen=True)
class CloneSettings:
    """Settings of behaviour cloning.

    patience  epochs without an improvement of the held-out loss after which training stops
    held      share of games to hold out
    """

    epochs: int = 10
    batch: int = 512
    lr: float = 1e-3
    hidden: tuple[int, ...] = (256, 256)
    entry: int = 64
    held: float = 0.1
    patience: int = 2
    seed: int = 0


@dataclass(frozen=True)
class Epoch:
    """The results of one epoch; losses are in nats per decision.

    uniform  held-out loss of a uniform choice among the legal actions
    """

    epoch: int
    steps: int
    train_loss: float
    held_loss: float
    uniform: float
    seconds: float


def clone(
    dataset: Dataset, folder: Path, settings: CloneSettings, advance: Callable[[Epoch], None] = lambda _: None
) -> list[Epoch]:
    """Clone a policy from a dataset into `folder`, as a release with metrics.csv. Return the epochs.

    advance  called after each epoch

    Raises NothingToLearn, BadDataset, BadRelease.
    """
    refuse_policy(folder)
    torch.manual_seed(settings.seed)
    config = config_of(dataset, folder, settings)
    policy = new_policy(config)
    adam = torch.optim.Adam(policy.parameters(), lr=settings.lr)
    epochs: list[Epoch] = []
    best: dict[str, torch.Tensor] = {}
    begin = time.perf_counter()
    for number in range(settings.epochs):
        steps, loss = learn_epoch(policy, adam, dataset, settings, number)
        held, uniform = held_out(policy, dataset, settings)
        epochs.append(Epoch(number + 1, steps, loss, held, uniform, time.perf_counter() - begin))
        advance(epochs[-1])
        least = min(epochs, key=lambda each: each.held_loss)
        if least is epochs[-1]:
            best = {name: value.clone() for name, value in policy.state_dict().items()}
        elif number + 1 - least.epoch >= settings.patience:
            break
    policy.load_state_dict(best)
    trained = {
        "timesteps": sum(each.steps for each in epochs),
        "seconds": epochs[-1].seconds,
        "games": games_in(dataset),
    }
    about = {**trained, "held_loss": min(each.held_loss for each in epochs), "dataset": dataset.about}
    folder.mkdir(parents=True, exist_ok=True)
    write_epochs(folder / "metrics.csv", epochs)
    write_policy(
        policy, config, about, folder, how=f"behaviour cloning of {dataset.about.get('player', 'recorded games')}"
    )
    return epochs


def refuse_policy(folder: Path) -> None:
    """Raise NothingToLearn if the folder contains a policy."""
    if (folder / "policy.json").exists():
        raise NothingToLearn(f"{folder} already contains a policy: choose another folder")


def config_of(dataset: Dataset, folder: Path, settings: CloneSettings) -> TrainConfig:
    """Return the configuration with the dataset's game settings. Raises BadConfig."""
    names = {VIEW_OF.get(implementation_of(POLICIES.make({"kind": name}), GamePolicy)): name for name in POLICIES.known}
    known: dict[str, Any] = {
        f"games.{name}": dataset.about[name]
        for name in ("deck", "stake", "challenge", "reward", "reorder")
        if name in dataset.about
    }
    kind = names[dataset.view]
    chosen: dict[str, Any] = {"policy.kind": kind, "policy.hidden": settings.hidden}
    if "entry" in POLICIES.find(kind).model_fields:
        chosen["policy.entry"] = settings.entry
    return make_config({**known, **chosen, "name": folder.name, "seed": settings.seed, "algo.lr": settings.lr})


def learnable(dataset: Dataset, settings: CloneSettings, part: Part, seed: int) -> Iterator[Steps]:
    """Yield minibatches of the steps whose decision the policy can choose."""
    for steps in dataset.batches(settings.batch, seed, part, settings.held):
        listed = steps["choice"] >= 0
        if listed.any():
            yield steps if listed.all() else steps.take(listed)


def learn_epoch(
    policy: TorchRLModule, adam: torch.optim.Optimizer, dataset: Dataset, settings: CloneSettings, number: int
) -> tuple[int, float]:
    """Train one epoch on the games that are not held out; return steps and mean loss. Raises NothingToLearn."""
    total, count = 0.0, 0
    for steps in learnable(dataset, settings, "train", settings.seed + number):
        log_probs = policy.evaluate(rows_of(steps, policy), steps["choice"].astype(np.int64))[0]
        loss = -log_probs.mean()
        adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        adam.step()
        total, count = total + float(loss.detach()) * len(steps), count + len(steps)
    if not count:
        raise NothingToLearn(f"{dataset.folder} has no steps to learn from: export more games")
    return count, total / count


def held_out(policy: TorchRLModule, dataset: Dataset, settings: CloneSettings) -> tuple[float, float]:
    """Return the mean held-out loss of the policy and of a uniform choice. Raises NothingToLearn."""
    loss, even, count = 0.0, 0.0, 0
    with torch.no_grad():
        for steps in learnable(dataset, settings, "held", 0):
            choice = steps["choice"].astype(np.int64)
            loss -= float(policy.evaluate(rows_of(steps, policy), choice)[0].double().sum())
            even += float(np.log(choices_in(steps, dataset.view)).sum())
            count += len(steps)
    if not count:
        raise NothingToLearn(f"{dataset.folder} has too few games to hold out {settings.held:.0%}: export more")
    return loss / count, even / count


def choices_in(steps: Steps, view: str) -> NDArray[np.int64]:
    """Return the number of legal choices at each step, (n,)."""
    if view == "flat":
        return steps.masks.sum(axis=1, dtype=np.int64)
    listed = np.arange(MAX_CANDIDATES) < steps["n"][:, None]
    return (listed & (steps["entry_flag_bits"] & LEGAL != 0)).sum(axis=1)


def games_in(dataset: Dataset) -> int:
    """Return the number of games in a dataset."""
    return 1 + max(int(dataset.read([group], ["game"])["game"].max()) for group in range(dataset.groups))


def write_epochs(file: Path, epochs: Sequence[Any]) -> None:
    """Write one row per epoch."""
    with whole(file) as aside, aside.open("w", newline="") as stream:
        lines = csv.DictWriter(stream, list(vars(epochs[0])))
        lines.writeheader()
        lines.writerows(vars(each) for each in epochs)
