"""The service against hostile clients: every bad input gets a clear status, and the service continues."""

import socket
import struct
import time
from typing import Any

import grpc
import numpy as np
import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given, settings
from hypothesis import strategies as st

from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import Phase, new_states, save_state
from ante.env.replay import Heading, write_replay
from ante.serve.decisions import positions
from ante.serve.decisions.deciders import StepwiseDecider
from ante.serve.decisions.positions import MESSAGE_BYTES, MOST_DECISIONS, Refused, Runs, position_of
from ante.serve.decisions.service import MOST_QUERIES
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1.decisions_pb2_grpc import DecisionServiceStub
from tests.serve.decisions.conftest import Controlled, Running, asked, eventually, refusal
from tests.serve.decisions.test_service import get, greedy_game, new_id

INVALID = grpc.StatusCode.INVALID_ARGUMENT
SELECT_BLIND = int(pack_action(Verb.SELECT_BLIND, 0, 0, 0))


def damaged(**fields: int) -> bytes:
    """Return a saved game with these fields of its record changed."""
    state = greedy_game(2)[1].states.copy()
    for name, value in fields.items():
        state[name] = value
    return save_state(state[0])


BAD_POSITIONS = {
    "no position": ({}, "no position"),
    "no record": ({"record": b""}, "not a saved game"),
    "not a record": ({"record": b"\x00" * 9000}, "not a saved game"),
    "other version": ({"record": b"ante-state" + struct.pack("<II", 3, 8632) + b"x" * 8632}, "saved game of version 3"),
    "truncated": ({"record": damaged()[:-1]}, "truncated saved game"),
    "count out of range": ({"record": damaged(n_hand=30_000)}, "n_hand is 30000"),
    "negative index": ({"record": damaged(n_deck=-1)}, "n_deck is -1"),
    "no cards": ({"record": damaged(n_cards=0)}, "n_cards is 0"),
    "bad seed": ({"run": pb.Run(seed="a b")}, "not a game seed"),
    "no seed": ({"run": pb.Run()}, "not a game seed"),
    "bad deck": ({"run": pb.Run(seed="A", deck="b_rde")}, "unknown deck 'b_rde'"),
    "bad stake": ({"run": pb.Run(seed="A", stake=9)}, "stake"),
    "bad challenge": ({"run": pb.Run(seed="A", challenge="c_nothing")}, "challenge"),
    "deck of challenge": ({"run": pb.Run(seed="A", deck="b_blue", challenge="c_omelette_1")}, "deck"),
    "illegal decision": ({"run": pb.Run(seed="A", actions=[1 << 40])}, "decision 1 of the run is illegal"),
    "no decision": ({"run": pb.Run(seed="A", actions=[-1])}, "decision 1 of the run is illegal in its state: -1"),
    "largest number": ({"run": pb.Run(seed="A", actions=[SELECT_BLIND, 2**63 - 1])}, "decision 2 of the run"),
    "too many decisions": ({"run": pb.Run(seed="A", actions=[0] * (MOST_DECISIONS + 1))}, "at most 5,000"),
    "no replay": ({"replay": "hello"}, "line 1"),
    "replay without seed": ({"replay": "ante replay 1\n"}, "no seed"),
    "bad line": ({"replay": "ante replay 1\nseed A\n\nselect-blind\nplay 0,0\n"}, "line 5"),
    "illegal line": (
        {"replay": "ante replay 1\nseed A\n\nreroll\n"},
        "decision 1 of the run is illegal in its state: reroll",
    ),
    "long replay": ({"replay": "x" * 300_000}, "at most 262,144"),
}


@pytest.mark.parametrize(("position", "words"), BAD_POSITIONS.values(), ids=BAD_POSITIONS)
def test_a_bad_position_is_refused_with_its_cause(service: Running, position: dict[str, Any], words: str) -> None:
    code, message = refusal(lambda: get(service, pb.Query(request_id=new_id(), **position)))
    assert code is INVALID and words in message and "Traceback" not in message


