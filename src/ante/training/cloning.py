"""Behaviour cloning: a policy learns to decide as recorded games do. Torch alone, no Ray is started.

Recorded steps become the rows that the policy reads; its loss is the negative log-probability of what was decided. A tenth
of the games is held out, and the epoch that does best on them is kept. Values are not learned.
"""

import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.env.shortlist import LEGAL, MAX_ENTRIES
from ante.errors import BalatroError
from ante.files import whole
from ante.training.config import TrainConfig, make_config
from ante.training.datasets.export import Judge
from ante.training.datasets.layout import Columns
from ante.training.datasets.read import Dataset, Part, Steps
from ante.training.learner import judged
from ante.training.packed import PackedPolicy
from ante.training.policies import POLICIES
from ante.training.quiet import be_quiet
from ante.training.release import write_policy
from ante.training.rows import octets_of, pack_flat
from ante.training.shortlist import AT_LIST, ShortlistPolicy

VIEW_OF: dict[type[TorchRLModule], str] = {PackedPolicy: "flat", ShortlistPolicy: "shortlist"}


def rows_of(steps: Steps, policy: TorchRLModule) -> NDArray[Any]:
    """Recorded steps (n,) as the packed rows of this policy, whose view they have."""
    rows = np.zeros(len(steps), dtype=policy.row_t)
    pack_flat(steps.flat, steps.masks, rows)
    if VIEW_OF[type(policy)] == "shortlist":
        octets_of(rows)[:, AT_LIST:] = octets_of(np.ascontiguousarray(steps.lists))
    return rows


def judge_of(policy: TorchRLModule, view: str) -> Judge | None:
    """Log-probabilities and values of recorded steps by this policy; None where it does not read this view.

    A decision that the shortlist does not list has log-probability nan.
    """
    if VIEW_OF.get(type(policy)) != view:
        return None

    def judge(columns: Columns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        choice = columns["choice"].astype(np.int64)
        with torch.no_grad():
            log_probs, values = judged(policy, rows_of(Steps(columns), policy), np.maximum(choice, 0))
        return np.where(choice < 0, np.float32(np.nan), log_probs), values

    return judge


class NothingToLearn(BalatroError, ValueError):
    """A dataset that no policy can be cloned from."""


@dataclass(frozen=True)
class CloneSettings:
    """How a policy is cloned.

    patience  epochs without a better held-out loss after which it ends
    held      share of the games that is held out
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
    """What one epoch brought, in nats a decision.

    uniform  loss of one who chooses evenly among what is legal, on the held-out steps
    """

    epoch: int
    steps: int
    train_loss: float
    held_loss: float
    uniform: float
    seconds: float


def clone(
    dataset: Dataset, folder: Path, settings: CloneSettings, told: Callable[[Epoch], None] = lambda _: None
) -> list[Epoch]:
    """A policy cloned from a dataset stands in `folder` as a release, with metrics.csv; answers its epochs.

    told  called after each epoch

    Raises NothingToLearn, BadDataset, BadRelease.
    """
    if (folder / "policy.json").exists():
        raise NothingToLearn(f"{folder} holds a policy already: name another folder")
    torch.manual_seed(settings.seed)
    config = config_of(dataset, folder, settings)
    policy = fresh_policy(config)
    adam = torch.optim.Adam(policy.parameters(), lr=settings.lr)
    epochs: list[Epoch] = []
    best: dict[str, torch.Tensor] = {}
    begin = time.perf_counter()
    for number in range(settings.epochs):
        steps, loss = learn_epoch(policy, adam, dataset, settings, number)
        held, uniform = held_out(policy, dataset, settings)
        epochs.append(Epoch(number + 1, steps, loss, held, uniform, time.perf_counter() - begin))
        told(epochs[-1])
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
    write_policy(
        policy, config, about, folder, how=f"behaviour cloning of {dataset.about.get('player', 'recorded games')}"
    )
    write_epochs(folder / "metrics.csv", epochs)
    return epochs


def config_of(dataset: Dataset, folder: Path, settings: CloneSettings) -> TrainConfig:
    """The configuration that plays as the dataset was played. Raises BadConfig."""
    names = {view: name for name, choice in POLICIES.items() for kind, view in VIEW_OF.items() if choice.fast is kind}
    known = {
        name: dataset.about[name]
        for name in ("deck", "stake", "challenge", "reward", "reorder")
        if name in dataset.about
    }
    chosen = {"policy": names[dataset.view], "hidden": settings.hidden, "entry": settings.entry, "seed": settings.seed}
    return make_config({**known, **chosen, "name": folder.name, "lr": settings.lr})


def fresh_policy(config: TrainConfig) -> TorchRLModule:
    """A policy that has learned nothing."""
    be_quiet()
    choice = POLICIES[config.policy]
    seen, answered = choice.fast.spaces()
    return choice.fast(observation_space=seen, action_space=answered, model_config=choice.settings(config))


def learnable(dataset: Dataset, settings: CloneSettings, part: Part, seed: int) -> Iterator[Steps]:
    """Minibatches of the steps whose decision the policy can take."""
    for steps in dataset.batches(settings.batch, seed, part, settings.held):
        listed = steps["choice"] >= 0
        if listed.any():
            yield steps if listed.all() else steps.take(listed)


def learn_epoch(
    policy: TorchRLModule, adam: torch.optim.Optimizer, dataset: Dataset, settings: CloneSettings, number: int
) -> tuple[int, float]:
    """One pass over the games that are not held out; answers steps and mean loss. Raises NothingToLearn."""
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
        raise NothingToLearn(f"{dataset.folder} has no step to learn from: more games are needed")
    return count, total / count


def held_out(policy: TorchRLModule, dataset: Dataset, settings: CloneSettings) -> tuple[float, float]:
    """Mean loss on the games that are held out, of the policy and of an even choice. Raises NothingToLearn."""
    loss, even, count = 0.0, 0.0, 0
    with torch.no_grad():
        for steps in learnable(dataset, settings, "held", 0):
            choice = steps["choice"].astype(np.int64)
            loss -= float(policy.evaluate(rows_of(steps, policy), choice)[0].double().sum())
            even += float(np.log(choices_in(steps, dataset.view)).sum())
            count += len(steps)
    if not count:
        raise NothingToLearn(f"{dataset.folder} has too few games to hold {settings.held:.0%} out: export more")
    return loss / count, even / count


def choices_in(steps: Steps, view: str) -> NDArray[np.int64]:
    """How many legal choices each step had, (n,)."""
    if view == "flat":
        return steps.masks.sum(axis=1, dtype=np.int64)
    listed = np.arange(MAX_ENTRIES) < steps["n"][:, None]
    return (listed & (steps["entry_marks"] & LEGAL != 0)).sum(axis=1)


def games_in(dataset: Dataset) -> int:
    """Games of a dataset."""
    return 1 + max(int(dataset.read([group], ["game"])["game"].max()) for group in range(dataset.groups))


def write_epochs(file: Path, epochs: list[Epoch]) -> None:
    """A line for each epoch."""
    with whole(file) as aside, aside.open("w", newline="") as stream:
        lines = csv.DictWriter(stream, list(vars(epochs[0])))
        lines.writeheader()
        lines.writerows(vars(each) for each in epochs)
