"""Hostile and mistaken arguments are clear errors; paths stay inside the folder of runs; limits hold."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from ante.agents.evaluate import Player
from ante.serve.mcp import games
from ante.serve.mcp.games import GameLimit, GameTable, NoSuchGame
from ante.serve.mcp.server import server_of
from tests.serve.mcp.calls import Caller
from tests.serve.mcp.runs import SECRET, find, make_runs, replay


def with_client(
    folder: Path, work: Callable[[Caller], Coroutine[Any, Any, None]], finder: Callable[[str], Player] = find
) -> None:
    """Run calls against a server in this process."""

    async def run() -> None:
        async with Client(server_of(make_runs(folder), finder)) as client:
            await work(Caller(client))

    asyncio.run(run())


WRONG = [
    ("inspect_run", {"run": "../secret"}, "'../secret' is not a path"),
    ("inspect_run", {"run": "/etc"}, "is not a path"),
    ("inspect_run", {"run": "notes"}, "there is no run 'notes': list_runs shows the names"),
    ("inspect_run", {"run": "a\x00b"}, "control characters"),
    ("inspect_run", {"run": "x" * 256}, "at most 255 characters"),
    ("inspect_run", {}, "Field required"),
    ("inspect_replay", {}, "give either path or replay"),
    ("inspect_replay", {"path": "ppo/config.yaml"}, "'ppo/config.yaml' is no replay"),
    ("inspect_replay", {"path": "ppo/episodes/none.txt"}, "cannot read ppo/episodes/none.txt"),
    ("inspect_replay", {"path": "../../etc/passwd.txt"}, "is not a path"),
    ("inspect_replay", {"replay": "nonsense"}, "line 1: 'nonsense' should be 'ante replay 1'"),
    ("inspect_replay", {"replay": replay(), "first_line": 10_000}, "line 10000 does not exist"),
    ("inspect_seed", {"seed": "no seed!"}, "is not a game seed"),
    ("inspect_seed", {"seed": "A", "antes": 1000}, "less than or equal to 16"),
    ("inspect_seed", {"seed": "A", "stake": 0}, "greater than or equal to 1"),
    ("inspect_seed", {"seed": "A", "deck": "blue-ish"}, "unknown deck 'blue-ish'"),
    ("inspect_seed", {"seed": ["A"]}, "valid string"),
    ("decide", {}, "give either game, or seed with decisions"),
    ("decide", {"seed": "A", "game": "b"}, "give either game, or seed"),
    ("decide", {"seed": "A", "player": "os:system"}, "there is no player 'os:system': list_players shows the names"),
    ("decide", {"seed": "A", "player": "../secret"}, "there is no player"),
    ("decide", {"seed": "A", "decisions": ["select-blind", "play 9"]}, "decision 2: play 9 is illegal now"),
    ("decide", {"seed": "A", "decisions": ["fly away"]}, "decision 1: 'fly' is not a decision"),
    ("decide", {"seed": "A", "decisions": ["x"] * 10_001}, "at most 10000 items"),
    ("new_game", {"seed": "A" * 17}, "at most 16 characters"),
    ("show_game", {"game": "none"}, "there is no game 'none': start one with new_game"),
    ("play_game", {"game": "none", "decision": "play 0"}, "there is no game 'none'"),
    ("end_game", {"game": "none"}, "there is no game 'none'"),
    ("train", {}, "Unknown tool"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), WRONG)
def test_wrong_arguments_are_told(tool: str, arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        told = await call.refused(tool, **arguments)
        assert message in told
        assert "Traceback" not in told and str(tmp_path) not in told and len(told) < 3000

    with_client(tmp_path, work)


@pytest.mark.parametrize(
    "uri",
    [
        "ante://report/../secret.html",
        "ante://report/%2e%2e/secret.html",
        "ante://report/..%2fsecret.html",
        "ante://report//etc/passwd.html",
        "ante://report/ppo/link.html",
        "ante://report/ppo/config.yaml",
        "ante://report/ppo/none.html",
        "ante://video/ppo/report.html",
        "ante://replay/ppo/report.html",
        "ante://checkpoint/ppo/best",
        "file:///etc/passwd",
    ],
)
def test_resources_stay_inside_the_folder_of_runs(uri: str, tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        with pytest.raises(MCPError) as told:
            await call.client.read_resource(uri)
        assert SECRET not in str(told.value) and str(tmp_path) not in str(told.value)

    with_client(tmp_path, work)


def test_a_replay_that_the_engine_plays_differently_is_told(tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        text = replay()
        assert (await call("inspect_replay", replay=text))["difference"] is None
        changed = text.replace("TESTSEED", "OTHER")
        assert "line 6" in (await call("inspect_replay", replay=changed))["difference"]

    with_client(tmp_path, work)


def test_an_illegal_decision_changes_nothing_and_names_legal_ones(tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        game = await call("new_game", seed="TESTSEED")
        told = await call.refused("play_game", game=game["game"], decision="play 0")
        assert "play 0 is illegal now; legal are, among others: select-blind, skip-blind" in told
        assert (await call("show_game", game=game["game"]))["state"] == game["state"]

    with_client(tmp_path, work)


def test_a_stale_decision_is_refused(tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        game = await call("new_game", seed="TESTSEED")
        await call("play_game", game=game["game"], decision="select-blind", state=game["state"])
        told = await call.refused("play_game", game=game["game"], decision="play 0", state=game["state"])
        assert "the game has moved on" in told

    with_client(tmp_path, work)


def test_a_random_seed_is_hidden_until_the_game_ends(tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        game = await call("new_game")
        assert game["seed"] is None and "seed" not in game["text"]
        seed = (await call("end_game", game=game["game"]))["seed"]
        assert len(seed) == 8 and seed not in game["text"]

    with_client(tmp_path, work)


def test_a_baseline_decides_without_probabilities(tmp_path: Path) -> None:
    async def work(call: Caller) -> None:
        advice = await call("decide", seed="TESTSEED", decisions=["select-blind"], player="greedy")
        assert advice["choice"]["probability"] is None
        assert advice["choice"]["decision"].split()[0] in ("play", "discard")

    with_client(tmp_path, work)


def test_a_player_whose_package_is_missing_is_told(tmp_path: Path) -> None:
    def missing(name: str) -> Player:
        raise ModuleNotFoundError(name="torch")

    async def work(call: Caller) -> None:
        told = await call.refused("decide", seed="TESTSEED", player="white-stake")
        assert "torch is not installed: pip install 'ante-balatro[train]'" in told

    with_client(tmp_path, work, missing)


def test_a_failure_inside_a_tool_shows_nothing_of_it(tmp_path: Path) -> None:
    def fails(name: str) -> Player:
        raise RuntimeError(SECRET)

    async def work(call: Caller) -> None:
        assert await call.refused("decide", seed="TESTSEED", player="greedy") == "Error executing tool decide"

    with_client(tmp_path, work, fails)


def test_games_are_limited_in_number_and_idle_ones_are_replaced() -> None:
    now = [0.0]
    table = GameTable(lambda: now[0])
    first = table.begin(None, "b_red", 1).game
    for _ in range(games.MOST_GAMES - 1):
        now[0] += 1.0
        table.begin(None, "b_red", 1)
    with pytest.raises(GameLimit, match="32 games are in progress"):
        table.begin(None, "b_red", 1)
    now[0] = games.IDLE_SECONDS + 0.5  # the first game is idle for longer, the second is not
    table.begin(None, "b_red", 1)
    with pytest.raises(NoSuchGame):
        table.view(first)


def test_a_game_is_limited_in_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "MOST_DECISIONS", 1)
    table = GameTable()
    game = table.begin(None, "b_red", 1).game
    table.play(game, "select-blind", None)
    with pytest.raises(GameLimit, match="end it and start another"):
        table.play(game, "play 0", None)


def test_no_tool_is_about_training() -> None:
    from ante.serve.mcp.server import CHANGING, NAMES

    assert set(CHANGING) == {"new_game", "play_game", "end_game"}
    assert not any(word in name for name in NAMES for word in ("train", "start", "stop", "delete", "write"))
