"""The learner of the fast path: takes fragments as they come, and makes large minibatches of packed rows."""

import time
from typing import Any

import numpy as np
import ray
import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.core.learner.training_data import TrainingData
from ray.rllib.utils.metrics import NUM_MODULE_STEPS_TRAINED, NUM_MODULE_STEPS_TRAINED_LIFETIME

from ante.training import twins
from ante.training.precision import precision
from ante.training.rollout import Rollout, joined

NAMES = ("policy_loss", "vf_loss", "entropy", "mean_kl_loss", "clipped")
MOST_UNLIKE_ZERO = 1e-4  # below this spread advantages are not blown up


class Fragments(TrainingData):  # type: ignore[misc]
    """Fragments on their way to the learners: rollouts, or references to them.

    With several learners each gets the same number of fragments where that works out, else each gets all of them and
    takes its part of the rows: shares must be equal, since learners wait for each other at every minibatch.
    """

    def __init__(self, fragments: list[Any], share: tuple[int, int] = (0, 1)) -> None:
        super().__init__()
        self.fragments, self.share = fragments, share

    def validate(self) -> None:
        """Nothing can be wrong here."""

    def solve_refs(self) -> None:
        """References are resolved one by one in `rollouts`, since any of them may be lost."""

    def shard(self, num_shards: int, **_: Any) -> list[tuple["Fragments", dict[str, Any]]]:
        """One part for each learner."""
        if len(self.fragments) % num_shards == 0:
            return [(Fragments(self.fragments[i::num_shards]), {}) for i in range(num_shards)]
        return [(Fragments(self.fragments, (i, num_shards)), {}) for i in range(num_shards)]

    def rollouts(self) -> tuple[list[Rollout], int]:
        """What there is of them, and how many were lost with the process that held them."""
        found, lost = [], 0
        for fragment in self.fragments:
            try:
                rollout: Rollout = ray.get(fragment) if isinstance(fragment, ray.ObjectRef) else fragment
            except (ray.exceptions.ObjectLostError, ray.exceptions.GetTimeoutError):
                lost += 1
                continue
            number, parts = self.share
            each = len(rollout) // parts
            found.append(rollout.part(slice(number * each, (number + 1) * each)) if parts > 1 else rollout)
        return found, lost


