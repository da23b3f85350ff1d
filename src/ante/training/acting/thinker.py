"""What search needs of a shortlist policy (`ante.search.protocol.Thinker`)."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.catalog.constants import WIN_ANTE
from ante.engine.core.records import as_records, record_type
from ante.env.reward import BLINDS_OF_A_RUN, Reward
from ante.lookahead.candidates import CandidateLister, decisions_of, macro_decisions
from ante.lookahead.records import candidates_t
from ante.search.protocol import Positions, Views
from ante.training.acting.win_head import WIN_HEAD, BadWinHead, WinHead
from ante.training.policies.shortlist import ListedRows, ShortlistPolicy
from ante.training.policies.shortlist_net import Outputs, ShortlistNet


class ShortlistThinker:
    """Views, decisions and ratings of a shortlist policy.

    Args:
        policy: The policy; its weights are read now.
        head: Its probability of winning. Without one, ratings are the policy's value as a part of the largest one.
        reward: The reward of its training, which determines the largest value.
    """

    def __init__(self, policy: ShortlistPolicy, head: WinHead | None, reward: Reward) -> None:
        if head is not None and len(head.hidden) != policy.query.in_features:
            raise BadWinHead(
                f"{WIN_HEAD} has {len(head.hidden)} features, not the {policy.query.in_features} of its policy"
            )
        self._net, self._head, self._lister = ShortlistNet(policy, torch.float32), head, CandidateLister()
        self._lists, self._reward = np.zeros(0, dtype=record_type(candidates_t)), reward

    def _outputs(self, positions: Positions) -> tuple[Outputs, NDArray[Any]]:
        """Return the policy's outputs and the candidate lists."""
        n = len(positions.states)
        if len(self._lists) < n:
            self._lists = np.zeros(n, dtype=record_type(candidates_t))
        lists = self._lists[:n]  # SPEED: no recarray, whose fields cost 15 us each
        self._lister.write_observed(positions.states, positions.observations, positions.reorder, as_records(lists))
        return self._net.outputs(ListedRows.of_flat(positions.flat, lists)), lists

    def view(self, positions: Positions) -> Views:
        """Return log-probabilities of all candidates, and ratings."""
        found, lists = self._outputs(positions)
        log_probs = torch.from_numpy(found.logits).log_softmax(dim=1).numpy()
        return Views(macro_decisions(lists["entries"]), log_probs, self._ratings(positions, found))

    def decide(self, positions: Positions) -> NDArray[np.int64]:
        """Return the likeliest candidates."""
        found, lists = self._outputs(positions)
        return decisions_of(lists["entries"], found.logits.argmax(axis=1))

    def rate(self, positions: Positions) -> NDArray[np.float64]:
        """Return ratings: from 0 to 1 with a win head."""
        return self._ratings(positions, self._outputs(positions)[0])

    def _ratings(self, positions: Positions, found: Outputs) -> NDArray[np.float64]:
        if self._head is not None:
            return self._head(found.trunk)
        return part_of_largest(found.values, positions, self._reward)


def part_of_largest(values: NDArray[Any], positions: Positions, reward: Reward) -> NDArray[np.float64]:
    """Return values of positions as parts of the largest ones that the reward allows, (n,)."""
    left = np.clip(BLINDS_OF_A_RUN - 3 * (positions.states["ante"] - 1), 1, 3 * WIN_ANTE)
    return values.astype(np.float64) / (reward.win + (reward.blind + reward.progress) * left)
