"""The service over gRPC: answers, order, deadlines, repeated and stale queries, the fallback, the graceful stop."""

import asyncio
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import numpy as np
import pytest
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from ante.agents.baselines import Baseline
from ante.engine.core.state import save_state
from ante.env.games import Games
from ante.env.replay import Heading, write_replay
from ante.serve.decisions.batching import BULK, INTERACTIVE, Batcher, Work
from ante.serve.decisions.deciders import StepwiseDecider
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.positions import Refused
from ante.serve.decisions.v1 import decisions_pb2 as pb
from tests.serve.decisions.conftest import Controlled, Running, asked, eventually, refusal, running

NUMBERS = itertools.count()


def new_id() -> str:
    return f"q{next(NUMBERS)}"


def greedy_game(decisions: int, seed: str = "TESTSEED") -> tuple[list[int], Games]:
    """Return the greedy player's first decisions of a game, and the game after them."""
    player, games = Baseline("greedy"), Games(1, discrete=False, reorder="none")
    games.reset(options={"seed": seed})
    taken = []
    for _ in range(decisions):
        action = player.choose(games, np.ones(1, dtype=np.bool_))
        taken.append(int(action[0]))
        games.step(action)
    return taken, games


def get(service: Running, query: Any, timeout: float | None = None) -> Any:
    return service.stub().GetDecision(pb.GetDecisionRequest(query=query), timeout=timeout).answer.decision


def test_the_service_plays_the_same_game_as_its_player(service: Running) -> None:
    expected, _ = greedy_game(30)
    stub, taken = service.stub(), list[int]()
    for number in range(30):
        query = asked(new_id(), *taken, game_id="whole", sequence=number)
        taken.append(stub.GetDecision(pb.GetDecisionRequest(query=query)).answer.decision.packed_action)
    assert taken == expected


def test_run_replay_and_record_give_the_same_decision_and_state_hash(service: Running) -> None:
    taken, games = greedy_game(14)
    replay = write_replay(Heading("TESTSEED"), taken)
    unfinished = replay[: replay.rindex("\nend ")]  # as of a game in progress
    queries = [asked(new_id(), *taken)]
    queries += [pb.Query(request_id=new_id(), replay=text) for text in (replay, unfinished)]
    queries += [pb.Query(request_id=new_id(), record=save_state(games.states[0]))]
    found = [answer.decision for answer in service.stub().GetDecisions(pb.GetDecisionsRequest(queries=queries)).answers]
    expected = int(Baseline("greedy").choose(games, np.ones(1, dtype=np.bool_))[0])
    assert {each.packed_action for each in found} == {expected}
    assert len({each.state_hash for each in found}) == 1 and len(found[0].state_hash) == 32
    assert found[0].player == "controlled" and found[0].model_digest == "d" * 64
    assert not found[0].HasField("confidence") and not found[0].used_llm


def test_the_state_hash_does_not_depend_on_what_is_hidden(service: Running) -> None:
    _, games = greedy_game(3)
    states = [games.states.copy(), games.states.copy()]
    deck = states[1][0].deck[: states[1][0].n_deck]
    deck[:] = deck[::-1].copy()  # the order of the draw pile
    queries = [pb.Query(request_id=new_id(), record=save_state(each[0])) for each in states]
    found = service.stub().GetDecisions(pb.GetDecisionsRequest(queries=queries)).answers
    assert queries[0].record != queries[1].record
    assert found[0].decision.state_hash == found[1].decision.state_hash


def test_everything_that_arrives_during_a_batch_is_the_next_batch(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    stub = service.stub()
    calls = [stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id())))]
    eventually(lambda: controlled.sizes == [1])
    calls += [stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id()))) for _ in range(9)]
    eventually(lambda: len(service.desk.player_queue) == 9)
    controlled.go.set()
    assert {call.result(5).answer.decision.action for call in calls} == {"select-blind"}
    assert controlled.sizes == [1, 9]


