"""Recorded games produce the same bytes when they are replayed from their text, and differences are reported."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ante.agents.baselines import Baseline
from ante.agents.evaluate import Player
from ante.agents.record import record_game
from ante.agents.seed_lists import evaluation_seeds
from ante.checks import BadValue
from ante.cli import main
from ante.engine.core.state import state_t
from ante.env.games import Games
from ante.env.replay import Heading, check_replay
from ante.recording.fidelity import check_fidelity, differing
from ante.recording.games import Recording, record_games
from ante.watch.episode import with_words


class Clicker:
    """Plays random legal discrete actions, including selections."""

    name, discrete, reorder = "clicker", True, "all"

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        chosen = np.full(games.n, -1, dtype=np.int64)
        for i in np.flatnonzero(playing):
            chosen[i] = self.rng.choice(np.flatnonzero(games.masks[i]))
        return chosen


def games_of(player: Player, games: int, deck: str = "b_red", stake: int = 1) -> list[Recording]:
    batches = record_games(player, evaluation_seeds(games), Heading("", deck, stake), 7)
    return [game for part in batches for game in part]


@pytest.mark.slow
@pytest.mark.parametrize("player", [Baseline("random"), Baseline("greedy"), Clicker()], ids=lambda each: each.name)
def test_replays_of_recorded_games_end_in_the_same_bytes(player: Player) -> None:
    games = games_of(player, 20)
    found, worded = check_fidelity(games), check_fidelity(games[:5], words=True)
    assert (found.games, worded.games) == (20, 5)
    assert found.differences == worded.differences == ()
    assert worded.text_bytes > 3 * found.text_bytes
    assert found.text_bytes_most >= found.text_bytes > found.gzip_bytes > found.action_bytes > 0


def test_a_recording_is_the_game_that_is_recorded_alone() -> None:
    for game in games_of(Baseline("greedy"), 3, "b_plasma", 3):
        assert game.replay(words=True) == with_words(game.replay()) == record_game(Baseline("greedy"), game.heading)
        assert (game.heading.deck, game.heading.stake) == ("b_plasma", 3)


def test_a_lost_decision_is_a_difference() -> None:
    game = games_of(Baseline("greedy"), 1)[0]
    short = dataclasses.replace(game, actions=game.actions[:-1])
    found = check_fidelity([game, short])
    assert [each.seed for each in found.differences] == [game.heading.seed]
    assert {"phase", "chips"} <= set(found.differences[0].fields)


def test_one_changed_byte_is_named_by_its_field() -> None:
    one = np.zeros(1, dtype=state_t)
    other = one.copy()
    other["dollars"] = 1
    assert differing(one.tobytes(), other.tobytes()) == ("dollars",)
    assert differing(one.tobytes(), one.tobytes()) == ()


def test_the_command_keeps_the_replays_and_prints_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", f"ante replay verify greedy --games 2 --words --json --out {tmp_path}".split())
    with pytest.raises(SystemExit) as ended:
        main()
    found = json.loads(capsys.readouterr().out)
    assert (ended.value.code, found["player"], found["games"], found["differences"]) == (0, "greedy", 2, [])
    kept = sorted(tmp_path.glob("*.txt"))
    assert [file.stem for file in kept] == sorted(evaluation_seeds(2))
    assert all(check_replay(file.read_text()) is None for file in kept)
    assert sum(file.stat().st_size for file in kept) == 2 * found["text_bytes"]


def test_fidelity_needs_games() -> None:
    with pytest.raises(BadValue, match="use one or more recorded games"):
        check_fidelity([])
