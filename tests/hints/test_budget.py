"""Budgets hold in every window, not only on average."""

import math
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ante.hints.budget import HOUR, WINDOW, DecisionBudget, TokenBudget
from ante.hints.ledger import COLUMNS, Ledger


def most_in_any_window(asked: np.ndarray) -> int:
    """Return the maximum number of True in WINDOW consecutive entries, computed directly."""
    return max(int(asked[at : at + WINDOW].sum()) for at in range(max(1, len(asked) - WINDOW + 1)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.0, 0.001, 0.05, 0.3, 1.0]))
def test_no_window_of_a_thousand_decisions_holds_more_than_the_share(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    budget, parts = DecisionBudget(share), []
    while budget.decisions < 6_000:
        n = int(rng.integers(1, rng.choice([2, 64, 1500])))
        wish = int(rng.integers(0, n + 1))
        places = sorted(rng.choice(n, min(wish, budget.allows(n)), replace=False).tolist())
        budget.take(n, places)
        taken = np.zeros(n, dtype=bool)
        taken[places] = True
        parts.append(taken)
    asked = np.concatenate(parts)
    assert most_in_any_window(asked) <= math.floor(share * WINDOW)
    so_far = np.cumsum(asked) / np.arange(1, len(asked) + 1)
    assert so_far.max() <= share + 1e-9
    assert asked.sum() == budget.asked


def test_a_million_decisions_that_all_request_a_hint() -> None:
    budget, n = DecisionBudget(0.05), 64
    window: deque[int] = deque()
    while budget.decisions < 1_000_000:
        begin, places = budget.decisions, list(range(budget.allows(n)))
        budget.take(n, places)
        window.extend(begin + place for place in places)
        while window and window[0] <= budget.decisions - 1 - WINDOW:
            window.popleft()
        assert len(window) <= 50
    assert 0.04 < budget.asked / budget.decisions <= 0.05  # the budget is used


def test_tokens_come_back_after_an_hour() -> None:
    now = [0.0]
    budget = TokenBudget(1000, lambda: now[0])
    held = budget.reserve(800)
    assert held is not None and budget.reserve(300) is None
    budget.settle(held, 600)
    assert budget.reserve(400) is not None and budget.reserve(1) is None
    now[0] = HOUR + 1
    assert budget.reserve(1000) is not None


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_hour_has_more_tokens_than_the_budget(seed: int) -> None:
    rng, now, spent = np.random.default_rng(seed), [0.0], []
    budget = TokenBudget(5_000, lambda: now[0])
    for _ in range(300):
        now[0] += float(rng.exponential(120.0))
        estimate = int(rng.integers(1, 2_000))
        held = budget.reserve(estimate)
        if held is not None:
            used = int(rng.integers(0, estimate + 1))
            budget.settle(held, used)
            spent.append((now[0], used))
        assert sum(used for at, used in spent if at > now[0] - HOUR) <= 5_000


def test_a_total_limit_is_not_renewed() -> None:
    now = [0.0]
    budget = TokenBudget(0, lambda: now[0], total=1000)
    held = budget.reserve(900)
    assert held is not None and budget.reserve(200) is None
    budget.settle(held, 700)
    assert budget.reserve(300) is not None and budget.spent == 1000
    now[0] = 10 * HOUR
    assert budget.reserve(1) is None


def test_the_ledger_begins_without_numbers_and_without_an_alarm() -> None:
    ledger = Ledger()
    figures = ledger.figures()
    assert tuple(figures) == COLUMNS and math.isnan(figures["success"]) and ledger.alarm() is None
    with pytest.raises(AssertionError):
        ledger.ended("vanished")


def test_the_alarm_comes_below_four_in_five_and_goes_again() -> None:
    ledger = Ledger()
    for how in ["answered"] * 40 + ["timeout"] * 10:
        ledger.ended(how, 0.5)
    assert ledger.success == 0.8 and ledger.alarm() is None
    ledger.ended("timeout", 0.5)
    alarm = ledger.alarm()
    assert alarm is not None and "78%" in alarm and "timeout 11" in alarm
    for _ in range(50):
        ledger.ended("answered", 0.1)
    assert ledger.alarm() is None
