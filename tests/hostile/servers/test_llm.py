"""LLM endpoints with arbitrary responses: `ante hints probe` and `ask`, the desk of a training, both APIs."""

import asyncio
import gzip
import json
import re
import sqlite3
import zlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ante.hints import probe as probing
from ante.hints.advice import Answer, Discarded, check
from ante.hints.cache import AnswerCache
from ante.hints.desk import Desk, make_advisor
from ante.hints.ledger import FAILURES
from ante.hints.probe import probe
from ante.hints.question import Question
from ante.hints.rules import sample_questions
from ante.hints.settings import AdvisorSettings, BadHints, read_key, read_settings
from tests.hostile.files import NEVER
from tests.hostile.harness import Case, cases, check_sentence, command, limited, thinned
from tests.hostile.servers.answers import CHUNK, Answers, Chunks, endless, raw, reply

KEY = "sk-very-s3cr3t-key-0123456789"
QUICK = 0.6  # timeout of a request in seconds
LEAST = 3.0


@pytest.fixture(scope="module")
def question() -> Question:
    return next(iter(islice(sample_questions(), 1)))


def completion(content: Any, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}], **more}).encode()


def claude(text: Any, **more: Any) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": text}], **more}).encode()


GOOD = json.dumps({"option": 0, "confidence": 50, "outlook": 50, "reason": "It scores."})
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DEEP = b"[" * 100_000
BOMB = gzip.compress(b" " * (64 << 20))

SHAPES: dict[str, tuple[Chunks, str]] = {  # the response of both APIs, and the result of the request
    **{
        f"JSON {body[:30].decode('latin-1')!r}": (reply(body), "unreadable")
        for body in (
            b"", b" ", b"null", b"true", b"0", b"-1e999", b"NaN", b'"text"', b"[]", b"[[]]", b"{}", b'{"choices": null}', b'{"choices": []}',
            b'{"choices": {}}', b'{"choices": [null]}', b'{"choices": [[]]}', b'{"choices": [{}]}', b'{"choices": [{"message": null}]}',
            b'{"choices": [{"message": {"content": null}}]}', b'{"choices": [{"message": {"content": 1}}]}',
            b'{"choices": [{"message": {"content": [{"text": "x"}]}}]}', b'{"choices": "x"}', b'{"choices": 7}', b'{"content": null}',
            b'{"content": [null]}', b'{"content": [{}]}', b'{"content": [{"type": 1}]}', b'{"content": "x"}',
            b'{"error": {"message": "no"}}', b'{"choices": [{"message":', b"{'choices': []}", b"\xef\xbb\xbf{}x", b"\xff\xfe{}",
            b"\x80\x81", b"data: {}\n\ndata: [DONE]\n\n", b'{"choices": [' + b"1" * 5000 + b"]}",
        )
    },
    "HTML": (reply(b"<html><body>Please log in</body></html>", kind="text/html"), "unreadable"),
    "HTML as JSON": (reply(b"<!doctype html><title>x</title>"), "unreadable"),
    "text": (reply(b"hello", kind="text/plain"), "unreadable"),
    "image": (reply(b"\x89PNG\r\n\x1a\n" + bytes(1000), kind="image/png"), "unreadable"),
    "unknown charset": (reply(b"{}", kind="application/json; charset=rot13"), "unreadable"),
    "event stream": (reply(b"data: {}\n\n", kind="text/event-stream"), "unreadable"),
    "deep list": (reply(DEEP), "unreadable"),
    "deep choices": (reply(b'{"choices": ' + DEEP + b"]" * 100_000 + b"}"), "unreadable"),
    "deep object": (reply(b'{"a":' * 50_000), "unreadable"),
    "long": (reply(b" " * (5 << 20)), "unreadable"),
    "long by its header": (reply(b"{}", length=10**15), "unreadable"),
    "endless": (endless(HEAD + b"\r\n"), "unreadable"),
    "endless chunks": (endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + CHUNK + b"\r\n"), "unreadable"),
    "gzip bomb": (reply(BOMB, Content_Encoding="gzip"), "unreadable"),
    "deflate": (reply(zlib.compress(b"{}"), Content_Encoding="deflate"), "unreadable"),
    "packed many times": (reply(BOMB, Content_Encoding="gzip, gzip, br"), "unreadable"),
    "no gzip": (reply(b"{}", Content_Encoding="gzip"), "unreadable"),
    **{
        f"redirect {code} to {where[:20]}": (reply(b"", status=f"{code} Moved", Location=where), "unreadable")
        for code in (301, 302, 307, 308)
        for where in ("http://127.0.0.1:9/v1/", "https://evil.example/?key=" + KEY, "/elsewhere", "file:///etc/passwd")
    },
    "redirect to nowhere": (reply(b"", status="302 Found"), "refused"),
    **{
        f"status {code}": (reply(b'{"error": {"message": "no"}}', status=f"{code} x"), "refused")
        for code in (300, 400, 401, 402, 403, 404, 405, 413, 422, 451, 499)
    },
    **{f"status {code}": (reply(b"<html>", status=f"{code} x"), "server") for code in (500, 501, 502, 503, 504, 529, 599)},
    "status 429": (reply(b"", status="429 x", Retry_After="999999999"), "refused"),
    "status 401 with deep JSON": (reply(DEEP, status="401 x"), "refused"),
    "status 400 with a list": (reply(b"[1]", status="400 x"), "refused"),
    "status 500 that is endless": (endless(b"HTTP/1.1 500 x\r\n\r\n"), "unreadable"),
    "closed": (raw(), "unreachable"),
    "no HTTP": (raw(b"hello\r\n\r\n"), "unreachable"),
    "SSH": (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "unreachable"),
    "status 999999": (raw(b"HTTP/1.1 999999 x\r\n\r\n"), "unreachable"),
    "status in letters": (raw(b"HTTP/1.1 abc x\r\n\r\n"), "unreachable"),
    "null in a header": (raw(HEAD + b"X: a\0b\r\n\r\n{}"), "unreachable"),
    "endless header": (endless(HEAD + b"X: "), "unreachable"),
    "many headers": (raw(HEAD + b"X: y\r\n" * 100_000 + b"\r\n{}"), "unreachable"),
    "length in letters": (raw(HEAD + b"Content-Length: x\r\n\r\n{}"), "unreachable"),
    "negative length": (raw(HEAD + b"Content-Length: -1\r\n\r\n{}"), "unreachable"),
    "two lengths": (raw(HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), "unreachable"),
    "cut off": (reply(b'{"choices', length=1000), "unreachable"),
    "chunk of no size": (raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"), "unreachable"),
}  # fmt: skip

