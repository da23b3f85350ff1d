"""The clients of the service: what they send, what they repeat, and which replies they accept."""

import asyncio
import time
from typing import Any

import grpc
import pytest

from ante.errors import BalatroError
from ante.serve.decisions import client as clients
from ante.serve.decisions.client import TOKEN, Address, DecisionClient, DecisionStream, NoDecision
from ante.serve.decisions.positions import MESSAGE_BYTES
from ante.serve.decisions.v1 import decisions_pb2 as pb
from tests.serve.decisions.conftest import Running, asked
from tests.serve.decisions.test_service import new_id

LARGE = pb.Query(request_id="large", record=b"x" * MESSAGE_BYTES)


def client_of(service: Running, **options: Any) -> DecisionClient:
    return DecisionClient(Address(service.address), **options)


def fast(call: Any) -> NoDecision:
    """Return the error of a call that is not repeated."""
    begin = time.monotonic()
    with pytest.raises(NoDecision) as caught:
        call()
    assert time.monotonic() - begin < 5.0
    return caught.value


def test_a_request_that_is_too_large_is_not_sent(service: Running) -> None:
    client = client_of(service, timeout=20.0)
    for _ in range(6):  # more than the failures that open the circuit breaker
        assert fast(lambda: client.decide(LARGE)).code is grpc.StatusCode.INVALID_ARGUMENT
    assert client.decide(asked(new_id())).action == "select-blind"


def test_a_server_that_refuses_the_size_is_not_asked_again(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MESSAGE_BYTES", 4 * MESSAGE_BYTES)  # more than this server's limit
    client = client_of(service, timeout=20.0)
    for _ in range(6):
        error = fast(lambda: client.decide(LARGE))
        assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in str(error)
    assert client.decide(asked(new_id())).action == "select-blind"


@pytest.mark.parametrize("limit", [MESSAGE_BYTES, 4 * MESSAGE_BYTES], ids=["client", "server"])
def test_a_query_that_is_too_large_does_not_stop_a_stream(
    service: Running, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "MESSAGE_BYTES", limit)

    async def main() -> str:
        async with DecisionStream(Address(service.address)) as stream:
            with pytest.raises(NoDecision):
                await asyncio.wait_for(stream.decide(LARGE), 10.0)
            return str((await asyncio.wait_for(stream.decide(asked(new_id())), 10.0)).action)

    assert asyncio.run(main()) == "select-blind"


def test_a_stream_refuses_a_second_open_query_with_the_same_id(service: Running) -> None:
    query = asked(new_id())

    async def main() -> list[Any]:
        async with DecisionStream(Address(service.address)) as stream, asyncio.timeout(10.0):
            return await asyncio.gather(stream.decide(query), stream.decide(query), return_exceptions=True)

    first, second = asyncio.run(main())
    assert first.action == "select-blind" and second.code is grpc.StatusCode.ALREADY_EXISTS


def test_a_token_may_end_with_a_new_line_and_has_no_other_characters_than_ascii(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TOKEN, "secret-of-a-file\n")
    assert Address.of("grpc://localhost:1").token == "secret-of-a-file"
    for wrong in ("sécret-of-a-file", "two\nlines"):
        monkeypatch.setenv(TOKEN, wrong)
        with pytest.raises(BalatroError, match=f"{TOKEN} has characters") as caught:
            Address.of("grpc://localhost:1")
        assert wrong not in str(caught.value)


@pytest.mark.parametrize("port", ["0", "65536", "99999"])  # gRPC takes the remainder of 65536
def test_a_port_that_does_not_exist_is_refused(port: str) -> None:
    with pytest.raises(BalatroError, match="no address of a decision service"):
        Address.of(f"grpc://127.0.0.1:{port}")


def test_replies_without_the_answer_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    client, query = DecisionClient(Address("127.0.0.1:1")), asked(new_id())
    other = pb.Answer(request_id="other", decision=pb.Decision(packed_action=7))
    for reply, call in (
        (pb.GetDecisionResponse(answer=other), lambda: client.decide(query)),
        (pb.GetDecisionResponse(), lambda: client.decide(query)),
        (pb.GetDecisionsResponse(), lambda: client.decide_all([query])),
        (pb.GetDecisionsResponse(answers=[other]), lambda: client.decide_all([query])),
    ):
        monkeypatch.setattr(client, "_call", lambda *_, reply=reply: reply)
        assert fast(call).code is grpc.StatusCode.DATA_LOSS
