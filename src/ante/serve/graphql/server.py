"""The HTTP server: POST requests with JSON at `/graphql`, as GraphQL clients send them."""

import json
from typing import Any

from graphql import print_schema
from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ante.errors import first_fault
from ante.http.server import LOOPBACK, OWN_NAMES, HttpServer, body_of
from ante.knowledge.backends import Backend
from ante.serve.graphql.schema import SCHEMA

LARGEST_BODY = 32 << 10  # bytes of a request
LONGEST = 8 << 10  # characters of a query


class Operation(BaseModel):
    """The body of a request."""

    query: str = Field(max_length=LONGEST)
    variables: dict[str, Any] | None = None
    operation_name: str | None = Field(None, alias="operationName", max_length=200)


def failed(status: int, message: str) -> Response:
    """Return an error in the form of GraphQL."""
    return JSONResponse({"data": None, "errors": [{"message": message}]}, status)


def endpoint(graph: Backend) -> Any:
    """Return the handler of requests to this graph."""

    async def handle(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return failed(415, "send application/json")  # which a page of another site cannot do without permission
        body = await body_of(request.receive, LARGEST_BODY)
        if body is None:
            return failed(413, f"a request has at most {LARGEST_BODY:,} bytes")
        try:
            asked = Operation.model_validate(json.loads(body))
        except ValidationError as error:
            return failed(400, first_fault(error))
        except (ValueError, RecursionError):
            return failed(400, "the body is not JSON")
        found = SCHEMA.execute_sync(asked.query, asked.variables, graph, operation_name=asked.operation_name)
        reply: dict[str, Any] = {"data": found.data}
        if found.errors:
            reply["errors"] = [error.formatted for error in found.errors]
        return JSONResponse(reply)

    return handle


async def schema(_: Request) -> Response:
    """Return the schema as text."""
    return PlainTextResponse(print_schema(SCHEMA._schema))


def server_of(graph: Backend, host: str = LOOPBACK, port: int = 0, names: tuple[str, ...] = ()) -> HttpServer:
    """Return a server of this graph that listens. Raises CannotListen.

    names  accepted Host headers in addition to localhost
    """
    routes = [
        Route("/graphql", endpoint(graph), methods=["POST"]),
        Route("/schema.graphql", schema, methods=["GET"]),
    ]
    return HttpServer(routes, host, port, (*OWN_NAMES, *names))