class BatchLearner(PPOTorchLearner):  # type: ignore[misc]
    """PPO on `Fragments`. What a minibatch goes through stays RLlib's: compute, postprocess and apply gradients."""

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Adam in one kernel for all parameters."""
        params = self.get_parameters(self._module[module_id])
        optimizer = torch.optim.Adam(params, fused=True)
        self.register_optimizer(module_id=module_id, optimizer=optimizer, params=params, lr_or_lr_schedule=config.lr)

    def build(self) -> None:
        """As PPO; threads are shared out before anything is computed."""
        share_cores(self.config)
        super().build()
        if self.config.torch_compile_learner:
            policy = self._policy()
            policy.evaluate = torch.compile(policy.evaluate, dynamic=False)

    def _policy(self) -> Any:
        return self.module[DEFAULT_MODULE_ID].unwrapped()

    def update(
        self,
        *,
        training_data: Fragments,
        timesteps: dict[str, Any] | None = None,
        num_epochs: int = 1,
        minibatch_size: int | None = None,
        return_state: bool = False,
        _no_metrics_reduce: bool = False,
        **_: Any,
    ) -> Any:
        """Go over the fragments' rows `num_epochs` times, each time in another order; answers the metrics.

        Where all fragments were lost nothing is learned, and the metrics say so: an exception would end the run.
        """
        self._check_is_built()
        self.before_gradient_based_update(timesteps=timesteps or {})
        begin = time.perf_counter()
        rollouts, lost = training_data.rollouts()
        rows = self._agreed(sum(map(len, rollouts)))
        self.metrics.log_value((DEFAULT_MODULE_ID, "fragments_lost"), lost, reduce="sum")
        if rows > 0:
            self._learn(joined(rollouts), rows, num_epochs, minibatch_size or rows)
        self.after_gradient_based_update(timesteps=timesteps or {})
        self.metrics.log_value((DEFAULT_MODULE_ID, "learn_seconds"), time.perf_counter() - begin, window=1)
        return None if _no_metrics_reduce else self.metrics.reduce()

    def _agreed(self, rows: int) -> int:
        """The rows that every learner has at least, so that all make the same minibatches."""
        if self.config.num_learners < 2:
            return rows
        fewest = torch.tensor([rows], device=self._device)
        torch.distributed.all_reduce(fewest, torch.distributed.ReduceOp.MIN)
        return int(fewest.item())

    def _learn(self, rollout: Rollout, rows: int, epochs: int, minibatch: int) -> None:
        """All minibatches of one update, with one line of metrics."""
        policy = self._policy()
        staged = policy.stage(rollout.rows) if hasattr(policy, "stage") else rollout.rows
        advantages = normal(rollout.advantages)
        kept = rollout.actions, rollout.log_probs, advantages, rollout.targets
        lag = self._weights_seq_no - rollout.version
        self._weights_seq_no += 1
        rng = np.random.default_rng((self.config.seed or 0, self._weights_seq_no))
        sums, pieces = np.zeros(len(NAMES)), max(1, rows // minibatch)
        for _ in range(epochs):
            for which in np.array_split(rng.permutation(len(rollout))[:rows], pieces):
                sums += self._minibatch(policy, staged[which], tuple(each[which] for each in kept))
        for name, value in zip(NAMES, sums / (epochs * pieces), strict=True):
            self.metrics.log_value((DEFAULT_MODULE_ID, name), float(value), window=1)
        self.metrics.log_value((DEFAULT_MODULE_ID, "policy_lag"), lag, window=1)
        for key in (DEFAULT_MODULE_ID, ALL_MODULES):
            self.metrics.log_value((key, NUM_MODULE_STEPS_TRAINED), rows * epochs, reduce="sum")
            self.metrics.log_value((key, NUM_MODULE_STEPS_TRAINED_LIFETIME), rows * epochs, reduce="lifetime_sum")

    def _minibatch(self, policy: Any, rows: Any, batch: tuple[Any, ...]) -> NDArray[np.float64]:
        """One gradient step; answers the means in NAMES."""
        entropy = self.entropy_coeff_schedulers_per_module[DEFAULT_MODULE_ID].get_current_value()
        weights = float(self.config.clip_param), float(self.config.vf_loss_coeff), float(entropy)
        with precision(self.config.bf16, self._device.type):
            by_hand = policy.ppo_gradient(rows, batch, *weights) if hasattr(policy, "ppo_gradient") else None
            if by_hand:
                gradients, sums = dict(zip(policy.parameters(), by_hand[0], strict=True)), by_hand[1]
            elif hasattr(policy, "ppo_loss"):
                loss, sums = policy.ppo_loss(rows, batch, *weights)
            else:
                actions, log_probs, advantages, targets = (torch.from_numpy(a).to(self._device) for a in batch)
                loss, sums = twins.ppo(policy.evaluate(rows, actions), log_probs, advantages, targets, *weights)
        if not by_hand:
            gradients = self.compute_gradients({DEFAULT_MODULE_ID: loss})
        self.apply_gradients(self.postprocess_gradients(self._averaged(gradients)))
        return np.asarray(sums.cpu(), dtype=np.float64)

    def _averaged(self, gradients: dict[Any, torch.Tensor]) -> dict[Any, torch.Tensor]:
        """The mean over all learners: one message, since the loss does not pass through DDP's own forward."""
        if self.config.num_learners < 2:
            return gradients
        whole = torch.cat([gradient.flatten() for gradient in gradients.values()])
        torch.distributed.all_reduce(whole)
        parts = (whole / self.config.num_learners).split([gradient.numel() for gradient in gradients.values()])
        return {key: part.view_as(gradients[key]) for key, part in zip(gradients, parts, strict=True)}

    def postprocess_gradients_for_module(
        self, *, module_id: str, config: Any = None, module_gradients_dict: dict[Any, torch.Tensor]
    ) -> dict[Any, torch.Tensor]:
        """Cut to the norm `grad_clip`; without a number in them, all are put aside. One norm a step, no more."""
        gradients = list(module_gradients_dict.values())
        norm = torch.nn.utils.get_total_norm(gradients)
        scale = torch.clamp((config.grad_clip or float("inf")) / (norm + 1e-6), max=1.0)
        scale = torch.where(torch.isfinite(norm), scale, torch.zeros_like(scale))
        torch._foreach_mul_(gradients, scale)
        self._usable = bool(torch.isfinite(norm))
        return module_gradients_dict

    def apply_gradients(self, gradients_dict: dict[Any, torch.Tensor]) -> None:
        """One step of each optimizer; none where a gradient was not finite, which is counted."""
        if not self._usable:
            self.metrics.log_value((DEFAULT_MODULE_ID, "steps_without_a_number"), 1, reduce="sum")
            return
        for parameter, gradient in gradients_dict.items():
            self._params[parameter].grad = gradient
        for optimizer in self._named_optimizers.values():
            optimizer.step()


def share_cores(config: Any) -> None:
    """SPEED: this process computes on one thread where others play meanwhile."""
    if config.num_env_runners > 0 or config.overlap:
        torch.set_num_threads(1)


def normal(advantages: NDArray[np.float32]) -> NDArray[np.float32]:
    """Advantages with mean 0 and spread 1, (n,) float32."""
    spread = max(MOST_UNLIKE_ZERO, float(advantages.std(dtype=np.float64)))
    return ((advantages - advantages.mean(dtype=np.float64)) / spread).astype(np.float32)
