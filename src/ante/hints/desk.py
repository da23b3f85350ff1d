"""Request handling: cache, budget, circuit breaker, retries, deadline, validation and the ledger.

Server errors are not raised: a request ends with or without a hint, and the ledger records the cause.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
from purgatory import AsyncCircuitBreakerFactory
from purgatory.domain.model import OpenedState
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from ante.errors import NotInstalled
from ante.hints.advice import Advice, Advisor, Answer, Discarded, Reply, advice_of, check
from ante.hints.budget import TokenBudget
from ante.hints.cache import AnswerCache
from ante.hints.ledger import GOOD, Ledger
from ante.hints.question import Question
from ante.hints.settings import AdvisorSettings, read_key
from ante.http.client import BadReply
from ante.messages import foreign

LOG = logging.getLogger(__name__)
CLIENTS = ("openai", "anthropic", "httpx2")
CIRCUIT = "llm"
RETRIED = (408, 409, 425, 429)  # HTTP statuses that are retried, in addition to all from 500
LETTERS_PER_TOKEN = 3.0  # a low estimate, for reservations until the server reports the count
PICTURE_TOKENS = 800


class Desk:
    """The request pipeline of one advisor, bound to one event loop."""

    def __init__(
        self, settings: AdvisorSettings, advisor: Advisor, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.settings, self.advisor, self.ledger = settings, advisor, Ledger()
        self.cache = AnswerCache(Path(settings.cache) if settings.cache else None)
        self.tokens = TokenBudget(settings.tokens_per_hour, clock, settings.tokens_total)
        self._breakers = AsyncCircuitBreakerFactory(settings.breaker_failures, settings.breaker_seconds)
        self._breakers.add_listener(self._on_breaker_event)
        self._in_flight: dict[str, asyncio.Future[Answer | None]] = {}
        self._cache_failed = False

    def _on_breaker_event(self, name: str, kind: str, event: Any) -> None:
        if kind == "state_changed":
            self.ledger.breaker = event.state

    async def advise(self, question: Question) -> Advice | None:
        """Return a hint or None. Concurrent requests for the same question share one call."""
        self.ledger.asks += 1
        key = question.key(self.advisor.model)
        found = self._cached(key)
        if found is None and key in self._in_flight:
            found = await asyncio.shield(self._in_flight[key])
            self.ledger.cache_hits += found is not None
            return advice_of(question, found, "cache") if found is not None else None
        if found is not None:
            self.ledger.cache_hits += 1
            return advice_of(question, found, "cache")
        future = self._in_flight[key] = asyncio.get_running_loop().create_future()
        answer = None
        try:
            answer = await self._call(question)
            if answer is not None:
                self._keep(key, answer)
        finally:
            future.set_result(answer)
            del self._in_flight[key]
        return advice_of(question, answer, "llm") if answer is not None else None

    def _cached(self, key: str) -> Answer | None:
        """Return the cached answer, none if the cache cannot be read."""
        try:
            return self.cache.get(key)
        except sqlite3.Error as error:
            self._on_cache_error(error)
            return None

    def _keep(self, key: str, answer: Answer) -> None:
        """Cache an answer, which stays valid if the cache cannot be written."""
        try:
            self.cache.put(key, answer)
        except sqlite3.Error as error:
            self._on_cache_error(error)

    def _on_cache_error(self, error: sqlite3.Error) -> None:
        """Log the first error of the cache."""
        if not self._cache_failed:
            file = f" {self.settings.cache}" if self.settings.cache else ""
            LOG.warning("the cache of answers%s fails, hints continue without it: %s", file, error)
        self._cache_failed = True

    async def _call(self, question: Question) -> Answer | None:
        """Send one request and record it in the ledger."""
        held = self.tokens.reserve(self._estimate(question))
        if held is None:
            self.ledger.ended("tokens")
            return None
        begin, spent = time.monotonic(), 0
        breaker = await self._breakers.get_breaker(CIRCUIT)
        try:
            async with breaker, asyncio.timeout(self.settings.timeout_seconds):
                reply = await self._with_retries(question)
                spent = reply.tokens or int(held[1])
                self.ledger.written += min(reply.written, spent)
                answer = check(question, reply.text)
        except OpenedState:
            self.ledger.ended("breaker")
            return None
        except Exception as error:  # error classes differ between clients; the ledger records the cause
            cause = cause_of(error)
            if not spent and may_be_billed(error):
                spent = int(held[1])
            if cause == "broken":
                LOG.exception("a request for a hint failed unexpectedly")
            self.ledger.ended(cause, time.monotonic() - begin)
            return None
        finally:
            self.tokens.settle(held, spent)
            self.ledger.tokens += spent
        self.ledger.ended(GOOD, time.monotonic() - begin)
        return answer

    async def _with_retries(self, question: Question) -> Reply:
        """Return the response of the first successful attempt; the caller sets the deadline."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.settings.tries),
            wait=wait_random_exponential(multiplier=0.1, max=1.0),
            retry=retry_if_exception(passes),
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                self.ledger.calls += 1
                reply = await self.advisor.ask(question)
        return reply

    def _estimate(self, question: Question) -> int:
        """Return an approximate upper bound of a request's tokens."""
        letters = len(question.system) + len(question.text)
        return int(letters / LETTERS_PER_TOKEN) + self.settings.answer_tokens + PICTURE_TOKENS * bool(question.picture)

    async def close(self) -> None:
        """Release all resources."""
        await self.advisor.close()
        self.cache.close()


def passes(error: BaseException) -> bool:
    """Return whether an error is transient: a lost connection or a retryable status."""
    status = getattr(error, "status_code", None)
    if status is not None:
        return status in RETRIED or status >= 500
    return cause_of(error) == "unreachable"


def cause_of(error: BaseException) -> str:
    """Return the cause of an error, one of the ledger's FAILURES; `broken` for errors that no advisor raises."""
    if isinstance(error, Discarded):
        return error.cause
    if isinstance(error, BadReply) or isinstance(error.__cause__, BadReply):
        return "unreadable"
    status = getattr(error, "status_code", None)
    if status is not None:  # first: a client's error for status 504 is also named a timeout
        return "server" if status >= 500 else "refused"
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timeout"
    if type(error).__module__.partition(".")[0] in CLIENTS:
        return "unreachable"
    return "broken"


def may_be_billed(error: BaseException) -> bool:
    """Return whether the server may bill a request that ended with this error: unless it refused it, or did not get it."""
    return cause_of(error) != "refused" and not isinstance(error.__cause__ or error, httpx2.ConnectError)


def words_of(error: BaseException, key: str | None) -> str:
    """Describe an advisor's error in one line, without the key. Other errors are raised again."""
    cause = cause_of(error)
    if cause == "broken":
        raise error
    if isinstance(error, Discarded):
        return foreign(error, [key])
    shown = error.__cause__ if isinstance(error.__cause__, BadReply) else error
    return f"{cause}: {foreign(shown, [key]) or type(error).__name__}"


def make_advisor(settings: AdvisorSettings, environment: Mapping[str, str]) -> Any:
    """Return the client for these settings, with the key from the environment. Raises BadHints, NotInstalled."""
    key = read_key(settings, environment)
    try:
        if settings.provider == "claude":
            from ante.hints.claude import ClaudeAdvisor

            return ClaudeAdvisor(settings, key)
        from ante.hints.chat import ChatAdvisor

        return ChatAdvisor(settings, key)
    except ModuleNotFoundError as error:
        raise NotInstalled(error) from None
