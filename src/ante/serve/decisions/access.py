"""Who may use the service: tokens in the metadata, and TLS."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from ante.serve.tokens import LOOPBACKS, BadAccess, Tokens, knows, read_small

HEADER, SCHEME = "authorization", "Bearer "
OPEN_SERVICES = ("/grpc.health.v1.Health/",)  # probes of Kubernetes cannot send a token


@dataclass(frozen=True)
class Access(Tokens):
    """Where secrets are. They are read at the start.

    Attributes:
        tls_cert, tls_key: Certificate chain and private key of the server, PEM.
        client_ca: Certificates of the authority of clients, PEM; clients must then have a certificate.
    """

    tls_cert: Path | None = None
    tls_key: Path | None = None
    client_ca: Path | None = None

    def credentials(self) -> grpc.ServerCredentials | None:
        """Return the credentials of TLS, or None without TLS. Raises BadAccess."""
        if not self.tls_cert and not self.tls_key and not self.client_ca:
            return None
        if not self.tls_cert or not self.tls_key:
            raise BadAccess("TLS requires both --tls-cert and --tls-key")
        pair = read_small(self.tls_key), read_small(self.tls_cert)
        authority = read_small(self.client_ca) if self.client_ca else None
        return grpc.ssl_server_credentials([pair], authority, require_client_auth=authority is not None)

    def check_host(self, host: str) -> None:
        """Raise BadAccess if anyone on the network could use the service at this address."""
        if host not in LOOPBACKS and not self.token_file and not self.token_env and not self.client_ca:
            raise BadAccess(
                f"--host {host} is reachable from other machines: require --token-file, --token-env or --client-ca"
            )


class TokenCheck(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Refuses calls without one of the tokens."""

    def __init__(self, tokens: tuple[bytes, ...]) -> None:
        self._tokens = tokens

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        """See grpc.aio."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith(OPEN_SERVICES) or self._knows(handler_call_details.invocation_metadata):
            return handler
        return refusing(handler)

    def _knows(self, metadata: Any) -> bool:
        """Return whether the metadata have a token."""
        given = [value for key, value in metadata or () if key == HEADER]
        word = given[0] if len(given) == 1 and isinstance(given[0], str) else ""
        token = word.removeprefix(SCHEME).encode() if word.startswith(SCHEME) else b""
        return knows(self._tokens, token)


class DecodeCheck(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Passes None to the service instead of a request that is not a message of the protocol.

    By default grpc logs a stack trace and names the error to the client.
    """

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        """See grpc.aio."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_deserializer is None:
            return handler
        decode = handler.request_deserializer

        def tolerant(data: bytes) -> Any:
            try:
                return decode(data)
            except DecodeError:
                return None

        return remade(handler, method_of(handler), tolerant, handler.response_serializer)


def refusing(handler: Any) -> Any:
    """Return a handler of the same kind that refuses every call, without reading its requests."""

    async def refuse(_: Any, context: grpc.aio.ServicerContext) -> None:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "send the metadata authorization: Bearer TOKEN")

    async def refuse_stream(_: Any, context: grpc.aio.ServicerContext) -> Any:
        await refuse(_, context)
        yield  # makes this function a generator, as grpc requires of streams

    return remade(handler, refuse_stream if handler.response_streaming else refuse, None, None)


def method_of(handler: Any) -> Any:
    """Return the function of a handler."""
    return handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream


def remade(handler: Any, method: Any, decode: Any, encode: Any) -> Any:
    """Return a handler of the same kind with another function."""
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[handler.request_streaming, handler.response_streaming]
    return make(method, request_deserializer=decode, response_serializer=encode)
