"""The rule-based advisor as a player, and positions that it meets, to ask others about."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ante.env.games import Games
from ante.env.shortlist import MAX_ENTRIES, Shortlists, decisions_of, shortlist_t
from ante.hints.question import Question, question_of
from ante.hints.rules import choose


class RulesPlayer:
    """Plays what the rules would advise: macro decisions."""

    name = "rules"
    discrete = False
    reorder = "none"

    def __init__(self) -> None:
        self._writer = Shortlists()
        self.lists = np.zeros(0, dtype=shortlist_t).view(np.recarray)

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One macro decision for each game (n,) int64, -1 where a game is not played any more."""
        if len(self.lists) != games.n:
            self.lists = np.zeros(games.n, dtype=shortlist_t).view(np.recarray)
        self._writer.write(games, self.lists)
        chosen = np.full(games.n, -1, dtype=np.int64)
        for i in np.flatnonzero(playing):
            chosen[i] = choose(self.lists[i])
        assert chosen.max(initial=-1) < MAX_ENTRIES
        return np.asarray(decisions_of(self.lists["entries"], chosen))


def sample_questions(seed: str = "TESTSEED", games: int = 16) -> Iterator[Question]:
    """Questions with a choice, one game after the other a step at a time, as the rules play them; without end."""
    table = Games(games, reorder="none", discrete=False)
    rng = np.random.default_rng(list(seed.encode()))
    table.rngs = list(rng.spawn(games))
    table.reset()
    player, everybody = RulesPlayer(), np.ones(games, dtype=np.bool_)
    while True:
        actions = player.choose(table, everybody)
        for i in range(games):
            question = question_of(table.states[i], player.lists[i])
            if question is not None and len(question.options) > 1:
                yield question
        table.step(actions)
        ended = np.flatnonzero(table.outcome)
        if len(ended):
            table.reset(ended)
