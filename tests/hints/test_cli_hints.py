"""The command `ante hints`."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ante.cli import main
from ante.hints.fake import FakeServer

ROOT = Path(__file__).resolve().parents[2]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ante", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    for name in ("LLM_MODEL", "LLM_VISION", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with FakeServer() as server:
        monkeypatch.setenv("LLM_ENDPOINT", server.url)
        yield server


def test_probe_says_what_works(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "hints", "probe", "--json", "--asks", "20") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["works"] and found["vision"] and found["known"]
    assert found["valid"] == found["asks"] == 20 and found["ends"] == {"answered": 20}


@pytest.mark.parametrize("mode", ["500", "429", "half-json", "wrong-schema", "illegal"])
def test_probe_of_a_server_that_misbehaves_fails(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    server.set_mode(mode)
    assert run(monkeypatch, "hints", "probe") == 1
    assert "hints: NO" in capsys.readouterr().out


@pytest.mark.slow
def test_the_rules_need_no_package_of_the_extra_hints(tmp_path: Path) -> None:
    for module in ("openai", "anthropic", "httpx2", "purgatory", "tenacity"):
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name={module!r})")
    command = [sys.executable, "-m", "ante.cli", "hints", "ask", "TESTSEED@20", "--by", "rules", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["answers"]["rules"]


def test_probe_of_a_slow_server_names_the_deadline(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "0.05")
    server.latency = 0.2
    assert run(monkeypatch, "hints", "probe", "--asks", "4", "--no-picture") == 1
    assert "LLM_TIMEOUT_SECONDS" in capsys.readouterr().out


def test_ask_shows_prompt_picture_and_answers(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    frame = f"{tmp_path}/frame.png"
    code = run(
        monkeypatch, "hints", "ask", "TESTSEED@1", "--by", "both", "--model", "fake", "--picture", frame, "--json"
    )
    assert code == 0
    found = json.loads(capsys.readouterr().out)
    assert "TESTSEED" not in found["text"] and set(found["answers"]) == {"rules", "llm"}
    names = [option["name"] for option in found["options"]]
    assert all(advice["text"] in names for advice in found["answers"].values())
    with open(frame, "rb") as stream:
        assert stream.read(4) == b"\x89PNG"


def test_the_position_of_the_documentation_has_several_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [position] = set(re.findall(r"hints ask (\w+@\d+)", (ROOT / "docs" / "how-to" / "hints.md").read_text()))
    assert position in (ROOT / "src" / "ante" / "cli" / "learn" / "hints.py").read_text()
    run(monkeypatch, "hints", "ask", position, "--json")
    assert len(json.loads(capsys.readouterr().out)["options"]) > 3


def test_a_question_can_quote_the_measured_effects(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for store in ("", "default"):
        monkeypatch.setenv("LLM_KNOWLEDGE", store)
        assert run(monkeypatch, "hints", "ask", "tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt@47", "--json") == 0
        texts.append(json.loads(capsys.readouterr().out)["text"])
    added = set(texts[1].splitlines()) - set(texts[0].splitlines())
    assert any(line.startswith("Measured in other games") for line in added) and 2 <= len(added) <= 6
    monkeypatch.setenv("LLM_KNOWLEDGE", "http://host")
    assert run(monkeypatch, "hints", "ask", "TESTSEED@20") == 2
    assert "no graph" in capsys.readouterr().err


def test_a_replay_can_be_asked_about(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    replay = "tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt"
    assert run(monkeypatch, "hints", "ask", f"{replay}@40") == 0
    text = capsys.readouterr().out
    assert "rules response" in text and "PKXK3L4T" not in text


@pytest.mark.parametrize("position", ["TESTSEED", "TESTSEED@x", "TESTSEED@9000", "no!seed@1"])
def test_a_position_that_is_none_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], position: str
) -> None:
    assert run(monkeypatch, "hints", "ask", position) == 2
    assert capsys.readouterr().err.startswith("ante: ")
