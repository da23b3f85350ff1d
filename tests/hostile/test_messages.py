"""Text from outside in messages: credentials and terminal control sequences are removed."""

from base64 import b64encode

import pytest

from ante.messages import check_url, described, foreign, masked, printable, without_credentials

SECRET = "s3cr3t/Key+with=signs&more"
ENVIRONMENT = {"LLM_API_KEY": SECRET, "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "HOME": "/home/me", "X_TOKEN": "tok"}

LEAKS = {
    "key alone": SECRET,
    "key in words": f"Incorrect API key provided: {SECRET}.",
    "key in JSON": f'{{"error": {{"message": "no {SECRET}"}}}}',
    "key quoted for a URL": "https://host/?a=s3cr3t%2FKey%2Bwith%3Dsigns%26more",
    "key quoted in text": "s3cr3t%2FKey%2Bwith%3Dsigns%26more",
    "key in base64": f"Authorization was {b64encode(SECRET.encode()).decode()}",
    "bearer": f"Authorization: Bearer {SECRET}",
    "bearer of somebody else": "bearer another-s3cr3t-token",
    "basic": "Authorization: Basic dXNlcjpzM2NyM3Q=",
    "userinfo": "cannot reach http://user:s3cr3t@host:80/x",
    "user alone": "cannot reach http://s3cr3t@host/x",
    "userinfo with @": "http://user:s3cr3t@s3cr3t@host/x",
    "userinfo with slash": "http://user:s3cr3t/s3cr3t@host/x",
    "userinfo of s3": "s3://key:s3cr3t@bucket/x",
    "query": "http://host/x?token=s3cr3t",
    "second value of a query": "http://host/x?a=b&token=s3cr3t",
    "query with semicolon": "http://host/x?a=b;token=s3cr3t",
    "fragment": "http://host/x#access_token=s3cr3t",
    "presigned": "http://host/x?X-Amz-Credential=AK&X-Amz-Signature=s3cr3t",
    "two URLs": "http://a:s3cr3t@host and https://host/?k=s3cr3t",
    "URL in quotes": "'http://host/?k=s3cr3t'",
    "URL in brackets": "<http://host/?k=s3cr3t>",
    "variable of AWS": "secret wJalrXUtnFEMI",
}


@pytest.mark.parametrize("name", LEAKS)
def test_no_secret_is_left(name: str) -> None:
    found = masked(LEAKS[name], environment=ENVIRONMENT)
    assert "s3cr3t" not in found and "wJalr" not in found and "***" in found
    assert not {b64encode(SECRET.encode()).decode(), "dXNlcjpzM2NyM3Q="} & set(found.split())


@pytest.mark.parametrize(
    "text",
    [
        "http://llm:8000/v1 does not respond",
        "https://host/runs/ppo?",
        "a@b.c wrote to tok",
        "mail me@host about s3://bucket/runs/ppo",
        "http://host:8000/a@b",
        "x = 1, ? y = 2",
        "http://[::1]:8000/v1",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text, environment=ENVIRONMENT) == text


@pytest.mark.parametrize("known", [None, "", "abc"])
def test_short_and_missing_keys_mask_nothing(known: str | None) -> None:
    assert masked("abc def", [known], {}) == "abc def"


def test_a_known_key_is_masked_whatever_its_variable_is_called() -> None:
    assert masked("you sent opensesame", ["opensesame"], {}) == "you sent ***"


OBEYED = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;title\x07",
    "link": "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "C1": "\x9b31mred",
    "bell": "\a\aring",
    "backspace": "rm\b\bls",
    "carriage return": "good\rbad",
    "lines": "one\ntwo\n\nthree",
    "null": "a\0b",
    "right to left": "a\u202eb",
    "zero width": "a\u200bb",
    "surrogate": "a\ud800b",
    "private": "a\ue000b",
    "delete": "a\x7fb",
    "tabs": "a\t\tb",
    "line separator": "a\u2028b",
}


@pytest.mark.parametrize("name", OBEYED)
def test_nothing_is_left_that_a_terminal_obeys(name: str) -> None:
    found = printable(OBEYED[name])
    assert found.isprintable() and "\n" not in found and found
    found.encode()


def test_long_text_is_cut() -> None:
    assert len(printable("word " * 10_000)) == 300 and printable("word " * 10_000).endswith(" ...")
    assert len(foreign("y" * 10_000_000)) == 300


def test_errors_in_a_line() -> None:
    assert described(ValueError("")) == "ValueError"
    assert described(ValueError("\n\nkey opensesame\nmore"), ["opensesame"]) == "ValueError: key ***"


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("https://a:b@host/x?token=c", "https://host/x"),
        ("https://host/x#t=c", "https://host/x"),
        ("https://host/x", "https://host/x"),
        ("file:///data/runs", "file:///data/runs"),
    ],
)
def test_a_url_without_its_credentials(url: str, left: str) -> None:
    assert without_credentials(url) == left


@pytest.mark.parametrize(
    "url",
    ["", "llm:8000", "ftp://llm", "http://", "http:///v1", "http://llm:0", "http://llm:99999", "http://llm:port",
     "http://l lm", "http://llm/\n", "http://llm/\x1b[2J", "http://ёлка", "http://[::1", "javascript:alert(1)", "file:///x"],
)  # fmt: skip
def test_what_names_no_server(url: str) -> None:
    with pytest.raises(ValueError) as refused:
        check_url(url)
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://llm:8000/v1", "https://host", "http://[::1]:8000/v1", "http://10.0.0.1/"])
def test_what_names_one(url: str) -> None:
    check_url(url)
