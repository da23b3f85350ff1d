"""Time to strength: training to milestones, games of checkpoints and of the reference, statistics, continuation."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.agents.evaluate import half_width
from ante.agents.seed_lists import evaluation_seeds, panel, strength_seeds, validation_seeds
from ante.errors import BalatroError
from ante.experiments import running
from ante.experiments.strength.plan import BadPlan, Plan, plan_of
from ante.experiments.strength.records import FILE, REFERENCE, Record, append_record, read_records
from ante.experiments.strength.results import MARGIN, joint, results_of
from ante.files import Unreadable
from ante.stopping import Stop, Stops
from ante.training.settings.config import make_config
from tests.support.checkpoints import write_policy
from tests.support.tiny import TINY

torch = pytest.importorskip("torch")

from ante.experiments.strength.measure import Display, NotTrained, measure, milestones, train_until  # noqa: E402
from ante.training.policies.registry import new_policy  # noqa: E402

pytestmark = pytest.mark.slow

MINUTES = (1.0, 2.0, 4.0)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a checkpoint."""
    config = make_config({**TINY, "games.max_decisions": 12})
    folder = tmp_path_factory.mktemp("policy")
    write_policy(new_policy(config), config, folder)
    return folder


@pytest.fixture(autouse=True)
def trainer(monkeypatch: pytest.MonkeyPatch, policy: Path) -> None:
    monkeypatch.setenv("POLICY_OF_THE_STUB", str(policy))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of the tests
    monkeypatch.setattr(running, "ANTE", (sys.executable, str(Path(__file__).with_name("timed_trainer.py"))))
    monkeypatch.setattr("ante.experiments.strength.measure.LOOK_SECONDS", 0.02)


class Log:
    """Records bars and lines."""

    def __init__(self) -> None:
        self.bars: list[str] = []
        self.lines: list[str] = []

    @contextmanager
    def bar(self, total: int, about: str) -> Iterator[Any]:
        self.bars.append(about.partition(",")[0])
        yield lambda count: None

    @property
    def display(self) -> Display:
        return Display(self.bar, self.lines.append)


def tiny_plan(tmp_path: Path, steps: int = 1000, **changes: Any) -> Plan:
    (tmp_path / "tiny.yaml").write_text(json.dumps({**TINY, "games.max_decisions": 12, "steps": steps}))
    values: dict[str, Any] = {"seeds": (3,), "minutes": MINUTES, "games": 6, "likeliest": False, **changes}
    return plan_of(str(tmp_path / "tiny.yaml"), **values)


def test_each_milestone_is_trained_played_and_recorded_once(tmp_path: Path) -> None:
    plan, out, log = tiny_plan(tmp_path), tmp_path / "out", Log()
    results = measure(plan, out, log.display, Stops())
    assert results and log.bars == ["white-stake", "training seed 3", *["seed-3"] * 3]
    records = read_records(out)
    assert [(each.seed, each.minutes) for each in records] == [(REFERENCE, 0.0), *((3, m) for m in MINUTES)]
    # the stub's checkpoints are 25 seconds apart: the first at or after each milestone
    assert [(each.seconds, each.checkpoint) for each in records[1:]] == [
        (75.0, "000000000030"), (125.0, "000000000050"), (250.0, "000000000100"),
    ]  # fmt: skip
    assert [point.minutes for point in results.seeds[3]] == pytest.approx([75 / 60, 125 / 60, 250 / 60])
    config = json.loads((out / "runs" / "seed-3" / "settings.json").read_text())
    assert config["seed"] == 3 and config["checkpoints"]["minutes"] == list(MINUTES)
    assert (config["evaluation"]["every"], config["checkpoints"]["keep"]) == (0, 0)
    assert [line.partition("; ")[2][:19] for line in log.lines] == [f"{n} measurements left" for n in (2, 1, 0)]
    saved = json.loads((out / "results.json").read_text())
    assert saved["games"] == 6 and saved["minutes_of_seeds"] == {"3": results.minutes_of(3)}

    again = Log()
    assert measure(plan, out, again.display, Stops()) == results and again.bars == []
    lines = (out / FILE).read_text().splitlines(keepends=True)
    (out / FILE).write_text("".join(lines[:2]) + lines[2][:40])  # interrupted while it wrote the second milestone
    continued = Log()
    assert measure(plan, out, continued.display, Stops()) and continued.bars == ["seed-3"] * 2
    wins = [(each.seed, each.minutes, each.won) for each in read_records(out)]
    assert wins == [(each.seed, each.minutes, each.won) for each in records]


