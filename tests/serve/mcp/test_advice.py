"""What a released policy advises is what it decides in the game itself."""

from pathlib import Path

import numpy as np
import pytest

from ante.cli.players import player_of
from ante.env.games import Games
from ante.env.text import macro_name
from ante.serve.mcp.advice import Advisers


def test_the_advice_of_a_policy_is_its_own_decision_in_the_game(tmp_path: Path) -> None:
    player, games = player_of("white-stake", True, "best"), Games(1, seed="TESTSEED", reorder="jokers", discrete=False)
    games.reset()
    advisers = Advisers(tmp_path, lambda name: player_of(name, True, "best"))
    for _ in range(30):
        action = player.choose(games, np.ones(1, dtype=np.bool_))
        note = player.explain(games, int(action[0]))
        advice = advisers.advise("white-stake", games.states)
        assert advice.choice.meaning == macro_name(games.states[0], int(action[0]))
        assert advice.choice.probability == pytest.approx(note.options[0][1], abs=1e-3)
        assert advice.value == pytest.approx(note.value, abs=1e-3)
        games.step(action)
