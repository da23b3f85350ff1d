"""Action spaces of the environments. `sample()` draws legal actions, so a loop over samples can play.

Masks passed to `sample` have Gymnasium's meaning; without one, the space queries its environment. Only the first sample
after `seed(number)` is for the next run: Gymnasium's checker seeds, samples, and then resets.

A space that is copied or pickled together with its environment refers to the copy; a space copied alone does not query
an environment.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ante.checks import BadValue, whole_numbers
from ante.engine.actions import DISCRETE, N_DISCRETE, N_VERBS, Verb, cards_of, pack_action, target_of, to_of, verb_of
from ante.engine.core.state import MAX_HAND, MAX_PLAYED, Phase
from ante.env.games import Games, is_allowed

BEGINNINGS = np.flatnonzero(np.isin(DISCRETE[:, 0], (Verb.SELECT_BLIND, Verb.SKIP_BLIND)))  # legal in every new run
SELECTIONS = np.isin(DISCRETE[:, 0], (Verb.SELECT, Verb.CLEAR))


class Copied:
    """A space whose copies draw the same samples as the original."""

    np_random: Any

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the generator, which Gymnasium creates lazily."""
        assert self.np_random is not None
        return self.__dict__


class LegalDiscrete(Copied, spaces.Discrete[np.int64]):
    """Discrete actions; samples are legal in the environment's current state."""

    def __init__(self, games: Games, slot: int = 0) -> None:
        self._ref, self._slot, self._fresh = games.ref, slot, False
        super().__init__(N_DISCRETE)

    def seed(self, seed: Any = None) -> Any:
        """Seed the samples. The next sample is for a new run."""
        self._fresh = seed is not None
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return a random legal action."""
        if mask is None and probability is None:
            fresh, self._fresh = self._fresh, False
            if fresh:
                return np.int64(self.np_random.choice(BEGINNINGS))
            games = self._ref()
            if games is not None and games.masks[self._slot].any():
                mask = np.ascontiguousarray(games.masks[self._slot])
        return np.int64(super().sample(mask=mask, probability=probability))


class LegalMultiDiscrete(Copied, spaces.MultiDiscrete):
    """One discrete action for each game; samples are legal in the current states."""

    def __init__(self, games: Games) -> None:
        super().__init__(np.full(games.n, N_DISCRETE))
        self._ref = games.ref

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int64]:
        """Return a random legal action for each game."""
        games = self._ref()
        if mask is not None or probability is not None or games is None:
            return np.asarray(super().sample(mask=mask, probability=probability))
        keys = self.np_random.random(games.masks.shape)
        return np.argmax(keys * (games.masks != 0) + keys * 1e-9, axis=1).astype(self.dtype)


def structured_spaces() -> dict[str, spaces.Space[Any]]:
    """Return the parts of a structured action: Verb, target slot, second slot, hand positions."""
    return {
        "verb": spaces.Discrete(N_VERBS),
        "target": spaces.Discrete(MAX_HAND),
        "to": spaces.Discrete(MAX_HAND),
        "cards": spaces.MultiBinary(MAX_HAND),
    }


class LegalStructured(Copied, spaces.Dict):
    """Structured actions; samples are legal in the environment's current state."""

    def __init__(self, games: Games, slot: int = 0) -> None:
        self._ref, self._slot, self._fresh = games.ref, slot, False
        super().__init__(structured_spaces())

    def seed(self, seed: Any = None) -> Any:
        """Seed the samples. The next sample is for a new run."""
        self._fresh = seed is not None
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return a random legal structured action."""
        games = self._ref()
        if mask is not None or probability is not None or games is None:
            return dict(super().sample(mask=mask, probability=probability))
        fresh, self._fresh = self._fresh, False
        if fresh:
            verb, target, to = (int(x) for x in DISCRETE[self.np_random.choice(BEGINNINGS)])
            return unpack(int(pack_action(verb, target, to, 0)))
        return unpack(random_macro(games, self._slot, self.np_random))


class LegalStructuredBatch(Copied, spaces.Dict):
    """One structured action for each game; samples are legal in the current states."""

    def __init__(self, games: Games) -> None:
        super().__init__(
            {
                "verb": spaces.MultiDiscrete(np.full(games.n, N_VERBS)),
                "target": spaces.MultiDiscrete(np.full(games.n, MAX_HAND)),
                "to": spaces.MultiDiscrete(np.full(games.n, MAX_HAND)),
                "cards": spaces.MultiBinary((games.n, MAX_HAND)),
            }
        )
        self._ref = games.ref

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return a random legal structured action for each game."""
        games = self._ref()
        if mask is not None or probability is not None or games is None:
            return dict(super().sample(mask=mask, probability=probability))
        parts = [unpack(random_macro(games, i, self.np_random)) for i in range(games.n)]
        return {name: np.stack([part[name] for part in parts]) for name in parts[0]}


def random_macro(games: Games, slot: int, rng: np.random.Generator) -> int:
    """Return a random legal macro decision of one game that is not a selection; 0 if the game is over."""
    s = games.states[slot]
    numbers = np.flatnonzero((games.masks[slot] != 0) & ~SELECTIONS)
    rounds = s.phase == Phase.PLAY and s.n_hand > 0
    if rounds and (len(numbers) == 0 or rng.random() < 0.7):
        for _ in range(64):
            positions = rng.permutation(int(s.n_hand))[: rng.integers(1, MAX_PLAYED + 1)]
            cards = sum(1 << int(i) for i in positions)
            cards |= sum(1 << i for i in range(s.n_hand) if s.cards[s.hand[i]].forced)
            action = int(pack_action(int(rng.choice((Verb.PLAY, Verb.DISCARD))), 0, 0, cards))
            if is_allowed(s, np.int64(action), games.reorder):
                return action
    if len(numbers) == 0:
        return 0
    verb, target, to = (int(x) for x in DISCRETE[rng.choice(numbers)])
    cards = int(s.selected) if verb in (Verb.PLAY, Verb.DISCARD, Verb.USE, Verb.PICK) else 0
    return int(pack_action(verb, target, to, cards))


def unpack(action: int) -> dict[str, Any]:
    """Return a macro decision as a structured action."""
    bits = np.array([(int(cards_of(action)) >> i) & 1 for i in range(MAX_HAND)], dtype=np.int8)
    return {
        "verb": np.int64(verb_of(action)),
        "target": np.int64(target_of(action)),
        "to": np.int64(to_of(action)),
        "cards": bits,
    }


PARTS = {
    "verb": N_VERBS,
    "target": MAX_HAND,
    "to": MAX_HAND,
    "cards": 2,
}  # number of values of each part


def pack(action: Mapping[str, Any], n: int | None = None) -> NDArray[np.int64]:
    """Return a structured action, or a batch of n, as macro decisions (n,) int64. Raises BadValue."""
    if not isinstance(action, Mapping) or set(action) != set(PARTS):
        raise BadValue("action", action, f"use a dict of {', '.join(PARTS)}")
    shape = () if n is None else (n,)
    verb, target, to = (part(action, name, shape) for name in ("verb", "target", "to"))
    cards = part(action, "cards", (*shape, MAX_HAND)) @ (np.int64(1) << np.arange(MAX_HAND))
    return np.atleast_1d(verb | (target << 6) | (to << 14) | (cards << 22))


def part(action: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return one part of a structured action; cards may be booleans. Raises BadValue."""
    values = action[name]
    if name == "cards" and isinstance(values, np.ndarray) and values.dtype == np.bool_:
        values = values.astype(np.int64)
    return whole_numbers(f"action[{name!r}]", values, shape, 0, PARTS[name] - 1)
