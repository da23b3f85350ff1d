"""JSON-RPC 2.0: requests, replies, error codes, and the types of parameters."""

import json
import math
from dataclasses import dataclass
from typing import Any

from ante.errors import shown

Params = dict[str, Any]
CODES = {"INTERNAL_ERROR": -32000, "BAD_REQUEST": -32001, "INVALID_STATE": -32002, "NOT_ALLOWED": -32003}
PLAIN = {"string": str, "boolean": bool, "table": dict}


class Refused(Exception):
    """A request that is answered with an error.

    name  a key of CODES
    """

    def __init__(self, message: str, name: str = "BAD_REQUEST") -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True)
class Field:
    """A parameter of a method.

    kind   "string", "integer", "boolean", "array" or "table"
    items  type of the items of an array
    """

    kind: str
    about: str
    required: bool = False
    items: str = ""


@dataclass(frozen=True)
class Request:
    """A valid request."""

    id: int | str
    method: str
    params: Any


class Malformed(Exception):
    """A body that is no valid request; `id` is that of the reply."""

    def __init__(self, message: str, id: Any = None) -> None:
        super().__init__(message)
        self.id = id


def read_request(body: bytes) -> Request:
    """Parse the body of a request. Raises Malformed."""
    try:
        found = json.loads(body, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Malformed("Invalid JSON in request body") from None
    if not isinstance(found, dict):
        raise Malformed("Invalid JSON in request body")
    number = found.get("id")
    if found.get("jsonrpc") != "2.0":
        raise Malformed("Invalid JSON-RPC version: expected '2.0'", number if is_id(number) else None)
    if number is None:
        raise Malformed("Invalid Request: 'id' field is required")
    if isinstance(number, float) and not number.is_integer():
        raise Malformed("Invalid Request: 'id' must be an integer, not a float")
    if not is_id(number):
        raise Malformed("Invalid Request: 'id' must be an integer or string")
    method = found.get("method")
    if not isinstance(method, str) or not method:
        raise Malformed("Request missing 'method' field", number)
    return Request(number, method, found.get("params"))


def refuse_constant(name: str) -> None:
    """Refuse NaN and the infinities, which are not JSON. Raises ValueError."""
    raise ValueError(f"{name} is not JSON")


def is_id(value: Any) -> bool:
    """Return whether a value can identify a request."""
    return is_integer(value) or isinstance(value, str)


def is_integer(value: Any) -> bool:
    """Return whether a JSON value is an integer, in any notation (`1`, `1.0`)."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def check_params(given: Any, fields: dict[str, Field]) -> Params:
    """Return the parameters of a method. null counts as absent and others are ignored. Raises Refused."""
    if given is None or given is False or isinstance(given, list):
        given = {}
    if not isinstance(given, dict):
        raise Refused("Arguments must be a table")
    params: Params = {}
    for name, field in fields.items():
        value = given.get(name)
        if value is None:
            if field.required:
                raise Refused(f"Missing required field '{name}'")
        else:
            params[name] = checked(name, value, field)
    return params


def checked(name: str, value: Any, field: Field) -> Any:
    """Return a parameter of the right type, integers as int. Raises Refused.

    The mod cannot distinguish an empty list from an empty object: both are a valid array and a valid table.
    """
    if field.kind == "integer":
        if not is_integer(value):
            raise Refused(f"Field '{name}' must be an integer")
        return int(value)
    if field.kind == "array":
        if value == {}:
            return []
        if not isinstance(value, list):
            raise Refused(f"Field '{name}' must be an array")
        while value and value[-1] is None:  # a list of the mod ends before its nulls
            value = value[:-1]
        for place, item in enumerate(value):
            if field.items == "integer" and not is_integer(item):
                raise Refused(f"Field '{name}' array item at index {place} must be of type integer")
        return [int(item) for item in value] if field.items == "integer" else value
    if field.kind == "table" and value == []:
        return {}
    if not isinstance(value, PLAIN[field.kind]):
        kind = "a table" if field.kind == "table" else f"of type {field.kind}"
        raise Refused(f"Field '{name}' must be {kind}")
    return value


def result(id: Any, found: bytes) -> bytes:
    """Return the reply to a request, whose result is JSON text."""
    return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (found, encoded(id))


def error(id: Any, message: str, name: str = "BAD_REQUEST") -> bytes:
    """Return a reply with an error."""
    return encoded(
        {"jsonrpc": "2.0", "error": {"code": CODES[name], "message": message, "data": {"name": name}}, "id": id}
    )


def encoded(value: Any) -> bytes:
    """Return JSON text."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def number(value: float) -> float | int | None:
    """Return a score as a JSON number: an integer while it is exact; None if it is not finite."""
    if not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 else value


def unknown_method(name: str) -> Refused:
    """Return the error for a method that does not exist."""
    return Refused(f"Unknown method: {name if len(name) <= 80 else shown(name)}")
