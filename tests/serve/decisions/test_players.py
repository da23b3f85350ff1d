"""Players behind the service: what they decide, how they are loaded and replaced, and the clients that use them."""

import asyncio
import itertools
import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
import requests
import torch

from ante.agents.evaluate import evaluate
from ante.agents.releases import policy_folder
from ante.cli.players import player_of
from ante.engine.core.state import save_state
from ante.env.games import Games
from ante.errors import BalatroError
from ante.hints.fake import FakeServer
from ante.http.metrics_page import metrics_page
from ante.search.budget import budget_of
from ante.search.player import SearchPlayer
from ante.search.protocol import Positions
from ante.serve.decisions import client as client_module
from ante.serve.decisions.client import Address, DecisionClient, DecisionStream, NoDecision
from ante.serve.decisions.deciders import (
    CannotDecide,
    StepwiseDecider,
    Tables,
    ThinkingDecider,
    check_memory,
    decider_of,
)
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.models import Source, first_decider, follow
from ante.serve.decisions.server import Options, serving
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.training.acting.player import make_player
from ante.training.players.advised import AdvisedPlayer
from ante.training.players.release import player_from, policy_from
from ante.training.policies.registry import new_policy
from ante.training.run_store.checkpoints import save_checkpoint
from ante.training.settings.config import TrainConfig, read_config
from tests.serve.decisions.conftest import Controlled, Running, asked, running
from tests.support.checkpoints import METADATA, make_run, write_policy
from tests.support.tiny import TINY

ALL = np.ones(8, dtype=np.bool_)


@pytest.fixture(scope="module")
def policy() -> Any:
    return policy_from(policy_folder("white-stake"))


@pytest.fixture
def positions() -> Games:
    """Return eight positions of different games in several phases."""
    player, games = (
        player_from(policy_folder("white-stake"), likeliest=True),
        Games(8, discrete=False, reorder="jokers"),
    )
    games.reset(options={"seed": [f"POS{i}" for i in range(8)]})
    for step in range(40):
        actions = player.choose(games, ALL)
        actions[step % 8] = -1  # at different steps
        games.step(actions)
    assert not games.outcome.any()
    return games


def test_a_policy_decides_as_in_evaluation_with_its_probabilities(policy: Any, positions: Games) -> None:
    player = make_player(policy, "policy", likeliest=True, reorder="jokers")
    found = decider_of("policy", "", player).decide(positions)
    assert [each.decision for each in found] == player.choose(positions, ALL).tolist()
    rows = np.zeros(8, dtype=policy.row_t)
    policy.pack(positions, rows)
    logs, _, _ = policy.action_log_probs(rows)
    assert [each.confidence for each in found] == pytest.approx(logs.exp().max(dim=1).values.tolist(), abs=1e-4)
    for each in found:
        chances = [chance for _, chance in each.options]
        assert chances == sorted(chances, reverse=True) and sum(chances) == pytest.approx(1.0, abs=0.01)
        assert each.strategy == pb.STRATEGY_POLICY and each.value is not None


def test_search_decides_as_the_search_player_with_the_whole_budget(policy: Any, positions: Games) -> None:
    player = make_player(policy, "policy", likeliest=True, reorder="jokers")
    decider = decider_of("policy", "", SearchPlayer(player, budget_of("48")))
    assert decider.name == "policy with search 48"
    found = decider.decide(Tables().place(positions.states, decider))
    searched = [each for each in found if each.strategy == pb.STRATEGY_SEARCH]
    assert searched and all("simulations" in each.reason for each in searched)
    assert isinstance(decider, ThinkingDecider) and decider.searcher
    compared = decider.searcher.search(Positions.of(positions, np.arange(8)), np.full(8, 48.0))
    assert {each.comparison.allowance for each in compared if each.comparison} == {48}  # in every phase
    late = decider.decide(Tables().place(positions.states, decider), until=time.monotonic())
    assert {each.strategy for each in late} == {pb.STRATEGY_POLICY}
    again = decider.decide(Tables().place(positions.states, decider))
    assert [each.decision for each in again] == [
        each.decision for each in found
    ]  # a budget in simulations is reproducible


