"""Statistics of hints (the ledger): requests, results, cost and alarm."""

import math
from collections import Counter, deque
from dataclasses import dataclass, field

from ante.metrics import names_of

RECENT = 1000  # number of last calls in latencies
JUDGED = 50  # number of last requests in the success rate
FEWEST = 5  # least number of requests for an alarm
WANTED = 0.8  # success rate below which the alarm is raised

GOOD = "answered"
FAILURES = ("timeout", "refused", "unreachable", "server", "unreadable", "schema", "illegal", "breaker", "broken")
INVALID = ("unreadable", "schema", "illegal")  # failures of the model, not of the endpoint
COLUMNS = tuple(name.removeprefix("hint_") for name in names_of("hints"))  # metrics without their prefix
BREAKER = {"closed": 0, "half-opened": 1, "opened": 2}


@dataclass
class Ledger:
    """Counters of one advisor.

    asks        requests for hints
    cache_hits  requests served from the cache
    calls       requests sent to the server, including retries
    ends        results of uncached requests: `answered`, `tokens` (over budget), or one of FAILURES; `broken` is a bug
    tokens      tokens of requests and responses; written  those of responses, if the server reports them
    compared    hints with a known decision; agreed  hints that equal the player's own choice
    breaker     state of the circuit breaker: closed, half-opened or opened
    """

    asks: int = 0
    cache_hits: int = 0
    calls: int = 0
    tokens: int = 0
    written: int = 0
    compared: int = 0
    agreed: int = 0
    breaker: str = "closed"
    ends: Counter[str] = field(default_factory=Counter)
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    _recent: deque[bool] = field(default_factory=lambda: deque(maxlen=JUDGED))

    def ended(self, how: str, seconds: float | None = None) -> None:
        """Record the result of an uncached request, and the duration of its call if one was made."""
        assert how in (GOOD, "tokens", *FAILURES), how
        self.ends[how] += 1
        if how != "tokens":
            self._recent.append(how == GOOD)
        if seconds is not None:
            self._latencies.append(seconds)

    @property
    def discarded(self) -> int:
        """Number of answers that were discarded."""
        return sum(self.ends[cause] for cause in INVALID)

    @property
    def success(self) -> float:
        """Success rate of the last JUDGED requests, without cached ones and those over budget; NaN before the first."""
        return sum(self._recent) / len(self._recent) if self._recent else math.nan

    def latency(self, share: float) -> float:
        """Return the `share` quantile of the last calls' durations in seconds; NaN before the first."""
        ordered = sorted(self._latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan

    @property
    def agreement(self) -> float:
        """Share of hints that equal the player's own choice; NaN before the first."""
        return self.agreed / self.compared if self.compared else math.nan

    def figures(self) -> dict[str, float]:
        """Return the metrics in COLUMNS; `breaker` is 0 closed, 1 half-open, 2 open."""
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
            f"hints fail: {self.success:.0%} of the last {len(self._recent)} requests succeeded, below {WANTED:.0%}; "
            f"{causes}; breaker {self.breaker}. Training continues without them; check with: ante hints probe"
        )
