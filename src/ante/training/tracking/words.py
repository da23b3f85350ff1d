"""What may be said of a tracker: nothing that lets somebody in."""

import os
import re
from collections.abc import Mapping

# Variables of trackers whose values nobody may read in a log; so may others whose names end so.
SECRET = re.compile(r"(KEY|TOKEN|PASSWORD|SECRET)$")
CREDENTIALS = re.compile(r"//[^/@\s]*@")  # of a URL
SHORTEST = 6  # characters of a value that is looked for: shorter ones stand in other words
LONGEST = 300


def without_credentials(url: str) -> str:
    """A URL without user, password and query."""
    return CREDENTIALS.sub("//", url).partition("?")[0]


def in_words(error: BaseException, environment: Mapping[str, str] = os.environ) -> str:
    """What went wrong, in one line, without the values of secret variables and without credentials in URLs."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    secrets = [value for name, value in environment.items() if SECRET.search(name) and len(value) >= SHORTEST]
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return CREDENTIALS.sub("//***@", text)[:LONGEST]
