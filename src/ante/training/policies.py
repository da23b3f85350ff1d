"""Which policies there are: one line each in `POLICIES`, and their names in `TrainConfig.policy`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.agents.evaluate import Player
from ante.training.checkpoints import find_checkpoint
from ante.training.cnn import CnnPolicy, FusedCnnPolicy, PixelPlayer, PixelRunner
from ante.training.config import TrainConfig, value_at
from ante.training.duelling import QPolicy
from ante.training.entities import EntityPlayer, EntityPolicy
from ante.training.lstm import LstmPlayer, LstmPolicy, LstmRunner
from ante.training.packed import PackedPolicy
from ante.training.planner import PlannerPlayer, PlannerPolicy, PlannerRunner
from ante.training.policy import MaskedPolicy, PolicyPlayer
from ante.training.quiet import be_quiet
from ante.training.runner import BatchRunner
from ante.training.shortlist import ShortlistPlayer, ShortlistPolicy

MODULE_IN_CHECKPOINT = Path("algorithm/learner_group/learner/rl_module/default_policy")


@dataclass(frozen=True)
class Choice:
    """One policy.

    fast      its class on packed rows, a `rollout.RolloutPolicy` with `spaces()`
    player    makes a Player of it: (policy, name, likeliest, seed)
    settings  its model_config
    bf16      whether products in bf16 are faster than in float32 where the machine has them
    stock     its class on RLlib's own path; None where there is none
    runner    the env runner that it needs on the fast path; None for the algorithm's own
    """

    fast: type[TorchRLModule]
    player: Callable[..., Player]
    settings: Callable[[TrainConfig], dict[str, Any]]
    bf16: bool
    stock: type[TorchRLModule] | None = None
    runner: type[BatchRunner] | None = None


def of_mlp(config: TrainConfig) -> dict[str, Any]:
    """What MaskedPolicy reads."""
    return {"hidden": list(config.hidden)}


def of_entities(config: TrainConfig) -> dict[str, Any]:
    """What EntityPolicy reads."""
    return {name: getattr(config, name) for name in ("width", "layers", "heads", "trunk")}


def of_shortlist(config: TrainConfig) -> dict[str, Any]:
    """What ShortlistPolicy reads."""
    return {"hidden": list(config.hidden), "entry": config.entry}


def of_lstm(config: TrainConfig) -> dict[str, Any]:
    """What LstmPolicy reads."""
    return {"hidden": list(config.hidden), "memory": config.memory, "sequence": config.sequence}


def of_cnn(config: TrainConfig) -> dict[str, Any]:
    """What CnnPolicy reads."""
    seen = {"stack": config.frame_stack, "size": list(config.pixel_size), "colour": config.pixel_colour}
    return {"hidden": list(config.hidden), "channels": list(config.channels), **seen}


def of_q(config: TrainConfig) -> dict[str, Any]:
    """What QPolicy reads."""
    return {"hidden": list(config.hidden), "duelling": config.duelling, "explore": value_at(config.epsilon, 0)}


POLICIES = {
    "mlp": Choice(PackedPolicy, PolicyPlayer, of_mlp, bf16=True, stock=MaskedPolicy),
    "entities": Choice(EntityPolicy, EntityPlayer, of_entities, bf16=False),  # decision 12: slower in bf16
    "shortlist": Choice(ShortlistPolicy, ShortlistPlayer, of_shortlist, bf16=False),  # decision 15: the same
    "planner": Choice(PlannerPolicy, PlannerPlayer, of_shortlist, bf16=False, runner=PlannerRunner),
    "lstm": Choice(LstmPolicy, LstmPlayer, of_lstm, bf16=False, runner=LstmRunner),
    "cnn": Choice(CnnPolicy, PixelPlayer, of_cnn, bf16=False, runner=PixelRunner),
    "cnn-fused": Choice(FusedCnnPolicy, PixelPlayer, of_cnn, bf16=False, runner=PixelRunner),
}


Q_POLICIES = {"mlp": Choice(QPolicy, PolicyPlayer, of_q, bf16=False)}  # of algo dqn


def choice_of(config: TrainConfig) -> Choice:
    """The policy that a run of this configuration learns."""
    return (Q_POLICIES if config.algo == "dqn" else POLICIES)[config.policy]


def load_policy(run: Path, pointer: str = "best") -> tuple[TorchRLModule, dict[str, Any]]:
    """The policy of a run's checkpoint, of whichever class, and the checkpoint's metadata. Raises BadCheckpoint."""
    checkpoint, metadata = find_checkpoint(run / "checkpoints", pointer)
    be_quiet()
    return TorchRLModule.from_checkpoint(str((checkpoint / MODULE_IN_CHECKPOINT).resolve())), metadata


def make_player(
    policy: TorchRLModule, name: str, likeliest: bool = False, seed: int = 0, reorder: str = "none"
) -> Player:
    """A trained policy of any class as evaluation and videos ask for it; `reorder` is what its games offered."""
    choice = next(
        each for each in (*POLICIES.values(), *Q_POLICIES.values()) if type(policy) in (each.fast, each.stock)
    )
    player = choice.player(policy, name, likeliest, seed)
    player.reorder = reorder
    return player
