"""Time is counted once, in the thread that listens."""

import os
import re
import threading
from pathlib import Path

import pytest

from ante.bench import stopwatch
from ante.bench.stopwatch import PARTS, Stopwatch, over
from ante.training import spans
from ante.training.spans import span


class Clock:
    """A clock that advances only on demand."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(stopwatch, "time", made)
    return made


def test_a_part_is_counted_without_the_parts_within_it(clock: Clock) -> None:
    def cook() -> None:
        with span("forward"):
            clock.now += 10
            for _ in range(2):
                with span("pack"):
                    clock.now += 3
            clock.now += 1

    watch = Stopwatch()
    with watch.watching(), watch.part("rest"):
        clock.now += 5
        cook()
    assert watch.seconds == {"pack": 6, "forward": 11, "rest": 5}
    watch.clear()
    cook()
    assert not watch.seconds


def test_a_part_that_fails_is_counted_and_nothing_is_heard_afterwards(clock: Clock) -> None:
    watch = Stopwatch()
    with pytest.raises(ValueError, match="no"), watch.watching(), span("env"):
        clock.now += 2
        raise ValueError("no")
    with span("env"):
        clock.now += 4
    assert watch.seconds == {"env": 2}
    with watch.part("later"):
        clock.now += 1
    assert watch.seconds["later"] == 1


def test_spans_of_other_threads_are_not_heard(clock: Clock) -> None:
    def elsewhere() -> None:
        with span("env"):
            clock.now += 7

    watch = Stopwatch()
    with watch.watching():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        elsewhere()
    assert watch.seconds == {"env": 7}


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_a_runner_and_a_learner_spend_their_time_in_spans() -> None:
    from ante.bench.figures import make_runner
    from ante.training.rllib.build import fast_config
    from ante.training.sampling.training_data import Fragments
    from ante.training.settings.config import make_config

    settings = {"algo.batch": 256, "algo.minibatch": 128, "algo.epochs": 2, "policy.hidden": [16]}
    config = make_config({**settings, "resources.games_per_runner": 16, "resources.runners": 0})
    runner = make_runner(config, 16)
    learner = fast_config(config).build_learner(env=None, spaces=runner.get_spaces())
    watch = Stopwatch()
    with watch.watching(), watch.part("rest"):
        rollouts = runner.sample(num_timesteps=256)
        learner.update(training_data=Fragments(rollouts), num_epochs=2, minibatch_size=128)
    assert set(watch.seconds) == set(PARTS) - {"sync"}  # an algorithm sends weights: test_contest.py
    assert min(watch.seconds.values()) > 0


def test_the_code_names_the_spans_that_the_stopwatch_knows_and_no_others() -> None:
    sources = [file.read_text() for file in Path("src/ante/training").rglob("*.py") if file.name != "spans.py"]
    used = {name for source in sources for name in re.findall(r'\bspan\("([^"]+)"\)', source)}
    assert used == set(spans.NAMES) == set(PARTS) - {"rest"}


def test_production_code_carries_no_test_tools() -> None:
    for file in Path("src").rglob("*.py"):
        imports = re.findall(r"^\s*(?:from|import) (unittest|pytest|hypothesis)", file.read_text(), re.MULTILINE)
        assert not imports, file


def test_each_part_is_marked_while_it_runs(clock: Clock) -> None:
    events: list[str] = []

    class Mark:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            events.append(f"<{self.name}")

        def __exit__(self, *_: object) -> None:
            events.append(f"{self.name}>")

    watch = Stopwatch(Mark)  # type: ignore[arg-type]
    with watch.part("a"), watch.part("b"):
        pass
    assert events == ["<a", "<b", "b>", "a>"]


def test_ratios_are_made_turn_by_turn() -> None:
    assert over([8.0, 3.0], [2.0, 6.0]) == [4.0, 0.5]