TEXTS: dict[str, tuple[Any, str]] = {  # the model's text, and the result of the request
    "good": (GOOD, "answered"),
    "words": ("I would play the pair.", "unreadable"),
    "empty": ("", "unreadable"),
    "fenced": (f"```json\n{GOOD}\n```", "unreadable"),
    "deep": ("[" * 100_000, "unreadable"),
    "huge number": ("1" * 10_000, "unreadable"),
    "null": ("null", "schema"),
    "list": (f"[{GOOD}]", "schema"),
    "not a number": ('{"option": NaN, "confidence": 1, "outlook": 1, "reason": ""}', "schema"),
    "true": ('{"option": true, "confidence": 1, "outlook": 1, "reason": ""}', "schema"),
    "text for a number": ('{"option": "0", "confidence": 1, "outlook": 1, "reason": ""}', "schema"),
    "fraction": ('{"option": 0.5, "confidence": 1, "outlook": 1, "reason": ""}', "schema"),
    "negative": ('{"option": -1, "confidence": 1, "outlook": 1, "reason": ""}', "schema"),
    "no such option": ('{"option": 10000000000000000000000, "confidence": 1, "outlook": 1, "reason": ""}', "illegal"),
    "too sure": ('{"option": 0, "confidence": 101, "outlook": 1, "reason": ""}', "schema"),
    "long reason": (json.dumps({"option": 0, "confidence": 1, "outlook": 1, "reason": "x" * 121}), "answered"),
    "no reason": ('{"option": 0, "confidence": 1, "outlook": 1, "reason": null}', "schema"),
    "one more": (GOOD[:-1] + ', "\\u001b[31mextra": 1}', "schema"),
    "escape in the reason": (GOOD.replace("It scores.", "\\u001b[2J\\u001b]0;x\\u0007"), "answered"),
    "surrogate in the reason": (GOOD.replace("It scores.", "\\ud800"), "answered"),
}  # fmt: skip

