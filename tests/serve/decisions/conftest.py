"""A decision service in this process, and deciders whose time the tests control."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from ante.agents.baselines import Baseline
from ante.events.publisher import Publisher
from ante.hints.rules import RulesPlayer
from ante.serve.decisions.access import Access
from ante.serve.decisions.deciders import Choice, StepwiseDecider
from ante.serve.decisions.desk import Desk
from ante.serve.decisions.server import Options, serving
from ante.serve.decisions.v1 import decisions_pb2 as pb
from ante.serve.decisions.v1.decisions_pb2_grpc import DecisionServiceStub


class Controlled(StepwiseDecider):
    """The greedy player, which waits until the test lets it continue, and notes the ids of its batches."""

    def __init__(self) -> None:
        super().__init__("controlled", "d" * 64, Baseline("greedy"), pb.STRATEGY_POLICY)
        self.go, self.sizes = threading.Event(), list[int]()
        self.go.set()
        self.error: Exception | None = None

    def decide(self, games: Any, until: float = 0.0) -> list[Choice]:
        self.sizes.append(games.n)
        assert self.go.wait(5.0)
        if self.error:
            raise self.error
        return super().decide(games)


class Running:
    """A service that runs in a thread."""

    def __init__(self, desk: Desk, port: int, loop: asyncio.AbstractEventLoop, leave: asyncio.Event) -> None:
        self.desk, self.port, self._loop, self._leave = desk, port, loop, leave
        self.address = f"127.0.0.1:{port}"
        self._draining = False

    def stub(self) -> Any:
        return DecisionServiceStub(grpc.insecure_channel(self.address))

    def drain(self) -> None:
        """Begin to stop, without waiting; a second call does nothing, since the loop may be closed by then."""
        if self._draining:
            return
        self._draining = True
        self._loop.call_soon_threadsafe(self._leave.set)


@contextmanager
def running(
    desk: Desk, access: Access | None = None, publisher: Publisher | None = None, **options: Any
) -> Iterator[Running]:
    """Run a service of this desk."""
    ready, made = threading.Event(), list[Any]()

    async def main() -> None:
        leave = asyncio.Event()
        async with serving(desk, Options(port=0, access=access or Access(), **options), publisher) as port:
            made.extend([port, asyncio.get_running_loop(), leave])
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(60.0)
    server = Running(desk, *made)
    try:
        yield server
    finally:
        server.drain()
        thread.join(20.0)
        assert not thread.is_alive()


@pytest.fixture(scope="package")
def controlled() -> Controlled:
    return Controlled()


@pytest.fixture(scope="package")
def shared(controlled: Controlled) -> Iterator[Running]:
    """One service for all tests that need no other options."""
    with running(Desk(controlled, answer_seconds=2.0)) as server:
        yield server


@pytest.fixture
def service(shared: Running, controlled: Controlled) -> Iterator[Running]:
    controlled.go.set()
    controlled.error, controlled.sizes = None, []
    shared.desk.decider = controlled
    yield shared
    controlled.go.set()


@pytest.fixture
def rules() -> StepwiseDecider:
    return StepwiseDecider("rules", "", RulesPlayer(), pb.STRATEGY_SCRIPTED)


def asked(name: str, *actions: int, seed: str = "TESTSEED", **fields: Any) -> Any:
    """Return a query of a run."""
    return pb.Query(request_id=name, run=pb.Run(seed=seed, actions=actions), **fields)


def refusal(call: Callable[[], Any]) -> tuple[grpc.StatusCode, str]:
    """Return code and message of a call that fails."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details()


def eventually(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)