def test_interactive_queries_overtake_bulk_queries(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    stub, order = service.stub(), list[str]()
    queue = service.desk.player_queue
    queue._largest = 1
    try:
        first = stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id())))
        eventually(lambda: controlled.sizes == [1])
        for name, priority in (("bulk", pb.PRIORITY_BULK), ("plain", pb.PRIORITY_UNSPECIFIED)):
            call = stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id(), priority=priority)))
            call.add_done_callback(lambda _, name=name: order.append(name))
            eventually(lambda: len(queue._queues[BULK]) == 1)
        eventually(lambda: len(queue._queues[INTERACTIVE]) == 1)
        controlled.go.set()
        first.result(5)
        eventually(lambda: len(order) == 2)
        assert order == ["plain", "bulk"]
    finally:
        queue._largest = 64


def test_a_query_whose_deadline_has_passed_is_refused(service: Running, controlled: Controlled) -> None:
    past = asked(new_id(), timeout=Duration(nanos=0))
    assert refusal(lambda: get(service, past))[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    assert controlled.sizes == []


def test_work_that_expired_or_was_abandoned_while_it_waited_is_not_computed() -> None:
    computed = list[str]()

    def decide(queries: Any, until: float) -> Any:
        computed.extend(each.request_id for each in queries)
        return [each.request_id for each in queries]

    async def main() -> tuple[Any, Any]:
        queue, loop, now = Batcher(decide, 64, 3), asyncio.get_running_loop(), time.monotonic()
        ages = {"late": now - 0.001, "left": now + 60, "good": now + 60}
        works = {name: Work(asked(name), deadline, loop.create_future()) for name, deadline in ages.items()}
        for work in works.values():
            queue.put(work)
        with pytest.raises(Refused, match="3 queries wait already") as full:
            queue.put(works["good"])
        assert full.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        works["left"].done.cancel()
        queue.start()
        found = await asyncio.gather(*(each.done for each in works.values()), return_exceptions=True)
        await queue.stop()
        return found[0].code, found[2]

    assert asyncio.run(main()) == (grpc.StatusCode.DEADLINE_EXCEEDED, "good") and computed == ["good"]


def test_work_that_has_ended_takes_no_place_in_the_queue() -> None:
    async def main() -> int:
        queue, loop = Batcher(lambda *_: [], 64, 3), asyncio.get_running_loop()
        for number in range(9):  # the player is busy with another batch, so nothing is taken from the queue
            work = Work(asked(f"late{number}"), time.monotonic() + 60, loop.create_future())
            queue.put(work)
            work.done.cancel()  # the rules decide
            await asyncio.sleep(0)
        return len(queue)

    assert asyncio.run(main()) == 0


def test_a_stopped_queue_refuses_what_waits_and_the_batch_in_progress() -> None:
    computing, go = threading.Event(), threading.Event()

    def decide(queries: Any, until: float) -> Any:
        computing.set()
        assert go.wait(5.0)
        return [each.request_id for each in queries]

    async def main() -> list[Any]:
        queue, loop = Batcher(decide, 1, 8), asyncio.get_running_loop()
        works = [Work(asked(name), time.monotonic() + 60, loop.create_future()) for name in ("computing", "waiting")]
        for work in works:
            queue.put(work)
        queue.start()
        await asyncio.to_thread(computing.wait, 5.0)
        await queue.stop()
        go.set()
        async with asyncio.timeout(5):
            return await asyncio.gather(*(each.done for each in works), return_exceptions=True)

    assert [each.code for each in asyncio.run(main())] == [grpc.StatusCode.UNAVAILABLE] * 2


def test_the_rules_decide_when_the_player_is_late_and_the_answer_says_so(
    service: Running, controlled: Controlled, rules: StepwiseDecider
) -> None:
    taken, _ = greedy_game(9)
    service.desk.decider = rules
    expected = get(service, asked(new_id(), *taken))
    service.desk.decider = controlled
    controlled.go.clear()
    found = get(service, asked(new_id(), *taken), timeout=0.5)
    assert found.strategy == pb.STRATEGY_FALLBACK and found.reason == "the player controlled was late"
    assert found.packed_action == expected.packed_action and expected.strategy == pb.STRATEGY_SCRIPTED


def test_the_rules_decide_all_late_queries_of_more_than_one_batch(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    parts = [[asked(new_id()) for _ in range(64)] for _ in range(4)]
    requests = [pb.GetDecisionsRequest(queries=part) for part in parts]
    calls = [service.stub().GetDecisions.future(request, timeout=3.0) for request in requests]
    answers = [answer for call in calls for answer in call.result(5).answers]
    assert len(answers) == 256 and {each.refusal.message for each in answers} == {""}
    assert {each.decision.strategy for each in answers} == {pb.STRATEGY_FALLBACK}


def test_the_rules_decide_when_the_player_is_missing_or_fails(
    service: Running, controlled: Controlled, caplog: pytest.LogCaptureFixture
) -> None:
    controlled.error = RuntimeError("secret of the player")
    found = get(service, asked(new_id()))
    assert (found.strategy, found.reason) == (pb.STRATEGY_FALLBACK, "the player controlled failed")
    assert "secret of the player" in caplog.text
    service.desk.decider, service.desk.missing = None, "the model is missing: no checkpoint"
    found = get(service, asked(new_id()))
    assert (found.strategy, found.reason) == (pb.STRATEGY_FALLBACK, "the model is missing: no checkpoint")


def test_a_repeated_query_has_the_same_answer_and_is_computed_once(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    query, stub = asked(new_id()), service.stub()
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(get, service, query) for _ in range(4)]
        eventually(lambda: controlled.sizes == [1])
        controlled.go.set()
        answers = [each.result(5) for each in found]
    answers.append(stub.GetDecision(pb.GetDecisionRequest(query=query)).answer.decision)
    assert all(each == answers[0] for each in answers) and controlled.sizes == [1]
    other = pb.Query(request_id=query.request_id, run=pb.Run(seed="OTHER"))
    assert refusal(lambda: get(service, other))[0] is grpc.StatusCode.ALREADY_EXISTS


def test_the_failure_of_a_forgotten_query_does_not_forget_its_repetition(
    controlled: Controlled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ante.serve.decisions.desk.REMEMBERED", 1)

    async def main() -> list[str]:
        desk = Desk(controlled)
        desk.start()
        desk.rules_queue._most = 0  # so that a late query has no decision
        controlled.go.clear()
        calls = []
        for name, seconds in (("a", 0.2), ("b", 5.0), ("a", 5.0)):  # the second one displaces the first
            calls.append(asyncio.create_task(desk.decision(asked(name), seconds)))
            await asyncio.sleep(0.02)
        with pytest.raises(Refused, match="deadline"):
            await calls[0]
        kept = list(desk._answers)
        controlled.go.set()
        await asyncio.wait(calls)
        await desk.stop()
        return kept

    assert asyncio.run(main()) == ["a"]


def test_a_repeated_query_has_its_own_time(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    query, stub = asked(new_id(), timeout=Duration(seconds=4)), service.stub()
    first = stub.GetDecision.future(pb.GetDecisionRequest(query=query))
    eventually(lambda: controlled.sizes == [1])
    again = asked(query.request_id, timeout=Duration(nanos=200_000_000))
    begin = time.monotonic()
    assert refusal(lambda: get(service, again))[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - begin < 2.0
    controlled.go.set()
    assert first.result(5).answer.decision.strategy == pb.STRATEGY_POLICY


def test_a_caller_that_gives_up_does_not_take_the_answer_from_another(service: Running, controlled: Controlled) -> None:
    controlled.go.clear()
    query, stub = asked(new_id()), service.stub()
    first = stub.GetDecision.future(pb.GetDecisionRequest(query=query))
    eventually(lambda: controlled.sizes == [1])
    second = stub.GetDecision.future(pb.GetDecisionRequest(query=query))
    first.cancel()
    controlled.go.set()
    assert second.result(5).answer.decision.action == "select-blind"


def test_a_stale_query_is_refused_by_sequence_also_while_it_waits(service: Running, controlled: Controlled) -> None:
    get(service, asked(new_id(), game_id="s", sequence=5))
    code, words = refusal(lambda: get(service, asked(new_id(), game_id="s", sequence=4)))
    assert code is grpc.StatusCode.FAILED_PRECONDITION and "larger sequence than 4" in words
    get(service, asked(new_id(), game_id="other", sequence=4))
    controlled.go.clear()
    controlled.sizes.clear()
    stub = service.stub()
    busy = stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id())))
    eventually(lambda: controlled.sizes == [1])
    old = stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id(), game_id="s", sequence=6)))
    eventually(lambda: len(service.desk.player_queue) == 1)
    new = stub.GetDecision.future(pb.GetDecisionRequest(query=asked(new_id(), game_id="s", sequence=7)))
    eventually(lambda: len(service.desk.player_queue) == 2)
    controlled.go.set()
    assert old.exception(5).code() is grpc.StatusCode.FAILED_PRECONDITION
    assert new.result(5).answer.decision.action == busy.result(5).answer.decision.action == "select-blind"