BAD_QUERIES = {
    "no id": (asked(""), "request_id has 0 characters"),
    "long id": (asked("x" * 65), "request_id has 65 characters"),
    "long game": (asked("g", game_id="x" * 65), "game_id has 65 characters"),
    "sequence alone": (asked("s", sequence=1), "requires game_id"),
    "alternatives": (asked("a", alternatives=17), "alternatives is 17"),
    "priority": (asked("p", priority=7), "priority is 7"),
}


@pytest.mark.parametrize(("query", "words"), BAD_QUERIES.values(), ids=BAD_QUERIES)
def test_a_bad_query_is_refused_with_its_cause(service: Running, query: Any, words: str) -> None:
    code, message = refusal(lambda: get(service, query))
    assert code is INVALID and words in message


def test_a_negative_timeout_has_passed(service: Running) -> None:
    query = asked(new_id(), timeout=Duration(seconds=-(10**9)))
    assert refusal(lambda: get(service, query))[0] is grpc.StatusCode.DEADLINE_EXCEEDED


def test_bad_records_do_not_spoil_good_ones_of_the_same_batch(service: Running, controlled: Controlled) -> None:
    good = [pb.Query(request_id=new_id(), record=save_state(greedy_game(n)[1].states[0])) for n in (0, 3)]
    bad = [pb.Query(request_id=new_id(), record=damaged(n_jokers=200)) for _ in range(2)]
    over = new_states(1)
    over[0] = greedy_game(5)[1].states[0]
    over["phase"] = Phase.OVER
    ended = pb.Query(request_id=new_id(), record=save_state(over[0]))
    queries = [bad[0], good[0], ended, bad[1], good[1]]
    found = service.stub().GetDecisions(pb.GetDecisionsRequest(queries=queries)).answers
    codes = [each.refusal.code for each in found]
    assert codes == [3, 0, 9, 3, 0] and [each.request_id for each in found] == [each.request_id for each in queries]
    assert found[1].decision.action == "select-blind" and "the game is over" in found[2].refusal.message
    assert controlled.sizes == [2]


def test_a_finished_game_has_no_decision(service: Running) -> None:
    taken, games = greedy_game(400)
    assert games.states[0].phase == Phase.OVER
    decisions = int(games.states[0].decisions)
    code, words = refusal(lambda: get(service, asked(new_id(), *taken[:decisions])))
    assert code is grpc.StatusCode.FAILED_PRECONDITION and "the game is over" in words


