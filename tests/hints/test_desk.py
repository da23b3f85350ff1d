"""Requests to a server that responds well or badly: the result is a legal hint or none, and is recorded."""

import asyncio
import sqlite3
from collections.abc import Iterator
from socketserver import BaseRequestHandler, TCPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from ante.env.games import Games
from ante.hints.advice import Advice
from ante.hints.cache import AnswerCache
from ante.hints.desk import Desk, make_advisor
from ante.hints.fake import MODES, FakeServer
from ante.hints.question import Question, lists_of, question_of
from ante.hints.settings import AdvisorSettings, BadHints, read_settings

QUICK = {"timeout_seconds": 0.6, "breaker_seconds": 0.5, "model": "fake"}


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    games = Games(12, reorder="none", discrete=False)
    games.reset()
    lists = lists_of(games)
    games.step(np.array([question_of(s, r).options[0].decision for s, r in zip(games.states, lists, strict=True)]))  # type: ignore[union-attr]
    found = [question_of(s, r) for s, r in zip(games.states, lists_of(games), strict=True)]
    return [question for question in found if question is not None]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def asked(
    server: FakeServer | str, questions: list[Question], at_once: bool = False, **settings: Any
) -> tuple[list[Advice | None], Desk]:
    """Return the hints for these questions, sent in order, and the desk that sent them."""

    async def run() -> tuple[list[Advice | None], Desk]:
        url = server if isinstance(server, str) else server.url
        made = AdvisorSettings(**({**QUICK, "endpoint": url} | settings))
        desk = Desk(made, make_advisor(made, {"LLM_API_KEY": "k"}))
        if at_once:
            found = list(await asyncio.gather(*(desk.advise(question) for question in questions)))
        else:
            found = [await desk.advise(question) for question in questions]
        await desk.close()
        return found, desk

    return asyncio.run(run())


def test_good_answers_are_legal_hints(server: FakeServer, questions: list[Question]) -> None:
    found, desk = asked(server, questions)
    for advice, question in zip(found, questions, strict=True):
        assert advice is not None and advice.source == "llm"
        assert (advice.entry, advice.decision) in {(o.entry, o.decision) for o in question.options}
    assert desk.ledger.ends == {"answered": len(questions)}
    assert desk.ledger.success == 1.0 and desk.ledger.alarm() is None
    assert desk.ledger.tokens > 0 and desk.ledger.latency(0.95) >= desk.ledger.latency(0.5) > 0


@pytest.mark.parametrize(
    ("mode", "cause"),
    [("429", "refused"), ("500", "server"), ("half-json", "unreadable"), ("wrong-schema", "schema"),
     ("illegal", "illegal"), ("hang", "timeout")],
)  # fmt: skip
def test_every_way_to_fail_ends_without_a_hint_opens_the_breaker_and_raises_the_alarm(
    server: FakeServer, questions: list[Question], mode: str, cause: str
) -> None:
    server.set_mode(mode)
    patience = 0.3 if mode == "hang" else 10.0
    found, desk = asked(server, questions[:7], breaker_seconds=30.0, timeout_seconds=patience, breaker_failures=5)
    assert found == [None] * 7
    assert desk.ledger.ends == {cause: 5, "breaker": 2}
    assert desk.ledger.breaker == "opened"
    alarm = desk.ledger.alarm()
    assert alarm is not None and "0% of the last 7" in alarm and cause in alarm
    assert server.asked <= 10  # the last two were not sent


def test_every_mode_of_the_fake_server_is_tried() -> None:
    tried = {"429", "500", "half-json", "wrong-schema", "illegal", "hang", "ok", "flaky", "slow-image"}
    assert tried == set(MODES)


def test_nobody_there(questions: list[Question]) -> None:
    found, desk = asked("http://127.0.0.1:9/v1", questions[:6], timeout_seconds=10.0, breaker_seconds=30.0)
    assert found == [None] * 6
    assert desk.ledger.ends["unreachable"] == 5
    assert desk.ledger.tokens == 0, "no server has got a question"


def test_a_passing_error_is_tried_again(server: FakeServer, questions: list[Question]) -> None:
    server.set_mode("flaky")
    found, desk = asked(server, questions[:3], timeout_seconds=3.0)
    assert None not in found
    assert desk.ledger.calls == 6 and desk.ledger.ends == {"answered": 3}


def test_after_its_pause_the_breaker_lets_one_try_and_closes(server: FakeServer, questions: list[Question]) -> None:
    async def run() -> Desk:
        made = AdvisorSettings(**QUICK, endpoint=server.url, tries=1)
        desk = Desk(made, make_advisor(made, {}))
        server.set_mode("500")
        for question in questions[:6]:
            assert await desk.advise(question) is None
        assert desk.ledger.breaker == "opened"
        server.set_mode("ok")
        await asyncio.sleep(0.6)
        assert await desk.advise(questions[6]) is not None
        assert desk.ledger.breaker == "closed"
        await desk.close()
        return desk

    asyncio.run(run())


def test_a_question_asked_again_is_answered_from_memory(server: FakeServer, questions: list[Question]) -> None:
    found, desk = asked(server, [questions[0], questions[0]])
    assert [advice and advice.source for advice in found] == ["llm", "cache"]
    assert server.asked == 1 and desk.ledger.cache_hits == 1


def test_the_same_question_twice_at_once_is_one_call(server: FakeServer, questions: list[Question]) -> None:
    server.latency = 0.1
    found, desk = asked(server, [questions[0]] * 5, at_once=True)
    assert server.asked == 1 and None not in found and desk.ledger.cache_hits == 4


