"""JSON-RPC: what is a request, the order of the checks, and the types of parameters."""

import json
from typing import Any

import pytest

from tests.serve.balatrobot.bot import bot

DESK = bot(testing=True).desk


def answered(body: bytes) -> Any:
    return json.loads(DESK.answer(body))


def asked(**fields: Any) -> Any:
    return answered(json.dumps({"jsonrpc": "2.0", "method": "health", "id": 1} | fields).encode())


@pytest.mark.parametrize("id", [0, 1, -42, 2**70, "", "text", "é\ud800"])
def test_the_reply_has_the_id_of_the_request(id: Any) -> None:
    reply = asked(id=id)
    assert reply["id"] == id and reply["result"]["status"] == "ok" and "error" not in reply


def test_an_integer_may_be_written_with_a_decimal_point() -> None:
    assert answered(b'{"jsonrpc":"2.0","method":"health","id":3.0}')["id"] == 3


@pytest.mark.parametrize("id", [None, 1.5, True, False, [], [1], {}, {"a": 1}])
def test_other_ids_are_refused(id: Any) -> None:
    reply = asked(id=id)
    assert reply["id"] is None and reply["error"]["code"] == -32001


@pytest.mark.parametrize("version", ["1.0", "", 2.0, None, ["2.0"]])
def test_another_version_is_refused(version: Any) -> None:
    reply = asked(jsonrpc=version)
    assert "2.0" in reply["error"]["message"] and reply["id"] == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b'"text"',
        b"[1, 2]",
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b"1" * 60_000,
        b'{"jsonrpc": "2.0", "id": NaN}',
        b"[" * 1000 + b"]" * 1000,
        b"\0" * 100,
    ],
)
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    reply = answered(body)
    assert reply["error"] == {
        "code": -32001,
        "message": "Invalid JSON in request body",
        "data": {"name": "BAD_REQUEST"},
    }
    assert reply["id"] is None


@pytest.mark.parametrize("method", [None, 5, [], ""])
def test_a_method_must_be_named(method: Any) -> None:
    assert asked(method=method)["error"]["message"] == "Request missing 'method' field"


def test_an_unknown_method_is_refused_in_few_words() -> None:
    assert asked(method="nothing")["error"]["message"] == "Unknown method: nothing"
    assert len(asked(method="x" * 60_000)["error"]["message"]) < 200


@pytest.mark.parametrize("params", [None, [], {}, False, [1, 2], {"other": {"deep": [1]}}])
def test_params_may_be_absent_and_unknown_ones_are_ignored(params: Any) -> None:
    assert asked(params=params)["result"]["status"] == "ok"


@pytest.mark.parametrize("params", ["text", 5, True])
def test_params_of_another_type_are_refused(params: Any) -> None:
    assert asked(params=params)["error"]["message"] == "Arguments must be a table"


def validated(**params: Any) -> Any:
    return asked(method="test_validation", params={"required_field": "x"} | params)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("required_field", None, "Missing required field 'required_field'"),
        ("required_field", 1, "Field 'required_field' must be of type string"),
        ("string_field", 1, "Field 'string_field' must be of type string"),
        ("integer_field", 1.5, "Field 'integer_field' must be an integer"),
        ("integer_field", "1", "Field 'integer_field' must be an integer"),
        ("integer_field", True, "Field 'integer_field' must be an integer"),
        ("boolean_field", 1, "Field 'boolean_field' must be of type boolean"),
        ("array_field", "x", "Field 'array_field' must be an array"),
        ("array_field", {"a": 1}, "Field 'array_field' must be an array"),
        ("table_field", [1], "Field 'table_field' must be a table"),
        ("table_field", "x", "Field 'table_field' must be a table"),
        ("array_of_integers", [1, "2"], "Field 'array_of_integers' array item at index 1 must be of type integer"),
        ("array_of_integers", [None, 2], "Field 'array_of_integers' array item at index 0 must be of type integer"),
    ],
)
def test_a_parameter_of_the_wrong_type_is_named(field: str, value: Any, message: str) -> None:
    reply = validated(**{field: value})
    assert (reply["error"]["message"], reply["error"]["data"]["name"]) == (message, "BAD_REQUEST")


@pytest.mark.parametrize(
    ("field", "value", "received"),
    [
        ("integer_field", 2.0, 2),
        ("array_field", {}, []),
        ("table_field", [], {}),
        ("array_of_integers", [3.0, 4, None], [3, 4]),
        ("array_of_integers", [], []),
    ],
)
def test_values_that_the_mod_cannot_distinguish_are_equal(field: str, value: Any, received: Any) -> None:
    assert validated(**{field: value})["result"]["received_args"][field] == received


def test_the_schema_is_checked_before_the_state() -> None:
    wrong = bot()
    assert wrong.refused("play")[0] == "BAD_REQUEST"
    assert wrong.refused("play", cards=[0]) == (
        "INVALID_STATE",
        "Method 'play' requires one of these states: SELECTING_HAND",
    )


def test_a_failure_inside_is_not_shown_to_the_client(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr("ante.serve.balatrobot.server.answer", broken)
    reply = asked()
    assert reply["error"]["data"]["name"] == "INTERNAL_ERROR" and "secret" not in json.dumps(reply)
    assert "a secret of the server" in caplog.text


def test_the_methods_of_the_debug_mode_are_off_by_default() -> None:
    assert bot().refused("test_endpoint")[1] == "Unknown method: test_endpoint"
    assert bot(testing=True)("test_state_endpoint")["state_validated"]
    assert bot(testing=True).refused("test_error_endpoint", error_type="throw_error")[0] == "INTERNAL_ERROR"


@pytest.mark.parametrize("dialect", ["1.5", "2.0"])
def test_the_service_describes_itself(dialect: str) -> None:
    client = bot(dialect)
    found = client("rpc.discover")
    names = {method["name"] for method in found["methods"]}
    assert found["openrpc"] == "1.3.2" and names == {"rpc.discover", *client.desk.methods}
    assert ("sort" in names) == (dialect == "2.0")
    play = next(method for method in found["methods"] if method["name"] == "play")
    assert play["params"][0]["schema"] == {"type": "array", "items": {"type": "integer"}}