def test_a_policy_of_the_discrete_view_completes_its_decision_card_by_card(positions: Games) -> None:
    config = TrainConfig.model_validate({"policy": {"kind": "mlp"}})
    torch.manual_seed(0)
    player = make_player(new_policy(config), "mlp", likeliest=True)
    decider = decider_of("mlp", "", player)
    found = decider.decide(Tables().place(positions.states, decider))
    games = Games(8, discrete=True, reorder="none")
    games.put(np.arange(8), positions.states, trusted=True)
    open_ones, verbs = ALL.copy(), [0] * 8
    for _ in range(30):  # the player itself, in the same positions
        actions = player.choose(games, open_ones)
        before = games.states["decisions"].copy()
        games.step(actions)
        for i in np.flatnonzero(open_ones & (games.states["decisions"] > before)):
            verbs[i], open_ones[i] = int(actions[i]), False
        if not open_ones.any():
            break
    assert not open_ones.any()
    assert all(0.0 < (each.confidence or 0.0) <= 1.0 and each.value is not None for each in found)
    after = Games(8, discrete=False, reorder="none")
    after.put(np.arange(8), positions.states, trusted=True)
    after.states.view(np.uint8)[:] = positions.states.view(np.uint8)
    assert after.refused(np.array([each.decision for each in found])) == -1


def test_a_policy_with_memory_is_refused(policy: Any) -> None:
    config = TrainConfig.model_validate({"policy": {"kind": "lstm"}})
    with pytest.raises(CannotDecide, match="remembers earlier decisions"):
        check_memory("lstm", new_policy(config))
    check_memory("white-stake", policy)


def test_hints_are_named_and_forgotten(policy: Any, positions: Games) -> None:
    player = AdvisedPlayer(policy, "policy", None, share=1.0, confidence=1.0, likeliest=True, reorder="jokers")
    decider = decider_of("policy", "", player)
    before = decider.decide(Tables().place(positions.states, decider))  # the budget grows with decisions
    assert {each.strategy for each in before} == {pb.STRATEGY_POLICY}
    found = decider.decide(Tables().place(positions.states, decider))
    hinted = [each for each in found if each.strategy == pb.STRATEGY_HINTS]
    assert hinted and all(each.reason and not each.used_llm for each in hinted)
    assert [each.value for each in found] == [each.value for each in before] and all(each.confidence for each in before)
    assert not player.hints and not player._played and not player._hint_texts


def publish(run: Path, steps: int) -> None:
    """Add a checkpoint with other weights to a run."""
    config = read_config(run / "config.yaml")
    policy = new_policy(config)
    facts = METADATA | {"timesteps": steps}
    save_checkpoint(run / "checkpoints", steps, lambda at: write_policy(policy, config, at), facts, best=True)