def test_memory_outlives_the_desk_and_is_of_one_model(
    server: FakeServer, questions: list[Question], tmp_path: Any
) -> None:
    kept = {"cache": str(tmp_path / "deep" / "answers.sqlite")}
    asked(server, questions[:3], **kept)
    found, _ = asked(server, questions[:3], **kept)
    assert [advice and advice.source for advice in found] == ["cache"] * 3 and server.asked == 3
    asked(server, questions[:3], **kept, **{"model": "another"})
    assert server.asked == 6


@pytest.mark.parametrize("method", ["get", "put"])
def test_an_answer_survives_a_cache_that_fails(
    server: FakeServer, questions: list[Question], method: str, monkeypatch: Any, caplog: Any
) -> None:
    def locked(*_: Any) -> None:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(AnswerCache, method, locked)
    found, desk = asked(server, questions[:3])
    assert [advice and advice.source for advice in found] == ["llm"] * 3
    assert desk.ledger.ends == {"answered": 3}
    assert [record.getMessage() for record in caplog.records if "cache" in record.getMessage()] == [
        "the cache of answers fails, hints continue without it: database is locked"
    ]


def test_the_tokens_per_hour_are_limited(server: FakeServer, questions: list[Question]) -> None:
    _, desk = asked(server, questions[:1])
    found, desk = asked(server, questions, tokens_per_hour=4 * desk.ledger.tokens)
    assert desk.ledger.ends["tokens"] > 0
    assert 0 < sum(advice is not None for advice in found) < len(questions)
    assert desk.ledger.alarm() is None  # a spent budget is not a failure


def test_a_request_without_an_answer_in_time_counts_against_the_total(
    server: FakeServer, questions: list[Question]
) -> None:
    """The server may bill it."""
    server.latency = 0.5
    _, desk = asked(server, questions[:1], timeout_seconds=0.1)
    assert desk.ledger.ends == {"timeout": 1} and desk.ledger.tokens > 300
    server.latency = 0.0
    found, desk = asked(server, questions, tokens_total=4 * desk.ledger.tokens)
    assert desk.ledger.ends["tokens"] > 0 and found[0] is not None


@pytest.mark.parametrize(("mode", "counts"), [("429", False), ("500", True), ("hang", True)])
def test_requests_without_an_answer_count_unless_they_are_refused(
    server: FakeServer, questions: list[Question], mode: str, counts: bool
) -> None:
    server.set_mode(mode)
    _, desk = asked(server, questions[:1])
    assert (desk.ledger.tokens > 300) == counts and desk.tokens.spent == desk.ledger.tokens


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nno reply"])
def test_a_lost_connection_and_a_reply_that_cannot_be_read_count(questions: list[Question], answer: bytes) -> None:
    class Connection(BaseRequestHandler):
        def handle(self) -> None:
            head, _, body = self.request.recv(1 << 16).partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(body) < length:
                body += self.request.recv(1 << 16)
            self.request.sendall(answer)

    with TCPServer(("127.0.0.1", 0), Connection) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        found, desk = asked(f"http://127.0.0.1:{server.server_address[1]}/v1", questions[:1], timeout_seconds=10.0)
        server.shutdown()
    assert found == [None] and desk.ledger.ends == {"unreadable" if answer else "unreachable": 1}
    assert desk.ledger.tokens > 300


def test_a_slow_picture_is_not_waited_for(server: FakeServer, questions: list[Question]) -> None:
    server.set_mode("slow-image")
    plain = questions[0]
    seen = Question(plain.text, plain.system, plain.options, plain.prompt, plain.session, plain.listed, b"\x89PNG")
    found, desk = asked(server, [plain, seen])
    assert [advice is not None for advice in found] == [True, False]
    assert desk.ledger.ends == {"answered": 1, "timeout": 1}


def test_claude_speaks_its_own_api(server: FakeServer, questions: list[Question]) -> None:
    url = server.url.removesuffix("/v1")
    found, desk = asked(url, questions[:2], provider="claude")
    assert None not in found and desk.ledger.tokens > 0
    assert server.counts[("/v1/messages", 200)] == 2


def test_headers_for_gateways_and_replicas(server: FakeServer, questions: list[Question]) -> None:
    asked(server, questions[:2], host_header="llm.example", session_header="X-Session")
    assert [headers["Host"] for headers in server.headers] == ["llm.example"] * 2
    assert [headers["X-Session"] for headers in server.headers] == [question.session for question in questions[:2]]
    assert all(headers["Authorization"] == "Bearer k" for headers in server.headers)


def test_settings_come_from_the_environment_and_hold_no_key() -> None:
    found = read_settings(
        {"LLM_ENDPOINT": "http://x/v1", "LLM_MODEL": "m", "LLM_VISION": "true", "LLM_API_KEY": "sk-secret"}
    )
    assert found.endpoint == "http://x/v1" and found.vision
    assert "sk-secret" not in found.model_dump_json()


@pytest.mark.parametrize(
    ("variable", "value"), [("LLM_ENDPOINT", "llm:8000"), ("LLM_TIMEOUT_SECONDS", "-1"), ("LLM_PROVIDER", "oracle")]
)
def test_a_setting_that_cannot_be_used_is_named(variable: str, value: str) -> None:
    with pytest.raises(BadHints, match=variable):
        read_settings({variable: value})


def test_credentials_in_the_endpoint_are_refused_and_not_shown() -> None:
    with pytest.raises(BadHints) as refused:
        read_settings({"LLM_ENDPOINT": "http://user:hunter2@llm/v1"})
    assert "hunter2" not in str(refused.value) and "LLM_API_KEY" in str(refused.value)
