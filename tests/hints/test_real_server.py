"""The real llama.cpp server with a tiny random model: every accepted response is legal."""

import asyncio
import importlib.util
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from ante.hints.probe import probe
from ante.hints.rules import sample_questions
from ante.hints.settings import AdvisorSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="pip install xllamacpp gguf"),
]
START_SECONDS = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llm")
    with (folder / "log").open("w") as log:
        arguments = [sys.executable, "tools/make_tiny_llm.py", str(folder / "tiny.gguf"), "--serve", "--port", "0"]
        process = subprocess.Popen(arguments, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield address(folder / "log", process)
        finally:
            process.kill()
            process.wait()


def address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Return the server's address once it responds."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        lines = [line for line in log.read_text().splitlines() if line.startswith("listening on ")]
        if lines:
            url = lines[0].removeprefix("listening on ")
            try:
                urllib.request.urlopen(url.removesuffix("/v1") + "/health", timeout=5)
                return url
            except urllib.error.URLError:
                pass
        time.sleep(0.2)
    raise TimeoutError(log.read_text())


@pytest.mark.nightly
def test_every_hint_of_a_hundred_asks_is_legal(server: str) -> None:
    settings = AdvisorSettings(endpoint=server, model="tiny", timeout_seconds=60.0)
    found = asyncio.run(probe(settings, {}, islice(sample_questions(), 100)))
    assert found.known and found.structured
    assert found.asks == 100
    assert found.valid + found.discarded == 100, found.trouble  # no other failure
    assert found.valid >= 95, found.ends
