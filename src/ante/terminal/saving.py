"""Saved games: a replay with a note about undo beside it, or a saved position for games without a heading."""

from pathlib import Path

from ante.env.replay import write_replay
from ante.env.text import seed_of
from ante.errors import BalatroError
from ante.files import write_text
from ante.recording.starts import copied, write_starts
from ante.terminal.session import Session
from ante.watch.episode import read_episode
from ante.watch.notes import Note, notes_beside, read_notes, write_notes

PLAYER = "a person"
UNDONE = f"{PLAYER}, with undo"


class CannotSave(BalatroError):
    """A game that no file can represent, or a file that must not be replaced."""


def default_file(session: Session, folder: Path) -> Path:
    """Return a file for this game in a folder that does not exist yet."""
    end = "txt" if session.heading else "states"
    names = (f"ante-{seed_of(session.s)}{f'-{k}' if k > 1 else ''}.{end}" for k in range(1, 1000))
    return next(file for file in map(folder.joinpath, names) if not file.exists())


def check_unused(file: Path, continued: Path | None) -> None:
    """Check that a file does not exist, or is the one whose game is continued. Raises CannotSave."""
    if file.exists() and not (continued is not None and continued.exists() and file.samefile(continued)):
        raise CannotSave(f"{file} exists and is not replaced: give another file, or continue its game with --resume")


def save(session: Session, file: Path) -> None:
    """Write the game: a replay that `ante replay` and `ante watch` read, or a position for --start-states.

    The notes of a replay name the player, with undo if a decision was taken back.

    Raises CannotSave for a finished game that started from a position.
    """
    if session.heading is None:
        if session.over or session.s.won:
            raise CannotSave("a finished game that started from a saved position cannot be saved")
        write_starts(file, [copied(session.s)])
        return
    write_text(file, write_replay(session.heading, session.actions))
    write_notes(notes_beside(file), UNDONE if session.undone else PLAYER, [Note(None, (), None)] * len(session.actions))


def resume(file: Path) -> Session:
    """Return the game of a saved replay, after its last decision.

    Raises BadReplay, RefusedDecision, BadNotes, UnknownSeed, UnknownDeck or UnknownStake.
    """
    heading, episode = read_episode(file)
    session = Session.resumed(heading, episode.actions)
    notes = notes_beside(file)
    if notes.exists() and read_notes(notes)[0] == UNDONE:
        session.undone = 1
    return session


def how_to_continue(session: Session, file: Path) -> str:
    """Return the command that continues a saved game."""
    option = "--resume" if session.heading else "--start-states"
    return f"ante play {option} {file}"