def test_more_seeds_continue_a_measurement_and_other_settings_are_refused(tmp_path: Path) -> None:
    out, log = tmp_path / "out", Log()
    measure(tiny_plan(tmp_path, minutes=(1.0,)), out, Log().display, Stops())
    results = measure(tiny_plan(tmp_path, minutes=(1.0,), seeds=(3, 5)), out, log.display, Stops())
    assert results and log.bars == ["training seed 5", "seed-5"] and len(results.together) == 1
    with pytest.raises(
        BadPlan, match=r"other seeds and games \(plan.yaml\): repeat its command, with the same or further"
    ):
        measure(tiny_plan(tmp_path, minutes=(1.0,), games=7), out, log.display, Stops())
    with pytest.raises(BadPlan, match=r"other minutes \(plan.yaml\)"):
        measure(tiny_plan(tmp_path, seeds=(3, 5, 6)), out, log.display, Stops())


def test_a_run_that_ends_early_counts_its_last_checkpoint_once(tmp_path: Path) -> None:
    plan, out = tiny_plan(tmp_path, minutes=(1.0, 60.0, 70.0), steps=40), tmp_path / "out"  # 40 steps take 100 seconds
    cell = plan.cell(3, out)
    train_until(cell, 70.0, Log().display, Stops())
    assert [(each.minutes, each.steps) for each in milestones(cell, plan.minutes)] == [(1.0, 30), (60.0, 40)]
    log = Log()
    train_until(cell, 70.0, log.display, Stops())
    assert log.bars == [], "a run that has all its steps is complete"


def test_a_stop_and_a_failure_keep_what_is_measured(tmp_path: Path) -> None:
    out, stops = tmp_path / "out", Stops()
    display = Log().display

    def say(words: str) -> None:
        stops.append(Stop(2, 0.0))  # after the first milestone

    measure(tiny_plan(tmp_path), out, Display(display.bar, say), stops)
    assert [each.minutes for each in read_records(out)] == [0.0, 1.0]
    (tmp_path / "other").mkdir()
    with pytest.raises(NotTrained, match="training of seed 9 failed with exit code 3: the teapot is empty; see"):
        measure(tiny_plan(tmp_path / "other", seeds=(9,)), tmp_path / "failed", display, Stops())
    assert len(read_records(tmp_path / "failed")) == 1


def record(seed: int, minutes: float, won: np.ndarray) -> Record:
    packed = np.packbits(won.astype(bool)).tobytes().hex()
    return Record(
        seed=seed, minutes=minutes, seconds=60 * minutes + 6, steps=7, weights_sha256="", games=len(won), won=packed
    )


