"""Players of Ante in a game behind the protocol, compared with the engine call by call."""

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ante.agents.baselines import Baseline
from ante.cli import outcome
from ante.errors import BalatroError
from ante.files import Unreadable
from ante.serve.live.bridge import Bridge, Played, check_recording
from ante.serve.live.client import Client, Recorder, RemoteError, Unreachable, result_of
from ante.serve.live.link import Link, StaleState, comparable, difference
from tests.serve.balatrobot.bot import Bot, bot


@dataclass
class Local:
    """A caller of a session in this process.

    spoil  changes the reply to call number n, or raises
    """

    client: Bot
    spoil: Callable[[int, str, Any], Any] = lambda _n, _method, state: state
    calls: int = 0
    methods: list[str] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> Any:
        """See ante.serve.live.client.Caller."""
        self.calls += 1
        self.methods.append(method)
        body = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
        reply = json.loads(self.client.desk.answer(json.dumps(body).encode()))
        return self.spoil(self.calls, method, result_of(method, reply))


def played(caller: Local, seed: str, player: Any = None, patience: float = 5.0, **words: Any) -> Played:
    bridge = Bridge(caller, player or Baseline("greedy"), patience)
    bridge.wait = lambda _: None
    return bridge.play(seed, **words)


@pytest.mark.parametrize("dialect", ["1.5", "2.0"])
@pytest.mark.parametrize("player", ["greedy", "random"])
def test_a_game_equals_the_engine(dialect: str, player: str) -> None:
    result = played(Local(bot(dialect)), "BRIDGE", Baseline(player))
    assert (result.outcome, result.difference) == ("lost", "") and result.decisions > 5


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["1.5", "2.0"])
def test_a_hundred_games_have_no_difference(dialect: str) -> None:
    decks, total = ("b_red", "b_plasma", "b_ghost", "b_erratic", "b_anaglyph"), 0
    for number in range(100):
        player = Baseline("random" if number % 2 else "greedy", number)
        result = played(Local(bot(dialect)), f"GAME{number}", player, deck=decks[number % 5], stake=1 + number % 8)
        assert (result.outcome, result.difference) in (("lost", ""), ("won", "")), result
        total += result.decisions
    assert total > 2000


PLANTS: dict[str, Callable[[Any], Any]] = {
    "money": lambda state: state | {"money": state["money"] + 1},
    "ante_num": lambda state: state | {"ante_num": 9},
    "won": lambda state: state | {"won": True},
    "state": lambda state: state | {"state": "NEW_ROUND"},
    "hands.Pair.level": lambda state: (
        state | {"hands": state["hands"] | {"Pair": state["hands"]["Pair"] | {"level": 7}}}
    ),
    "cards.cards[0].key": lambda state: planted_card(state),
    "round.chips": lambda state: state | {"round": state["round"] | {"chips": 0.5}},
    "blinds.boss.name": lambda state: planted_boss(state),
    "jokers": lambda state: {name: value for name, value in state.items() if name != "jokers"},
}


def planted_card(state: Any) -> Any:
    first, *others = state["cards"]["cards"]
    return state | {"cards": state["cards"] | {"cards": [first | {"key": "X_X"}, *others]}}


def planted_boss(state: Any) -> Any:
    return state | {"blinds": state["blinds"] | {"boss": state["blinds"]["boss"] | {"name": "The Planted"}}}


@pytest.mark.parametrize("place", PLANTS)
@pytest.mark.parametrize("decision", [0, 1, 4])
def test_a_planted_difference_is_found_at_once_and_named(place: str, decision: int) -> None:
    """Each decision is two calls, after two calls that start the game."""
    at = 2 + 2 * decision
    caller = Local(bot(), lambda n, _, state: PLANTS[place](state) if n == at else state)
    result = played(caller, "PLANT")
    assert result.outcome == "different" and result.difference.startswith(place)
    assert (result.decisions, caller.calls) == (decision, at)


def test_a_decision_for_a_state_that_has_changed_is_not_sent() -> None:
    client = bot()

    def meddle(n: int, _: str, state: Any) -> Any:
        if n == 4:
            client("set", money=77)
        return state

    caller = Local(client, meddle)
    with pytest.raises(StaleState, match="money: expected 4, found 77"):
        played(caller, "STALE")
    assert caller.methods[-1] == "gamestate"


@pytest.mark.parametrize("done", [True, False], ids=["reply lost", "request lost"])
def test_a_server_that_is_away_for_a_while_does_not_end_the_game(done: bool) -> None:
    """A lost reply must not repeat the decision, and a lost request must."""
    client, away = bot(), {6: 3, 12: 2}
    left = 0

    class Away(Local):
        def call(self, method: str, **params: Any) -> Any:
            nonlocal left
            if left:
                left -= 1
                raise Unreachable("away")
            if method not in ("gamestate", "menu", "start") and (count := away.pop(self.calls + 1, 0)):
                left = count
                self.calls += 1
                if done:
                    super().call(method, **params)
                raise Unreachable("away")
            return super().call(method, **params)

    result = played(Away(client), "AWAY")
    assert (result.outcome, result.difference, result.resumed) == ("lost", "", 2)
    assert result.decisions == played(Local(bot()), "AWAY").decisions


def test_a_game_that_is_gone_after_a_restart_is_interrupted() -> None:
    class Gone(Local):
        def call(self, method: str, **params: Any) -> Any:
            if method == "select" and "select" not in self.methods:
                super().call("menu")
                self.methods.append("select")
                raise Unreachable("gone")
            return super().call(method, **params)

    assert played(Gone(bot()), "GONE").outcome == "interrupted"