USAGES: tuple[Any, ...] = (None, 0, -5, 1e300, "many", [], True, {}, {"total_tokens": -1}, {"total_tokens": 10**30}, {"total_tokens": None},
                           {"total_tokens": "9"}, {"total_tokens": [1]}, {"input_tokens": -1, "output_tokens": 1.5}, {"total_tokens": True})  # fmt: skip


def ended(provider: str, url: str, question: Question, **more: Any) -> Desk:
    """Return the desk after one request."""

    async def run() -> Desk:
        values = {"endpoint": f"{url}/v1", "model": "m", "timeout_seconds": LEAST, "tries": 1, "provider": provider}
        settings = AdvisorSettings(**(values | more))
        desk = Desk(settings, make_advisor(settings, {"LLM_API_KEY": KEY}))
        await desk.advise(question)
        await desk.close()
        return desk

    return asyncio.run(run())


@pytest.mark.parametrize("provider", ["openai", "claude"])
@pytest.mark.parametrize("name", thinned(list(SHAPES), 8))
def test_every_shape_of_answer_is_an_entry_in_the_ledger(
    answering: Callable[..., Answers],
    question: Question,
    name: str,
    provider: str,
) -> None:
    chunks, cause = SHAPES[name]
    desk = ended(provider, answering(chunks).url, question)
    assert sum(desk.ledger.ends.values()) == 1 and "broken" not in desk.ledger.ends
    (found,) = desk.ledger.ends
    assert found == cause or (found in ("refused", "unreadable") and cause in ("refused", "unreadable")), found
    assert desk.ledger.latency(1.0) < LEAST + 1.0
    assert set(desk.ledger.ends) <= set(FAILURES)


@pytest.mark.parametrize(("provider", "said"), [("openai", completion), ("claude", claude)])
@pytest.mark.parametrize("name", thinned(list(TEXTS), 3))
def test_every_text_of_a_model_is_an_entry_in_the_ledger(
    answering: Callable[..., Answers],
    question: Question,
    name: str,
    provider: str,
    said: Callable[..., bytes],
) -> None:
    text, cause = TEXTS[name]
    assert ended(provider, answering(reply(said(text))).url, question).ledger.ends == {cause: 1}


@pytest.mark.parametrize(("provider", "said"), [("openai", completion), ("claude", claude)])
@pytest.mark.parametrize("usage", USAGES, ids=repr)
def test_odd_usage_spoils_no_answer_and_no_budget(
    answering: Callable[..., Answers],
    question: Question,
    usage: Any,
    provider: str,
    said: Callable[..., bytes],
) -> None:
    desk = ended(provider, answering(reply(said(GOOD, usage=usage))).url, question)
    assert desk.ledger.ends == {"answered": 1}
    assert 0 < desk.ledger.tokens < 100_000


@pytest.mark.parametrize("provider", ["openai", "claude"])
@pytest.mark.parametrize(
    "chunks", [endless(HEAD, b"X"), endless(HEAD + b"\r\n", b" "), endless(b"", b"H")], ids=["head", "body", "first"]
)
def test_an_answer_that_drips_ends_at_the_deadline(
    answering: Callable[..., Answers],
    question: Question,
    chunks: Chunks,
    provider: str,
) -> None:
    desk = ended(provider, answering(chunks, pause=0.1).url, question, timeout_seconds=QUICK)
    assert desk.ledger.ends == {"timeout": 1} and desk.ledger.latency(1.0) < QUICK + 2.0


def test_a_redirect_takes_no_key_elsewhere(answering: Callable[..., Answers], question: Question) -> None:
    elsewhere = answering(reply(completion(GOOD)))
    ended(
        "openai", answering(reply(b"", status="307 x", Location=f"{elsewhere.url}/v1/chat/completions")).url, question
    )
    assert not elsewhere.asked


