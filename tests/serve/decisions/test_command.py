"""`ante serve decisions` as a process, and `ante bench serve` against it."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
import requests

from ante.cli import outcome
from ante.serve.decisions.client import Address, DecisionClient
from ante.serve.decisions.load import STARTED, measured, recorded
from tests.serve.decisions.conftest import asked

SERVE = [sys.executable, "-m", "ante.cli", "serve", "decisions"]


@pytest.mark.slow
def test_the_command_serves_with_a_token_and_stops_on_sigterm() -> None:
    words = ["rules", "--port", "0", "--metrics-port", "29417", "--token-env", "DECISIONS_TOKEN"]
    token = "t" * 32
    with subprocess.Popen(
        SERVE + words, stderr=subprocess.PIPE, text=True, env={**os.environ, "DECISIONS_TOKEN": token}
    ) as process:
        assert process.stderr is not None
        found = STARTED.search(process.stderr.readline().strip())
        assert found
        address = Address(f"127.0.0.1:{found[2]}", token=token)
        assert DecisionClient(address).decide(asked("one")).action == "select-blind"
        assert "ante_decision_queries_total" in requests.get("http://127.0.0.1:29417/metrics", timeout=5).text
        script = asyncio.run(recorded(address, games=2, longest=5))
        assert all(len(actions) == 5 for _, actions in script)
        for kind, rate in (("stream", 50.0), ("unary", 0.0), ("batch", 0.0)):
            row = asyncio.run(measured(address, script, 2, kind, rate, 0.5, process.pid))  # type: ignore[arg-type]
            assert row.failed == 0 and row.done > 0 and 0 < row.p50 <= row.p95 <= row.p99 and row.server_cpu > 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0 and process.stderr.read() == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rules", "--host", "0.0.0.0"], "reachable from other machines"),
        (["runs/none"], "there is no player 'runs/none'"),
        (["rules", "--search", "16ms"], "--search is not supported with rules"),
        (["rules", "--hints", "rules"], "--hints requires a trained policy"),
        (["rules", "--token-file", "none"], "does not exist"),
    ],
)
def test_bad_options_are_one_sentence(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["serve", "decisions", *words, "--port", "0"]) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
