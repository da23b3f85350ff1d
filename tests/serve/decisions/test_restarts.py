"""The server is killed and started again under load, twenty times: no decision is wrong, none is counted twice."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ante.env.replay import Heading
from ante.hints.rules import RulesPlayer
from ante.serve.decisions.client import Address, DecisionStream, NoDecision
from ante.serve.decisions.deciders import StepwiseDecider, Tables
from ante.serve.decisions.positions import Runs, hashes_of
from ante.serve.decisions.v1 import decisions_pb2 as pb

pytestmark = pytest.mark.nightly
KILLS, CALLERS = 20, 16
BETWEEN = 1.0  # seconds of load between the first good decision after a start and the next kill


def start(port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ante.cli", "serve", "decisions", "rules", "--port", str(port)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Caller:
    """Plays games through a stream and notes every decision once it is delivered."""

    def __init__(self, number: int, stream: DecisionStream) -> None:
        self.number, self.stream = number, stream
        self.delivered: list[tuple[str, tuple[int, ...], Any]] = []  # seed, decisions before, decision

    async def play(self) -> None:
        for game in range(10**6):
            seed, actions = f"C{self.number}G{game}", list[int]()
            while len(actions) < 60:
                name = f"{seed}-{len(actions)}"
                query = pb.Query(
                    request_id=name,
                    game_id=seed,
                    sequence=len(actions),
                    run=pb.Run(seed=seed, actions=actions),
                )
                try:
                    decision = await self.stream.decide(query)
                except NoDecision as error:
                    assert str(error).endswith("the game is over: nothing to decide")
                    break
                self.delivered.append((seed, tuple(actions), decision))
                actions.append(decision.packed_action)


async def load(port: int) -> tuple[list[Caller], list[float], int, int]:
    """Return the callers, the seconds from each start to the first good decision, connections and dropped answers."""
    process, waits = start(port), list[float]()
    streams = [DecisionStream(Address(f"127.0.0.1:{port}")) for _ in range(CALLERS)]
    callers = [Caller(number, stream) for number, stream in enumerate(streams)]
    try:
        for stream in streams:
            await stream.__aenter__()
        tasks = [asyncio.create_task(caller.play()) for caller in callers]

        def count() -> int:
            return sum(len(caller.delivered) for caller in callers)

        async def more_than(known: int) -> None:
            async with asyncio.timeout(120):
                while count() <= known:
                    assert not any(task.done() for task in tasks), [task.exception() for task in tasks if task.done()]
                    await asyncio.sleep(0.005)

        await more_than(CALLERS)
        for _ in range(KILLS):
            await asyncio.sleep(BETWEEN)
            process.send_signal(signal.SIGKILL)
            process.wait()
            known, begin = count(), time.monotonic()
            process = start(port)
            await more_than(known)
            waits.append(time.monotonic() - begin)
        await asyncio.sleep(BETWEEN)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in streams:
            await stream.__aexit__()
    finally:
        process.kill()
        process.wait()
    return callers, waits, sum(each.connections for each in streams), sum(each.duplicates for each in streams)


def test_twenty_kills_under_load_lose_and_repeat_nothing() -> None:
    callers, waits, connections, dropped = asyncio.run(load(free_port()))
    delivered = [each for caller in callers for each in caller.delivered]
    runs, tables, rules = Runs(), Tables(), StepwiseDecider("rules", "", RulesPlayer(), pb.STRATEGY_SCRIPTED)
    wrong = 0
    for seed, actions, decision in delivered:
        games = tables.place(runs.position(Heading(seed), actions), rules)
        seen, choice = hashes_of(games)[0], rules.decide(games)[0]
        good = (decision.state_hash, decision.packed_action) == (seen, choice.decision)
        wrong += not good
    positions = Counter((seed, len(actions)) for seed, actions, _ in delivered)
    twice = sum(number > 1 for number in positions.values())
    figures = {
        "kills": len(waits),
        "decisions": len(delivered),
        "wrong": wrong,
        "twice": twice,
        "late answers dropped": dropped,
        "connections": connections,
        "seconds to the first good decision: median": round(float(np.median(waits)), 2),
        "most": round(max(waits), 2),
    }
    print(json.dumps(figures))
    assert (len(waits), wrong, twice) == (KILLS, 0, 0) and len(delivered) > 20 * KILLS
    assert connections >= CALLERS * (KILLS + 1)