def test_minutes_to_strength_follow_from_the_paired_intervals(tmp_path: Path) -> None:
    rng, games = np.random.default_rng(0), 4000
    base = (rng.random(games) < 0.45).astype(float)

    def weaker(share: float) -> np.ndarray:
        """Lose this share of the games that the reference wins, win a tenth of the others' number instead."""
        return np.where(rng.random(games) < share, 0.0, base)

    plan = tiny_plan(tmp_path, seeds=(0, 1), games=games)
    won = {(0, 1.0): weaker(0.5), (0, 2.0): weaker(0.01), (0, 4.0): weaker(0.0),
           (1, 1.0): weaker(0.5), (1, 2.0): weaker(0.3), (1, 4.0): weaker(0.02)}  # fmt: skip
    records = [record(REFERENCE, 0.0, base), *(record(*key, wins) for key, wins in won.items())]
    results = results_of(plan, records, {})
    assert results
    for (seed, minutes), wins in won.items():
        (point,) = (each for each in results.seeds[seed] if each.milestone == minutes)
        more = wins - base
        expected = more.mean() - 1.96 * more.std(ddof=1) / np.sqrt(games)
        assert point.difference.low == pytest.approx(expected, abs=1e-4)
        assert point.is_strong == (expected >= -MARGIN)
    assert (results.minutes_of(0), results.minutes_of(1)) == (pytest.approx(2.1), pytest.approx(4.1))
    assert results.minutes == pytest.approx(4.1), "two seeds that differ by 13 points have a wide interval"
    missing = results_of(plan, records[:-1], {})
    assert missing and len(missing.together) == 2 and missing.minutes is None


def test_the_interval_of_all_seeds_covers_games_and_training_seeds() -> None:
    rng = np.random.default_rng(1)
    base, same = (rng.random(500) < 0.5).astype(float), (rng.random(500) < 0.5).astype(float)
    equal = joint(np.array([same, same, same]), base)
    assert equal.high - equal.low == pytest.approx(2 * half_width(same - base), rel=0.1), "games alone"
    far = joint(np.array([same, 1.0 - same, same]), base)
    assert far.value == pytest.approx((np.array([same, 1.0 - same, same]) - base).mean())
    separate = joint(np.array([np.ones(500), np.zeros(500)]), base)
    assert separate.high - separate.low > 0.9, "runs that differ by 100 points"


def test_the_seeds_of_the_benchmark_are_used_for_nothing_else() -> None:
    seeds = strength_seeds(4000)
    assert len(set(seeds)) == 4000 and seeds[:10] == strength_seeds(10)
    assert not set(seeds) & {*panel(), *validation_seeds(), *evaluation_seeds(4000)}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seeds": (1, 1)}, r"--seeds \(1, 1\): the numbers must differ"),
        ({"minutes": (5.0, 3.0)}, r"--minutes \(5.0, 3.0\): the numbers must be above 0 and in increasing order"),
        ({"games": 1}, "--games 1: Input should be greater"),
    ],
)
def test_bad_plans_are_refused(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadPlan, match=words):
        tiny_plan(tmp_path, **changes)


def test_damaged_records_are_named(tmp_path: Path) -> None:
    append_record(tmp_path, record(0, 1.0, np.ones(9)))
    line = json.loads((tmp_path / FILE).read_text())
    for change in ({"won": "ff"}, {"won": "zz"}, {"games": 0}):
        (tmp_path / FILE).write_text(json.dumps({**line, **change}) + "\n")
        with pytest.raises(Unreadable, match=r"games\.jsonl, line 1: .*remove the line"):
            read_records(tmp_path)


def test_the_table_and_the_picture_show_every_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ante.cli.checks.bench import Bench
    from ante.cli.checks.strength import show

    monkeypatch.setenv("COLUMNS", "160")
    base, plan = np.tile([1.0, 0.0], 200), tiny_plan(tmp_path, seeds=(0, 1), games=400)
    records = [record(REFERENCE, 0.0, base)]
    records += [record(seed, minutes, base if minutes > 1 else 0 * base) for seed in (0, 1) for minutes in MINUTES]
    results = results_of(plan, records, {})
    assert results
    show(results, tmp_path, as_json=False)
    out = capsys.readouterr().out
    assert "-50.0 (-5" in out and "+0.0 (+0.0 to +0.0)" in out and "seed 1" in out
    assert "all seeds: 2.1 minutes to strength" in out and "seed 0: 2.1 minutes to strength" in out
    assert (tmp_path / "strength.png").stat().st_size > 10_000
    with pytest.raises(BalatroError, match="run ante bench strength by itself"):
        Bench(parts=("strength", "engine")).run()
