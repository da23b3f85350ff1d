"""Text in messages: secrets masked, control characters removed, limited length, plurals."""

import os
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus, urlsplit

SECRET = re.compile(r"(KEY|TOKEN|PASSWORD|PASSWD|SECRET|CREDENTIALS)$", re.IGNORECASE)  # names of secret variables
SHORTEST = 6  # least length of a masked value; shorter ones occur in ordinary words
LONGEST = 300  # most characters of untrusted text
MASK = "***"

# User and password of a URL, also if the password contains unquoted @, : or /.
USERINFO = re.compile(r"(?<=://)(?:[^\s/?#]*@|[^\s/?#:]*:(?!\d+(?:[/?#\s]|$))\S*@)")
QUERY = re.compile(r"(?<=://)[^\s?#]*[?#][^\s\"'<>)]*")
VALUE = re.compile(r"=[^&;#]+")
BEARER = re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]+", re.IGNORECASE)


def masked(text: object, known: Iterable[str | None] = (), environment: Mapping[str, str] = os.environ) -> str:
    """Return the text with secrets masked.

    Secrets are user and password of each URL, the values of its query and fragment, bearer tokens, the values in
    `known`, and environment variables whose names end in KEY, TOKEN, PASSWORD or SECRET, also URL-quoted or in base64.
    """
    found = str(text)
    values = {value for value in known if value}
    values |= {value for name, value in environment.items() if SECRET.search(name)}
    for secret in sorted(variants(values), key=len, reverse=True):
        found = found.replace(secret, MASK)
    found = BEARER.sub(rf"\1 {MASK}", found)
    found = USERINFO.sub(f"{MASK}@", found)
    return QUERY.sub(lambda url: VALUE.sub(f"={MASK}", url[0]), found)


def variants(values: Iterable[str]) -> set[str]:
    """Return the possible forms of secrets in a text: plain, URL-quoted, base64."""
    long = [value for value in values if len(value) >= SHORTEST]
    raw = ((value, value.encode("utf-8", "surrogateescape")) for value in long)
    return {
        form
        for value, data in raw
        for form in (value, quote(data, safe=""), quote_plus(data), b64encode(data).decode())
    }


def printable(text: object, longest: int = LONGEST) -> str:
    """Return untrusted text on one line, truncated, without control characters and escape sequences."""
    start = str(text)[: 4 * longest]
    visible = "".join(letter if unicodedata.category(letter)[0] != "C" else " " for letter in start)
    line = " ".join(visible.split())
    return line if len(line) <= longest else f"{line[: longest - 4]} ..."


def foreign(text: object, known: Iterable[str | None] = (), longest: int = LONGEST) -> str:
    """Return a server's message, masked and printable."""
    return printable(masked(str(text)[: 1 << 16], known), longest)


def described(error: BaseException, known: Iterable[str | None] = ()) -> str:
    """Return an error on one line: its class and the first line of its message, processed by `foreign`."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    name = type(error).__name__
    return f"{name}: {foreign(lines[0], known)}" if lines else name


def without_credentials(url: str) -> str:
    """Return a URL without user, password, query and fragment."""
    return re.split("[?#]", USERINFO.sub("", url), maxsplit=1)[0]


def check_url(url: str) -> None:
    """Raise ValueError if the URL does not name a server; the message does not contain the URL."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("it must start with http:// or https://")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("it must not contain spaces or control characters; encode non-ASCII characters as %XX")
    if not has_address(url):
        raise ValueError("it must contain a host, optionally with a port from 1 to 65535 after a colon")


def has_address(url: str) -> bool:
    """Return whether a URL has a host, and a port from 1 to 65535 if any."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun: `1 blind`, `2 blinds`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