def test_a_position_with_another_state_hash_is_stale(service: Running) -> None:
    taken, _ = greedy_game(4)
    now = get(service, asked(new_id(), *taken)).state_hash
    assert get(service, asked(new_id(), *taken, state_hash=now)).state_hash == now
    code, words = refusal(lambda: get(service, asked(new_id(), *taken[:3], state_hash=now)))
    assert code is grpc.StatusCode.FAILED_PRECONDITION and words.startswith("stale: the position has state hash")


def test_a_stream_answers_every_query_and_reports_refusals_in_it(service: Running) -> None:
    queries = [asked(f"stream{i}", seed=f"STREAM{i}") for i in range(40)] + [asked("bad", seed="no seed!")]
    responses = service.stub().StreamDecisions(iter([pb.StreamDecisionsRequest(query=each) for each in queries]))
    answers = {each.answer.request_id: each.answer for each in responses}
    assert answers.keys() == {each.request_id for each in queries}
    refused = answers.pop("bad").refusal
    assert refused.code == grpc.StatusCode.INVALID_ARGUMENT.value[0] and "is not a game seed" in refused.message
    assert {each.decision.action for each in answers.values()} == {"select-blind"}


def test_words_and_alternatives_are_there_if_asked_for(service: Running) -> None:
    assert get(service, asked(new_id())).description == ""
    assert get(service, asked(new_id(), describe=True)).description == "select Small Blind"


