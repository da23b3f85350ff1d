"""Probe of an endpoint: models, structured output, images and latency."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ante.hints.advice import check
from ante.hints.desk import Desk, make_advisor, words_of
from ante.hints.ledger import FAILURES
from ante.hints.question import Question
from ante.hints.settings import AdvisorSettings, read_key
from ante.messages import masked

SHOWN_MODELS = 10
PATIENCE = 30.0  # seconds that the probe waits, to distinguish slow from unresponsive


@dataclass
class Probe:
    """Results of a probe. Times are in seconds, NaN without a response.

    models      models that the server lists; known  whether they include the configured one
    structured  whether an answer matched the schema; vision  the same for a request with an image, None if not tried
    asks        requests; valid  legal hints
    dollars_per_1000  price of 1,000 requests, NaN without LLM_DOLLARS_PER_MILLION
    ends        results of requests, as in the ledger
    trouble     the first error
    """

    endpoint: str
    model: str
    deadline: float
    models: list[str] = field(default_factory=list)
    known: bool = False
    structured: bool = False
    vision: bool | None = None
    asks: int = 0
    valid: int = 0
    discarded: int = 0
    first: float = math.nan
    p50: float = math.nan
    p95: float = math.nan
    per_second: float = math.nan
    tokens_per_ask: float = math.nan
    dollars_per_1000: float = math.nan
    ends: dict[str, int] = field(default_factory=dict)
    trouble: str = ""

    @property
    def works(self) -> bool:
        """Whether the endpoint is suitable for hints in training."""
        return self.structured and self.p95 <= self.deadline

    def listed(self) -> str:
        """Return the names of the first SHOWN_MODELS models."""
        more = len(self.models) - SHOWN_MODELS
        return ", ".join(self.models[:SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")

    def verdict(self) -> list[str]:
        """Return what works, what does not, and what to do."""
        if not self.structured:
            return [f"hints: NO. {self.trouble or 'no valid answer was received'}"]
        lines = []
        if self.works:
            lines.append(f"hints: yes, about {self.per_second:.1f} per second")
        else:
            lines.append(
                f"hints: NO. p95 is {self.p95:.1f} s and the deadline {self.deadline:g} s: "
                "choose a smaller model, or raise LLM_TIMEOUT_SECONDS"
            )
        if not self.known:
            lines.append(f"model: {self.model} is not listed; the server lists {self.listed() or 'none'}")
        if self.vision is not None:
            lines.append(
                "pictures: yes, LLM_VISION=true will work" if self.vision else "pictures: no, leave LLM_VISION unset"
            )
        if self.discarded:
            lines.append(f"discarded answers: {self.discarded / self.asks:.1%}; they cost tokens and are not used")
        return lines


async def probe(
    settings: AdvisorSettings,
    environment: Mapping[str, str],
    questions: Iterable[Question],
    picture: bytes | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Probe:
    """Send these questions, at most `concurrency` at once, and one with an image. Raises BadHints.

    Circuit breaker and token budget are disabled.
    """
    asked = list(questions)
    patience = {"timeout_seconds": max(PATIENCE, settings.timeout_seconds), "breaker_failures": len(asked) + 1}
    patient = settings.model_copy(update={**patience, "cache": None, "tokens_per_hour": 0, "tokens_total": 0})
    advisor, key = make_advisor(patient, environment), read_key(settings, environment)
    found = Probe(masked(settings.endpoint or "Claude", [key]), str(settings.model), settings.timeout_seconds)
    try:
        found.models = await advisor.models()
        found.known = settings.model in found.models
    except Exception as error:
        found.trouble = words_of(error, key)
    if not await _first(found, advisor, asked[0], key):
        await advisor.close()
        return found
    if picture is not None:
        found.vision = await _sees(advisor, replace(asked[0], picture=picture))
    desk = Desk(patient, advisor)
    gate, begin = asyncio.Semaphore(settings.concurrency), time.monotonic()

    async def one(question: Question) -> None:
        async with gate:
            advice = await desk.advise(question)
        found.valid += advice is not None
        advance(1)

    await asyncio.gather(*map(one, asked))
    seconds, ledger = time.monotonic() - begin, desk.ledger
    found.asks, found.ends, found.discarded = ledger.asks, dict(ledger.ends), ledger.discarded
    found.p50, found.p95 = ledger.latency(0.5), ledger.latency(0.95)
    found.per_second = found.valid / seconds
    found.tokens_per_ask = ledger.tokens / max(1, sum(ledger.ends.values()))
    if settings.dollars_per_million:
        found.dollars_per_1000 = found.tokens_per_ask * settings.dollars_per_million / 1000
    worst = [f"{cause}: {ledger.ends[cause]} of {ledger.asks} requests" for cause in FAILURES if ledger.ends[cause]]
    found.trouble = found.trouble or "; ".join(worst)
    await desk.close()
    return found


async def _first(found: Probe, advisor: object, question: Question, key: str | None) -> bool:
    """Send the first request, with a longer timeout while the server warms up."""
    begin = time.monotonic()
    try:
        check(question, (await advisor.ask(question)).text)  # type: ignore[attr-defined]
    except Exception as error:
        found.trouble = words_of(error, key)
        return False
    found.first, found.structured = time.monotonic() - begin, True
    return True


async def _sees(advisor: object, question: Question) -> bool:
    """Return whether a request with an image gets a valid answer."""
    try:
        check(question, (await advisor.ask(question)).text)  # type: ignore[attr-defined]
    except Exception as error:
        words_of(error, None)  # raises errors that are not the server's
        return False
    return True