def test_large_requests_are_refused_before_they_are_read(service: Running) -> None:
    query = pb.Query(request_id="large", record=b"x" * MESSAGE_BYTES)
    assert refusal(lambda: get(service, query))[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
    queries = [asked(f"many{i}") for i in range(MOST_QUERIES + 1)]
    code, words = refusal(lambda: service.stub().GetDecisions(pb.GetDecisionsRequest(queries=queries)))
    assert code is INVALID and f"at most {MOST_QUERIES}" in words


def test_malformed_bytes_and_unknown_methods_get_a_status(service: Running) -> None:
    channel = grpc.insecure_channel(service.address)
    method = "/ante.serve.decisions.v1.DecisionService/"
    code, message = refusal(lambda: channel.unary_unary(f"{method}GetDecision")(b"\xff" * 50))
    assert (code, message) == (INVALID, "the request is not a message of this protocol")
    stream = channel.stream_stream(f"{method}StreamDecisions")
    answer = pb.StreamDecisionsResponse.FromString(next(stream(iter([b"\xff" * 50])))).answer
    assert (answer.refusal.code, answer.refusal.message) == (3, message)
    assert refusal(lambda: channel.unary_unary(f"{method}GetDecision")(b""))[0] is INVALID
    assert refusal(lambda: channel.unary_unary(f"{method}Nothing")(b""))[0] is grpc.StatusCode.UNIMPLEMENTED
    assert refusal(lambda: channel.unary_unary("/ante.serve.decisions.v2.DecisionService/GetDecision")(b""))[0] is (
        grpc.StatusCode.UNIMPLEMENTED
    )
    assert get(service, asked(new_id())).action == "select-blind"


def test_raw_bytes_instead_of_http2_do_not_disturb_others(service: Running) -> None:
    for data in (b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 4096, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100):
        with socket.create_connection(("127.0.0.1", service.port), timeout=2) as connection:
            connection.sendall(data)
    assert get(service, asked(new_id())).action == "select-blind"


def test_an_abandoned_stream_leaves_no_work(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    queries = iter([pb.StreamDecisionsRequest(query=asked(f"abandoned{i}")) for i in range(200)])
    call = service.stub().StreamDecisions(queries)
    eventually(lambda: sum(controlled.sizes) + len(service.desk.player_queue) >= 64)
    assert sum(controlled.sizes) + len(service.desk.player_queue) == 64  # the rest waits at the client
    call.cancel()
    controlled.go.set()
    eventually(lambda: len(service.desk.player_queue) == 0)
    assert get(service, asked(new_id())).action == "select-blind"


def test_answers_do_not_accumulate_for_a_client_that_does_not_read(service: Running) -> None:
    labels, registry = {"method": "StreamDecisions", "result": INVALID.name}, service.desk.exporter.registry

    def answered() -> float:
        return registry.get_sample_value("ante_decision_queries_total", labels) or 0.0

    before, total = answered(), 2_000
    query = asked("\N{PLAYING CARD ACE OF SPADES}" * 65)  # its refusal contains 256 bytes of the id
    channel = grpc.insecure_channel(service.address, [("grpc.http2.bdp_probe", 0)])  # which keeps its window small
    call = DecisionServiceStub(channel).StreamDecisions(pb.StreamDecisionsRequest(query=query) for _ in range(total))
    seen = -1.0
    while seen < answered():  # until no more are answered
        seen = answered()
        time.sleep(0.5)
    assert 0 < seen - before < total / 2  # as many as fit into the buffers of the connection
    assert sum(1 for _ in call) == total and answered() - before == total


def test_an_illegal_decision_of_a_player_is_not_served(service: Running, controlled: Controlled) -> None:
    class Cheat:
        name, discrete, reorder = "cheat", False, "none"

        def choose(self, games: Any, playing: Any) -> Any:
            return np.full(games.n, int(pack_action(Verb.PLAY, 0, 0, 1)))

    service.desk.decider = StepwiseDecider("cheat", "", Cheat(), pb.STRATEGY_SCRIPTED)
    found = get(service, asked(new_id()))
    assert (found.action, found.strategy, found.reason) == (
        "select-blind",
        pb.STRATEGY_FALLBACK,
        "the player cheat failed",
    )


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 8649), st.binary(min_size=1, max_size=8))
def test_changed_bytes_of_a_record_are_refused_or_a_valid_game(start: bytes, at: int, part: bytes) -> None:
    data = bytearray(damaged())
    data[at : at + len(part)] = part
    for record in (bytes(data), start + bytes(data)):
        query = pb.Query(request_id="fuzz", record=record)
        try:
            states = position_of(query, Runs())
        except Refused as refused:
            assert refused.code is INVALID
            continue
        faults = positions.faults_of(states, np.ones(1, dtype=np.bool_))
        assert all(each.code in (INVALID, grpc.StatusCode.FAILED_PRECONDITION) for each in faults.values())


def test_runs_are_kept_and_a_run_that_goes_on_costs_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, games = greedy_game(40)
    runs, steps = Runs(), list[int]()
    play = positions.step_all

    def counted(states: Any, actions: Any, status: Any) -> None:
        steps.extend(actions.tolist())
        play(states, actions, status)

    monkeypatch.setattr(positions, "step_all", counted)
    monkeypatch.setattr(positions, "KEPT_RUNS", 8)
    for length in range(len(taken) + 1):
        found = runs.position(Heading("TESTSEED"), taken[:length])
    assert steps == taken and found.tobytes() == games.states.tobytes()
    steps.clear()
    again = runs.position(Heading("TESTSEED"), taken[:20])  # forgotten
    assert steps == taken[:20] and len(runs._kept) == 8
    with pytest.raises(ValueError, match="read-only"):  # what is kept does not change
        again["dollars"] = 99_999
    text = write_replay(Heading("TESTSEED"), taken[:20])
    assert (
        position_of(pb.Query(replay=text), Runs()).tobytes() == runs.position(Heading("TESTSEED"), taken[:20]).tobytes()
    )
