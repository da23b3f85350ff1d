"""The broker with an LLM, in a separate thread: every ticket gets a result, and failures are detected."""

import time
from typing import Any

import pytest

from ante.env.games import Games
from ante.hints.broker import AHEAD, Broker, Delivered
from ante.hints.fake import FakeServer
from ante.hints.question import lists_of, question_of
from ante.hints.settings import AdvisorSettings

PATIENCE = 60.0


def positions(n: int) -> Any:
    games = Games(n, reorder="none", discrete=False)
    games.reset()
    return games.states


def delivered(broker: Broker, wanted: int) -> list[Delivered]:
    """Collect results until there are this many."""
    found: list[Delivered] = []
    deadline = time.monotonic() + PATIENCE
    while len(found) < wanted and time.monotonic() < deadline:
        found += broker.take("me").delivered
        time.sleep(0.01)
    return found


def settings(url: str, **more: Any) -> AdvisorSettings:
    return AdvisorSettings(**({"endpoint": url, "model": "fake", "timeout_seconds": 5.0} | more))


def test_every_ticket_comes_back_with_a_legal_hint(tmp_path: Any) -> None:
    states = positions(6)
    with FakeServer() as server:
        broker = Broker(settings(server.url, cache=str(tmp_path / "answers.sqlite")), {})
        broker.ask("me", list(range(6)), states, "none")
        found = delivered(broker, 6)
        broker.ask("me", [6], states[:1], "none")
        found += delivered(broker, 1)
    assert sorted(each.ticket for each in found) == list(range(7))
    for each in found:
        state = states[each.ticket % 6]
        games = Games(1, reorder="none", discrete=False)
        games.reset(options={"seed": bytes(state.seed[: state.seed_length]).decode()})
        question = question_of(games.states[0], lists_of(games)[0])
        assert question is not None and each.advice is not None
        assert each.advice.decision in {option.decision for option in question.options}
    assert found[-1].advice is not None and found[-1].advice.source == "cache"
    assert broker.report()["figures"]["success"] == 1.0


class Said:
    """Facts with one line, and the jokers for which they were requested."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.asked: list[tuple[frozenset[int], frozenset[int]]] = []

    def lines(self, held: frozenset[int], offered: frozenset[int]) -> tuple[str, ...]:
        self.asked.append((held, offered))
        return (self.line,)


def test_lines_of_a_graph_are_part_of_the_question_and_of_the_key_of_its_answer(tmp_path: Any) -> None:
    counts, state = [], positions(1)
    with FakeServer() as server:
        for line in ("x1.5", "x1.5", "x1.6"):
            facts = Said(line)
            broker = Broker(settings(server.url, cache=str(tmp_path / "answers.sqlite")), {}, facts=facts)
            broker.ask("me", [0], state, "none")
            (found,) = delivered(broker, 1)
            assert found.advice is not None and facts.asked == [(frozenset(), frozenset())]
            counts.append(server.asked)
    assert counts == [1, 1, 2]


def test_players_are_told_how_much_can_be_taken() -> None:
    with FakeServer(latency=1.0) as server:
        broker = Broker(settings(server.url, concurrency=2), {}, players=2)
        most = 2 * (1 + AHEAD)
        assert broker.take("me").credits == most // 2
        broker.ask("me", list(range(most)), positions(most), "none")
        assert broker.take("me").credits == 0


def test_while_the_breaker_is_open_one_position_is_wanted_to_try_with() -> None:
    with FakeServer(mode="500") as server:
        broker = Broker(settings(server.url, breaker_failures=2, tries=1), {})
        broker.ask("me", list(range(4)), positions(4), "none")
        found = delivered(broker, 4)
        assert [each.advice for each in found] == [None] * 4
        assert broker.ledger.breaker == "opened" and broker.take("me").credits == 1


@pytest.mark.parametrize("part", ["_desk", "_gate"])
def test_what_is_broken_raises_the_alarm(part: str, caplog: pytest.LogCaptureFixture) -> None:
    with FakeServer() as server:
        broker = Broker(settings(server.url), {})
        setattr(broker, part, None)
        broker.ask("me", list(range(5)), positions(5), "none")
        found = delivered(broker, 5)
    assert len(found) == 5 and all(each.advice is None for each in found)
    alarm = broker.report()["alarm"]
    assert alarm is not None and "broken 5" in alarm and "failed unexpectedly" in caplog.text


def test_rules_answer_at_once() -> None:
    broker = Broker(None, {})
    broker.ask("me", list(range(8)), positions(8), "none")
    found = broker.take("me").delivered
    assert len(found) == 8 and all(each.advice and each.advice.source == "rules" for each in found)
