"""Every moment is counted once, and what was watched is put back."""

import types

import pytest

from ante.cost import stopwatch
from ante.cost.stopwatch import Stopwatch, over


class Clock:
    """A clock that only moves when it is told to."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(stopwatch, "time", made)
    return made


def test_a_part_is_told_without_the_parts_within_it(clock: Clock) -> None:
    class Cook:
        def cut(self) -> str:
            clock.now += 3
            return "cut"

        def cook(self) -> str:
            clock.now += 10
            done = self.cut() + self.cut()
            clock.now += 1
            return done

    cook, watch, marked = Cook(), Stopwatch(), []
    with watch.watching([(cook, "cut", "knife"), (cook, "cook", "fire")]), watch.part("rest"):
        clock.now += 5
        assert cook.cook() == "cutcut"
        marked = sorted(vars(cook))
    assert marked == ["cook", "cut"] and not vars(cook)
    assert watch.seconds == {"knife": 6, "fire": 11, "rest": 5}
    watch.clear()
    cook.cook()
    assert not watch.seconds


def test_functions_of_a_module_are_put_back_after_an_error(clock: Clock) -> None:
    def fails() -> None:
        clock.now += 2
        raise ValueError("no")

    module, watch = types.ModuleType("kernels"), Stopwatch()
    module.fails = fails  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="no"), watch.watching([(module, "fails", "kernel")]):
        module.fails()
    assert module.fails is fails
    assert watch.seconds == {"kernel": 2}
    with watch.part("later"):
        clock.now += 1
    assert watch.seconds["later"] == 1


def test_each_part_is_marked_while_it_runs(clock: Clock) -> None:
    told: list[str] = []

    class Mark:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            told.append(f"<{self.name}")

        def __exit__(self, *_: object) -> None:
            told.append(f"{self.name}>")

    watch = Stopwatch(Mark)  # type: ignore[arg-type]
    with watch.part("a"), watch.part("b"):
        pass
    assert told == ["<a", "<b", "b>", "a>"]


def test_ratios_are_made_turn_by_turn() -> None:
    assert over([8.0, 3.0], [2.0, 6.0]) == [4.0, 0.5]
