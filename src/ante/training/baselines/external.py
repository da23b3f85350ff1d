"""The interface of algorithms from libraries other than RLlib. Imports no such library."""

from abc import ABC, abstractmethod
from typing import Any

from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_LEARNER_GROUP, COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.torch import TorchRLModule

OWN = "external"  # key in the state: what the library needs


class ExternalAlgorithm(ABC):
    """An algorithm of another library with the RLlib methods that training calls; one process, no runners."""

    @abstractmethod
    def train(self) -> dict[str, Any]:
        """Sample one batch and learn from it; return a result in RLlib's format, as `progress.row_of` expects it."""

    @abstractmethod
    def policy(self) -> TorchRLModule:
        """Return a copy of the current policy, of a class that `acting.player.make_player` accepts."""

    @abstractmethod
    def own_state(self) -> dict[str, Any]:
        """Return everything that a resumed run needs except the policy, in a form that `run_store.state_files` writes."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `own_state` returned."""

    def get_state(self) -> dict[str, Any]:
        """See RLlib's Algorithm: the policy has the same place in the state as in RLlib's algorithms."""
        weights = {name: value.numpy() for name, value in self.policy().state_dict().items()}
        return {
            COMPONENT_LEARNER_GROUP: {COMPONENT_LEARNER: {COMPONENT_RL_MODULE: {DEFAULT_MODULE_ID: weights}}},
            OWN: self.own_state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """See RLlib's Algorithm."""
        self.restore(state[OWN])

    def stop(self) -> None:  # noqa: B027 - optional
        """Release resources; does nothing by default."""
