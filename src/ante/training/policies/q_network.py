"""The Q-network of DQN, with separate value and advantage heads (dueling)."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns

from ante.training.numerics import torch_ops
from ante.training.numerics.distributions import OFF
from ante.training.numerics.packed_rows import AT_MASK, MASK_BYTES, octets_of
from ante.training.numerics.replay_kernels import epsilon_greedy
from ante.training.policies.mlp_rows import DeviceRows, FilledRows, PackedPolicy, SparseFirst
from ante.training.policies.protocol import Choice

# A purely greedy policy can loop in evaluations, selecting and unselecting one card.
EVAL_EPSILON = 0.01
EXPLORE = "explore"  # the buffer with the epsilon of training


class QPolicy(PackedPolicy):
    """The layers of PackedPolicy as a Q-network: its logit and value heads hold advantages and state value (dueling).

    model_config: hidden; duelling, whether the state value is added; explore, the initial epsilon. Evaluation and
    videos use EVAL_EPSILON; runners use `explore`.
    """

    bf16 = False

    def setup(self) -> None:
        """Build the layers, and epsilon as a buffer, so that it is sent and saved with the weights."""
        super().setup()
        self.register_buffer(EXPLORE, torch.tensor(float(self.model_config["explore"])))

    def q_values(self, rows: FilledRows | torch.Tensor) -> torch.Tensor:
        """Return action values of staged rows, (m, actions) with gradient; OFF where an action is illegal."""
        if isinstance(rows, FilledRows):
            features = SparseFirst.apply(self.trunk[0].weight, self.trunk[0].bias, rows, torch.float32)
            legal = torch_ops.bits_of(torch.from_numpy(rows.legal), self.policy.out_features)
        else:
            features = self.trunk[0](torch_ops.unpack_octets(rows))
            legal = torch_ops.legal_of(rows)
        features = self.trunk[1:](features)
        return self._together(self.policy(features), self.value(features), legal)

    def _together(self, advantages: torch.Tensor, values: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """Return action values: values (m, 1) plus advantages (m, actions) centred on their mean over legal actions."""
        if self.model_config["duelling"]:
            mean = (advantages * legal).sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True).clamp(min=1)
            advantages = values + advantages - mean
        return advantages.masked_fill(~legal, OFF)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """Choose the greedy action of each row or, with probability `explore`, a uniform legal one; see GamePolicy."""
        q_values = self.q_values(self.stage(seen)).cpu().numpy()
        explore, draws = 0.0, np.ones((len(seen), 2), dtype=np.float32)
        if not likeliest:
            explore, draws = (
                float(self.explore),
                torch.rand((len(seen), 2), generator=rng, device=self.device).cpu().numpy(),
            )
        legal = octets_of(seen)[:, AT_MASK : AT_MASK + MASK_BYTES]
        actions, log_probs = np.empty(len(seen), dtype=np.int64), np.empty(len(seen), dtype=np.float32)
        epsilon_greedy(q_values, legal, draws, explore, actions, log_probs)
        return Choice(actions, log_probs, q_values.max(axis=1))

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act_octets(self, octets: torch.Tensor, rng: torch.Generator | None, likeliest: bool = False) -> Choice:
        """`act` on rows on the device; see PackedPolicy."""
        q_values, legal = self.q_values(octets), torch_ops.legal_of(octets)
        best = q_values.max(dim=1)
        if likeliest:
            return Choice(best.indices, torch.zeros_like(best.values), best.values)
        draws = torch.rand((len(octets), 2), generator=rng, device=self.device)
        options = legal.sum(dim=1)
        number = torch.minimum((draws[:, 1].double() * options).long(), options - 1)
        anyone = (legal.cumsum(dim=1) <= number[:, None]).sum(dim=1)
        actions = torch.where(draws[:, 0] < self.explore, anyone, best.indices)
        greedy = torch.where(actions == best.indices, 1.0 - self.explore, 0.0)
        return Choice(actions, (self.explore / options + greedy).log(), best.values)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def action_log_probs(self, seen: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, None]:
        """See GamePolicy; epsilon-greedy with EVAL_EPSILON, for use outside training."""
        q_values = self.q_values(self.stage(seen))
        legal = torch_ops.legal_of(self._octets(seen))
        return epsilon_greedy_logs(q_values, legal), q_values.max(dim=1).values, None

    def _outputs(self, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return action values (n, actions) of dense observations, and their maximum (n,)."""
        observation = batch[Columns.OBS]
        features = self.trunk(observation["observations"].float())
        legal = observation["action_mask"] != 0
        q_values = self._together(self.policy(features), self.value(features), legal)
        return q_values, q_values.max(dim=1).values

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        """Return log-probabilities of the epsilon-greedy policy with EVAL_EPSILON."""
        legal = batch[Columns.OBS]["action_mask"] != 0
        return {Columns.ACTION_DIST_INPUTS: epsilon_greedy_logs(self._outputs(batch)[0], legal)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of the greedy action, (n,)."""
        return self._outputs(batch)[1]

    def stage(self, rows: NDArray[Any]) -> Any:
        """Prepare rows for `q_values`."""
        if self.device.type == "cpu":
            return FilledRows(rows)
        return DeviceRows(rows, self.device)[np.arange(len(rows))]


def epsilon_greedy_logs(q_values: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities (n, actions) of the epsilon-greedy policy with EVAL_EPSILON."""
    found = legal * (EVAL_EPSILON / legal.sum(dim=1, keepdim=True))
    found = found.scatter_add(
        1, q_values.argmax(dim=1, keepdim=True), torch.full_like(q_values[:, :1], 1 - EVAL_EPSILON)
    )
    return found.log().clamp(min=OFF)
