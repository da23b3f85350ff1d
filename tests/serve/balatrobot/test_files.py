"""Files that clients name: saved games and screenshots."""

import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tests.serve.balatrobot.bot import Bot, bot

NO, INSIDE = "NOT_ALLOWED", "INTERNAL_ERROR"


def saved(client: Bot, file: Path) -> bytes:
    """Save the game of a client and return the file's contents."""
    assert client("save", path=str(file)) == {"success": True, "path": str(file)}
    return file.read_bytes()


def test_a_saved_game_continues_in_another_session(tmp_path: Path) -> None:
    first, second = bot(), bot()
    first.begin()
    first("skip")
    state = first("select")
    saved(first, tmp_path / "a.jkr")
    assert second("load", path=str(tmp_path / "a.jkr"))["success"]
    assert second("gamestate") == state
    assert first("play", cards=[0, 1]) == second("play", cards=[0, 1])
    assert os.listdir(tmp_path) == ["a.jkr"]


@pytest.mark.parametrize("where", ["shop", "pack", "over"])
def test_games_in_other_states_are_saved(tmp_path: Path, where: str) -> None:
    client = bot()
    if where == "over":
        client.hand(hands=1)
        client("play", cards=[0])
    else:
        client.shop(money=100)
        if where == "pack":
            client("buy", pack=1)
    state = client("gamestate")
    saved(client, tmp_path / "a.jkr")
    client("menu")
    client("load", path=str(tmp_path / "a.jkr"))
    assert client("gamestate") == state


def test_the_menu_cannot_be_saved(tmp_path: Path) -> None:
    name, text = bot().refused("save", path=str(tmp_path / "a.jkr"))
    assert name == "INVALID_STATE" and text.endswith("NEW_ROUND, SMODS_BOOSTER_OPENED")


def test_a_damaged_file_is_refused_and_the_game_goes_on(tmp_path: Path) -> None:
    client = bot()
    client.hand()
    data, file = saved(client, tmp_path / "a.jkr"), tmp_path / "b.jkr"
    state = client("gamestate")
    head, _, record = data.partition(b"\n")
    broken = {
        "empty": b"",
        "text": b"not a game" * 100,
        "cut": data[:-1],
        "longer": data + b"\0",
        "no heading": record,
        "another heading": b'{"file": "else", "skipped": [false, false, false], "shops": 0}\n' + record,
        "no list": b'{"file": "ante-balatrobot", "skipped": 5, "shops": 0}\n' + record,
        "no number": b'{"file": "ante-balatrobot", "skipped": [false, false, false], "shops": "x"}\n' + record,
        "deep": b"[" * 150 + b"\n" + record,
        "list": b"[1, 2]\n" + record,
        "version": head + b"\n" + record[:10] + b"\xff\xff\xff\xff" + record[14:],
    }
    for what, contents in broken.items():
        file.write_bytes(contents)
        name, text = client.refused("load", path=str(file))
        assert name == INSIDE and text.startswith("Invalid save file format"), what
    rng = np.random.default_rng(3)
    for _ in range(40):
        noise = bytearray(data)
        for place in rng.integers(len(head) + 1, len(data), size=20):
            noise[place] ^= int(rng.integers(1, 256))
        file.write_bytes(noise)
        try:
            client("load", path=str(file))
        except Exception as error:
            assert "Invalid save file format" in str(error)
        client("load", path=str(tmp_path / "a.jkr"))
    assert client("gamestate") == state


@pytest.mark.parametrize("path", ["", "missing", "/dev/zero", "/proc/self/mem", "a\0b", "x" * 5000, ".", "\ud800"])
def test_a_file_that_cannot_be_read_or_written(path: str) -> None:
    client = bot()
    client.hand()
    assert client.refused("load", path=path)[0] == INSIDE
    if path != "missing":
        for method in ("save", "screenshot"):
            assert client.refused(method, path=path)[0] in (INSIDE, NO)
    assert client.refused("save", path="/no/such/folder/a.jkr")[1].startswith("Failed to write save file to")


def test_a_pipe_does_not_block_the_server(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    client = bot()
    client.hand()
    for method in ("load", "save", "screenshot"):
        assert client.refused(method, path=str(tmp_path / "pipe"))[0] == INSIDE


def test_only_files_of_the_same_kind_are_replaced(tmp_path: Path) -> None:
    client, file = bot(), tmp_path / "precious.txt"
    client.hand()
    file.write_text("what nobody may lose")
    for method in ("save", "screenshot"):
        name, text = client.refused(method, path=str(file))
        assert name == NO and "choose another path" in text
    assert file.read_text() == "what nobody may lose"
    for method in ("save", "screenshot"):
        other = str(tmp_path / method)
        assert client(method, path=other)["success"] and client(method, path=other)["success"]


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "link/outside", "loop", "deep/../../outside"])
def test_files_stay_in_the_folder_of_the_server(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder / "loop")
    client = bot(folder=folder)
    client.hand()
    for method in ("save", "load", "screenshot"):
        assert client.refused(method, path=path)[0] in (NO, INSIDE)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["files"]
    assert client("save", path="deep/a.jkr")["success"] and (folder / "deep" / "a.jkr").exists()


def test_a_screenshot_is_a_picture_of_the_game(tmp_path: Path) -> None:
    client = bot()
    pictures: list[Any] = []
    for name in ("menu", "hand"):
        file = tmp_path / f"{name}.png"
        assert client("screenshot", path=str(file))["path"] == str(file)
        pictures.append(cv2.imread(str(file)))
        client.hand()
    assert pictures[0].shape == pictures[1].shape and pictures[0].max() == 0 and pictures[1].max() > 100
