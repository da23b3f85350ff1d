"""The policy of DQN: what each decision is worth, as value of the position plus advantage of the decision."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns

from ante.training import twins
from ante.training.chances import OFF
from ante.training.packed import DeviceRows, FilledRows, PackedPolicy, SparseFirst
from ante.training.replay_kernels import epsilon_greedy
from ante.training.rows import AT_MASK, MASK_BYTES, octets_of

SLIP = 0.01  # chance of any legal decision in evaluations: who always takes the best may select and unselect for ever


class QPolicy(PackedPolicy):
    """PackedPolicy's layers, read as worths: the heads of logits and value are advantages and value (duelling).

    model_config: hidden; duelling, whether the value takes part; explore, the chance of any legal decision at first.
    Evaluation and videos take the best decision, but for slips; the runners explore.
    """

    def setup(self) -> None:
        """The layers, and the chance to explore, which travels and is kept with the weights."""
        super().setup()
        self.register_buffer("explore", torch.tensor(float(self.model_config["explore"])))

    def worths(self, rows: FilledRows | torch.Tensor) -> torch.Tensor:
        """What every decision is worth on staged rows, (m, actions) with gradient; OFF where it is not legal."""
        if isinstance(rows, FilledRows):
            features = SparseFirst.apply(self.trunk[0].weight, self.trunk[0].bias, rows, torch.float32)
            legal = twins.bits_of(torch.from_numpy(rows.legal), self.policy.out_features)
        else:
            features = self.trunk[0](twins.unpack_octets(rows))
            legal = twins.legal_of(rows)
        features = self.trunk[1:](features)
        return self._together(self.policy(features), self.value(features), legal)

    def _together(self, advantages: torch.Tensor, values: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """Worths of advantages (m, actions) and values (m, 1): advantages count by their distance from the legal mean."""
        if self.model_config["duelling"]:
            mean = (advantages * legal).sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True).clamp(min=1)
            advantages = values + advantages - mean
        return advantages.masked_fill(~legal, OFF)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(self, rows: NDArray[Any], rng: torch.Generator) -> tuple[Any, Any, Any]:
        """The best decision of each row or, with the chance `explore`, any legal one; else as `RolloutPolicy.act`."""
        uniforms = torch.rand((len(rows), 2), generator=rng, device=rng.device).cpu().numpy()
        worths = self.worths(self.stage(rows)).cpu().numpy()
        legal = octets_of(rows)[:, AT_MASK : AT_MASK + MASK_BYTES]
        actions, log_probs = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.float32)
        epsilon_greedy(worths, legal, uniforms, float(self.explore), actions, log_probs)
        return actions, log_probs, worths.max(axis=1)

    def _outputs(self, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Worths (n, actions) of dense observations, and the best of them (n,)."""
        observation = batch[Columns.OBS]
        features = self.trunk(observation["observations"].float())
        legal = observation["action_mask"] != 0
        worths = self._together(self.policy(features), self.value(features), legal)
        return worths, worths.max(dim=1).values

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        """Log-probabilities: who draws from them takes the best decision, but for slips."""
        worths = self._outputs(batch)[0]
        legal = batch[Columns.OBS]["action_mask"] != 0
        chances = legal * (SLIP / legal.sum(dim=1, keepdim=True))
        chances = chances.scatter_add(1, worths.argmax(dim=1, keepdim=True), torch.full_like(worths[:, :1], 1 - SLIP))
        return {Columns.ACTION_DIST_INPUTS: chances.log().clamp(min=OFF)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """The worth of the best decision, (n,)."""
        return self._outputs(batch)[1]

    def stage(self, rows: NDArray[Any]) -> Any:
        """Rows made ready for `worths`."""
        if self.device.type == "cpu":
            return FilledRows(rows)
        return DeviceRows(rows, self.device)[np.arange(len(rows))]
