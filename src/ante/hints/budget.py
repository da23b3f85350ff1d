"""Budgets: a fraction of decisions in a sliding window, and tokens per sliding hour."""

import time
from collections import deque
from collections.abc import Callable

WINDOW = 1000  # decisions
HOUR = 3600.0


class DecisionBudget:
    """A limit of requests to a `share` of any WINDOW consecutive decisions, and of all decisions before that.

    Decisions are numbered in the order in which they are taken; those of one step of many games are consecutive.
    """

    def __init__(self, share: float) -> None:
        assert 0.0 <= share <= 1.0
        self.share, self.decisions, self.asked = share, 0, 0
        self._recent: deque[int] = deque()  # numbers of the decisions with requests among the last WINDOW

    def allows(self, n: int) -> int:
        """Return for how many of the next n decisions hints may be requested, regardless of their position."""
        while self._recent and self._recent[0] <= self.decisions - WINDOW:
            self._recent.popleft()
        most = int(self.share * min(WINDOW, self.decisions) + 1e-9)  # requests allowed for the decisions taken
        return max(0, min(n, most - len(self._recent)))

    def take(self, n: int, places: list[int]) -> None:
        """Record n decisions, of which those at `places` (ascending, from 0) had requests."""
        assert len(places) <= self.allows(n) and all(0 <= place < n for place in places)
        self._recent.extend(self.decisions + place for place in places)
        self.decisions += n
        self.asked += len(places)


class TokenBudget:
    """Limits of tokens of requests and responses: within the last hour, and in total; 0 for no limit."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic, total: int = 0) -> None:
        self.most, self.total, self._clock = most, total, clock
        self.spent = 0.0  # in total, with reservations
        self._spent: deque[list[float]] = deque()  # time, tokens
        self._sum = 0.0

    def reserve(self, tokens: int) -> list[float] | None:
        """Reserve tokens for `settle`, or return None if the budget is exhausted."""
        now = self._clock()
        while self._spent and self._spent[0][0] <= now - HOUR:
            self._sum -= self._spent.popleft()[1]
        if (self.most and self._sum + tokens > self.most) or (self.total and self.spent + tokens > self.total):
            return None
        self.spent += tokens
        held = [now, float(tokens)]
        self._spent.append(held)
        self._sum += tokens
        return held

    def settle(self, held: list[float], tokens: int) -> None:
        """Replace a reservation by the actual number of tokens."""
        if any(each is held for each in self._spent):
            self._sum += tokens - held[1]
        self.spent += tokens - held[1]
        held[1] = float(tokens)