ECHOES = {
    "in the message": {"error": {"message": f"Incorrect API key provided: {KEY}"}},
    "in a list": [KEY],
    "as text": KEY,
    "in the type": {"error": {"type": KEY, "code": KEY}},
    "with escapes": {"error": {"message": f"\x1b[31m{KEY}\x1b[0m\r\nfake line"}},
}


@pytest.mark.parametrize("provider", ["openai", "claude"])
@pytest.mark.parametrize("variable", ["LLM_API_KEY", "MY_SPECIAL_WORD"])
@pytest.mark.parametrize("status", ["401 x", "200 OK", "500 x"])
@pytest.mark.parametrize("name", thinned(list(ECHOES), 4))
def test_a_key_that_comes_back_is_masked(
    answering: Callable[..., Answers],
    question: Question,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    status: str,
    variable: str,
    provider: str,
) -> None:
    monkeypatch.setattr(probing, "PATIENCE", LEAST)
    server = answering(reply(json.dumps(ECHOES[name]).encode(), status=status))
    settings = AdvisorSettings(
        endpoint=f"{server.url}/v1", model="m", provider=provider, key_variable=variable, timeout_seconds=LEAST
    )
    found = asyncio.run(probe(settings, {variable: KEY}, [question]))
    assert any(KEY.encode() in asked for asked in server.asked), "it was sent"
    text = " ".join([*found.verdict(), found.trouble, repr(found)])
    assert KEY not in text and not found.works and found.trouble
    assert "\x1b" not in found.trouble and "\n" not in found.trouble


def at(chunks: Chunks, *words: str, pause: float = 0.0) -> Callable[[Any], int]:
    """Return a call of `ante hints WORDS` against a server with these responses."""

    def run(folder: Any) -> int:
        with Answers(chunks, pause) as server, pytest.MonkeyPatch.context() as patch:
            for name in ("LLM_PROVIDER", "LLM_VISION", "LLM_TIMEOUT_SECONDS"):
                patch.delenv(name, raising=False)
            patch.setenv("LLM_ENDPOINT", f"{server.url}/v1")
            patch.setenv("LLM_API_KEY", KEY)
            patch.setenv("LLM_TIMEOUT_SECONDS", "1")
            patch.setattr(probing, "PATIENCE", 1.0)
            return int(command(*words)(folder))

    return run


LISTS = {
    f"models {body[:24].decode('latin-1')!r}": reply(body)
    for body in (
        b'{"data": []}', b'{"data": null}', b'{"data": [null]}', b'{"data": [{}]}', b'{"data": [{"id": null}]}', b'{"data": [{"id": 7}]}', b"[]", b"null",
        b'{"data": [{"id": "a"}, {"id": "b"}]}', b'{"data": [{"id": "a"}], "has_more": true, "last_id": "a"}', b'{"data": "x"}',
        b'{"data": [' + b",".join([b'{"id": "m"}'] * 50_000) + b"]}", b'{"data": [{"id": "\\u001b[2J[/red]"}, {"id": "b"}]}',
        b'{"data": [{"id": "' + b"m" * 100_000 + b'"}, {"id": "b"}]}',
    )
}  # fmt: skip
COMMANDS = [
    *(
        Case(f"{words[1]} {name}", at(chunks, *words), refused=False, seconds=30, megabytes=2048)
        for words in (
            ("hints", "probe", "--no-picture"),
            ("hints", "probe", "--no-picture", "--model", "m", "--asks", "2"),
        )
        for name, chunks in (
            {**LISTS} if "--model" not in words else {name: each for name, (each, _) in SHAPES.items()}
        ).items()
    ),
    *(
        Case(
            f"ask {name}",
            at(chunks, "hints", "ask", "TESTSEED@1", "--by", "llm", "--model", "m"),
            refused=False,
            seconds=30,
            megabytes=2048,
        )
        for name, (chunks, _) in SHAPES.items()
    ),
    *(
        Case(
            f"ask says {name}",
            at(reply(completion(text)), "hints", "ask", "TESTSEED@1", "--by", "llm", "--model", "m"),
            refused=False,
            megabytes=2048,
        )
        for name, (text, _) in TEXTS.items()
    ),
]


