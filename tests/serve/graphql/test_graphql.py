"""GraphQL over HTTP: equal to the queries, read-only, bounded, without internals."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("strawberry")
from ante.cli import outcome
from ante.http.server import HttpServer
from ante.knowledge import queries
from ante.knowledge.schema import SEEN, SEEN_WITH
from ante.knowledge.store import Knowledge, open_knowledge
from ante.serve.graphql.server import server_of
from tests.knowledge.made import made_table, made_winning


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    with open_knowledge(str(tmp_path_factory.mktemp("graph") / "made.lbug"), write=True) as found:
        found.load(made_table(40), made_winning())
        yield found


@pytest.fixture(scope="module")
def server(graph: Knowledge) -> Iterator[HttpServer]:
    with server_of(graph.backend) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join(10)


def send(server: HttpServer, body: bytes, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("POST", "/graphql", body, {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    data = response.read()
    return response.status, json.loads(data) if data.startswith(b"{") else data


def ask(server: HttpServer, query: str, **variables: Any) -> Any:
    status, reply = send(server, json.dumps({"query": query, "variables": variables}).encode())
    assert status == 200
    return reply


def test_a_joker_and_its_effects_are_those_of_the_queries(server: HttpServer, graph: Knowledge) -> None:
    fields = "name effect low high n q"
    query = f"query($name: String!) {{ joker(name: $name) {{ key text traits gain partners(limit: 3) {{ {fields} }} decks {{ {fields} }} }} }}"
    found = ask(server, query, name="Greedy Joker")["data"]["joker"]
    row = queries.joker(graph.backend, "j_greedy_joker")
    assert (found["key"], found["text"], found["traits"]) == (row["key"], row["text"], row["traits"])
    assert found["gain"] == row["gain"] and found["decks"] == [
        {name: each[name] for name in fields.split()} for each in row["decks"]
    ]
    partners = queries.partners(graph.backend, "j_greedy_joker", 3)
    assert [each["effect"] for each in found["partners"]] == [each["effect"] for each in partners]


def test_pairs_and_chains_are_those_of_the_queries(server: HttpServer, graph: Knowledge) -> None:
    names = ["j_joker", "j_greedy_joker", "j_lusty_joker", "j_zany", "j_mad"]
    reply = ask(server, "query($n: [String!]!) { among(names: $n) { one other effect factor counts } }", n=names)
    rows = queries.among(graph.backend, names)
    assert [(each["one"], each["other"], each["effect"]) for each in reply["data"]["among"]] == [
        (row["one"], row["other"], row["effect"]) for row in rows
    ]
    assert all(each["factor"] == pytest.approx(10 ** each["effect"]) for each in reply["data"]["among"])
    top = ask(server, '{ top(limit: 2, without: ["Joker"]) { one } }')["data"]["top"]
    assert [each["one"] for each in top] == [row["one"] for row in queries.top(graph.backend, 2, True, ["j_joker"])]
    chains = ask(server, '{ path(one: "Joker", other: "Mad Joker") { jokers weakest } }')["data"]["path"]
    expected = queries.path(graph.backend, "j_joker", "j_mad")
    rows = ask(
        server,
        "{ strategies(rejected: true) { name validated games rate base control granted effect low high n q example "
        "part alone joint joint_low: jointLow joint_high: jointHigh } }",
    )
    expected_rows = queries.strategies(graph.backend, rejected=True)
    assert rows["data"]["strategies"] == [
        {name: row[name] for name in found}
        for row, found in zip(expected_rows, rows["data"]["strategies"], strict=True)
    ]
    assert len(ask(server, "{ strategies { name } }")["data"]["strategies"]) == 1
    assert chains == [{"jokers": row["jokers"], "weakest": row["weakest"]} for row in expected]


def test_what_trainings_saw_is_that_of_the_queries(server: HttpServer, graph: Knowledge) -> None:
    figures = {"runs": 2, "games": 50, "wins": 30, "rate": 0.6, "rate_low": 0.46, "rate_high": 0.72, "lift": 1.2}
    figures |= {"effect": 0.1, "low": 0.02, "high": 0.18, "n": 400, "q": 0.01, "stamp": "one"}
    joker = {"key": "j_joker", "name": "Joker", **figures}
    pair = {"source": "j_joker", "target": "j_zany", **figures, "more": 0.05}
    graph.write([(SEEN, [joker]), (SEEN_WITH, [pair])])
    asked = "name runs games wins rate lift effect low high n q"
    found = ask(
        server, f'{{ seen(limit: 5) {{ {asked} }} pairs: seen(name: "Zany Joker", pairs: true) {{ {asked} }} }}'
    )
    assert found["data"]["seen"] == [{name: joker[name] for name in asked.split()}]
    assert found["data"]["pairs"] == [{**found["data"]["seen"][0], "name": "Joker + Zany Joker"}]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('{ joker(name: "Jokr") { key } }', "Jokr"),
        ("{ top(limit: 0) { one } }", "limit 0: must be 1 to 150"),
        ("{ top(limit: 1000) { one } }", "limit 1000: must be 1 to 150"),
        ('{ among(names: ["Joker"]) { one } }', "name 2 to 16"),
        ("{ nothing }", "Cannot query field"),
        ("{ top { one", "Syntax Error"),
        ('mutation { joker(name: "Joker") { key } }', "mutation"),
        ("{ " + " ".join(f"a{i}: top {{ one }}" for i in range(11)) + " }", "aliases"),
        ("{ top { " + "one " * 600 + "} }", "token"),
        ("{ __schema { types { " + "fields { type { " * 8 + "name" + " } }" * 8 + " } } }", "introspection depth"),
    ],
)  # fmt: skip
def test_a_bad_or_costly_query_is_a_sentence(server: HttpServer, query: str, words: str) -> None:
    reply = ask(server, query)
    assert not reply["data"] and words in reply["errors"][0]["message"]
    assert "Traceback" not in json.dumps(reply) and ".py" not in json.dumps(reply)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"limit": "five"}, "Int cannot represent non-integer value: 'five'"),
        ({"limit": "\ud800"}, "Int cannot represent non-integer value"),
        ({}, "Expected a value of non-null type 'Int!'"),
    ],
)
def test_a_wrong_variable_is_explained_to_the_client_and_not_logged(
    server: HttpServer, variables: dict[str, Any], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    query = "query($limit: Int!) { top(limit: $limit) { one } }"
    status, reply = send(server, json.dumps({"query": query, "variables": variables}).encode())
    assert status == 200 and words in reply["errors"][0]["message"]
    assert caplog.records == []


def test_a_broken_graph_is_reported_without_internals(
    monkeypatch: pytest.MonkeyPatch, server: HttpServer, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("/secret/path is gone")

    monkeypatch.setattr(queries, "top", broken)
    reply = ask(server, "{ top { one } }")
    assert [error["message"] for error in reply["errors"]] == ["internal error: see the log of the server"]
    assert "/secret/path is gone" in caplog.text


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 30_000, {}, 400),
        (b"{}", {}, 400),
        (b'{"query": 3}', {}, 400),
        (json.dumps({"query": "x" * 9000}).encode(), {}, 400),
        (b"x" * 40_000, {}, 413),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Host": "rebound.example"}, 400),
    ],
)
def test_what_is_no_request_is_refused(server: HttpServer, body: bytes, headers: dict[str, str], status: int) -> None:
    assert send(server, body, **headers)[0] == status


def test_the_schema_is_served(server: HttpServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/schema.graphql")
    text = connection.getresponse().read().decode()
    assert "type Query {" in text and "type Mutation" not in text


def test_a_taken_port_is_a_sentence(server: HttpServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["serve", "graphql", "--port", str(server.port)]) == 2
    assert f"cannot listen on 127.0.0.1:{server.port}: Address already in use" in capsys.readouterr().err


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_a_server_listens_on_ipv6_too(graph: Knowledge) -> None:
    with server_of(graph.backend, "::1") as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        connection = http.client.HTTPConnection("::1", found.port, timeout=10)
        connection.request("GET", "/schema.graphql")
        assert connection.getresponse().status == 200
        found.shutdown()
        thread.join(10)
