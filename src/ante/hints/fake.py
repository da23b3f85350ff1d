"""A fake LLM server for tests: the HTTP API of a real one, with configurable failures.

    python -m ante.hints.fake --port 8000 --mode ok --latency 2

Identical requests get identical responses. The module needs only the standard library, so it runs in any image. It
serves /v1/chat/completions, /v1/messages, /v1/models, /health and /metrics. POST /mode changes its behaviour at run time.
"""

import argparse
import contextlib
import hashlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODES = {
    "ok": "valid answers",
    "429": "always too many requests",
    "500": "always an internal error",
    "hang": "accepts requests and never responds",
    "half-json": "truncated answers",
    "wrong-schema": "valid JSON with another schema",
    "illegal": "options that do not exist",
    "slow-image": "requests with images take --image-latency longer",
    "flaky": "every other response is an internal error",
}
MODEL = "fake"
WORDS = ("It scores most.", "It keeps the money.", "It leads to a flush.", "It is the safe way.")
HANG_SECONDS = 3600.0
LARGEST = 8 << 20  # bytes of a request


class FakeServer(ThreadingHTTPServer):
    """The server.

    asked    number of requests for hints; counts  responses by path and status
    headers  headers of the last requests for hints
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self, port: int = 0, mode: str = "ok", latency: float = 0.0, image_latency: float = 5.0, host: str = "127.0.0.1"
    ) -> None:
        super().__init__((host, port), Handler)
        self.latency, self.image_latency = latency, image_latency
        self.counts: Counter[tuple[str, int]] = Counter()
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.asked = 0
        self.headers: deque[Message] = deque(maxlen=100)
        self.set_mode(mode)

    def set_mode(self, mode: str) -> None:
        """Switch to one of MODES."""
        assert mode in MODES, mode
        self.mode = mode

    @property
    def url(self) -> str:
        """The value for LLM_ENDPOINT."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}/v1"

    def __enter__(self) -> "FakeServer":
        """Serve in a thread."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server, including hanging responses."""
        self.stopping.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Handler of one connection."""

    server: FakeServer
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds for the next bytes of a request
    disable_nagle_algorithm = True  # header and body are separate packets, which would delay each answer by 40 ms

    def do_GET(self) -> None:
        """Return health, models or metrics."""
        if self.path == "/health":
            self.answer(200, {"status": "ok"})
        elif self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "type": "model"}]})
        elif self.path == "/metrics":
            self.send(200, metrics(self.server).encode(), "text/plain; version=0.0.4")
        else:
            self.answer(404, {"error": {"message": f"no such path: {self.path}"}})

    def do_POST(self) -> None:
        """Handle requests and mode changes."""
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > LARGEST:
            self.close_connection = True
            self.answer(413, {"error": {"message": f"Content-Length must be at most {LARGEST} bytes"}})
            return
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self.answer(400, {"error": {"message": "the request is not a JSON object"}})
            return
        if self.path == "/mode":
            self.change(body)
        elif self.path in ("/v1/chat/completions", "/v1/messages"):
            self.advise(body, claude=self.path == "/v1/messages")
        else:
            self.answer(404, {"error": {"message": f"no such path: {self.path}"}})

    def change(self, body: dict[str, Any]) -> None:
        """Change the mode or latency."""
        if body.get("mode", "ok") not in MODES:
            self.answer(400, {"error": {"message": f"mode must be one of {', '.join(MODES)}"}})
            return
        self.server.set_mode(body.get("mode", self.server.mode))
        self.server.latency = float(body.get("latency", self.server.latency))
        self.answer(200, {"mode": self.server.mode, "latency": self.server.latency})

    def advise(self, body: dict[str, Any], claude: bool) -> None:
        """Respond to one request in the current mode."""
        server, mode = self.server, self.server.mode
        with server.lock:
            server.asked += 1
            turn = server.asked
            server.headers.append(self.headers)
        seconds = server.latency + server.image_latency * (mode == "slow-image" and has_picture(body))
        if server.stopping.wait(HANG_SECONDS if mode == "hang" else seconds):
            self.close_connection = True
        elif mode == "429":
            self.answer(429, {"error": {"message": "too many requests"}})
        elif mode == "500" or (mode == "flaky" and turn % 2):
            self.answer(500, {"error": {"message": "internal error"}})
        else:
            self.answer(200, reply(body, written(body, mode), claude))

    def answer(self, status: int, body: dict[str, Any]) -> None:
        """Send a JSON response."""
        self.send(status, json.dumps(body).encode(), "application/json")

    def send(self, status: int, body: bytes, kind: str) -> None:
        """Send a response and count it."""
        with self.server.lock:
            self.server.counts[self.path, status] += 1
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has disconnected

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for requests, because /metrics has the counts."""


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema in a request, for either API."""
    form = body.get("response_format") or {}
    found = form.get("json_schema", {}).get("schema") or (body.get("output_config") or {}).get("format", {}).get(
        "schema"
    )
    return found or {"properties": {}}


def written(body: dict[str, Any], mode: str) -> str:
    """Return the text of the answer."""
    digest = hashlib.sha256(json.dumps(body.get("messages"), sort_keys=True).encode()).digest()
    last = schema_of(body)["properties"].get("option", {}).get("maximum", 0)
    whole = {
        "option": digest[0] % (int(last) + 1),
        "confidence": digest[1] % 101,
        "outlook": digest[2] % 101,
        "reason": WORDS[digest[3] % len(WORDS)],
    }
    if mode == "wrong-schema":
        return json.dumps({"move": "play the aces", "confidence": 0.93})
    if mode == "illegal":
        whole["option"] = int(last) + 7
    text = json.dumps(whole)
    return text[: len(text) // 2] if mode == "half-json" else text


def reply(body: dict[str, Any], text: str, claude: bool) -> dict[str, Any]:
    """Return the whole response in the format of either API."""
    sent = len(json.dumps(body.get("messages"))) // 4
    received, model = len(text) // 4, body.get("model", MODEL)
    if claude:
        return {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": sent, "output_tokens": received},
        }
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received},
    }


def has_picture(body: dict[str, Any]) -> bool:
    """Return whether an image was sent."""
    contents = [message.get("content") for message in body.get("messages", [])]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return any(part.get("type") in ("image", "image_url") for part in parts)


def metrics(server: FakeServer) -> str:
    """Return the counts in Prometheus' text format."""
    lines = ["# HELP fake_llm_requests_total Requests answered.", "# TYPE fake_llm_requests_total counter"]
    with server.lock:
        found = sorted(server.counts.items())
    lines += [f'fake_llm_requests_total{{path="{path}",status="{status}"}} {n}' for (path, status), n in found]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    modes = "\n".join(f"  {name:13s} {about}" for name, about in MODES.items())
    parser = argparse.ArgumentParser(
        prog="python -m ante.hints.fake",
        description=f"A fake LLM server. Modes:\n{modes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 in a container")
    parser.add_argument("--port", type=int, default=8000, help="port; 0 for any free port")
    parser.add_argument("--mode", choices=MODES, default="ok", metavar="MODE")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each response")
    parser.add_argument(
        "--image-latency", type=float, default=5.0, help="additional seconds for images in mode slow-image"
    )
    chosen = parser.parse_args(arguments)
    server = FakeServer(chosen.port, chosen.mode, chosen.latency, chosen.image_latency, chosen.host)
    print(f"listening on {server.url} in mode {chosen.mode}", flush=True)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    finally:
        server.stopping.set()
        server.server_close()


if __name__ == "__main__":
    main()
