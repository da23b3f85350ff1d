"""The shortlist as a view of the environment: an action is the index of a candidate.

    gymnasium.make("ante.lookahead:ante/BalatroShortlist-v1")
    gymnasium.make_vec("ante.lookahead:ante/BalatroShortlist-v1", 64, vectorization_mode="vector_entry_point")

The environments take the arguments of `ante/Balatro-v1` except `actions` and `observation`. A step is a whole decision:
five cards are played by one action. Observations are dictionaries of

observations   (FLAT_SIZE,) float32, the flat view of the whole game, as in `ante/Balatro-v1`
strengths      (N_STRENGTHS,) float32: half the log10 of the score of each reference hand, then half that of the missing
               chips
candidates     (MAX_CANDIDATES, N_FEATURES) float32: a block of `NUMBER` columns for each kind of candidate, all zero
               except the block of the candidate's own kind
candidate_ids  (MAX_CANDIDATES, 4) int32, for embeddings: columns `CANDIDATE_ID`, each below its number in ID_SIZES
action_mask    (MAX_CANDIDATES,) int8: 1 for a legal candidate. A finished game has none

The info has no `action_mask`.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ante.checks import BadValue, whole_numbers
from ante.engine.actions import N_VERBS
from ante.engine.core.records import as_records
from ante.engine.core.rule import rule
from ante.env.games import Games
from ante.env.layout import N_EDITIONS, N_ENHANCEMENTS, N_SEALS, columns, flat_space, offsets
from ante.env.single import BalatroEnv, IllegalAction, action_number
from ante.env.spaces import Copied
from ante.env.vector import BalatroVectorEnv
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.describe import describe_candidate
from ante.lookahead.records import (
    KIND_OF_VERB,
    LEGAL,
    MAX_CANDIDATES,
    N_CANDIDATE_ITEMS,
    N_ESTIMATES,
    N_FLAGS,
    N_KINDS,
    N_PURPOSES,
    candidates_t,
)
from ante.lookahead.reference_hands import N_REFERENCE_HANDS

N_STRENGTHS = N_REFERENCE_HANDS + 1
NUMBER = offsets("NUMBER", {"listed": 1, "estimates": N_ESTIMATES, "price": 1, "flags": N_FLAGS})
N_NUMBERS = NUMBER.flags + N_FLAGS
N_FEATURES = N_KINDS * N_NUMBERS
ONE = 128.0  # estimates and prices are divided by it
CANDIDATE_ID = columns("CANDIDATE_ID", "verb", "item", "trait", "purpose")
ID_SIZES = (N_VERBS, N_CANDIDATE_ITEMS, N_ENHANCEMENTS * N_EDITIONS * N_SEALS, N_PURPOSES)


@rule
def write_features(lists, strengths, features, ids, mask):
    """Write the features of n lists.

    lists      (n,) candidates_t
    strengths  (n, N_STRENGTHS) float32; features (n, MAX_CANDIDATES, N_FEATURES) float32
    ids        (n, MAX_CANDIDATES, 4) int32; mask (n, MAX_CANDIDATES) int8; all overwritten
    """
    features[:] = 0.0
    for i in range(len(lists)):
        for k in range(N_REFERENCE_HANDS):
            strengths[i, k] = lists[i].strengths[k] / 2000.0
        strengths[i, N_REFERENCE_HANDS] = lists[i].needed / 200.0
        for k in range(MAX_CANDIDATES):
            e = lists[i].entries[k]
            ids[i, k, 0], ids[i, k, 1], ids[i, k, 2], ids[i, k, 3] = e.verb, e.item_id, e.trait, e.purpose
            mask[i, k] = 1 if k < lists[i].n and e.flag_bits & LEGAL else 0
            if k < lists[i].n:
                write_numbers(e, features[i, k], KIND_OF_VERB[e.verb] * N_NUMBERS)


@rule
def write_numbers(e, out, at):
    """Write the numbers of one candidate to the columns from `at`."""
    out[at + NUMBER.listed] = 1.0
    for j in range(N_ESTIMATES):
        out[at + NUMBER.estimates + j] = e.estimates[j] / ONE
    out[at + NUMBER.price] = e.price / ONE
    for j in range(N_FLAGS):
        out[at + NUMBER.flags + j] = (int(e.flag_bits) >> j) & 1


def shortlist_space() -> spaces.Dict:
    """Return the space of one observation."""
    highest = np.broadcast_to(np.array(ID_SIZES, dtype=np.int32) - 1, (MAX_CANDIDATES, len(ID_SIZES)))
    return spaces.Dict(
        {
            "observations": flat_space(),
            "strengths": spaces.Box(-256.0, 256.0, (N_STRENGTHS,), np.float32),
            "candidates": spaces.Box(0.0, 2.0, (MAX_CANDIDATES, N_FEATURES), np.float32),
            "candidate_ids": spaces.Box(np.zeros_like(highest), highest, dtype=np.int32),
            "action_mask": spaces.Box(0, 1, (MAX_CANDIDATES,), np.int8),
        }
    )


class Shortlists:
    """The lists of n games, and their features."""

    def __init__(self, n: int) -> None:
        self._lister = CandidateLister()
        self.lists = as_records(np.zeros(n, dtype=candidates_t))
        self.views: dict[str, NDArray[Any]] = {
            "strengths": np.zeros((n, N_STRENGTHS), dtype=np.float32),
            "candidates": np.zeros((n, MAX_CANDIDATES, N_FEATURES), dtype=np.float32),
            "candidate_ids": np.zeros((n, MAX_CANDIDATES, len(ID_SIZES)), dtype=np.int32),
            "action_mask": np.zeros((n, MAX_CANDIDATES), dtype=np.int8),
        }

    @property
    def mask(self) -> NDArray[np.int8]:
        """Which candidates are legal, (n, MAX_CANDIDATES)."""
        return self.views["action_mask"]

    def write(self, games: Games, which: slice = slice(None)) -> dict[str, NDArray[Any]]:
        """List the candidates of these games and return their observations, which the next call overwrites."""
        states, observations = (as_records(each, which) for each in (games.states, games.observations))
        self._lister.write_observed(states, observations, games.reorder, self.lists)
        write_features(self.lists, *self.views.values())
        return {"observations": games.flat[which], **self.views}

    def decisions(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the macro decisions at these indices, (n,); -1, which is never legal, for all others."""
        inside = (chosen >= 0) & (chosen < MAX_CANDIDATES)
        index = np.where(inside, chosen, 0)
        legal = inside & (np.take_along_axis(self.mask, index[:, None], axis=1)[:, 0] != 0)
        return decisions_of(self.lists["entries"], np.where(legal, index, -1))

    def describe(self, games: Games, i: int = 0) -> dict[int, str]:
        """Return the legal candidates of game i as text, by index."""
        entries = self.lists[i].entries
        return {int(k): describe_candidate(games.states[i], entries[k]) for k in np.flatnonzero(self.mask[i])}

    def refusal(self, games: Games, i: int, chosen: int, alone: bool) -> IllegalAction:
        """Return the error for an illegal candidate of game i."""
        legal = ", ".join(f"{k} {words}" for k, words in list(self.describe(games, i).items())[:12])
        return IllegalAction(f"candidate {chosen}", legal or "none, the game is over", None if alone else i)