def test_a_server_that_stays_away_is_an_error() -> None:
    def gone(n: int, _: str, state: Any) -> Any:
        if n > 5:
            raise Unreachable("no reply")
        return state

    with pytest.raises(Unreachable, match="no reply"):
        played(Local(bot(), gone), "NEVER", patience=0.1)


def test_the_patience_includes_the_time_in_which_a_hanging_server_is_called() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # it accepts connections and never replies
        link = Link(Client(f"http://127.0.0.1:{hanging.getsockname()[1]}", seconds=1.0), patience=1.0)
        begin = time.monotonic()
        with pytest.raises(Unreachable, match="no reply"):
            link.state_after_restart()
        assert 1.0 <= time.monotonic() - begin < 3.0


def test_a_reply_that_comes_byte_by_byte_is_given_up() -> None:
    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.1)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=drip, args=[listening], daemon=True).start()
        begin = time.monotonic()
        with pytest.raises(Unreachable, match=r"^no complete reply from .* in 0.5 seconds"):
            Client(f"http://127.0.0.1:{listening.getsockname()[1]}", seconds=0.5).call("health")
        assert time.monotonic() - begin < 5.0


@pytest.mark.parametrize("reply", [None, [], {}, {"error": 5}, {"error": {"message": "x"}}])
def test_a_reply_that_is_none_of_the_protocol_is_named(reply: Any) -> None:
    with pytest.raises(Unreachable, match="not JSON-RPC"):
        result_of("health", reply)
    with pytest.raises(RemoteError, match=r"play: no \(NOT_ALLOWED\)"):
        result_of("play", {"error": {"message": "no", "data": {"name": "NOT_ALLOWED"}}})


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:12346", "https://a", "http://", "http://a:b", "http://a:99999", "http://["]
)
def test_an_address_that_is_none_is_named(url: str) -> None:
    with pytest.raises(BalatroError, match="is not an address such as"):
        Client(url)


class Direct(Client):
    """A client of a session in this process."""

    def __init__(self) -> None:
        self.desk = bot().desk

    def exchange(self, body: Any) -> Any:
        return json.loads(self.desk.answer(json.dumps(body).encode()))


def test_a_recording_is_checked_against_another_server(tmp_path: Path) -> None:
    with Recorder(Direct(), tmp_path / "game") as recorder:
        assert Bridge(recorder, Baseline("greedy")).play("RECORD").outcome == "lost"
    equal, why = check_recording(tmp_path / "game", Direct().exchange)
    assert why == "" and equal == len((tmp_path / "game.req.jsonl").read_text().splitlines()) > 10
    replies = tmp_path / "game.res.jsonl"
    lines = replies.read_text().splitlines()
    lines[4] = lines[4].replace('"money": 4', '"money": 5')
    replies.write_text("\n".join(lines))
    equal, why = check_recording(tmp_path / "game", Direct().exchange)
    assert equal == 4 and why.endswith("result.money: expected 5, found 4")
    replies.write_text("\n".join(["{", *lines[1:]]))
    with pytest.raises(Unreadable, match="invalid JSON"):
        check_recording(tmp_path / "game", Direct().exchange)


@pytest.mark.parametrize(("requests", "replies"), [(2, 1), (2, 0), (1, 2), (0, 0)])
def test_a_recording_whose_requests_have_no_replies_is_refused(tmp_path: Path, requests: int, replies: int) -> None:
    for kind, lines in (("req", requests), ("res", replies)):
        (tmp_path / f"game.{kind}.jsonl").write_text("{}\n" * lines)
    with pytest.raises(Unreadable, match=f"game has {requests} requests and {replies} replies: record it again"):
        check_recording(tmp_path / "game", lambda _: {})


def test_a_recording_replaces_no_other_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["live", "http://127.0.0.1:1", "--patience", "0", "--record", str(tmp_path / "game")]
    assert outcome(words) == 2 and "no reply from" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "nothing was recorded"
    (tmp_path / "game.res.jsonl").write_text("{}\n")
    assert outcome(words) == 2 and "game.res.jsonl exists: give the new recording" in capsys.readouterr().err
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("game.res.jsonl", "{}\n")]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--record", "{}/none/game"], "cannot write .*none/game.req.jsonl: there is no folder"),
        (["--record", "{}/old"], "old.res.jsonl exists: give the new recording another name"),
        (["--record", "/"], "is not the name of a recording"),
        (["--record", "{}/new", "--check", "{}/old"], "--check plays no game that --record could write"),
    ],
)
def test_a_recording_is_checked_before_the_player_is_loaded(
    words: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.res.jsonl").touch()
    given = [word.format(tmp_path) for word in words]
    assert outcome(["live", "http://127.0.0.1:1", "--player", "no/such:Player", *given]) == 2
    assert re.search(why, capsys.readouterr().err)


def test_differences_are_named_by_their_place() -> None:
    assert difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a[1].b: expected 2, found 3"
    assert difference([1], [1, 2], "x").startswith("x: expected")
    assert difference({"a": 1}, {}) == "a: expected 1, found None"
    assert difference(1.0, 1) == "" and difference(True, 1) == "" and difference(1e20, 1e20 + 1e5) == ""
    assert comparable({"id": 5, "value": {"effect": "x"}}) == {"value": []}


def test_a_player_that_reorders_its_hand_is_refused() -> None:
    player = Baseline("random")
    player.reorder = "all"
    with pytest.raises(BalatroError, match="reorders its hand"):
        Bridge(Local(bot()), player)
