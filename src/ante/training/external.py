"""What a run asks of an algorithm that does not come from RLlib. Knows no library itself."""

from abc import ABC, abstractmethod
from typing import Any

from ray.rllib.core.rl_module.torch import TorchRLModule


class ExternalAlgorithm(ABC):
    """An algorithm of another library, with RLlib's names for what `training.train` calls: one process, no runners."""

    @abstractmethod
    def train(self) -> dict[str, Any]:
        """Play one batch and learn from it; answers what `progress.row_of` reads, in RLlib's form."""

    @abstractmethod
    def policy(self) -> TorchRLModule:
        """A copy of the policy as it is now, of a class that `policies.POLICIES` knows."""

    @abstractmethod
    def save_to_path(self, folder: str) -> None:
        """Everything to go on with stands in this folder, the policy where `policies.load_policy` looks for it."""

    @abstractmethod
    def restore_from_path(self, folder: str) -> None:
        """It goes on from such a folder."""

    def stop(self) -> None:  # noqa: B027 - those that hold something override it
        """Nothing is held that must be let go."""
