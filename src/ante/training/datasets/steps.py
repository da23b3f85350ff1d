"""Steps of replayed games as the columns of a dataset."""

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import Verb, to_macro, verb_of
from ante.engine.core.records import as_records
from ante.env.games import Games, Outcome
from ante.env.reward import blinds_beaten
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.records import MAX_CANDIDATES, candidates_t
from ante.training.datasets.layout import OUTCOMES, BadDataset, Columns, compact, flat_of, list_columns
from ante.training.datasets.scripts import Script, discrete_actions

NO_LIMIT = 1 << 40
VERB_NAMES = tuple(verb.name.lower() for verb in Verb)


class Cursors:
    """The next actions of every game in a batch, as numbers or decisions of a view."""

    def __init__(self, scripts: Sequence[Script], discrete: bool) -> None:
        self._discrete = discrete
        self._left = [
            deque(action for action in script.actions if discrete or verb_of(action) > Verb.CLEAR) for script in scripts
        ]
        self._clicks: list[deque[int]] = [deque() for _ in scripts]

    def is_done(self, i: int) -> bool:
        """Return whether game i has no further action."""
        return not self._left[i] and not self._clicks[i]

    def take(self, i: int, s: np.record) -> int:
        """Return the next action of game i, whose record is s."""
        if not self._discrete:
            return self._left[i].popleft()
        if not self._clicks[i]:
            self._clicks[i].extend(discrete_actions(s, self._left[i].popleft()))
        return self._clicks[i].popleft()


def steps_of(scripts: Sequence[Script], view: str, reward: str, reorder: str, first_game: int) -> Columns:
    """Return every step of these games as columns of the dataset (without log_prob and value), game after game.

    A game with an unfinished script is truncated. Raises BadDataset if a decision is illegal.
    """
    games = Games(len(scripts), reward=reward, reorder=reorder, max_decisions=NO_LIMIT, discrete=view == "flat")
    for i, script in enumerate(scripts):
        options = {name: value for name, value in asdict(script.heading).items() if value is not None}
        games.reset(np.array([i]), options={**options, "seed": [script.heading.seed]})
    cursors, lists = Cursors(scripts, games.discrete), CandidateLister()
    parts: list[Columns] = []
    ended = np.full(games.n, Outcome.TRUNCATED, dtype=np.uint8)
    playing = np.array([not cursors.is_done(i) for i in range(games.n)])
    while playing.any():
        parts.append(observations_of(games, playing, lists if view == "shortlist" else None))
        actions = np.array(
            [cursors.take(i, games.states[i]) if playing[i] else -1 for i in range(games.n)], dtype=np.int64
        )
        parts[-1] |= actions_of(games, playing, actions, parts[-1])
        check_allowed(games, actions, playing)
        games.step(actions)
        parts[-1]["reward"] = games.rewards[playing].copy()
        over = playing & (games.outcome != Outcome.PLAYING)  # set for one step only
        ended[over] = games.outcome[over]
        playing &= ~over & [not cursors.is_done(i) for i in range(games.n)]
    return in_game_order(parts, games, ended, first_game)


def observations_of(games: Games, playing: NDArray[np.bool_], lists: CandidateLister | None) -> Columns:
    """Return the observation columns of these games."""
    flat = games.flat[playing]
    found: Columns = {"game": np.flatnonzero(playing).astype(np.int32), **compact(flat, games.masks[playing])}
    assert np.array_equal(flat_of(found), flat), "a value of the flat view does not fit the kind of its column"
    found["ante"] = games.states["ante"][playing].astype(np.int8)
    found["dollars"] = games.states["dollars"][playing].astype(np.int32)
    if lists is not None:
        out = as_records(np.zeros(games.n, dtype=candidates_t))
        lists.write(games, out)
        found |= list_columns(np.asarray(out)[playing])
        found["_lists"] = np.asarray(out)[playing]
    return found


def actions_of(games: Games, playing: NDArray[np.bool_], actions: NDArray[np.int64], now: Columns) -> Columns:
    """Return the actions of these games as macro decisions and as numbers of the view."""
    taken = actions[playing]
    if games.discrete:
        macros = np.array([to_macro(games.states[i], actions[i]) for i in np.flatnonzero(playing)], dtype=np.int64)
        return {"action": macros, "choice": taken.astype(np.int16)}
    return {"action": taken, "choice": listed_at(now.pop("_lists"), taken)}


def listed_at(lists: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return the index of each decision in its list, (n,) int16; -1 if the list lacks it."""
    found = np.full(len(actions), -1, dtype=np.int16)
    for number in range(MAX_CANDIDATES - 1, -1, -1):
        means = decisions_of(lists["entries"], np.full(len(actions), number))
        found[(means == actions) & (lists["n"] > number)] = number
    return found


def check_allowed(games: Games, actions: NDArray[np.int64], playing: NDArray[np.bool_]) -> None:
    """Raise BadDataset if a game in play does not allow its action."""
    i = games.refused(actions, ~playing)
    if i >= 0:
        raise BadDataset(
            f"game {games.seeds[i]} does not allow the recorded decision of step {games.steps[i]}: recorded by "
            "another version of the engine, or with an option that --reorder does not offer"
        )


def in_game_order(parts: list[Columns], games: Games, ended: NDArray[np.uint8], first_game: int) -> Columns:
    """Return the steps in order of games, with the columns that are known only at a game's end."""
    if not parts:
        raise BadDataset("these games have no decisions to export")
    steps = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(steps["game"], kind="stable")
    steps = {name: column[order] for name, column in steps.items()}
    game, counts = steps["game"], np.bincount(steps["game"], minlength=games.n)
    begins = np.cumsum(counts) - counts
    steps["step"] = (np.arange(len(game)) - begins[game]).astype(np.int32)
    steps["done"] = steps["step"] == counts[game] - 1
    steps["outcome"] = np.array([OUTCOMES.index(Outcome(int(each)).name.lower()) for each in ended], np.int8)[game]
    steps["blinds"] = np.array([blinds_beaten(s) for s in games.states], dtype=np.int16)[game]
    steps["game_return"] = np.bincount(game, steps["reward"], games.n)[game]
    steps["verb"] = (steps["action"] & 63).astype(np.int8)
    steps["seed"] = games.seeds[game]
    steps["game"] = game + np.int32(first_game)
    return steps
