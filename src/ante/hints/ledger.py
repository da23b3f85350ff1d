"""The hint ledger: what was asked, what came of it, what it cost, and when to raise the alarm."""

import math
from collections import Counter, deque
from dataclasses import dataclass, field

RECENT = 1000  # calls behind latencies
JUDGED = 50  # asks behind the success rate that the alarm looks at
FEWEST = 5  # asks before there is an alarm
WANTED = 0.8

GOOD = "answered"
FAILURES = ("timeout", "refused", "unreachable", "server", "unreadable", "schema", "illegal", "breaker", "broken")
COLUMNS = (  # what stands in metrics.csv, each with hint_ before it
    "asks",
    "calls",
    "success",
    "p50",
    "p95",
    "tokens",
    "cache_hits",
    "breaker",
    "agreement",
)
BREAKER = {"closed": 0, "half-opened": 1, "opened": 2}


@dataclass
class Ledger:
    """Counts of one advisor.

    asks        questions that were asked of us
    cache_hits  of them answered from memory
    calls       requests that went out, each retry counted
    ends        how the other asks ended: `answered`, `tokens` (no budget), or one of FAILURES; `broken` is our own fault
    tokens      of questions and answers
    compared    hints whose decision is known; agreed  those that the player had chosen itself
    breaker     closed, half-opened or opened
    """

    asks: int = 0
    cache_hits: int = 0
    calls: int = 0
    tokens: int = 0
    compared: int = 0
    agreed: int = 0
    breaker: str = "closed"
    ends: Counter[str] = field(default_factory=Counter)
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    _recent: deque[bool] = field(default_factory=lambda: deque(maxlen=JUDGED))

    def ended(self, how: str, seconds: float | None = None) -> None:
        """One ask that went beyond the cache has ended; seconds where a call was made."""
        assert how in (GOOD, "tokens", *FAILURES), how
        self.ends[how] += 1
        if how != "tokens":
            self._recent.append(how == GOOD)
        if seconds is not None:
            self._latencies.append(seconds)

    @property
    def discarded(self) -> int:
        """Answers that came and could not be used."""
        return sum(self.ends[cause] for cause in ("unreadable", "schema", "illegal"))

    @property
    def success(self) -> float:
        """Share of the last asks, cache and token budget aside, that ended with a hint; NaN before the first."""
        return sum(self._recent) / len(self._recent) if self._recent else math.nan

    def latency(self, share: float) -> float:
        """Seconds that this share of the last calls took at most; NaN before the first."""
        ordered = sorted(self._latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan

    @property
    def agreement(self) -> float:
        """Share of hints that the player had chosen itself; NaN before the first."""
        return self.agreed / self.compared if self.compared else math.nan

    def figures(self) -> dict[str, float]:
        """The numbers in COLUMNS. `breaker` is 0 closed, 1 half-opened, 2 opened."""
        values = (
            self.asks,
            self.calls,
            self.success,
            self.latency(0.5),
            self.latency(0.95),
            self.tokens,
            self.cache_hits,
            BREAKER[self.breaker],
            self.agreement,
        )
        return dict(zip(COLUMNS, map(float, values), strict=True))

    def alarm(self) -> str | None:
        """What is wrong, in a sentence; None while all is well."""
        if len(self._recent) < FEWEST or self.success >= WANTED:
            return None
        causes = ", ".join(f"{cause} {count:,}" for cause, count in self.ends.most_common() if cause in FAILURES)
        return (
            f"hints fail: {self.success:.0%} of the last {len(self._recent)} asks succeeded (wanted {WANTED:.0%}); "
            f"{causes}; breaker {self.breaker}. Training goes on without them; look with: ante hints probe"
        )
