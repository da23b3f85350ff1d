"""Saved games: their replays play back to the same record, and their notes state whether a decision was taken back."""

from pathlib import Path

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.env.games import Games
from ante.env.replay import check_replay
from ante.recording.starts import read_starts
from ante.terminal.game import Game
from ante.terminal.saving import CannotSave, default_file, how_to_continue, resume, save
from ante.terminal.session import Session
from ante.watch.episode import read_episode
from ante.watch.notes import Note, notes_beside, read_notes, write_notes
from tests.terminal.made import game_of, new_game, press, press_decision


def play_whole(game: Game, seed: str) -> None:
    """Play a whole game by keys, with the decisions of the player greedy."""
    games = Games(1, "b_red", 1, seed, reorder="jokers", discrete=False)
    games.reset()
    player, playing = Baseline("greedy"), np.ones(1, dtype=np.bool_)
    while not games.outcome[0]:
        action = player.choose(games, playing)
        press_decision(game, int(action[0]))
        games.step(action)


def test_a_whole_game_is_saved_as_a_replay_that_ends_in_the_same_record(tmp_path: Path) -> None:
    game = new_game("PKXK3L4T", tmp_path / "game.txt")
    play_whole(game, "PKXK3L4T")
    assert game.session.over
    assert press(game, "w")[0].startswith("saved; ")
    text = (tmp_path / "game.txt").read_text()
    assert check_replay(text) is None and text.splitlines()[-1].startswith("end lost in ante ")
    _, episode = read_episode(tmp_path / "game.txt")
    assert episode.end().tobytes() == game.session.s.tobytes()
    assert read_notes(tmp_path / "game.notes.json.gz")[0] == "a person"


def test_a_resumed_game_is_equal_and_can_be_taken_back_to_its_start(tmp_path: Path) -> None:
    game = new_game("TESTSEED", tmp_path / "game.txt")
    press(game, "e12345p67d")
    press(game, "w")
    again = resume(tmp_path / "game.txt")
    assert again.states.tobytes() == game.session.states.tobytes()
    assert (again.actions, again.undone) == (game.session.actions, 0)
    while again.actions:
        again.undo()
    assert again.states.tobytes() == new_game("TESTSEED").session.states.tobytes()


def test_undo_is_noted_beside_the_replay_and_kept_by_a_resumed_game(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    game = new_game("TESTSEED", file)
    press(game, "e123pz45d")
    press(game, "w")
    about, notes = read_notes(tmp_path / "game.notes.json.gz")
    assert (about, len(notes)) == ("a person, with undo", 2)
    again = resume(file)
    assert again.undone
    save(again, file)
    assert read_notes(tmp_path / "game.notes.json.gz")[0] == "a person, with undo"
    assert check_replay(file.read_text()) is None


@pytest.mark.parametrize("name", ["game.txt", "game.txt.gz", "game"])
def test_saving_replaces_the_notes_of_another_game_that_ante_watch_reads(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    write_notes(notes_beside(file), "another player", [Note(None, (), None)] * 40)
    game = new_game("TESTSEED", file)
    press(game, "e123pz45d")
    press(game, "w")
    about, notes = read_notes(notes_beside(file))
    assert (about, len(notes)) == ("a person, with undo", len(read_episode(file)[1].actions))
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, "game.notes.json.gz"])


def test_a_game_from_a_position_is_saved_as_a_position(tmp_path: Path) -> None:
    source = new_game()
    press(source, "e12p")
    game = game_of(source.session.s, tmp_path / "game.states")
    press(game, "345d")
    assert press(game, "w") == [f"saved; ante play --start-states {tmp_path / 'game.states'} continues this game"]
    assert read_starts(tmp_path / "game.states").tobytes() == game.session.states.tobytes()
    game.session.s.phase = 5
    with pytest.raises(CannotSave, match="started from a saved position"):
        save(game.session, tmp_path / "game.states")


def test_a_new_game_never_replaces_the_file_of_another(tmp_path: Path) -> None:
    session: Session = new_game("TESTSEED").session
    first = default_file(session, tmp_path)
    assert first == tmp_path / "ante-TESTSEED.txt"
    save(session, first)
    assert default_file(session, tmp_path) == tmp_path / "ante-TESTSEED-2.txt"
    assert how_to_continue(session, first) == f"ante play --resume {first}"


def test_a_file_that_cannot_be_written_is_said_and_the_game_goes_on(tmp_path: Path) -> None:
    game = new_game("TESTSEED", tmp_path / "none" / "game.txt")
    assert press(game, "w")[0].startswith("not saved: ")
    assert press(game, "e")[0] == "select Small Blind"
    assert press(new_game(), "w") == ["no file is known: start with --save FILE"]
