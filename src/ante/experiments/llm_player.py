"""A language model as a player: it decides every position in which several candidates are legal."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.core.records import as_records
from ante.env.games import Games
from ante.errors import BalatroError
from ante.hints.budget import TokenBudget
from ante.hints.desk import Desk, make_advisor, words_of
from ante.hints.ledger import GOOD, INVALID
from ante.hints.question import Question, question_of
from ante.hints.settings import AdvisorSettings, read_key
from ante.knowledge.facts import facts_from
from ante.lookahead.candidates import CandidateLister
from ante.lookahead.records import candidates_t

PERMANENT = ("tokens", "broken")
ATTEMPTS = 6  # requests for one decision, each with its own retries, while the endpoint fails
PAUSE = 2.0  # seconds before the second attempt; doubled before each further one


class NoAnswer(BalatroError):
    """The endpoint gives no answers; a game cannot continue."""


@dataclass(frozen=True)
class Spending:
    """What one game has cost.

    requested  decisions that were requested of the model
    invalid    answers without a legal option; a random candidate was played instead
    tokens     tokens of requests and answers; written  those of answers
    """

    requested: int
    invalid: int
    tokens: int
    written: int


class LlmPlayer:
    """A player that follows an LLM, with macro decisions; single candidates are taken without a request.

    If an answer has no legal option, a random candidate is played and the answer counts as invalid: another player must
    not improve the model's result. If the endpoint fails repeatedly, NoAnswer is raised.

    Args:
        settings: The endpoint. Its limits of tokens apply to all games together.
        environment: Contains the key, under the name in the settings.
        seed: Seed of the random candidates.
    """

    discrete = False
    reorder = "none"

    def __init__(self, settings: AdvisorSettings, environment: Mapping[str, str], seed: int = 0) -> None:
        self.settings = settings.complete().model_copy(update={"breaker_failures": 1 << 30})
        self.name, self.pause = f"llm {self.settings.model}", PAUSE
        self._environment, self._key = environment, read_key(settings, environment)
        self._facts = facts_from(settings.knowledge, environment)
        self._rng = np.random.default_rng(seed)
        self._writer, self._runner = CandidateLister(), asyncio.Runner()
        self._lists = as_records(np.zeros(0, dtype=candidates_t))
        self._tokens = TokenBudget(self.settings.tokens_per_hour, total=self.settings.tokens_total)
        self._desks: dict[int, Desk] = {}
        self._advisor: Any = None

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a macro decision for each game, (n,) int64; -1 for games that have ended. Raises NoAnswer."""
        if len(self._lists) != games.n:
            self._lists = as_records(np.zeros(games.n, dtype=candidates_t))
        self._writer.write(games, self._lists)
        actions, asked = np.full(games.n, -1, dtype=np.int64), {}
        for i in map(int, np.flatnonzero(playing)):
            question = question_of(games.states[i], self._lists[i], self.settings.prompt, facts=self._facts)
            assert question is not None, "a game in play has a legal candidate"
            if games.steps[i] == 0 and i in self._desks:
                self._desks.pop(i).cache.close()
            if len(question.options) == 1:
                actions[i] = question.options[0].decision
            else:
                asked[i] = question
        for i, decision in self._runner.run(self._answers(asked)).items():
            actions[i] = decision
        return actions

    def spending(self, i: int) -> Spending:
        """Return what the game with this index has cost so far."""
        if i not in self._desks:
            return Spending(0, 0, 0, 0)
        found = self._desks[i].ledger
        return Spending(
            found.ends[GOOD] + found.cache_hits + found.discarded, found.discarded, found.tokens, found.written
        )

    def close(self) -> None:
        """Close the connections and the caches of answers."""
        for desk in self._desks.values():
            desk.cache.close()
        if self._advisor is not None:
            self._runner.run(self._advisor.close())
        self._runner.close()

    async def _answers(self, asked: dict[int, Question]) -> dict[int, int]:
        """Return the decision for each question, by game. Raises NoAnswer."""
        if self._advisor is None and asked:
            self._advisor = make_advisor(self.settings, self._environment)
            await self._reach(next(iter(asked.values())))
        gate = asyncio.Semaphore(self.settings.concurrency)

        async def one(i: int, question: Question) -> int:
            async with gate:
                return await self._decision(i, question)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = {i: group.create_task(one(i, question)) for i, question in asked.items()}
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return {i: task.result() for i, task in tasks.items()}

    async def _reach(self, question: Question) -> None:
        """Send one request, so that a wrong address, key or model is reported with its cause. Raises NoAnswer."""
        try:
            await self._advisor.ask(question)
        except Exception as error:  # error classes differ between clients
            words = words_of(error, self._key).rstrip(".")
            raise NoAnswer(f"{self.name}: {words}; check it with: ante hints probe") from None

    async def _decision(self, i: int, question: Question) -> int:
        """Return the decision for one position of game i. Raises NoAnswer."""
        if i not in self._desks:
            self._desks[i] = Desk(self.settings, self._advisor)
            self._desks[i].tokens = self._tokens
        desk, cause = self._desks[i], ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self.pause * 2.0 ** (attempt - 1))
            before = desk.ledger.ends.copy()
            advice = await desk.advise(question)
            if advice is not None:
                return advice.decision
            cause = next(iter(desk.ledger.ends - before))
            if cause in INVALID:
                return question.options[int(self._rng.integers(len(question.options)))].decision
            if cause in PERMANENT:
                break
        words = (
            "the limit LLM_TOKENS_PER_HOUR or LLM_TOKENS_TOTAL is reached"
            if cause == "tokens"
            else f"requests fail ({cause})"
        )
        raise NoAnswer(f"{self.name}: {words}; finished games are kept, and the same command continues later")
