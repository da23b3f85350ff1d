"""Adapts a trained policy to the player interface of evaluation, leagues and videos."""

import hashlib
from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import MAX_HAND, restore_states
from ante.env.games import REORDERS, Games
from ante.env.reward import REWARDS, AnyReward, Reward
from ante.search.player import NotSearchable
from ante.search.protocol import Thinker
from ante.training.acting.sampled import SampledThinker
from ante.training.acting.thinker import ShortlistThinker
from ante.training.acting.win_head import WinHead
from ante.training.policies.mlp import MaskedPolicy
from ante.training.policies.mlp_rows import PackedPolicy, packed_policy
from ante.training.policies.protocol import GamePolicy, GameState, on_host
from ante.training.policies.shortlist import ShortlistPolicy
from ante.watch.notes import Note


class FollowedGames:
    """The policy's state for games that other code steps, synchronised by the games' step counters.

    A position may be queried several times; the chosen carry is applied once its game has advanced.
    """

    def __init__(self, policy: GamePolicy, games: Games) -> None:
        self.games, self._policy = games, policy
        self.state = policy.make_state(games.n)
        self._steps, self._seeds = games.steps.copy(), games.seeds.copy()
        self._pending = np.zeros(games.n, dtype=np.bool_)
        self._selected = False  # whether `select_anew` was called at this position
        self._carry: NDArray[Any] | None = None

    def rows(self) -> NDArray[Any]:
        """Return the observations of all games including policy state, (n,) row_t."""
        self._catch_up()
        rows = np.zeros(self.games.n, dtype=self._policy.row_t)
        self.state.begin_fragment(0)
        self._policy.pack(self.games, rows)
        self.state.observe(self.games, rows)
        return rows

    def chose(self, which: NDArray[np.int64], carry: Any) -> None:
        """Store the carry (k, ...) of choices in the games at these indices (k,) until these games advance."""
        self._pending[which] = True
        if carry is not None:
            carry = on_host(carry)
            if self._carry is None:
                self._carry = np.zeros((self.games.n, *carry.shape[1:]), dtype=carry.dtype)
            self._carry[which] = carry

    def _catch_up(self) -> None:
        """Advance the state of games that have moved on; reset it for games that restarted."""
        games = self.games
        begun = (games.steps < self._steps) | (games.seeds != self._seeds)
        self._pending &= ~begun
        self.state.begin(np.flatnonzero(begun))
        gone_on = np.flatnonzero(self._pending & (games.steps > self._steps))
        if len(gone_on):
            self.state.advance(gone_on, None if self._carry is None else self._carry[gone_on])
        self._pending[gone_on] = False
        self._selected &= not (games.steps != self._steps).any() and not begun.any()
        self._steps, self._seeds = games.steps.copy(), games.seeds.copy()

    def select_anew(self) -> None:
        """Update the state as if the one game's selected cards had been selected one by one, from left to right.

        Needed for replays of macro decisions, which do not record the order of selection.
        """
        self._catch_up()
        if self._selected:
            return
        self._selected = True
        for aside in unselected(self.games):
            row = np.zeros(1, dtype=self._policy.row_t)
            self._policy.pack(aside, row)
            self.state.observe(aside, row)
            self.state.advance(np.arange(1), self._policy.play(self.state.view(row), None, likeliest=True).carry)


def unselected(games: Games) -> Iterator[Games]:
    """Yield the one game as it was before each of its selected cards was selected, from left to right; overwritten."""
    selected = int(games.states[0].selected)
    forced = sum(1 << i for i in range(games.states[0].n_hand) if games.states[0].cards[games.states[0].hand[i]].forced)
    if not selected & ~forced:
        return
    reorder = next(name for name, number in REORDERS.items() if number == games.reorder)
    aside = Games(1, reorder=reorder, discrete=False, endless=True)
    restore_states(aside.states, games.states)
    aside.step(np.array([pack_action(Verb.CLEAR, 0, 0, 0)]))
    for place in range(MAX_HAND):
        if (selected & ~forced) >> place & 1:
            yield aside
            aside.step(np.array([pack_action(Verb.SELECT, place, 0, 0)]))


