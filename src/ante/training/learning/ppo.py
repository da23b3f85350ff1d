"""The learner of PPO, APPO and A2C: the clipped surrogate on large minibatches of packed rows."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME
from ray.rllib.utils.schedules.scheduler import Scheduler

from ante.errors import BalatroError
from ante.training.compat import advance_weights_version, weights_version
from ante.training.learning.learner import FragmentLearner, Gradients, added
from ante.training.numerics import torch_ops
from ante.training.numerics.advantages import values_after, vtrace
from ante.training.numerics.normalisation import are_finite, mean_and_spread, moments, nothing
from ante.training.numerics.precision import precision
from ante.training.policies.layers import ValueHead
from ante.training.policies.mlp_rows import DeviceRows
from ante.training.policies.protocol import on_host, with_frames
from ante.training.sampling.fragment import Rollout, Trajectory, joined
from ante.training.sampling.training_data import Fragments
from ante.training.spans import span

LOSS_METRICS = ("policy_loss", "vf_loss", "entropy", "mean_kl_loss", "clipped", "ratio_distance")
VALUE_LOSS, KL, RATIO = map(LOSS_METRICS.index, ("vf_loss", "mean_kl_loss", "ratio_distance"))
KL_TOLERANCE = 1.5  # an update stops early above this multiple of the KL target
RATIO_TOP = 1.0  # clipping thresholds rho-bar and c-bar of V-trace
FORWARD_ROWS = 4096  # rows per forward pass


class BadHead(BalatroError, TypeError):
    """A policy whose value cannot be normalised."""


class PPOLearner(FragmentLearner):
    """Several epochs of minibatches over each batch with the clipped surrogate loss.

    Fragments with advantages (`Rollout`) are used as they are. For a `Trajectory`, V-trace advantages of the current
    policy are computed first.
    """

    def build(self) -> None:
        """See FragmentLearner; also create the schedule of the entropy bonus."""
        super().build()
        value = self._policy().value
        if self.config.normalise_values and not isinstance(value, ValueHead):
            raise BadHead(
                f"algo.normalise_values needs a policy whose value is a ValueHead (ante.training.policies.layers), not a "
                f"{type(value).__name__}: use one, or leave normalise_values off"
            )
        self._value_scale = 1.0  # standard deviation of value targets
        self._errors: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []  # targets, and targets - values
        self._entropy = Scheduler(self.config.entropy_coeff, framework=self.framework, device=self.device)

    def before_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """See FragmentLearner."""
        super().before_gradient_based_update(timesteps=timesteps)
        weight = self._entropy.update(timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))
        self.metrics.log_value((DEFAULT_MODULE_ID, "curr_entropy_coeff"), weight, window=1)

    def _learn_from(self, fragments: Fragments, before: int, epochs: int, minibatch: int | None) -> int:
        """See FragmentLearner: trains on every row `epochs` times, or once if its action was certain."""
        self._errors.clear()
        rollouts, lost = fragments.rollouts(self._estimated)
        [rows] = self._common_rows(sum(map(len, rollouts)))
        if rows > 0:
            with span("copy"):
                self._learn(joined(rollouts), rows, epochs, minibatch or rows)
        return lost

    def _common_rows(self, *rows: int) -> list[int]:
        """Return the minimum of each number of rows over all learners, so that all make the same minibatches."""
        if self.config.num_learners < 2:
            return list(rows)
        fewest = torch.tensor(rows, device=self.device)
        torch.distributed.all_reduce(fewest, torch.distributed.ReduceOp.MIN)
        return [int(each) for each in fewest.tolist()]

    def _learn(self, rollout: Rollout, rows: int, epochs: int, minibatch: int) -> None:
        """Make all gradient steps of one update and log one line of metrics."""
        policy = self._policy()
        for term in self.terms:
            term.begin(rollout, min(rows, minibatch * self.config.accumulate))
        self._see_targets(policy, rollout)
        with span("stage"):
            staged = self._staged(policy, rollout.seen)
        kept = self._on_device(rollout.actions, rollout.log_probs, self._normal(rollout.advantages), rollout.targets)
        self._log_explained()
        lag = weights_version(self) - rollout.version
        warming_up = weights_version(self) < self.config.critic_warmup
        advance_weights_version(self)
        far = KL_TOLERANCE * (self.config.kl_stop or float("inf"))
        units = policy.sequences(rollout.rows) if hasattr(policy, "sequences") else None
        groups = self._groups(rollout, rows, epochs, minibatch, units)
        every: list[torch.Tensor] = []  # means of each gradient step; SPEED: read once, at the end of the update
        done, trained = 0, 0
        for group in groups:
            gradients, means = self._gradients(policy, staged, kept, group)
            every.append(means)
            if self.config.kl_stop and float(means[KL]) > far:
                break
            with span("optimizer"):
                used = value_head_only(policy, gradients) if warming_up else gradients
                self.apply_gradients(self.postprocess_gradients(used))
            done, trained = done + 1, trained + sum(map(len, group))
        self._log_terms()
        found = torch.stack(every).cpu().numpy()
        self.metrics.log_value((DEFAULT_MODULE_ID, "first_ratio"), float(found[0, RATIO]), window=1)
        self._log_update(found.mean(axis=0), lag, epochs * done / len(groups))
        self._log_trained(trained)

    def _estimated(self, played: Rollout | Trajectory) -> Rollout:
        """Return the rollout to learn from: if advantages are missing, compute V-trace with the current policy."""
        if isinstance(played, Rollout):
            self._errors.append((played.targets, played.advantages))
            return played
        policy, shape, config = self._policy(), played.actions.shape, self.config
        with precision(config.bf16, self.device.type), torch.no_grad():
            seen = with_frames(played.rows.reshape(-1), played.frames)
            log_probs, values = score_actions(policy, seen, played.actions.reshape(-1))
            aside = torch.Generator(self.device).manual_seed(0)
            extra = on_host(policy.act(with_frames(played.extra, played.frames), aside).values)
        values, ratios = values.reshape(shape), np.exp(log_probs.reshape(shape) - played.log_probs)
        after = values_after(values, extra, played.places, played.terminal)
        advantages, targets = np.empty_like(values), np.empty_like(values)
        weights = config.gamma, config.lambda_, RATIO_TOP, RATIO_TOP
        vtrace(played.rewards, values, after, played.cut, ratios, *weights, advantages, targets)
        self._errors.append((targets.reshape(-1), (targets - values).reshape(-1)))
        return played.rollout(advantages, targets)

    def _staged(self, policy: Any, rows: Any) -> Any:
        """Return all rows in a form that can be indexed by minibatch, prepared once."""
        if hasattr(policy, "stage"):
            return policy.stage(rows)
        return rows if self.device.type == "cpu" else DeviceRows(rows, self.device)

    def _on_device(self, *arrays: NDArray[Any]) -> tuple[Any, ...]:
        """Return arrays as they are for a CPU, else as tensors on the device, copied once for an update."""
        return arrays if self.device.type == "cpu" else tuple(torch.from_numpy(each).to(self.device) for each in arrays)

    def _see_targets(self, policy: Any, rollout: Rollout) -> None:
        """Update the normalisation statistics with this batch; moments that are not finite are left out.

        Without value normalisation, statistics from the start of the run (`init_from`) become part of the weights.
        """
        seen = self._summed(np.stack([rollout.returns, moments(rollout.targets)]))
        if are_finite(seen[0]):
            self.scales.returns = self.scales.returns + seen[0]
        if self.config.normalise_values and are_finite(seen[1]):
            policy.value.see_targets(seen[1])
        elif not self.config.normalise_values and isinstance(policy.value, ValueHead):
            policy.value.set_scale(nothing())
        self._value_scale = float(policy.value.spread) if isinstance(policy.value, ValueHead) else 1.0

    def _normal(self, advantages: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return advantages with mean 0 and standard deviation 1 over the rows of all learners, (n,) float32."""
        mean, spread = mean_and_spread(self._summed(moments(advantages)))
        return ((advantages - np.float64(mean)) / np.float64(spread)).astype(np.float32)

    def _summed(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over all learners."""
        if self.config.num_learners < 2:
            return values
        sums = torch.from_numpy(values).to(self.device)
        torch.distributed.all_reduce(sums)
        return np.asarray(sums.cpu(), dtype=np.float64)

    def _groups(
        self,
        rollout: Rollout,
        rows: int,
        epochs: int,
        minibatch: int,
        units: list[NDArray[np.int64]] | None = None,
    ) -> list[list[NDArray[np.int64]]]:
        """Return the minibatches of each gradient step, as indices of `rows` of the rows, reshuffled each epoch.

        units  index arrays that a minibatch must not split; then all rows are used
        """
        rng = np.random.default_rng((self.config.seed or 0, weights_version(self)))
        found: list[tuple[int, list[NDArray[np.int64]]]] = []
        if units:
            each, parts = minibatches_of(rows, minibatch, self.config.accumulate)
            found = [(each, shuffled_parts(units, rng, parts)) for _ in range(epochs)]
        else:
            for visit in filter(len, self._visits(rollout, rows, epochs, rng)):
                each, parts = minibatches_of(len(visit), minibatch, self.config.accumulate)
                found.append((each, np.array_split(visit, parts)))
        return [pieces[i : i + each] for each, pieces in found for i in range(0, len(pieces), each)]

    def _visits(self, rollout: Rollout, rows: int, epochs: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Return the rows of each epoch in random order: `rows` of all, but those with a certain action only once."""
        n = len(rollout)
        if self.config.certain >= 1.0:
            return [rng.permutation(n)[:rows] for _ in range(epochs)]
        certain = rollout.log_probs > math.log(self.config.certain)
        turns = np.where(certain, rng.integers(epochs, size=n), -1)
        found = [rng.permutation(np.flatnonzero((turns == epoch) | ~certain)) for epoch in range(epochs)]
        return [each[:fewest] for each, fewest in zip(found, self._common_rows(*map(len, found)), strict=True)]

    def _gradients(
        self, policy: Any, staged: Any, kept: tuple[Any, ...], group: list[NDArray[np.int64]]
    ) -> tuple[Gradients, torch.Tensor]:
        """Return the gradient of the mean loss over some minibatches of all learners, and the means in LOSS_METRICS."""
        total: Gradients = {}
        sums = torch.zeros(len(LOSS_METRICS), dtype=torch.float64, device=self.device)
        rows = sum(map(len, group))
        for which in group:
            (index,) = self._on_device(which)
            part = staged[which], tuple(each[index] for each in kept)
            with span("gradient"):
                gradients, means = self._minibatch(policy, *part)
            share = len(which) / rows
            sums += share * means
            if share < 1.0:
                torch._foreach_mul_(list(gradients.values()), share)
            total = added(total, gradients)
        return self._averaged(self._with_terms(policy, total), sums)

    def _minibatch(self, policy: Any, rows: Any, batch: tuple[Any, ...]) -> tuple[Gradients, torch.Tensor]:
        """Compute the gradients of one minibatch and the means in LOSS_METRICS."""
        entropy = self._entropy.get_current_value()
        config, square = self.config, self._value_scale**2  # the value loss is that of standardised values
        limits = config.vf_loss_coeff / square, entropy, config.vf_clip_param * square
        weights = tuple(map(float, (config.clip_param, *limits)))
        with precision(config.bf16, self.device.type):
            by_hand = policy.ppo_gradient(rows, batch, *weights) if hasattr(policy, "ppo_gradient") else None
            if by_hand:
                gradients, sums = dict(zip(policy.parameters(), by_hand[0], strict=True)), by_hand[1]
            elif hasattr(policy, "ppo_loss"):
                loss, sums = policy.ppo_loss(rows, batch, *weights)
            else:
                actions, log_probs, advantages, targets = (torch.as_tensor(each, device=self.device) for each in batch)
                loss, sums = torch_ops.ppo(policy.evaluate(rows, actions), log_probs, advantages, targets, *weights)
        if not by_hand:
            gradients = self.compute_gradients({DEFAULT_MODULE_ID: loss})
        means = sums.to(self.device, torch.float64)
        means[VALUE_LOSS] /= square
        return gradients, means

    def _averaged(self, gradients: Gradients, means: torch.Tensor) -> tuple[Gradients, torch.Tensor]:
        """Return the means over all learners in one all-reduce, since the loss bypasses DDP's forward."""
        if self.config.num_learners < 2:
            return gradients, means
        whole = torch.cat([*(gradient.flatten() for gradient in gradients.values()), means.float()])
        torch.distributed.all_reduce(whole)
        *parts, statistics = (whole / self.config.num_learners).split(
            [*(g.numel() for g in gradients.values()), len(means)]
        )
        averaged = {key: part.view_as(gradients[key]) for key, part in zip(gradients, parts, strict=True)}
        return averaged, statistics.double()

    def _log_explained(self) -> None:
        """Log the share of the variance of this batch's value targets that the values predict."""
        targets, errors = (np.concatenate(parts) for parts in zip(*self._errors, strict=True))
        variance = float(targets.var(dtype=np.float64))
        share = 1.0 - float(errors.var(dtype=np.float64)) / variance if variance > 0.0 else math.nan
        self.metrics.log_value((DEFAULT_MODULE_ID, "explained_variance"), share, window=1)

    def _log_update(self, means: NDArray[np.float64], lag: int, epochs: float) -> None:
        """Log one line of metrics: the means in LOSS_METRICS, the lag of the acting policy, the epochs."""
        for name, value in (*zip(LOSS_METRICS, means, strict=True), ("policy_lag", lag), ("epochs", epochs)):
            self.metrics.log_value((DEFAULT_MODULE_ID, name), float(value), window=1)


def value_head_only(policy: Any, gradients: Gradients) -> Gradients:
    """Return the gradients of the value's output layer; the optimizer leaves the other parameters unchanged."""
    head = set(policy.value.parameters())
    for parameter in gradients.keys() - head:
        parameter.grad = None
    return {parameter: each for parameter, each in gradients.items() if parameter in head}


def minibatches_of(rows: int, minibatch: int, accumulate: int) -> tuple[int, int]:
    """Return the number of minibatches of each gradient step, and of all steps of an epoch.

    The steps depend on the product of `minibatch` and `accumulate` only; no minibatch is smaller than `minibatch`, unless
    there are fewer rows.
    """
    steps = max(1, rows // (minibatch * accumulate))
    each = max(1, rows // steps // minibatch)
    return each, steps * each


def shuffled_parts(units: list[NDArray[np.int64]], rng: np.random.Generator, parts: int) -> list[NDArray[np.int64]]:
    """Shuffle units and split them into parts as equal as whole units allow.

    No part is empty if no unit is larger than a part.
    """
    units = [units[i] for i in rng.permutation(len(units))]
    ends = np.cumsum([len(unit) for unit in units])
    cuts = ends[np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts)]
    return np.split(np.concatenate(units), cuts)


def score_actions(
    policy: Any, rows: Any, actions: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return log-probabilities of these actions and values, (n,) each, under the current policy, without gradient."""
    log_probs, values = (np.empty(len(rows), dtype=np.float32) for _ in range(2))
    for at in range(0, len(rows), FORWARD_ROWS):
        part = slice(at, at + FORWARD_ROWS)
        if hasattr(policy, "score_actions"):
            found = policy.score_actions(rows[part], actions[part])
        else:
            found = policy.evaluate(rows[part], actions[part])[::2]
        log_probs[part], values[part] = map(on_host, found)
    return log_probs, values
