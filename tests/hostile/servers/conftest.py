"""Servers with arbitrary responses, for the tests in this folder."""

from collections.abc import Callable, Iterator

import pytest

from tests.hostile.servers.answers import Answers, Chunks


@pytest.fixture
def answering() -> Iterator[Callable[..., Answers]]:
    """Return a function that starts servers, which are stopped after the test."""
    made: list[Answers] = []

    def make(chunks: Chunks, pause: float = 0.0) -> Answers:
        made.append(Answers(chunks, pause).__enter__())
        return made[-1]

    yield make
    for each in made:
        each.__exit__()