def test_health_and_reflection(service: Running) -> None:
    channel = grpc.insecure_channel(service.address)
    name = "ante.serve.decisions.v1.DecisionService"
    found = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=name))
    assert found.status == health_pb2.HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    listed = next(stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")])))
    assert name in {each.name for each in listed.list_services_response.service}
    info = service.stub().GetServiceInfo(pb.GetServiceInfoRequest())
    assert (info.player, info.strategy, info.record_bytes) == ("controlled", pb.STRATEGY_POLICY, len(record()) - 18)


def record() -> bytes:
    return save_state(greedy_game(0)[1].states[0])


def test_a_stopping_server_completes_its_calls_and_refuses_new_ones(rules: StepwiseDecider) -> None:
    slow = Controlled()
    with running(Desk(slow, answer_seconds=2.0)) as server:
        channel = grpc.insecure_channel(server.address)
        health = health_pb2_grpc.HealthStub(channel)
        slow.go.clear()
        slow.sizes.clear()
        sent = threading.Event()

        def queries() -> Any:
            yield pb.StreamDecisionsRequest(query=asked("streamed"))
            sent.wait(5)

        unary = server.stub().GetDecision.future(pb.GetDecisionRequest(query=asked("unary")))
        stream = server.stub().StreamDecisions(queries())
        eventually(lambda: sum(slow.sizes) + len(server.desk.player_queue) == 2)
        server.drain()

        def stops() -> bool:
            try:
                status = health.Check(health_pb2.HealthCheckRequest()).status
            except grpc.RpcError as error:
                return error.code() is grpc.StatusCode.UNAVAILABLE
            return status == health_pb2.HealthCheckResponse.NOT_SERVING

        eventually(stops)
        slow.go.set()
        assert unary.result(5).answer.decision.action == "select-blind"
        assert next(stream).answer.decision.action == "select-blind"
        with pytest.raises(grpc.RpcError) as caught:
            next(stream)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        sent.set()
    assert refusal(lambda: get(server, asked("after")))[0] is grpc.StatusCode.UNAVAILABLE
