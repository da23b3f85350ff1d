"""The learner of the fast path: takes fragments as they come, and makes large minibatches of packed rows."""

import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_MODULE_STEPS_TRAINED,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
)

from ante.training import twins
from ante.training.estimates import values_after, vtrace
from ante.training.fragments import Fragments
from ante.training.packed import DeviceRows
from ante.training.precision import precision
from ante.training.rollout import Rollout, Trace, joined, on_host, shown
from ante.training.scales import SCALES, Scales, moments

NAMES = ("policy_loss", "vf_loss", "entropy", "mean_kl_loss", "clipped")
KL = NAMES.index("mean_kl_loss")
TOO_FAR = 1.5  # times the KL target
RATIO_TOP = 1.0  # of V-trace, its rho and c
JUDGED = 4096  # rows put through the network at once
MOST_UNLIKE_ZERO = 1e-4  # below this spread advantages are not blown up
Gradients = dict[Any, torch.Tensor]


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
        self.scales = Scales()
        if self.config.torch_compile_learner:
            policy = self._policy()
            policy.evaluate = torch.compile(policy.evaluate, dynamic=False)

    def _policy(self) -> Any:
        return self.module[DEFAULT_MODULE_ID].unwrapped()

    def before_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Schedules stand where the steps before this batch put them: nothing to remember, so exact after a resume."""
        super().before_gradient_based_update(timesteps=timesteps)
        steps = timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0)
        for optimizer, schedule in self._optimizer_lr_schedules.items():
            self._set_optimizer_lr(optimizer, lr=schedule.update(steps))
        self.entropy_coeff_schedulers_per_module[DEFAULT_MODULE_ID].update(steps)

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
        """Learn from the fragments, for PPO from every row `num_epochs` times; answers the metrics.

        timesteps  steps before this batch, for schedules

        Where all fragments were lost nothing is learned, and the metrics say so: an exception would end the run.
        """
        self._check_is_built()
        self.before_gradient_based_update(timesteps=timesteps or {})
        begin = time.perf_counter()
        before = int((timesteps or {}).get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))
        lost = self._learn_from(training_data, before, num_epochs, minibatch_size)
        self.metrics.log_value((DEFAULT_MODULE_ID, "fragments_lost"), lost, reduce="sum")
        self.after_gradient_based_update(timesteps=timesteps or {})
        self.metrics.log_value((DEFAULT_MODULE_ID, "learn_seconds"), time.perf_counter() - begin, window=1)
        return None if _no_metrics_reduce else self.metrics.reduce()

    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        """All gradient steps that these fragments are worth, `before` steps into the run; answers how many were lost."""
        rollouts, lost = fragments.rollouts(self._estimated)
        rows = self._agreed(sum(map(len, rollouts)))
        if rows > 0:
            self._learn(joined(rollouts), rows, epochs, minibatch or rows)
        return lost

    def _agreed(self, rows: int) -> int:
        """The rows that every learner has at least, so that all make the same minibatches."""
        if self.config.num_learners < 2:
            return rows
        fewest = torch.tensor([rows], device=self._device)
        torch.distributed.all_reduce(fewest, torch.distributed.ReduceOp.MIN)
        return int(fewest.item())

    def _learn(self, rollout: Rollout, rows: int, epochs: int, minibatch: int) -> None:
        """All gradient steps of one update, with one line of metrics."""
        policy = self._policy()
        targets = self._scaled(policy, rollout)
        staged = self._staged(policy, rollout.seen)
        kept = rollout.actions, rollout.log_probs, normal(rollout.advantages), targets
        lag = self._weights_seq_no - rollout.version
        self._weights_seq_no += 1
        far = TOO_FAR * (self.config.kl_stop or float("inf"))
        units = policy.sequences(rollout.rows) if hasattr(policy, "sequences") else None
        groups, sums, seen, done = (
            self._groups(len(rollout), rows, epochs, minibatch, units),
            np.zeros(len(NAMES)),
            0,
            0,
        )
        for group in groups:
            gradients, means = self._gradients(policy, staged, kept, group)
            sums, seen = sums + means, seen + 1
            if means[KL] > far:
                break
            self.apply_gradients(self.postprocess_gradients(gradients))
            done += 1
        self._tell(sums / seen, lag, epochs * done / len(groups), rows)

    def _estimated(self, played: Rollout | Trace) -> Rollout:
        """What is learned from; where advantages are still to be worked out, that is V-trace with the present policy."""
        if isinstance(played, Rollout):
            return played
        policy, shape, config = self._policy(), played.actions.shape, self.config
        with precision(config.bf16, self._device.type), torch.no_grad():
            seen = shown(played.rows.reshape(-1), played.frames)
            log_probs, values = judged(policy, seen, played.actions.reshape(-1))
            aside = torch.Generator(self._device).manual_seed(0)
            extra = on_host(policy.act(shown(played.extra, played.frames), aside)[2])
        if config.normalise_values:
            values, extra = self.scales.values(values), self.scales.values(extra)
        values, ratios = values.reshape(shape), np.exp(log_probs.reshape(shape) - played.log_probs)
        after = values_after(values, extra, played.places, played.terminal)
        advantages, targets = np.empty_like(values), np.empty_like(values)
        weights = config.gamma, config.lambda_, RATIO_TOP, RATIO_TOP
        vtrace(played.rewards, values, after, played.cut, ratios, *weights, advantages, targets)
        return played.rollout(advantages, targets)

    def _staged(self, policy: Any, rows: Any) -> Any:
        """All rows, to be indexed for a minibatch, made ready once."""
        if hasattr(policy, "stage"):
            return policy.stage(rows)
        return rows if self._device.type == "cpu" else DeviceRows(rows, self._device)

    def _scaled(self, policy: Any, rollout: Rollout) -> NDArray[np.float32]:
        """What the value head should answer, (n,); the spreads that normalisation divides by take this batch in."""
        seen = np.stack([rollout.returns, moments(rollout.targets)])
        if self.config.num_learners > 1:
            both = torch.from_numpy(seen).to(self._device)
            torch.distributed.all_reduce(both)
            seen = both.cpu().numpy()
        self.scales.returns = self.scales.returns + seen[0]
        if not self.config.normalise_values:
            return rollout.targets
        self.scales.see_targets(seen[1], policy.value)
        return self.scales.outputs(rollout.targets)

    def _groups(
        self, n: int, rows: int, epochs: int, minibatch: int, units: list[NDArray[np.int64]] | None = None
    ) -> list[list[NDArray[np.int64]]]:
        """The rows of each gradient step: its minibatches, as indices of `rows` of the n, another order each epoch.

        units  what a minibatch takes whole, as indices of the n; then all of the n are taken
        """
        rng = np.random.default_rng((self.config.seed or 0, self._weights_seq_no))
        groups, each = [], self.config.accumulate
        for _ in range(epochs):
            parts = max(1, rows // minibatch)
            pieces = dealt(units, rng, parts) if units else np.array_split(rng.permutation(n)[:rows], parts)
            groups += [pieces[i : i + each] for i in range(0, len(pieces), each)]
        return groups

    def _gradients(
        self, policy: Any, staged: Any, kept: tuple[NDArray[Any], ...], group: list[NDArray[np.int64]]
    ) -> tuple[Gradients, NDArray[np.float64]]:
        """The gradient of the mean loss over some minibatches of all learners, and the means in NAMES."""
        total: Gradients = {}
        sums, rows = np.zeros(len(NAMES)), sum(map(len, group))
        for which in group:
            gradients, means = self._minibatch(policy, staged[which], tuple(each[which] for each in kept))
            share = len(which) / rows
            sums += share * means
            if share < 1.0:
                torch._foreach_mul_(list(gradients.values()), share)
            total = {key: total[key] + each for key, each in gradients.items()} if total else gradients
        return self._averaged(self._besides(policy, total), sums)

    def _besides(self, policy: Any, gradients: Gradients) -> Gradients:
        """The gradient of a step, with that of anything else that is learned."""
        return gradients

    def _minibatch(self, policy: Any, rows: Any, batch: tuple[Any, ...]) -> tuple[Gradients, NDArray[np.float64]]:
        """Gradients of one minibatch, and the means in NAMES."""
        entropy = self.entropy_coeff_schedulers_per_module[DEFAULT_MODULE_ID].get_current_value()
        config = self.config
        weights = tuple(map(float, (config.clip_param, config.vf_loss_coeff, entropy, config.vf_clip_param)))
        with precision(config.bf16, self._device.type):
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
        return gradients, np.asarray(sums.cpu(), dtype=np.float64)

    def _averaged(self, gradients: Gradients, means: NDArray[np.float64]) -> tuple[Gradients, NDArray[np.float64]]:
        """The means over all learners: one message, since the loss does not pass through DDP's own forward."""
        if self.config.num_learners < 2:
            return gradients, means
        told = torch.from_numpy(means.astype(np.float32)).to(self._device)
        whole = torch.cat([*(gradient.flatten() for gradient in gradients.values()), told])
        torch.distributed.all_reduce(whole)
        *parts, told = (whole / self.config.num_learners).split([*(g.numel() for g in gradients.values()), len(means)])
        averaged = {key: part.view_as(gradients[key]) for key, part in zip(gradients, parts, strict=True)}
        return averaged, told.cpu().numpy().astype(np.float64)

    def _tell(self, means: NDArray[np.float64], lag: int, epochs: float, rows: int) -> None:
        """One line of metrics: the means in NAMES, how old the policy that acted was, passes made over the rows."""
        for name, value in (*zip(NAMES, means, strict=True), ("policy_lag", lag), ("epochs", epochs)):
            self.metrics.log_value((DEFAULT_MODULE_ID, name), float(value), window=1)
        self._tell_trained(rows * epochs)

    def _tell_trained(self, rows: float) -> None:
        """Rows that were put through the network, under the names that RLlib asks for."""
        for key in (DEFAULT_MODULE_ID, ALL_MODULES):
            self.metrics.log_value((key, NUM_MODULE_STEPS_TRAINED), rows, reduce="sum")
            self.metrics.log_value((key, NUM_MODULE_STEPS_TRAINED_LIFETIME), rows, reduce="lifetime_sum")

    def get_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """As PPO, with what normalisation divides by."""
        return {**super().get_state(*args, **kwargs), SCALES: self.scales.state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """As PPO, with what normalisation divides by."""
        super().set_state(state)
        if SCALES in state:  # not in checkpoints of before
            self.scales.restore(state[SCALES])

    def postprocess_gradients_for_module(
        self, *, module_id: str, config: Any = None, module_gradients_dict: Gradients
    ) -> Gradients:
        """Cut to the norm `grad_clip`; without a number in them, all are put aside. One norm a step, no more."""
        gradients = list(module_gradients_dict.values())
        norm = torch.nn.utils.get_total_norm(gradients)
        scale = torch.clamp((config.grad_clip or float("inf")) / (norm + 1e-6), max=1.0)
        scale = torch.where(torch.isfinite(norm), scale, torch.zeros_like(scale))
        torch._foreach_mul_(gradients, scale)
        self._usable = bool(torch.isfinite(norm))
        return module_gradients_dict

    def apply_gradients(self, gradients_dict: Gradients) -> None:
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
    if config.num_env_runners > 0 or config.lag > 0:
        torch.set_num_threads(1)


def normal(advantages: NDArray[np.float32]) -> NDArray[np.float32]:
    """Advantages with mean 0 and spread 1, (n,) float32."""
    spread = max(MOST_UNLIKE_ZERO, float(advantages.std(dtype=np.float64)))
    return ((advantages - advantages.mean(dtype=np.float64)) / spread).astype(np.float32)


def dealt(units: list[NDArray[np.int64]], rng: np.random.Generator, parts: int) -> list[NDArray[np.int64]]:
    """Units one after the other in a random order, cut into so many parts as near to equal as whole units allow.

    No part is empty where no unit is larger than a part.
    """
    units = [units[i] for i in rng.permutation(len(units))]
    ends = np.cumsum([len(unit) for unit in units])
    cuts = ends[np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts)]
    return np.split(np.concatenate(units), cuts)


def judged(policy: Any, rows: Any, actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Log-probabilities of these actions on these rows and values, (n,) each, of the policy as it is; no gradient."""
    log_probs, values = (np.empty(len(rows), dtype=np.float32) for _ in range(2))
    for at in range(0, len(rows), JUDGED):
        part = slice(at, at + JUDGED)
        if hasattr(policy, "judge"):
            found = policy.judge(rows[part], actions[part])
        else:
            found = policy.evaluate(rows[part], actions[part])[::2]
        log_probs[part], values[part] = map(on_host, found)
    return log_probs, values