class LegalCandidate(Copied, spaces.Discrete[np.int64]):
    """Indices of candidates; samples are legal in the environment's current state."""

    def __init__(self, shortlists: Shortlists) -> None:
        self._shortlists, self._fresh = shortlists, False
        super().__init__(MAX_CANDIDATES)

    def seed(self, seed: Any = None) -> Any:
        """Seed the samples. The next sample is for a new run, whose first candidate is always legal."""
        self._fresh = seed is not None
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return the index of a random legal candidate."""
        if mask is None and probability is None:
            fresh, self._fresh = self._fresh, False
            if fresh:
                return np.int64(0)
            if self._shortlists.mask[0].any():
                mask = self._shortlists.mask[0].copy()
        return np.int64(super().sample(mask=mask, probability=probability))


class LegalCandidates(Copied, spaces.MultiDiscrete):
    """One candidate for each game; samples are legal in the current states."""

    def __init__(self, shortlists: Shortlists) -> None:
        self._shortlists = shortlists
        super().__init__(np.full(len(shortlists.lists), MAX_CANDIDATES))

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int64]:
        """Return the index of a random legal candidate for each game."""
        if mask is not None or probability is not None:
            return np.asarray(super().sample(mask=mask, probability=probability))
        legal = self._shortlists.mask
        return np.argmax(self.np_random.random(legal.shape) * legal, axis=1).astype(self.dtype)


def settings_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the environment below. Raises BadValue for those that this view determines."""
    for name in ("actions", "observation"):
        if name in settings:
            raise BadValue(name, settings[name], "the shortlist view has its own; leave it out")
    return {"reorder": "jokers", **settings, "actions": "structured", "observation": "flat"}


