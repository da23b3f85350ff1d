"""Tokens, TLS and the addresses that may be listened on."""

import asyncio
import socket
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from ante.http.server import CannotListen
from ante.serve.decisions.access import Access
from ante.serve.decisions.client import Address, DecisionClient, NoDecision
from ante.serve.decisions.deciders import StepwiseDecider
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.server import Options, serving
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1 import decisions_pb2_grpc as pb_grpc
from ante.serve.tokens import BadAccess
from tests.certificates import certificate, certificates
from tests.serve.decisions.conftest import Running, asked, refusal, running

TOKEN, NEXT_TOKEN = "a-token-of-24-characters", "another-token-of-27-letters"
DENIED = grpc.StatusCode.UNAUTHENTICATED


def test_calls_need_one_of_the_tokens_and_health_checks_none(rules: StepwiseDecider, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n{NEXT_TOKEN}\n")
    with running(Desk(rules), Access(token_file=file)) as server:
        stub, request = server.stub(), pb.GetDecisionRequest(query=asked("a"))
        for value in (None, TOKEN, f"Bearer {TOKEN}x", "Bearer ", f"bearer {TOKEN}", f"Basic {TOKEN}", "Bearer é"):
            metadata = [("authorization", value)] if value else []
            if value and not value.isascii():
                metadata = [("authorization-bin", value.encode())]
            code, words = refusal(lambda metadata=metadata: stub.GetDecision(request, metadata=metadata))
            assert code is DENIED and TOKEN not in words
        twice = [("authorization", f"Bearer {TOKEN}")] * 2
        assert refusal(lambda: stub.GetDecision(request, metadata=twice))[0] is DENIED
        for token in (TOKEN, NEXT_TOKEN):
            metadata = [("authorization", f"Bearer {token}")]
            assert stub.GetDecision(request, metadata=metadata).answer.decision.action == "select-blind"
        streamed = iter([pb.StreamDecisionsRequest(query=asked("b"))])
        assert refusal(lambda: next(stub.StreamDecisions(streamed)))[0] is DENIED
        channel = grpc.insecure_channel(server.address)
        assert health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest()).status == 1
        listed = reflection_pb2_grpc.ServerReflectionStub(channel)
        ask = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        assert refusal(lambda: next(listed.ServerReflectionInfo(ask)))[0] is DENIED


def test_with_a_client_authority_only_its_clients_are_served(rules: StepwiseDecider, tmp_path: Path) -> None:
    files, keys = certificates(tmp_path)
    access = Access(tls_cert=files["server"], tls_key=keys["server"], client_ca=files["ca"])

    def client(name: str | None, server: Running) -> DecisionClient:
        own = (files[name], keys[name]) if name else (None, None)
        return DecisionClient(Address(f"localhost:{server.port}", True, None, files["ca"], *own), timeout=0.3)

    with running(Desk(rules), access) as server:
        assert client("client", server).decide(asked("a")).action == "select-blind"
        for name in (None, "stranger"):
            with pytest.raises(NoDecision, match=r"unavailable|deadline"):
                client(name, server).decide(asked("b"))
        with pytest.raises(grpc.RpcError):
            server.stub().GetDecision(pb.GetDecisionRequest(query=asked("plain")), timeout=0.3)


def test_files_of_tls_that_cannot_be_used_are_named(rules: StepwiseDecider, tmp_path: Path) -> None:
    for name in ("server", "other"):
        certificate(tmp_path, name)
    (tmp_path / "none.crt").write_text("no certificate")

    async def serve(access: Access) -> None:
        async with serving(Desk(rules), Options(port=0, access=access)):
            raise AssertionError("the files cannot be used")

    for cert, key in (("none.crt", "server.key"), ("server.crt", "other.key")):
        with pytest.raises(CannotListen, match="a file of TLS is no PEM, or --tls-key not of --tls-cert"):
            asyncio.run(serve(Access(tls_cert=tmp_path / cert, tls_key=tmp_path / key)))


def test_health_checks_have_a_port_without_tls_and_nothing_else(rules: StepwiseDecider, tmp_path: Path) -> None:
    certificate(tmp_path, "server")
    access = Access(tls_cert=tmp_path / "server.crt", tls_key=tmp_path / "server.key")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        health_port = free.getsockname()[1]
    with running(Desk(rules), access, health_port=health_port):
        channel = grpc.insecure_channel(f"127.0.0.1:{health_port}")
        assert health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest()).status == 1
        call = pb_grpc.DecisionServiceStub(channel).GetDecision
        assert refusal(lambda: call(pb.GetDecisionRequest(query=asked("a"))))[0] is grpc.StatusCode.UNIMPLEMENTED


def test_bad_options_name_the_way_out(tmp_path: Path) -> None:
    short, empty = tmp_path / "short", tmp_path / "empty"
    short.write_text("secret")
    empty.write_text("\n")
    for access, words in (
        (Access(token_file=short), "fewer than 16 characters"),
        (Access(token_file=empty), "there is no token"),
        (Access(token_file=tmp_path / "none"), "does not exist"),
        (Access(token_env="ANTE_NO_SUCH_TOKEN"), "there is no token in ANTE_NO_SUCH_TOKEN"),
    ):
        with pytest.raises(BadAccess, match=words) as caught:
            access.tokens({})
        assert "secret" not in str(caught.value)
    assert Access(token_env="T").tokens({"T": TOKEN}) == (TOKEN.encode(),)
    with pytest.raises(BadAccess, match="both --tls-cert and --tls-key"):
        Access(tls_cert=short).credentials()


def test_other_machines_need_a_token_or_a_certificate() -> None:
    Access().check_host("127.0.0.1")
    with pytest.raises(BadAccess, match="reachable from other machines"):
        Access().check_host("0.0.0.0")
    Access(token_env="T").check_host("0.0.0.0")


def test_a_taken_port_is_an_error(rules: StepwiseDecider, service: Running) -> None:
    async def second() -> None:
        async with serving(Desk(rules), Options(port=service.port)):
            raise AssertionError("the port is taken")

    with pytest.raises(CannotListen, match="choose another --port"):
        asyncio.run(second())
