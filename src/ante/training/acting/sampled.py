"""What search needs of any policy without memory (`ante.search.protocol.Thinker`): candidates are sampled from it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.engine.actions import DISCRETE, Verb, to_macro, verb_of
from ante.engine.core.records import as_records
from ante.engine.core.state import MAX_HAND
from ante.env.games import Games
from ante.env.reward import Reward
from ante.search.protocol import Positions, Views
from ante.training.acting.thinker import part_of_largest
from ante.training.policies.protocol import GamePolicy, on_host

SAMPLES = 24  # decisions sampled of a position
FREE_SELECTIONS = MAX_HAND  # actions that select cards; after these, the policy decides as soon as it can
DECIDES = np.array([verb > Verb.CLEAR for verb, *_ in DISCRETE])


class SampledThinker:
    """Views, decisions and ratings of a policy without memory, which may select cards one by one.

    Candidates are its likeliest decision and SAMPLES sampled ones, with their frequencies as probabilities. Ratings are
    the policy's value as a part of the largest one.

    Args:
        policy: The policy.
        reward: The reward of its training, which determines the largest value.
        reorder: The reordering that the policy uses.
    """

    def __init__(self, policy: GamePolicy, reward: Reward, reorder: str) -> None:
        self._policy, self._reward, self._reorder = policy, reward, reorder

    def view(self, positions: Positions) -> Views:
        """Return sampled decisions and ratings. The view of a position does not depend on the others."""
        own, values = self._decided(self._placed(positions, np.arange(len(positions.states))), None)
        decisions = np.empty((len(own), 1 + SAMPLES), dtype=np.int64)
        for i, decision in enumerate(own):
            copies = self._placed(positions, np.full(SAMPLES, i))
            decisions[i, 0] = decision
            decisions[i, 1:] = self._decided(copies, torch.Generator().manual_seed(0))[0]
        # The likeliest decision first, and a little more probable than a sample, so that the others do not precede it.
        log_probs = np.full(decisions.shape, -np.log(1.0 + SAMPLES), dtype=np.float32)
        log_probs[:, 0] += 1e-3
        return Views(decisions, log_probs, part_of_largest(values, positions, self._reward))

    def decide(self, positions: Positions) -> NDArray[np.int64]:
        """Return the likeliest decisions, of the discrete view card by card."""
        return self._decided(self._placed(positions, np.arange(len(positions.states))), None)[0]

    def rate(self, positions: Positions) -> NDArray[np.float64]:
        """Return the values as parts of the largest ones."""
        games = self._placed(positions, np.arange(len(positions.states)))
        return part_of_largest(self._acted(games, None)[1], positions, self._reward)

    def _placed(self, positions: Positions, which: NDArray[np.int64]) -> Games:
        """Return a table with copies of these positions, (k,) indices."""
        games = Games(len(which), discrete=self._policy.discrete, reorder=self._reorder, endless=True)
        games.continue_from(as_records(positions.states, which))
        return games

    def _acted(
        self, games: Games, rng: torch.Generator | None, deciding: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return actions as `Games.step` expects them, sampled or the likeliest, and values, (n,) each.

        deciding  take the likeliest action that is a decision, where one is legal
        """
        rows, state = np.zeros(games.n, dtype=self._policy.row_t), self._policy.make_state(games.n)
        state.begin_fragment(0)
        self._policy.pack(games, rows)
        state.observe(games, rows)
        choice = self._policy.play(state.view(rows), rng, likeliest=rng is None)
        actions = self._policy.decisions(rows, on_host(choice.actions))
        if deciding:
            policy: Any = self._policy
            logs = np.where(games.masks & DECIDES, on_host(policy.action_log_probs(state.view(rows))[0]), -np.inf)
            actions = np.where(np.isfinite(logs).any(axis=1), logs.argmax(axis=1), actions)
        return actions, on_host(choice.values)

    def _decided(self, games: Games, rng: torch.Generator | None) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return macro decisions, and the values of the positions, (n,) each; the games are changed."""
        found, open_ones = np.full(games.n, -1, dtype=np.int64), np.ones(games.n, dtype=np.bool_)
        actions, values = self._acted(games, rng)
        for k in range(FREE_SELECTIONS + 2):
            for i in np.flatnonzero(open_ones):
                decision = int(to_macro(games.states[i], actions[i])) if games.discrete else int(actions[i])
                if verb_of(decision) > Verb.CLEAR:
                    found[i], open_ones[i] = decision, False
            if not open_ones.any():
                break
            games.step(np.where(open_ones, actions, -1))
            actions = self._acted(games, rng, deciding=k >= FREE_SELECTIONS - 1)[0]
        return found, values