@pytest.mark.parametrize("case", cases(COMMANDS, quick=8))
def test_a_command_reports_the_error(case: Case, tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with limited(case.seconds):
        code = case.run(tmp_path)
    out, err = capfd.readouterr()
    assert code in (0, 1, 2) and "Traceback" not in out + err and KEY not in out + err
    bar = re.compile(r"\r|\x1b\[\??[\d;]*[A-Za-z]")  # output of a progress bar
    check_sentence(bar.sub("", out + err), "")


@pytest.mark.parametrize(
    "values",
    [
        {"LLM_ENDPOINT": url}
        for url in (
            "llm",
            "http://",
            "http://u:" + KEY + "@llm/v1",
            "http://u:p/w@llm/v1",
            "http://llm:x",
            "http://llm\n",
            "http://llm:0",
            "ftp://llm",
        )
    ]
    + [{"LLM_HOST_HEADER": value} for value in ("a b", "a\r\nX: y", "\x1b[2J", "ё", "a/b")]
    + [{"LLM_SESSION_HEADER": value} for value in ("a b", "a\r\nX", "a:b", "")[:3]]
    + [{"LLM_TIMEOUT_SECONDS": value} for value in ("0", "-1", "nan", "inf", "1e9", "x")]
    + [{"LLM_CONCURRENCY": value} for value in ("0", "-1", "1e9", "65", "1.5", "x")]
    + [{"LLM_TOKENS_PER_HOUR": value} for value in ("-1", "nan", "x" * 10_000)]
    + [{"LLM_MODEL": value} for value in ("\x1b[31mm", "m" * 300, "a\nb")]
    + [{"LLM_PROVIDER": "\x1b[2Jgpt"}, {"LLM_VISION": "maybe"}],
    ids=lambda values: repr(values)[:60],
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(values: dict[str, str]) -> None:
    with pytest.raises(BadHints) as refused:
        read_settings({"LLM_ENDPOINT": "http://llm/v1", "LLM_API_KEY": KEY} | values)
    check_sentence(str(refused.value), next(iter(values)))
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("key", ["a\nb", "ключ", "a\0b", "\x1b[2J", "a\tb"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(key: str) -> None:
    with pytest.raises(BadHints, match="LLM_API_KEY") as refused:
        read_key(AdvisorSettings(), {"LLM_API_KEY": key})
    assert key not in str(refused.value)


def test_a_line_break_after_the_key_is_no_part_of_it() -> None:
    assert read_key(AdvisorSettings(), {"LLM_API_KEY": f"{KEY}\n"}) == KEY
    assert read_key(AdvisorSettings(), {"LLM_API_KEY": " \n"}) is None


@pytest.mark.parametrize("row", ["", "null", "[]", "{}", "x", '{"option": "a"}', GOOD[:-1]])
def test_an_invalid_cache_row_is_requested_again(row: str) -> None:
    cache = AnswerCache()
    cache._db.execute("INSERT INTO answers VALUES (?, ?, ?)", ("k", row, 0.0))
    assert cache.get("k") is None


def test_a_reason_is_fit_for_a_terminal(question: Question) -> None:
    answer = check(question, GOOD.replace("It scores.", "\\u001b[31mred\\u0007\\n\\u202edone"))
    assert answer.reason == "[31mred done"
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
    with pytest.raises(Discarded) as refused:
        check(question, '{"\\u001b[2Jx": 1}')
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "made", ["noise", "object", "zeros", "directory", "named pipe", "endless device", "link to itself"]
)
def test_a_cache_that_is_none_is_told_in_a_sentence(made: str, tmp_path: Path) -> None:
    with pytest.raises(BadHints, match="cannot cache answers") as refused:
        AnswerCache(NEVER[made](tmp_path, "answers.sqlite"))
    check_sentence(str(refused.value), "delete it, or choose another file")


def test_a_cache_with_another_table_is_told_in_a_sentence(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "answers.sqlite") as other:
        other.execute("CREATE TABLE answers (x)")
    with pytest.raises(BadHints, match="cannot cache answers"):
        AnswerCache(tmp_path / "answers.sqlite")
