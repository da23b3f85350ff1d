"""Methods about a run as a whole: start, menu, save, load, state, health and screenshot."""

from pathlib import Path
from typing import Any

import numpy as np

from ante import __version__
from ante.catalog.challenges import by_key as challenge_by_key
from ante.engine.run import new_run, new_seed, one_seed
from ante.errors import BalatroError, UnknownSeed
from ante.files import Unreadable, read_bytes, whole
from ante.serve.balatrobot.dialects import DECK_NUMBERS, STAKE_NUMBERS, Dialect
from ante.serve.balatrobot.gamestate import gamestate
from ante.serve.balatrobot.protocol import Params, Refused
from ante.serve.balatrobot.session import MARK, BadSave, Session

LARGEST_SAVE = 1 << 20  # bytes
SAVE_START, PNG_START = b'{"file": "%b"' % MARK.encode(), b"\x89PNG\r\n\x1a\n"


def health(session: Session, _: Params) -> Any:
    """Return that the server works, and how it serves this session."""
    mode = "fair" if session.fair else "faithful"
    return {"status": "ok", "server": f"ante {__version__}", "dialect": session.dialect.name, "mode": mode}


def state(session: Session, _: Params) -> Any:
    """Return the state."""
    return gamestate(session)


def start(session: Session, params: Params) -> Any:
    """Start a run with a deck and a stake, or with a challenge."""
    seed = params.get("seed")
    if seed is None:
        seed = new_seed(one_seed(None)).decode()
    try:
        if "challenge" in params:
            session.begin(new_run(seed, challenge=challenge(params)))
        else:
            session.begin(new_run(seed, *deck_and_stake(params, session.dialect)))
    except UnknownSeed as error:
        raise Refused(f"Invalid seed: {error}") from None
    return gamestate(session)


def challenge(params: Params) -> str:
    """Return the key of a challenge. Raises Refused."""
    if "deck" in params or "stake" in params:
        raise Refused("Invalid arguments. A challenge has its own deck and stake: omit deck and stake")
    key = str(params["challenge"])
    if key not in challenge_by_key:
        raise Refused(f"Invalid challenge. Must be one of: {', '.join(challenge_by_key)}. Got: {key[:80]}")
    return key


def deck_and_stake(params: Params, dialect: Dialect) -> tuple[int, int]:
    """Return deck and stake as numbers. Raises Refused."""
    for name in ("deck", "stake"):
        if name not in params:
            raise Refused(f"Missing required field '{name}'")
    deck, stake = params["deck"], params["stake"]
    if stake not in STAKE_NUMBERS:
        raise Refused(f"Invalid stake enum. Must be one of: {', '.join(dialect.stakes[1:])}. Got: {stake[:80]}")
    if deck not in DECK_NUMBERS:
        wanted = "Expected a b_* deck key from G.P_CENTERS (e.g. b_red, b_blue)"
        if not dialect.keyed:
            wanted = f"Invalid deck enum. Must be one of: {', '.join(dialect.decks)}"
        raise Refused(f"{wanted}. Got: {deck[:80]}")
    return DECK_NUMBERS[deck], STAKE_NUMBERS[stake]


def menu(session: Session, _: Params) -> Any:
    """Leave the run."""
    session.end()
    return gamestate(session)


def save(session: Session, params: Params) -> Any:
    """Write the run to a file."""
    write(session, params["path"], session.saved(), SAVE_START, "save file")
    return {"success": True, "path": params["path"]}


def load(session: Session, params: Params) -> Any:
    """Continue the run of a file."""
    try:
        data = read_bytes(file_of(session, params["path"]), LARGEST_SAVE)
    except Unreadable:
        raise Refused(f"Failed to read save file: '{params['path'][:200]}'", "INTERNAL_ERROR") from None
    try:
        session.restore(data)
    except BadSave as error:
        raise Refused(f"Invalid save file format: {error}", "INTERNAL_ERROR") from None
    return {"success": True, "path": params["path"]}


def screenshot(session: Session, params: Params) -> Any:
    """Write a picture of the game to a PNG file."""
    write(session, params["path"], picture(session.s), PNG_START, "screenshot file")
    return {"success": True, "path": params["path"]}


def picture(s: Any) -> bytes:
    """Return the game as a PNG picture; an empty one for the menu."""
    import cv2

    from ante.watch.render.canvas import BASE_HEIGHT, BASE_WIDTH
    from ante.watch.render.picture import png_of

    if s is not None:
        return png_of(s)
    return bytes(cv2.imencode(".png", np.zeros((BASE_HEIGHT, BASE_WIDTH, 3), dtype=np.uint8))[1])


def file_of(session: Session, text: str) -> Path:
    """Return the file that a client names. Raises Refused if it is outside the folder of the server."""
    if session.folder is None:
        return Path(text)
    folder = session.folder.resolve()
    try:
        file = (folder / text).resolve()
    except (OSError, ValueError, RuntimeError):
        file = folder.parent
    if not file.is_relative_to(folder):
        raise Refused(f"path is outside the server's folder for files: '{text[:200]}'", "NOT_ALLOWED")
    return file


def write(session: Session, text: str, data: bytes, begins: bytes, what: str) -> None:
    """Write a file; an existing one is replaced only if it is of the same kind. Raises Refused."""
    file = file_of(session, text)
    failed = Refused(f"Failed to write {what} to '{text[:200]}'", "INTERNAL_ERROR")
    try:
        if file.exists() and not read_bytes(file)[: len(begins)] == begins:
            raise Refused(f"'{text[:200]}' exists and is not a {what}: choose another path", "NOT_ALLOWED")
        with whole(file) as aside:
            aside.write_bytes(data)
    except (OSError, ValueError, BalatroError):
        raise failed from None