class PolicyPlayer:
    """A trained policy as a player for evaluation and videos; actions are sampled or the most likely ones.

    Policy state is kept separately for games that are played and for games that are only explained.
    """

    def __init__(
        self, policy: GamePolicy, name: str, likeliest: bool = False, seed: int = 0, reorder: str = "none"
    ) -> None:
        self.name, self.policy, self.likeliest, self.reorder = name, policy, likeliest, reorder
        self.discrete = policy.discrete
        self.generator = torch.Generator(policy.device).manual_seed(seed)
        self.win_head: WinHead | None = None
        self.reward: AnyReward = REWARDS["shaped"]  # of its training
        self._playing: FollowedGames | None = None
        self._explaining: FollowedGames | None = None

    def played(self, games: Games) -> FollowedGames:
        """Return the policy's state for the games that are played."""
        if self._playing is None or self._playing.games is not games:
            self._playing = FollowedGames(self.policy, games)
        return self._playing

    def explained(self, games: Games) -> FollowedGames:
        """Return the policy's state for the one game that is explained, at its current position."""
        if self._playing is not None and self._playing.games is games:
            return self._playing
        if self._explaining is None or self._explaining.games is not games:
            self._explaining = FollowedGames(self.policy, games)
        if self.discrete:
            self._explaining.select_anew()
        return self._explaining

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return an action for each game (n,) int64, as `Games.step` expects it; -1 where a game is over."""
        followed, which = self.played(games), np.flatnonzero(playing)
        rows, state = followed.rows()[which], followed.state
        uniforms = state.seeded_uniforms(games)
        choice = self.policy.play(
            state.view(rows), self.generator, self.likeliest, None if uniforms is None else uniforms[which]
        )
        followed.chose(which, choice.carry)
        actions = np.full(games.n, -1, dtype=np.int64)
        actions[which] = self.policy.decisions(rows, on_host(choice.actions))
        return actions

    def explain(self, games: Games, taken: int) -> Note:
        """Return a Note on a decision of one game; see `watch.notes.Explained`.

        Replays do not record the order in which cards were selected. For policies with memory the selections are
        replayed from left to right, so the state may differ slightly from the original one.
        """
        followed = self.explained(games)
        rows, state = followed.rows(), followed.state
        uniforms = state.seeded_uniforms(games)
        note, carry = self.policy.explain(games, state.view(rows), taken, self.likeliest, uniforms)
        followed.chose(np.arange(1), carry)
        return note

    def thinker(self) -> Thinker:
        """Return what search needs of this policy. Raises NotSearchable for policies with memory."""
        if type(self.policy.make_state(1)) is not GameState:
            raise NotSearchable(self.name, f"a {type(self.policy).__name__} remembers earlier decisions")
        if self.policy.device.type != "cpu":
            raise NotSearchable(self.name, f"search needs it on the CPU, not on {self.policy.device.type}")
        reward = self.reward
        if not isinstance(reward, Reward) or reward.win + reward.blind + reward.progress <= 0.0:
            if self.win_head is None:
                raise NotSearchable(self.name, "its value is in an unknown unit: export it, then run ante calibrate")
            reward = REWARDS["shaped"]
        if isinstance(self.policy, ShortlistPolicy):
            return ShortlistThinker(self.policy, self.win_head, reward)
        return SampledThinker(self.policy, reward, self.reorder)

    @cached_property
    def digest(self) -> str:
        """The hex SHA-256 of the weights, with those of the win head."""
        policy: Any = self.policy
        arrays = {name: value.cpu().numpy() for name, value in policy.state_dict().items()}
        head = (
            [] if self.win_head is None else [getattr(self.win_head, each.name) for each in fields(self.win_head)[:-1]]
        )
        digest = hashlib.sha256()
        for each in (*(arrays[name] for name in sorted(arrays)), *head):
            digest.update(np.ascontiguousarray(each).tobytes())
        return digest.hexdigest()


def make_player(policy: Any, name: str, likeliest: bool = False, seed: int = 0, reorder: str = "none") -> PolicyPlayer:
    """Return a trained policy as a player for evaluation and videos; `reorder` is the setting its games used."""
    if isinstance(policy, MaskedPolicy) and not isinstance(policy, PackedPolicy):
        policy = packed_policy(policy)
    return PolicyPlayer(policy, name, likeliest, seed, reorder)
