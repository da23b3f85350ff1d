"""The SDK's own client calls every tool in this process, over stdio and over HTTP."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ante.http.server import HttpServer
from ante.serve.mcp.server import PATH, http_server, server_of
from tests.serve.mcp.calls import call_every_tool
from tests.serve.mcp.runs import find, make_runs


def test_every_tool_in_this_process(tmp_path: Path) -> None:
    async def run() -> None:
        async with Client(server_of(make_runs(tmp_path), find)) as client:
            await call_every_tool(client)

    asyncio.run(run())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[HttpServer]:
    with http_server(server_of(make_runs(tmp_path), find), 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_every_tool_over_http(served: HttpServer) -> None:
    async def run() -> None:
        async with Client(f"http://127.0.0.1:{served.port}{PATH}") as client:
            await call_every_tool(client)

    asyncio.run(run())


def test_other_hosts_other_origins_and_large_requests_are_refused(served: HttpServer) -> None:
    url = f"http://127.0.0.1:{served.port}{PATH}"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    assert httpx2.post(url, json=call, headers={**accept, "Host": "evil.example"}).status_code == 400
    assert httpx2.post(url, json=call, headers={**accept, "Origin": "http://evil.example"}).status_code == 403
    large = httpx2.post(url, content=b"x" * ((1 << 20) + 1), headers={**accept, "Content-Type": "application/json"})
    assert large.status_code == 413
    assert httpx2.get(f"http://127.0.0.1:{served.port}/").status_code == 404
    broken = httpx2.post(url, content=b"{", headers={**accept, "Content-Type": "application/json"})
    assert 400 <= broken.status_code < 500 and "Traceback" not in broken.text


@pytest.mark.slow
def test_every_tool_over_stdio(tmp_path: Path) -> None:
    words = ["-m", "ante.cli", "serve", "mcp", "--runs", str(make_runs(tmp_path))]

    async def run() -> None:
        async with Client(
            stdio_client(StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ)))
        ) as client:
            await call_every_tool(client)

    asyncio.run(run())
