"""The base class of the fast path's learners: gets fragments, applies gradients, adds loss terms."""

import math
import time
from abc import abstractmethod
from collections import defaultdict
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from ray.rllib.core import ALL_MODULES, COMPONENT_OPTIMIZER, DEFAULT_MODULE_ID
from ray.rllib.core.learner.torch.torch_learner import TorchLearner
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_MODULE_STEPS_TRAINED,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
)

from ante.training.compat import includes_component, reduced_metrics, set_learning_rates
from ante.training.numerics.normalisation import SCALES, Scales
from ante.training.numerics.precision import precision
from ante.training.policies.layers import ValueHead
from ante.training.sampling.training_data import Fragments

Gradients = dict[Any, torch.Tensor]
TERMS = "terms"  # in the learner's state
GB = 2**30


class FragmentLearner(TorchLearner):  # type: ignore[misc]
    """Learns from `Fragments` of packed rows. A subclass defines the gradient steps in `_learn_from`.

    terms   additional loss terms, from the configuration's `loss_terms`
    scales  statistics for normalisation
    """

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Configure fused Adam."""
        params = self.get_parameters(self.module[module_id])
        optimizer = torch.optim.Adam(params, fused=True)
        self.register_optimizer(module_id=module_id, optimizer=optimizer, params=params, lr_or_lr_schedule=config.lr)

    def build(self) -> None:
        """See Learner; sets the number of threads first."""
        share_cores(self.config)
        super().build()
        self.scales = Scales()
        self.terms = [kind(self.config) for kind in self.config.loss_terms]
        self._term_losses: dict[str, list[float]] = defaultdict(list)
        self._norms: list[torch.Tensor] = []  # of the gradients of this update, before clipping, on their device

    def _policy(self) -> Any:
        return self.module[DEFAULT_MODULE_ID].unwrapped()

    def compute_loss_for_module(self, **_: Any) -> torch.Tensor:
        """Not used: losses are computed from packed rows."""
        raise NotImplementedError

    def before_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Set the schedules to the number of steps before this batch: stateless, so exact after a resume."""
        super().before_gradient_based_update(timesteps=timesteps)
        steps = timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0)
        set_learning_rates(self, steps)
        for term in self.terms:
            term.schedule(steps)

    def update(
        self,
        *,
        training_data: Fragments,
        timesteps: dict[str, Any] | None = None,
        num_epochs: int = 1,
        minibatch_size: int | None = None,
        **rllib: Any,
    ) -> Any:
        """Train on the fragments and return the metrics.

        timesteps  steps before this batch, for schedules

        If all fragments were lost, nothing is learned, and the metrics show it; an exception would end the run.
        """
        self.before_gradient_based_update(timesteps=timesteps or {})
        begin = time.perf_counter()
        before = int((timesteps or {}).get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))
        lost = self._learn_from(training_data, before, num_epochs, minibatch_size)
        self.metrics.log_value((DEFAULT_MODULE_ID, "fragments_lost"), lost, window=1)
        self._log_gradients()
        if self.device.type == "cuda":
            for name, value in gpu_use(self.device).items():
                self.metrics.log_value((DEFAULT_MODULE_ID, name), value, window=1)
        self.after_gradient_based_update(timesteps=timesteps or {})
        self.metrics.log_value((DEFAULT_MODULE_ID, "learn_seconds"), time.perf_counter() - begin, window=1)
        return reduced_metrics(self, rllib)

    @abstractmethod
    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        """Take the gradient steps for these fragments, `before` steps into the run; return the number of lost ones."""

    def _with_terms(self, policy: Any, gradients: Gradients) -> Gradients:
        """Return the gradient of a step, including the other loss terms."""
        for term in self.terms:
            if term.weight == 0.0:
                continue
            with precision(self.config.bf16, self.device.type):
                loss = term.loss(policy)
            if loss is None:
                continue
            self._term_losses[term.name].append(loss.item())
            own = self.compute_gradients({DEFAULT_MODULE_ID: term.weight * loss})
            gradients = added(gradients, own)
        return gradients

    def compute_gradients(self, loss_per_module: dict[str, torch.Tensor], **kwargs: Any) -> Gradients:
        """See Learner; without the parameters that the loss does not depend on, or that are frozen."""
        found = super().compute_gradients(loss_per_module, **kwargs)
        return {parameter: each for parameter, each in found.items() if each is not None}

    def _log_terms(self) -> None:
        """Log the mean losses of the terms since the last call."""
        for name, losses in self._term_losses.items():
            self.metrics.log_value((DEFAULT_MODULE_ID, name), float(np.mean(losses)), window=1)
        self._term_losses.clear()

    def _log_gradients(self) -> None:
        """Log the mean norm of the usable gradients of this update, and the number of the others."""
        norms = torch.stack(self._norms).cpu().numpy().astype(np.float64) if self._norms else np.zeros(0)
        usable = norms[np.isfinite(norms)]
        skipped = len(norms) - len(usable)
        mean = float(usable.mean()) if len(usable) else math.nan
        self.metrics.log_value((DEFAULT_MODULE_ID, "nonfinite_grad_steps"), skipped, window=1)
        self.metrics.log_value((DEFAULT_MODULE_ID, "grad_norm"), mean, window=1)
        self._norms.clear()

    def _log_trained(self, rows: float) -> None:
        """Log the number of trained rows under RLlib's names."""
        for key in (DEFAULT_MODULE_ID, ALL_MODULES):
            self.metrics.log_value((key, NUM_MODULE_STEPS_TRAINED), rows, reduce="sum")
            self.metrics.log_value((key, NUM_MODULE_STEPS_TRAINED_LIFETIME), rows, reduce="lifetime_sum")

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """See Learner; with the normalisation statistics and, if requested, the state of the loss terms."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        if includes_component(self, TERMS, components, not_components):
            state[TERMS] = {term.name: term.saved() for term in self.terms}
        return {**state, SCALES: self.scales.state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """See Learner; with the normalisation statistics and the loss terms, if they are included.

        The optimizer's state is copied: its arrays may lie in Ray's object store, where all learners of a machine would
        update them.
        """
        if COMPONENT_OPTIMIZER in state:
            state = {**state, COMPONENT_OPTIMIZER: deepcopy(state[COMPONENT_OPTIMIZER])}
        super().set_state(state)
        for term in self.terms:
            if term.name in state.get(TERMS, {}):
                term.restore(state[TERMS][term.name])
        if SCALES in state:  # missing in older checkpoints
            self.scales.restore(state[SCALES])
            if "targets" in state[SCALES] and isinstance(self._policy().value, ValueHead):  # of older checkpoints
                self._policy().value.set_moments(np.array(state[SCALES]["targets"]))

    def postprocess_gradients_for_module(
        self, *, module_id: str, config: Any = None, module_gradients_dict: Gradients
    ) -> Gradients:
        """Clip the gradients to the norm `grad_clip`, which is computed once; apply_gradients drops non-finite ones."""
        gradients = list(module_gradients_dict.values())
        norm = torch.nn.utils.get_total_norm(gradients)
        scale = torch.clamp((config.grad_clip or float("inf")) / (norm + 1e-6), max=1.0)
        torch._foreach_mul_(gradients, scale)
        self._norms.append(norm)
        return module_gradients_dict

    def apply_gradients(self, gradients_dict: Gradients) -> None:
        """Step the optimizer; a step with a non-finite gradient is skipped.

        SPEED: fused Adam decides this on the device, so that the host does not wait for each norm.
        """
        for parameter, gradient in gradients_dict.items():
            parameter.grad = gradient
        optimizer = self.get_optimizer()
        optimizer.found_inf = (~torch.isfinite(self._norms[-1])).float()
        optimizer.step()


def added(one: Gradients, two: Gradients) -> Gradients:
    """Return the sums of gradients; a parameter may be missing from either."""
    sums = {parameter: each + two[parameter] if parameter in two else each for parameter, each in one.items()}
    return {**two, **sums}


def gpu_use(device: torch.device) -> dict[str, float]:
    """Return the metrics of a learner's GPU; the utilisation is NaN if NVIDIA's library does not report it."""
    found = {"gpu_utilisation": math.nan, "gpu_memory_gb": torch.cuda.max_memory_allocated(device) / GB}
    try:
        import pynvml  # of the extra gpu
    except ModuleNotFoundError:
        return found
    with suppress(pynvml.NVMLError):  # some containers and devices have no utilisation
        found["gpu_utilisation"] = torch.cuda.utilization(device) / 100.0
    return found


def share_cores(config: Any) -> None:
    """SPEED: use one thread while env runners sample concurrently."""
    if config.num_env_runners > 0 or config.lag > 0:
        torch.set_num_threads(1)
