"""Watching a player as text."""

import io

from rich.console import Console

from ante.agents.baselines import Baseline
from ante.env.games import Games
from ante.watch.render.terminal import watch


def test_watching_shows_each_decision_to_the_end() -> None:
    games = Games(1, discrete=False, reorder="none")
    games.reset(options={"seed": "ABCDEFGH"})
    text = io.StringIO()
    pauses: list[int] = []
    watch(games, Baseline("greedy").choose, Console(file=text, width=120), lambda: pauses.append(1))
    assert len(pauses) == games.steps[0]
    assert text.getvalue().count("\n> ") == games.steps[0]
    assert "lost in ante" in text.getvalue()