def test_an_error_of_the_file_system_does_not_end_the_following(
    rules: StepwiseDecider, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing:
        name, looks = "run", 0

        def digest(self) -> str:
            self.looks += 1
            raise PermissionError(13, "Permission denied", "runs/ppo")

    async def main() -> None:
        source = Failing()
        following = asyncio.create_task(follow(source, Desk(rules), 0.01))  # type: ignore[arg-type]
        async with asyncio.timeout(5.0):
            while source.looks < 3:
                await asyncio.sleep(0.01)
        following.cancel()

    asyncio.run(main())
    assert "the new model of run cannot be loaded, and the present one stays: PermissionError" in caplog.text


def test_a_run_is_followed_and_a_damaged_checkpoint_is_not_served(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", {**TINY})
    source = Source(str(run))
    desk = Desk(*first_decider(source))
    assert desk.decider is not None
    seen = [desk.decider.digest]

    async def main() -> None:
        following = asyncio.create_task(follow(source, desk, 0.01))
        publish(run, 2000)
        await until(lambda: desk.decider.digest != seen[0])
        seen.append(desk.decider.digest)
        publish(run, 3000)
        (run / "checkpoints" / f"{3000:012d}" / "weights.npz").write_bytes(b"damaged")
        await until(lambda: reloads("failed") == 1)
        assert desk.decider.digest == seen[1]
        publish(run, 4000)
        await until(lambda: desk.decider.digest != seen[1])
        following.cancel()

    def reloads(result: str) -> float:
        return desk.exporter.registry.get_sample_value("ante_decision_model_reloads_total", {"result": result}) or 0.0

    asyncio.run(main())
    digests = [
        json.loads((run / "checkpoints" / name / "metadata.json").read_text())["seal"] for name in ("000000004000",)
    ]
    assert desk.decider.digest == digests[0] and reloads("loaded") >= 2
    shown = {"player": "run", "digest": desk.decider.digest}
    assert desk.exporter.registry.get_sample_value("ante_decision_model", shown) == 1


async def until(holds: Any, seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)


def test_a_run_without_a_checkpoint_is_served_by_the_rules_until_it_has_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = make_run(tmp_path / "run", {**TINY})
    shutil.rmtree(run / "checkpoints")
    source = Source(str(run))
    decider, missing = first_decider(source)
    assert decider is None and missing.startswith("the model is missing: no best checkpoint")
    desk = Desk(decider, missing)

    def failed() -> float | None:
        return desk.exporter.registry.get_sample_value("ante_decision_model_reloads_total", {"result": "failed"})

    async def main() -> None:
        following = asyncio.create_task(follow(source, desk, 0.01))
        await asyncio.sleep(0.1)
        assert failed() is None and "cannot be loaded" not in caplog.text, "a run without a model is no failure"
        publish(run, 1000)
        (run / "checkpoints" / f"{1000:012d}" / "weights.npz").write_bytes(b"damaged")
        await until(lambda: failed() == 1)
        assert "cannot be loaded, and the rules decide" in caplog.text and desk.missing != missing
        publish(run, 2000)
        await until(lambda: desk.decider is not None)
        following.cancel()

    asyncio.run(main())
    with pytest.raises(BalatroError, match="there is no player 'runs/none'"):
        first_decider(Source("runs/none"))


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    for name in ("LLM_API_KEY", "LLM_KNOWLEDGE", "LLM_PROVIDER", "LLM_VISION"):
        monkeypatch.delenv(name, raising=False)
    with FakeServer() as server:
        monkeypatch.setenv("LLM_ENDPOINT", server.url)
        monkeypatch.setenv("LLM_MODEL", "fake")
        yield server


def test_an_llm_gives_hints_within_one_limit_of_tokens_also_after_a_reload(
    llm: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_TOKENS_TOTAL", "6000")
    run = make_run(tmp_path / "run", {**TINY})
    source, numbers = Source(str(run), hints="llm"), itertools.count()
    desk = Desk(*first_decider(source), answer_seconds=60.0, largest=source.largest)

    async def reloaded() -> None:
        following, before = asyncio.create_task(follow(source, desk, 0.01)), desk.decider
        publish(run, 2000)
        await until(lambda: desk.decider is not before)
        following.cancel()

    def hinted(calls: int) -> int:
        """Return how many of 64 decisions in each of these calls have a hint of the LLM."""
        names = [f"LLM{next(numbers)}" for _ in range(64 * calls)]
        parts = [[asked(each, seed=each) for each in names[at : at + 64]] for at in range(0, len(names), 64)]
        answers = [each for part in parts for each in stub.GetDecisions(pb.GetDecisionsRequest(queries=part)).answers]
        assert not any(each.decision.strategy == pb.STRATEGY_FALLBACK for each in answers), answers[-1]
        return sum(each.decision.used_llm for each in answers)

    with running(desk) as server:
        stub = server.stub()
        assert hinted(4) > 0
        sent, ends = llm.asked, desk.decider.player.ledger.ends  # type: ignore[union-attr]
        assert sent > 0 and ends["tokens"] > 0, "the limit is reached"
        refused = ends["tokens"]
        asyncio.run(reloaded())
        hinted(2)
        assert llm.asked == sent and ends["tokens"] > refused


def test_an_evaluation_through_the_service_equals_the_one_in_this_process(policy: Any, policy_service: Running) -> None:
    remote = player_of(f"grpc://{policy_service.address}", likeliest=False, checkpoint="best")
    seeds = ["EVALA", "EVALB", "EVALC"]
    found = evaluate(remote, seeds, max_decisions=60)
    player = make_player(policy, "policy", likeliest=True, reorder="jokers")
    expected = evaluate(player, seeds, max_decisions=60)
    assert [each.actions for each in found.records] == [each.actions for each in expected.records]
    assert found.player == f"policy at grpc://{policy_service.address}" and remote.reorder == "jokers"


def test_an_evaluation_ends_if_the_rules_decide_instead_of_the_player(service: Running, controlled: Controlled) -> None:
    remote = player_of(f"grpc://{service.address}", likeliest=False, checkpoint="best")
    games = Games(2, discrete=False, reorder="none")
    games.reset(options={"seed": ["FALLA", "FALLB"]})
    assert (remote.choose(games, np.ones(2, dtype=np.bool_)) >= 0).all()
    controlled.error = RuntimeError("as planned")
    with pytest.raises(NoDecision, match=r"the rules decided instead of .* \(the player controlled failed\)"):
        remote.choose(games, np.ones(2, dtype=np.bool_))


@pytest.fixture(scope="module")
def policy_service(policy: Any) -> Iterator[Running]:
    player = make_player(policy, "policy", likeliest=True, reorder="jokers")
    with running(Desk(decider_of("policy", "p" * 64, player))) as server:
        yield server


def test_metrics_count_queries_by_result(policy_service: Running) -> None:
    stub = policy_service.stub()
    stub.GetDecisions(pb.GetDecisionsRequest(queries=[asked("m1"), asked("m1"), asked("m2", seed="?")]))
    with metrics_page(policy_service.desk.exporter.registry, "--metrics-port", 0) as port:
        text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=5).text
    for line in (
        'ante_decision_queries_total{method="GetDecisions",result="INVALID_ARGUMENT"} 1.0',
        "ante_decision_queries_repeated_total 1.0",
        'ante_decision_seconds_count{method="GetDecisions"}',
        "ante_decision_batch_size_bucket",
        "ante_decision_queries_waiting 0.0",
    ):
        assert line in text


class Flaky:
    """A method that fails with these codes first, and notes the timeouts of its calls."""

    def __init__(self, *codes: grpc.StatusCode) -> None:
        self._codes, self.timeouts = list(codes), list[float]()

    @property
    def calls(self) -> int:
        return len(self.timeouts)

    def __call__(self, request: Any, timeout: float, **_: Any) -> Any:
        self.timeouts.append(timeout)
        if self._codes:
            error = grpc.RpcError()
            code = self._codes.pop(0)
            error.code, error.details = lambda: code, lambda: "as planned"  # type: ignore[attr-defined]
            raise error
        return pb.GetServiceInfoResponse(player="flaky")


def test_transient_errors_are_retried_and_others_are_not() -> None:
    unavailable, invalid = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INVALID_ARGUMENT
    client = DecisionClient(Address("127.0.0.1:1"))
    client._stub.GetServiceInfo = method = Flaky(unavailable, grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert client.info().player == "flaky" and method.calls == 3
    client._stub.GetServiceInfo = method = Flaky(invalid)
    with pytest.raises(NoDecision, match="invalid_argument") as caught:
        client.info()
    assert method.calls == 1 and caught.value.code is invalid


def test_a_call_is_retried_within_its_whole_time_and_every_attempt_has_the_rest_of_it() -> None:
    client = DecisionClient(Address("127.0.0.1:1"), timeout=60.0)
    client._stub.GetServiceInfo = method = Flaky(*[grpc.StatusCode.UNAVAILABLE] * (client_module.FAILURES + 1))
    begin = time.monotonic()
    assert client.info().player == "flaky" and method.calls == client_module.FAILURES + 2
    assert method.timeouts == sorted(method.timeouts, reverse=True) and len(set(method.timeouts)) == method.calls
    assert method.timeouts[0] <= 60.0
    assert method.timeouts[-1] == pytest.approx(60.0 - (time.monotonic() - begin), abs=0.5)


def test_a_call_ends_when_its_time_is_over() -> None:
    client = DecisionClient(Address("127.0.0.1:1"), timeout=0.5)

    def slow(_: Any, timeout: float, **__: Any) -> Any:
        time.sleep(max(0.0, min(timeout, 0.4)))
        return Flaky(grpc.StatusCode.UNAVAILABLE)(None, timeout)

    client._stub.GetServiceInfo, begin = slow, time.monotonic()
    with pytest.raises(NoDecision, match="as planned"):
        client.info()
    assert time.monotonic() - begin < 0.75


def test_the_breaker_opens_after_failed_calls_and_closes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "OPEN_SECONDS", 0.2)
    client = DecisionClient(Address("127.0.0.1:1"), timeout=0.01)
    client._stub.GetServiceInfo = method = Flaky(*[grpc.StatusCode.UNAVAILABLE] * 1000)
    for _ in range(client_module.FAILURES):
        with pytest.raises(NoDecision, match="as planned"):
            client.info()
    sent = method.calls
    with pytest.raises(NoDecision, match="failed 5 times in a row"):
        client.info()
    assert method.calls == sent
    client._stub.GetServiceInfo = Flaky()
    threading.Event().wait(0.25)
    assert client.info().player == "flaky"


def test_errors_of_the_client_do_not_open_the_breaker(service: Running) -> None:
    client = DecisionClient(Address(service.address))
    for number in range(2 * client_module.FAILURES):
        with pytest.raises(NoDecision, match="is not a game seed"):
            client.decide(asked(f"invalid{number}", seed="a b"))
    assert client.decide(asked("valid")).action == "select-blind"


def test_a_stream_survives_a_restart_of_the_server(rules: StepwiseDecider) -> None:
    first, numbers = Controlled(), itertools.count()

    async def main() -> tuple[list[Any], DecisionStream]:
        with running(Desk(first), grace=0.05) as server:
            stream = DecisionStream(Address(server.address))
            await stream.__aenter__()
            found = [await stream.decide(asked(f"s{next(numbers)}"))]
            first.go.clear()
            waiting = [asyncio.create_task(stream.decide(asked(f"s{next(numbers)}"))) for _ in range(3)]
            await until(lambda: sum(first.sizes) + len(server.desk.player_queue) >= 3)
            threading.Timer(0.2, first.go.set).start()
        async with asyncio.timeout(10):
            options = Options(port=server.port)
            async with serving(Desk(rules), options):
                found += await asyncio.gather(*waiting)
                found.append(await stream.decide(asked(f"s{next(numbers)}")))
                await stream.__aexit__()
        return found, stream

    found, stream = asyncio.run(main())
    assert [each.action for each in found] == ["select-blind"] * 5
    assert found[0].player == "controlled" and found[-1].player == "rules"
    assert stream.connections >= 2 and stream.duplicates == 0


def test_addresses_and_the_token_come_from_url_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTE_DECISIONS_TOKEN", "t" * 20)
    monkeypatch.setenv("ANTE_DECISIONS_CA", "ca.pem")
    found = Address.of("grpcs://host.name:50051")
    assert (found.target, found.tls, found.token, found.ca) == ("host.name:50051", True, "t" * 20, Path("ca.pem"))
    for wrong in ("http://a:1", "grpc://a", "grpc://user@a:1", "grpc://a:1/path"):
        with pytest.raises(BalatroError, match=r"use grpc://HOST:PORT"):
            Address.of(wrong)


def test_an_unreachable_service_is_one_sentence() -> None:
    client = DecisionClient(Address("127.0.0.1:1"), timeout=0.2)
    with pytest.raises(NoDecision, match="no decision"):
        client.decide(pb.Query(request_id="a", record=save_state(Games(1).states[0])))
