"""balatrollm, unmodified, plays a whole game through a shim, with a stub in place of the LLM. It is not part of this repository.

BALATROLLM_SUITE    folder of a copy of coder/balatrollm 1.1.1
BALATROBOT_SUITE    folder of a copy of coder/balatrobot 1.5.2, whose package balatrollm imports
BALATROBOT_PYTHON   a Python that has what both need: httpx, typer, openai, jinja2, pyyaml
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest

LLM, BOT = os.environ.get("BALATROLLM_SUITE", ""), os.environ.get("BALATROBOT_SUITE", "")
PYTHON = os.environ.get("BALATROBOT_PYTHON", sys.executable)
CARD = re.compile(r"- (\d+): . of . \(`([HDCS])_(.)`\)")
TURN = count()


def best_cards(prompt: str) -> list[int]:
    """Return the positions of the cards of the most frequent suit, five if there are as many."""
    cards = CARD.findall(prompt)
    suit = Counter(suit for _, suit, _ in cards).most_common(1)[0][0]
    return [int(place) for place, each, _ in cards if each == suit][:5]


def decision(tools: Sequence[str], prompt: str) -> tuple[str, dict[str, Any]]:
    """Return a tool and its arguments: flushes if possible, and it buys the first card on every other turn in the shop."""
    turn = next(TURN)
    if "play" in tools:
        cards = best_cards(prompt)
        others = [int(place) for place, _, _ in CARD.findall(prompt) if int(place) not in cards][:5]
        discards = len(cards) < 5 and others and "Discards left**: 0/" not in prompt
        return ("discard", {"cards": others}) if discards else ("play", {"cards": cards})
    if "pack" in tools:
        return "pack", {"skip": True}
    return ("next_round", {}) if turn % 2 else ("buy", {"card": 0})


class StubModel(BaseHTTPRequestHandler):
    """The part of the OpenAI API that balatrollm calls."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(part["text"] for part in asked["messages"][0]["content"])
        name, arguments = decision([tool["function"]["name"] for tool in asked["tools"]], prompt)
        function = {"name": name, "arguments": json.dumps(arguments | {"reasoning": "a stub"})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        }
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


def shim(folder: Path) -> dict[str, str]:
    """Write the shim of docs/how-to/balatrobot.md and return the environment that makes balatrobot run it."""
    (folder / "game").mkdir()
    (folder / "empty.so").touch()
    love = folder / "love"
    command = f'"{sys.executable}" -m ante.cli serve balatrobot --port "$BALATROBOT_PORT"'
    love.write_text(f"#!/bin/sh\nunset LD_PRELOAD\nPYTHONPATH={os.environ.get('PYTHONPATH', '')} exec {command}\n")
    love.chmod(0o755)
    return {
        "BALATROBOT_PLATFORM": "native",
        "BALATROBOT_LOVE_PATH": str(love),
        "BALATROBOT_LOVELY_PATH": str(folder / "empty.so"),
        "BALATROBOT_BALATRO_PATH": str(folder / "game"),
        "BALATROBOT_LOGS_PATH": str(folder / "logs"),
    }


@pytest.mark.nightly
@pytest.mark.skipif(not (LLM and BOT), reason="BALATROLLM_SUITE and BALATROBOT_SUITE do not name both copies")
def test_balatrollm_plays_a_whole_game(tmp_path: Path) -> None:
    model = ThreadingHTTPServer(("127.0.0.1", 0), StubModel)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["--model", "stub/stub", "--seed", "AAAAAAA", "--port", str(port), "--api-key", "none"]
    url = f"http://127.0.0.1:{model.server_port}/v1"
    found = subprocess.run(
        [PYTHON, "-m", "balatrollm.cli", *words, "--base-url", url],
        cwd=tmp_path,
        env={**os.environ, **shim(tmp_path), "PYTHONPATH": f"{LLM}/src:{BOT}/src"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    model.shutdown()
    assert found.returncode == 0, found.stdout + found.stderr
    (stats,) = tmp_path.glob("runs/**/stats.json")
    print(json.dumps(json.loads(stats.read_text()), indent=1), found.stdout)
    outcome = json.loads(stats.read_text())
    assert outcome["finish_reason"] in ("lost", "won") and outcome["final_round"] >= 2
    assert outcome["calls_error"] == 0 and outcome["calls_success"] >= 10
    pictures = list(stats.parent.glob("screenshots/*.png"))
    assert len(pictures) == outcome["calls_total"] and pictures[0].read_bytes().startswith(b"\x89PNG")
