"""The hint ledger: requests, results, cost and alerts."""

import math
from collections import Counter, deque
from dataclasses import dataclass, field

from ante.metrics import names_of

RECENT = 1000  # calls behind latencies
JUDGED = 50  # requests in the success rate of the alarm
FEWEST = 5  # requests before an alarm is possible
WANTED = 0.8

GOOD = "answered"
FAILURES = ("timeout", "refused", "unreachable", "server", "unreadable", "schema", "illegal", "breaker", "broken")
COLUMNS = tuple(name.removeprefix("hint_") for name in names_of("hints"))  # metrics without their prefix
BREAKER = {"closed": 0, "half-opened": 1, "opened": 2}


@dataclass
class Ledger:
    """Counts of one advisor.

    asks        questions received
    cache_hits  of them answered from memory
    calls       requests that went out, each retry counted
    ends        results of the other requests: `answered`, `tokens` (no budget), or one of FAILURES; `broken` is a bug of ours
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
        """Record the end of a request that the cache could not serve; seconds where a call was made."""
        assert how in (GOOD, "tokens", *FAILURES), how
        self.ends[how] += 1
        if how != "tokens":
            self._recent.append(how == GOOD)
        if seconds is not None:
            self._latencies.append(seconds)

    @property
    def discarded(self) -> int:
        """Number of answers that were discarded."""
        return sum(self.ends[cause] for cause in ("unreadable", "schema", "illegal"))

    @property
    def success(self) -> float:
        """Return the share of the last requests, without cache and token budget, that gave a hint; NaN before the first."""
        return sum(self._recent) / len(self._recent) if self._recent else math.nan

    def latency(self, share: float) -> float:
        """Seconds that this share of the last calls took at most; NaN before the first."""
        ordered = sorted(self._latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan

    @property
    def agreement(self) -> float:
        """Fraction of hints equal to the player's own choice; NaN before the first."""
        return self.agreed / self.compared if self.compared else math.nan

    def figures(self) -> dict[str, float]:
        """Returns the metrics in COLUMNS; `breaker` is 0 closed, 1 half-open, 2 open."""
        figures = {
            "asks": self.asks,
            "calls": self.calls,
            "success": self.success,
            "p50": self.latency(0.5),
            "p95": self.latency(0.95),
            "tokens": self.tokens,
            "cache_hits": self.cache_hits,
            "breaker": BREAKER[self.breaker],
            "agreement": self.agreement,
        }
        return {name: float(figures[name]) for name in COLUMNS}

    def alarm(self) -> str | None:
        """Return the alert as a sentence, or None."""
        if len(self._recent) < FEWEST or self.success >= WANTED:
            return None
        causes = ", ".join(f"{cause} {count:,}" for cause, count in self.ends.most_common() if cause in FAILURES)
        return (
            f"hints fail: {self.success:.0%} of the last {len(self._recent)} asks succeeded (wanted {WANTED:.0%}); "
            f"{causes}; breaker {self.breaker}. Training goes on without them; look with: ante hints probe"
        )