class OfCandidates:
    """Environments of candidates: the mask is in the observation, and not that of the discrete view in the info."""

    games: Games

    def _game_info(self) -> dict[str, NDArray[Any]]:
        return {name: values for name, values in self.games.info().items() if name != "action_mask"}


class BalatroShortlistEnv(OfCandidates, BalatroEnv):
    """One run of Balatro in which an action is the index of a candidate. Arguments as of `BalatroEnv`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings_of(settings))
        self.shortlists = Shortlists(1)
        self.observation_space = shortlist_space()
        self.action_space = LegalCandidate(self.shortlists)

    def describe_candidates(self) -> dict[int, str]:
        """Return the legal candidates as text, by index."""
        return self.shortlists.describe(self.games)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of candidates; masked algorithms of other libraries call this method."""
        return self.shortlists.mask[0].astype(np.bool_)

    def _numbers(self, action: Any) -> NDArray[np.int64]:
        return self.shortlists.decisions(np.array([action_number(action)]))

    def _illegal(self, action: Any, numbers: NDArray[np.int64]) -> IllegalAction:
        return self.shortlists.refusal(self.games, 0, action_number(action), alone=True)

    def _observed(self) -> Any:
        return {name: view[0].copy() for name, view in self.shortlists.write(self.games).items()}


class BalatroShortlistVectorEnv(OfCandidates, BalatroVectorEnv):
    """num_envs runs in which an action is the index of a candidate. Arguments as of `BalatroVectorEnv`."""

    def __init__(self, num_envs: int = 1, **settings: Any) -> None:
        super().__init__(num_envs, **settings_of(settings))
        self.shortlists, self._one_list = Shortlists(self.num_envs), Shortlists(1)
        self.single_observation_space = shortlist_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = LegalCandidate(self.shortlists)
        self.action_space = LegalCandidates(self.shortlists)

    def describe_candidates(self, i: int) -> dict[int, str]:
        """Return the legal candidates of game i as text, by index."""
        return self.shortlists.describe(self.games, i)

    def _numbers(self, actions: Any) -> NDArray[np.int64]:
        return self.shortlists.decisions(whole_numbers("actions", actions, (self.num_envs,)))

    def _illegal(self, i: int, actions: Any, numbers: NDArray[np.int64]) -> IllegalAction:
        return self.shortlists.refusal(self.games, i, int(actions[i]), alone=False)

    def _observed(self) -> Any:
        views = self.shortlists.write(self.games)
        return {name: view.copy() for name, view in views.items()} if self._copy else views

    def _one(self, i: int) -> Any:
        views = self._one_list.write(self.games, slice(i, i + 1))
        return {name: view[0].copy() for name, view in views.items()}
